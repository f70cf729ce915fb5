// Closes what target_begin.h opened.
#undef NG_TARGET
#if defined(NG_EMULATE_AVX2)
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
