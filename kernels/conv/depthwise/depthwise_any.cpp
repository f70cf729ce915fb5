#include "kernels/conv/depthwise/depthwise_any.h"

#include <algorithm>
#include <string>

#include "kernels/conv/depthwise/partial_sums.h"
#include "kernels/conv/problem.h"
#include "kernels/gemm/types.h"
#include "kernels/nn/launch.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::depthwise {
namespace {

constexpr std::int64_t kMostThreads = std::int64_t{1} << 30;   // of a launch
constexpr std::int64_t kMostElements = std::int64_t{1} << 29;  // of an image: its bytes are numbers of 32 bits

std::int64_t volume(const Triple& t) {
  return t[0] * t[1] * t[2];
}

// What a thread's number counts, and where place q of o and tap k meet u: (q * mul + k * dil + org) / div.
struct Meeting {
  Role u = Role::x, o = Role::y;
  Triple mul{}, org{}, div = {1, 1, 1};
  bool turned = false;
};

Meeting meeting_of(ConvPass pass, const ConvProblem& p) {
  Meeting m;
  if (pass == ConvPass::bprop) {
    m = {Role::y, Role::x, {1, 1, 1}, {}, p.stride, true};
    for (std::size_t a = 0; a < 3; ++a) m.org[a] = p.pad[a] - (p.filter[a] - 1) * p.dilation[a];
    return m;
  }
  m.mul = p.stride;
  for (std::size_t a = 0; a < 3; ++a) m.org[a] = -p.pad[a];
  return m;
}

// A tensor's lengths and what lies from image to image, and from place to place along an axis, in elements.
struct Places {
  Triple lengths, strides;
  [[nodiscard]] std::int64_t image() const { return lengths[0] * strides[0]; }
};

Places places_of(const ConvProblem& p, Role role) {
  const Triple lengths = role == Role::x ? p.in : p.out();
  const std::int64_t pitch = pitch_of(p, role);
  return {lengths, {lengths[1] * lengths[2] * pitch, lengths[2] * pitch, pitch}};
}

// Parts of an update and their places: threads for a large GPU, but 64 places each.
struct Cut {
  std::int64_t places = 0, chunk = 1;
  PartialSums parts;
};

Cut cut_of(const ConvProblem& p) {
  constexpr std::int64_t kThreads = std::int64_t{1} << 18;
  constexpr std::int64_t kFewest = 64;
  Cut cut;
  cut.places = p.n * volume(p.out());
  const std::int64_t elements = p.c * volume(p.filter);
  const std::int64_t parts = std::clamp<std::int64_t>(kThreads / elements, 1, ceil_div(cut.places, kFewest));
  cut.chunk = ceil_div(cut.places, parts);
  cut.parts = partial_sums_of(ceil_div(cut.places, cut.chunk), elements);
  return cut;
}

// The parameters of depthwise_any.sass, for `count` threads.
struct Arguments {
  std::uint64_t u = 0, w = 0, o = 0, bias = 0, ws = 0;
  std::int64_t count = 0, places = 0, chunk = 0;
  float alpha = 1.0F, beta = 0.0F;
  std::uint32_t flags = 0;
  nn::RoundingArgs rounding;
  float clip_low = 0.0F, clip_high = 0.0F;
};

void launch(Device& device, ConvPass pass, const ConvProblem& p, const Arguments& a, StreamId stream) {
  const std::string name =
      std::string("depthwise_any_") + (pass == ConvPass::update ? "u_" : "p_") + std::string(sgemm::word_of(p.x_type));
  const Kernel* kernel = device.registry().find(name);
  if (kernel == nullptr) throw InvalidArgument("conv: no kernel " + name);
  const Meeting m = meeting_of(pass, p);
  const Places u = places_of(p, m.u);
  const Places o = places_of(p, m.o);
  const auto size = static_cast<std::int64_t>(size_of(p.x_type));
  Values v;
  v.u64(a.u).u64(a.w).u64(a.o).u64(a.bias).u64(a.ws).u32(a.count);
  v.divisor(p.c).divisor(volume(p.filter)).u32(a.places).u32(a.chunk);
  v.divisor(o.lengths[2]).divisor(o.lengths[1]).divisor(o.lengths[0]);
  for (const std::int64_t length : u.lengths) v.u32(length);
  v.u32(p.filter[0]).divisor(p.filter[1]).divisor(p.filter[2]);
  for (const std::int64_t mul : m.mul) v.u32(mul);
  for (const std::int64_t dilation : p.dilation) v.u32(dilation);
  v.each_s32(m.org);
  for (const std::int64_t div : m.div) v.divisor(div);
  for (const Places& t : {u, o}) v.u32(t.image() * size).u32(t.strides[0]).u32(t.strides[1]).u32(t.strides[2]);
  v.u32(m.turned ? 1 : 0).f32(a.alpha).f32(a.beta).u32(a.flags);
  v.u64(a.rounding.seed).u64(a.rounding.counter).u32(a.rounding.phase).u32(a.rounding.bits);
  v.f32(a.clip_low).f32(a.clip_high);
  v.launch(device, *kernel, {static_cast<std::uint32_t>(ceil_div(a.count, kernel->manifest().threads))}, stream);
}

}  // namespace

bool any_takes(ConvPass pass, const ConvProblem& p) {
  for (const Role role : {Role::x, Role::y}) {
    if (places_of(p, role).image() >= kMostElements) return false;
  }
  const std::int64_t elements = p.c * volume(p.filter);
  if (elements >= kMostThreads) return false;
  if (pass != ConvPass::update) return true;
  const Cut cut = cut_of(p);
  return cut.places < kMostThreads && cut.parts.count() * elements < kMostThreads;
}

std::size_t any_workspace(const ConvProblem& p) {
  return cut_of(p).parts.bytes();
}

void queue_any(Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& e,
               std::uint32_t flags, StreamId stream) {
  Arguments a;
  if (pass == ConvPass::update) {
    const Cut cut = cut_of(p);
    a.u = pointers.in2, a.o = pointers.in1, a.ws = pointers.workspace;
    a.count = cut.parts.count() * cut.parts.elements;
    a.places = cut.places, a.chunk = cut.chunk;
    launch(device, pass, p, a, stream);
    queue_sum(device, cut.parts, p.w_type, pointers, e, stream);
    return;
  }
  // Some images at a time.
  const Meeting m = meeting_of(pass, p);
  const auto bytes = [&](Role role) {
    return static_cast<std::uint64_t>(places_of(p, role).image()) * size_of(p.x_type);
  };
  const std::int64_t each = volume(places_of(p, m.o).lengths) * p.c;
  const std::int64_t step = std::max<std::int64_t>(kMostThreads / each, 1);
  a.w = pointers.in2, a.bias = pointers.bias;
  a.alpha = e.alpha, a.beta = e.beta, a.flags = flags;
  a.clip_low = e.clip_low, a.clip_high = e.clip_high;
  for (std::int64_t first = 0; first < p.n; first += step) {
    a.u = pointers.in1 + static_cast<std::uint64_t>(first) * bytes(m.u);
    a.o = pointers.out + static_cast<std::uint64_t>(first) * bytes(m.o);
    a.count = std::min(step, p.n - first) * each;
    a.rounding = nn::RoundingArgs::of(e.rounding, p.x_type, static_cast<std::uint64_t>(first * each));
    launch(device, pass, p, a, stream);
  }
}

}  // namespace nervanagpu::conv_detail::depthwise
