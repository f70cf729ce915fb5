// Devices, memory, streams, errors and products through nervanagpu.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nervanagpu/nervanagpu.h"
#include "nervanagpu/nervanagpu.hpp"
#include "src/c_api/c_api.h"
#include "test/src/c_api/c_api_calls.h"

namespace nervanagpu {
namespace {

class CApiTest : public test::CApiCalls {
 protected:
  ~CApiTest() override {
    for (const std::uint64_t a : taken_) EXPECT_EQ(ng_free(a), NG_OK) << ng_last_error();
  }

  std::uint64_t put(const std::vector<float>& host) {
    std::uint64_t address = 0;
    EXPECT_EQ(ng_malloc(&address, host.size() * 4), NG_OK) << ng_last_error();
    CApiCalls::put(address, host);
    taken_.push_back(address);
    return address;
  }

 private:
  std::vector<std::uint64_t> taken_;
};

TEST_F(CApiTest, VersionAndStatusNames) {
  EXPECT_STREQ(ng_version(), version());
  const std::string numbers[] = {std::to_string(NG_VERSION_MAJOR), std::to_string(NG_VERSION_MINOR),
                                 std::to_string(NG_VERSION_PATCH)};
  EXPECT_EQ(ng_version(), numbers[0] + "." + numbers[1] + "." + numbers[2]);
  EXPECT_STREQ(ng_status_name(NG_OK), "NG_OK");
  EXPECT_STREQ(ng_status_name(NG_ERROR), "NG_ERROR");
  EXPECT_STREQ(ng_status_name(static_cast<ng_status>(99)), "unknown status");
}

TEST_F(CApiTest, DeviceInfo) {
  ng_device d = NG_DEVICE_INIT;
  ASSERT_EQ(ng_device_info(&d), NG_OK) << ng_last_error();
  EXPECT_EQ(d.kind, NG_EMULATOR);
  EXPECT_STREQ(d.name, "emulator");
  EXPECT_EQ(std::string(d.arch), device().arch);
  EXPECT_EQ(d.memory, device().memory);
  EXPECT_EQ(d.size, sizeof d);
  expect_refused(ng_device_info(nullptr), NG_INVALID_ARGUMENT, {"ng_device_info", "info is null"});
}

TEST_F(CApiTest, MemoryRoundTrip) {
  const std::vector<float> host = {1, 2, 3};
  EXPECT_EQ(get(put(host), 3), host);
  EXPECT_EQ(ng_upload(0, nullptr, 0), NG_OK);
  EXPECT_EQ(ng_download(nullptr, 0, 0), NG_OK);
  EXPECT_EQ(ng_free(0), NG_OK);
  EXPECT_EQ(ng_synchronize(), NG_OK);
}

TEST_F(CApiTest, BadMemoryCallsAreRefused) {
  std::uint64_t address = 77;
  expect_refused(ng_malloc(nullptr, 4), NG_INVALID_ARGUMENT, {"ng_malloc", "address is null"});
  expect_refused(ng_malloc(&address, 0), NG_INVALID_ARGUMENT, {"ng_malloc", "bytes is 0; needs 1 or more"});
  EXPECT_EQ(address, 0U);
  address = 77;
  expect_refused(ng_malloc(&address, std::size_t{1} << 60), NG_OUT_OF_MEMORY, {"out of memory"});
  EXPECT_EQ(address, 0U);
  expect_refused(ng_free(12345), NG_INVALID_ARGUMENT, {"ng_free", "address is 12345; needs"});
  ASSERT_EQ(ng_malloc(&address, 16), NG_OK);
  std::array<char, 32> host{};
  expect_refused(ng_upload(0, host.data(), 4), NG_INVALID_ARGUMENT, {"ng_upload", "to is 0"});
  expect_refused(ng_upload(address, nullptr, 4), NG_INVALID_ARGUMENT, {"ng_upload", "from is null"});
  expect_refused(ng_upload(address, host.data(), 32), NG_INVALID_ARGUMENT, {"32 bytes"});
  expect_refused(ng_download(nullptr, address, 4), NG_INVALID_ARGUMENT, {"ng_download", "to is null"});
  expect_refused(ng_download(host.data(), 0, 4), NG_INVALID_ARGUMENT, {"ng_download", "from is 0"});
  expect_refused(ng_download(host.data(), address, 32), NG_INVALID_ARGUMENT, {"32 bytes"});
  for (const char c : host) EXPECT_EQ(c, 0);
  EXPECT_EQ(ng_free(address), NG_OK);
  expect_refused(ng_free(address), NG_INVALID_ARGUMENT, {"ng_free"});
}

TEST_F(CApiTest, Streams) {
  std::uint64_t stream = 0;
  ASSERT_EQ(ng_stream_create(&stream), NG_OK) << ng_last_error();
  EXPECT_NE(stream, 0U);
  EXPECT_EQ(ng_stream_synchronize(stream), NG_OK);
  EXPECT_EQ(ng_stream_synchronize(0), NG_OK);
  EXPECT_EQ(ng_stream_destroy(stream), NG_OK);
  EXPECT_EQ(ng_stream_destroy(0), NG_OK);
  expect_refused(ng_stream_destroy(stream), NG_INVALID_ARGUMENT, {"ng_stream_destroy", "stream is"});
  expect_refused(ng_stream_create(nullptr), NG_INVALID_ARGUMENT, {"ng_stream_create", "stream is null"});
}

TEST_F(CApiTest, TheLastErrorIsOfThisThread) {
  expect_refused(ng_free(1), NG_INVALID_ARGUMENT, {"ng_free"});
  const std::string here = ng_last_error();
  std::string there = "not set";
  std::thread([&] { there = ng_last_error(); }).join();
  EXPECT_EQ(there, "");
  EXPECT_EQ(ng_synchronize(), NG_OK);
  EXPECT_EQ(ng_last_error(), here);  // a success does not wipe it
}

TEST_F(CApiTest, EveryExceptionHasItsCode) {
  using c_api::guarded;
  EXPECT_EQ(guarded([] {}), NG_OK);
  expect_refused(guarded([] { throw InvalidArgument("text"); }), NG_INVALID_ARGUMENT, {"text"});
  expect_refused(guarded([] { throw TypeError("text 2"); }), NG_TYPE_ERROR, {"text 2"});
  expect_refused(guarded([] { throw OutOfMemory("text 3"); }), NG_OUT_OF_MEMORY, {"text 3"});
  expect_refused(guarded([] { throw DeviceLost("text 4"); }), NG_DEVICE_LOST, {"text 4"});
  expect_refused(guarded([] { throw CheckError("text 5", {}); }), NG_CHECK_ERROR, {"text 5"});
  expect_refused(guarded([] { throw c_api::Unsupported("text 6"); }), NG_UNSUPPORTED, {"text 6"});
  expect_refused(guarded([] { throw Error("text 7"); }), NG_ERROR, {"text 7"});
  expect_refused(guarded([] { throw std::bad_alloc(); }), NG_OUT_OF_MEMORY, {"host memory"});
  expect_refused(guarded([] { throw std::runtime_error("text 8"); }), NG_ERROR, {"text 8"});
  expect_refused(guarded([] { throw 1; }), NG_ERROR, {"unknown"});
}

class CGemmTest : public CApiTest {
 protected:
  CGemmTest() {
    p_.m = 2, p_.n = 3, p_.k = 2;
    p_.lda = 2, p_.ldb = 3, p_.ldc = 3;
    p_.a = put({1, 2, 3, 4}), p_.b = put({1, 0, -1, 2, 1, 0}), p_.c = put(before_);
    p_.bias = put({10, 20, 30});
  }
  // The changed problem is refused, and C is as it was.
  template <class F>
  void refused(const F& change, ng_status status, const std::vector<std::string>& words) {
    ng_gemm_problem p = p_;
    change(p);
    expect_refused(ng_gemm(&p, 0), status, words);
    EXPECT_EQ(get(p_.c, 6), before_);
  }

  const std::vector<float> before_ = {-1, -2, -3, -4, -5, -6};
  ng_gemm_problem p_ = NG_GEMM_PROBLEM_INIT;
};

TEST_F(CGemmTest, Computes) {
  p_.beta = 2;
  p_.relu = 1;
  ASSERT_EQ(ng_gemm(&p_, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(get(p_.c, 6), (std::vector<float>{13, 18, 23, 13, 14, 15}));
  p_.bias = 0, p_.beta = 0, p_.relu = 0, p_.alpha = -1, p_.b_transposed = 1, p_.ldb = 2;
  ASSERT_EQ(ng_gemm(&p_, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(get(p_.c, 6), (std::vector<float>{-1, -3, -1, -3, -5, -3}));
}

TEST_F(CGemmTest, TypesReluFirstAndRounding) {
  p_.relu = 2, p_.alpha = -1;  // max(-A B, 0) + bias
  ASSERT_EQ(ng_gemm(&p_, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(get(p_.c, 6), (std::vector<float>{10, 20, 31, 10, 20, 33}));
  ng_gemm_problem q = p_;
  const std::vector<std::int8_t> a = {1, 2, -3, 4};
  const std::vector<std::uint8_t> b = {200, 0, 1, 2, 1, 0};
  std::vector<std::int32_t> c(6);
  ASSERT_EQ(ng_upload(p_.a, a.data(), 4), NG_OK);
  ASSERT_EQ(ng_upload(p_.b, b.data(), 6), NG_OK);
  q.a_type = NG_INT8, q.b_type = NG_UINT8, q.c_type = q.bias_type = NG_INT32;
  q.bias = 0, q.relu = 0, q.alpha = 1;
  ASSERT_EQ(ng_gemm(&q, 0), NG_OK) << ng_last_error();
  ASSERT_EQ(ng_download(c.data(), p_.c, 24), NG_OK);
  EXPECT_EQ(c, (std::vector<std::int32_t>{204, 2, 1, -592, 4, -3}));
  // 1 + 2^-20 kept to 4 bits is 1 or 1.0625.
  const std::vector<float> one = {1.00000095F, 0, 0, 0};
  ASSERT_EQ(ng_upload(p_.a, one.data(), 16), NG_OK);
  q = p_;
  q.m = q.n = q.k = 1;
  q.bias = 0, q.relu = 0, q.alpha = 1;
  const float unit = 1;
  ASSERT_EQ(ng_upload(p_.b, &unit, 4), NG_OK);
  q.rounding.stochastic = 1, q.rounding.bits = 4, q.rounding.seed = 7;
  ASSERT_EQ(ng_gemm(&q, 0), NG_OK) << ng_last_error();
  const float rounded = get(p_.c, 1)[0];
  EXPECT_TRUE(rounded == 1.0F || rounded == 1.0625F) << rounded;
}

TEST_F(CGemmTest, Bfloat16) {
  const std::vector<std::uint16_t> a = {0x3f80, 0x4000, 0xc040, 0x4080};                  // 1 2 | -3 4
  const std::vector<std::uint16_t> b = {0x3f80, 0x0000, 0xbf80, 0x4000, 0x3f80, 0x4300};  // 1 0 -1 | 2 1 128
  ASSERT_EQ(ng_upload(p_.a, a.data(), 8), NG_OK);
  ASSERT_EQ(ng_upload(p_.b, b.data(), 12), NG_OK);
  p_.a_type = p_.b_type = NG_BFLOAT16;
  ASSERT_EQ(ng_gemm(&p_, 0), NG_OK) << ng_last_error();  // to float32, with a float32 bias
  EXPECT_EQ(get(p_.c, 6), (std::vector<float>{15, 22, 285, 15, 24, 545}));
  p_.c_type = NG_BFLOAT16;
  ASSERT_EQ(ng_gemm(&p_, 0), NG_OK) << ng_last_error();
  std::vector<std::uint16_t> c(6);
  ASSERT_EQ(ng_download(c.data(), p_.c, 12), NG_OK);
  // 285 lies halfway between 284 and 286, 545 nearest to 544.
  EXPECT_EQ(c, (std::vector<std::uint16_t>{0x4170, 0x41b0, 0x438e, 0x4170, 0x41c0, 0x4408}));
}

TEST_F(CGemmTest, ActivationsAndScales) {
  std::size_t bytes = 0;
  p_.activation = NG_CLIP, p_.clip_low = 12, p_.clip_high = 25;
  ASSERT_EQ(ng_gemm_workspace(&p_, &bytes), NG_OK) << ng_last_error();
  ASSERT_EQ(bytes, 0U);
  ASSERT_EQ(ng_gemm(&p_, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(get(p_.c, 6), (std::vector<float>{15, 22, 25, 21, 24, 25}));
  ng_gemm_plan* plan = nullptr;
  ASSERT_EQ(ng_gemm_plan_create(&p_, &plan), NG_OK) << ng_last_error();
  ng_gemm_addresses at = NG_GEMM_ADDRESSES_INIT;
  at.a = p_.a, at.b = p_.b, at.c = put(before_), at.bias = p_.bias;
  ASSERT_EQ(ng_gemm_plan_launch(plan, &at, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(get(at.c, 6), get(p_.c, 6));
  ng_gemm_plan_destroy(plan);

  const std::vector<std::int8_t> a = {1, 2, -3, 100};
  const std::vector<std::int8_t> b = {100, 0, -1, 2, 1, 50};
  ASSERT_EQ(ng_upload(p_.a, a.data(), 4), NG_OK);
  ASSERT_EQ(ng_upload(p_.b, b.data(), 6), NG_OK);
  p_.activation = NG_NO_ACTIVATION;
  p_.a_type = p_.b_type = p_.c_type = NG_INT8;
  p_.bias = 0, p_.scale = put({0.5F, 0.25F}), p_.scale_per_row = 1;
  ASSERT_EQ(ng_gemm_workspace(&p_, &bytes), NG_OK) << ng_last_error();
  ASSERT_EQ(bytes, 24U);  // the sums
  expect_refused(ng_gemm(&p_, 0), NG_INVALID_ARGUMENT, {"workspace is 0; needs gemm_workspace(), 24 bytes"});
  p_.workspace = put(std::vector<float>(6)), p_.workspace_bytes = bytes;
  ASSERT_EQ(ng_gemm(&p_, 0), NG_OK) << ng_last_error();
  std::vector<std::int8_t> c(6);
  ASSERT_EQ(ng_download(c.data(), p_.c, 6), NG_OK);
  EXPECT_EQ(c, (std::vector<std::int8_t>{52, 1, 50, -25, 25, 127}));  // 49.5 to even, 1250.75 saturates
}

TEST_F(CGemmTest, BitsOfRelu) {
  const std::vector<std::uint32_t> poison = {0xA5A5A5A5U, 0xA5A5A5A5U};
  std::vector<std::uint32_t> words(2);
  const auto bits = [&] {
    EXPECT_EQ(ng_download(words.data(), p_.mask, 8), NG_OK);
    return words;
  };
  p_.alpha = -1, p_.relu = 1, p_.ld_mask = 1;  // -1 * ... + bias: some below 0, some above
  p_.bias = put({20, 30, 40});
  p_.mask = put(std::vector<float>(2));
  ASSERT_EQ(ng_upload(p_.mask, poison.data(), 8), NG_OK);
  ASSERT_EQ(ng_gemm(&p_, 0), NG_OK) << ng_last_error();
  const std::vector<float> c = get(p_.c, 6);
  std::vector<std::uint32_t> want(2);
  for (std::size_t i = 0; i < 6; ++i) want[i / 3] |= (c[i] > 0 ? 1U : 0U) << i % 3;
  EXPECT_EQ(bits(), want);
  EXPECT_NE(want[0] | want[1] << 3, 0U);

  const std::uint64_t mask = std::exchange(p_.mask, 0);
  p_.relu = 0;
  ASSERT_EQ(ng_gemm(&p_, 0), NG_OK) << ng_last_error();
  std::vector<float> masked = get(p_.c, 6);  // 0b101 and 0b010
  for (const std::size_t i : {1U, 3U, 5U}) EXPECT_NE(std::exchange(masked[i], 0.0F), 0.0F);
  p_.activation = NG_DRELU, p_.mask = mask;
  ng_gemm_plan* plan = nullptr;
  ASSERT_EQ(ng_gemm_plan_create(&p_, &plan), NG_OK) << ng_last_error();
  ng_gemm_addresses at = NG_GEMM_ADDRESSES_INIT;
  at.a = p_.a, at.b = p_.b, at.c = p_.c, at.bias = p_.bias;
  expect_refused(ng_gemm_plan_launch(plan, &at, 0), NG_INVALID_ARGUMENT, {"mask is 0"});
  at.mask = p_.mask;
  words = {5, 2};
  ASSERT_EQ(ng_upload(p_.mask, words.data(), 8), NG_OK);
  ASSERT_EQ(ng_gemm_plan_launch(plan, &at, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(get(p_.c, 6), masked);
  ng_gemm_plan_destroy(plan);
}

TEST_F(CGemmTest, SumsOfRowsAndColumns) {
  p_.row_sum = put(before_), p_.column_sum = put(before_), p_.column_max_abs = put(before_);
  std::size_t bytes = 0;
  ASSERT_EQ(ng_gemm_workspace(&p_, &bytes), NG_OK) << ng_last_error();
  ASSERT_GT(bytes, 0U);
  expect_refused(ng_gemm(&p_, 0), NG_INVALID_ARGUMENT, {"workspace is 0; needs gemm_workspace()"});
  p_.workspace = put(std::vector<float>(bytes / 4)), p_.workspace_bytes = bytes;
  ng_gemm_plan* plan = nullptr;
  ASSERT_EQ(ng_gemm_plan_create(&p_, &plan), NG_OK) << ng_last_error();
  ng_gemm_addresses at = NG_GEMM_ADDRESSES_INIT;
  at.a = p_.a, at.b = p_.b, at.c = p_.c, at.bias = p_.bias;
  at.workspace = p_.workspace, at.workspace_bytes = bytes;
  expect_refused(ng_gemm_plan_launch(plan, &at, 0), NG_INVALID_ARGUMENT, {"row_sum is 0"});
  at.row_sum = put(before_), at.column_sum = put(before_), at.column_max_abs = put(before_);
  ASSERT_EQ(ng_gemm(&p_, 0), NG_OK) << ng_last_error();
  const std::vector<float> c = get(p_.c, 6);
  ASSERT_EQ(ng_gemm_plan_launch(plan, &at, 0), NG_OK) << ng_last_error();
  ng_gemm_plan_destroy(plan);
  const std::vector<float> rows = {c[0] + c[1] + c[2], c[3] + c[4] + c[5]};
  const std::vector<float> columns = {c[0] + c[3], c[1] + c[4], c[2] + c[5]};
  for (const auto& [row_sum, column_sum, largest] :
       {std::array{p_.row_sum, p_.column_sum, p_.column_max_abs}, {at.row_sum, at.column_sum, at.column_max_abs}}) {
    EXPECT_EQ(get(row_sum, 2), rows);
    EXPECT_EQ(get(column_sum, 3), columns);
    EXPECT_EQ(get(largest, 3), (std::vector<float>{std::max(c[0], c[3]), std::max(c[1], c[4]), std::max(c[2], c[5])}));
    EXPECT_EQ(get(row_sum + 8, 4), std::vector<float>(before_.begin() + 2, before_.end()));
  }
}

TEST_F(CGemmTest, BadArgumentsAreRefused) {
  expect_refused(ng_gemm(nullptr, 0), NG_INVALID_ARGUMENT, {"ng_gemm", "problem is null"});
  using P = ng_gemm_problem;
  refused([](P& p) { p.size = 0; }, NG_INVALID_ARGUMENT, {"problem->size is 0", std::to_string(sizeof(P))});
  refused([](P& p) { p.size = 1U << 30; }, NG_INVALID_ARGUMENT, {"problem->size"});
  refused([](P& p) { p.size += 4; }, NG_INVALID_ARGUMENT, {"problem->size"});
  refused([](P& p) { p.m = -1; }, NG_INVALID_ARGUMENT, {"m is -1"});
  refused([](P& p) { p.lda = 1; }, NG_INVALID_ARGUMENT, {"lda is 1"});
  refused([](P& p) { p.a = 0; }, NG_INVALID_ARGUMENT, {"a is 0"});
  refused([](P& p) { p.c += 1; }, NG_INVALID_ARGUMENT, {"c is"});
  refused([](P& p) { p.relu = 3; }, NG_INVALID_ARGUMENT, {"relu is 3; needs 0, 1 or 2"});
  refused([](P& p) { p.activation = 9; }, NG_INVALID_ARGUMENT, {"activation is 9; needs an ng_gemm_activation"});
  refused([](P& p) { p.activation = NG_TANH, p.relu = 1; }, NG_INVALID_ARGUMENT, {"relu is set"});
  refused([](P& p) { p.activation = NG_CLIP, p.clip_low = 1; }, NG_INVALID_ARGUMENT, {"clip_low is 1"});
  refused([](P& p) { p.scale = p.bias; }, NG_INVALID_ARGUMENT, {"scale is given but float32 operands"});
  refused([](P& p) { p.activation = NG_DRELU; }, NG_INVALID_ARGUMENT, {"mask is 0; needs a device address"});
  refused([](P& p) { p.relu = 1, p.mask = p.bias + 2; }, NG_INVALID_ARGUMENT, {"address of mask"});
  refused([](P& p) { p.relu = 1, p.mask = p.bias; }, NG_INVALID_ARGUMENT, {"ld_mask is 0; needs at least 1"});
  refused([](P& p) { p.mask = p.bias; }, NG_INVALID_ARGUMENT, {"mask is given; needs relu"});
  refused([](P& p) { p.row_sum = p.bias + 2; }, NG_INVALID_ARGUMENT, {"address of row_sum"});
  refused([](P& p) { p.scale_per_row = 5; }, NG_INVALID_ARGUMENT, {"scale_per_row is 5"});
  refused([](P& p) { p.a_transposed = -1; }, NG_INVALID_ARGUMENT, {"a_transposed is -1"});
  refused([](P& p) { p.b_transposed = 7; }, NG_INVALID_ARGUMENT, {"b_transposed is 7"});
  refused([](P& p) { p.bias_per_row = 3; }, NG_INVALID_ARGUMENT, {"bias_per_row is 3"});
  refused([](P& p) { p.c_type = 99; }, NG_INVALID_ARGUMENT, {"c_type is 99"});
  refused([](P& p) { p.a_type = NG_INT32; }, NG_TYPE_ERROR, {"int32"});
  refused([](P& p) { p.rounding.bits = 16; }, NG_INVALID_ARGUMENT, {"rounding.bits is 16"});
  refused([](P& p) { p.rounding.stochastic = 2; }, NG_INVALID_ARGUMENT, {"rounding.stochastic is 2"});
}

// A structure of a newer header: what this library does not know must be zero.
TEST_F(CGemmTest, LargerStructures) {
  struct Newer {
    ng_gemm_problem known;
    std::int64_t more;
  } newer = {p_, 0};
  newer.known.size = sizeof newer;
  newer.more = 1;
  expect_refused(ng_gemm(&newer.known, 0), NG_UNSUPPORTED,
                 {"problem has a field at byte " + std::to_string(sizeof p_)});
  EXPECT_EQ(get(p_.c, 6), before_);
  newer.more = 0;
  ASSERT_EQ(ng_gemm(&newer.known, 0), NG_OK) << ng_last_error();
  EXPECT_NE(get(p_.c, 6), before_);
}

TEST_F(CGemmTest, Batches) {
  p_.bias = 0;
  p_.a = put({1, 2, 3, 4, 0, 1, 1, 0});
  p_.c = put(std::vector<float>(12, 9));
  p_.batch = 2, p_.stride_a = 4, p_.stride_c = 6;
  ASSERT_EQ(ng_gemm(&p_, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(get(p_.c, 12), (std::vector<float>{5, 2, -1, 11, 4, -3, 2, 1, 0, 1, 0, -1}));
  p_.sum_batch = 1;
  size_t bytes = 0;
  ASSERT_EQ(ng_gemm_workspace(&p_, &bytes), NG_OK) << ng_last_error();
  EXPECT_EQ(bytes, 2U * 6 * 4);
  p_.workspace = put(std::vector<float>(12));
  p_.workspace_bytes = bytes;
  ASSERT_EQ(ng_gemm(&p_, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(get(p_.c, 6), (std::vector<float>{7, 3, -1, 12, 4, -4}));
  p_.sum_batch = 2;
  expect_refused(ng_gemm(&p_, 0), NG_INVALID_ARGUMENT, {"sum_batch is 2; needs 0 or 1"});
  p_.sum_batch = 0, p_.stride_c = 5;
  expect_refused(ng_gemm(&p_, 0), NG_INVALID_ARGUMENT, {"stride_c is 5; needs at least 6"});
  // A program that was built before there were batches.
  p_.size = offsetof(ng_gemm_problem, batch);
  p_.batch = 77;
  ASSERT_EQ(ng_gemm(&p_, 0), NG_OK) << ng_last_error();
}

TEST_F(CGemmTest, Plans) {
  p_.relu = 1, p_.beta = 2;
  ng_gemm_plan* plan = nullptr;
  ASSERT_EQ(ng_gemm_plan_create(&p_, &plan), NG_OK) << ng_last_error();
  size_t bytes = 1;
  ASSERT_EQ(ng_gemm_plan_workspace(plan, &bytes), NG_OK) << ng_last_error();
  EXPECT_EQ(bytes, 0U);
  const std::uint64_t a = put({0, 2, 3, 0});
  const std::uint64_t c = put(before_);
  ng_gemm_addresses at = NG_GEMM_ADDRESSES_INIT;
  at.a = a, at.b = p_.b, at.c = c, at.bias = p_.bias;
  ASSERT_EQ(ng_gemm_plan_launch(plan, &at, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(get(c, 6), (std::vector<float>{12, 18, 24, 5, 10, 15}));
  EXPECT_EQ(get(p_.c, 6), before_);
  at.bias = 0;
  expect_refused(ng_gemm_plan_launch(plan, &at, 0), NG_INVALID_ARGUMENT, {"bias is 0"});
  expect_refused(ng_gemm_plan_launch(plan, nullptr, 0), NG_INVALID_ARGUMENT, {"addresses is null"});
  expect_refused(ng_gemm_plan_launch(nullptr, &at, 0), NG_INVALID_ARGUMENT, {"ng_gemm_plan_launch", "plan is null"});
  at.size = 8;
  expect_refused(ng_gemm_plan_launch(plan, &at, 0), NG_INVALID_ARGUMENT, {"addresses->size is 8"});
  expect_refused(ng_gemm_plan_workspace(plan, nullptr), NG_INVALID_ARGUMENT, {"bytes is null"});
  ng_gemm_plan_destroy(plan);
  ng_gemm_plan_destroy(nullptr);
  p_.lda = 1;
  expect_refused(ng_gemm_plan_create(&p_, &plan), NG_INVALID_ARGUMENT, {"lda is 1"});
  EXPECT_EQ(plan, nullptr);
  expect_refused(ng_gemm_plan_create(&p_, nullptr), NG_INVALID_ARGUMENT, {"ng_gemm_plan_create", "plan is null"});
}

TEST_F(CGemmTest, WhatTheEmulatorFindsIsACheckError) {
  // An address that is nowhere.
  refused([](ng_gemm_problem& p) { p.a = 1024; }, NG_CHECK_ERROR,
          {"kernel gemm_nn_f32_f32_f32_", ".sass:", "out of bounds"});
}

}  // namespace
}  // namespace nervanagpu
