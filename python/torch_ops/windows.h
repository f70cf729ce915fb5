// What convolution and pooling share: axes (N, C, ...) of one to three lengths, and how torch lays them.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include "python/torch_ops/array.h"

namespace nervanagpu::python::torch {

using Triple = std::array<std::int64_t, 3>;  // depth, height, width

// `axes` numbers of 21 bits each in one, the last in the lowest bits; what is not there becomes `missing`. Throws unless each is
// `least` or more.
Triple unpacked(const char* name, std::int64_t axes, std::int64_t packed, std::int64_t least, std::int64_t missing);
// Spatial lengths after (N, C), 1 in front of them.
Triple lengths(const PerAxis& sizes);
// Throws unless x has 3 to 5 axes; how many of them are spatial.
std::int64_t spatial_axes(const char* name, const Array& x);

// Whether results lie channels last, as torch decides it: when one operand does.
bool any_channels_last(std::initializer_list<const Array*> operands);
Layout layout_of(bool channels_last);
// A new tensor (N, C, ...) that lies so.
Array empty_in(const Array& like, const PerAxis& sizes, bool channels_last);
// `t` (N, C, ...) if it lies so, or else a copy, in `kept`.
const Array& laid(const Array& t, bool channels_last, Array& kept);
// The same as the layout has it.
Tensor arranged(const Array& t, bool channels_last, Array& kept);

}  // namespace nervanagpu::python::torch
