// What the fuzz targets share. An input's first byte chooses the architecture; `check` is the property that a target
// proves, and ends the process where it does not hold, so that libFuzzer keeps the input.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "sass/isa/arch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed);
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace nervanagpu::sass::fuzz {

inline void check(bool holds, const char* what, const std::string& detail = {}) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s: %s\n", what, detail.c_str());
  std::abort();
}

// The architectures by weight: most bytes mean those that we have kernels for.
inline Arch arch_of(std::uint8_t byte) {
  if (byte % 2 == 0) return byte % 4 == 0 ? Arch::sm_90a : Arch::sm_52;
  const auto all = all_archs();
  return all[(byte / 2) % all.size()].arch;
}

using Random = std::minstd_rand;
inline std::size_t below(Random& random, std::size_t n) {
  return n == 0 ? 0 : random() % n;
}

// Replaces [at, at + length) of the input with `text`; the size is unchanged if there is no room.
inline std::size_t splice(std::uint8_t* data, std::size_t size, std::size_t max_size, std::size_t at,
                          std::size_t length, std::string_view text) {
  std::string s(data, data + size);
  s.replace(at, length, text);
  if (s.size() > max_size) return size;
  for (std::size_t i = 0; i < s.size(); ++i) data[i] = static_cast<std::uint8_t>(s[i]);
  return s.size();
}

// Puts a word of the language in place of a word of the input, or beside it.
inline std::size_t mutate_word(std::uint8_t* data, std::size_t size, std::size_t max_size, Random& random,
                               std::string_view word) {
  const auto is_word = [&](std::size_t i) {
    const int c = data[i];
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  if (size < 2) return splice(data, size, max_size, size, 0, word);
  std::size_t at = 1 + below(random, size - 1);
  if (below(random, 3) == 0) return splice(data, size, max_size, at, 0, word);
  std::size_t end = at;
  while (at > 1 && is_word(at - 1)) --at;
  while (end < size && is_word(end)) ++end;
  return splice(data, size, max_size, at, end - at, word);
}

}  // namespace nervanagpu::sass::fuzz
