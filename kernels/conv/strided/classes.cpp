#include "kernels/conv/strided/classes.h"

#include <algorithm>

namespace nervanagpu::conv_detail::classes {
namespace {

// Positions, corners and steps that serve all.
Gather shared(const std::vector<Gather>& all) {
  Gather out = all.front();
  for (const Gather& g : all) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      out.positions[axis] = std::max(out.positions[axis], g.positions[axis]);
      out.low[axis] = std::min(out.low[axis], g.low[axis]);
      // Of one tap they say nothing.
      if (g.taps[axis] > 1) out.move[axis] = g.move[axis], out.tap_step[axis] = g.tap_step[axis];
    }
  }
  return out;
}

Class class_of(const Gather& g, const Gather& all) {
  Class out = {.taps = g.taps, .tap0 = g.tap0, .positions = g.positions, .first = g.first};
  for (std::size_t axis = 0; axis < 3; ++axis) out.further[axis] = g.low[axis] - all.low[axis];
  return out;
}

// The last tap's pixel is as far as the offset of a copy reaches: the same as of so many taps a pixel apart.
bool reaches(const Class& c, const Gather& all, const Inner& size, bool volume) {
  Gather g = all;
  g.move = {1, 1, 1};
  for (std::size_t axis = 0; axis < 3; ++axis) g.taps[axis] = c.further[axis] + (c.taps[axis] - 1) * all.move[axis] + 1;
  return possible(g, size, volume);
}

}  // namespace

std::optional<std::vector<Launch>> launches(const std::vector<Gather>& all, const Inner& size, bool volume) {
  const Gather gather = shared(all);
  std::vector<Class> each;
  for (const Gather& g : all) {
    each.push_back(class_of(g, gather));
    if (!reaches(each.back(), gather, size, volume)) return std::nullopt;
  }
  std::ranges::stable_sort(each, std::ranges::greater{}, &Class::all_taps);
  std::vector<Launch> out;
  for (std::size_t i = 0; i < each.size(); i += kMost) {
    const auto from = each.begin() + static_cast<std::ptrdiff_t>(i);
    const auto count = static_cast<std::ptrdiff_t>(std::min(kMost, each.size() - i));
    out.push_back({gather, {from, from + count}});
    out.back().gather.taps = from->taps;
  }
  return out;
}

void put(Values& v, const std::vector<Class>& each, std::int64_t blocks, bool deep, const Inner& row_steps) {
  const std::int64_t shift = deep ? 5 : 8;  // of the offsets along height
  v.u32(static_cast<std::int64_t>(each.size()));
  for (std::size_t i = 0; i < kMost; ++i) {
    const Class c = i < each.size() ? each[i] : Class{};
    std::int64_t row = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) row += c.first[axis] * row_steps[axis];
    v.u32(blocks * c.all_taps()).u32(c.all_taps()).u32(c.taps[0]).u32(c.taps[1]);
    v.u32(c.further[0] | c.further[1] << shift | (deep ? c.further[2] << 2 * shift : 0)).s32(c.tap0);
    v.u32(c.positions[0]).u32(c.positions[1]).u32(c.positions[2]).u32(row);
  }
}

}  // namespace nervanagpu::conv_detail::classes
