// Where the programs of test/data/cudac run: on the emulator, or on the GPU that is there (NERVANAGPU_DEVICE=cuda).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nervanagpu/tensor_map.hpp"
#include "sass/emulate/emulate.h"

namespace nervanagpu::test {

class Chip {
 public:
  struct Launch {
    std::string kernel;
    std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
    unsigned dynamic_shared = 0;
    std::vector<std::byte> params;
  };

  Chip() = default;
  virtual ~Chip() = default;
  Chip(const Chip&) = delete;
  Chip& operator=(const Chip&) = delete;

  virtual std::string load(const std::vector<std::uint8_t>& cubin) = 0;  // "" or what went wrong
  virtual std::uint64_t allocate(std::size_t bytes) = 0;
  virtual void upload(std::uint64_t to, const void* from, std::size_t bytes) = 0;
  virtual void download(void* to, std::uint64_t from, std::size_t bytes) = 0;
  // A tensor map as the chip wants it; throws Error for one that cannot be.
  virtual EncodedTensorMap encode(const TensorMap& map) = 0;
  virtual std::string launch(const Launch& launch) = 0;  // "" or what went wrong, findings included
};

bool on_gpu();
std::unique_ptr<Chip> make_emulator(sass::emulate::Mode mode);
std::unique_ptr<Chip> make_gpu();  // null: there is none

}  // namespace nervanagpu::test
