// Networks from C++, on an emulator of each family: what test/python/networks/test_network.py cannot reach.
#include "nervanagpu/layers/network.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "nervanagpu/device.hpp"
#include "nervanagpu/error.hpp"
#include "nervanagpu/expr.hpp"
#include "nervanagpu/nn.hpp"
#include "src/device/emulator_device.h"
#include "src/device/select_device.h"

namespace nervanagpu {
namespace {

class OnFamily : public ::testing::TestWithParam<sass::Arch> {
 protected:
  OnFamily()
      : emulator(embedded_cubins(), GetParam(), true, std::size_t{64} << 20), outer(exchange_device(&emulator)) {}
  ~OnFamily() override { exchange_device(outer); }

  // Samples of (6, 6, 1) whose class is the corner that is bright.
  void make_data(int count) {
    std::mt19937 random(3);
    images.assign(static_cast<std::size_t>(count) * 36, 0.0F);
    labels.clear();
    for (int i = 0; i < count; ++i) {
      labels.push_back(static_cast<std::int32_t>(random() % 4));
      for (int j = 0; j < 36; ++j) {
        const bool bright = (j / 6 / 3) * 2 + j % 6 / 3 == labels.back();
        images[static_cast<std::size_t>(i) * 36 + static_cast<std::size_t>(j)] =
            static_cast<float>(random() % 100) / 200.0F + (bright ? 0.5F : 0.0F);
      }
    }
  }

  static Network make(const NetworkOptions& options = {}) {
    namespace l = layers;
    return Network({l::conv(4, 3, {.padding = 1, .relu = true}), l::pool(2),
                    l::inception({{l::conv(3, 1)}, {l::pool(3, {.stride = 1, .padding = 1}), l::conv(2, 1)}}),
                    l::dropout(0.1), l::full(4), l::softmax()},
                   {6, 6, 1}, options);
  }

  static std::vector<std::vector<float>> weights(const Network& net) {
    std::vector<std::vector<float>> out;
    for (const layers::Parameter* p : net.parameters()) {
      Tensor exact = Tensor::empty(p->value.shape());
      convert(p->value, exact);
      out.push_back(exact.to_host<float>());
    }
    return out;
  }

  void run_out_of_memory(bool recording);

  EmulatorDevice emulator;
  Device* outer;
  std::vector<float> images;
  std::vector<std::int32_t> labels;
};

INSTANTIATE_TEST_SUITE_P(Families, OnFamily, ::testing::Values(sass::Arch::sm_90a, sass::Arch::sm_52),
                         [](const auto& info) { return std::string(sass::info(info.param).name); });

TEST_P(OnFamily, Learns) {
  make_data(48);
  for (const Layout layout : {Layout::channels_last, Layout::batch_last}) {
    Network net = make({.layout = layout});
    const Samples validation = images;
    FitOptions o;
    o.epochs = 12;
    o.batch = 20;
    o.lr = 0.1F;
    o.validation_x = &validation;
    o.validation_y = labels;
    int calls = 0;
    o.callback = [&](const Progress& p) {
      ++calls;
      EXPECT_EQ(p.epochs, 12);
      EXPECT_EQ(p.samples, 48);
      EXPECT_EQ(p.history->val_loss.size(), static_cast<std::size_t>(p.epoch + (p.epoch_done ? 1 : 0)));
    };
    const History h = net.fit(images, labels, o);
    EXPECT_EQ(calls, 12 * 4);
    EXPECT_LT(h.loss.back(), 0.5 * h.loss.front());
    EXPECT_GT(net.evaluate(images, labels).accuracy, 0.9);
  }
}

TEST_P(OnFamily, AMovedNetworkGoesOn) {
  make_data(10);
  Network a = make();
  a.fit(images, labels, {.epochs = 1});
  const std::vector<float> before = a.predict(images);
  Network b = std::move(a);
  EXPECT_EQ(b.predict(images), before);
  Network c = make({.seed = 9});
  c = std::move(b);
  EXPECT_EQ(c.predict(images), before);
  c.fit(images, labels, {.epochs = 1});
}

TEST_P(OnFamily, OutOfMemoryAnywhere) {
  make_data(64);
  for (const bool recording : {false, true}) run_out_of_memory(recording);
}

// Steps that are replayed have the bits of steps that are not, whatever comes between them.
TEST_P(OnFamily, RepeatedStepsAreReplayed) {
  make_data(24);
  for (const Dtype dtype : {Dtype::float32, Dtype::float16}) {
    Network replayed = make({.dtype = dtype}), called = make({.dtype = dtype, .graphs = false});
    const Samples some(std::span<const float>(images).first(std::size_t{10} * 36));
    const Labels of_some = Labels(labels).first(10);
    std::uint64_t least = ~std::uint64_t{0}, most = 0;
    for (int i = 0; i < 14; ++i) {
      SgdStep step = {0.2F / static_cast<float>(1 + i), 0.9F, 0.01F};
      if (i == 6) step.momentum = 0.5F;  // another graph
      if (i > 9) step.momentum = step.weight_decay = 0.0F;
      const bool fewer = i == 3;
      const auto train = [&](Network& net) {
        return fewer ? net.train_step(some, of_some, step) : net.train_step(images, labels, step);
      };
      const Evaluation want = train(called);
      const std::uint64_t before = kernels_launched;
      const std::uint64_t expressions = launch_count();
      const Evaluation got = train(replayed);
      const std::uint64_t launches = kernels_launched - before + launch_count() - expressions;
      least = std::min(least, launches), most = std::max(most, launches);
      EXPECT_EQ(got.loss, want.loss) << i;
      EXPECT_EQ(got.accuracy, want.accuracy) << i;
      EXPECT_EQ(weights(replayed), weights(called)) << i;
      if (i == 4) {
        EXPECT_EQ(replayed.predict(images, 7), called.predict(images, 7));
        EXPECT_EQ(replayed.statistics(images, labels).size(), called.statistics(images, labels).size());
      }
      if (i == 8) {  // a larger arena, elsewhere
        std::vector<float> twice = images;
        twice.insert(twice.end(), images.begin(), images.end());
        EXPECT_EQ(replayed.predict(twice, 48), called.predict(twice, 48));
      }
    }
    EXPECT_LE(least, 3U) << "no step was replayed";
    EXPECT_GE(most, 15U);
  }
}

// An epoch whose last batch is smaller is replayed, too, and nobody has to wait for its steps.
TEST_P(OnFamily, EpochsAreReplayed) {
  make_data(26);
  Network replayed = make(), called = make({.graphs = false});
  std::uint64_t most = 0;
  for (int i = 0; i < 3; ++i) {
    FitOptions o = {.epochs = 1, .batch = 8, .lr = 0.1F};
    const History want = called.fit(images, labels, o);
    int calls = 0;
    o.callback = [&](const Progress& p) { calls += p.epoch_done ? 1 : 100; };
    o.each_step = false;
    const std::uint64_t before = kernels_launched + launch_count();
    const History got = replayed.fit(images, labels, o);
    const std::uint64_t launches = kernels_launched + launch_count() - before;
    EXPECT_EQ(got.loss, want.loss);
    EXPECT_EQ(got.accuracy, want.accuracy);
    EXPECT_EQ(weights(replayed), weights(called));
    EXPECT_EQ(calls, 1);
    if (i > 0) {
      EXPECT_LE(launches, most / 2) << "the smaller batch alone is called";
    } else {
      most = launches;
    }
  }
}

// What an interruption ends while a step is recorded leaves the network as it was.
TEST_P(OnFamily, RecordingMayBeInterrupted) {
  make_data(12);
  Network net = make(), other = make({.graphs = false});
  const SgdStep step = {0.1F, 0.9F};
  net.train_step(images, labels, step);
  other.train_step(images, labels, step);
  for (const int at : {0, 1, 7, 15}) {
    int calls = 0;
    net.set_interrupt([&] {
      if (calls++ == at) throw Error("stop");
    });
    const auto before = weights(net);
    EXPECT_THROW(net.train_step(images, labels, step), Error);
    EXPECT_EQ(weights(net), before);
  }
  net.set_interrupt({});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(net.train_step(images, labels, step).loss, other.train_step(images, labels, step).loss);
    EXPECT_EQ(weights(net), weights(other));
  }
}

// With ever less memory a step fails at one place or another; the parameters stay those of the last whole step, and once
// there is room the network goes on.
void OnFamily::run_out_of_memory(bool recording) {
  int failures = 0;
  for (const std::size_t room : {0, 2, 8, 20, 32, 64, 128, 192, 256, 1024}) {
    Network net = make();
    net.fit(images, labels, {.epochs = 1, .batch = 8});
    if (recording) net.train_step(images, labels, {});  // the next is like it
    const auto before = weights(net);
    release_cached_memory();
    std::vector<Tensor> hog;
    for (std::size_t size = std::size_t{1} << 20; size >= 512; size /= 2) {
      try {
        while (memory_stats().reserved + room * 1024 + size <= device().memory) {
          hog.push_back(Tensor::empty({static_cast<std::int64_t>(size)}, Dtype::uint8));
        }
      } catch (const OutOfMemory&) {  // no piece of this size is left
      }
    }
    bool failed = false;
    try {
      net.train_step(images, labels, {});
    } catch (const OutOfMemory&) {
      failed = true;
      ++failures;
    }
    hog.clear();
    release_cached_memory();
    if (failed) {
      EXPECT_EQ(weights(net), before);
      EXPECT_NO_THROW(net.train_step(images, labels, {}));
    }
    EXPECT_NE(weights(net), before);
  }
  EXPECT_GE(failures, recording ? 1 : 2);
  EXPECT_LE(failures, 9);
}

TEST_P(OnFamily, Refused) {
  make_data(4);
  Network net = make();
  const auto before = weights(net);
  EXPECT_THROW(net.fit(std::vector<float>(35), labels), InvalidArgument);
  EXPECT_THROW(net.fit(std::vector<float>(), {}), InvalidArgument);
  const std::vector<std::int32_t> wrong = {0, 1, 4, 0};
  EXPECT_THROW(net.fit(images, wrong), InvalidArgument);
  EXPECT_THROW(static_cast<void>(net.evaluate(images, std::span(labels).first(3))), InvalidArgument);
  FitOptions half;
  half.validation_y = labels;
  EXPECT_THROW(net.fit(images, labels, half), InvalidArgument);
  EXPECT_THROW(static_cast<void>(net.predict(images, 0)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(net.memory(0, true)), InvalidArgument);
  EXPECT_THROW(net.backward(std::span<const float>(images)), InvalidArgument);
  EXPECT_EQ(weights(net), before);
  EXPECT_THROW(Network({nullptr}, {3}), InvalidArgument);
  EXPECT_THROW(layers::inception({{nullptr}}), InvalidArgument);
  EXPECT_THROW(layers::conv(0, 3), InvalidArgument);
}

TEST_P(OnFamily, InferenceNeedsLessThanTraining) {
  const Network net = make();
  for (const std::int64_t n : {1, 5, 64}) {
    const MemoryPlan training = net.memory(n, true);
    const MemoryPlan inference = net.memory(n, false);
    EXPECT_LT(inference.arena, training.arena);
    EXPECT_LT(training.arena, training.unshared);
    EXPECT_LE(inference.arena, inference.unshared);
  }
}

}  // namespace
}  // namespace nervanagpu
