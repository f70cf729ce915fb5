// From a pooling problem on device addresses to launches of the kernels in this folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/pool/problem.h"
#include "src/device/device.h"

namespace nervanagpu::pool_detail {

enum class Pass : std::uint8_t { fprop, bprop };

struct Pointers {
  std::uint64_t x = 0, dy = 0, out = 0;
  std::uint64_t argmax =
      0;  // not 0: fprop writes the positions of the largest elements there, bprop reads them and no x
};

// For tests: only kernels of which the name begins so ("pool_gather") or ends so ("_1"), and smaller parts.
struct Forced {
  std::string begin, end;
  std::int64_t most_elements = (std::int64_t{1} << 31) - 256;  // of a tensor, in one launch
};

// The kernels that queue() would launch, by name.
std::vector<std::string> kernels_for(const Registry& registry, Pass pass, const PoolProblem& p,
                                     const Pointers& pointers, const PoolOptions& options, const Forced& forced = {});

// Throws InvalidArgument or TypeError for what queue() does not take.
void check_call(Pass pass, const PoolProblem& p, const Pointers& pointers, const PoolOptions& options);

// The whole pass, checked before anything is queued: every kernel that it takes exists before the first is launched.
void queue(Device& device, Pass pass, const PoolProblem& p, const Pointers& pointers, const PoolOptions& options,
           const Forced& forced = {});

}  // namespace nervanagpu::pool_detail
