#include "src/launch/launch_tape.h"

#include <cstring>

#include "nervanagpu/error.hpp"
#include "src/device/tensor_map.h"

namespace nervanagpu {

thread_local LaunchTape* LaunchTape::current_tape = nullptr;

void LaunchTape::add(const CheckedLaunch& what, std::span<const std::byte> params, StreamId stream) {
  add(Launch{what, {params.begin(), params.end()}}, stream);
}

void LaunchTape::add(const Step& step, StreamId stream) {
  if (stream != 0) throw Error("what is recorded belongs to the default stream");
  steps_.push_back(step);
}

EncodedTensorMap LaunchTape::add(const TensorMap& map) {
  static_cast<void>(emulated(map));  // the checks of every device
  maps_.push_back(map);
  const std::uint64_t number = maps_.size();
  EncodedTensorMap out;
  std::memcpy(out.bytes.data(), &number, sizeof number);
  return out;
}

const TensorMap& LaunchTape::map(const std::byte* encoded) const {
  std::uint64_t number = 0;
  std::memcpy(&number, encoded, sizeof number);
  if (number == 0 || number > maps_.size()) throw Error("a recorded launch has a tensor map that was not made for it");
  return maps_[number - 1];
}

}  // namespace nervanagpu
