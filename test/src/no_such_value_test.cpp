// Numbers that were cast to an enumeration, null pointers, streams that are gone and what was moved from: refused by name.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "nervanagpu/nervanagpu.h"
#include "nervanagpu/nervanagpu.hpp"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

// f throws an E whose text has these words.
template <class E, class F>
void refused(const F& f, const std::string& words) {
  try {
    f();
    ADD_FAILURE() << "no error; expected: " << words;
  } catch (const E& e) {
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}

class NoSuchValue : public test::OnEmulator {
 protected:
  NoSuchValue() : memory_(Tensor::zeros({1024})) {}
  [[nodiscard]] std::uint64_t at(std::uint64_t bytes) const { return memory_.address() + bytes; }

  static constexpr auto kDtype = static_cast<Dtype>(99);
  Tensor memory_;
};

TEST_F(NoSuchValue, Dtypes) {
  refused<TypeError>([] { static_cast<void>(Tensor::empty({4}, kDtype)); }, "dtype is 99; needs a Dtype");
  refused<TypeError>([&] { static_cast<void>(Tensor::wrap(at(0), {2}, {1}, kDtype)); }, "dtype is 99");
  refused<TypeError>([&] { static_cast<void>(memory_.share({1}, kDtype)); }, "dtype is 99");
  refused<TypeError>([&] { cast(Expr(memory_), kDtype); }, "dtype is 99");
  EXPECT_EQ(name_of(kDtype), "no dtype");
}

TEST_F(NoSuchValue, Enumerations) {
  refused<InvalidArgument>(
      [&] {
        conv(static_cast<ConvPass>(7), {}, {at(0), at(256), at(512)});
      },
      "conv: pass is 7; needs a ConvPass");
  refused<InvalidArgument>([] { static_cast<void>(conv_workspace(static_cast<ConvPass>(7), {})); }, "pass is 7");
  ConvProblem c;
  c.layout = static_cast<Layout>(9);
  refused<InvalidArgument>(
      [&] {
        conv(ConvPass::fprop, c, {at(0), at(256), at(512)});
      },
      "conv: layout is 9; needs a Layout");
  PoolProblem p;
  p.op = static_cast<PoolOp>(9);
  refused<InvalidArgument>([&] { pool_fprop(p, at(0), at(256)); }, "pool: op is 9; needs a PoolOp");
  p.op = PoolOp::max, p.layout = static_cast<Layout>(9);
  refused<InvalidArgument>([&] { pool_fprop(p, at(0), at(256)); }, "pool: layout is 9; needs a Layout");
  Tensor y = Tensor::zeros({4});
  const auto f = static_cast<Activation>(99);
  refused<InvalidArgument>([&] { activation_fprop(f, y, y); }, "activation: f is 99; needs an Activation");
  refused<InvalidArgument>([&] { activation_bprop(f, y, y, y); }, "f is 99");
  refused<InvalidArgument>([&] { reduce(static_cast<Reduction>(77), Expr(y)); }, "reduce: op is 77; needs a Reduction");
  EXPECT_EQ(name_of(static_cast<Reduction>(77)), "");
}

TEST_F(NoSuchValue, RoundingBitsOfAProduct) {
  Tensor c = Tensor::zeros({4, 4});
  GemmOptions o;
  o.rounding = {true, 1, 0, -1};
  refused<InvalidArgument>([&] { gemm(c.copy(), c.copy(), c, o); }, "gemm: rounding bits is -1; needs 1 to 15");
}

TEST_F(NoSuchValue, HostMemory) {
  Tensor t = Tensor::zeros({2, 2});
  refused<InvalidArgument>([&] { t.get(nullptr, 16); }, "host is null; needs 16 bytes");
  refused<InvalidArgument>([&] { t.set(nullptr, 16); }, "host is null; needs 16 bytes");
  refused<InvalidArgument>([&] { t.transpose().get(nullptr, 16); }, "host is null");
  EXPECT_NO_THROW(Tensor().get(nullptr, 0));
  Image image({.width = 4});
  refused<InvalidArgument>([&] { image.set(nullptr, image.bytes()); }, "image: texels is null");
  refused<InvalidArgument>([&] { image.get(nullptr, image.bytes()); }, "image: texels is null");
  refused<OutOfMemory>([] { pinned_memory(std::numeric_limits<std::size_t>::max()); }, "out of memory");
}

TEST_F(NoSuchValue, EventsThatWereMovedFrom) {
  Event e;
  Event f = std::move(e);
  // NOLINTBEGIN(bugprone-use-after-move, clang-analyzer-cplusplus.Move): it is what is tested
  refused<InvalidArgument>([&] { e.record(); }, "event: it was moved from");
  refused<InvalidArgument>([&] { static_cast<void>(f.ms_since(e)); }, "event: it was moved from");
  // NOLINTEND(bugprone-use-after-move, clang-analyzer-cplusplus.Move)
}

// Of results at the address of an operand alone: rows of one matrix may lie between those of another.
TEST_F(NoSuchValue, ResultsOverOperands) {
  GemmProblem g;
  g.m = g.n = g.k = g.lda = g.ldb = g.ldc = 4;
  g.a = at(0), g.b = at(256), g.c = at(512), g.bias = at(768);
  EXPECT_NO_THROW(gemm(g));
  for (const auto& [name, address] : {std::pair{"a", g.a}, {"b", g.b}, {"bias", g.bias}}) {
    GemmProblem over = g;
    over.c = address;
    refused<InvalidArgument>([&] { gemm(over); }, std::string("gemm: c is at the address of ") + name);
    refused<InvalidArgument>([&] { grouped_gemm({over}); }, "c is at the address of");
  }
  g.k = 0, g.bias = 0, g.c = g.a;  // A is not read
  EXPECT_NO_THROW(gemm(g));
  const ConvProblem c;
  refused<InvalidArgument>(
      [&] {
        conv(ConvPass::fprop, c, {at(0), at(256), at(0)});
      },
      "conv: y is at the address of x");
  refused<InvalidArgument>(
      [&] {
        conv(ConvPass::bprop, c, {at(0), at(256), at(256)});
      },
      "conv: dx is at the address of w");
  const PoolProblem p;
  refused<InvalidArgument>([&] { pool_fprop(p, at(0), at(0)); }, "pool: y is at the address of x");
  refused<InvalidArgument>([&] { pool_bprop(p, at(0), at(256), at(0)); }, "pool: dx is at the address of dy");
}

void expect_no_stream(ng_status got) {
  EXPECT_STREQ(ng_status_name(got), "NG_INVALID_ARGUMENT");
  EXPECT_NE(std::string(ng_last_error()).find("stream is "), std::string::npos) << ng_last_error();
}

TEST_F(NoSuchValue, Streams) {
  std::uint64_t gone = 0;
  ASSERT_EQ(ng_stream_create(&gone), NG_OK);
  EXPECT_EQ(ng_fill(at(0), 1, 4, 4, gone), NG_OK) << ng_last_error();
  ASSERT_EQ(ng_stream_destroy(gone), NG_OK);
  EmulatorDevice other(embedded_cubins(), sass::Arch::sm_90a, false, std::size_t{1} << 20, 1);
  const std::uint64_t of_another = other.create_stream();
  ng_gemm_problem p = NG_GEMM_PROBLEM_INIT;
  p.m = p.n = p.k = p.lda = p.ldb = p.ldc = 4;
  p.a = at(0), p.b = at(256), p.c = at(512);
  ng_event* event = nullptr;
  ASSERT_EQ(ng_event_create(&event), NG_OK);
  ASSERT_EQ(ng_event_record(event, 0), NG_OK);
  for (const std::uint64_t stream : {gone, of_another, std::uint64_t{0xdeadbeef}}) {
    expect_no_stream(ng_gemm(&p, stream));
    expect_no_stream(ng_copy(at(0), at(256), 16, stream));
    expect_no_stream(ng_fill(at(0), 1, 4, 4, stream));
    expect_no_stream(ng_event_record(event, stream));
    expect_no_stream(ng_stream_wait(stream, event));
    expect_no_stream(ng_stream_synchronize(stream));
  }
  ng_event_destroy(event);
}

}  // namespace
}  // namespace nervanagpu
