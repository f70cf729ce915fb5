// Pieces on addresses: which a product takes, and what writes those that are kept.
#include "kernels/gemm/pieces/kept.h"

#include <string>

#include "kernels/gemm/pieces/bf16x6.h"
#include "kernels/gemm/pieces/choice.h"
#include "kernels/gemm/pieces/f16x3.h"
#include "kernels/gemm/problem.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/pieces.hpp"
#include "src/device/select_device.h"

namespace nervanagpu {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw InvalidArgument("pieces: " + what);
}

void check(std::int64_t rows, std::int64_t columns, std::int64_t count) {
  if (count != 2 && count != 3) refuse("count is " + std::to_string(count) + "; needs 2 or 3");
  constexpr std::int64_t kMost = std::int64_t{1} << 31;  // units of a kernel, and rows of all pieces
  const bool fits =
      rows >= 0 && columns >= 0 && rows < kMost / count && columns < kMost && (columns == 0 || rows < kMost / columns);
  if (fits) return;
  refuse("a matrix of " + std::to_string(rows) + " rows of " + std::to_string(columns) +
         "; needs less than 2^31 elements");
}

}  // namespace

int gemm_pieces(const GemmProblem& problem, const std::string& tile) {
  const Registry& registry = current_device().registry();
  sgemm::check_sizes(problem);
  const GemmProblem p = sgemm::reduced(registry, problem);
  if (!sgemm::in_pieces(registry, p)) return 0;
  return (tile.empty() ? pieces::in_two(p) : tile.starts_with("f16_")) ? 2 : 3;
}

std::size_t gemm_pieces_bytes(std::int64_t rows, std::int64_t columns, int count) {
  check(rows, columns, count);
  return kept::before(count) + static_cast<std::size_t>(2 * count * rows * bf16x6::pitch_of(columns));
}

void gemm_split(std::uint64_t matrix, std::int64_t leading, const PiecesAt& to, const Stream& stream) {
  check(to.rows, to.columns, to.count);
  if (to.rows == 0 || to.columns == 0) return;
  constexpr std::int64_t kMostLeading = std::int64_t{1} << 29;
  if (leading < to.columns || leading >= kMostLeading) {
    refuse("leading is " + std::to_string(leading) + "; needs at least " + std::to_string(to.columns) +
           " and less than 2^29");
  }
  if (matrix == 0 || matrix % sizeof(float) != 0) {
    refuse("the matrix's address is " + std::to_string(matrix) + "; needs a multiple of 4");
  }
  if (to.address == 0 || to.address % 16 != 0) {
    refuse("address is " + std::to_string(to.address) + "; needs a multiple of 16");
  }
  Device& device = current_device();
  const Registry& registry = device.registry();
  if (registry.of_op("bf16x6").empty()) return;  // there, no product asks for pieces
  const bf16x6::Split rows = {matrix, to.address + kept::before(to.count), to.columns, to.rows, 1, leading};
  if (to.count == f16x3::kPieces) {
    for (const bool k_inside : {true, false}) {  // the same pieces in the same place, but not the same words
      const f16x3::Source one = {rows, k_inside};
      const std::uint64_t words = to.address + kept::words_at(to.count, k_inside);
      bf16x6::Launch l = f16x3::split(registry, one, one, words);
      l.grid.y = 1;
      l.values.launch(device, *l.kernel, l.grid, stream.handle());
    }
    return;
  }
  bf16x6::Launch l = bf16x6::split(registry, rows, rows, to.address);
  l.grid.y = 1;
  l.values.launch(device, *l.kernel, l.grid, stream.handle());
}

}  // namespace nervanagpu
