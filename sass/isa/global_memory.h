// Which instructions touch what other kernels may have written.
#pragma once

#include "sass/isa/op.h"

namespace nervanagpu::sass {

// Reads or writes of global memory, with generic addresses, textures and the copy engine. Prefetches (UTMAPF, UBLKPF, CCTL)
// read nothing that anybody sees.
constexpr bool touches_global(Op op) {
  switch (op) {
    case Op::LDG:
    case Op::STG:
    case Op::LD:
    case Op::ST:
    case Op::LDGSTS:
    case Op::ATOM:
    case Op::ATOMG:
    case Op::RED:
    case Op::REDG:
    case Op::TEX:
    case Op::TLD:
    case Op::TLD4:
    case Op::TXD:
    case Op::SULD:
    case Op::SUST:
    case Op::UTMALDG:
    case Op::UTMASTG:
    case Op::UTMAREDG:
    case Op::UBLKCP:
    case Op::UBLKRED: return true;
    default: return false;
  }
}

}  // namespace nervanagpu::sass
