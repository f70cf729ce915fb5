#include "kernels/pool/problem.h"

#include "nervanagpu/error.hpp"
#include "src/tensor/shape.h"

namespace nervanagpu {
namespace pool_detail {
namespace {

constexpr std::int64_t kMaxLength = std::int64_t{1} << 31;
constexpr std::int64_t kMaxPositions = std::int64_t{1} << 24;  // a mean's divisor is a float32
constexpr std::array<const char*, 4> kAxis = {"feature maps", "depth", "height", "width"};

[[noreturn]] void refuse(const std::string& name, std::int64_t got, const std::string& needs) {
  throw InvalidArgument("pool: " + name + " is " + std::to_string(got) + "; needs " + needs);
}

void check_length(const std::string& name, std::int64_t v) {
  if (v < 1 || v >= kMaxLength) refuse(name, v, "1 or more and less than 2^31");
}

// One axis alone; its output length.
std::int64_t check_axis(const PoolProblem& p, std::size_t axis) {
  const std::string of = std::string(" (") + kAxis[axis] + ")";
  check_length("input length" + of, p.in[axis]);
  check_length("window" + of, p.window[axis]);
  check_length("stride" + of, p.stride[axis]);
  if (p.pad[axis] < 0 || p.pad[axis] >= p.window[axis]) {
    refuse("padding" + of, p.pad[axis],
           "0 or more and less than the window, " + std::to_string(p.window[axis]) +
               ", so that each window holds an element");
  }
  const std::int64_t padded = p.in[axis] + 2 * p.pad[axis];
  if (padded >= kMaxLength) refuse("input length + 2 * padding" + of, padded, "less than 2^31");
  if (padded < p.window[axis]) {
    throw InvalidArgument("pool: the output is empty" + of + ": input length " + std::to_string(p.in[axis]) +
                          " + 2 * padding " + std::to_string(p.pad[axis]) + " is less than the window, " +
                          std::to_string(p.window[axis]));
  }
  return (padded - p.window[axis]) / p.stride[axis] + 1;
}

void check_pitch(const PoolProblem& p) {
  if (p.x_pitch == 0) return;
  if (p.layout != Layout::channels_last) refuse("x_pitch", p.x_pitch, "0, since only channels_last has pixels");
  if (p.x_pitch < p.in[0] || p.x_pitch >= kMaxLength) {
    refuse("x_pitch", p.x_pitch, "0, or the channels, " + std::to_string(p.in[0]) + ", or more and less than 2^31");
  }
}

}  // namespace

std::int64_t pitch_of(const PoolProblem& p) {
  return p.x_pitch == 0 ? p.in[0] : p.x_pitch;
}

bool apart(const PoolProblem& p) {
  return p.layout == Layout::channels_last && pitch_of(p) != p.in[0];
}

std::int64_t volume(const Quad& q) {
  return element_count({q[0], q[1], q[2], q[3]});
}

Shape shape_of(const PoolProblem& p, const Quad& lengths, int spatial) {
  const Shape inner(lengths.end() - spatial, lengths.end());
  Shape out;
  switch (p.layout) {
    case Layout::channels_last: out = {p.n}; break;
    case Layout::batch_last: out = {lengths[0]}; break;
    case Layout::channels_first: out = {p.n, lengths[0]}; break;
  }
  out.insert(out.end(), inner.begin(), inner.end());
  if (p.layout == Layout::channels_last) out.push_back(lengths[0]);
  if (p.layout == Layout::batch_last) out.push_back(p.n);
  return out;
}

void check(const PoolProblem& p) {
  if (p.op > PoolOp::l2) refuse("op", static_cast<int>(p.op), "a PoolOp");
  if (p.layout > Layout::channels_first) refuse("layout", static_cast<int>(p.layout), "a Layout");
  if (p.dtype != Dtype::float32 && p.dtype != Dtype::float16 && p.dtype != Dtype::bfloat16) {
    throw TypeError("pool: dtype is " + std::string(name_of(p.dtype)) + "; needs float32, float16 or bfloat16");
  }
  const Quad out = p.out();
  check_pitch(p);
  if (positions(p) >= kMaxPositions) {
    refuse("window (feature maps * depth * height * width)", positions(p), "less than 2^24 positions");
  }
  // Neither may overflow.
  Quad in = p.in;
  if (apart(p)) in[0] = p.x_pitch;
  static_cast<void>(element_count(shape_of(p, in, 3)));
  static_cast<void>(element_count(shape_of(p, out, 3)));
}

}  // namespace pool_detail

std::array<std::int64_t, 4> PoolProblem::out() const {
  pool_detail::check_length("n (batch)", n);
  std::array<std::int64_t, 4> lengths{};
  for (std::size_t axis = 0; axis < 4; ++axis) lengths[axis] = pool_detail::check_axis(*this, axis);
  return lengths;
}

}  // namespace nervanagpu
