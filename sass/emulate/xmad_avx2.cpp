#if defined(__x86_64__)
#define NG_EMULATE_AVX2
#include "sass/emulate/xmad.cpp"
#endif
