#include "python/torch_ops/windows.h"

#include <algorithm>

namespace nervanagpu::python::torch {
namespace {

constexpr std::int64_t kMost = (1LL << 31) - 1;  // no product of two overflows

}  // namespace

Triple unpacked(const char* name, std::int64_t axes, std::int64_t packed, std::int64_t least, std::int64_t missing) {
  constexpr int kBits = 21;
  Triple out{missing, missing, missing};
  auto rest = static_cast<std::uint64_t>(packed);
  for (std::size_t i = 3; i-- > 3 - static_cast<std::size_t>(axes); rest >>= kBits) {
    out[i] = static_cast<std::int64_t>(rest & ((1ULL << kBits) - 1));
    if (out[i] < least) {
      refuse(std::string(name) + " is " + std::to_string(out[i]) + "; needs " + std::to_string(least) + " or more");
    }
  }
  if (rest != 0) refuse(std::string(name) + " has more numbers than " + std::to_string(axes) + " axes");
  return out;
}

Triple lengths(const PerAxis& sizes) {
  Triple out{1, 1, 1};
  std::copy(sizes.begin() + 2, sizes.end(), out.end() - (sizes.end() - sizes.begin() - 2));
  for (const std::int64_t n : out) {
    if (n > kMost) refuse("a tensor " + shown(sizes) + "; needs lengths up to " + std::to_string(kMost));
  }
  return out;
}

std::int64_t spatial_axes(const char* name, const Array& x) {
  if (x.axes() < 3 || x.axes() > 5) {
    refuse(std::string(name) + " has " + std::to_string(x.axes()) + " axes; needs 3 to 5");
  }
  return x.axes() - 2;
}

bool any_channels_last(std::initializer_list<const Array*> operands) {
  return std::any_of(operands.begin(), operands.end(), [](const Array* t) { return t->channels_last(); });
}

Layout layout_of(bool channels_last) {
  return channels_last ? Layout::channels_last : Layout::channels_first;
}

Array empty_in(const Array& like, const PerAxis& sizes, bool channels_last) {
  return channels_last ? empty_channels_last(like, sizes) : empty(like, sizes);
}

const Array& laid(const Array& t, bool channels_last, Array& kept) {
  if (!channels_last) return contiguous(t, kept);
  if (t.lies_channels_last()) return t;
  kept = empty_channels_last(t, t.sizes());
  copy(kept, t);
  return kept;
}

Tensor arranged(const Array& t, bool channels_last, Array& kept) {
  const Array& there = laid(t, channels_last, kept);
  PerAxis sizes = t.sizes();
  if (channels_last) std::rotate(sizes.begin() + 1, sizes.begin() + 2, sizes.end());  // C goes to the end
  PerAxis strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return Call::ours(there, sizes, strides);
}

}  // namespace nervanagpu::python::torch
