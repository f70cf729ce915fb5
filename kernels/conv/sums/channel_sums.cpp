#include "kernels/conv/sums/channel_sums.h"

#include <algorithm>
#include <string>

#include "kernels/conv/arena.h"
#include "kernels/conv/problem.h"
#include "kernels/gemm/types.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::channel_sums {
namespace {

constexpr std::int64_t kMostParts = 512;  // of an end, and so of what is made afterwards a pass
constexpr std::int64_t kWide = 16;        // bytes

// The result as its sums see it: places of a channel, `run` of them side by side.
struct View {
  Dtype type = Dtype::float32;
  std::int64_t places = 0, channels = 0, run = 1, pitch = 0;
};

View view_of(ConvPass pass, const ConvProblem& p) {
  const Role role = roles_of(pass).out;
  View v;
  v.type = type_of(p, role);
  v.channels = shape_of(p, role)[4];
  v.places = elements_of(p, role) / v.channels;
  v.run = p.layout == Layout::batch_last ? v.places : p.layout == Layout::channels_first ? v.places / p.n : 1;
  v.pitch = pitch_of(p, role);
  return v;
}

// Places of a part: a function of the result's shape alone, as the bits of sums are.
std::int64_t chunk_of(const View& v) {
  constexpr std::int64_t kCtas = 1024;
  constexpr std::int64_t kColumns = 64;
  constexpr std::int64_t kLeast = 128;
  constexpr std::int64_t kChains = 32;
  const std::int64_t parts = std::clamp<std::int64_t>(kCtas / ceil_div(v.channels, kColumns), 1, kMostParts);
  return ceil_div(std::max(kLeast, ceil_div(v.places, parts)), kChains) * kChains;
}

std::int64_t width_of(const View& v, bool squares) {
  return squares ? 2 * v.channels : v.channels;
}

const Kernel& find(const Registry& registry, const std::string& name) {
  const Kernel* k = registry.find(name);
  if (k == nullptr) throw Error("there is no kernel " + name + " for this device's architecture");
  return *k;
}

Grid grid_of(std::int64_t x, std::int64_t y) {
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 1};
}

// `count` parts at `parts`, after which there is room for parts of parts.
void add_up(Device& device, const View& v, std::uint64_t parts, std::int64_t count, const Sums& sums, StreamId stream) {
  constexpr std::int64_t kNumbers = 32;
  const Kernel& end = find(device.registry(), "channel_sums_end");
  const std::int64_t width = width_of(v, sums.squares != 0);
  const auto bytes = [](std::int64_t numbers) { return static_cast<std::uint64_t>(numbers) * sizeof(float); };
  for (bool last = false; !last;) {
    const std::int64_t left = ceil_div(count, kMostParts);
    last = left == 1;
    const std::uint64_t to = parts + aligned(bytes(count * width));
    Values values;
    values.u64(parts).u64(last ? sums.sum : to).u64(last ? sums.squares : to + bytes(v.channels));
    values.u32(count).u32(v.channels).u32(width).u32(kMostParts).u32(last ? 0 : width);
    values.launch(device, end, grid_of(ceil_div(width, kNumbers), left), stream);
    parts = to;
    count = left;
  }
}

// Bytes of `count` parts, and of their parts.
std::size_t bytes_of(const View& v, std::int64_t count) {
  std::size_t bytes = 0;
  for (;; count = ceil_div(count, kMostParts)) {
    bytes += aligned(static_cast<std::size_t>(count * width_of(v, true)) * sizeof(float));
    if (count <= kMostParts) return bytes;
  }
}

}  // namespace

void check(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 31;
  struct Vector {
    const char* name;
    std::uint64_t address;
  };
  for (const Vector& v :
       {Vector{"channel_sum", pointers.channel_sum}, Vector{"channel_sum_squares", pointers.channel_sum_squares}}) {
    if (v.address == 0) continue;
    const std::string given = std::string("conv: ") + v.name + " is given but ";
    if (pass == ConvPass::update) throw InvalidArgument(given + "the pass is update; needs fprop or bprop");
    const View result = view_of(pass, p);
    if (result.type != Dtype::float32 && !sgemm::half(result.type)) {
      throw TypeError(given + "the result has dtype " + std::string(nervanagpu::name_of(result.type)) +
                      "; needs float32, float16 or bfloat16");
    }
    if (v.address % sizeof(float) != 0) {
      throw InvalidArgument(std::string("conv: address of ") + v.name + " is " + std::to_string(v.address) +
                            "; needs a multiple of 4");
    }
    if (result.places >= kLimit || result.channels >= kLimit / 2 || result.pitch >= kLimit ||
        result.places / result.run * result.channels >= kLimit) {
      throw InvalidArgument(given + "the result has " + std::to_string(result.places) + " positions of " +
                            std::to_string(result.channels) +
                            " channels; needs less than 2^31 positions, 2^30 channels and, where they are not last, "
                            "2^31 images' channels");
    }
  }
  if (pointers.channel_sum != 0 && pointers.channel_sum == pointers.channel_sum_squares) {
    throw InvalidArgument("conv: channel_sum and channel_sum_squares have one address; needs memory for each");
  }
}

std::size_t workspace(ConvPass pass, const ConvProblem& p, std::int64_t parts) {
  const View v = view_of(pass, p);
  return bytes_of(v, std::max(parts, ceil_div(v.places, chunk_of(v))));
}

void queue(Device& device, ConvPass pass, const ConvProblem& p, std::uint64_t result, const Epilogue& e,
           StreamId stream, std::int64_t parts) {
  const View v = view_of(pass, p);
  if (parts != 0) return add_up(device, v, e.sums.parts, parts, e.sums, stream);
  const std::int64_t width = width_of(v, e.sums.squares != 0);
  const std::int64_t chunk = chunk_of(v);
  const std::int64_t count = ceil_div(v.places, chunk);
  const std::string type = "_" + std::string(sgemm::word_of(v.type));
  Values values;
  values.u64(result).u64(e.sums.parts).u32(v.places).u32(v.channels);
  if (p.layout == Layout::channels_last) {
    constexpr std::int64_t kUnits = 8;
    const std::int64_t unit = kWide / conv_detail::width_of(v.type);
    const bool wide = result % kWide == 0 && v.channels % unit == 0 && v.pitch % unit == 0;
    values.u32(v.pitch).u32(width).u32(chunk);
    values.launch(device, find(device.registry(), "channel_sums" + type + (wide ? "_1" : "_0")),
                  grid_of(ceil_div(v.channels, kUnits * unit), count), stream);
  } else {
    constexpr std::int64_t kWarps = 8;
    values.divisor(v.run).u32(width).u32(chunk);
    values.launch(device, find(device.registry(), "channel_sums_apart" + type),
                  grid_of(ceil_div(v.channels, kWarps), count), stream);
  }
  add_up(device, v, e.sums.parts, count, e.sums, stream);
}

}  // namespace nervanagpu::conv_detail::channel_sums
