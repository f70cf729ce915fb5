// Bytes as a file of named arrays. What is read lies in the file, and is as large as its shape says.
#include "layers/safetensors.h"

#include <cstring>

#include "nervanagpu/error.hpp"
#include "test/fuzz/fuzz.h"

using namespace nervanagpu;
using namespace nervanagpu::sass::fuzz;

namespace {

// The header begins here; its length stands before it.
constexpr std::size_t kHeader = 8;

// Most mutations leave the header as long as the length says: else every one would be refused for that.
void mend_length(std::uint8_t* data, std::size_t size, std::ptrdiff_t grown) {
  std::uint64_t length = 0;
  std::memcpy(&length, data, sizeof length);
  length += static_cast<std::uint64_t>(grown);
  if (length <= size - kHeader) std::memcpy(data, &length, sizeof length);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  static constexpr std::array kWords = {"{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        "\"",
                                        "0",
                                        "1",
                                        "4",
                                        "8",
                                        "-1",
                                        "2.5",
                                        "1e3",
                                        "F16",
                                        "BF16",
                                        "F32",
                                        "I64",
                                        "{}",
                                        "[0,8]",
                                        "[0,0]",
                                        "[1152921504606846976]",
                                        "9223372036854775807",
                                        "\"dtype\"",
                                        "\"shape\"",
                                        "\"data_offsets\"",
                                        "\"__metadata__\":{\"a\":\"b\"},",
                                        "\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}"};
  Random random(seed + 1);
  if (size < kHeader || below(random, 4) == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::size_t at = kHeader + below(random, size - kHeader + 1);
  const std::size_t gone = below(random, 2) == 0 ? 0 : std::min(size - at, below(random, 6));
  const std::size_t now = splice(data, size, max_size, at, gone, kWords[below(random, kWords.size())]);
  mend_length(data, now, static_cast<std::ptrdiff_t>(now) - static_cast<std::ptrdiff_t>(size));
  return now;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(data, data + size);
  try {
    const layers::SavedFile file = layers::parse_safetensors("fuzz", bytes);
    for (const layers::SavedArray& a : file.arrays) {
      std::size_t expected = size_of(a.dtype);
      for (const std::int64_t n : a.shape) {
        check(n >= 0, "a negative length", a.name);
        expected *= static_cast<std::size_t>(n);
      }
      check(a.bytes.size() == expected && expected <= size, "bytes that are not the array's", a.name);
      check(file.find(a.name) != nullptr, "an array that is not found", a.name);
    }
  } catch (const Error& e) {
    check(*e.what() != '\0', "an error without a message");
  }
  return 0;
}
