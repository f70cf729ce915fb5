// Operands and values inside a generated kernel: loads, the operations of a Program, stores.
#pragma once

#include <vector>

#include "src/fuse/emit.h"
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

// A number taken apart into coordinates, innermost first, by multiplication (src/magic.h).
struct Division {
  Arg minus_length, mul, shift;
};
std::vector<Division> declare_divisions(Builder& b, std::size_t count);
std::vector<VReg> coordinates(Builder& b, const std::vector<Division>& divisions, VReg number);

// Memory words of `lanes` elements at `p` + offset; zeros where `guard` does not hold.
Lanes load(Builder& b, Dtype d, unsigned lanes, VReg p, std::int64_t offset, VPred guard = sass::kAlways);
void store(Builder& b, Dtype d, unsigned lanes, VReg p, std::int64_t offset, const Lanes& x,
           VPred guard = sass::kAlways);

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
  [[nodiscard]] bool uniform(std::int16_t value) const { return uniform_[static_cast<std::size_t>(value)]; }
  [[nodiscard]] Lanes uniform_lanes(std::int16_t value, unsigned lanes) const;

 private:
  Builder& b_;
  const Program& p_;
  std::vector<Operand> operands_;
  std::vector<Arg> numbers_;
  std::vector<bool> uniform_;
  std::vector<VReg> uniform_value_;
};

// The bits of a number as its parameter: float16 as float32, small integers extended.
std::uint64_t number_bits(const Number& n);

}  // namespace nervanagpu::fuse
