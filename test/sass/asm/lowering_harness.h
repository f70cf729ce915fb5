// Runs what the builder makes of an instruction for sm_90a and for sm_52 on the emulator, over operands at which
// instructions go wrong.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "sass/asm/builder/builder.h"

namespace nervanagpu::sass::lowering {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using Row = std::array<u32, 8>;  // the operands of a thread

constexpr unsigned kTid = 33;  // SR_TID.X

enum class Kind : std::uint8_t { words, longs, singles, doubles };

// d: a register or a pair; r: eight registers, which begin at a multiple of eight; c: a parameter of 64 bits.
struct At {
  Builder& b;
  VReg d, r;
  Arg c;
  VPred guard = kAlways;
  void operator()(Op op, std::initializer_list<Tok> mods, std::initializer_list<Arg> args) const {
    b.emit(op, mods, args, guard);
  }
  // Without the guard: what a form computes before.
  void before(Op op, std::initializer_list<Tok> mods, std::initializer_list<Arg> args, VPred p = kAlways) const {
    b.emit(op, mods, args, p);
  }
};
struct Case {
  const char* name;
  Kind kind;
  unsigned words;  // of the result
  std::function<void(const At&)> emit;
  std::function<u64(const Row&, u64 c)> expect = nullptr;  // else sm_90a says
};

// Every case on both: the words of sm_52 are those of sm_90a, fast and (a part) checked, verified, with the result by
// itself and over each operand, and under a guard. Those of sm_90a are what `expect` says.
void check_all(std::span<const Case> cases);

// Words 2 k and 2 k + 1 as one number; the lower word of a number.
inline u64 pair(const Row& r, unsigned k) {
  return u64{r[2 * k + 1]} << 32 | r[2 * k];
}
inline u64 low(i64 v) {
  return static_cast<u32>(v);
}

}  // namespace nervanagpu::sass::lowering
