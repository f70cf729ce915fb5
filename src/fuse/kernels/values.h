// Operands and values inside a generated kernel: loads, the operations of a Program, stores.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "src/fuse/numeric/emit.h"
#include "src/fuse/program.h"

namespace nervanagpu::fuse {

inline constexpr unsigned kTidX = 33, kCtaidX = 37;  // special registers

// How a thread's lanes find an operand's elements.
enum class Access : std::uint8_t {
  uniform,  // one element for all: loaded before the loop
  dense,    // lanes stand side by side in memory
  splat,    // one element for all lanes of an item
  strided,  // items of one lane, anywhere
};

struct Operand {
  Dtype dtype = Dtype::float32;
  Access access = Access::dense;
  Arg pointer;  // the parameter
};

// How many reductions, one after the other, each value is made of, itself among them.
std::vector<unsigned> reductions_behind(const Program& p);

// The values that have to be computed for `targets`: these, and what they are made of, without what is known(i) already.
template <class Known>
std::vector<bool> needed_for(const Program& p, const std::vector<std::size_t>& targets, const Known& known) {
  std::vector<bool> out(p.values.size(), false);
  for (const std::size_t t : targets) out[t] = !known(t);
  for (std::size_t i = p.values.size(); i-- > 0;) {
    if (!out[i]) continue;
    for (const std::int16_t in : p.values[i].in) {
      if (in >= 0 && !known(static_cast<std::size_t>(in))) out[static_cast<std::size_t>(in)] = true;
    }
  }
  return out;
}

// The parameters of the program's tensors, then of its outputs; access: one for each.
std::vector<Operand> declare_operands(Builder& b, const Program& p, const std::vector<Access>& access);
// Operand k's strides along `rank` axes, innermost first, in elements.
std::vector<Arg> declare_strides(Builder& b, std::size_t k, std::size_t rank);
// Sum of coordinates times strides.
VReg offset_of(Builder& b, const std::vector<VReg>& coordinates, const std::vector<Arg>& strides);

// Registers with the bytes of items, each made when it is first asked for: IMAD.WIDE takes one constant only.
class ItemSizes {
 public:
  explicit ItemSizes(Builder& b) : b_(b) {}
  VReg of(unsigned bytes);

 private:
  Builder& b_;
  std::vector<std::pair<unsigned, VReg>> registers_;
};

// A number decomposed into coordinates, innermost first, by multiplication (src/launch/magic.h).
struct Division {
  Arg minus_length, mul, shift;
};
std::vector<Division> declare_divisions(Builder& b, std::size_t count);
std::vector<VReg> coordinates(Builder& b, const std::vector<Division>& divisions, VReg number);

// Memory words of `lanes` elements at `p` + offset; zeros where `guard` does not hold.
Lanes load(Builder& b, Dtype d, unsigned lanes, VReg p, std::int64_t offset, VPred guard = sass::kAlways);
// The indices of `lanes` elements side by side, the first at the address `p` + offset of a view that counts (program.h).
Lanes count_up(Builder& b, unsigned lanes, VReg p, std::int64_t offset);
// The address of the element so many (a pair, int64) after the one at `base`.
VReg address_at(Builder& b, Dtype d, Arg base, VReg offset);
void store(Builder& b, Dtype d, unsigned lanes, VReg p, std::int64_t offset, const Lanes& x,
           VPred guard = sass::kAlways);
// One element, that other threads may write too: with an order, which is no race.
void store_strong(Builder& b, Dtype d, VReg p, const Lanes& x, VPred guard);

// The values of a program for some lanes. `leaf(i)` gives the lanes of tensor i, loaded and unpacked.
class Evaluator {
 public:
  Evaluator(Builder& b, const Program& p, std::vector<Operand> operands);

  // Parameters of the numbers, in order; then what is the same for all elements is computed.
  void declare_numbers();
  void compute_uniform();

  // Values that need lanes, from the leaves in `loaded` (by tensor index), into `values`. With `only`: those of it that
  // are not in `values` yet by other means.
  using Table = std::vector<Lanes>;
  void compute(unsigned lanes, const std::vector<Lanes>& loaded, Table& values,
               const std::vector<bool>* only = nullptr) const;
  // One value; its operands are in `values`.
  void compute_one(std::size_t i, unsigned lanes, const std::vector<Lanes>& loaded, Table& values) const;
  // To be called when a value that is the same for many elements stands in register `v`: quotients by it share their work.
  void found(std::size_t value, VReg v);
  // The same for `lanes` of them side by side.
  void found(std::size_t value, const Lanes& v, unsigned lanes);
  [[nodiscard]] bool uniform(std::int16_t value) const { return uniform_[static_cast<std::size_t>(value)]; }
  [[nodiscard]] Lanes uniform_lanes(std::int16_t value, unsigned lanes) const;

 private:
  Builder& b_;
  const Program& p_;
  std::vector<Operand> operands_;
  std::vector<Arg> numbers_;
  std::vector<bool> uniform_;
  std::vector<VReg> uniform_value_;
  std::vector<std::optional<Divisor>> divisors_;
  std::vector<unsigned> divisor_lanes_;  // of each: 1, or as many as it is asked for
};

// The bits of a number as its parameter: float16 as float32, small integers extended.
std::uint64_t number_bits(const Number& n);

}  // namespace nervanagpu::fuse
