// Poolings through nervanagpu.h.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "nervanagpu/nervanagpu.h"
#include "test/src/c_api/c_api_calls.h"

namespace nervanagpu {
namespace {

class CPoolTest : public test::CApiCalls {
 protected:
  static constexpr std::size_t kRoom = 64;

  CPoolTest() {
    p_.in[3] = 4, p_.window[3] = 2, p_.stride[3] = 2;
    for (std::uint64_t* a : {&x_, &y_, &dx_}) {
      EXPECT_EQ(ng_malloc(a, kRoom * 4), NG_OK);
      put(*a, std::vector<float>(kRoom, -7));
    }
  }
  ~CPoolTest() override {
    for (const std::uint64_t a : {x_, y_, dx_}) EXPECT_EQ(ng_free(a), NG_OK);
  }
  template <class F>
  void refused(const F& change, ng_status status, const std::string& word) {
    ng_pool_problem p = p_;
    change(p);
    expect_refused(ng_pool_fprop(&p, x_, y_, nullptr), status, {word});
    expect_refused(ng_pool_bprop(&p, y_, x_, dx_, nullptr), status, {word});
    unwritten();
  }
  void unwritten() {
    for (const std::uint64_t a : {y_, dx_}) EXPECT_EQ(get(a, kRoom), std::vector<float>(kRoom, -7));
  }

  ng_pool_problem p_ = NG_POOL_PROBLEM_INIT;
  std::uint64_t x_ = 0, y_ = 0, dx_ = 0;
};

TEST_F(CPoolTest, Computes) {
  std::array<std::int64_t, 4> out{};
  ASSERT_EQ(ng_pool_out(&p_, out.data()), NG_OK) << ng_last_error();
  EXPECT_EQ(out, (std::array<std::int64_t, 4>{1, 1, 1, 2}));
  put(x_, {1, 3, 5, 5});
  ng_pool_options o = NG_POOL_OPTIONS_INIT;
  o.alpha = 2;
  ASSERT_EQ(ng_pool_fprop(&p_, x_, y_, &o), NG_OK) << ng_last_error();
  EXPECT_EQ(get(y_, 3), (std::vector<float>{6, 10, -7}));
  ASSERT_EQ(ng_pool_bprop(&p_, y_, x_, dx_, nullptr), NG_OK) << ng_last_error();
  EXPECT_EQ(get(dx_, 5), (std::vector<float>{0, 6, 10, 0, -7}));
  p_.op = NG_POOL_AVG;
  ASSERT_EQ(ng_pool_fprop(&p_, x_, y_, nullptr), NG_OK) << ng_last_error();
  EXPECT_EQ(get(y_, 3), (std::vector<float>{2, 5, -7}));
}

TEST_F(CPoolTest, PixelsMayLieApart) {
  p_.x_pitch = 3;
  put(x_, {1, 9, 9, 3, 9, 9, 5, 9, 9, 4});
  ASSERT_EQ(ng_pool_fprop(&p_, x_, y_, nullptr), NG_OK) << ng_last_error();
  EXPECT_EQ(get(y_, 3), (std::vector<float>{3, 5, -7}));
  ASSERT_EQ(ng_pool_bprop(&p_, y_, x_, dx_, nullptr), NG_OK) << ng_last_error();
  EXPECT_EQ(get(dx_, 11), (std::vector<float>{0, -7, -7, 3, -7, -7, 5, -7, -7, 0, -7}));
}

TEST_F(CPoolTest, SavesThePlacesOfTheMaxima) {
  std::int64_t bytes = 0;
  ASSERT_EQ(ng_pool_argmax_bytes(&p_, &bytes), NG_OK) << ng_last_error();
  EXPECT_EQ(bytes, 2);
  std::uint64_t argmax = 0;
  ASSERT_EQ(ng_malloc(&argmax, 2), NG_OK);
  put(x_, {1, 3, -5, -5});
  ng_pool_options o = NG_POOL_OPTIONS_INIT;
  ASSERT_EQ(ng_max_pool_fprop(&p_, x_, y_, argmax, &o), NG_OK) << ng_last_error();
  EXPECT_EQ(get(y_, 3), (std::vector<float>{3, -5, -7}));
  ASSERT_EQ(ng_max_pool_bprop(&p_, y_, argmax, dx_, nullptr), NG_OK) << ng_last_error();
  EXPECT_EQ(get(dx_, 5), (std::vector<float>{0, 3, -5, 0, -7}));
  o.relu = 1;
  ASSERT_EQ(ng_max_pool_fprop(&p_, x_, y_, argmax, &o), NG_OK) << ng_last_error();
  ASSERT_EQ(ng_max_pool_bprop(&p_, y_, argmax, dx_, nullptr), NG_OK) << ng_last_error();
  EXPECT_EQ(get(dx_, 5), (std::vector<float>{0, 3, 0, 0, -7}));
  o.relu = 2;
  expect_refused(ng_max_pool_fprop(&p_, x_, y_, argmax, &o), NG_INVALID_ARGUMENT, {"relu is 2"});
  expect_refused(ng_max_pool_fprop(&p_, x_, y_, 0, nullptr), NG_INVALID_ARGUMENT, {"argmax is 0"});
  expect_refused(ng_max_pool_bprop(&p_, y_, 0, dx_, nullptr), NG_INVALID_ARGUMENT, {"argmax is 0"});
  expect_refused(ng_pool_argmax_bytes(&p_, nullptr), NG_INVALID_ARGUMENT, {"bytes is null"});
  p_.op = NG_POOL_AVG;
  expect_refused(ng_pool_argmax_bytes(&p_, &bytes), NG_INVALID_ARGUMENT, {"needs op max"});
  EXPECT_EQ(ng_free(argmax), NG_OK);
}

TEST_F(CPoolTest, PlansAreLaunchedAgain) {
  ng_pool_addresses at = NG_POOL_ADDRESSES_INIT;
  at.in = x_ + 4, at.out = y_ + 4;
  ng_pool_plan* plan = nullptr;
  ASSERT_EQ(ng_pool_plan_create(NG_POOL_FPROP, &p_, &at, nullptr, &plan), NG_OK) << ng_last_error();
  for (const std::uint64_t place : {1U, 2U, 5U}) {
    put(y_, std::vector<float>(kRoom, -7));
    put(x_ + 4 * place, {1, 3, 5, 4});
    at.in = x_ + 4 * place, at.out = y_ + 4 * place;
    ASSERT_EQ(ng_pool_plan_launch(plan, &at, 0), NG_OK) << ng_last_error();
    std::vector<float> all(kRoom, -7);
    all[place] = 3, all[place + 1] = 5;
    EXPECT_EQ(get(y_, kRoom), all);
  }
  at.out = y_ + 2;
  expect_refused(ng_pool_plan_launch(plan, &at, 0), NG_INVALID_ARGUMENT,
                 {"address of y is", "needs a multiple of 4, as planned"});
  at.out = 0;
  expect_refused(ng_pool_plan_launch(plan, &at, 0), NG_INVALID_ARGUMENT, {"y is 0"});
  at.out = y_, at.argmax = dx_;
  expect_refused(ng_pool_plan_launch(plan, &at, 0), NG_INVALID_ARGUMENT, {"argmax was not planned"});
  at.size = 3;
  expect_refused(ng_pool_plan_launch(plan, &at, 0), NG_INVALID_ARGUMENT, {"addresses"});
  expect_refused(ng_pool_plan_launch(plan, nullptr, 0), NG_INVALID_ARGUMENT, {"addresses"});
  expect_refused(ng_pool_plan_launch(nullptr, &at, 0), NG_INVALID_ARGUMENT, {"plan is null"});
  ng_pool_plan_destroy(plan);
  ng_pool_plan_destroy(nullptr);
  plan = reinterpret_cast<ng_pool_plan*>(this);
  expect_refused(ng_pool_plan_create(static_cast<ng_pool_pass>(2), &p_, nullptr, nullptr, &plan), NG_INVALID_ARGUMENT,
                 {"pass is 2"});
  EXPECT_EQ(plan, nullptr);
  expect_refused(ng_pool_plan_create(NG_POOL_FPROP, &p_, nullptr, nullptr, nullptr), NG_INVALID_ARGUMENT,
                 {"plan is null"});
  expect_refused(ng_pool_plan_create(NG_POOL_FPROP, nullptr, nullptr, nullptr, &plan), NG_INVALID_ARGUMENT,
                 {"problem is null"});
}

TEST_F(CPoolTest, BadArgumentsAreRefused) {
  using P = ng_pool_problem;
  refused([](P& p) { p.size = 16; }, NG_INVALID_ARGUMENT, "problem->size is 16");
  refused([](P& p) { p.op = 3; }, NG_INVALID_ARGUMENT, "op is 3");
  refused([](P& p) { p.layout = -1; }, NG_INVALID_ARGUMENT, "layout is -1");
  refused([](P& p) { p.dtype = 9; }, NG_INVALID_ARGUMENT, "dtype is 9");
  refused([](P& p) { p.dtype = NG_INT8; }, NG_TYPE_ERROR, "int8");
  refused([](P& p) { p.count_padding = 2; }, NG_INVALID_ARGUMENT, "count_padding is 2");
  refused([](P& p) { p.n = 0; }, NG_INVALID_ARGUMENT, "0");
  refused([](P& p) { p.window[3] = 5; }, NG_INVALID_ARGUMENT, "window");
  refused([](P& p) { p.pad[3] = 2; }, NG_INVALID_ARGUMENT, "pad");
  refused([](P& p) { p.stride[3] = 0; }, NG_INVALID_ARGUMENT, "stride");
  expect_refused(ng_pool_out(nullptr, nullptr), NG_INVALID_ARGUMENT, {"out is null"});
  expect_refused(ng_pool_fprop(nullptr, x_, y_, nullptr), NG_INVALID_ARGUMENT, {"ng_pool_fprop", "problem is null"});
  expect_refused(ng_pool_bprop(nullptr, y_, x_, dx_, nullptr), NG_INVALID_ARGUMENT,
                 {"ng_pool_bprop", "problem is null"});
  expect_refused(ng_pool_fprop(&p_, 0, y_, nullptr), NG_INVALID_ARGUMENT, {"x is 0"});
  expect_refused(ng_pool_bprop(&p_, y_, x_, 0, nullptr), NG_INVALID_ARGUMENT, {"dx is 0"});
  ng_pool_options o = NG_POOL_OPTIONS_INIT;
  o.size = 0;
  expect_refused(ng_pool_fprop(&p_, x_, y_, &o), NG_INVALID_ARGUMENT, {"options->size is 0"});
  o = NG_POOL_OPTIONS_INIT;
  o.rounding.bits = -1;
  expect_refused(ng_pool_bprop(&p_, y_, x_, dx_, &o), NG_INVALID_ARGUMENT, {"rounding.bits is -1"});
  unwritten();
}

}  // namespace
}  // namespace nervanagpu
