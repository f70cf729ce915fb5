// NG_API marks what libnervanagpu.so exports; everything else in it stays private.
#pragma once

#if defined(__GNUC__)
#define NG_API __attribute__((visibility("default")))
#else
#define NG_API
#endif
