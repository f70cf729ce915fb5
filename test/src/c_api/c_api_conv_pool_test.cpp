// A convolution and the max pool after it through nervanagpu.h, beside the two calls.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "nervanagpu/nervanagpu.h"
#include "test/src/c_api/c_api_calls.h"

namespace nervanagpu {
namespace {

// Images of 16 x 16 with three channels and 64 filters of 3 x 3: small integers, so that all sums are exact.
class CConvPoolTest : public test::CApiCalls {
 protected:
  CConvPoolTest() {
    p_.n = 2, p_.c = 3, p_.k = 64;
    p_.in[1] = p_.in[2] = 16;
    p_.filter[1] = p_.filter[2] = 3;
    p_.pad[1] = p_.pad[2] = 1;
    p_.x_type = p_.w_type = p_.y_type = NG_FLOAT16;
    q_.window[2] = q_.window[3] = q_.stride[2] = q_.stride[3] = 2;
    o_.relu = 1;
    x_ = filled(2 * 16 * 16 * 3, 5), w_ = filled(64 * 9 * 3, 3);
    between_ = filled(kBetween, 1), y_ = filled(kPooled, 1), other_ = filled(kPooled, 1);
    for (std::uint64_t* a : {&codes_, &other_codes_}) {
      EXPECT_EQ(ng_malloc(a, kPooled), NG_OK);
      EXPECT_EQ(ng_upload(*a, std::vector<std::uint8_t>(kPooled, 77).data(), kPooled), NG_OK);
    }
  }
  ~CConvPoolTest() override {
    for (const std::uint64_t a : {x_, w_, between_, y_, other_, codes_, other_codes_}) EXPECT_EQ(ng_free(a), NG_OK);
  }

  // Of -top to top, in float16.
  static std::uint64_t filled(std::size_t count, int top) {
    std::vector<std::uint16_t> v(count);
    for (std::size_t i = 0; i < count; ++i) {
      const int number = static_cast<int>((i * 7919 + i / 5) % static_cast<std::size_t>(2 * top + 1)) - top;
      v[i] = half(number);
    }
    std::uint64_t out = 0;
    EXPECT_EQ(ng_malloc(&out, 2 * count), NG_OK);
    EXPECT_EQ(ng_upload(out, v.data(), 2 * count), NG_OK);
    return out;
  }
  // The bits of a small integer.
  static std::uint16_t half(int number) {
    if (number == 0) return 0;
    const unsigned magnitude = static_cast<unsigned>(number < 0 ? -number : number);
    const unsigned top = static_cast<unsigned>(std::bit_width(magnitude)) - 1;
    return static_cast<std::uint16_t>((number < 0 ? 0x8000U : 0U) | (top + 15) << 10 |
                                      ((magnitude << 10 >> top) & 0x3ffU));
  }
  static void refused(ng_status got, const std::string& word) { expect_refused(got, NG_INVALID_ARGUMENT, {word}); }
  // By ng_conv_fprop and ng_max_pool_fprop.
  void expect_as_by_two() {
    ng_pool_problem behind = q_;
    ASSERT_EQ(ng_conv_max_pool_behind(&p_, &behind), NG_OK) << ng_last_error();
    std::size_t bytes = 0;
    ASSERT_EQ(ng_conv_workspace(NG_FPROP, &p_, &bytes), NG_OK);
    ng_conv_options o = o_;
    std::uint64_t workspace = 0;
    ASSERT_EQ(ng_malloc(&workspace, bytes + 16), NG_OK);
    o.workspace = workspace, o.workspace_bytes = bytes + 16;
    ASSERT_EQ(ng_conv_fprop(&p_, x_, w_, between_, &o), NG_OK) << ng_last_error();
    ng_pool_options pool = NG_POOL_OPTIONS_INIT;
    pool.relu = o_.relu;
    ASSERT_EQ(ng_max_pool_fprop(&behind, between_, other_, other_codes_, &pool), NG_OK) << ng_last_error();
    std::int64_t out[4] = {}, codes = 0;  // NOLINT(modernize-avoid-c-arrays): C's
    ASSERT_EQ(ng_pool_out(&behind, out), NG_OK);
    ASSERT_EQ(ng_pool_argmax_bytes(&behind, &codes), NG_OK);
    const auto count = static_cast<std::size_t>(std::accumulate(out, out + 4, behind.n, std::multiplies<>()));
    EXPECT_EQ(get<std::uint16_t>(y_, count), get<std::uint16_t>(other_, count));
    const auto places = static_cast<std::size_t>(codes);
    EXPECT_EQ(get<std::uint8_t>(codes_, places), get<std::uint8_t>(other_codes_, places));
    EXPECT_EQ(ng_free(workspace), NG_OK);
  }

  static constexpr std::size_t kBetween = 2UL * 16 * 16 * 64, kPooled = kBetween;
  ng_conv_problem p_ = NG_CONV_PROBLEM_INIT;
  ng_pool_problem q_ = NG_POOL_PROBLEM_INIT;
  ng_conv_options o_ = NG_CONV_OPTIONS_INIT;
  std::uint64_t x_ = 0, w_ = 0, between_ = 0, y_ = 0, other_ = 0, codes_ = 0, other_codes_ = 0;
};

TEST_F(CConvPoolTest, OneKernel) {
  std::int32_t one = -1;
  ASSERT_EQ(ng_conv_max_pool_is_one_kernel(&p_, &q_, &o_, &one), NG_OK) << ng_last_error();
  EXPECT_EQ(one, 1);
  ASSERT_EQ(ng_conv_max_pool_fprop(&p_, &q_, x_, w_, y_, codes_, &o_), NG_OK) << ng_last_error();
  expect_as_by_two();
}

TEST_F(CConvPoolTest, TwoKernels) {
  q_.window[2] = q_.window[3] = 3;
  std::int32_t one = -1;
  ASSERT_EQ(ng_conv_max_pool_is_one_kernel(&p_, &q_, &o_, &one), NG_OK) << ng_last_error();
  EXPECT_EQ(one, 0);
  ASSERT_EQ(ng_conv_max_pool_fprop(&p_, &q_, x_, w_, y_, codes_, &o_), NG_OK) << ng_last_error();
  expect_as_by_two();
  o_.relu = 0;
  ASSERT_EQ(ng_conv_max_pool_fprop(&p_, &q_, x_, w_, y_, codes_, &o_), NG_OK) << ng_last_error();
  expect_as_by_two();
}

TEST_F(CConvPoolTest, Refusals) {
  const auto call = [&] { return ng_conv_max_pool_fprop(&p_, &q_, x_, w_, y_, codes_, &o_); };
  const auto before = get<std::uint16_t>(y_, kPooled);
  o_.mask = x_;
  refused(call(), "mask is an address; needs 0");
  o_.mask = 0, o_.channel_sum = x_;
  refused(call(), "channel_sum is an address; needs 0");
  o_.channel_sum = 0, o_.beta = 1;
  refused(call(), "beta");
  o_.beta = 0, q_.op = NG_POOL_AVG;
  refused(call(), "max");
  refused(ng_conv_max_pool_behind(&p_, &q_), "max");
  q_.op = NG_POOL_MAX;
  refused(ng_conv_max_pool_behind(&p_, nullptr), "pool is null");
  refused(ng_conv_max_pool_behind(nullptr, &q_), "problem is null");
  refused(ng_conv_max_pool_is_one_kernel(&p_, &q_, &o_, nullptr), "one is null");
  EXPECT_EQ(get<std::uint16_t>(y_, kPooled), before);
}

}  // namespace
}  // namespace nervanagpu
