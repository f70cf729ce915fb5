// The families of ops/: each knows some operations. Those in 64 are of sm_50 .. sm_62 alone and refuse all others.
#pragma once

#include "sass/emulate/uop/binding.h"

namespace nervanagpu::sass::emulate {

bool bind_control(const Inst& inst, Binding& b);
bool bind_barrier(const Inst& inst, Binding& b);
bool bind_cluster(const Inst& inst, Binding& b);    // cluster barriers, STAS, REDAS
bool bind_registers(const Inst& inst, Binding& b);  // USETMAXREG
bool bind_special(const Inst& inst, Binding& b);
bool bind_memory(const Inst& inst, Binding& b);
bool bind_atomic(const Inst& inst, Binding& b);
bool bind_exchange(const Inst& inst, Binding& b);
bool bind_matrix(const Inst& inst, Binding& b);
bool bind_convert(const Inst& inst, Binding& b);
bool bind_double(const Inst& inst, Binding& b);
bool bind_mufu(const Inst& inst, Binding& b);
bool bind_half(const Inst& inst, Binding& b);
bool bind_convert64(const Inst& inst, Binding& b);
bool bind_video(const Inst& inst, Binding& b);  // sm_50 .. sm_62
bool bind_stack(const Inst& inst, Binding& b);  // sm_50 .. sm_62: SSY, SYNC, PBK, BRK ..., conditions on CC

// Compiled for each set of the host's vector instructions.
#define NG_VECTOR_FAMILIES(space)                    \
  namespace space {                                  \
  bool bind_float(const Inst& inst, Binding& b);     \
  bool bind_integer(const Inst& inst, Binding& b);   \
  bool bind_logic(const Inst& inst, Binding& b);     \
  bool bind_compare(const Inst& inst, Binding& b);   \
  bool bind_shared(const Inst& inst, Binding& b);    \
  bool bind_xmad(const Inst& inst, Binding& b);      \
  bool bind_integer64(const Inst& inst, Binding& b); \
  bool bind_logic64(const Inst& inst, Binding& b);   \
  bool bind_compare64(const Inst& inst, Binding& b); \
  }
NG_VECTOR_FAMILIES(baseline)
NG_VECTOR_FAMILIES(avx2)
#undef NG_VECTOR_FAMILIES

}  // namespace nervanagpu::sass::emulate
