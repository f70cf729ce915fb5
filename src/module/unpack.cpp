#include "src/module/unpack.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include "nervanagpu/error.hpp"

#ifdef NG_ZSTD
#include <zstd.h>
#endif

namespace nervanagpu {
namespace {

constexpr std::align_val_t kAlignment{64};

// A zstd frame begins with this number, little-endian; an ELF image with 0x7f 'E' 'L' 'F'.
bool is_packed(const EmbeddedCubin& cubin) {
  constexpr unsigned char kMagic[] = {0x28, 0xb5, 0x2f, 0xfd};
  return cubin.size >= sizeof kMagic && std::memcmp(cubin.begin, kMagic, sizeof kMagic) == 0;
}

[[noreturn]] void damaged(const EmbeddedCubin& cubin, const char* why) {
  throw Error("embedded cubin " + std::string(cubin.name) + ": cannot be decompressed: " + why);
}

}  // namespace

void Unpacker::Free::operator()(unsigned char* p) const {
  ::operator delete(p, kAlignment);
}

std::size_t image_size(const EmbeddedCubin& cubin) {
  if (!is_packed(cubin)) return cubin.size;
#ifdef NG_ZSTD
  // Each of our frames says its size; no cubin comes near this bound, which damage might ask to be allocated.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
  const unsigned long long bytes = ZSTD_getFrameContentSize(cubin.begin, cubin.size);
  return bytes <= kMost ? static_cast<std::size_t>(bytes) : 0;
#else
  return 0;
#endif
}

std::span<const unsigned char> Unpacker::operator()(const EmbeddedCubin& cubin) {
  if (!is_packed(cubin)) return {cubin.begin, cubin.size};
  const std::size_t bytes = image_size(cubin);
  if (bytes == 0) damaged(cubin, "its size is not to be found");
  if (bytes > capacity_) {
    buffer_.reset();
    capacity_ = 0;
    buffer_.reset(static_cast<unsigned char*>(::operator new(bytes, kAlignment)));
    capacity_ = bytes;
  }
#ifdef NG_ZSTD
  const std::size_t got = ZSTD_decompress(buffer_.get(), bytes, cubin.begin, cubin.size);
  if (ZSTD_isError(got) != 0) damaged(cubin, ZSTD_getErrorName(got));
  if (got != bytes) damaged(cubin, "it is shorter than it says");
#endif
  return {buffer_.get(), bytes};
}

}  // namespace nervanagpu
