// What a texture gives for coordinates, bit for bit what an H200 does: positions in 1/256 texels, weights of 8 bits, sums of
// aligned numbers. docs/textures.md has the rules.
#pragma once

#include <array>
#include <cstdint>

#include "sass/emulate/memory/arena.h"
#include "sass/emulate/memory/texture.h"

namespace nervanagpu::sass::emulate {

using Texel = std::array<std::uint32_t, 4>;  // bits of floats or integers; 0 where the image has no such channel

class TextureReader {
 public:
  TextureReader(const TextureObject& object, const Machine::Impl& memory) : object_(object), memory_(memory) {}

  // By coordinates x, y, z, of a cube a direction. false: the image's memory is not there.
  bool sample(const std::array<float, 3>& at, std::uint32_t layer, Texel& out) const;
  // By texel numbers; outside the image zeros, or with `clamp` the next texel.
  bool load(const std::array<std::int32_t, 3>& at, std::uint32_t layer, bool clamp, Texel& out) const;
  // One component of the four texels that a linear filter would take: (0,1), (1,1), (1,0), (0,0).
  bool gather(const std::array<float, 3>& at, unsigned component, Texel& out) const;

 private:
  struct Place;
  struct Corner;
  [[nodiscard]] Place place(const std::array<float, 3>& at, std::uint32_t layer, bool linear) const;
  bool corner(const Place& place, unsigned bits, Corner& out) const;
  bool filter(const Place& place, Texel& out) const;
  [[nodiscard]] std::uint64_t address_of(const std::array<std::int64_t, 3>& texel, std::uint64_t layer) const;
  bool raw(std::uint64_t address, Texel& out) const;  // channels as they lie in memory, integers extended
  [[nodiscard]] Texel border() const;
  void convert(Texel& texel) const;  // from raw to what a kernel sees

  const TextureObject& object_;
  const Machine::Impl& memory_;
};

}  // namespace nervanagpu::sass::emulate
