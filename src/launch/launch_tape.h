// What a call queues on a device, written down instead of started. src/launch/planned_launches.h starts it later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "nervanagpu/tensor_map.hpp"
#include "src/device/device.h"

namespace nervanagpu {

class LaunchTape {
 public:
  struct Launch {
    CheckedLaunch what;
    std::vector<std::byte> block;  // of parameters; in place of a tensor map: which one of `maps`
  };
  struct Fill {
    std::uint64_t to = 0;
    std::uint32_t value = 0;
    unsigned width = 0;
    std::size_t count = 0;
  };
  struct Copy {
    std::uint64_t to = 0, from = 0;
    std::size_t bytes = 0;
  };
  using Step = std::variant<Launch, Fill, Copy>;

  // While one lives, this thread's launches, fills and copies of all devices are added to the tape; null: they are started,
  // though one outside records.
  class Recording {
   public:
    explicit Recording(LaunchTape* tape) : outer_(std::exchange(current_tape, tape)) {}
    ~Recording() { current_tape = outer_; }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

   private:
    LaunchTape* outer_;
  };
  [[nodiscard]] static LaunchTape* current() { return current_tape; }

  // Of the default stream alone: throws Error for another.
  void add(const CheckedLaunch& what, std::span<const std::byte> params, StreamId stream);
  void add(const Step& step, StreamId stream);
  // Throws as encode_tensor_map() does.
  EncodedTensorMap add(const TensorMap& map);

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  // What add() returned, in a block of parameters.
  [[nodiscard]] const TensorMap& map(const std::byte* encoded) const;

 private:
  static thread_local LaunchTape* current_tape;
  std::vector<Step> steps_;
  std::vector<TensorMap> maps_;
};

}  // namespace nervanagpu
