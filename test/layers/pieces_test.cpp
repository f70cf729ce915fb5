// What batches of one predict() or evaluate() share of the weights of Full: bits, launches, memory.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "nervanagpu/nervanagpu.hpp"
#include "src/device/emulator_device.h"
#include "src/device/select_device.h"
#include "test/forwarding_device.h"

namespace nervanagpu {
namespace {

// How often operands were taken apart: both of a product's, or one that is kept.
class Watching final : public test::ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  int products = 0, kept = 0;

 private:
  using ForwardingDevice::start;
  void start(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params, StreamId stream) override {
    if (kernel.name().starts_with("f16x2_")) (grid.y == 1 ? kept : products)++;
    ForwardingDevice::start(kernel, grid, params, stream);
  }
};

constexpr std::int64_t kBatch = 4224, kWidth = 512, kLayers = 1;

class SharedPieces : public ::testing::TestWithParam<Layout> {
 protected:
  SharedPieces()
      : emulator(embedded_cubins(), sass::Arch::sm_90a, false, std::size_t{512} << 20),
        device(emulator),
        outer(exchange_device(&device)) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    x.resize(static_cast<std::size_t>(kBatch * kWidth));
    for (float& v : x) v = normal(random);
    const std::vector<float> one = x;
    for (int i = 0; i < 2; ++i) x.insert(x.end(), one.begin(), one.end());
    x.insert(x.end(), one.begin(), one.begin() + 7 * kWidth);
  }
  ~SharedPieces() override { exchange_device(outer); }

  static Network make(Precision precision = Precision::tensor) {
    namespace l = layers;
    NetworkOptions options;
    options.precision = precision;
    options.layout = GetParam();
    return Network({l::full(kWidth, {.relu = true})}, {kWidth}, options);
  }
  [[nodiscard]] std::span<const float> samples(std::int64_t first, std::int64_t count) const {
    return std::span(x).subspan(static_cast<std::size_t>(first * kWidth), static_cast<std::size_t>(count * kWidth));
  }
  // Three equal batches and a rest, by a call for each, which shares nothing.
  std::vector<float> apart(Network& net) const {
    std::vector<float> out;
    const std::vector<float> batch = net.predict(samples(0, kBatch), kBatch), rest = net.predict(samples(0, 7), kBatch);
    for (int i = 0; i < 3; ++i) out.insert(out.end(), batch.begin(), batch.end());
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
  }

  EmulatorDevice emulator;
  Watching device;
  Device* outer;
  std::vector<float> x;
};

TEST_P(SharedPieces, SameBitsWhateverIsWrittenBetweenCalls) {
  Network net = make();
  for (int turn = 0; turn < 2; ++turn) {
    const std::vector<float> want = apart(net);
    device.products = device.kept = 0;
    EXPECT_EQ(net.predict(samples(0, 3 * kBatch + 7), kBatch), want);
    EXPECT_EQ(device.kept, 2 * kLayers) << "for a k along rows and across them";
    EXPECT_EQ(device.products, 3 * kLayers) << "what comes in";
    Tensor w = net.parameters()[0]->value;
    w.slice(0, 5, 7).fill(0.5F);
  }
}

TEST_P(SharedPieces, FewBatchesStrictOnesAndTrainingShareNothing) {
  Network net = make(), strict = make(Precision::strict);
  static_cast<void>(net.predict(samples(0, 2 * kBatch + 7), kBatch));
  static_cast<void>(strict.predict(samples(0, 3 * kBatch), kBatch));
  static_cast<void>(net.forward(samples(0, kBatch)));
  EXPECT_EQ(device.kept, 0);
  const MemoryPlan plan = net.memory(kBatch, false);
  EXPECT_EQ(plan.pieces, static_cast<std::size_t>(kLayers) * gemm_pieces_bytes(kWidth, kWidth, 2));
  EXPECT_EQ(net.memory(kBatch, true).pieces, 0U);
  EXPECT_EQ(net.memory(7, false).pieces, 0U) << "multiply-adds";
  EXPECT_EQ(strict.memory(kBatch, false).pieces, 0U);
  EXPECT_NE(net.summary(kBatch).find("KiB of pieces beside it"), std::string::npos) << net.summary(kBatch);
}

TEST_P(SharedPieces, ThatAreGivenBackAndGoWithoutRoom) {
  Network net = make();
  const std::vector<float> want = apart(net);
  const std::size_t before = memory_stats().in_use;
  EXPECT_EQ(net.predict(samples(0, 3 * kBatch + 7), kBatch), want);
  EXPECT_EQ(memory_stats().in_use, before);
  int batches = 0;
  net.set_interrupt([&] {
    if (++batches == 5) throw Error("enough");
  });
  EXPECT_THROW(static_cast<void>(net.predict(samples(0, 3 * kBatch), kBatch)), Error);
  net.set_interrupt({});
  EXPECT_EQ(memory_stats().in_use, before);
  release_cached_memory();
  GemmProblem p;
  p.precision = Precision::tensor;
  p.m = kBatch, p.n = p.k = p.lda = p.ldb = p.ldc = kWidth;
  set_memory_limit(before + gemm_workspace(p) + net.memory(kBatch, false).pieces / 2);
  device.kept = device.products = 0;
  EXPECT_EQ(net.predict(samples(0, 3 * kBatch + 7), kBatch), want);
  EXPECT_EQ(device.kept, 2) << "tried, until the product found no room";
  EXPECT_EQ(device.products, 3);
  set_memory_limit(0);
}

INSTANTIATE_TEST_SUITE_P(Layouts, SharedPieces, ::testing::Values(Layout::channels_last, Layout::batch_last),
                         [](const auto& info) {
                           return info.param == Layout::channels_last ? "channels_last" : "batch_last";
                         });

}  // namespace
}  // namespace nervanagpu
