#include "kernels/nn/launch.h"

#include "nervanagpu/error.hpp"

namespace nervanagpu::nn {
namespace {

const Kernel& find(const Registry& registry, const std::string& name) {
  const Kernel* k = registry.find(name);
  if (k == nullptr) throw Error("there is no kernel " + name + " for this device's architecture");
  return *k;
}

}  // namespace

RoundingArgs RoundingArgs::of(const Rounding& rounding, Dtype to, std::uint64_t first) {
  if (!rounding.stochastic) return {};
  return {rounding.seed, rounding.offset + first / 4, static_cast<std::uint32_t>(first % 4),
          static_cast<std::uint32_t>(kept_bits(rounding, to))};
}

void check_rounding(const char* op, const Rounding& rounding, Dtype to) {
  if (!rounding.stochastic) return;
  if (to != Dtype::float16 && to != Dtype::bfloat16 && to != Dtype::float32) {
    throw InvalidArgument(std::string(op) + ": rounding is stochastic but the result is " + std::string(name_of(to)) +
                          "; needs float16, bfloat16 or float32");
  }
  if (rounding.bits < 0 || rounding.bits > most_bits(to)) {
    throw InvalidArgument(std::string(op) + ": rounding bits is " + std::to_string(rounding.bits) + "; needs 1 to " +
                          std::to_string(most_bits(to)) + " for " + std::string(name_of(to)) + ", or 0 for the most");
  }
}

Call::Call(Device& device, const std::string& kernel)
    : device_(device), kernel_(find(device.registry(), kernel)), args_(kernel_.manifest()) {}

void Call::launch(const Grid& grid, StreamId stream) {
  device_.launch(kernel_, grid, args_.block(), stream);
}

const char* type_word(const char* op, const char* name, Dtype dtype) {
  switch (dtype) {
    case Dtype::float32: return "f32";
    case Dtype::float16: return "f16";
    case Dtype::bfloat16: return "bf16";
    case Dtype::int32: return "s32";
    case Dtype::int8: return "s8";
    case Dtype::uint8: return "u8";
    default:
      throw TypeError(std::string(op) + ": " + name + " has dtype " + std::string(name_of(dtype)) +
                      "; needs float32, float16, bfloat16, int32, int8 or uint8");
  }
}

}  // namespace nervanagpu::nn
