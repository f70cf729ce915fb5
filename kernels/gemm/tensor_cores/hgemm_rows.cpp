#include "kernels/gemm/tensor_cores/hgemm_rows.h"

#include <algorithm>
#include <array>
#include <string>

#include "kernels/gemm/cost/hgemm_cost.h"
#include "kernels/gemm/operand.h"
#include "kernels/gemm/problem.h"
#include "kernels/gemm/tensor_cores/hgemm.h"
#include "kernels/gemm/types.h"
#include "kernels/nn/nn.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"

namespace nervanagpu::hgemm {
namespace {

constexpr std::int64_t kEight = 8;      // rows that are one to the copy engine, elements of 16 bytes
constexpr std::int64_t kBlock = 64;     // of k / 8
constexpr std::int64_t kColumns = 120;  // of the long side, a tile: COLUMNS
constexpr std::int64_t kRows = 64;      // of the short side

using sgemm::Operand;

// The kernel's b is the long operand.
bool swapped(const GemmProblem& p) {
  return p.m > p.n;
}
Operand long_of(const GemmProblem& p) {
  return sgemm::operands_of(p, swapped(p)).b;
}
Operand short_of(const GemmProblem& p) {
  return sgemm::operands_of(p, swapped(p)).a;
}

// Elements of a row of the copy: k / 8 of them count.
std::int64_t copied_row(const GemmProblem& p) {
  return ceil_div(p.k / kEight, kEight) * kEight;
}

// Against a chain of multiply-adds, which small products are left to.
bool worth_it(const GemmProblem& p) {
  constexpr double kChains = 25e6;  // operations a microsecond, of the shapes in question
  constexpr double kBytes = 2.5e6;  // a microsecond
  constexpr double kStart = 6;      // microseconds
  const auto m = static_cast<double>(p.m);
  const auto n = static_cast<double>(p.n);
  const auto k = static_cast<double>(p.k);
  return 2 * m * n * k / kChains > kStart + 2 * (m + n) * k / kBytes;
}

std::int64_t before_of(const Operand& x) {  // elements of the map before the operand's first
  return static_cast<std::int64_t>(x.address % 16 / 2);
}

// The remainders of l, most columns before a tile first: 4 bits each.
std::uint32_t order_of(const Operand& x) {
  std::array<std::int64_t, kEight> all = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto columns = [&](std::int64_t r) { return (r * x.leading + before_of(x)) % kEight; };
  std::stable_sort(all.begin(), all.end(), [&](std::int64_t r, std::int64_t s) { return columns(r) > columns(s); });
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < all.size(); ++i) out |= static_cast<std::uint32_t>(all[i]) << 4 * i;
  return out;
}

TensorMap map_of(Dtype type) {
  TensorMap map;
  map.type = type == Dtype::bfloat16 ? MapType::bfloat16 : MapType::float16;
  map.box = {kBlock, kRows, 1};
  map.swizzle = MapSwizzle::b128;
  map.promotion = MapPromotion::b128;
  return map;
}

TensorMap short_map(const GemmProblem& p, std::uint64_t copy) {
  const auto row = static_cast<std::uint64_t>(copied_row(p)) * 2;
  const auto length = static_cast<std::uint64_t>(short_of(p).length);
  TensorMap map = map_of(p.a_type);
  map.rank = 3;
  map.address = copy;
  map.sizes = {static_cast<std::uint64_t>(p.k / kEight), length, kEight};
  map.strides = {row, row * length};
  return map;
}

TensorMap long_map(const GemmProblem& p) {
  const Operand x = long_of(p);
  TensorMap map = map_of(p.a_type);
  map.address = x.address - x.address % 16;
  map.sizes = {static_cast<std::uint64_t>(before_of(x) + (kEight - 1) * x.leading + x.length),
               static_cast<std::uint64_t>(p.k / kEight)};
  map.strides = {static_cast<std::uint64_t>(x.leading * kEight * 2)};
  return map;
}

std::int64_t depth_of(const GemmProblem& p) {
  return ceil_div(p.k / kEight, kBlock);
}

// As many as the GPU holds clusters for.
std::int64_t cluster_splits(const GemmProblem& p) {
  const std::int64_t blocks = kEight * depth_of(p);
  if (p.splits != 0) return effective(blocks, p.splits);
  const std::int64_t tiles = ceil_div(long_of(p).length, kColumns) * ceil_div(short_of(p).length, kRows);
  std::int64_t out = 1;
  for (std::int64_t s = 2; s < kMostSplits; ++s) {
    if (effective(blocks, s) == s && tiles <= clusters_held(s, 2)) out = s;
  }
  return out;
}

void copy_short(Device& device, const GemmProblem& p, std::uint64_t copy, StreamId stream) {
  const Operand x = short_of(p);
  const std::int64_t row = copied_row(p);
  const nn::View from = {x.address, p.a_type,
                         x.k_inside ? Shape{1, x.leading, kEight} : Shape{x.leading, 1, kEight * x.leading}};
  const nn::View to = {copy, p.a_type, Shape{row * x.length, row, 1}};
  nn::convert_strided(device, from, to, {kEight, x.length, p.k / kEight}, {}, stream, "dot");
}

}  // namespace

bool by_rows(const GemmProblem& p) {
  constexpr std::int64_t kShort = 128;
  constexpr std::int64_t kLong = std::int64_t{1} << 21;    // tiles are a coordinate of the grid
  constexpr std::int64_t kMaxRow = std::int64_t{1} << 27;  // coordinates of eight rows are 32 bits
  if (!p.tensor_cores || !sgemm::half(p.a_type) || p.b_type != p.a_type || p.c_type != p.a_type) return false;
  if (sgemm::has_function(p) || p.batch > 1 || p.k % kEight != 0 || p.k <= 0) return false;
  if (std::min(p.m, p.n) <= 0 || std::min(p.m, p.n) > kShort || std::max(p.m, p.n) > kLong) return false;
  // Rows that must not depend on m ask for one part; more than there are CTAs in a cluster have no kernel.
  if (p.splits == 1 || p.splits > kMostSplits) return false;
  const Operand x = long_of(p);
  return !x.k_inside && x.leading < kMaxRow && !rows_of_16_bytes(x.address, x.leading, p.a_type) && worth_it(p);
}

std::int64_t copied_by_rows(const GemmProblem& p) {
  return kEight * short_of(p).length * copied_row(p);
}

void multiply_by_rows(Device& device, const GemmProblem& p, std::uint64_t copy, StreamId stream) {
  sgemm::check(p);
  const std::string type(sgemm::word_of(p.a_type));
  const std::string name =
      "hgemm_cluster_nr_" + type + "_" + type + "_" + type + (swapped(p) ? "_t_64x128" : "_n_64x128");
  const Kernel* kernel = device.registry().find(name);
  if (kernel == nullptr) throw Error("there is no kernel " + name);
  copy_short(device, p, copy, stream);
  const Operand x = long_of(p);
  const std::int64_t splits = cluster_splits(p);
  Values v;
  v.map(device.encode_tensor_map(short_map(p, copy))).map(device.encode_tensor_map(long_map(p)));
  put_cluster(v, p, kEight * depth_of(p), splits, ceil_div(swapped(p) ? kColumns : kRows, splits));
  v.u32(x.leading).u32(before_of(x)).u32(depth_of(p)).u32(order_of(x));
  const Grid grid = {static_cast<std::uint32_t>(splits), static_cast<std::uint32_t>(ceil_div(x.length, kColumns)),
                     static_cast<std::uint32_t>(ceil_div(short_of(p).length, kRows)),
                     static_cast<std::uint32_t>(splits)};
  v.launch(device, *kernel, grid, stream);
}

}  // namespace nervanagpu::hgemm
