// What every comparison with a peer has in common: it needs a GPU and NVIDIA's library, and says so where one is missing.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "test/gpu/bound.h"
#include "test/gpu/buffer.h"
#include "test/gpu/cublas.h"
#include "test/gpu/cudnn.h"
#include "test/gpu/report.h"

namespace nervanagpu::gpu_test {

// One for the process; null, and the reason in `why`, where it cannot be had. They use the device's own context, so
// addresses are shared, and the default stream, so work is in order.
Cublas* cublas_peer(std::string& why);
Cudnn* cudnn_peer(std::string& why);

// Skips the test and says why, or fails it where NG_REQUIRE_GPU_PEERS=1.
#define NG_NO_PEER(why)                                                      \
  do {                                                                       \
    if (peers_required()) FAIL() << "NG_REQUIRE_GPU_PEERS=1, but " << (why); \
    GTEST_SKIP() << "NOT COMPARED: " << (why);                               \
  } while (false)

struct Side {
  Values got;
  double unit = 0.0;  // of its arithmetic's error
  Dtype dtype = Dtype::float32;
};

// Judges ours against float64 within our bound, and against theirs within the sum of both bounds; reports both, and adds
// a failure for each that is out. `terms`: products of one sum; `value` and `size`: the exact result, and the sum of
// absolute products.
void compare(const Key& key, const std::string& problem, const Side& ours, const Side& theirs, const Values& value,
             const Values& size, std::int64_t terms);

}  // namespace nervanagpu::gpu_test
