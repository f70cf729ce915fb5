#include "sass/emulate/texture/texture_read.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "sass/emulate/texture/texture_filter.h"
#include "sass/half.h"

namespace nervanagpu::sass::emulate {
namespace {

constexpr double kFar = 1073741824.0;  // texels; no image reaches so far

// A texel's number along an axis, and how far the position is past its middle.
struct Axis1 {
  std::int64_t texel = 0;
  std::uint32_t fraction = 0;  // 1/256
};

// A coordinate as a position in texels. Normalized ones have 21 bits after the point.
double position(float coordinate, std::uint32_t size, bool normalized) {
  if (std::isnan(coordinate)) return 0;
  double x = std::clamp(static_cast<double>(coordinate), -kFar, kFar);
  if (normalized) x = std::floor(x * 0x1p21) * 0x1p-21 * size;
  return x;
}

Axis1 split(double x, bool linear) {
  if (!linear) return {static_cast<std::int64_t>(std::floor(x)), 0};
  const auto fixed = static_cast<std::int64_t>(std::floor((x - 0.5) * 256 + 0.5));
  return {fixed >> 8, static_cast<std::uint32_t>(fixed & 255)};
}

std::int64_t modulo(std::int64_t i, std::int64_t n) {
  const std::int64_t r = i % n;
  return r < 0 ? r + n : r;
}

// The texel that stands at `i`; false: the border does.
bool wrapped(TextureAddress mode, std::int64_t size, std::int64_t& i) {
  switch (mode) {
    case TextureAddress::kWrap: i = modulo(i, size); return true;
    case TextureAddress::kMirror:
      i = modulo(i, 2 * size);
      if (i >= size) i = 2 * size - 1 - i;
      return true;
    case TextureAddress::kClamp: i = std::clamp<std::int64_t>(i, 0, size - 1); return true;
    case TextureAddress::kBorder: return i >= 0 && i < size;
  }
  return false;
}

// The face that a direction points to, and where on it, from 0 to 1. Of equal components z goes first, then y.
std::uint32_t face_of(const std::array<float, 3>& d, std::array<double, 2>& at) {
  const double x = d[0], y = d[1], z = d[2];
  const double most = std::max({std::abs(x), std::abs(y), std::abs(z)});
  const unsigned axis = std::abs(z) == most ? 2 : std::abs(y) == most ? 1 : 0;
  const bool negative = std::signbit(d[axis]);
  const std::array<double, 2> on = axis == 0   ? std::array{negative ? z : -z, -y}
                                   : axis == 1 ? std::array{x, negative ? -z : z}
                                               : std::array{negative ? -x : x, -y};
  for (unsigned i = 0; i < 2; ++i) at[i] = most > 0 ? (on[i] / most + 1) / 2 : 0.5;
  return 2 * axis + (negative ? 1 : 0);
}

// float16 to float32; NaNs keep their bits.
std::uint32_t widened(std::uint32_t half) {
  if ((half & 0x7c00) == 0x7c00) return (half & 0x8000) << 16 | 0x7f800000 | (half & 0x3ff) << 13;
  return std::bit_cast<std::uint32_t>(from_half(static_cast<std::uint16_t>(half)));
}

bool is_cube(ImageKind kind) {
  return kind == ImageKind::kCube || kind == ImageKind::kCubeArray;
}

float one_of(TexelType type) {
  constexpr std::array<float, 8> kOnes = {255, 65535, 1, 127, 32767, 1, 1, 1};
  return kOnes[static_cast<std::size_t>(type)];
}
bool is_signed(TexelType type) {
  return type >= TexelType::kS8 && type <= TexelType::kS32;
}
// The lowest `bits` bits as a signed number.
std::uint32_t extended(std::uint32_t v, unsigned bits) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(v << (32 - bits)) >> (32 - bits));
}

}  // namespace

struct TextureReader::Place {
  std::array<std::int64_t, 3> texel{};
  std::array<std::uint32_t, 3> fraction{};
  std::array<TextureAddress, 3> address{};
  std::uint64_t layer = 0;
  unsigned dimensions = 2;
};

struct TextureReader::Corner {
  bool inside = true;
  Texel raw{};
};

TextureReader::Place TextureReader::place(const std::array<float, 3>& at, std::uint32_t layer, bool linear) const {
  const Image& image = object_.image;
  const Sampler& sampler = object_.sampler;
  const std::array<std::uint32_t, 3> size = {image.width, image.height, image.depth};
  Place p;
  // A line is a plane of one row, in which the instruction names a place, too.
  p.dimensions = image.kind == ImageKind::k1D ? 2 : dimensions(image.kind);
  p.address = sampler.address;
  std::array<float, 3> c = at;
  if (is_cube(image.kind)) {
    std::array<double, 2> on{};
    const std::uint32_t face = face_of(at, on);
    for (unsigned i = 0; i < 2; ++i) {
      const Axis1 a = split(std::floor(on[i] * 0x1p21) * 0x1p-21 * size[i], linear);
      p.texel[i] = a.texel;
      p.fraction[i] = a.fraction;
    }
    p.layer = std::uint64_t{std::min(layer, image.layers / 6 - 1)} * 6 + face;
  } else {
    for (unsigned i = 0; i < p.dimensions; ++i) {
      const Axis1 a = split(position(c[i], size[i], sampler.normalized), linear);
      p.texel[i] = a.texel;
      p.fraction[i] = a.fraction;
    }
    p.layer = std::min(layer, image.layers - 1);
  }
  for (unsigned i = 0; i < p.dimensions; ++i) {
    const bool repeats = p.address[i] == TextureAddress::kWrap || p.address[i] == TextureAddress::kMirror;
    if (repeats && !sampler.normalized) p.address[i] = TextureAddress::kClamp;
    if (p.address[i] != TextureAddress::kClamp) continue;
    // At the edge both corners are one, and all weight goes to the first.
    if (p.texel[i] < 0 || p.texel[i] >= std::int64_t{size[i]} - 1) p.fraction[i] = 0;
  }
  return p;
}

std::uint64_t TextureReader::address_of(const std::array<std::int64_t, 3>& texel, std::uint64_t layer) const {
  const Image& image = object_.image;
  const std::uint64_t slice = layer * image.depth + static_cast<std::uint64_t>(texel[2]);
  const std::uint64_t row = slice * image.height + static_cast<std::uint64_t>(texel[1]);
  return image.address + row * image.row_bytes() + static_cast<std::uint64_t>(texel[0]) * image.texel_bytes();
}

bool TextureReader::raw(std::uint64_t address, Texel& out) const {
  const Image& image = object_.image;
  const unsigned bytes = bytes_of(image.type);
  out.fill(0);
  for (unsigned i = 0; i < image.channels; ++i) {
    const std::byte* p = memory_.touch(address + std::uint64_t{i} * bytes, bytes);
    if (p == nullptr) return false;
    std::memcpy(&out[i], p, bytes);
    if (is_signed(image.type)) out[i] = extended(out[i], 8 * bytes);
  }
  return true;
}

// The colour as a texel would hold it.
Texel TextureReader::border() const {
  const Image& image = object_.image;
  const TexelType type = image.type;
  Texel out{};
  for (unsigned i = 0; i < image.channels; ++i) {
    const float colour = object_.sampler.border[i];
    const auto bits = std::bit_cast<std::uint32_t>(colour);
    const unsigned width = 8 * bytes_of(type);
    if (type == TexelType::kF16) {
      out[i] = to_half(colour, kZeroward);
    } else if (width == 32) {
      out[i] = bits;
    } else if (object_.sampler.raw) {
      out[i] = is_signed(type) ? extended(bits, width) : bits & ((1u << width) - 1);
    } else {
      const float least = is_signed(type) ? -1.0F : 0.0F;
      const float clamped = std::isnan(colour) ? 0.0F : std::clamp(colour, least, 1.0F);
      out[i] = static_cast<std::uint32_t>(static_cast<std::int32_t>(std::nearbyint(clamped * one_of(type))));
    }
  }
  return out;
}

void TextureReader::convert(Texel& texel) const {
  const TexelType type = object_.image.type;
  for (unsigned i = 0; i < object_.image.channels; ++i) {
    if (type == TexelType::kF16) {
      texel[i] = widened(texel[i]);
    } else if (bytes_of(type) < 4 && !object_.sampler.raw) {
      const float one = one_of(type);
      const float value = is_signed(type) ? std::max(static_cast<float>(static_cast<std::int32_t>(texel[i])), -one)
                                          : static_cast<float>(texel[i]);
      texel[i] = std::bit_cast<std::uint32_t>(value / one);
    }
  }
}

bool TextureReader::corner(const Place& place, unsigned bits, Corner& out) const {
  const Image& image = object_.image;
  const std::array<std::uint32_t, 3> size = {image.width, image.height, image.depth};
  std::array<std::int64_t, 3> texel{};
  out.inside = true;
  for (unsigned i = 0; i < place.dimensions; ++i) {
    texel[i] = place.texel[i] + (bits >> i & 1);
    out.inside = wrapped(place.address[i], size[i], texel[i]) && out.inside;
  }
  if (out.inside) return raw(address_of(texel, place.layer), out.raw);
  out.raw = border();
  return true;
}

bool TextureReader::filter(const Place& place, Texel& out) const {
  const TexelType type = object_.image.type;
  const unsigned corners = 1u << place.dimensions;
  const auto weights = filter_weights(std::span(place.fraction).first(place.dimensions));
  std::array<Corner, 8> at{};
  std::uint32_t touched = 0;  // corners that the position reaches at all
  for (unsigned i = 0; i < corners; ++i) {
    if (!corner(place, i, at[i])) return false;
    bool reached = true;
    for (unsigned d = 0; d < place.dimensions; ++d) reached = reached && ((i >> d & 1) == 0 || place.fraction[d] != 0);
    touched |= reached ? 1u << i : 0u;
  }
  out.fill(0);
  const std::span<const std::uint32_t> w(weights.data(), corners);
  for (unsigned c = 0; c < object_.image.channels; ++c) {
    float value = 0;
    if (is_float(type)) {
      std::array<float, 8> values{};
      for (unsigned i = 0; i < corners; ++i) {
        const std::uint32_t bits = at[i].raw[c];
        values[i] = type == TexelType::kF16 ? from_half(static_cast<std::uint16_t>(bits)) : std::bit_cast<float>(bits);
      }
      value = filter_floats(w, std::span(values).first(corners), touched,
                            type == TexelType::kF16 ? kFilterF16 : kFilterF32);
    } else {
      std::array<std::int32_t, 8> values{};
      for (unsigned i = 0; i < corners; ++i) {
        values[i] = static_cast<std::int32_t>(at[i].raw[c]);
        if (type == TexelType::kU8) values[i] *= 257;
      }
      const bool sign = is_signed(type);
      const std::int32_t sum = filter_integers(w, std::span(values).first(corners), sign, type == TexelType::kS8);
      value = static_cast<float>(sum) / (sign ? 32767.0F : 65535.0F);
    }
    out[c] = std::bit_cast<std::uint32_t>(value);
  }
  return true;
}

bool TextureReader::sample(const std::array<float, 3>& at, std::uint32_t layer, Texel& out) const {
  const Place p = place(at, layer, object_.sampler.linear);
  if (object_.sampler.linear) return filter(p, out);
  Corner c;
  if (!corner(p, 0, c)) return false;
  out = c.raw;
  convert(out);
  return true;
}

bool TextureReader::load(const std::array<std::int32_t, 3>& at, std::uint32_t layer, bool clamp, Texel& out) const {
  const Image& image = object_.image;
  const std::array<std::uint32_t, 3> size = {image.width, image.height, image.depth};
  std::array<std::int64_t, 3> texel{};
  bool inside = layer < image.layers;
  for (unsigned i = 0; i < dimensions(image.kind); ++i) {
    texel[i] = at[i];
    if (clamp) texel[i] = std::clamp<std::int64_t>(texel[i], 0, size[i] - 1);
    inside = inside && texel[i] >= 0 && texel[i] < std::int64_t{size[i]};
  }
  out.fill(0);
  if (!inside) return true;
  if (!raw(address_of(texel, layer), out)) return false;
  convert(out);
  return true;
}

bool TextureReader::gather(const std::array<float, 3>& at, unsigned component, Texel& out) const {
  const Place p = place(at, 0, true);
  constexpr std::array<std::uint8_t, 4> kOrder = {2, 3, 1, 0};  // bit 0: x, bit 1: y
  for (unsigned i = 0; i < 4; ++i) {
    Corner c;
    if (!corner(p, kOrder[i], c)) return false;
    convert(c.raw);
    out[i] = c.raw[component];
  }
  return true;
}

}  // namespace nervanagpu::sass::emulate
