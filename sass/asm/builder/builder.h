// Kernels made in memory, for code that is generated at run time: instructions with virtual registers, labels and
// parameters go straight to register assignment, schedule and encode; no text is written or read on the way.
//
//   Builder b(Arch::sm_90a, "twice");
//   const auto x = b.param("x", ParamType::ptr);
//   const VReg p = b.reg(2), v = b.reg();
//   b.emit(Op::MOV, {}, {p[0], x});
//   b.emit(Op::MOV, {}, {p[1], x.plus(4)});
//   b.emit(Op::LDG, {Tok::E}, {v, at(p)});
//   b.emit(Op::FADD, {}, {v, v, v});
//   b.emit(Op::STG, {Tok::E}, {at(p), v});
//   b.emit(Op::EXIT, {}, {});
//   Result<KernelImage> kernel = b.finish();
//
// Tokens and operands stand in the order of the text (docs/language.md): `LDG.E R0, [...]` above. Operands that the text
// may omit may be left out here.
//
// The instructions are those of sm_90a. For other chips finish() makes of each what does the same there (lowering.h), to the
// bit.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "sass/asm/builder/assign.h"
#include "sass/asm/program.h"
#include "sass/cubin.h"

namespace nervanagpu::sass {

// `count` consecutive general-purpose registers, the first at a multiple of `count` (1, 2, 4 or 8).
struct VReg {
  std::uint32_t first = kNoVirtual;
  std::uint8_t count = 1;
  VReg operator[](unsigned i) const { return {first + i, 1}; }
  [[nodiscard]] VReg pair(unsigned i) const { return {first + i, 2}; }
  [[nodiscard]] bool none() const { return first == kNoVirtual; }
};
struct VPred {
  std::uint32_t id = kNoVirtual;
  bool inverted = false;
  VPred operator!() const { return {id, !inverted}; }
};
struct VLabel {
  std::uint32_t id = 0;
};

// One operand as the text has it.
struct Arg {
  enum class Kind : std::uint8_t { kReg, kPred, kImm, kConst, kGlobal, kShared, kLabel, kSpecial, kUniform };
  Kind kind = Kind::kReg;
  std::uint32_t id = kNoVirtual;  // of the register, predicate or label; kNoVirtual: RZ, PT
  bool neg = false, abs = false, inv = false;
  Tok part = Tok::kNone;
  std::int64_t imm = 0;  // number, offset, special register, uniform register

  Arg() = default;
  Arg(VReg r) : id(r.first) {}                                      // NOLINT: an operand is written as what it is
  Arg(VPred p) : kind(Kind::kPred), id(p.id), inv(p.inverted) {}    // NOLINT
  Arg(VLabel l) : kind(Kind::kLabel), id(l.id) {}                   // NOLINT
  Arg(std::int64_t n) : kind(Kind::kImm), imm(n) {}                 // NOLINT
  Arg(std::uint32_t n) : kind(Kind::kImm), imm(std::int64_t{n}) {}  // NOLINT
  Arg(int n) : kind(Kind::kImm), imm(n) {}                          // NOLINT
  Arg(float v);                                                     // NOLINT
  [[nodiscard]] Arg operator-() const;
  [[nodiscard]] Arg plus(std::int64_t bytes) const;  // a constant or an address, so many bytes further on
};
inline const VPred kAlways{};                       // PT
inline const VReg kZero{};                          // RZ
Arg at(VReg address, std::int64_t offset = 0);      // global memory; `address`: a pair
Arg shared(VReg address, std::int64_t offset = 0);  // shared memory
Arg magnitude(Arg a);                               // |a|
Arg complement(Arg a);                              // ~a
Arg half(VReg r, unsigned i);                       // the lower (0) or upper half of r as float16
Arg special(unsigned number);                       // SR_...: sass/isa/rows/special.inc

// An instruction as emit() was given it.
struct Request {
  static constexpr std::size_t kMostMods = 6, kMostArgs = 9;
  Op op = Op::NOP;
  std::uint8_t mod_count = 0, arg_count = 0;
  std::array<Tok, kMostMods> mod_array{};
  std::array<Arg, kMostArgs> arg_array;
  VPred guard;
  std::uint32_t line = 0;
  [[nodiscard]] std::span<const Tok> mods() const { return {mod_array.data(), mod_count}; }
  [[nodiscard]] std::span<const Arg> args() const { return {arg_array.data(), arg_count}; }
};

class Builder {
 public:
  // Whether kernels can be built for it: not yet for sm_70 and sm_75.
  static bool builds_for(Arch arch);
  Builder(Arch arch, std::string name);

  VReg reg(unsigned count = 1);
  VPred pred();
  VLabel label();
  void bind(VLabel label);  // here

  // The next parameter, as the constant that it is read from.
  Arg param(std::string name, ParamType type);
  void threads(std::uint32_t n) { manifest_.threads = n; }
  // No more registers than this, the two of the chip's own among them; 0: as many as there are.
  void most_registers(std::uint32_t n) { most_registers_ = n; }
  void shared_bytes(std::uint32_t n) { manifest_.shared = n; }
  void cluster(std::uint32_t ctas) { manifest_.cluster = ctas; }
  // The kernel may be started before the work ahead of it has ended, as `.launch programmatic` says. It waits for that before
  // the first instruction that touches global memory or that a thread may not come to, and then lets the next grid start:
  // sooner, that one's CTAs would take the places of this one's. Chips without such launches take no notice. Call it before
  // the first instruction.
  void programmatic();
  [[nodiscard]] Arch arch() const { return manifest_.arch; }
  [[nodiscard]] const std::vector<Param>& params() const { return manifest_.params; }

  // The line of global memory at `p` + offset, a pair, is going to be read: it is brought to the L2. May come before the work
  // ahead has ended. Nothing on chips that are lowered for.
  void prefetch(VReg p, std::int64_t offset, VPred guard);
  void emit(Op op, std::initializer_list<Tok> mods, std::initializer_list<Arg> args, VPred guard = kAlways);
  // Where the instructions that follow come from: reports and the checked emulator name it as a line of `source`.
  void line(std::uint32_t n) { line_ = n; }

  // Fails on an instruction that does not exist, a register that is read before it is written, and when the registers
  // do not suffice. Call it once.
  Result<KernelImage> finish();

 private:
  friend class Lowering;
  void wait_for_work_ahead();
  bool fill(const Row& row, std::span<const Tok> mods, std::span<const Arg> args, Draft& draft) const;
  // An instruction of the architecture itself.
  void put(Op op, std::span<const Tok> mods, std::span<const Arg> args, VPred guard);

  Manifest manifest_;
  bool lowers_ = false;  // instructions wait in requests_ for finish()
  bool waits_ = false;   // ACQBULK is still to come
  std::vector<Request> requests_;
  std::vector<VirtualGroup> groups_;
  std::uint32_t elements_ = 0;           // registers of all groups
  std::vector<std::uint32_t> label_at_;  // index of the instruction, or the request
  std::vector<Draft> drafts_;
  std::uint32_t line_ = 0;
  std::uint32_t most_registers_ = 0;
  std::string problem_;  // the first one
};

}  // namespace nervanagpu::sass
