#include "kernels/pool/pool.h"

#include <algorithm>
#include <string_view>

#include "kernels/gemm/types.h"
#include "kernels/nn/launch.h"
#include "kernels/pool/argmax.h"
#include "kernels/pool/plan_cache.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/device/select_device.h"
#include "src/launch/check_apart.h"
#include "src/launch/magic.h"

namespace nervanagpu {
namespace pool_detail {
namespace {

std::uint32_t u32(std::int64_t v) {
  return static_cast<std::uint32_t>(v);
}
Magic magic_of(std::int64_t v) {
  return magic(u32(v));
}

// Strides of a tensor, in elements.
struct Strides {
  std::int64_t n = 0;
  Quad q{};  // feature map, depth, height, width
};

// `pitch`: elements from pixel to pixel, of channels_last.
Strides strides_of(const PoolProblem& p, const Quad& lengths, std::int64_t pitch) {
  const std::int64_t space = lengths[1] * lengths[2] * lengths[3];
  switch (p.layout) {
    case Layout::channels_last: return {pitch * space, {1, lengths[2] * lengths[3] * pitch, lengths[3] * pitch, pitch}};
    case Layout::batch_last: return {1, {space * p.n, lengths[2] * lengths[3] * p.n, lengths[3] * p.n, p.n}};
    case Layout::channels_first: break;
  }
  return {lengths[0] * space, {space, lengths[2] * lengths[3], lengths[3], 1}};
}

// Windows that reach over several feature maps, or skip some.
bool over_maps(const PoolProblem& p) {
  return p.window[0] != 1 || p.stride[0] != 1;
}

// A problem that one launch computes: some images of it, or some feature maps if these are outermost.
struct Part {
  PoolProblem p;
  Pointers pointers;
  std::uint64_t first = 0;  // its first element's number in the result
};

enum class Kind : std::uint8_t { fprop, columns, gather, cells, strips, blocks };

constexpr const char* kKind[] = {"pool_fprop", "pool_columns", "pool_gather",
                                 "pool_cells", "pool_strips",  "pool_blocks"};
constexpr const char* kOp[] = {"max", "avg", "l2"};

constexpr std::int64_t kStrip = 4;  // columns of a strip
constexpr std::int64_t kBlock = 2;  // positions of a block, along both axes

// Rows of y that a thread of pool_columns makes, or of windows that begin in a strip: all of them, if that makes threads
// enough for a large GPU.
std::int64_t tall(Kind kind, const PoolProblem& p, int v) {
  constexpr std::int64_t kThreads = 1 << 18;
  const Quad out = p.out();
  const bool forward = kind == Kind::columns;
  const std::int64_t rows = forward ? out[2] : ceil_div(p.in[2] + p.pad[2], p.stride[2]);
  const std::int64_t columns = forward ? out[3] : ceil_div(p.in[3] + p.pad[3], kStrip);
  const std::int64_t threads = p.n * p.in[0] / v * out[1] * columns;
  const std::int64_t cuts =
      std::clamp<std::int64_t>(kThreads / std::max<std::int64_t>(threads, 1), 1, ceil_div(rows, 4));
  return ceil_div(rows, cuts);
}

// What a thread's number is split into: places of the result, cells or strips of it.
Quad grid_of(Kind kind, const PoolProblem& p, int v) {
  const Quad out = p.out();
  if (kind == Kind::fprop) return out;
  if (kind == Kind::gather) return p.in;
  if (kind == Kind::columns) return {out[0], out[1], ceil_div(out[2], tall(kind, p, v)), out[3]};
  if (kind == Kind::strips) {
    const std::int64_t rows = ceil_div(p.in[2] + p.pad[2], tall(kind, p, v) * p.stride[2]);
    return {p.in[0], p.in[1], rows, ceil_div(p.in[3] + p.pad[3], kStrip)};
  }
  if (kind == Kind::blocks) {
    return {p.in[0], p.in[1], ceil_div(p.in[2] + p.pad[2], kBlock), ceil_div(p.in[3] + p.pad[3], kBlock)};
  }
  Quad cells{};
  for (std::size_t a = 0; a < 4; ++a) cells[a] = ceil_div(p.in[a] + p.pad[a], p.stride[a]);
  return cells;
}

struct Axes {
  std::int64_t o = 1, m = 1, i = 1;  // lengths
  std::uint32_t role = 0;
};

bool is_split(Kind kind) {
  return kind == Kind::columns || kind == Kind::strips || kind == Kind::blocks;
}

// The axes around (d, h, w), innermost in vectors of v: the table in windows.sass.
Axes axes_of(Kind kind, const PoolProblem& p, const Quad& grid, int v) {
  // 128 bytes at once, or 64, are enough: a CTA has the more neighbours along w.
  const auto split = [&](Axes axes) {
    const std::int64_t whole = v == 1 ? 32 : 8;
    for (const std::int64_t part : {whole, whole / 2}) {
      if (!is_split(kind) || axes.i % part != 0) continue;
      axes.m = axes.i / part;
      axes.i = part;
      break;
    }
    return axes;
  };
  switch (p.layout) {
    case Layout::channels_last: return split({p.n, 1, ceil_div(grid[0], v), 2});
    case Layout::batch_last: return split({grid[0], 1, ceil_div(p.n, v), 0});
    case Layout::channels_first: break;
  }
  if (over_maps(p)) return {p.n, grid[0], 1, 1};
  return {p.n * grid[0], 1, 1, 1};
}

// Strides o, m, i, c of a tensor, in the order of the parameters.
Quad outer_strides(const PoolProblem& p, const Strides& s, int v) {
  const bool maps = over_maps(p);
  switch (p.layout) {
    case Layout::channels_last: return {s.n, 0, maps ? 0 : v, maps ? s.q[0] : 0};
    case Layout::batch_last: return {maps ? 0 : s.q[0], 0, v, maps ? s.q[0] : 0};
    case Layout::channels_first: break;
  }
  if (maps) return {s.n, 0, 0, s.q[0]};
  return {s.q[0], 0, 0, 0};
}

std::int64_t threads_of(const Axes& axes, const Quad& grid) {
  return axes.o * axes.m * axes.i * grid[1] * grid[2] * grid[3];
}

// The parameters of windows.sass, in order.
template <class Sink>
void fill(Sink& sink, Kind kind, const Part& part, const PoolOptions& options, int v) {
  const PoolProblem& p = part.p;
  const Quad out = p.out();
  const Quad grid = grid_of(kind, p, v);
  const Axes axes = axes_of(kind, p, grid, v);
  sink.add(part.pointers.x).add(part.pointers.dy).add(part.pointers.out).add(u32(threads_of(axes, grid)));
  for (const std::int64_t length : {axes.i, grid[3], grid[2], grid[1], axes.m}) {
    sink.add(u32(length)).add(magic_of(length));
  }
  sink.add(axes.role);
  for (const bool of_x : {true, false}) {
    const Strides s = of_x ? strides_of(p, p.in, pitch_of(p)) : strides_of(p, out, out[0]);
    for (const std::int64_t stride : outer_strides(p, s, v)) sink.add(u32(stride));
    for (std::size_t a = 1; a < 4; ++a) sink.add(u32(s.q[a]));
  }
  for (const Quad& lengths : {p.in, out, p.window}) {
    for (const std::int64_t length : lengths) sink.add(u32(length));
  }
  for (const std::int64_t pad : p.pad) sink.add(static_cast<std::int32_t>(-pad));
  for (const std::int64_t stride : p.stride) sink.add(u32(stride)).add(magic_of(stride));
  for (std::size_t a = 0; a < 4; ++a) sink.add(u32(std::min(ceil_div(p.window[a], p.stride[a]), out[a])));
  const bool uniform = p.count_padding || p.pad == Quad{};
  const auto count = static_cast<float>(positions(p));
  sink.add(std::uint32_t{uniform ? 1U : 0U}).add(count).add(1.0F / count);
  sink.add(u32(tall(kind, p, v))).add(options.alpha).add(options.beta);
  sink.add(nn::RoundingArgs::of(options.rounding, p.dtype, part.first));
  sink.add(part.pointers.argmax).add(std::uint32_t{options.relu ? 1U : 0U});
}

// What a kernel's conditions ask for.
class Numbers {
 public:
  Numbers& add(std::uint64_t v) { return put(static_cast<std::int64_t>(v)); }
  Numbers& add(std::uint32_t v) { return put(v); }
  Numbers& add(std::int32_t v) { return put(v); }
  Numbers& add(float /*v*/) { return put(0); }
  Numbers& add(Magic v) { return add(v.mul).add(v.shift); }
  Numbers& add(const nn::RoundingArgs& r) { return add(r.seed).add(r.counter).add(r.phase).add(r.bits); }
  [[nodiscard]] const std::vector<std::int64_t>& values() const { return values_; }

 private:
  Numbers& put(std::int64_t v) {
    values_.push_back(v);
    return *this;
  }
  std::vector<std::int64_t> values_;
};

struct Choice {
  Part part;
  const Kernel* kernel = nullptr;
  Kind kind = Kind::fprop;
  int v = 1;
};

bool windows_apart(const PoolProblem& p) {
  for (std::size_t a = 0; a < 4; ++a) {
    if (p.stride[a] < p.window[a]) return false;
  }
  return true;
}

// Kernels for the problem by preference: a kind, unrolled before not, vectors before single elements.
Choice choose(const Registry& registry, Pass pass, const Part& part, const PoolOptions& options, const Forced& forced) {
  const PoolProblem& p = part.p;
  std::vector<Kind> kinds = {Kind::fprop};
  const bool meet = p.op == PoolOp::max && !windows_apart(p);
  const bool argmax = part.pointers.argmax != 0;
  if (pass == Pass::fprop && meet) kinds = {Kind::columns, Kind::fprop};
  if (pass == Pass::bprop && argmax) {
    kinds = {Kind::blocks, Kind::gather};
  } else if (pass == Pass::bprop) {
    kinds = {Kind::gather};
    if (p.op != PoolOp::avg && windows_apart(p)) kinds.insert(kinds.begin(), Kind::cells);
    if (meet) kinds.insert(kinds.begin(), Kind::strips);
  }
  std::vector<std::int64_t> sides = {0};
  if (!over_maps(p) && p.window[1] == 1 && p.window[2] == p.window[3]) sides.insert(sides.begin(), p.window[2]);
  const bool half = size_of(p.dtype) == 2;
  std::vector<int> widths = {half ? 8 : 4, 1};
  if (argmax) widths = {argmax_form(p).elements};
  const std::string op = argmax ? "argmax" : kOp[static_cast<int>(p.op)];
  const std::string type = std::string("_") + std::string(sgemm::word_of(p.dtype)) + "_";
  std::string why;
  for (const Kind kind : kinds) {
    for (const std::int64_t side : sides) {
      for (const int v : widths) {
        std::string name = std::string(kKind[static_cast<int>(kind)]) + "_" + op + type + std::to_string(side) +
                           (over_maps(p) ? "_1_" : "_0_");
        if (is_split(kind)) {
          name += std::to_string(p.stride[2]) + (options.rounding.stochastic ? "_random_" : "_nearest_");
        }
        name += std::to_string(v);
        const bool wanted =
            name.compare(0, forced.begin.size(), forced.begin) == 0 &&
            std::string_view(name).substr(name.size() - std::min(name.size(), forced.end.size())) == forced.end;
        const Kernel* kernel = wanted ? registry.find(name) : nullptr;
        if (kernel == nullptr) continue;
        if (v > 1 && (p.layout == Layout::channels_first || (p.layout == Layout::channels_last && over_maps(p)))) {
          continue;  // neighbours in memory are not in the same windows
        }
        const std::int64_t inner = p.layout == Layout::channels_last ? p.in[0] : p.n;
        if (inner % v != 0) continue;
        Numbers numbers;
        fill(numbers, kind, part, options, v);
        const sass::Condition* unmet = kernel->unmet(numbers.values());
        if (unmet == nullptr) return {part, kernel, kind, v};
        why += "\n  " + name + " needs " + unmet->text();
      }
    }
  }
  throw InvalidArgument("pool: no kernel for this problem" + why);
}

// Parts of at most `most` elements of x (what lies beside a slice counts) and of y each, along the outermost axis.
std::vector<Part> parts_of(Pass pass, const PoolProblem& p, const Pointers& pointers, std::int64_t most) {
  const Quad out = p.out();
  const bool by_map = p.layout == Layout::batch_last;
  const std::int64_t outer = by_map ? p.in[0] : p.n;
  const std::int64_t x_all = volume({apart(p) ? p.x_pitch : p.in[0], p.in[1], p.in[2], p.in[3]}) * p.n;
  const std::int64_t x_each = x_all / outer;  // elements of one image, or of one feature map
  const std::int64_t y_outer = by_map ? out[0] : p.n;
  const std::int64_t y_each = volume(out) * p.n / y_outer;
  if (x_all <= most && volume(out) * p.n <= most) return {{p, pointers, 0}};
  const std::int64_t each = std::max(x_each, y_each);
  if (by_map && over_maps(p)) {
    throw InvalidArgument("pool: x has " + std::to_string(volume(p.in) * p.n) + " elements and y " +
                          std::to_string(volume(out) * p.n) +
                          "; windows over feature maps of a batch-last layout need less than 2^31");
  }
  if (each > most) {
    throw InvalidArgument(std::string("pool: one ") + (by_map ? "feature map of all images" : "image") + " has " +
                          std::to_string(each) + " elements; needs less than 2^31");
  }
  std::vector<Part> parts;
  const std::int64_t step = most / each;
  const auto width = size_of(p.dtype);
  for (std::int64_t at = 0; at < outer; at += step) {
    const std::int64_t length = std::min(step, outer - at);
    Part part{p, pointers, 0};
    (by_map ? part.p.in[0] : part.p.n) = length;
    const auto in_x = static_cast<std::uint64_t>(at * x_each);
    const auto in_y = static_cast<std::uint64_t>(at * y_each);
    if (part.pointers.x != 0) part.pointers.x += in_x * width;
    if (part.pointers.dy != 0) part.pointers.dy += in_y * width;
    part.first = pass == Pass::fprop ? in_y : in_x;
    part.pointers.out += part.first * width;
    if (part.pointers.argmax != 0) {
      part.pointers.argmax += in_y * static_cast<std::uint64_t>(argmax_form(p).bits) / 8;
    }
    parts.push_back(part);
  }
  return parts;
}

void check_address(const char* name, std::uint64_t v, std::size_t alignment) {
  if (v == 0) throw InvalidArgument(std::string("pool: ") + name + " is 0; needs a device address");
  if (v % alignment != 0) {
    throw InvalidArgument(std::string("pool: address of ") + name + " is " + std::to_string(v) +
                          "; needs a multiple of " + std::to_string(alignment));
  }
}

bool reads_x(Pass pass, const PoolProblem& p, const Pointers& pointers) {
  return pass == Pass::fprop || (p.op != PoolOp::avg && pointers.argmax == 0);
}

// Everything checked, a kernel for every part.
std::vector<Choice> plan(const Registry& registry, Pass pass, const PoolProblem& p, const Pointers& pointers,
                         const PoolOptions& options, const Forced& forced) {
  check_call(pass, p, pointers, options);
  Pointers used = pointers;
  if (!reads_x(pass, p, pointers)) used.x = 0;
  if (pass == Pass::fprop) used.dy = 0;
  std::vector<Choice> choices;
  for (const Part& part : parts_of(pass, p, used, forced.most_elements)) {
    choices.push_back(choose(registry, pass, part, options, forced));
  }
  return choices;
}

}  // namespace

void check_call(Pass pass, const PoolProblem& p, const Pointers& pointers, const PoolOptions& options) {
  check(p);
  nn::check_rounding("pool", options.rounding, p.dtype);
  if (pass == Pass::bprop && options.rounding.stochastic && apart(p)) {
    throw InvalidArgument("pool: dx is rounded at random and a slice of a wider tensor; needs contiguous memory");
  }
  const bool argmax = pointers.argmax != 0;
  const Alignments alignments = alignments_of(p, argmax);
  if (argmax) {
    check_address("argmax", pointers.argmax, alignments.argmax);
  } else if (options.relu) {
    throw InvalidArgument("pool: relu is given without argmax; needs max_pool_fprop");
  }
  if (reads_x(pass, p, pointers)) check_address("x", pointers.x, alignments.tensors);
  if (pass == Pass::bprop) check_address("dy", pointers.dy, alignments.tensors);
  check_address(pass == Pass::fprop ? "y" : "dx", pointers.out, alignments.tensors);
}

std::vector<std::string> kernels_for(const Registry& registry, Pass pass, const PoolProblem& p,
                                     const Pointers& pointers, const PoolOptions& options, const Forced& forced) {
  std::vector<std::string> names;
  for (const Choice& c : plan(registry, pass, p, pointers, options, forced)) names.push_back(c.kernel->name());
  return names;
}

void queue(Device& device, Pass pass, const PoolProblem& p, const Pointers& pointers, const PoolOptions& options,
           const Forced& forced) {
  for (const Choice& c : plan(device.registry(), pass, p, pointers, options, forced)) {
    const Quad grid = grid_of(c.kind, c.part.p, c.v);
    const std::int64_t threads = threads_of(axes_of(c.kind, c.part.p, grid, c.v), grid);
    nn::Call call(device, c.kernel->name());
    fill(call, c.kind, c.part, options, c.v);
    call.launch({u32(ceil_div(threads, c.kernel->manifest().threads))}, options.stream.handle());
  }
}

namespace {

void queue_apart(Pass pass, const PoolProblem& p, const Pointers& pointers, const PoolOptions& options) {
  check_apart("pool", pass == Pass::fprop ? "y" : "dx", pointers.out,
              {{"x", pointers.x}, {"dy", pointers.dy}, {"argmax", pointers.argmax}});
  queue_planned(current_device(), pass, p, pointers, options);
}

}  // namespace
}  // namespace pool_detail

void pool_fprop(const PoolProblem& p, std::uint64_t x, std::uint64_t y, const PoolOptions& options) {
  pool_detail::queue_apart(pool_detail::Pass::fprop, p, {x, 0, y, 0}, options);
}

void pool_bprop(const PoolProblem& p, std::uint64_t dy, std::uint64_t x, std::uint64_t dx, const PoolOptions& options) {
  pool_detail::queue_apart(pool_detail::Pass::bprop, p, {x, dy, dx, 0}, options);
}

void max_pool_fprop(const PoolProblem& p, std::uint64_t x, std::uint64_t y, std::uint64_t argmax,
                    const PoolOptions& options) {
  pool_detail::check_address("argmax", argmax, 1);
  pool_detail::queue_apart(pool_detail::Pass::fprop, p, {x, 0, y, argmax}, options);
}

void max_pool_bprop(const PoolProblem& p, std::uint64_t dy, std::uint64_t argmax, std::uint64_t dx,
                    const PoolOptions& options) {
  pool_detail::check_address("argmax", argmax, 1);
  pool_detail::queue_apart(pool_detail::Pass::bprop, p, {0, dy, dx, argmax}, options);
}

}  // namespace nervanagpu
