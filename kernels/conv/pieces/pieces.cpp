#include "kernels/conv/pieces/pieces.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "kernels/conv/problem.h"
#include "kernels/gemm/pieces/bf16x6.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::pieces {
namespace {

using bf16x6::kPieces;
using hgemm::Form;
using hgemm::Tile;

constexpr std::int64_t kBlock = 64;  // of l
constexpr std::string_view kSplit = "_split";

// Microseconds of a chunk of three pieces, from the layers of AlexNet, OverFeat and VGG on an H200
// (benchmarks/results/conv/conv_tensor.json); those of 64 rows or columns from first layers on an H100 (conv_tensor_first.json).
// two: of two pieces, 0 where there is no such kernel. apart: of conv_split.sass.
struct Area {
  int rows, columns;
  double chunk, two;
  const char* passes;
  double apart = 0;
};
constexpr std::array kAreas = {Area{128, 64, 1.15, 0.6, "fbc"},      Area{128, 96, 1.5, 0.8, "fbc"},
                               Area{128, 128, 1.9, 1.03, "fbcu"},    Area{128, 192, 2.8, 0, "fbcu"},
                               Area{64, 128, 1.15, 0.66, "u", 2.05}, Area{64, 256, 1.9, 1.05, "u", 2.5}};

Tile tile_of(const Area& a) {
  return {Form::tiles, a.rows, a.columns};
}

bool of_pass(const Area& a, char pass) {
  return std::string_view(a.passes).find(pass) != std::string_view::npos;
}

double chunk_of(const Area& a, const Kind& kind) {
  return kind.pieces == kTwo.pieces ? a.two : a.chunk;
}

double tile_cost(const hconv::Work& w, const Area& area, std::int64_t splits, int multiprocessors,
                 const Kind& kind = kThree) {
  constexpr double kWholeRow = 1.05e-3, kPartRow = 1.94e-3;  // of the copy engine
  constexpr hgemm::Rates kRates = {.sums = 1.4};
  const auto row = [](std::int64_t channels) { return channels % kBlock == 0 ? kWholeRow : kPartRow; };
  const auto pieces = static_cast<double>(kind.pieces);
  const double copies = pieces * (area.rows * row(w.pass == 'f' ? w.c : w.k) + area.columns * row(w.c));
  return hgemm::tile_microseconds(
      w.product, tile_of(area), splits, multiprocessors, w.bytes * pieces / static_cast<double>(kPieces),
      std::max(chunk_of(area, kind), copies), std::max<std::int64_t>(static_cast<std::int64_t>(w.taps.size()), 1),
      kRates, hconv::most_blocks(w, tile_of(area), multiprocessors));
}

struct Best {
  Tile tile;
  double cost = 0;
};
Best best(const hconv::Work& w, std::int64_t splits, int multiprocessors, const Kind& kind = kThree) {
  Best out;
  for (const Area& area : kAreas) {
    if (!of_pass(area, w.pass) || chunk_of(area, kind) == 0) continue;
    const double cost = tile_cost(w, area, splits, multiprocessors, kind);
    if (out.cost == 0 || cost < out.cost) out = {tile_of(area), cost};
  }
  return out;
}

std::int64_t splits_of(const hconv::Work& work, const Kind& kind = kThree) {
  return hconv::cheapest_splits(
      work, bf16x6::least_splits(hgemm::blocks_of(work.product)),
      [&](const hconv::Work& w, std::int64_t s) { return best(w, s, hgemm::kProcessors, kind).cost; });
}

}  // namespace

bool possible(ConvPass pass, const ConvProblem& p) {
  constexpr std::int64_t kMost = std::int64_t{1}
                                 << 28;  // elements: a piece is one third of what maps and products count
  return gathers(pass, p).has_value() && p.x_elements() < kMost && p.y_elements() < kMost && p.w_elements() < kMost &&
         p.k * p.filter[0] * p.filter[1] * p.filter[2] * ceil_div(p.c, kBlock) * kBlock < kMost;
}

// The pass as one product, for what it costs.
hconv::Work work_of(ConvPass pass, const ConvProblem& p) {
  const std::int64_t taps = p.filter[0] * p.filter[1] * p.filter[2];
  const std::int64_t positions = p.y_elements() / p.k;
  const auto blocks = [](std::int64_t channels) { return ceil_div(channels, kBlock) * kBlock; };
  hconv::Work w;
  w.c = p.c, w.k = p.k;
  w.product.a_type = w.product.b_type = Dtype::bfloat16;
  w.product.c_type = Dtype::float32;
  if (pass == ConvPass::fprop) {
    w.pass = 'f';
    w.product.m = positions, w.product.n = p.k, w.product.k = taps * blocks(p.c);
  } else if (pass == ConvPass::bprop) {  // classes of positions that meet the same taps are as much work as one
    w.pass = 'b';
    const std::int64_t classes = p.stride[0] * p.stride[1] * p.stride[2];
    w.product.m = p.x_elements() / p.c;
    w.product.n = p.c, w.product.k = std::max<std::int64_t>(taps / classes, 1) * blocks(p.k);
  } else {
    w.pass = 'u';
    w.product.m = p.k, w.product.n = taps * blocks(p.c), w.product.k = blocks(positions);
  }
  w.bytes = static_cast<double>(2 * kPieces * (p.x_elements() + p.w_elements() + p.y_elements()));
  return w;
}

// Of conv.sass, by its times on an H200 (benchmarks/results/conv/conv_ffma.json).
double strict_microseconds(ConvPass pass, const ConvProblem& p) {
  constexpr double kRate =
      45e6;  // operations a microsecond, two of a multiply-add, in tiles of 64 columns (update: and rows)
  constexpr double kColumns = 64;
  constexpr std::int64_t kVector = 4;  // channels
  constexpr double kOddRate = 28e6;
  constexpr double kOddUpdate = 17e6;
  const auto filled_to = [](std::int64_t length) {
    return std::ceil(static_cast<double>(length) / kColumns) * kColumns / static_cast<double>(length);
  };
  const double memory = 4 * static_cast<double>(p.x_elements() + p.w_elements() + p.y_elements()) / kMemory;
  const std::int64_t columns = pass == ConvPass::bprop ? p.c : p.k;
  const std::int64_t window = p.filter[0] * p.filter[1] * p.filter[2] * p.c;
  const double filled = filled_to(columns) * (pass == ConvPass::update ? filled_to(window) : 1);
  const double operations = p.flops() * filled;
  if (p.c % kVector == 0 && p.k % kVector == 0) return std::max(operations / kRate, memory);
  return operations / (pass == ConvPass::update ? kOddUpdate : kOddRate) + memory;
}

double rival_microseconds(ConvPass pass, const ConvProblem& p) {
  constexpr double kClass = 8;  // at least, of a bprop with strides: one launch after the other
  constexpr double kLast = 8;  // of the last wave, and of a sum of parts, in GoogLeNet's smallest (docs/lab/windows.md)
  double classes = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) classes *= static_cast<double>(std::min(p.stride[axis], p.in[axis]));
  return strict_microseconds(pass, p) + kLast + (pass == ConvPass::bprop && classes > 1 ? kClass * classes : 0);
}

bool asked(const ConvProblem& p) {
  return p.precision == Precision::tensor && p.x_type == Dtype::float32 && p.groups == 1;
}

bool takes_beta(ConvPass pass, const ConvProblem& p) {
  return pass != ConvPass::update || p.c % kBlock == 0;
}

std::int64_t products_of(ConvPass pass, const ConvProblem& p) {
  if (pass == ConvPass::update) return p.y_elements() / p.k;
  return p.filter[0] * p.filter[1] * p.filter[2] * (pass == ConvPass::fprop ? p.c : p.k);
}

double product_microseconds(const hconv::Work& work, const Kind& kind, bool uncut) {
  return best(work, work.taps.empty() && !uncut ? splits_of(work, kind) : 1, hgemm::kProcessors, kind).cost;
}

double split_microseconds(double elements, const Kind& kind) {
  return elements * (4 + 2 * static_cast<double>(kind.pieces)) / kMemory;  // read and written
}

double microseconds(ConvPass pass, const ConvProblem& p, const Kind& kind) {
  if (!possible(pass, p)) return std::numeric_limits<double>::infinity();
  const Roles roles = roles_of(pass);
  const auto elements = [&](Role role) {
    return static_cast<double>(role == Role::x ? p.x_elements() : role == Role::w ? p.w_elements() : p.y_elements());
  };
  return product_microseconds(work_of(pass, p), kind) +
         split_microseconds(elements(roles.in1) + elements(roles.in2), kind) + kLaunches;
}

bool splits_on_the_way(const Forced& forced) {
  return forced.kernel.starts_with(kSplit);
}

std::optional<Split> on_the_way(const hconv::Work& work, std::int64_t dy_elements, std::int64_t splits,
                                int multiprocessors, const Forced& forced) {
  if (!forced.kernel.empty() && !splits_on_the_way(forced)) return std::nullopt;
  const bool named = splits_on_the_way(forced);
  const double other =
      best(work, splits, multiprocessors).cost + split_microseconds(static_cast<double>(dy_elements)) + kLaunches / 2;
  std::optional<Split> out;
  for (const Area& area : kAreas) {
    if (area.apart == 0) continue;
    if (named && forced.kernel != std::string(kSplit) + "_" + hgemm::shape_name(tile_of(area))) continue;
    hconv::Work w = work;  // each tile of columns reads 4 bytes where the other way it reads 6
    const auto read = static_cast<double>(ceil_div(w.product.n, area.columns) * dy_elements);
    w.bytes += 4 * read - 2 * static_cast<double>(kPieces) * static_cast<double>(dy_elements);
    Area own = area;
    own.chunk = own.apart;
    const double cost = tile_cost(w, own, splits, multiprocessors);
    if (named || cost < (out ? out->microseconds : other)) out = {tile_of(area), cost};
  }
  return out;
}

const Kernel* find_split(const Registry& registry, const Tile& t) {
  return registry.find("conv_split_" + hgemm::shape_name(t));
}

double update_microseconds(const hconv::Work& work, std::int64_t dy_elements) {
  const std::int64_t splits = splits_of(work);
  if (const auto split = on_the_way(work, dy_elements, splits, hgemm::kProcessors)) return split->microseconds;
  return best(work, splits, hgemm::kProcessors).cost + split_microseconds(static_cast<double>(dy_elements));
}

hconv::Choice choose(const hconv::Work& w, int multiprocessors, bool uncut, const Forced& forced, const Kind& kind) {
  hconv::Choice out;
  if (uncut) {
    out.splits = 1;
  } else {
    out.splits = forced.splits != 0 ? hgemm::effective(hgemm::blocks_of(w.product), forced.splits) : splits_of(w, kind);
  }
  out.tile = best(w, out.splits, std::max(multiprocessors, 1), kind).tile;
  if (forced.kernel.empty()) return out;
  for (const Area& a : kAreas) {
    if (!of_pass(a, w.pass) || chunk_of(a, kind) == 0) continue;
    if (forced.kernel != "_" + hgemm::shape_name(tile_of(a))) continue;
    out.tile = tile_of(a);
    return out;
  }
  throw InvalidArgument(std::string("conv: no kernel ") + kind.kernel + w.pass + forced.kernel);
}

const Kernel* find(const Registry& registry, char pass, const Tile& t, const Kind& kind) {
  return registry.find(std::string(kind.kernel) + pass + "_" + hgemm::shape_name(t));
}

Pixels of(const Pixels& t) {
  Pixels out = t;
  out.address = 0;
  out.type = Dtype::bfloat16;
  out.pitch = bf16x6::pitch_of(t.channels);
  return out;
}

std::int64_t bytes(const Pixels& pieces) {
  return 2 * kPieces * pieces.count() * pieces.pitch;
}

bf16x6::Split rows_of(const Pixels& from, std::uint64_t to) {
  return {from.address, to, from.channels, from.count(), 1, from.pitch};
}

void split(Device& device, const bf16x6::Split& a, const bf16x6::Split& b, std::uint64_t ranges, StreamId stream,
           const bf16x6::Unless& unless) {
  const bf16x6::Launch l = bf16x6::split(device.registry(), a, b, ranges, unless);
  l.values.launch(device, *l.kernel, l.grid, stream);
}

void split_one(Device& device, const bf16x6::Split& one, std::uint64_t range, StreamId stream) {
  bf16x6::Launch l = bf16x6::split(device.registry(), one, one, range);
  l.grid.y = 1;
  l.values.launch(device, *l.kernel, l.grid, stream);
}

void with_pieces(const Kind& kind, char pass, const Pixels& gathered, const Pixels& other, TensorMap& a, TensorMap& b) {
  a.type = b.type = kind.map;
  TensorMap& pixels = pass == 'u' ? b : a;
  TensorMap& rest = pass == 'u' ? a : b;
  pixels.sizes[pixels.rank - 1] = static_cast<std::uint64_t>(kind.pieces * gathered.n);
  const auto piece = static_cast<std::uint64_t>(2 * other.count() * other.pitch);
  if (pass == 'u') {
    rest.rank = 3;
    rest.box[2] = 1;
  }
  rest.sizes[rest.rank - 1] = static_cast<std::uint64_t>(kind.pieces);
  rest.strides[rest.rank - 2] = piece;
}

}  // namespace nervanagpu::conv_detail::pieces
