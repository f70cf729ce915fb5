// shared.cpp once more, compiled for AVX2.
#if defined(__x86_64__)
#define NG_EMULATE_AVX2
#include "sass/emulate/ops/memory/shared.cpp"
#endif
