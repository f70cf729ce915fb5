// Little-endian numbers in byte buffers, whatever the host.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace nervanagpu::sass {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

// The caller has checked that at + sizeof(T) <= size.
template <class T>
constexpr T load_le(ByteView bytes, std::size_t at) {
  T v = 0;
  if constexpr (std::endian::native == std::endian::little) {
    if (!std::is_constant_evaluated()) {
      std::memcpy(&v, bytes.data() + at, sizeof v);
      return v;
    }
  }
  for (std::size_t i = 0; i < sizeof(T); ++i) v = static_cast<T>(v | static_cast<T>(bytes[at + i]) << (8 * i));
  return v;
}

template <class T>
constexpr void store_le(std::uint8_t* to, T v) {
  for (std::size_t i = 0; i < sizeof(T); ++i) to[i] = static_cast<std::uint8_t>(v >> (8 * i));
}

template <class T>
void append_le(Bytes& bytes, T v) {
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes.push_back(static_cast<std::uint8_t>(v >> (8 * i)));
}

inline void append(Bytes& bytes, ByteView more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}
inline void append(Bytes& bytes, std::string_view more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Zeros up to a multiple of `align`.
inline void pad_to(Bytes& bytes, std::size_t align) {
  if (align > 1) bytes.resize((bytes.size() + align - 1) / align * align);
}

}  // namespace nervanagpu::sass
