#include "test/kernels/conv/random_problem.h"

#include <algorithm>

namespace nervanagpu::test {
namespace {

int pick(std::mt19937& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

// Spatial lengths; true if there is an output.
bool choose_axis(std::mt19937& random, ConvProblem& p, std::size_t d) {
  p.in[d] = pick(random, 1, 11);
  p.filter[d] = pick(random, 1, pick(random, 0, 3) == 0 ? 7 : 3);
  p.stride[d] = pick(random, 0, 1) == 0 ? 1 : pick(random, 1, 5);
  p.dilation[d] = pick(random, 0, 2) == 0 ? pick(random, 1, 4) : 1;
  p.pad[d] = pick(random, 0, 2) == 0 ? 0 : pick(random, 0, 5);
  return p.in[d] + 2 * p.pad[d] > p.dilation[d] * (p.filter[d] - 1);
}

}  // namespace

ConvProblem random_problem(std::mt19937& random, std::int64_t most) {
  for (;;) {
    ConvProblem p;
    p.layout = static_cast<Layout>(pick(random, 0, 2));
    const int axes = pick(random, 1, 3);
    bool possible = true;
    for (int d = 3 - axes; d < 3; ++d) possible = possible && choose_axis(random, p, static_cast<std::size_t>(d));
    if (!possible) continue;
    p.groups = pick(random, 0, 2) == 0 ? pick(random, 0, 2) == 0 ? 8 * pick(random, 1, 2) : pick(random, 2, 5) : 1;
    const int kind = pick(random, 0, 3);
    p.c = p.groups * (kind == 0 ? 1 : pick(random, 1, 7));
    p.k = p.groups * (kind == 0 ? pick(random, 1, 2) : pick(random, 1, 9));
    // What the copy engine reads as it lies.
    if (pick(random, 0, 3) == 0) p.c = p.groups * 8 * pick(random, 1, 3);
    if (pick(random, 0, 3) == 0) p.k = p.groups * 8 * pick(random, 1, 3);
    p.n = pick(random, 1, 7);
    if (std::max({p.x_elements(), p.y_elements(), p.w_elements()}) <= most) return p;
  }
}

ConvProblem random_first_layer(std::mt19937& random, std::int64_t most, int turn) {
  constexpr int kChannels = 4;
  for (;;) {
    ConvProblem p = random_problem(random, most);
    p.groups = 1, p.c = 1 + turn % kChannels;
    p.in[0] = p.filter[0] = p.stride[0] = 1, p.pad[0] = 0;
    p.dilation = {1, 1, 1};
    p.stride[2] = std::int64_t{1} << turn % 3;
    p.x_type = p.w_type = p.y_type = turn % 2 == 0 ? Dtype::float16 : Dtype::bfloat16;
    if (p.in[1] + 2 * p.pad[1] >= p.filter[1] && p.in[2] + 2 * p.pad[2] >= p.filter[2]) return p;
  }
}

void choose_pitches(std::mt19937& random, ConvProblem& p) {
  if (p.layout != Layout::channels_last) return;
  const auto wider = [&](std::int64_t channels) -> std::int64_t {
    const int kind = pick(random, 0, 3);
    return kind == 0 ? 0 : kind == 1 ? channels + pick(random, 0, 5) : (channels + 7) / 8 * 8 + 8 * pick(random, 0, 2);
  };
  p.x_pitch = wider(p.c);
  p.y_pitch = wider(p.k);
}

std::string text_of(ConvPass pass, const ConvProblem& p) {
  const auto triple = [](const std::array<std::int64_t, 3>& t) {
    return std::to_string(t[0]) + "x" + std::to_string(t[1]) + "x" + std::to_string(t[2]);
  };
  const char* passes[] = {"fprop", "bprop", "update"};
  const char* layouts[] = {"channels_last", "batch_last", "channels_first"};
  return std::string(passes[static_cast<int>(pass)]) + " " + layouts[static_cast<int>(p.layout)] + " n " +
         std::to_string(p.n) + ", c " + std::to_string(p.c) + ", k " + std::to_string(p.k) + ", in " + triple(p.in) +
         ", filter " + triple(p.filter) + ", pad " + triple(p.pad) + ", stride " + triple(p.stride) + ", dilation " +
         triple(p.dilation) + ", pitches " + std::to_string(p.x_pitch) + " " + std::to_string(p.y_pitch) + ", groups " +
         std::to_string(p.groups) + ", " + std::string(name_of(p.x_type)) + " " + std::string(name_of(p.w_type)) + " " +
         std::string(name_of(p.y_type));
}

}  // namespace nervanagpu::test
