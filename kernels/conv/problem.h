// What a convolution may be, and the shapes of its tensors.
#pragma once

#include <array>
#include <cstdint>

#include "nervanagpu/conv.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu::conv_detail {

// Throws InvalidArgument or TypeError on anything that no pass, or not this one, can compute.
void check(ConvPass pass, const ConvProblem& p);

// The axes of a tensor whose spatial ones are the last `spatial` (1, 2 or 3) of depth, height and width.
Shape x_shape(const ConvProblem& p, int spatial);
Shape w_shape(const ConvProblem& p, int spatial);
Shape y_shape(const ConvProblem& p, int spatial);

// x, w and y of a pass: two are read, one is written.
enum class Role : std::uint8_t { x, w, y };
struct Roles {
  Role in1, in2, out;
};
Roles roles_of(ConvPass pass);
const char* name_of(ConvPass pass, Role role);  // "x", "dx", ...

// (first, depth, height, width, channels) of a tensor, whose first is images or filters, and its strides as it lies in
// memory. pitch: elements from pixel to pixel with channels last; 0: there are no others than the channels.
struct Strided {
  Shape shape, strides;
};
Shape shape_of(const ConvProblem& p, Role role);
Strided as_laid_out(Layout layout, const Shape& shape, std::int64_t pitch = 0);
Strided laid_out(const ConvProblem& p, Role role);

// Elements from pixel to pixel with channels last, and whether there are any between.
std::int64_t pitch_of(const ConvProblem& p, Role role);
bool apart(const ConvProblem& p, Role role);

// Of the axis that the layout has last.
std::int64_t last_length(const ConvProblem& p, Role role);
std::int64_t elements_of(const ConvProblem& p, Role role);
Dtype type_of(const ConvProblem& p, Role role);

// Of an element: bytes, and the bits of a float.
inline std::int64_t width_of(Dtype type) {
  return static_cast<std::int64_t>(size_of(type));
}
std::uint32_t bits_of(float v, Dtype type);

}  // namespace nervanagpu::conv_detail
