// nervanagpu.h: ng_expr_*, ng_event_*, ng_copy, ng_fill.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "nervanagpu/nervanagpu.h"
#include "test/src/c_api/c_api_calls.h"

namespace nervanagpu {
namespace {

using Owned = std::unique_ptr<ng_expr, decltype(&ng_expr_destroy)>;

class CExprTest : public test::CApiCalls {
 protected:
  static constexpr std::size_t kRoom = 4096;  // bytes of each array

  ~CExprTest() override {
    for (const std::uint64_t a : given_) EXPECT_EQ(ng_free(a), NG_OK);
  }

  template <class T>
  std::uint64_t put(const std::vector<T>& v) {
    std::uint64_t a = 0;
    EXPECT_EQ(ng_malloc(&a, kRoom), NG_OK);
    EXPECT_EQ(ng_fill(a, 0xee, 1, kRoom, 0), NG_OK) << ng_last_error();
    CApiCalls::put(a, v);
    given_.push_back(a);
    return a;
  }
  static ng_tensor view(std::uint64_t a, const std::vector<std::int64_t>& shape, int dtype = NG_FLOAT32) {
    ng_tensor t = NG_TENSOR_INIT;
    t.address = a, t.dtype = dtype, t.ndim = static_cast<int>(shape.size());
    std::int64_t stride = 1;
    for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i]) t.shape[i] = shape[i], t.strides[i] = stride;
    return t;
  }
  static Owned own(ng_status s, ng_expr* x) {
    EXPECT_EQ(s, NG_OK) << ng_last_error();
    return {x, &ng_expr_destroy};
  }
  static Owned leaf(const ng_tensor& t) {
    ng_expr* x = nullptr;
    const ng_status s = ng_expr_tensor(&t, &x);
    return own(s, x);
  }
  static Owned real(double value) {
    ng_expr* x = nullptr;
    const ng_status s = ng_expr_real(value, &x);
    return own(s, x);
  }
  static Owned apply(const char* name, const std::vector<const ng_expr*>& operands) {
    ng_expr* x = nullptr;
    const ng_status s = ng_expr_apply(name, operands.data(), operands.size(), &x);
    return own(s, x);
  }

  std::vector<std::uint64_t> given_;
};

TEST_F(CExprTest, ComputesWhatIsWritten) {
  const std::vector<float> x = {1, -2, 3, 4, 5, -6};
  const ng_tensor xs = view(put(x), {2, 3});
  const ng_tensor rows = view(put<float>({10, 20}), {2, 1});  // broadcast
  const std::uint64_t out = put<float>({});
  const Owned a = leaf(xs), b = leaf(rows), half = real(0.5), zero = real(0);
  const Owned y = apply("where", {apply("greater", {a.get(), zero.get()}).get(),
                                  apply("fma", {a.get(), half.get(), b.get()}).get(), zero.get()});
  ng_tensor described = NG_TENSOR_INIT;
  described.address = 77;
  ASSERT_EQ(ng_expr_describe(y.get(), &described), NG_OK) << ng_last_error();
  EXPECT_EQ(described.ndim, 2);
  EXPECT_EQ(described.shape[0], 2);
  EXPECT_EQ(described.shape[1], 3);
  EXPECT_EQ(described.strides[0], 3);
  EXPECT_EQ(described.strides[1], 1);
  EXPECT_EQ(described.dtype, NG_FLOAT32);
  EXPECT_EQ(described.address, 77U);
  const ng_tensor to = view(out, {2, 3});
  ASSERT_EQ(ng_expr_assign(&to, y.get()), NG_OK) << ng_last_error();
  EXPECT_EQ(get<float>(out, 6), (std::vector<float>{10.5F, 0, 11.5F, 22, 22.5F, 0}));
  EXPECT_EQ(get<std::uint32_t>(out + 24, 1)[0], 0xeeeeeeeeU);  // what lies after is left
}

TEST_F(CExprTest, ViewsTransposedAndInPlace) {
  const std::uint64_t at = put<float>({1, 2, 3, 4});
  ng_tensor t = view(at, {2, 2});
  const ng_tensor plain = t;
  t.strides[0] = 1, t.strides[1] = 2;
  const Owned sum = apply("add", {leaf(plain).get(), leaf(t).get()});  // the parts are destroyed before the sum
  ASSERT_EQ(ng_expr_assign(&plain, sum.get()), NG_OK) << ng_last_error();
  EXPECT_EQ(get<float>(at, 4), (std::vector<float>{2, 5, 5, 8}));
}

TEST_F(CExprTest, ReducesAlongAxes) {
  const ng_tensor xs = view(put<std::int32_t>({1, 2, 3, 4, 5, 6}), {2, 3}, NG_INT32);
  const std::uint64_t out = put<std::int64_t>({});
  const Owned x = leaf(xs);
  const auto sum = [&](const std::vector<std::int32_t>& axes, int keep) {
    ng_expr* e = nullptr;
    const ng_status s = ng_expr_reduce("sum", x.get(), axes.data(), axes.size(), keep, 0, &e);
    return own(s, e);
  };
  const ng_tensor rows = view(out, {2}, NG_INT64);
  ASSERT_EQ(ng_expr_assign(&rows, sum({-1}, 0).get()), NG_OK) << ng_last_error();
  EXPECT_EQ(get<std::int64_t>(out, 2), (std::vector<std::int64_t>{6, 15}));
  const ng_tensor all = view(out, {}, NG_INT64);
  ASSERT_EQ(ng_expr_assign(&all, sum({}, 0).get()), NG_OK) << ng_last_error();
  EXPECT_EQ(get<std::int64_t>(out, 1)[0], 21);
  ng_tensor kept = NG_TENSOR_INIT;
  ASSERT_EQ(ng_expr_describe(sum({0}, 1).get(), &kept), NG_OK);
  EXPECT_EQ(kept.ndim, 2);
  EXPECT_EQ(kept.shape[0], 1);
  EXPECT_EQ(kept.dtype, NG_INT64);
  ng_expr* variance = nullptr;
  ASSERT_EQ(ng_expr_reduce("var", x.get(), nullptr, 0, 0, 1, &variance), NG_OK) << ng_last_error();
  const Owned keeper(variance, &ng_expr_destroy);
  const ng_tensor real64 = view(out, {}, NG_FLOAT64);
  ASSERT_EQ(ng_expr_assign(&real64, variance), NG_OK) << ng_last_error();
  EXPECT_DOUBLE_EQ(get<double>(out, 1)[0], 3.5);
}

TEST_F(CExprTest, ProductsCastsAndRandomNumbers) {
  const ng_tensor a = view(put<float>({1, 2, 3, 4, 5, 6}), {2, 3});
  const ng_tensor b = view(put<float>({1, 0, 0, 1, -1, 1}), {3, 2});
  const std::uint64_t out = put<float>({});
  ng_expr* e = nullptr;
  ASSERT_EQ(ng_expr_product(&a, &b, &e), NG_OK) << ng_last_error();
  const Owned product(e, &ng_expr_destroy);
  const Owned shifted = apply("subtract", {product.get(), real(1).get()});
  const ng_tensor to = view(out, {2, 2});
  ASSERT_EQ(ng_expr_assign(&to, shifted.get()), NG_OK) << ng_last_error();
  EXPECT_EQ(get<float>(out, 4), (std::vector<float>{-3, 4, -3, 10}));

  const ng_tensor bytes = view(out, {4}, NG_UINT8);
  const ng_tensor floats = view(put<float>({-1, 2.9F, 300, std::numeric_limits<float>::quiet_NaN()}), {4});
  const Owned from = leaf(floats);
  expect_refused(ng_expr_assign(&bytes, from.get()), NG_TYPE_ERROR, {"uint8"});
  ASSERT_EQ(ng_expr_cast(from.get(), NG_UINT8, &e), NG_OK) << ng_last_error();
  const Owned narrow(e, &ng_expr_destroy);
  ASSERT_EQ(ng_expr_assign(&bytes, narrow.get()), NG_OK) << ng_last_error();
  EXPECT_EQ(get<std::uint8_t>(out, 4), (std::vector<std::uint8_t>{0, 2, 255, 0}));

  const auto draw = [&](std::uint64_t offset) {
    ng_expr* r = nullptr;
    EXPECT_EQ(ng_expr_random(3, offset, &r), NG_OK) << ng_last_error();
    const Owned keeper(r, &ng_expr_destroy);
    const ng_tensor eight = view(out, {8});
    EXPECT_EQ(ng_expr_assign(&eight, r), NG_OK) << ng_last_error();
    return get<float>(out, 8);
  };
  const std::vector<float> first = draw(0), later = draw(1);
  for (const float f : first) EXPECT_TRUE(f >= 0 && f < 1);
  EXPECT_EQ(std::vector<float>(first.begin() + 4, first.end()), std::vector<float>(later.begin(), later.begin() + 4));
  EXPECT_NE(first, later);
}

// A cast says the type that it was asked for, by the same number, and the strides are those of rows without gaps.
TEST_F(CExprTest, CastsToEveryTypeAndDescribesIt) {
  const Owned x = leaf(view(put<float>({0, 1, 1, 0, 1, 0}), {1, 3, 2}));
  for (std::int32_t dtype = NG_FLOAT32; dtype <= NG_COMPLEX128; ++dtype) {
    ng_expr* e = nullptr;
    ASSERT_EQ(ng_expr_cast(x.get(), dtype, &e), NG_OK) << ng_last_error();
    const Owned cast(e, &ng_expr_destroy);
    ng_tensor t = NG_TENSOR_INIT;
    ASSERT_EQ(ng_expr_describe(e, &t), NG_OK) << ng_last_error();
    EXPECT_EQ(t.dtype, dtype);
    EXPECT_EQ(std::vector<std::int64_t>(t.shape, t.shape + t.ndim), (std::vector<std::int64_t>{1, 3, 2}));
    EXPECT_EQ(std::vector<std::int64_t>(t.strides, t.strides + t.ndim), (std::vector<std::int64_t>{6, 2, 1}));
    t.address = put<double>({});  // room for the largest, three times
    ng_expr* back = nullptr;
    ASSERT_EQ(ng_expr_assign(&t, e), NG_OK) << ng_last_error();
    ASSERT_EQ(ng_expr_cast(leaf(t).get(), NG_INT8, &back), NG_OK) << ng_last_error();
    const Owned narrow(back, &ng_expr_destroy);
    const ng_tensor out = view(put<std::int8_t>({}), {1, 3, 2}, NG_INT8);
    ASSERT_EQ(ng_expr_assign(&out, back), NG_OK) << ng_last_error();
    EXPECT_EQ(get<std::int8_t>(out.address, 6), (std::vector<std::int8_t>{0, 1, 1, 0, 1, 0})) << dtype;
  }
}

TEST_F(CExprTest, RefusesWhatCannotBe) {
  const ng_tensor t = view(put<float>({1, 2}), {2}), three = view(put<float>({1, 2, 3}), {3});
  const Owned x = leaf(t), y = leaf(three);
  auto* const poison = reinterpret_cast<ng_expr*>(1);
  ng_expr* e = poison;
  const ng_expr* pair[] = {x.get(), y.get()};
  const ng_expr* holes[] = {x.get(), nullptr};
  expect_refused(ng_expr_apply("add", pair, 2, &e), NG_INVALID_ARGUMENT, {});
  EXPECT_EQ(e, nullptr);
  expect_refused(ng_expr_apply("add", pair, 1, &e), NG_INVALID_ARGUMENT, {"count is 1", "needs 2"});
  expect_refused(ng_expr_apply("fma", pair, 2, &e), NG_INVALID_ARGUMENT, {"count is 2", "needs 3"});
  expect_refused(ng_expr_apply("addd", pair, 2, &e), NG_INVALID_ARGUMENT, {"\"addd\""});
  expect_refused(ng_expr_apply("tensor", pair, 1, &e), NG_INVALID_ARGUMENT, {"\"tensor\""});  // no operation of arrays
  expect_refused(ng_expr_apply(nullptr, pair, 2, &e), NG_INVALID_ARGUMENT, {"name is null"});
  expect_refused(ng_expr_apply("add", nullptr, 2, &e), NG_INVALID_ARGUMENT, {"operands is null"});
  expect_refused(ng_expr_apply("add", holes, 2, &e), NG_INVALID_ARGUMENT, {"operands[1] is null"});
  expect_refused(ng_expr_apply("add", pair, 2, nullptr), NG_INVALID_ARGUMENT, {"expr is null"});
  const ng_expr* one[] = {x.get()};
  expect_refused(ng_expr_apply("invert", one, 1, &e), NG_TYPE_ERROR, {});
  expect_refused(ng_expr_cast(x.get(), 15, &e), NG_INVALID_ARGUMENT, {"dtype is 15", "0 to 14"});
  expect_refused(ng_expr_cast(nullptr, 0, &e), NG_INVALID_ARGUMENT, {"x is null"});
  const std::int32_t axis = 1;
  expect_refused(ng_expr_reduce("sum", x.get(), &axis, 1, 0, 0, &e), NG_INVALID_ARGUMENT, {"1"});
  expect_refused(ng_expr_reduce("median", x.get(), nullptr, 0, 0, 0, &e), NG_INVALID_ARGUMENT, {"\"median\""});
  expect_refused(ng_expr_reduce("sum", x.get(), nullptr, 1, 0, 0, &e), NG_INVALID_ARGUMENT, {"axes is null"});
  expect_refused(ng_expr_reduce("sum", x.get(), &axis, 9, 0, 0, &e), NG_INVALID_ARGUMENT, {"count is 9"});
  expect_refused(ng_expr_reduce("sum", x.get(), nullptr, 0, 2, 0, &e), NG_INVALID_ARGUMENT, {"keepdims is 2"});
  expect_refused(ng_expr_product(&t, &t, &e), NG_INVALID_ARGUMENT, {});
  expect_refused(ng_expr_assign(&three, x.get()), NG_INVALID_ARGUMENT, {});
  expect_refused(ng_expr_assign(nullptr, x.get()), NG_INVALID_ARGUMENT, {"out is null"});
  expect_refused(ng_expr_assign(&t, nullptr), NG_INVALID_ARGUMENT, {"x is null"});
  expect_refused(ng_expr_describe(x.get(), nullptr), NG_INVALID_ARGUMENT, {"tensor is null"});
  for (const std::int32_t ndim : {-1, 9, std::numeric_limits<std::int32_t>::max()}) {
    ng_tensor bad = t;
    bad.ndim = ndim;
    expect_refused(ng_expr_tensor(&bad, &e), NG_INVALID_ARGUMENT, {"tensor.ndim is", "0 to 8"});
  }
  ng_tensor negative = t;
  negative.shape[0] = -3;
  expect_refused(ng_expr_tensor(&negative, &e), NG_INVALID_ARGUMENT, {});
  ng_tensor newer = t;
  newer.size = sizeof newer - 8;
  expect_refused(ng_expr_tensor(&newer, &e), NG_INVALID_ARGUMENT, {"size"});
  EXPECT_EQ(e, nullptr);
  EXPECT_EQ(get<float>(t.address, 2), (std::vector<float>{1, 2}));
  ng_expr_destroy(nullptr);
}

TEST_F(CExprTest, CopiesFillsAndEvents) {
  const std::uint64_t a = put<std::uint32_t>({1, 2, 3, 4}), b = put<std::uint32_t>({9, 9, 9, 9, 9});
  std::uint64_t stream = 0;
  ASSERT_EQ(ng_stream_create(&stream), NG_OK);
  ng_event *start = nullptr, *end = nullptr;
  ASSERT_EQ(ng_event_create(&start), NG_OK) << ng_last_error();
  ASSERT_EQ(ng_event_create(&end), NG_OK);
  EXPECT_EQ(ng_event_record(start, stream), NG_OK) << ng_last_error();
  EXPECT_EQ(ng_copy(b, a, 16, stream), NG_OK) << ng_last_error();
  EXPECT_EQ(ng_copy(b + 4, b, 12, stream), NG_OK);  // onto itself
  EXPECT_EQ(ng_fill(b, 0x1234, 2, 1, stream), NG_OK);
  EXPECT_EQ(ng_event_record(end, stream), NG_OK);
  EXPECT_EQ(ng_stream_wait(0, end), NG_OK) << ng_last_error();
  EXPECT_EQ(ng_event_synchronize(end), NG_OK);
  double ms = std::nan("");
  EXPECT_EQ(ng_event_elapsed(start, end, &ms), NG_OK) << ng_last_error();
  EXPECT_TRUE(ms >= 0) << ms;
  EXPECT_EQ(get<std::uint32_t>(b, 5), (std::vector<std::uint32_t>{0x1234, 1, 2, 3, 9}));

  expect_refused(ng_copy(0, a, 4, 0), NG_INVALID_ARGUMENT, {"to is 0"});
  expect_refused(ng_copy(a, 0, 4, 0), NG_INVALID_ARGUMENT, {"from is 0"});
  expect_refused(ng_fill(a, 0, 3, 4, 0), NG_INVALID_ARGUMENT, {"width is 3"});
  expect_refused(ng_fill(0, 0, 4, 4, 0), NG_INVALID_ARGUMENT, {"to is 0"});
  expect_refused(ng_fill(a + 1, 0, 4, 1, 0), NG_INVALID_ARGUMENT, {"multiple of width"});
  expect_refused(ng_fill(a, 0, 4, std::numeric_limits<std::size_t>::max() / 2, 0), NG_INVALID_ARGUMENT, {"count is"});
  expect_refused(ng_event_create(nullptr), NG_INVALID_ARGUMENT, {"event is null"});
  expect_refused(ng_event_record(nullptr, 0), NG_INVALID_ARGUMENT, {"event is null"});
  expect_refused(ng_event_synchronize(nullptr), NG_INVALID_ARGUMENT, {"event is null"});
  expect_refused(ng_stream_wait(0, nullptr), NG_INVALID_ARGUMENT, {"event is null"});
  expect_refused(ng_event_elapsed(start, end, nullptr), NG_INVALID_ARGUMENT, {"ms is null"});
  expect_refused(ng_event_elapsed(nullptr, end, &ms), NG_INVALID_ARGUMENT, {"start is null"});
  EXPECT_EQ(ng_copy(0, 0, 0, 0), NG_OK);
  ng_event_destroy(start);
  ng_event_destroy(end);
  ng_event_destroy(nullptr);
  EXPECT_EQ(ng_stream_destroy(stream), NG_OK);
}

}  // namespace
}  // namespace nervanagpu
