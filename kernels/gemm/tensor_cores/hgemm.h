// The tensor-core kernels, hgemm.sass and hgemm_cluster.sass: which problems they take, and how they are launched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/gemm/cost/hgemm_cost.h"
#include "nervanagpu/gemm.hpp"
#include "nervanagpu/tensor_map.hpp"
#include "src/device/device.h"
#include "src/launch/values.h"

namespace nervanagpu::hgemm {

// Types and alignments are those of the tensor cores and the copy engine (rows of multiples of 16 bytes). Their sums
// round otherwise than chains of multiply-adds, so this alone decides, never a measurement.
bool takes(const GemmProblem& problem);

// Splits of k for a problem that takes() accepts: a function of m, n, k and whether there is a workspace, or
// problem.splits if that is not 0.
std::int64_t splits_of(const GemmProblem& problem);

// Written for the problem's types and layouts and this number of splits. `tile` is "" or names one: "128x256"; "64x32n", of
// the rows of a and the columns of b in a cluster, or "64x32t", of the columns of b and the rows of a.
bool fits(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, std::string_view tile);
// What fits() calls the kernel's tile.
std::string tile_name(const Kernel& kernel);

// Microseconds, roughly, of a launch.
double cost(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, int multiprocessors);

Grid grid(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, int multiprocessors);

// The kernel's parameters. device: encodes the tensor maps; nullptr: they stay empty, for conditions only.
Values values(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, Device* device);

// hgemm_cluster.sass's parameters after the maps, up to those of ring_rows.sass. share: rows of a tile, as C sees it, that a
// CTA of a cluster finishes.
void put_cluster(Values& v, const GemmProblem& problem, std::int64_t blocks, std::int64_t splits, std::int64_t share);

// Of a kernel of lib/sm_90a/tiles/tiles.sass: its grid, and its parameters after the maps. divisor: `depth`.
// groups: products of this shape in the launch of a kernel with GROUPED = 1, whose results lie stride_c apart.
Grid tiles_grid(const GemmProblem& problem, const Tile& tile, std::int64_t splits, int multiprocessors,
                std::int64_t groups = 1);
// The tile's plain epilogue, of 16-bit results, stores all of it: alpha, beta, vectors, a relu and its bits, and nothing else.
bool stores_plainly(const GemmProblem& problem);
void put_tiles(Values& v, const GemmProblem& problem, const Tile& tile, std::int64_t splits, std::int64_t divisor,
               std::int64_t groups = 1);

// The maps of the kernel's a and b. swapped: these are the problem's b and a. c: of a kernel that has one, where it stores so.
struct Maps {
  TensorMap a, b;
  bool swapped = false;
  std::optional<TensorMap> c = {};
  // A's in its place, which nobody reads.
  [[nodiscard]] const TensorMap& of_c() const { return c ? *c : a; }
};
Maps maps(const Kernel& kernel, const GemmProblem& problem);
// Both, as the first parameters of a kernel. device: encodes them; nullptr: they stay empty.
void put_maps(Values& v, Device* device, const Maps& maps);
void put_map_c(Values& v, Device* device, const Maps& maps);
// Of C, or of the partial sums in the workspace, in boxes of 16 rows x 32 columns; none: plain tiles do not say all of the epilogue, or the
// copy engine cannot store there.
std::optional<TensorMap> map_of_results(const GemmProblem& problem, std::int64_t splits);

}  // namespace nervanagpu::hgemm
