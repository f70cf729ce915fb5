// What all forms of a mnemonic have in common, from op.inc: the memory that they touch and where control goes after them.
#pragma once

#include <array>
#include <cstdint>

#include "sass/isa/op.h"

namespace nervanagpu::sass {

// Sets of memories. kSpaceHeaders: those of textures, which the texture unit reads before anything else.
using Spaces = std::uint8_t;
inline constexpr Spaces kSpaceGlobal = 1, kSpaceShared = 2, kSpaceLocal = 4, kSpaceHeaders = 8;

// Of atomics only `writes` need be asked: whatever writes passes nothing. Prefetches and cache controls touch nothing that
// anybody sees.
struct MemoryUse {
  Spaces reads = 0;
  Spaces writes = 0;

  [[nodiscard]] constexpr Spaces either() const { return reads | writes; }
};

// Where control goes.
enum class Goes : std::uint8_t {
  kNext,      // on to the next instruction
  kBranch,    // to its label
  kJump,      // to its label, or to where a register says
  kIndirect,  // to where a register says; a label is only what that is relative to
  kCall,      // to its label or where a register says, and back after the call
  kReturn,    // after the call
  kLeave,     // the thread ends
  kPush,      // leaves a target for a later instruction
  kPop,       // to the target that its partner left
  kRejoin,    // waits at the target that its partner left
};

namespace op_facts {

// The words of op.inc.
inline constexpr Spaces kNothing = 0, kGlobal = kSpaceGlobal, kShared = kSpaceShared, kLocal = kSpaceLocal;
inline constexpr Spaces kGeneric = kGlobal | kShared | kLocal;
inline constexpr Spaces kHeaders = kSpaceHeaders, kTexture = kGlobal | kHeaders;

inline constexpr auto kMemories = std::to_array<MemoryUse>({
#define OP(name, text) {},
#define MEMORY_OP(name, text, reads, writes) {reads, writes},
#include "sass/isa/op.inc"
});

inline constexpr auto kAtomics = std::to_array<bool>({
#define OP(name, text) false,
#define ATOMIC_OP(name, text, reads, writes) true,
#include "sass/isa/op.inc"
});

inline constexpr auto kFlows = std::to_array<Goes>({
#define OP(name, text) Goes::kNext,
#define FLOW_OP(name, text, kind, partner) Goes::kind,
#include "sass/isa/op.inc"
});

inline constexpr auto kPartners = std::to_array<Op>({
#define OP(name, text) Op::NOP,
#define FLOW_OP(name, text, kind, partner) Op::partner,
#include "sass/isa/op.inc"
});

struct Barrier {
  bool is = false;
  Op wait = Op::NOP;
};
inline constexpr auto kBarriers = std::to_array<Barrier>({
#define OP(name, text) {},
#define BARRIER_OP(name, text, wait) {true, Op::wait},
#include "sass/isa/op.inc"
});

}  // namespace op_facts

constexpr MemoryUse memory_of(Op op) {
  return op_facts::kMemories[static_cast<std::size_t>(op)];
}
// Reads and writes each element in one step.
constexpr bool is_atomic(Op op) {
  return op_facts::kAtomics[static_cast<std::size_t>(op)];
}
constexpr Goes goes(Op op) {
  return op_facts::kFlows[static_cast<std::size_t>(op)];
}
// Of what pops or rejoins: the mnemonic that left the target; of others NOP.
constexpr Op partner_of(Op op) {
  const bool takes = goes(op) == Goes::kPop || goes(op) == Goes::kRejoin;
  return takes ? op_facts::kPartners[static_cast<std::size_t>(op)] : Op::NOP;
}
// `by` left the place to which this return, or the function that this jump calls, comes back.
constexpr bool comes_back(Op op, Op by) {
  const bool takes = goes(op) == Goes::kReturn || goes(op) == Goes::kIndirect;
  return takes && by != Op::NOP && by == op_facts::kPartners[static_cast<std::size_t>(op)];
}

constexpr bool is_barrier(Op op) {
  return op_facts::kBarriers[static_cast<std::size_t>(op)].is;
}
// Of a barrier that only arrives, the mnemonic that waits; of others NOP.
constexpr Op wait_of(Op op) {
  return op_facts::kBarriers[static_cast<std::size_t>(op)].wait;
}

// It never goes on to the next instruction by itself, unless something makes it conditional.
constexpr bool diverts(Op op) {
  const Goes f = goes(op);
  return f == Goes::kBranch || f == Goes::kJump || f == Goes::kIndirect || f == Goes::kReturn || f == Goes::kLeave ||
         f == Goes::kPop;
}

// Reads or writes what other kernels may have written or still read.
constexpr bool touches_global(Op op) {
  return (memory_of(op).either() & kSpaceGlobal) != 0;
}

constexpr bool by_texture_unit(Op op) {
  return (memory_of(op).either() & kSpaceHeaders) != 0;
}

}  // namespace nervanagpu::sass
