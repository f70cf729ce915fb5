// The builder's instructions for other chips. emit() takes those of sm_90a; each becomes the instructions that do the same
// there, to the bit. sm_80 .. sm_89 lack few (lowering_ampere.cpp). What is different on sm_50 .. sm_62:
//
//   products       are made of 16 by 16 bits (XMAD); by a power of two they are shifts
//   carries        go through CC and not through predicates: sums of 64 bits follow each other without a gap
//   numbers        have 20 bits with a sign; longer ones take the 32I form or a register, which neighbours share
//   sequences      stand for minima that keep NaN, floats of 16 bits, comparisons of 64 bits
//
// A sequence computes in registers of its own, without the guard; only what the instruction itself writes has it, and comes
// last. So a destination may be any of the operands.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "sass/asm/builder/builder.h"

namespace nervanagpu::sass {

class Lowering {
 public:
  explicit Lowering(Builder& b) : b_(b) {}
  // All requests of the builder into drafts; labels move to where these stand. Leaves a problem with the builder.
  void run();

 private:
  using Rule = void (Lowering::*)();
  [[nodiscard]] Rule rule_of(Op op) const;
  static Rule maxwell_rule(Op op);
  static Rule ampere_rule(Op op);

  // ---- The request at hand -------------------------------------------------------------------------------------------
  [[nodiscard]] const Arg& arg(unsigned i) const { return r_->arg_array[i]; }
  [[nodiscard]] unsigned arg_count() const { return r_->arg_count; }
  [[nodiscard]] bool says(Tok t) const;
  void refuse(const char* why);

  static bool is_register(const Arg& a) { return a.kind == Arg::Kind::kReg; }
  static bool is_zero(const Arg& a) { return is_register(a) && a.id == kNoVirtual; }
  static Arg word(Arg a, unsigned k);   // of a pair of registers or constants
  static Arg upper_half(Arg a);         // its upper 16 bits
  static Arg with_carry(Arg d);         // a result that leaves its carry in CC
  static Arg minus(Arg a, bool if_so);  // a, its sign turned if so

  // ---- Instructions of the chip --------------------------------------------------------------------------------------
  using Toks = std::initializer_list<Tok>;
  using Args = std::initializer_list<Arg>;
  void put(Op op, Toks mods, Args args, VPred guard = kAlways);
  void last(Op op, Toks mods, Args args) { put(op, mods, args, r_->guard); }  // with the request's guard
  void last(Op op, std::span<const Tok> mods, Args args);

  // What a form takes as a number: 20 bits, of floats the upper ones.
  enum class Short : std::uint8_t { kSigned, kUnsigned, kFloat, kDouble };
  static bool is_short(Short kind, std::int64_t n);
  static std::int64_t float_bits(const Arg& a);  // of a number with its sign
  static std::int64_t double_bits(const Arg& a);
  // The second source of a form, which alone may be a constant or a short number: as it is, or in a register.
  Arg second(const Arg& a, Short kind);
  Arg in_register(const Arg& a);  // neither a number nor a constant
  VReg number(std::uint32_t n);
  VReg number64(std::uint64_t n);
  // A number, or a register that never holds another.
  [[nodiscard]] std::optional<std::uint32_t> known(const Arg& a) const;

  // ---- The program as a whole ----------------------------------------------------------------------------------------
  void look_ahead();
  void drop_unread();

  // ---- Integers (lowering_integer.cpp) -------------------------------------------------------------------------------
  void move();
  void add();
  void add_two(Arg d, const Arg& x, const Arg& y);
  void add_extended();
  void leave_carry(const Arg& carry);
  void take_carry(const Arg& carry);
  [[nodiscard]] bool next_takes(const Arg& carry) const;
  void absolute();
  void extremum();
  void compare();
  void compare_extended();
  void logic();
  void shift();
  void extend_sign();
  void select();
  // Products (lowering_product.cpp)
  void multiply_add();
  void multiply_high();
  void multiply_wide();
  void scaled_pair(unsigned by);
  // ---- Floats (lowering_float.cpp) -----------------------------------------------------------------------------------
  void float_add();
  void float_multiply();
  void float_multiply_add();
  void float_extremum();
  void float_compare();
  void double_add();
  void double_multiply();
  void double_multiply_add();
  void double_compare();
  // Conversions (lowering_convert.cpp)
  void to_integer();
  void from_integer();
  void to_whole();
  void from_half();
  void pack_halves();
  VReg upper_bfloat(const Arg& x);
  // ---- sm_80 .. sm_89 (lowering_ampere.cpp) ----------------------------------------------------------------------------
  void ampere_extremum();
  void ampere_from_integer();
  void ampere_pack();
  void ampere_reduce();
  // ---- Everything else (lowering.cpp) --------------------------------------------------------------------------------
  void as_it_is();
  void global_memory();
  void reduce();
  void barrier();

  Builder& b_;
  const Request* r_ = nullptr;
  std::size_t index_ = 0;  // of the request at hand

  // Numbers in registers since the last label: neighbours that want the same one share it.
  struct Kept {
    std::uint64_t bits = 0;
    VReg r;
    std::size_t used = 0;  // at which draft, the last time; r.none(): never
  };
  template <std::size_t N>
  Kept& keep(std::array<Kept, N>& among, std::uint64_t bits);
  std::array<Kept, 4> words_;
  std::array<Kept, 3> pairs_;

  std::vector<bool> labelled_;                       // requests that a label stands at
  std::vector<std::optional<std::uint32_t>> holds_;  // of each virtual register: the one number it ever has
  std::vector<std::uint32_t> readers_;               // of each virtual predicate
  std::uint32_t in_cc_ = kNoVirtual;                 // the predicate whose value CC has, for the request at hand
};

}  // namespace nervanagpu::sass
