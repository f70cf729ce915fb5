// Exact problems in numbers, on whatever device there is:
//
//   NG_GPU_PROBLEMS   how many in all; unset: 20000 on a GPU, 1600 on the emulator
//   NG_GPU_FIRST      the number of the first one of each kind (default 0), to see a failure again
#include "test/gpu/exact.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "nervanagpu/device.hpp"

namespace nervanagpu::gpu_test {
namespace {

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || text[0] == '\0' ? otherwise : std::stoull(text);
}

}  // namespace

void run_exact(Verdict (*problem)(std::uint64_t), std::uint64_t eighths) {
  // On a GPU one problem a host thread: the reference takes longer than the kernel.
  const bool gpu = device().kind == DeviceKind::cuda;
  report().set_device(device().name);
  const std::uint64_t first = number_from("NG_GPU_FIRST", 0);
  const std::uint64_t count = (number_from("NG_GPU_PROBLEMS", gpu ? 20000 : 1600) * eighths + 7) / 8;
  const unsigned workers = gpu ? std::max(std::thread::hardware_concurrency(), 1U) : 1U;
  std::atomic<std::uint64_t> next{0};
  std::atomic<int> wrong{0};
  const auto work = [&] {
    constexpr int kShown = 10;
    for (std::uint64_t i = next++; i < count && wrong < kShown; i = next++) {
      try {
        const Verdict v = problem(first + i);
        report().add(v.key, v.elements, v.worst, !v.wrong.empty());
        if (!v.wrong.empty() && wrong++ < kShown) ADD_FAILURE() << v.wrong;
      } catch (const std::exception& e) {
        if (wrong++ < kShown) ADD_FAILURE() << "problem " << first + i << ": " << e.what();
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < workers; ++t) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0) << "run one again with NG_GPU_FIRST=<its number> NG_GPU_PROBLEMS=1";
}

TEST(Exact, Gemm) {
  run_exact(exact_gemm, 2);
}

TEST(Exact, Convolution) {
  run_exact(exact_conv, 4);
}

}  // namespace nervanagpu::gpu_test
