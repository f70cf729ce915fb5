// Runs a case of tools/tensor_probe on the emulator's model.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sass/emulate/tensor/tensor.h"
#include "tools/tensor_probe/cases.h"

namespace nervanagpu::sass::emulate::tensor {

namespace probe = nervanagpu::tensor_probe;

inline constexpr std::array<Type, 5> kTypes = {Type::kF16, Type::kBf16, Type::kTf32, Type::kE4m3, Type::kE5m2};
inline Type type_of(probe::Format f) {
  return kTypes[static_cast<unsigned>(f)];  // in the same order
}

// What an H200 computed: of each case the hashes of the first four chunks, then that of all.
std::map<std::string, std::vector<std::uint64_t>> chip_digests();

// Hash of the results of one chunk.
std::uint64_t chunk_digest(const probe::Case& c, std::uint64_t seed, unsigned chunk, Multiply multiply);

}  // namespace nervanagpu::sass::emulate::tensor
