#include "kernels/conv/problem.h"

#include <bit>
#include <string>

#include "nervanagpu/error.hpp"
#include "src/numbers/half.h"
#include "src/tensor/shape.h"

namespace nervanagpu {
namespace conv_detail {
namespace {

constexpr std::int64_t kMaxLength = std::int64_t{1} << 31;
// Coordinates of A are sums of three such numbers, and have to stay clear of the kernel's mark for "outside", 2^30.
constexpr std::int64_t kMaxReach = std::int64_t{1} << 28;
// What no GPU addresses. Plans that cut an operand up stay small.
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 48;
constexpr std::array<const char*, 3> kAxis = {"depth", "height", "width"};

[[noreturn]] void refuse(const std::string& name, std::int64_t got, const std::string& needs) {
  throw InvalidArgument("conv: " + name + " is " + std::to_string(got) + "; needs " + needs);
}

void check_length(const std::string& name, std::int64_t v) {
  if (v < 1 || v >= kMaxLength) refuse(name, v, "1 or more and less than 2^31");
}

void check_pitch(const std::string& name, std::int64_t v, Layout layout, std::int64_t channels) {
  if (v == 0) return;
  if (layout != Layout::channels_last) refuse(name, v, "0, since only channels_last has pixels");
  if (v < channels || v >= kMaxLength) {
    refuse(name, v, "0, or the channels, " + std::to_string(channels) + ", or more and less than 2^31");
  }
}

void check_channels(const ConvProblem& p) {
  check_length("n (batch)", p.n);
  check_length("c (channels of x)", p.c);
  check_length("k (channels of y)", p.k);
  check_length("groups", p.groups);
  if (p.c % p.groups != 0) refuse("groups", p.groups, "a divisor of c (channels of x), " + std::to_string(p.c));
  if (p.k % p.groups != 0) refuse("groups", p.groups, "a divisor of k (channels of y), " + std::to_string(p.k));
  check_pitch("x_pitch", p.x_pitch, p.layout, p.c);
  check_pitch("y_pitch", p.y_pitch, p.layout, p.k);
}

// A spatial axis alone; its output length.
std::int64_t check_axis(const ConvProblem& p, std::size_t axis) {
  const std::string of = std::string(" (") + kAxis[axis] + ")";
  check_length("input length" + of, p.in[axis]);
  check_length("filter length" + of, p.filter[axis]);
  const auto check_step = [&](const char* name, std::int64_t v, std::int64_t least) {
    if (v < least || v >= kMaxReach) refuse(name + of, v, std::to_string(least) + " or more and less than 2^28");
  };
  check_step("pad", p.pad[axis], 0);
  check_step("stride", p.stride[axis], 1);
  check_step("dilation", p.dilation[axis], 1);
  const std::int64_t reach = p.dilation[axis] * (p.filter[axis] - 1);
  if (reach >= kMaxReach) {
    refuse("dilation * (filter length - 1)" + of, reach, "less than 2^28");
  }
  const std::int64_t span = p.in[axis] + 2 * p.pad[axis] - reach - 1;
  if (span < 0) {
    throw InvalidArgument("conv: the output is empty" + of + ": input length " + std::to_string(p.in[axis]) +
                          " + 2 * pad " + std::to_string(p.pad[axis]) + " is less than the filter's reach " +
                          std::to_string(reach + 1));
  }
  return span / p.stride[axis] + 1;
}

// A filter's K takes the place of the batch in every layout: (K, .., C), (C, .., K), (K, C, ..).
Shape arranged(Layout layout, std::int64_t first, std::int64_t channels, const std::array<std::int64_t, 3>& spatial,
               int axes) {
  const Shape inner(spatial.end() - axes, spatial.end());
  Shape out;
  switch (layout) {
    case Layout::channels_last: out = {first}; break;
    case Layout::batch_last: out = {channels}; break;
    case Layout::channels_first: out = {first, channels}; break;
  }
  out.insert(out.end(), inner.begin(), inner.end());
  if (layout == Layout::channels_last) out.push_back(channels);
  if (layout == Layout::batch_last) out.push_back(first);
  return out;
}

bool is_float(Dtype t) {
  return t == Dtype::float32 || t == Dtype::float16 || t == Dtype::bfloat16;
}

void check_types(ConvPass pass, const ConvProblem& p) {
  const bool bytes = p.x_type == Dtype::int8 || p.x_type == Dtype::uint8;
  const bool floats = is_float(p.w_type) && p.w_type == p.y_type;
  if (floats && p.x_type == p.w_type) return;
  if (floats && bytes && pass != ConvPass::bprop) return;
  const bool of_bytes = p.y_type == Dtype::int32 || p.y_type == Dtype::float32 || p.y_type == Dtype::int8;
  if (bytes && p.w_type == Dtype::int8 && of_bytes && pass == ConvPass::fprop) return;
  const auto name = [](Dtype t) { return std::string(nervanagpu::name_of(t)); };
  const std::string bad = "conv: " + std::string(name_of(pass, Role::x)) + " is " + name(p.x_type) + ", " +
                          name_of(pass, Role::w) + " " + name(p.w_type) + ", " + name_of(pass, Role::y) + " " +
                          name(p.y_type) + "; needs float32, float16 or bfloat16, the same for all";
  switch (pass) {
    case ConvPass::fprop:
      throw TypeError(bad +
                      ", or x int8 or uint8 with w and y of one float type, or x int8 or uint8 with w int8 and y "
                      "int32, float32 or int8");
    case ConvPass::bprop: throw TypeError(bad);
    case ConvPass::update: throw TypeError(bad + ", or x int8 or uint8 with dw and dy of one float type");
  }
}

}  // namespace

void check(ConvPass pass, const ConvProblem& p) {
  if (pass > ConvPass::update) refuse("pass", static_cast<int>(pass), "a ConvPass");
  if (p.layout > Layout::channels_first) refuse("layout", static_cast<int>(p.layout), "a Layout");
  static_cast<void>(p.out());
  check_types(pass, p);
  // Nothing below may overflow.
  for (const Role role : {Role::x, Role::w, Role::y}) {
    Shape wide = shape_of(p, role);
    static_cast<void>(elements_of(p, role));
    wide.back() = pitch_of(p, role);
    const auto bytes = static_cast<std::int64_t>(byte_count(wide, type_of(p, role)));
    if (bytes >= kMaxBytes) {
      throw InvalidArgument(std::string("conv: ") + name_of(pass, role) + " has " + std::to_string(bytes) +
                            " bytes; needs less than 2^48");
    }
  }
}

Shape x_shape(const ConvProblem& p, int spatial) {
  return arranged(p.layout, p.n, p.c, p.in, spatial);
}

Shape w_shape(const ConvProblem& p, int spatial) {
  return arranged(p.layout, p.k, p.c / p.groups, p.filter, spatial);
}

Shape y_shape(const ConvProblem& p, int spatial) {
  return arranged(p.layout, p.n, p.k, p.out(), spatial);
}

Roles roles_of(ConvPass pass) {
  switch (pass) {
    case ConvPass::fprop: return {Role::x, Role::w, Role::y};
    case ConvPass::bprop: return {Role::y, Role::w, Role::x};
    case ConvPass::update: break;
  }
  return {Role::y, Role::x, Role::w};
}

const char* name_of(ConvPass pass, Role role) {
  switch (role) {
    case Role::x: return pass == ConvPass::bprop ? "dx" : "x";
    case Role::w: return pass == ConvPass::update ? "dw" : "w";
    case Role::y: break;
  }
  return pass == ConvPass::fprop ? "y" : "dy";
}

Shape shape_of(const ConvProblem& p, Role role) {
  ConvProblem last = p;
  last.layout = Layout::channels_last;
  return role == Role::x ? x_shape(last, 3) : role == Role::w ? w_shape(last, 3) : y_shape(last, 3);
}

Strided as_laid_out(Layout layout, const Shape& s, std::int64_t pitch) {
  const std::int64_t places = s[1] * s[2] * s[3];
  switch (layout) {
    case Layout::batch_last: return {s, {1, s[2] * s[3] * s[0], s[3] * s[0], s[0], places * s[0]}};
    case Layout::channels_first: return {s, {places * s[4], s[2] * s[3], s[3], 1, places}};
    case Layout::channels_last: break;
  }
  if (pitch == 0) pitch = s[4];
  return {s, {places * pitch, s[2] * s[3] * pitch, s[3] * pitch, pitch, 1}};
}

Strided laid_out(const ConvProblem& p, Role role) {
  return as_laid_out(p.layout, shape_of(p, role), pitch_of(p, role));
}

std::int64_t pitch_of(const ConvProblem& p, Role role) {
  const std::int64_t given = role == Role::x ? p.x_pitch : role == Role::y ? p.y_pitch : 0;
  return given != 0 ? given : shape_of(p, role)[4];
}

bool apart(const ConvProblem& p, Role role) {
  return pitch_of(p, role) != shape_of(p, role)[4];
}

std::int64_t last_length(const ConvProblem& p, Role role) {
  const Shape s = shape_of(p, role);  // first, depth, height, width, channels
  return p.layout == Layout::channels_last ? s[4] : p.layout == Layout::batch_last ? s[0] : s[3];
}

std::int64_t elements_of(const ConvProblem& p, Role role) {
  switch (role) {
    case Role::x: return p.x_elements();
    case Role::w: return p.w_elements();
    case Role::y: break;
  }
  return p.y_elements();
}

Dtype type_of(const ConvProblem& p, Role role) {
  return role == Role::x ? p.x_type : role == Role::w ? p.w_type : p.y_type;
}

std::uint32_t bits_of(float v, Dtype type) {
  return type == Dtype::float16    ? half_bits(v)
         : type == Dtype::bfloat16 ? bfloat_bits(v)
                                   : std::bit_cast<std::uint32_t>(v);
}

}  // namespace conv_detail

Layout layout_from_name(const std::string& name) {
  for (const char* last : {"NHWC", "NDHWC", "NWC"}) {
    if (name == last) return Layout::channels_last;
  }
  for (const char* batch : {"CHWN", "CDHWN", "CWN"}) {
    if (name == batch) return Layout::batch_last;
  }
  for (const char* first : {"NCHW", "NCDHW", "NCW"}) {
    if (name == first) return Layout::channels_first;
  }
  throw InvalidArgument("layout is \"" + name + "\"; needs NWC, NHWC, NDHWC, CWN, CHWN, CDHWN, NCW, NCHW or NCDHW");
}

std::array<std::int64_t, 3> ConvProblem::out() const {
  conv_detail::check_channels(*this);
  std::array<std::int64_t, 3> lengths{};
  for (std::size_t axis = 0; axis < 3; ++axis) lengths[axis] = conv_detail::check_axis(*this, axis);
  return lengths;
}

std::int64_t ConvProblem::x_elements() const {
  static_cast<void>(out());
  return element_count(conv_detail::x_shape(*this, 3));
}

std::int64_t ConvProblem::w_elements() const {
  static_cast<void>(out());
  return element_count(conv_detail::w_shape(*this, 3));
}

std::int64_t ConvProblem::y_elements() const {
  return element_count(conv_detail::y_shape(*this, 3));
}

double ConvProblem::flops() const {
  const auto taps = static_cast<double>(filter[0]) * static_cast<double>(filter[1]) * static_cast<double>(filter[2]);
  const std::int64_t channels = c / groups;
  return 2.0 * static_cast<double>(y_elements()) * taps * static_cast<double>(channels);
}

}  // namespace nervanagpu
