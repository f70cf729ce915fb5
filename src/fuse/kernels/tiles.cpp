#include "src/fuse/kernels/tiles.h"

#include <algorithm>
#include <cstdlib>

#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/device/select_device.h"

namespace nervanagpu::fuse {
namespace {

constexpr unsigned kMostCluster = 8;      // that every chip runs
constexpr unsigned kLine = 128;           // bytes that a row of a tile should have
constexpr unsigned kHeldWords = 32;       // registers of a thread for held items,
constexpr unsigned kMostHeldWords = 64;   // and where columns would be too long otherwise
constexpr std::ptrdiff_t kMostSums = 16;  // each takes shared memory

}  // namespace

std::optional<TilePlan> tile_plan(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
                                  const std::vector<std::uint64_t>& address) {
  if (!is_across(p, layout) || std::ranges::count(p.values, ExprOp::reduce, &Value::op) > kMostSums) return {};
  TilePlan f;
  f.walk = column_walk(p, layout, dtypes, address);
  unsigned words = 0;  // of an item of all tensors
  std::size_t widest = 1;
  for (std::size_t k = 0; k < dtypes.size(); ++k) {
    const std::int64_t walk = std::abs(layout.axes.back().strides[k]) * static_cast<std::int64_t>(size_of(dtypes[k]));
    if (walk >= std::int64_t{1} << 31) return {};
    const bool dense = f.walk.access[k] == Access::dense;
    if (dense) widest = std::max(widest, size_of(dtypes[k]));
    if (k >= p.tensors.size() || f.walk.access[k] == Access::uniform || is_row_leaf(p, k)) continue;
    words += std::max(1U, static_cast<unsigned>((dense ? f.walk.lanes : 1) * size_of(dtypes[k]) / 4));
  }
  while (f.across < 32 && f.across * f.walk.lanes * widest < kLine) f.across *= 2;
  const std::int64_t length = layout.axes.back().length;
  const std::int64_t count = layout.size() / length / f.walk.lanes;
  const sass::Arch arch = current_device().registry().arch();
  const unsigned most = arch == sass::Arch::sm_90a ? kMostCluster : 1;
  const std::int64_t multiprocessors = current_device().info().multiprocessors;
  if (length * words > std::int64_t{most} * (f.threads / f.across) * kMostHeldWords) f.threads = 512;
  unsigned slots = f.threads / f.across;
  // Short columns: wider tiles. Long ones: as many CTAs as hold the columns, or as keep the chip busy.
  const auto needs = [&](unsigned cluster) { return ceil_div(length, std::int64_t{cluster} * slots); };
  while (slots > 1 && ceil_div(length, std::int64_t{slots / 2}) * words <= kHeldWords &&
         count >= 2 * std::int64_t{f.across} * multiprocessors) {
    f.across *= 2;
    slots /= 2;
  }
  const std::int64_t tiles = ceil_div(count, std::int64_t{f.across});
  while (f.cluster < most && needs(f.cluster) > 1 &&
         (needs(f.cluster) * words > kHeldWords || tiles * f.cluster < multiprocessors)) {
    f.cluster *= 2;
  }
  const std::int64_t held = needs(f.cluster);
  if (held * words > kMostHeldWords) return {};
  while (f.held < held) f.held *= 2;
  f.exact = length == std::int64_t{f.cluster} * slots * f.held;
  f.whole = count % f.across == 0;
  return f;
}

bool run_tiles(const Program& p, const Layout& layout, TilePlan f, const std::vector<Dtype>& dtypes,
               const std::vector<std::uint64_t>& address) {
  const sass::Arch arch = current_device().registry().arch();
  const auto key = [&] {
    std::string out = "t";
    for (const unsigned n :
         {f.threads / 32, f.across, f.held, f.cluster, unsigned{f.exact}, unsigned{f.whole}, unsigned{f.keep}}) {
      out.push_back(static_cast<char>(n));
    }
    append_key(out, f.walk, dtypes);
    append_key(out, p);
    return out;
  };
  GeneratedPtr kernel;
  while (kernel == nullptr) {
    try {
      kernel = generated(key(), [&] { return make_tiles(p, f, arch); });
    } catch (const Error&) {
      if (!f.keep) return false;
      f.keep = false;
    }
  }
  const std::int64_t count = layout.size() / layout.axes.back().length / f.walk.lanes;
  const auto tiles = static_cast<std::uint32_t>(ceil_div(count, std::int64_t{f.across}));
  kernel->launch(tiles * f.cluster, column_parameters(p, layout, f.walk, dtypes, address));
  return true;
}

}  // namespace nervanagpu::fuse
