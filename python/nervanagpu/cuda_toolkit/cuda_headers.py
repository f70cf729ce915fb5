"""Headers that CUDA C from scripts includes and NVRTC does not have: those of C, and PyCUDA's complex numbers.

NVRTC knows printf, the functions of math.h, size_t and the limits of its types without any header. The headers of C
therefore hold types and limits alone.
"""

from __future__ import annotations

_STDINT = """
#pragma once
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t; typedef unsigned long uintptr_t; typedef long intmax_t; typedef unsigned long uintmax_t;
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
#define INT64_MIN (-9223372036854775807l - 1)
#define INT64_MAX 9223372036854775807l
#define UINT64_MAX 18446744073709551615ul
"""

_LIMITS = """
#pragma once
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define LONG_MIN (-9223372036854775807l - 1)
#define LONG_MAX 9223372036854775807l
#define ULONG_MAX 18446744073709551615ul
#define LLONG_MIN (-9223372036854775807ll - 1)
#define LLONG_MAX 9223372036854775807ll
#define ULLONG_MAX 18446744073709551615ull
"""

_FLOAT = """
#pragma once
#define FLT_MIN 1.175494350822287507969e-38f
#define FLT_MAX 340282346638528859811704183484516925440.0f
#define FLT_EPSILON 1.1920928955078125e-7f
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define DBL_MIN 2.225073858507201383090e-308
#define DBL_MAX 179769313486231570814527423731704356798070.e+267
#define DBL_EPSILON 2.2204460492503130808e-16
#define DBL_DIG 15
#define DBL_MANT_DIG 53
"""

_MATH = """
#pragma once
#ifndef M_PI
#define M_E 2.71828182845904523536
#define M_LOG2E 1.44269504088896340736
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)
#define HUGE_VALF INFINITY
#endif
"""

_COMPLEX = """
#pragma once
#include <math.h>
namespace pycuda {

template <class T>
struct alignas(2 * sizeof(T)) complex {
  typedef T value_type;
  T re, im;
  __host__ __device__ complex(T r = T(), T i = T()) : re(r), im(i) {}
  template <class U>
  __host__ __device__ complex(const complex<U>& o) : re(T(o.real())), im(T(o.imag())) {}
  __host__ __device__ T real() const { return re; }
  __host__ __device__ T imag() const { return im; }
  // As members of volatile and shared memory, which scripts reduce in.
  __host__ __device__ complex& operator=(T r) { re = r; im = T(); return *this; }
  template <class U> __host__ __device__ complex& operator+=(const U& o) { return *this = *this + complex(o); }
  template <class U> __host__ __device__ complex& operator-=(const U& o) { return *this = *this - complex(o); }
  template <class U> __host__ __device__ complex& operator*=(const U& o) { return *this = *this * complex(o); }
  template <class U> __host__ __device__ complex& operator/=(const U& o) { return *this = *this / complex(o); }

  // Friends, so that a number on either side becomes a complex one.
  friend __host__ __device__ complex operator+(const complex& a) { return a; }
  friend __host__ __device__ complex operator-(const complex& a) { return complex(-a.re, -a.im); }
  friend __host__ __device__ complex operator+(const complex& a, const complex& b) {
    return complex(a.re + b.re, a.im + b.im);
  }
  friend __host__ __device__ complex operator-(const complex& a, const complex& b) {
    return complex(a.re - b.re, a.im - b.im);
  }
  friend __host__ __device__ complex operator*(const complex& a, const complex& b) {
    return complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
  }
  // Smith's method: no square of a part overflows.
  friend __host__ __device__ complex operator/(const complex& a, const complex& b) {
    if (fabs(b.re) >= fabs(b.im)) {
      const T r = b.im / b.re, d = b.re + b.im * r;
      return complex((a.re + a.im * r) / d, (a.im - a.re * r) / d);
    }
    const T r = b.re / b.im, d = b.re * r + b.im;
    return complex((a.re * r + a.im) / d, (a.im * r - a.re) / d);
  }
  friend __host__ __device__ bool operator==(const complex& a, const complex& b) {
    return a.re == b.re && a.im == b.im;
  }
  friend __host__ __device__ bool operator!=(const complex& a, const complex& b) { return !(a == b); }
};

#define NG_COMPLEX template <class T> __host__ __device__
NG_COMPLEX T real(const complex<T>& a) { return a.re; }
NG_COMPLEX T imag(const complex<T>& a) { return a.im; }
NG_COMPLEX T abs(const complex<T>& a) { return hypot(a.re, a.im); }
NG_COMPLEX T fabs(const complex<T>& a) { return hypot(a.re, a.im); }
NG_COMPLEX T arg(const complex<T>& a) { return atan2(a.im, a.re); }
NG_COMPLEX T norm(const complex<T>& a) { return a.re * a.re + a.im * a.im; }
NG_COMPLEX complex<T> conj(const complex<T>& a) { return complex<T>(a.re, -a.im); }
NG_COMPLEX complex<T> polar(T r, T t) { return complex<T>(r * ::cos(t), r * ::sin(t)); }
NG_COMPLEX complex<T> exp(const complex<T>& a) { return polar(T(::exp(a.re)), a.im); }
NG_COMPLEX complex<T> log(const complex<T>& a) { return complex<T>(::log(abs(a)), arg(a)); }
NG_COMPLEX complex<T> log10(const complex<T>& a) { return log(a) / complex<T>(T(2.302585092994045684)); }
NG_COMPLEX complex<T> sqrt(const complex<T>& a) {
  const T r = abs(a);
  if (r == 0) return complex<T>(0, a.im);
  const T h = ::sqrt((r + ::fabs(a.re)) / 2);
  const T o = a.im / (2 * h);
  return a.re >= 0 ? complex<T>(h, o) : complex<T>(::fabs(o), ::copysign(h, a.im));
}
NG_COMPLEX complex<T> sin(const complex<T>& a) {
  return complex<T>(::sin(a.re) * ::cosh(a.im), ::cos(a.re) * ::sinh(a.im));
}
NG_COMPLEX complex<T> cos(const complex<T>& a) {
  return complex<T>(::cos(a.re) * ::cosh(a.im), -::sin(a.re) * ::sinh(a.im));
}
NG_COMPLEX complex<T> tan(const complex<T>& a) { return sin(a) / cos(a); }
NG_COMPLEX complex<T> sinh(const complex<T>& a) {
  return complex<T>(::sinh(a.re) * ::cos(a.im), ::cosh(a.re) * ::sin(a.im));
}
NG_COMPLEX complex<T> cosh(const complex<T>& a) {
  return complex<T>(::cosh(a.re) * ::cos(a.im), ::sinh(a.re) * ::sin(a.im));
}
NG_COMPLEX complex<T> tanh(const complex<T>& a) { return sinh(a) / cosh(a); }
NG_COMPLEX complex<T> pow(const complex<T>& a, const complex<T>& b) {
  if (a.re == 0 && a.im == 0) return complex<T>(b.re == 0 && b.im == 0 ? 1 : 0);
  return exp(b * log(a));
}
NG_COMPLEX complex<T> pow(const complex<T>& a, T b) { return pow(a, complex<T>(b)); }
NG_COMPLEX complex<T> pow(T a, const complex<T>& b) { return pow(complex<T>(a), b); }
NG_COMPLEX complex<T> pow(complex<T> a, int n) {
  complex<T> out(1), power = n < 0 ? complex<T>(1) / a : a;
  for (unsigned m = n < 0 ? -n : n; m != 0; m >>= 1, power = power * power) {
    if (m & 1) out = out * power;
  }
  return out;
}
#undef NG_COMPLEX
}  // namespace pycuda

typedef float fp_tex_float;
"""

# What nvcc includes before every text, and NVRTC does not.
_BEFORE = """
#pragma once
#include <math.h>
typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint; typedef unsigned long ulong;
"""

_NOTHING = "#pragma once\n"

HEADERS = {
    "stdint.h": _STDINT,
    "cstdint": _STDINT,
    "inttypes.h": _STDINT,
    "limits.h": _LIMITS,
    "climits": _LIMITS,
    "float.h": _FLOAT,
    "cfloat": _FLOAT,
    "math.h": _MATH,
    "cmath": _MATH,
    "stdio.h": _NOTHING,
    "cstdio": _NOTHING,
    "stdlib.h": _NOTHING,
    "cstdlib": _NOTHING,
    "string.h": _NOTHING,
    "cstring": _NOTHING,
    "stddef.h": _NOTHING,
    "cstddef": _NOTHING,
    "stdbool.h": _NOTHING,
    "assert.h": _NOTHING,
    "cassert": _NOTHING,
    "cuda.h": _NOTHING,
    "cuda_runtime.h": _NOTHING,
    "cuda_runtime_api.h": _NOTHING,
    "device_launch_parameters.h": _NOTHING,
    "pycuda-complex.hpp": _COMPLEX,
    "pycuda-helpers.hpp": _COMPLEX,
    "ng_before.h": _BEFORE,
}
"""The text of each, by the name that #include gives it."""
