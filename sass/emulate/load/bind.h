// From decoded instruction to micro-operation. bind() fills the parts of a Detail that all instructions share, then
// asks the families in turn; the one that knows the operation sets the handler and its own parameters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sass/emulate/load/uop.h"
#include "sass/isa/arch.h"
#include "sass/isa/inst.h"

namespace nervanagpu::sass::emulate {

struct Binding {
  Uop uop;
  Detail detail;
  bool knows_cc = false;  // the handler writes CC where the instruction says so
  std::string refused;    // why a known operation cannot be run: "rounding .RM"
  void refuse(std::string why) {
    if (refused.empty()) refused = std::move(why);
  }
};

// A family: sets detail.body (and uop.run for a fast path) and returns true if it knows inst.op.
using Family = bool (*)(const Inst& inst, Binding& b);

// Those in 64 are of sm_50 .. sm_62 alone and refuse all others. nullptr-terminated; chosen once for this machine's vector instructions.
const Family* families();

bool bind_control(const Inst& inst, Binding& b);
bool bind_barrier(const Inst& inst, Binding& b);
bool bind_mbarrier(const Inst& inst, Binding& b);
bool bind_cluster(const Inst& inst, Binding& b);    // cluster barriers, STAS, REDAS
bool bind_registers(const Inst& inst, Binding& b);  // USETMAXREG
bool bind_copy_engine(const Inst& inst, Binding& b);
bool bind_special(const Inst& inst, Binding& b);
bool bind_memory(const Inst& inst, Binding& b);
bool bind_atomic(const Inst& inst, Binding& b);
bool bind_texture(const Inst& inst, Binding& b);  // TEX, TLD, TLD4, TXD, TXQ
bool bind_surface(const Inst& inst, Binding& b);  // SULD, SUST, SURED
bool bind_exchange(const Inst& inst, Binding& b);
bool bind_matrix(const Inst& inst, Binding& b);
bool bind_mma(const Inst& inst, Binding& b);   // HMMA, IMMA, DMMA
bool bind_gmma(const Inst& inst, Binding& b);  // HGMMA, IGMMA, QGMMA, WARPGROUP, FENCE
bool bind_convert(const Inst& inst, Binding& b);
bool bind_double(const Inst& inst, Binding& b);
bool bind_mufu(const Inst& inst, Binding& b);
bool bind_half(const Inst& inst, Binding& b);
bool bind_convert64(const Inst& inst, Binding& b);
bool bind_video(const Inst& inst, Binding& b);  // sm_50 .. sm_62
bool bind_stack(const Inst& inst, Binding& b);  // sm_50 .. sm_62: SSY, SYNC, PBK, BRK ..., conditions on CC
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

// All of the above. `index` is the position of the instruction, `encoding` gives labels their meaning. On failure
// b.refused says why.
bool bind(Arch arch, const Inst& inst, std::uint32_t index, Binding& b);

// How a family reads the signs of its sources.
void signs_as_integer(Detail& x);                                  // -x is two's complement, ~x its complement
void signs_as_float(Detail& x, std::uint32_t sign = 0x80000000u);  // sign bit; |x| clears it
Round round_of(const Inst& inst);
void bind_described(const Inst& inst, Binding& b);  // an operand cx[UR], of whatever operation
void bind_size(const Inst& inst, Binding& b);       // bytes and is_signed of a memory access
void bind_reduction(const Inst& inst, Binding& b);  // kind and kind2 of REDAS, for reduce()
void reduce(const Detail& x, std::byte* at, std::uint64_t value);
// Whether the result also sets CC: R4.CC.
bool sets_cc(const Inst& inst);
// Whether a modifier of `inst` reads `text`, or has it as one of its words, whatever it chooses.
bool says(const Inst& inst, std::string_view text);

}  // namespace nervanagpu::sass::emulate
