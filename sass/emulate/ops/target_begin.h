// Included after all standard headers and before lanes.h by the vector families: float, integer, compare, shared. Each
// is compiled twice, plainly and for AVX2 with FMA, from the same text (float_avx2.cpp includes float.cpp); families()
// picks one at run time. No include guard: a pair of these brackets a region.
#if defined(NG_EMULATE_AVX2)
#define NG_TARGET avx2
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#else
#define NG_TARGET baseline
#endif
