// Short names of the integers that registers hold.
#pragma once

#include <cstdint>

namespace nervanagpu::sass::emulate {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

}  // namespace nervanagpu::sass::emulate
