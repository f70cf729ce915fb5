#include "kernels/split_sum/split_sum.h"

#include <string>

#include "nervanagpu/error.hpp"

namespace nervanagpu::split_sum {
namespace {

const char* short_name(Dtype t) {
  switch (t) {
    case Dtype::float32: return "f32";
    case Dtype::float16: return "f16";
    case Dtype::bfloat16: return "bf16";
    case Dtype::int8: return "s8";
    default: return "s32";
  }
}

// More parts than these, of no more sums than those: one sum a thread, and all of its parts on the way at once. Latency is what
// they take.
constexpr std::int64_t kFewParts = 48;
constexpr std::int64_t kFewSums = 1 << 16;

// Parts that are loaded before the first of them is added, as kernels' names have it: as few latencies as there can be.
const char* ahead(const Sum& s, std::int64_t width) {
  constexpr std::int64_t kSome = 4;
  constexpr std::int64_t kMany = 16;
  if (s.sums != Dtype::float32 || s.splits <= kSome || !s.condition.numbers().empty()) return "x4";
  return s.splits <= kMany ? "x16" : s.splits <= kFewParts || width > 1 ? "x48" : "x144";
}

}  // namespace

Plan plan(const Registry& registry, const Sum& s) {
  for (const std::int64_t width : {4, 1}) {
    const std::int64_t pitch = s.pitch != 0 ? s.pitch : s.cols;
    if (s.cols % width != 0 || pitch % width != 0) continue;
    if (width > 1 && s.splits > kFewParts && s.groups * s.rows * s.cols <= kFewSums) continue;
    Plan out;
    out.kernel = registry.find((s.condition.numbers().empty() ? "split_sum_" : "split_sum_if_") +
                               std::string(short_name(s.sums)) + "_" + short_name(s.type) + "_" +
                               std::to_string(width) + ahead(s, width));
    if (out.kernel == nullptr) continue;
    const std::int64_t plane = s.rows * s.cols / width;
    const std::int64_t total = s.groups * plane;
    Values& v = out.values;
    v.u64(s.workspace).u64(s.out).u64(s.bias);
    v.u32(total).divisor(plane).divisor(s.cols / width).u32(s.rows);
    v.u32(pitch / width).u32(s.splits).u32(s.ld).u32(s.group_stride);
    v.scalar(s.alpha, s.type).scalar(s.beta, s.type).u32(s.flags);
    v.rounding(s.rounding, s.type).u64(s.scale).f32(s.clip_low).f32(s.clip_high);
    v.divisor(s.block != 0 ? s.block : s.rows).all(s.condition);
    if (out.kernel->unmet(v.numbers()) != nullptr) continue;
    const std::int64_t threads = out.kernel->manifest().threads;
    out.grid.x = static_cast<std::uint32_t>((total + threads - 1) / threads);
    return out;
  }
  throw InvalidArgument("no kernel split_sum for " + std::string(name_of(s.type)) + ", " + std::to_string(s.rows) +
                        " rows of " + std::to_string(s.cols));
}

}  // namespace nervanagpu::split_sum
