// Text as autotune's file. What is read comes back when it is written.
#include "kernels/gemm/choose/choices.h"

#include "nervanagpu/version.hpp"
#include "test/fuzz/fuzz.h"

using namespace nervanagpu;
using namespace nervanagpu::sass::fuzz;

// The file's head names the library's version, which the library is not here to tell.
const char* nervanagpu::version() noexcept {
  return "0";
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  static constexpr std::array kWords = {"{",
                                        "}",
                                        ",",
                                        ":",
                                        "\"",
                                        "\\",
                                        "\n",
                                        "\"a\": \"b\"",
                                        "\"a\": \"b\",",
                                        "\x7f",
                                        "~",
                                        "float32 float32 float32 nt 128 4096",
                                        "sgemm_ring_nt_44_64x64",
                                        "{}",
                                        "1"};
  Random random(seed + 1);
  if (below(random, 2) == 0) return LLVMFuzzerMutate(data, size, max_size);
  return splice(data, size, max_size, below(random, size + 1), 0, kWords[below(random, kWords.size())]);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto strings = sgemm::read_strings(text);
  if (!strings) return 0;
  const std::string written = sgemm::text_of(*strings);
  const auto again = sgemm::read_strings(written);
  check(again.has_value() && *again == *strings, "other choices come back", written);
  for (const auto& [name, value] : *strings) {
    for (const char c : name + value) check(c >= ' ' && c <= '~', "a letter that no name has", name);
  }
  return 0;
}
