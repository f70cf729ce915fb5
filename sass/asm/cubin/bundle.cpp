#include "sass/asm/cubin/bundle.h"

#include "sass/bytes.h"
#include "sass/isa/control.h"

namespace nervanagpu::sass {
namespace {

constexpr unsigned kControlAt = 105;
constexpr unsigned kControlWidth = 21;

Result<Bytes> pack_bundles(std::span<const Word> code) {
  if (code.size() % kBundleInsts != 0) {
    return error("code of " + std::to_string(code.size()) + " instructions does not fill bundles of three");
  }
  Bytes out(code.size() / kBundleInsts * kBundleBytes);
  for (std::size_t i = 0; i < code.size(); ++i) {
    if ((code[i].hi & ~kControlBits.hi) != 0) {
      return error("instruction " + std::to_string(i) + " has bits above its 64 that are not control bits");
    }
    std::uint8_t* bundle = out.data() + i / kBundleInsts * kBundleBytes;
    const unsigned shift = static_cast<unsigned>(i % kBundleInsts) * kControlWidth;
    const std::uint64_t control = load_le<std::uint64_t>({bundle, 8}, 0) | get_bits(code[i], kControlAt, kControlWidth)
                                                                               << shift;
    store_le(bundle, control);
    store_le(bundle + 8 + i % kBundleInsts * 8, code[i].lo);
  }
  return out;
}

Result<std::vector<Word>> unpack_bundles(ByteView bytes) {
  if (bytes.size() % kBundleBytes != 0) {
    return error("code of " + std::to_string(bytes.size()) + " bytes is not whole 32-byte bundles");
  }
  std::vector<Word> code;
  code.reserve(bytes.size() / kBundleBytes * kBundleInsts);
  for (std::size_t at = 0; at < bytes.size(); at += kBundleBytes) {
    const auto control = load_le<std::uint64_t>(bytes, at);
    if (control >> 63 != 0) return error("control word at byte " + std::to_string(at) + " of the code has bit 63 set");
    for (std::size_t i = 0; i < kBundleInsts; ++i) {
      const Word inst{load_le<std::uint64_t>(bytes, at + 8 + i * 8), 0};
      code.push_back(set_bits(inst, kControlAt, kControlWidth, control >> (i * kControlWidth)));
    }
  }
  return code;
}

}  // namespace

Result<Bytes> pack_code(Encoding encoding, std::span<const Word> code) {
  if (encoding == Encoding::k64) return pack_bundles(code);
  Bytes out(code.size() * 16);
  for (std::size_t i = 0; i < code.size(); ++i) {
    store_le(out.data() + i * 16, code[i].lo);
    store_le(out.data() + i * 16 + 8, code[i].hi);
  }
  return out;
}

Result<std::vector<Word>> unpack_code(Encoding encoding, ByteView bytes) {
  if (encoding == Encoding::k64) return unpack_bundles(bytes);
  if (bytes.size() % 16 != 0) {
    return error("code of " + std::to_string(bytes.size()) + " bytes is not whole 16-byte instructions");
  }
  std::vector<Word> code(bytes.size() / 16);
  for (std::size_t i = 0; i < code.size(); ++i) {
    code[i] = {load_le<std::uint64_t>(bytes, i * 16), load_le<std::uint64_t>(bytes, i * 16 + 8)};
  }
  return code;
}

}  // namespace nervanagpu::sass
