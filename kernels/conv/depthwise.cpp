#include "kernels/conv/depthwise.h"

#include <algorithm>
#include <string>

#include "kernels/conv/problem.h"
#include "kernels/gemm/types.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/values.h"

namespace nervanagpu::conv_detail::depthwise {
namespace {

enum Flags : std::uint32_t { kBeta = 1, kRelu = 2, kBias = 4, kBias16 = 8 };

constexpr std::int64_t kLanes = 32;                            // vectors of channels side by side, at most
constexpr std::int64_t kMostThreads = std::int64_t{1} << 30;   // of a launch
constexpr std::int64_t kMostElements = std::int64_t{1} << 29;  // of a picture: its bytes are numbers of 32 bits

// Channels of a thread: four bytes of them.
std::int64_t channels_of_thread(Dtype type) {
  return sgemm::half(type) ? 2 : 1;
}

// One picture of a tensor: pixels of `pitch` elements.
struct Picture {
  std::int64_t height = 0, width = 0, pitch = 0;
  [[nodiscard]] std::int64_t elements() const { return height * width * pitch; }
};

Picture picture_of(const ConvProblem& p, Role role) {
  const auto lengths = role == Role::x ? p.in : p.out();
  return {lengths[1], lengths[2], pitch_of(p, role)};
}

// What a kernel goes over: strips of `along`, to which `gathered` comes; with `turned` by filters from their last tap on.
struct Walk {
  Role gathered = Role::x, along = Role::y;
  std::int64_t origin_h = 0, origin_w = 0;
  bool turned = false;
  std::int64_t width = 1;  // columns of a strip
  std::int64_t tall = 1;   // rows
  std::int64_t li = 1, lm = 1, lw = 1, lh = 1;
  std::int64_t pictures = 1;
  [[nodiscard]] std::int64_t threads() const { return pictures * lm * lh * lw * li; }
};

// Rows that a thread goes down: all, if that makes threads enough for a large GPU, but eight as a rule: it begins with
// those above its first.
std::int64_t tall_of(std::int64_t rows, std::int64_t threads) {
  constexpr std::int64_t kThreads = std::int64_t{1} << 17;
  constexpr std::int64_t kFewest = 8;
  const std::int64_t cuts =
      std::clamp<std::int64_t>(kThreads / std::max<std::int64_t>(threads, 1), 1, ceil_div(rows, kFewest));
  return ceil_div(rows, cuts);
}

Walk walk_of(ConvPass pass, const ConvProblem& p, std::int64_t width) {
  Walk walk;
  if (pass == ConvPass::bprop) {
    walk.gathered = Role::y, walk.along = Role::x;
    walk.origin_h = p.pad[1] - (p.filter[1] - 1);
    walk.origin_w = p.pad[2] - (p.filter[2] - 1);
    walk.turned = true;
  } else {
    walk.origin_h = -p.pad[1];
    walk.origin_w = -p.pad[2];
  }
  const Picture along = picture_of(p, walk.along);
  const std::int64_t vectors = p.c / channels_of_thread(p.x_type);
  walk.lm = ceil_div(vectors, kLanes);
  walk.li = ceil_div(vectors, walk.lm);
  walk.width = width;
  walk.lw = ceil_div(along.width, width);
  walk.pictures = p.n * p.in[0];
  walk.tall = tall_of(along.height, walk.threads());
  walk.lh = ceil_div(along.height, walk.tall);
  return walk;
}

std::string name_of(const ConvProblem& p) {
  return "depthwise_" + std::string(sgemm::word_of(p.x_type)) + "_" + std::to_string(p.filter[1]) + "_" +
         std::to_string(p.stride[1]);
}

struct Addresses {
  std::uint64_t gathered = 0, w = 0, along = 0, bias = 0;
};

Values values_of(const ConvProblem& p, const Walk& walk, const Addresses& at, const Epilogue& e, std::uint32_t flags) {
  const auto size = static_cast<std::int64_t>(size_of(p.x_type));
  const Picture u = picture_of(p, walk.gathered);
  const Picture o = picture_of(p, walk.along);
  Values v;
  v.u64(at.gathered).u64(at.w).u64(at.along).u64(at.bias);
  v.u32(walk.threads()).u32(p.c / channels_of_thread(p.x_type));
  v.divisor(walk.li).divisor(walk.lw).divisor(walk.lh).divisor(walk.lm);
  for (const Picture& t : {u, o}) v.u32(t.elements() * size).u32(t.width * t.pitch).u32(t.pitch);
  for (const Picture& t : {u, o}) v.u32(t.height).u32(t.width);
  v.s32(walk.origin_h).s32(walk.origin_w).u32(walk.tall);
  v.u32(p.filter[1] * p.filter[2]).u32(walk.turned ? 1 : 0);
  v.f32(e.alpha).f32(e.beta).u32(flags);
  return v;
}

bool in_two_dimensions(const ConvProblem& p) {
  return p.filter[0] == 1 && p.pad[0] == 0 && p.stride[0] == 1;
}

}  // namespace

bool takes(ConvPass pass, const ConvProblem& p) {
  if (p.layout != Layout::channels_last || p.groups != p.c || p.c != p.k) return false;
  const bool floats = p.x_type == Dtype::float32 || sgemm::half(p.x_type);
  if (!floats || p.w_type != p.x_type || p.y_type != p.x_type || pass == ConvPass::update) return false;
  const std::int64_t side = p.filter[1];
  const std::int64_t stride = p.stride[1];
  if (!in_two_dimensions(p) || p.filter[2] != side || p.stride[2] != stride) return false;
  if ((side != 3 && side != 5 && side != 7) || stride > 2 || p.dilation[1] != 1 || p.dilation[2] != 1) return false;
  if (pass == ConvPass::bprop && stride != 1) return false;
  const std::int64_t v = channels_of_thread(p.x_type);
  for (const std::int64_t length : {p.c, pitch_of(p, Role::x), pitch_of(p, Role::y)}) {
    if (length % v != 0) return false;
  }
  for (const Role role : {Role::x, Role::y}) {
    if (picture_of(p, role).elements() >= kMostElements) return false;
  }
  return walk_of(pass, p, 1).threads() < kMostThreads;
}

bool fits(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& epilogue) {
  const Roles roles = roles_of(pass);
  const auto readable = [&](Role role, std::uint64_t address) { return role == Role::w || address % 4 == 0; };
  return !epilogue.rounding.stochastic && readable(roles.in1, pointers.in1) && readable(roles.in2, pointers.in2) &&
         readable(roles.out, pointers.out) && p.n > 0;
}

std::size_t workspace(ConvPass /*pass*/, const ConvProblem& /*p*/) {
  return 0;
}

void queue(Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& epilogue,
           StreamId stream) {
  const Kernel* kernel = device.registry().find(name_of(p));
  if (kernel == nullptr) throw InvalidArgument("conv: no kernel " + name_of(p));
  const Walk walk = walk_of(pass, p, kernel->number("WIDTH"));
  const bool bias = pointers.bias != 0;
  const std::uint32_t flags = (epilogue.beta != 0.0F ? kBeta : 0U) | (epilogue.relu ? kRelu : 0U) |
                              (bias ? kBias : 0U) | (bias && size_of(pointers.bias_type) == 2 ? kBias16 : 0U);
  const Values values = values_of(p, walk, {pointers.in1, pointers.in2, pointers.out, pointers.bias}, epilogue, flags);
  const Grid grid = {static_cast<std::uint32_t>(ceil_div(walk.threads(), kernel->manifest().threads))};
  values.launch(device, *kernel, grid, stream);
}

}  // namespace nervanagpu::conv_detail::depthwise
