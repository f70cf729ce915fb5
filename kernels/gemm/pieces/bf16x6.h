// float32 products on the tensor cores: bf16x3.sass writes three bfloat16 pieces of each operand to the workspace, bf16x6.sass
// multiplies them, and gemm_if.sass computes the product where an operand's elements have no exact pieces, or sums might overflow. Which
// of the two does the work is decided on the device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernels/gemm/tensor_cores/hgemm.h"
#include "nervanagpu/gemm.hpp"
#include "src/device/device.h"
#include "src/launch/values.h"

namespace nervanagpu::bf16x6 {

inline constexpr std::int64_t kPieces = 3;
inline constexpr std::int64_t kRangeBytes =
    2 * 256 * 4;  // where bf16x3.sass leaves how large an operand's elements are
inline constexpr std::int64_t kStatisticsBytes = 3 * kRangeBytes;  // where f16x2.sass leaves what it has found

// Microseconds of a chunk of 128 rows, by width: three times two products at the rate that the power of an H200 allows
// (124 million multiply-adds a microsecond, docs/lab/bf16x6.md).
struct Width {
  int columns;
  double chunk;
};
// What a launch of such tiles costs by the model, and the splits of k, at least so many, with which a product costs least, its
// pieces included.
double microseconds(const GemmProblem& problem, const Width& width, std::int64_t splits, int multiprocessors,
                    std::int64_t pieces);
struct Choice {
  std::int64_t splits = 1;
  double cost = 0;
  double product = 0;  // of it
};
Choice best(const GemmProblem& problem, std::span<const Width> widths, std::int64_t pieces, std::int64_t least = 1);

inline constexpr std::array kWidths = {Width{128, 2.25}, Width{192, 3.35}};

// Parts that a sum of so many chunks of 64 products has at least: chunks are added one after the other, and what is added late is
// rounded as the total is. 128 of them have half the error of multiply-adds, whose long sums are cut, too.
std::int64_t least_splits(std::int64_t chunks);

// Above it, sums of so many products may overflow: lib/sm_90a/pieces/ranges.sass.
std::int64_t most_exponents(std::int64_t products);

// Of precision tensor, with types and sizes that the kernels take.
bool possible(const GemmProblem& problem);

// Splits of k for a problem that is possible().
std::int64_t splits_of(const GemmProblem& problem);

// Of bf16x6.sass or bf16x6_32.sass.
bool fits(const Kernel& kernel, const GemmProblem& problem, std::string_view tile);
std::string tile_name(const Kernel& kernel);  // "128x128"; of bf16x6_32.sass "rs128x128"
double cost(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits,
            int multiprocessors);  // microseconds
Grid grid(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, int multiprocessors);

// Where f16x3.sass has computed the product, all of these kernels return at once: lib/sm_90a/pieces/halves.sass. statistics 0: it has not.
struct Unless {
  std::uint64_t statistics = 0;
  std::int64_t most_small = 0, most_scales = 0;
  // Of groups with lost elements, of A and of B; 0: they are not looked at by themselves.
  struct Lossy {
    std::int64_t a = 0, b = 0;
  } most_lossy;

  Values& put(Values& v) const {
    return v.u64(statistics).u32(most_small | most_lossy.a << 8 | most_lossy.b << 16).u32(most_scales);
  }
};

// bf16x6.sass's parameters. device: see hgemm.h.
Values values(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, Device* device,
              const Unless& unless = {});
hgemm::Maps maps(const Kernel& kernel, const GemmProblem& problem);

// The workspace: the ranges at its beginning; then, that many bytes from there, f16x2.sass's statistics, pieces of a, of b,
// and partial sums. The pieces of f16x3.h lie where bfloat16 ones do, if those are needed.
struct Room {
  std::size_t statistics = 0, a = 0, b = 0, partial_sums = 0;
  std::size_t bytes = 0;  // in all
};
// kept: operands whose pieces are kept, so many, have no room: no kernel of the product writes any.
Room room(const GemmProblem& problem, std::int64_t splits, std::int64_t kept = 0);

struct Launch {
  const Kernel* kernel = nullptr;
  Grid grid;
  Values values;
};

// An operand that bf16x3.sass splits: rows of `inner` elements, `outer` of them in each of `matrices`.
struct Split {
  std::uint64_t from = 0, to = 0;
  std::int64_t inner = 0, outer = 0, matrices = 1;
  std::int64_t leading = 0;  // of the operand's rows, in elements
  std::int64_t stride = 0;   // of its matrices
  bool seen =
      false;  // it is only looked at: how large its elements are. Then rows begin at multiples of 16 bytes, and are of fours
  std::uint64_t kept = 0;  // words that the kernel left when it took this operand apart before; 0: it has not
  std::int64_t before = 0, after = 0;  // zeros around the elements of a row of pieces, in fours
  // Behind every `pixel` elements of an operand's row, which are fours, lie some that are none of its. 0: there are no pixels.
  std::int64_t pixel = 0, gap = 0;

  [[nodiscard]] std::int64_t row_units() const;  // what a thread takes at a time, of a row of pieces
  [[nodiscard]] std::int64_t units() const;
  [[nodiscard]] std::int64_t pitch() const;  // of rows of pieces
};
// Elements of a row of pieces: rows begin at multiples of 16 bytes.
std::int64_t pitch_of(std::int64_t inner);
// bf16x3.sass for both operands; `ranges` takes kRangeBytes.
Launch split(const Registry& registry, const Split& a, const Split& b, std::uint64_t ranges, const Unless& unless = {});

Launch split(const Registry& registry, const GemmProblem& problem, std::int64_t splits,
             const Unless& unless = {});  // bf16x3.sass
// gemm_if.sass. three: bf16x6.sass was launched before it.
Launch otherwise(const Registry& registry, const GemmProblem& problem, std::int64_t splits, bool three,
                 const Unless& unless = {});

}  // namespace nervanagpu::bf16x6
