// Plans of memory: tensors that live at the same time never share it.
#include "layers/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <random>

namespace nervanagpu::layers {
namespace {

using Buffer = Program::Buffer;

bool alive_together(const Buffer& a, const Buffer& b) {
  return a.first >= 0 && b.first >= 0 && a.first <= b.last && b.first <= a.last;
}

bool overlap(const Buffer& a, const Buffer& b) {
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

// The most bytes that live at one operation: no plan needs less.
std::size_t least(const std::vector<Buffer>& buffers) {
  std::size_t most = 0;
  for (const Buffer& at : buffers) {
    std::size_t sum = 0;
    for (const Buffer& b : buffers) {
      if (b.first >= 0 && b.first <= at.first && at.first <= b.last) sum += b.bytes;
    }
    most = std::max(most, sum);
  }
  return most;
}

void expect_sound(const std::vector<Buffer>& buffers, std::size_t total) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].first < 0) continue;
    EXPECT_EQ(buffers[i].offset % 256, 0U);
    EXPECT_LE(buffers[i].offset + buffers[i].bytes, total);
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_FALSE(alive_together(buffers[i], buffers[j]) && overlap(buffers[i], buffers[j])) << i << " and " << j;
    }
  }
  EXPECT_GE(total, least(buffers));
}

TEST(Placement, RandomLivesDoNotOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Buffer> buffers(random() % 40 + 1);
    const int end = static_cast<int>(random() % 30 + 1);
    for (Buffer& b : buffers) {
      b.bytes = random() % 5 == 0 ? 256 * (random() % 50 + 1) : random() % 9000 + 1;
      if (random() % 20 == 0) continue;  // never used
      b.first = static_cast<int>(random()) % end;
      b.first = std::abs(b.first);
      b.last = random() % 10 == 0 ? INT_MAX : b.first + static_cast<int>(random() % 8);
    }
    expect_sound(buffers, place_buffers(buffers, true));
    std::vector<Buffer> apart = buffers;
    const std::size_t total = place_buffers(apart, false);
    std::size_t sum = 0;
    for (std::size_t i = 0; i < apart.size(); ++i) {
      if (apart[i].first < 0) continue;
      sum += apart[i].bytes;
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(apart[j].first >= 0 && overlap(apart[i], apart[j]));
    }
    EXPECT_GE(total, sum);
  }
}

TEST(Placement, AChainNeedsTwoOfItsTensors) {
  std::vector<Buffer> buffers;
  buffers.reserve(10);
  for (int i = 0; i < 10; ++i) buffers.push_back({4096, i, i + 1, 0});
  EXPECT_EQ(place_buffers(buffers, true), 2 * 4096U);
  EXPECT_EQ(place_buffers(buffers, false), 10 * 4096U);
}

TEST(Program, LivesReachFromFirstToLastUse) {
  Program p(true);
  const Ref x = p.make({2, 3}, Dtype::float32);
  const Ref y = p.make({2, 3}, Dtype::float16);
  const Ref z = p.make({5}, Dtype::int32);
  const Ref unused = p.make({5}, Dtype::int32);
  const auto nothing = [](layers::Run&) {};
  p.arrives(x);
  p.add({x, y}, nothing);                    // 0
  p.add({y.rows(1, 1), Ref{}, z}, nothing);  // 1
  p.begin_backward();
  p.add({z}, nothing);  // 2
  p.leaves(z, false);
  p.leaves(y.flat(), true);
  const auto& b = p.buffers();
  EXPECT_EQ(b[0].bytes, 24U);
  EXPECT_EQ(b[1].bytes, 12U);
  EXPECT_EQ(b[0].first, 0);
  EXPECT_EQ(b[0].last, 0);
  EXPECT_EQ(b[1].first, 0);
  EXPECT_EQ(b[1].last, INT_MAX);
  EXPECT_EQ(b[2].first, 1);
  EXPECT_EQ(b[2].last, 2);
  EXPECT_EQ(b[static_cast<std::size_t>(unused.id)].first, -1);
}

TEST(Program, PartsAndViews) {
  Program p(false);
  const Ref x = p.make({6, 4, 5}, Dtype::float16);
  const Ref part = x.rows(2, 3).rows(1, 1);
  EXPECT_EQ(part.id, x.id);
  EXPECT_EQ(part.offset, 3 * 20 * 2);
  EXPECT_EQ(part.shape, (Shape{1, 4, 5}));
  EXPECT_EQ(part.flat().shape, Shape{20});
  EXPECT_EQ(part.bytes(), 40U);
}

TEST(Program, ForwardAndBackwardRunTheirParts) {
  Program p(true);
  std::string log;
  p.add({}, [&](layers::Run&) { log += "f"; });
  p.add({}, [&](layers::Run& run) { log += std::to_string(run.rounding(9).offset); });
  p.begin_backward();
  p.add({}, [&](layers::Run&) { log += "b"; });
  p.place(true);
  layers::Run run;
  run.program = &p;
  run.mode.stochastic = true;
  run.step = 0;
  p.run_forward(run);
  EXPECT_EQ(log, "f0");
  p.run_backward(run);
  EXPECT_EQ(log, "f0b");
}

// No two results of a step, and no two steps, take the same random numbers.
TEST(Run, CountersDoNotMeet) {
  layers::Run run;
  run.mode = {true, 0, 0, 7};
  run.seed = 3;
  run.step = 2;
  const Rounding a = run.rounding(9);
  const Rounding b = run.rounding(1);
  const Rounding c = run.rounding(4);
  EXPECT_EQ(a.seed, 3U);
  EXPECT_EQ(a.bits, 7);
  EXPECT_EQ(a.offset, std::uint64_t{2} << 40);
  EXPECT_EQ(b.offset - a.offset, 3U);
  EXPECT_EQ(c.offset - b.offset, 1U);
  run.mode.stochastic = false;
  EXPECT_FALSE(run.rounding(100).stochastic);
}

}  // namespace
}  // namespace nervanagpu::layers
