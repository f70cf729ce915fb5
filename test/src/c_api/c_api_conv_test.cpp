// Convolutions through nervanagpu.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "nervanagpu/conv.hpp"
#include "nervanagpu/expr.hpp"
#include "nervanagpu/nervanagpu.h"
#include "test/src/c_api/c_api_calls.h"

namespace nervanagpu {
namespace {

class CConvTest : public test::CApiCalls {
 protected:
  static constexpr std::size_t kRoom = 64;  // floats of each operand

  CConvTest() {
    p_.c = 2, p_.k = 3;
    p_.in[2] = 5, p_.filter[2] = 3;  // x (1,5,2), w (3,3,2), y (1,3,3)
    for (std::uint64_t* a : {&x_, &w_, &y_, &bias_}) {
      EXPECT_EQ(ng_malloc(a, kRoom * 4), NG_OK);
      put(*a, std::vector<float>(kRoom, -7));
    }
  }
  ~CConvTest() override {
    for (const std::uint64_t a : {x_, w_, y_, bias_}) EXPECT_EQ(ng_free(a), NG_OK);
  }

  // Each pass refuses the problem, and so does what is asked before it; nothing is written.
  template <class F>
  void refused(const F& change, ng_status status, const std::string& word) {
    ng_conv_problem p = p_;
    change(p);
    std::size_t bytes = 99;
    expect_refused(ng_conv_workspace(NG_FPROP, &p, &bytes), status, {word});
    EXPECT_EQ(bytes, 99U);
    expect_refused(ng_conv_fprop(&p, x_, w_, y_, nullptr), status, {word});
    expect_refused(ng_conv_bprop(&p, y_, w_, x_, nullptr), status, {word});
    expect_refused(ng_conv_update(&p, y_, x_, w_, nullptr), status, {word});
    unwritten();
  }
  void unwritten() {
    for (const std::uint64_t a : {x_, w_, y_}) EXPECT_EQ(get(a, kRoom), std::vector<float>(kRoom, -7));
  }

  ng_conv_problem p_ = NG_CONV_PROBLEM_INIT;
  ng_conv_options o_ = NG_CONV_OPTIONS_INIT;
  std::uint64_t x_ = 0, w_ = 0, y_ = 0, bias_ = 0;
};

TEST_F(CConvTest, Computes) {
  std::array<std::int64_t, 3> out{};
  ASSERT_EQ(ng_conv_out(&p_, out.data()), NG_OK) << ng_last_error();
  EXPECT_EQ(out, (std::array<std::int64_t, 3>{1, 1, 3}));
  put(x_, {1, 0, 2, 0, 3, 0, 4, 0, 5, 1});
  put(w_, {1, 0, 1, 0, 1, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10});
  put(bias_, {1, 2, 3});
  o_.bias = bias_, o_.relu = 1;
  ASSERT_EQ(ng_conv_fprop(&p_, x_, w_, y_, &o_), NG_OK) << ng_last_error();
  EXPECT_EQ(get(y_, 10), (std::vector<float>{7, 1, 3, 10, 0, 3, 13, 0, 13, -7}));
  put(y_, {1, 0, 0, 0, 0, 0, 0, 0, 2});
  ASSERT_EQ(ng_conv_bprop(&p_, y_, w_, x_, nullptr), NG_OK) << ng_last_error();
  EXPECT_EQ(get(x_, 11), (std::vector<float>{1, 0, 1, 0, 1, 0, 0, 0, 0, 20, -7}));
  put(x_, {1, 0, 2, 0, 3, 0, 4, 0, 5, 1});
  ASSERT_EQ(ng_conv_update(&p_, y_, x_, w_, nullptr), NG_OK) << ng_last_error();
  EXPECT_EQ(get(w_, 19), (std::vector<float>{1, 0, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 6, 0, 8, 0, 10, 2, -7}));
}

// Pixels of x 3 apart and of y 5: what lies between is not read and stays.
TEST_F(CConvTest, PixelsApart) {
  p_.x_pitch = 3, p_.y_pitch = 5;
  put(x_, {1, 0, 99, 2, 0, 99, 3, 0, 99, 4, 0, 99, 5, 1, 99});
  put(w_, {1, 0, 1, 0, 1, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10});
  put(bias_, {1, 2, 3});
  o_.bias = bias_, o_.relu = 1;
  std::uint64_t mask = 0;
  ASSERT_EQ(ng_malloc(&mask, 24), NG_OK);
  const std::array<std::uint32_t, 6> kept = {9, 9, 9, 9, 9, 9};
  ASSERT_EQ(ng_upload(mask, kept.data(), 24), NG_OK);
  o_.mask = mask, o_.mask_pitch = 2;
  std::size_t bytes = 0;
  ASSERT_EQ(ng_conv_workspace(NG_FPROP, &p_, &bytes), NG_OK);
  std::uint64_t workspace = 0;
  ASSERT_EQ(ng_malloc(&workspace, bytes), NG_OK);
  o_.workspace = workspace, o_.workspace_bytes = bytes;
  ASSERT_EQ(ng_conv_fprop(&p_, x_, w_, y_, &o_), NG_OK) << ng_last_error();
  EXPECT_EQ(get(y_, 16), (std::vector<float>{7, 1, 3, -7, -7, 10, 0, 3, -7, -7, 13, 0, 13, -7, -7, -7}));
  std::array<std::uint32_t, 6> bits{};
  ASSERT_EQ(ng_download(bits.data(), mask, 24), NG_OK);
  EXPECT_EQ(bits, (std::array<std::uint32_t, 6>{7, 9, 5, 9, 5, 9}));
  o_.mask_pitch = -1;
  expect_refused(ng_conv_fprop(&p_, x_, w_, y_, &o_), NG_INVALID_ARGUMENT,
                 {"mask_pitch is -1", "the words of a row, 1"});
  for (const std::uint64_t a : {mask, workspace}) EXPECT_EQ(ng_free(a), NG_OK);
}

TEST_F(CConvTest, SumsOfChannels) {
  put(x_, {1, 0, 2, 0, 3, 0, 4, 0, 5, 1});
  put(w_, {1, 0, 1, 0, 1, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10});
  std::size_t bytes = 0;
  ASSERT_EQ(ng_conv_sums_workspace(NG_FPROP, &p_, &bytes), NG_OK) << ng_last_error();
  ConvProblem line;
  line.c = 2, line.k = 3, line.in[2] = 5, line.filter[2] = 3;
  EXPECT_EQ(bytes, conv_workspace(ConvPass::fprop, line, true));
  std::uint64_t workspace = 0, sums = 0;
  ASSERT_EQ(ng_malloc(&workspace, bytes), NG_OK);
  ASSERT_EQ(ng_malloc(&sums, 4 * kRoom), NG_OK);
  put(sums, std::vector<float>(kRoom, -7));
  o_.channel_sum = sums + 4, o_.channel_sum_squares = sums + 16;
  o_.workspace = workspace, o_.workspace_bytes = bytes - 1;
  expect_refused(ng_conv_fprop(&p_, x_, w_, y_, &o_), NG_INVALID_ARGUMENT,
                 {"workspace is of", "(ng_conv_sums_workspace)"});
  o_.workspace_bytes = bytes;
  ASSERT_EQ(ng_conv_fprop(&p_, x_, w_, y_, &o_), NG_OK) << ng_last_error();
  const std::vector<float> want = {-7, 27, -6, 10, 261, 14, 100, -7};
  EXPECT_EQ(get(sums, 8), want);
  put(sums, std::vector<float>(kRoom, -7));
  ng_conv_plan* plan = nullptr;
  ASSERT_EQ(ng_conv_plan_create(NG_FPROP, &p_, nullptr, &o_, &plan), NG_OK) << ng_last_error();
  ng_conv_addresses at = NG_CONV_ADDRESSES_INIT;
  at.in1 = x_, at.in2 = w_, at.out = y_, at.workspace = workspace;
  ASSERT_EQ(ng_conv_plan_workspace(plan, &at.workspace_bytes), NG_OK);
  at.channel_sum = sums + 4;
  expect_refused(ng_conv_plan_launch(plan, &at, 0), NG_INVALID_ARGUMENT, {"channel_sum_squares is missing"});
  at.channel_sum_squares = sums + 16;
  ASSERT_EQ(ng_conv_plan_launch(plan, &at, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(get(sums, 8), want);
  ng_conv_plan_destroy(plan);
  expect_refused(ng_conv_sums_workspace(NG_FPROP, &p_, nullptr), NG_INVALID_ARGUMENT, {"bytes is null"});
  for (const std::uint64_t a : {workspace, sums}) EXPECT_EQ(ng_free(a), NG_OK);
}

TEST_F(CConvTest, PlansAreLaunchedAgain) {
  const std::vector<float> x = {1, 0, 2, 0, 3, 0, 4, 0, 5, 1},
                           w = {1, 0, 1, 0, 1, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10};
  const std::vector<float> want = {7, 1, 3, 10, 0, 3, 13, 0, 13};
  put(w_, w), put(bias_, {1, 2, 3});
  o_.bias = bias_, o_.relu = 1;
  ng_conv_addresses at = NG_CONV_ADDRESSES_INIT;
  at.in1 = x_ + 4, at.in2 = w_, at.out = y_ + 4;
  ng_conv_plan* plan = nullptr;
  ASSERT_EQ(ng_conv_plan_create(NG_FPROP, &p_, &at, &o_, &plan), NG_OK) << ng_last_error();
  std::size_t bytes = 0;
  ASSERT_EQ(ng_conv_plan_workspace(plan, &bytes), NG_OK) << ng_last_error();
  std::uint64_t workspace = 0;
  ASSERT_EQ(ng_malloc(&workspace, bytes + 16), NG_OK);
  at.workspace = workspace, at.workspace_bytes = bytes, at.bias = bias_;
  for (const std::uint64_t place : {1U, 2U, 5U}) {
    put(y_, std::vector<float>(kRoom, -7));
    put(x_ + 4 * place, x);
    at.in1 = x_ + 4 * place, at.out = y_ + 4 * place;
    ASSERT_EQ(ng_conv_plan_launch(plan, &at, 0), NG_OK) << ng_last_error();
    std::vector<float> all(kRoom, -7);
    std::copy(want.begin(), want.end(), all.begin() + static_cast<std::ptrdiff_t>(place));
    EXPECT_EQ(get(y_, kRoom), all);
  }
  at.out = y_ + 2;
  expect_refused(ng_conv_plan_launch(plan, &at, 0), NG_INVALID_ARGUMENT,
                 {"address of y is", "needs a multiple of 4, as planned"});
  at.out = y_, at.bias = 0;
  expect_refused(ng_conv_plan_launch(plan, &at, 0), NG_INVALID_ARGUMENT, {"bias is missing; one was planned"});
  at.size = 3;
  expect_refused(ng_conv_plan_launch(plan, &at, 0), NG_INVALID_ARGUMENT, {"addresses"});
  expect_refused(ng_conv_plan_launch(plan, nullptr, 0), NG_INVALID_ARGUMENT, {"addresses"});
  expect_refused(ng_conv_plan_launch(nullptr, &at, 0), NG_INVALID_ARGUMENT, {"plan is null"});
  expect_refused(ng_conv_plan_workspace(plan, nullptr), NG_INVALID_ARGUMENT, {"bytes is null"});
  ng_conv_plan_destroy(plan);
  ng_conv_plan_destroy(nullptr);
  plan = reinterpret_cast<ng_conv_plan*>(this);
  expect_refused(ng_conv_plan_create(NG_UPDATE, &p_, nullptr, &o_, &plan), NG_INVALID_ARGUMENT,
                 {"relu is for fprop alone"});
  EXPECT_EQ(plan, nullptr);
  expect_refused(ng_conv_plan_create(static_cast<ng_conv_pass>(3), &p_, nullptr, nullptr, &plan), NG_INVALID_ARGUMENT,
                 {"pass is 3"});
  expect_refused(ng_conv_plan_create(NG_FPROP, &p_, nullptr, nullptr, nullptr), NG_INVALID_ARGUMENT, {"plan is null"});
  p_.layout = NG_CHANNELS_FIRST;
  ASSERT_EQ(ng_conv_plan_create(NG_FPROP, &p_, nullptr, nullptr, &plan), NG_OK) << ng_last_error();
  ng_conv_addresses short_of = NG_CONV_ADDRESSES_INIT;
  short_of.in1 = x_, short_of.in2 = w_, short_of.out = y_, short_of.workspace = bias_, short_of.workspace_bytes = 1;
  expect_refused(ng_conv_plan_launch(plan, &short_of, 0), NG_INVALID_ARGUMENT, {"workspace is of 1 bytes"});
  ng_conv_plan_destroy(plan);
  EXPECT_EQ(ng_free(workspace), NG_OK);
}

TEST_F(CConvTest, TheWorkspaceIsChecked) {
  p_.layout = NG_CHANNELS_FIRST;  // computed through copies
  std::size_t bytes = 0;
  ASSERT_EQ(ng_conv_workspace(NG_UPDATE, &p_, &bytes), NG_OK) << ng_last_error();
  ASSERT_GT(bytes, 0U);
  expect_refused(ng_conv_update(&p_, y_, x_, w_, nullptr), NG_INVALID_ARGUMENT,
                 {"workspace is 0", std::to_string(bytes)});
  o_.workspace = bias_, o_.workspace_bytes = bytes - 1;
  expect_refused(ng_conv_update(&p_, y_, x_, w_, &o_), NG_INVALID_ARGUMENT,
                 {"workspace is of " + std::to_string(bytes - 1) + " bytes"});
  unwritten();
}

TEST_F(CConvTest, BadArgumentsAreRefused) {
  using P = ng_conv_problem;
  refused([](P& p) { p.size = 0; }, NG_INVALID_ARGUMENT, "problem->size is 0");
  refused([](P& p) { p.n = 0; }, NG_INVALID_ARGUMENT, "n (batch) is 0");
  refused([](P& p) { p.groups = 2; }, NG_INVALID_ARGUMENT, "groups");
  refused([](P& p) { p.filter[2] = 6; }, NG_INVALID_ARGUMENT, "width");
  refused([](P& p) { p.pad[1] = -1; }, NG_INVALID_ARGUMENT, "pad (height) is -1");
  refused([](P& p) { p.stride[0] = 0; }, NG_INVALID_ARGUMENT, "stride (depth) is 0");
  refused([](P& p) { p.layout = 3; }, NG_INVALID_ARGUMENT, "layout is 3");
  refused([](P& p) { p.w_type = -1; }, NG_INVALID_ARGUMENT, "w_type is -1");
  refused([](P& p) { p.w_type = NG_INT32; }, NG_TYPE_ERROR, "int32");

  std::size_t bytes = 0;
  expect_refused(ng_conv_workspace(NG_FPROP, nullptr, &bytes), NG_INVALID_ARGUMENT, {"problem is null"});
  expect_refused(ng_conv_workspace(NG_FPROP, &p_, nullptr), NG_INVALID_ARGUMENT, {"bytes is null"});
  expect_refused(ng_conv_workspace(static_cast<ng_conv_pass>(3), &p_, &bytes), NG_INVALID_ARGUMENT, {"pass is 3"});
  expect_refused(ng_conv_workspace(static_cast<ng_conv_pass>(-4), &p_, &bytes), NG_INVALID_ARGUMENT, {"pass is -4"});
  expect_refused(ng_conv_out(&p_, nullptr), NG_INVALID_ARGUMENT, {"out is null"});
  std::array<std::int64_t, 3> out = {5, 5, 5};
  expect_refused(ng_conv_out(nullptr, out.data()), NG_INVALID_ARGUMENT, {"problem is null"});
  EXPECT_EQ(out[0], 5);
  expect_refused(ng_conv_fprop(nullptr, x_, w_, y_, nullptr), NG_INVALID_ARGUMENT,
                 {"ng_conv_fprop", "problem is null"});
  expect_refused(ng_conv_fprop(&p_, 0, w_, y_, nullptr), NG_INVALID_ARGUMENT, {"x is 0"});
  expect_refused(ng_conv_bprop(&p_, y_, 0, x_, nullptr), NG_INVALID_ARGUMENT, {"w is 0"});
  expect_refused(ng_conv_update(&p_, y_, x_, w_ + 1, nullptr), NG_INVALID_ARGUMENT, {"dw", "multiple of 4"});
  const auto with = [&](auto change) {
    ng_conv_options o = NG_CONV_OPTIONS_INIT;
    change(o);
    return ng_conv_fprop(&p_, x_, w_, y_, &o);
  };
  using O = ng_conv_options;
  expect_refused(with([](O& o) { o.size = 8; }), NG_INVALID_ARGUMENT, {"options->size is 8"});
  expect_refused(with([](O& o) { o.relu = 2; }), NG_INVALID_ARGUMENT, {"relu is 2"});
  expect_refused(with([](O& o) { o.bias_type = 77; }), NG_INVALID_ARGUMENT, {"bias_type is 77"});
  expect_refused(with([](O& o) { o.rounding.stochastic = 5; }), NG_INVALID_ARGUMENT, {"rounding.stochastic is 5"});
  expect_refused(with([&](O& o) { o.bias = bias_, o.bias_type = NG_INT8; }), NG_TYPE_ERROR, {"bias", "int8"});
  unwritten();
}

// Pieces that passes share: update has the bits of its own, and reads what was left, not what x and dy have become.
TEST_F(CConvTest, SharesPieces) {
  p_ = NG_CONV_PROBLEM_INIT;
  p_.precision = NG_TENSOR;
  p_.n = 16, p_.c = p_.k = 256, p_.in[1] = p_.in[2] = 14, p_.filter[1] = p_.filter[2] = 3, p_.pad[1] = p_.pad[2] = 1;
  const std::size_t pixels = std::size_t{16} * 14 * 14, size = pixels * 256, weights = std::size_t{256} * 9 * 256;
  std::vector<float> x(size), w(weights), dy(size);
  std::uint32_t state = 1;
  for (std::vector<float>* v : {&x, &w, &dy}) {
    for (float& f : *v)
      f = static_cast<float>(static_cast<std::int32_t>(state = state * 1664525 + 1013904223)) * 0x1p-31F;
  }
  const auto device = [](std::size_t bytes) {
    std::uint64_t at = 0;
    EXPECT_EQ(ng_malloc(&at, bytes), NG_OK);
    return at;
  };
  const std::uint64_t of_x = device(4 * size), of_w = device(4 * weights), of_y = device(4 * size),
                      dw = device(4 * weights);
  put(of_x, x), put(of_w, w), put(of_y, dy);
  std::size_t bytes = 0;
  std::size_t most = 0;
  for (const ng_conv_pass pass : {NG_FPROP, NG_BPROP, NG_UPDATE}) {
    std::int32_t makes = 7;
    ASSERT_EQ(ng_conv_makes_pieces(pass, &p_, nullptr, &makes), NG_OK) << ng_last_error();
    EXPECT_EQ(makes, 1);
    ASSERT_EQ(ng_conv_workspace(pass, &p_, &bytes), NG_OK);
    most = std::max(most, bytes);
  }
  o_.workspace = device(most), o_.workspace_bytes = most;
  ASSERT_EQ(ng_conv_update(&p_, of_y, of_x, dw, &o_), NG_OK) << ng_last_error();
  const std::vector<float> want = get(dw, weights);
  ASSERT_EQ(ng_conv_pieces_bytes(static_cast<std::int64_t>(pixels), 256, &bytes), NG_OK) << ng_last_error();
  ng_conv_options shared = o_;
  shared.x_pieces = device(bytes), shared.y_pieces = device(bytes);
  const std::uint64_t out = device(4 * size);
  ASSERT_EQ(ng_conv_fprop(&p_, of_x, of_w, out, &shared), NG_OK) << ng_last_error();
  ASSERT_EQ(ng_conv_bprop(&p_, of_y, of_w, out, &shared), NG_OK) << ng_last_error();
  put(of_x, std::vector<float>(size, 1)), put(of_y, std::vector<float>(size, 1));
  shared.x_pieces_made = shared.y_pieces_made = 1;
  ASSERT_EQ(ng_conv_update(&p_, of_y, of_x, dw, &shared), NG_OK) << ng_last_error();
  EXPECT_EQ(get(dw, weights), want);

  shared.x_pieces += 4;
  expect_refused(ng_conv_update(&p_, of_y, of_x, dw, &shared), NG_INVALID_ARGUMENT, {"x_pieces", "multiple of 16"});
  shared.x_pieces_made = 2;
  expect_refused(ng_conv_update(&p_, of_y, of_x, dw, &shared), NG_INVALID_ARGUMENT, {"x_pieces_made is 2"});
  expect_refused(ng_conv_pieces_bytes(0, 4, &bytes), NG_INVALID_ARGUMENT, {"pixels is 0"});
  expect_refused(ng_conv_pieces_bytes(std::int64_t{1} << 31, 1, &bytes), NG_INVALID_ARGUMENT, {"less than 2^31"});
  expect_refused(ng_conv_pieces_bytes(4, 4, nullptr), NG_INVALID_ARGUMENT, {"bytes is null"});
  expect_refused(ng_conv_makes_pieces(NG_FPROP, &p_, nullptr, nullptr), NG_INVALID_ARGUMENT, {"makes is null"});
  for (const std::uint64_t a : {of_x, of_w, of_y, dw, out, o_.workspace, shared.x_pieces - 4, shared.y_pieces})
    ng_free(a);
}

// A program that was built with the structures' first sizes keeps working; what is after them then is not read.
TEST_F(CConvTest, OlderStructuresAreTaken) {
  put(x_, {1, 0, 2, 0, 3, 0, 4, 0, 5, 1});
  put(w_, {1, 0, 1, 0, 1, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10});
  p_.size = offsetof(ng_conv_problem, precision);
  p_.precision = 9, p_.reserved = 9;
  o_.size = offsetof(ng_conv_options, no_tensor_cores);
  o_.no_tensor_cores = 9, o_.activation = 9, o_.scale = 9;
  ASSERT_EQ(ng_conv_fprop(&p_, x_, w_, y_, &o_), NG_OK) << ng_last_error();
  EXPECT_EQ(get(y_, 3), (std::vector<float>{6, -1, 0}));
}

TEST_F(CConvTest, RefusesOptionsThatAreNone) {
  refused([](ng_conv_problem& p) { p.precision = 2; }, NG_INVALID_ARGUMENT, "precision is 2");
  refused([](ng_conv_problem& p) { p.precision = -1; }, NG_INVALID_ARGUMENT, "precision is -1");
  refused([](ng_conv_problem& p) { p.reserved = 1; }, NG_INVALID_ARGUMENT, "problem.reserved is 1");
  o_.no_tensor_cores = 2;
  expect_refused(ng_conv_fprop(&p_, x_, w_, y_, &o_), NG_INVALID_ARGUMENT, {"no_tensor_cores is 2"});
  o_.no_tensor_cores = 0, o_.activation = NG_DRELU;
  expect_refused(ng_conv_fprop(&p_, x_, w_, y_, &o_), NG_INVALID_ARGUMENT, {"activation is 8", "other than NG_DRELU"});
  o_.activation = NG_CLIP, o_.clip_low = 1;
  expect_refused(ng_conv_fprop(&p_, x_, w_, y_, &o_), NG_INVALID_ARGUMENT, {"clip_low is 1"});
  o_.activation = 0, o_.scale = 64;
  expect_refused(ng_conv_fprop(&p_, x_, w_, y_, &o_), NG_INVALID_ARGUMENT, {"scale is given"});
  unwritten();
}

TEST_F(CConvTest, ClipsSums) {
  put(x_, {1, 0, 2, 0, 3, 0, 4, 0, 5, 1});
  put(w_, {1, 0, 1, 0, 1, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10});
  o_.activation = NG_CLIP, o_.clip_low = -0.5F, o_.clip_high = 4;
  ASSERT_EQ(ng_conv_fprop(&p_, x_, w_, y_, &o_), NG_OK) << ng_last_error();
  EXPECT_EQ(get(y_, 3), (std::vector<float>{4, -0.5F, 0}));
}

// Of bytes, by a call and by a plan, whose scale may be another one each time.
using CConvBytesTest = test::OnEmulator;
TEST_F(CConvBytesTest, AreScaled) {
  const std::vector<std::int8_t> elements = {3, 4}, filters = {2, 1, -1, 1};
  const std::vector<float> small = {0.5F, 20}, large = {100, -1};
  const Tensor x = Tensor::from_host<std::int8_t>(elements, {1, 1, 1, 2});
  const Tensor w = Tensor::from_host<std::int8_t>(filters, {2, 1, 1, 2});
  const Tensor first = Tensor::from_host<float>(small, {2}), second = Tensor::from_host<float>(large, {2});
  Tensor y = Tensor::zeros({1, 1, 1, 2}, Dtype::int8);
  ng_conv_problem p = NG_CONV_PROBLEM_INIT;
  p.c = p.k = 2;
  p.x_type = p.w_type = p.y_type = NG_INT8;
  std::size_t bytes = 0;
  ASSERT_EQ(ng_conv_workspace(NG_FPROP, &p, &bytes), NG_OK) << ng_last_error();
  const Tensor room = Tensor::empty({static_cast<std::int64_t>(bytes) + 16}, Dtype::uint8);
  ng_conv_options o = NG_CONV_OPTIONS_INIT;
  o.workspace = room.address(), o.workspace_bytes = bytes;
  o.scale = first.address();
  ASSERT_EQ(ng_conv_fprop(&p, x.address(), w.address(), y.address(), &o), NG_OK) << ng_last_error();
  EXPECT_EQ(y.to_host<std::int8_t>(), (std::vector<std::int8_t>{5, 20}));

  ng_conv_plan* plan = nullptr;
  ASSERT_EQ(ng_conv_plan_create(NG_FPROP, &p, nullptr, &o, &plan), NG_OK) << ng_last_error();
  ng_conv_addresses at = NG_CONV_ADDRESSES_INIT;
  at.in1 = x.address(), at.in2 = w.address(), at.out = y.address();
  at.workspace = room.address(), at.workspace_bytes = bytes;
  EXPECT_EQ(ng_conv_plan_launch(plan, &at, 0), NG_INVALID_ARGUMENT);
  EXPECT_NE(std::string(ng_last_error()).find("scale is missing"), std::string::npos);
  at.scale = second.address();
  ASSERT_EQ(ng_conv_plan_launch(plan, &at, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(y.to_host<std::int8_t>(), (std::vector<std::int8_t>{127, -1}));
  ng_conv_plan_destroy(plan);
}

// The C++ calls with the same options: the same bits, and another order of sums than without.
class CConvOptionsTest : public test::CApiCalls {
 protected:
  static constexpr std::int64_t kSide = 6, kC = 32, kK = 32;

  // y of one image, by C and by C++, with the elements of `type`.
  static std::array<std::vector<std::uint8_t>, 2> both(Dtype type, Precision precision, bool chains) {
    ConvProblem q;
    q.c = kC, q.k = kK;
    q.in = {1, kSide, kSide}, q.filter = {1, 3, 3}, q.pad = {0, 1, 1};
    q.x_type = q.w_type = q.y_type = type;
    q.precision = precision;
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    const auto filled = [&](const Shape& shape) {
      Tensor t = Tensor::empty(shape);
      std::vector<float> v(static_cast<std::size_t>(t.size()));
      for (float& f : v) f = normal(random);
      t.set(v.data(), v.size() * 4);
      return type == Dtype::float32 ? t : cast(t, type).evaluate();
    };
    const Tensor x = filled({1, kSide, kSide, kC}), w = filled({kK, 3, 3, kC});
    std::array<Tensor, 2> y = {Tensor::zeros({1, kSide, kSide, kK}, type), Tensor::zeros({1, kSide, kSide, kK}, type)};

    ng_conv_problem p = NG_CONV_PROBLEM_INIT;
    p.c = kC, p.k = kK;
    p.in[1] = p.in[2] = kSide, p.filter[1] = p.filter[2] = 3, p.pad[1] = p.pad[2] = 1;
    p.x_type = p.w_type = p.y_type = type == Dtype::float32 ? NG_FLOAT32 : NG_FLOAT16;
    p.precision = precision == Precision::tensor ? NG_TENSOR : NG_STRICT;
    std::size_t bytes = 0;
    EXPECT_EQ(ng_conv_workspace(NG_FPROP, &p, &bytes), NG_OK) << ng_last_error();
    EXPECT_EQ(bytes, conv_workspace(ConvPass::fprop, q));
    const Tensor room = Tensor::empty({static_cast<std::int64_t>(bytes) + 16}, Dtype::uint8);
    ng_conv_options o = NG_CONV_OPTIONS_INIT;
    o.workspace = room.address(), o.workspace_bytes = bytes;
    o.no_tensor_cores = chains ? 1 : 0;
    EXPECT_EQ(ng_conv_fprop(&p, x.address(), w.address(), y[0].address(), &o), NG_OK) << ng_last_error();

    ConvOptions options;
    options.precision = precision;
    options.tensor_cores = !chains;
    conv_fprop(q, x, w, y[1], options);
    std::array<std::vector<std::uint8_t>, 2> out;
    for (std::size_t i = 0; i < 2; ++i) {
      out[i].resize(y[i].nbytes());
      y[i].get(out[i].data(), out[i].size());
    }
    return out;
  }
};

// Where the pieces are worth their kernels, which takes too much arithmetic for the emulator: the workspace tells.
TEST_F(CConvOptionsTest, PrecisionIsTheCallers) {
  ng_conv_problem p = NG_CONV_PROBLEM_INIT;
  p.n = 512, p.c = p.k = 256;
  p.in[1] = p.in[2] = 14, p.filter[1] = p.filter[2] = 3, p.pad[1] = p.pad[2] = 1;
  ConvProblem q;
  q.n = 512, q.c = q.k = 256;
  q.in = {1, 14, 14}, q.filter = {1, 3, 3}, q.pad = {0, 1, 1};
  std::array<std::size_t, 2> bytes{};
  for (const std::int32_t precision : {NG_STRICT, NG_TENSOR}) {
    p.precision = precision;
    q.precision = precision == NG_TENSOR ? Precision::tensor : Precision::strict;
    std::size_t& got = bytes[static_cast<std::size_t>(precision)];
    ASSERT_EQ(ng_conv_workspace(NG_FPROP, &p, &got), NG_OK) << ng_last_error();
    EXPECT_EQ(got, conv_workspace(ConvPass::fprop, q));
  }
  EXPECT_GT(bytes[NG_TENSOR], bytes[NG_STRICT]);
}

TEST_F(CConvOptionsTest, TensorCoresAreTheCallers) {
  const auto strict = both(Dtype::float32, Precision::strict, false);
  const auto cores = both(Dtype::float16, Precision::strict, false);
  const auto chains = both(Dtype::float16, Precision::strict, true);
  for (const auto& one : {strict, cores, chains}) EXPECT_EQ(one[0], one[1]);
  EXPECT_NE(cores[0], chains[0]);
}

}  // namespace
}  // namespace nervanagpu
