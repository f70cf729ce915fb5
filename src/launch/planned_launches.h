// The work that a call queues, planned: recorded once, queued again with operands at other addresses.
//
// The call is recorded twice, with operands at addresses where nothing lies. Words of 64 bits that differ by as much as an
// operand was moved are that operand's address and a constant; a tensor map follows its tensor. Anything else must be the same
// in both, and the second addresses have other bits after the planned alignment: so what depends on more than the alignment
// is found when it is planned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "nervanagpu/error.hpp"
#include "src/device/device.h"
#include "src/launch/launch_tape.h"
#include "src/launch/map_cache.h"

namespace nervanagpu {

// What is launched depends on more than the alignment of its operands.
class CannotBePlanned : public Error {
 public:
  using Error::Error;
};

class PlannedLaunches {
 public:
  // Queues the work in the default stream, with an address for each operand. It must allocate nothing.
  using Call = std::function<void(std::span<const std::uint64_t>)>;

  // alignments: bytes of each operand's address, a power of 2 of at most 16; 1 also for numbers that are added to, such as
  // counters of random numbers. Throws what `call` does; CannotBePlanned.
  PlannedLaunches(Device& device, std::span<const std::uint64_t> alignments, const Call& call);

  // Operands are aligned as planned, or better; what is not used is not looked at. Thread-safe.
  void launch(std::span<const std::uint64_t> operands, StreamId stream) const;

  [[nodiscard]] bool uses(std::size_t operand) const { return used_[operand]; }
  [[nodiscard]] std::vector<std::string> kernels() const;  // in order; fills and copies are none

 private:
  struct Place {  // `plus` after an operand
    std::size_t operand = kFixed;
    std::uint64_t plus = 0;
    [[nodiscard]] std::uint64_t at(std::span<const std::uint64_t> operands) const {
      return operand == kFixed ? plus : operands[operand] + plus;
    }
  };
  static constexpr std::size_t kFixed = ~std::size_t{0};
  struct Word {
    std::uint32_t offset = 0;  // in the block
    Place place;
  };
  struct Map {
    std::uint32_t offset = 0;
    Place place;
    std::unique_ptr<MapCache> maps;
  };
  struct Launch {
    CheckedLaunch what;
    std::vector<std::byte> block;
    std::vector<Word> words;
    std::vector<Map> maps;
  };
  struct Fill {
    Place to;
    LaunchTape::Fill what;
  };
  struct Copy {
    Place to, from;
    std::size_t bytes = 0;
  };
  using Step = std::variant<Launch, Fill, Copy>;
  class Reader;

  Device& device_;
  std::vector<Step> steps_;
  std::vector<bool> used_;
};

}  // namespace nervanagpu
