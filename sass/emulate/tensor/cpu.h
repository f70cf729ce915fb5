// Which vector instructions this machine has.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>

namespace nervanagpu::sass::emulate {

// AVX2, FMA and the conversions of halves. The last has no name in clang 14's __builtin_cpu_supports.
inline bool has_avx2_and_halves() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  const bool f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 && f16c;
}

}  // namespace nervanagpu::sass::emulate
#endif
