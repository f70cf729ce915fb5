// What registers and stack slots hold of addresses in code, relative to the entry of a function: constants, what they
// held at the entry, sums of both. Enough to see where a function returns, however its address was moved, spilled or
// computed, and whom a computed call calls. sm_70 and later: before, the hardware keeps return addresses.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sass/verify/code.h"

namespace nervanagpu::sass::verify_detail {

// A general register (0 to 254), a uniform one (256 to 318), or four bytes of the stack at an offset from where the stack
// pointer was at the function's entry.
using Location = std::int64_t;
inline constexpr Location kStackPointer = 1;
constexpr Location uniform_location(unsigned reg) {
  return 256 + static_cast<Location>(reg);
}
constexpr Location slot(std::int32_t offset) {
  return (Location{1} << 33) + offset;
}
constexpr bool is_slot(Location l) {
  return l > 4096;
}
constexpr std::int32_t slot_offset(Location l) {
  return static_cast<std::int32_t>(l - (Location{1} << 33));
}

// One thing that a register may hold: a number, what a place held at the entry plus a number, or the address of a function
// that is not in the cubin.
struct Atom {
  static constexpr Location kNumber = -1;
  static constexpr Location kExternal = -2;
  Location base = kNumber;
  std::uint32_t add = 0;
  friend bool operator==(const Atom&, const Atom&) = default;
  friend bool operator<(const Atom& x, const Atom& y) { return x.base != y.base ? x.base < y.base : x.add < y.add; }
};

// All that it may hold: some atoms in order, or anything.
class Value {
 public:
  static Value anything() {
    Value v;
    v.anything_ = true;
    return v;
  }
  static Value of(Location base, std::uint32_t add = 0) {
    Value v;
    v.atoms_[0] = {base, add};
    v.count_ = 1;
    return v;
  }
  [[nodiscard]] bool is_anything() const { return anything_; }
  [[nodiscard]] const Atom* begin() const { return atoms_.data(); }
  [[nodiscard]] const Atom* end() const { return atoms_.data() + count_; }
  // The only atom, or nullptr.
  [[nodiscard]] const Atom* only() const { return !anything_ && count_ == 1 ? atoms_.data() : nullptr; }
  void add(const Atom& atom);
  void join(const Value& other);
  friend bool operator==(const Value&, const Value&) = default;

 private:
  static constexpr std::uint8_t kMost = 8;
  std::array<Atom, kMost> atoms_{};
  std::uint8_t count_ = 0;
  bool anything_ = false;
};
Value plus(const Value& a, const Value& b);
Value minus(const Value& a);  // -a

// The state at one point of a function. A place that is not listed holds what it held at the entry.
class Places {
 public:
  struct Entry {
    Location at;
    Value value;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  [[nodiscard]] Value get(Location at) const;
  void set(Location at, const Value& value);
  [[nodiscard]] const std::vector<Entry>& listed() const { return listed_; }
  // Joins another path's; true if this one changed.
  bool join(const Places& other);
  // What instruction `i` does to it, calls excepted.
  void step(const Code& code, std::uint32_t i);
  // Instruction `i` calls a function that leaves its places so, in terms of its own entry.
  void call(const Places& callee);
  // What is `v`, of a function called here, in terms of ours?
  [[nodiscard]] Value translated(const Value& v) const;
  friend bool operator==(const Places&, const Places&) = default;

 private:
  void load(const Code& code, std::uint32_t i);
  void store(const Inst& inst);
  [[nodiscard]] Value computed(const Code& code, std::uint32_t i) const;
  [[nodiscard]] Value operand(const Code& code, const Operand& o) const;
  [[nodiscard]] bool slots_at(const Inst& inst, std::int32_t& offset) const;

  std::vector<Entry> listed_;  // ascending
};

}  // namespace nervanagpu::sass::verify_detail
