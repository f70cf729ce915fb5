#include "kernels/conv/depthwise/depthwise.h"

#include <algorithm>
#include <string>

#include "kernels/conv/depthwise/depthwise_any.h"
#include "kernels/conv/depthwise/partial_sums.h"
#include "kernels/conv/problem.h"
#include "kernels/gemm/types.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::depthwise {
namespace {

enum Flags : std::uint32_t { kBeta = 1, kRelu = 2, kBias = 4, kBias16 = 8, kAlpha = 16 };  // of the strips' kernels

constexpr std::int64_t kWidthOfUpdate = 4;                     // columns of a strip
constexpr std::int64_t kLanes = 32;                            // vectors of channels side by side, at most
constexpr std::int64_t kMostOfGrid = 65535;                    // of its y
constexpr std::int64_t kMostThreads = std::int64_t{1} << 30;   // of a launch
constexpr std::int64_t kMostElements = std::int64_t{1} << 29;  // of an image: its bytes are numbers of 32 bits

// Channels of a thread: four bytes of them.
std::int64_t channels_of_thread(Dtype type) {
  return sgemm::half(type) ? 2 : 1;
}

// One image of a tensor: pixels of `pitch` elements.
struct Plane {
  std::int64_t height = 0, width = 0, pitch = 0;
  [[nodiscard]] std::int64_t elements() const { return height * width * pitch; }
};

Plane plane_of(const ConvProblem& p, Role role) {
  const auto lengths = role == Role::x ? p.in : p.out();
  return {lengths[1], lengths[2], pitch_of(p, role)};
}

// What a kernel goes over: strips of `along`, to which `gathered` comes; with `turned` by filters from their last tap on.
struct Walk {
  Role gathered = Role::x, along = Role::y;
  std::int64_t origin_h = 0, origin_w = 0;
  bool turned = false;
  bool back = false;                    // two rows and columns of `along` for each of `gathered`:
  std::int64_t skew_h = 0, skew_w = 0;  // strips begin so far before it
  std::int64_t width = 1;               // columns of a strip
  std::int64_t tall = 1;                // rows
  std::int64_t li = 1, lm = 1, lw = 1, lh = 1;
  std::int64_t images = 1;
  [[nodiscard]] std::int64_t threads() const { return images * lm * lh * lw * li; }
};

constexpr std::int64_t kMultiprocessors = 132;  // whatever the device: an update's bits depend on it

// Threads that share li vectors; a CTA is all that a multiprocessor has registers for.
std::int64_t groups_of_update(const ConvProblem& p, const Walk& walk) {
  const std::int64_t threads = p.filter[1] == 3 ? 512 : p.filter[1] == 5 ? 384 : 256;
  return threads / walk.li;
}
std::int64_t most_parts(const ConvProblem& p, const Walk& walk, std::int64_t strips) {
  return std::clamp<std::int64_t>(kMultiprocessors / walk.lm, 1, ceil_div(strips, groups_of_update(p, walk)));
}

// Rows that the busiest multiprocessor goes down if strips are so tall, in units of one thread's: those of the strip, and
// those above or below it that it meets, which cost less.
double cost_of(ConvPass pass, const ConvProblem& p, const Walk& walk) {
  const std::int64_t others = (p.filter[1] - 1) / p.stride[1];
  double rows = static_cast<double>(walk.tall) + 0.6 * static_cast<double>(others);
  std::int64_t turns = 0;
  if (pass == ConvPass::update) {
    constexpr double kFirstRows = 2;  // a thread waits for those of each strip
    rows += kFirstRows;
    const std::int64_t strips = walk.images * walk.lh * walk.lw;
    turns = ceil_div(strips, most_parts(p, walk, strips) * groups_of_update(p, walk));
  } else {
    constexpr std::int64_t kThreads = 128;  // of a CTA; so many CTAs run in the time of one:
    const std::int64_t together = p.filter[1] == 3 ? 4 : 2;
    turns = std::max(ceil_div(ceil_div(walk.threads(), kThreads), kMultiprocessors), together);
  }
  return static_cast<double>(turns) * rows;
}

// Cuts the rows into blocks.
void cut_rows(ConvPass pass, const ConvProblem& p, std::int64_t rows, Walk& walk) {
  constexpr std::int64_t kMostCuts = 16;
  Walk tried = walk;
  double best = 0;
  for (std::int64_t cuts = 1; cuts <= std::min(rows, kMostCuts); ++cuts) {
    if (cuts > 1 && ceil_div(rows, cuts) == tried.tall) continue;
    tried.tall = ceil_div(rows, cuts);
    tried.lh = ceil_div(rows, tried.tall);
    const double cost = cost_of(pass, p, tried);
    if (cuts > 1 && cost >= best) continue;
    best = cost;
    walk = tried;
  }
}

Walk walk_of(ConvPass pass, const ConvProblem& p, std::int64_t width) {
  Walk walk;
  const bool backwards = pass == ConvPass::bprop;
  if (backwards) walk.gathered = Role::y, walk.along = Role::x;
  if (backwards && p.stride[1] == 2) {
    walk.back = true;
    walk.skew_h = p.pad[1] % 2, walk.skew_w = p.pad[2] % 2;
    walk.origin_h = p.pad[1] / 2, walk.origin_w = p.pad[2] / 2;
  } else if (backwards) {
    walk.origin_h = p.pad[1] - (p.filter[1] - 1);
    walk.origin_w = p.pad[2] - (p.filter[2] - 1);
    walk.turned = true;
  } else {
    walk.origin_h = -p.pad[1];
    walk.origin_w = -p.pad[2];
  }
  const Plane along = plane_of(p, walk.along);
  const std::int64_t vectors = p.c / channels_of_thread(p.x_type);
  walk.lm = ceil_div(vectors, kLanes);
  walk.li = ceil_div(vectors, walk.lm);
  walk.width = width;
  walk.lw = ceil_div(along.width + walk.skew_w, width);
  const std::int64_t rows = walk.back ? ceil_div(along.height + walk.skew_h, 2) : along.height;
  walk.images = p.n * p.in[0];
  cut_rows(pass, p, rows, walk);
  return walk;
}

// How the strips of an update are shared out: a part is a CTA for each li vectors of channels.
struct Shares {
  std::int64_t strips = 0, chunk = 1;
  PartialSums parts;
};

Shares shares_of(const ConvProblem& p, const Walk& walk) {
  Shares s;
  s.strips = walk.images * walk.lh * walk.lw;
  const std::int64_t groups = groups_of_update(p, walk);
  s.chunk = ceil_div(ceil_div(s.strips, most_parts(p, walk, s.strips)), groups) * groups;
  s.parts = partial_sums_of(ceil_div(s.strips, s.chunk), p.c * p.filter[1] * p.filter[2]);
  return s;
}

std::string name_of(ConvPass pass, const ConvProblem& p) {
  const std::string type(sgemm::word_of(p.x_type));
  const std::string side = "_" + std::to_string(p.filter[1]);
  if (pass == ConvPass::bprop && p.stride[1] == 2) return "depthwise_back_" + type + side;
  return (pass == ConvPass::update ? "depthwise_update_" : "depthwise_") + type + side + "_" +
         std::to_string(p.stride[1]);
}

// What both kinds of kernels are told of the tensors and how they are cut up.
void add_walk(Values& v, const ConvProblem& p, const Walk& walk) {
  const auto size = static_cast<std::int64_t>(size_of(p.x_type));
  const Plane u = plane_of(p, walk.gathered);
  const Plane o = plane_of(p, walk.along);
  v.u32(p.c / channels_of_thread(p.x_type));
  v.divisor(walk.li).divisor(walk.lw).divisor(walk.lh).divisor(walk.lm);
  for (const Plane& t : {u, o}) v.u32(t.elements() * size).u32(t.width * t.pitch).u32(t.pitch);
  for (const Plane& t : {u, o}) v.u32(t.height).u32(t.width);
  v.s32(walk.origin_h).s32(walk.origin_w).u32(walk.tall);
  if (walk.back) v.u32(walk.skew_h).u32(walk.skew_w);
}

const Kernel& kernel_of(const Device& device, ConvPass pass, const ConvProblem& p) {
  const Kernel* kernel = device.registry().find(name_of(pass, p));
  if (kernel == nullptr) throw InvalidArgument("conv: no kernel " + name_of(pass, p));
  return *kernel;
}

std::uint32_t flags_of(const ConvPointers& pointers, const Epilogue& e) {
  const bool bias = pointers.bias != 0;
  return (e.beta != 0.0F ? kBeta : 0U) | (e.relu ? kRelu : 0U) | (bias ? kBias : 0U) |
         (bias && size_of(pointers.bias_type) == 2 ? kBias16 : 0U) | static_cast<std::uint32_t>(e.activation) << 8;
}

void queue_positions(Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers,
                     const Epilogue& e, StreamId stream) {
  const Kernel& kernel = kernel_of(device, pass, p);
  const Walk walk = walk_of(pass, p, kernel.number("WIDTH"));
  Values v;
  v.u64(pointers.in1).u64(pointers.in2).u64(pointers.out).u64(pointers.bias).u32(walk.threads());
  add_walk(v, p, walk);
  v.u32(p.filter[1] * p.filter[2]).u32(walk.turned ? 1 : 0).f32(e.alpha).f32(e.beta);
  v.u32(flags_of(pointers, e) | (e.alpha != 1.0F ? kAlpha : 0U));
  const Grid grid = {static_cast<std::uint32_t>(ceil_div(walk.threads(), kernel.manifest().threads))};
  v.launch(device, kernel, grid, stream);
}

void queue_update(Device& device, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& e,
                  StreamId stream) {
  const Kernel& kernel = kernel_of(device, ConvPass::update, p);
  const Walk walk = walk_of(ConvPass::update, p, kWidthOfUpdate);
  const Shares s = shares_of(p, walk);
  Values v;
  v.u64(pointers.in2).u64(pointers.in1).u64(pointers.workspace).u32(s.strips).u32(s.chunk);
  add_walk(v, p, walk);
  const Grid grid = {static_cast<std::uint32_t>(s.parts.count()), static_cast<std::uint32_t>(walk.lm)};
  v.launch(device, kernel, grid, stream);
  queue_sum(device, s.parts, p.w_type, pointers, e, stream);
}

bool is_depthwise(const ConvProblem& p) {
  if (p.layout != Layout::channels_last || p.groups == 1 || p.groups != p.c || p.c != p.k) return false;
  const bool floats = p.x_type == Dtype::float32 || sgemm::half(p.x_type);
  return floats && p.w_type == p.x_type && p.y_type == p.x_type;
}

bool in_two_dimensions(const ConvProblem& p) {
  return p.filter[0] == 1 && p.pad[0] == 0 && p.stride[0] == 1;
}

bool strips_take(ConvPass pass, const ConvProblem& p) {
  const std::int64_t side = p.filter[1];
  const std::int64_t stride = p.stride[1];
  if (!in_two_dimensions(p) || p.filter[2] != side || p.stride[2] != stride) return false;
  if ((side != 3 && side != 5 && side != 7) || stride > 2 || p.dilation[1] != 1 || p.dilation[2] != 1) return false;
  const std::int64_t v = channels_of_thread(p.x_type);
  for (const std::int64_t length : {p.c, pitch_of(p, Role::x), pitch_of(p, Role::y)}) {
    if (length % v != 0) return false;
  }
  for (const Role role : {Role::x, Role::y}) {
    if (plane_of(p, role).elements() >= kMostElements) return false;
  }
  if (ceil_div(p.c / v, kLanes) > kMostOfGrid) return false;
  // More threads than any strips make; these numbers may be of any size.
  const Plane along = plane_of(p, pass == ConvPass::bprop ? Role::x : Role::y);
  double threads = static_cast<double>(p.n) * static_cast<double>(p.in[0]);
  for (const std::int64_t length : {p.c / v + kLanes, along.height + 1, ceil_div(along.width + 1, kWidthOfUpdate)}) {
    threads *= static_cast<double>(length);
  }
  return threads < static_cast<double>(kMostThreads);
}

bool strips_fit(ConvPass pass, const ConvPointers& pointers, const Epilogue& epilogue) {
  const Roles roles = roles_of(pass);
  const auto in_words = [&](Role role, std::uint64_t address) {
    return address % 4 == 0 || (pass == ConvPass::update && role == Role::w);  // which split_sum stores
  };
  const bool rounds = pass == ConvPass::update || !epilogue.rounding.stochastic;
  return rounds && epilogue.activation == GemmActivation::none && in_words(roles.in1, pointers.in1) &&
         in_words(roles.in2, pointers.in2) && in_words(roles.out, pointers.out);
}

}  // namespace

bool takes(ConvPass pass, const ConvProblem& p) {
  return is_depthwise(p) && any_takes(pass, p);
}

bool takes_strips(ConvPass pass, const ConvProblem& p) {
  return takes(pass, p) && strips_take(pass, p);
}

bool fits(ConvPass pass, const ConvProblem& p, const Epilogue& epilogue) {
  return !epilogue.rounding.stochastic || !apart(p, roles_of(pass).out);
}

StripOrder order_of_update(const ConvProblem& p) {
  const Walk walk = walk_of(ConvPass::update, p, kWidthOfUpdate);
  const Shares s = shares_of(p, walk);
  return {walk.width, walk.tall, walk.lh, walk.lw, groups_of_update(p, walk), s.chunk, s.parts.run, s.parts.runs};
}

std::size_t workspace(ConvPass pass, const ConvProblem& p) {
  if (pass != ConvPass::update) return 0;
  const std::size_t strips = strips_take(pass, p) ? shares_of(p, walk_of(pass, p, kWidthOfUpdate)).parts.bytes() : 0;
  return std::max(strips, any_workspace(p));
}

void queue(Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& epilogue,
           StreamId stream, const Forced& forced) {
  if (forced.kernel == kAny || !strips_take(pass, p) || !strips_fit(pass, pointers, epilogue)) {
    queue_any(device, pass, p, pointers, epilogue, flags_of(pointers, epilogue), stream);
  } else if (pass == ConvPass::update) {
    queue_update(device, p, pointers, epilogue, stream);
  } else {
    queue_positions(device, pass, p, pointers, epilogue, stream);
  }
}

}  // namespace nervanagpu::conv_detail::depthwise
