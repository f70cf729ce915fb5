// Reductions of the copy engine: UTMAREDG and UBLKRED, element by element, each one atomic step of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sass/emulate/engine/tensor_map.h"

namespace nervanagpu::sass::emulate {

enum class Reduce : std::uint8_t { kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor };  // as encoded
enum class ReduceType : std::uint8_t { kU32, kS32, kU64, kS64, kF16, kBf16, kF32, kF32Ftz, kF64, kNone };

ReduceType reduce_type(MapType type);  // kNone: the engine has no reduction of these
bool can_reduce(Reduce op, ReduceType type);
bool can_reduce_in_shared(Reduce op, ReduceType type);  // between CTAs: what PTX has, integers
std::string_view name_of(Reduce op);
std::string_view name_of(ReduceType type);

// to[i] = op(to[i], from[i]) over `bytes`, a multiple of an element.
void reduce(std::byte* to, const std::byte* from, std::uint32_t bytes, Reduce op, ReduceType type);

}  // namespace nervanagpu::sass::emulate
