// The float32 kernels that the copy engine feeds, sgemm_ring.sass and sgemm_ring8.sass: which problems they take, how they are
// launched.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "nervanagpu/gemm.hpp"
#include "nervanagpu/tensor_map.hpp"
#include "src/device/device.h"
#include "src/launch/values.h"

namespace nervanagpu::sgemm_ring {

// The CTAs of a cluster multiply splits of k, and but for a team the four warps of each. Sums of splits round otherwise than one
// chain, so the problem alone decides on all of this, never the GPU or a measurement.
struct Shape {
  int bm = 0, bn = 0;
  bool swapped = false;   // C^T = B^T A^T
  std::int64_t ctas = 1;  // of a cluster

  bool team() const { return bm == 128; }       // the warps share a tile
  bool few() const { return bm * bn <= 2048; }  // a thread has few sums, and registers for those of several chunks of k
  std::int64_t splits() const { return team() ? ctas : 4 * ctas; }
};

// The fastest shape by a model of an H200; none if sgemm.sass and gemm.sass are taken to be faster. `tile` names one:
// "ring128x128", "ring64x64", "ring16x128t" (swapped), with problem.splits CTAs; any other name: none.
std::optional<Shape> shape_of(const GemmProblem& problem, std::string_view tile);

// The shapes that cut k as `own` does, and so give the same bits, in the order of what they cost.
struct Priced {
  Shape shape;
  double cost = 0;  // microseconds, by the model
};
std::vector<Priced> shapes_with(const GemmProblem& problem, const Shape& own);

// nullptr: none is built in.
const Kernel* find(const Registry& registry, const GemmProblem& problem, const Shape& shape);
Grid grid(const GemmProblem& problem, const Shape& shape);
// device: encodes the tensor maps; nullptr: they stay empty.
Values values(const Kernel& kernel, const GemmProblem& problem, const Shape& shape, Device* device);

// How the copy engine sees an operand: rows r, r + 4, ... of what lies in memory are map r, one map is enough for rows that
// begin at multiples of 16 bytes. Made for an address that is such a multiple; at another one the maps begin `first` elements
// before the operand, and their rows are that much longer.
struct Maps {
  std::array<TensorMap, 4> of{};
  std::size_t count = 1;
};
Maps maps_a(const Kernel& kernel, const GemmProblem& problem, bool swapped);  // of the kernel's a and b
Maps maps_b(const Kernel& kernel, const GemmProblem& problem, bool swapped);

}  // namespace nervanagpu::sgemm_ring
