// Matrices in tables of addresses: the bits of each product alone, by every kernel; and groups in as few launches as there may be.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/group.h"
#include "nervanagpu/nervanagpu.hpp"
#include "test/src/expect_error.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

struct Form {
  Dtype type = Dtype::float32, result = Dtype::float32;
  std::int64_t batch = 5, m = 1, n = 1, k = 1;
  const char* layout = "nn";
  std::int64_t pad = 0;        // of rows
  std::int64_t alignment = 4;  // of the addresses, bytes
  float alpha = 1, beta = 0;
  int bias = 0;  // 1: for each column, 2: for each row
  bool relu = false;
};

// Memory on whatever device is current.
class Pointers {
 public:
  explicit Pointers(const Form& x) : x_(x) {
    p_.m = x.m, p_.n = x.n, p_.k = x.k;
    p_.a_transposed = x.layout[0] == 't', p_.b_transposed = x.layout[1] == 't';
    p_.lda = (p_.a_transposed ? x.m : x.k) + x.pad;
    p_.ldb = (p_.b_transposed ? x.k : x.n) + x.pad;
    p_.ldc = x.n + x.pad;
    p_.a_type = p_.b_type = x.type, p_.c_type = p_.bias_type = x.result;
    p_.alpha = x.alpha, p_.beta = x.beta, p_.relu = x.relu;
    a_ = numbers((p_.a_transposed ? x.k : x.m) * p_.lda, x.type);
    b_ = numbers((p_.b_transposed ? x.n : x.k) * p_.ldb, x.type);
    c_ = numbers(x.m * p_.ldc, x.result);
    bias_ = numbers(std::max(x.m, x.n), x.result).front();
    if (x.bias != 0) p_.bias = bias_.address();
    p_.bias_per_row = x.bias == 2;
    for (const Tensor& t : c_) want_.push_back(t.copy());
  }

  [[nodiscard]] GemmProblem one(std::size_t i) const {
    GemmProblem p = p_;
    p.a = address(a_[i]), p.b = address(b_[i]), p.c = address(c_[i]);
    p.splits = 1;
    p.tensor_cores = false;
    return p;
  }
  // Of all, with tables on the device.
  GemmProblem all() {
    GemmProblem p = p_;
    p.batch = x_.batch;
    p.pointers = x_.alignment;
    p.a = table(a_), p.b = table(b_), p.c = table(c_);
    return p;
  }
  // What is there, and what was there before it by gemm() of one at a time. Puts the old C back.
  void compute_expected() {
    for (std::size_t i = 0; i < c_.size(); ++i) {
      GemmProblem p = one(i);
      gemm(p);
    }
    for (std::size_t i = 0; i < c_.size(); ++i) {
      Tensor before = want_[i];
      want_[i] = c_[i].copy();
      c_[i].copy_from(before);
      before_.push_back(before);
    }
  }
  void restore() {
    for (std::size_t i = 0; i < c_.size(); ++i) c_[i].copy_from(before_[i]);
  }
  // Also what lies around the results.
  [[nodiscard]] bool right() const {
    for (std::size_t i = 0; i < c_.size(); ++i) {
      if (bytes_of(c_[i]) != bytes_of(want_[i])) return false;
    }
    return true;
  }

 private:
  static std::vector<std::byte> bytes_of(const Tensor& t) {
    std::vector<std::byte> out(t.nbytes());
    t.get(out.data(), out.size());
    return out;
  }
  // Each after a multiple of 256 by what the alignment allows, in no order.
  std::vector<Tensor> numbers(std::int64_t count, Dtype type) {
    std::vector<Tensor> out;
    for (std::int64_t i = 0; i < x_.batch; ++i) {
      std::vector<float> host(static_cast<std::size_t>(count) + 64);
      const int least = type == Dtype::uint8 ? 0 : -3;
      for (float& v : host) {
        v = static_cast<float>(static_cast<int>(random_() % 7) + least);
        if (size_of(type) > 1 && type != Dtype::int32) v *= 1.1875F + static_cast<float>(random_() % 64) * 0.015625F;
      }
      Tensor t = Tensor::empty({count + 64}, type);
      convert(Tensor::from_host<float>(host, {count + 64}), t);
      out.push_back(t);
    }
    std::shuffle(out.begin(), out.end(), random_);
    return out;
  }
  [[nodiscard]] std::uint64_t address(const Tensor& t) const {
    return t.address() + 2 * static_cast<std::uint64_t>(x_.alignment);
  }
  std::uint64_t table(const std::vector<Tensor>& all) {
    std::vector<std::uint64_t> host;
    host.reserve(all.size());
    for (const Tensor& t : all) host.push_back(address(t));
    tables_.push_back(Tensor::empty({static_cast<std::int64_t>(host.size()) * 2}));
    current_device().upload(tables_.back().address(), host.data(), host.size() * 8);
    return tables_.back().address();
  }

  Form x_;
  GemmProblem p_;
  std::vector<Tensor> a_, b_, c_, want_, before_, tables_;
  Tensor bias_;
  std::mt19937 random_{17};
};

class PointersTest : public test::OnEmulator {
 protected:
  explicit PointersTest(bool checked = false) : OnEmulator(checked) {}

  // How many kernels took it; each of them is right.
  std::size_t check(const Form& x, std::size_t most = 100) {
    Pointers data(x);
    data.compute_expected();
    const GemmProblem p = data.all();
    gemm(p);
    EXPECT_TRUE(data.right()) << "gemm()";
    GemmProblem form = p;
    form.a = form.b = form.c = static_cast<std::uint64_t>(x.alignment);
    const auto all = sgemm::plans(device_.registry(), 132, form);
    for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
      data.restore();
      sgemm::launch(device_, all[i], p, 0);
      EXPECT_TRUE(data.right()) << all[i].kernel->name();
    }
    return all.size();
  }
};

class PointersChecked : public PointersTest {
 protected:
  PointersChecked() : PointersTest(true) {}
};

TEST_F(PointersTest, EveryKernelAndLayout) {
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    EXPECT_GE(check({.m = 36, .n = 40, .k = 20, .layout = layout, .alignment = 16}), 10U) << layout;
    EXPECT_GE(check({.m = 35, .n = 41, .k = 19, .layout = layout, .alignment = 4, .beta = 2, .bias = 1}), 4U) << layout;
  }
}

TEST_F(PointersTest, TypesAndEpilogues) {
  using enum Dtype;
  for (const auto& [type, result] :
       {std::pair(float16, float16), std::pair(float16, float32), std::pair(bfloat16, bfloat16),
        std::pair(bfloat16, float32), std::pair(int8, int32), std::pair(uint8, int32)}) {
    const auto size = static_cast<std::int64_t>(size_of(type));
    for (const std::int64_t alignment :
         {std::int64_t{16}, std::max(size, static_cast<std::int64_t>(size_of(result)))}) {
      EXPECT_GE(
          check({.type = type, .result = result, .m = 48, .n = 32, .k = 32, .layout = "nt", .alignment = alignment}),
          1U);
      check({.type = type,
             .result = result,
             .m = 33,
             .n = 17,
             .k = 21,
             .pad = 3,
             .alignment = alignment,
             .alpha = 3,
             .beta = -2,
             .bias = 2,
             .relu = true},
            2);
    }
  }
}

TEST_F(PointersTest, SmallestAndLargest) {
  check({.batch = 1, .m = 3, .n = 2, .k = 5});
  check({.m = 1, .n = 1, .k = 1});
  check({.m = 5, .n = 6, .k = 0, .beta = 2, .bias = 1});
  check({.batch = 3, .m = 130, .n = 70, .k = 33, .alignment = 4}, 1);
}

TEST_F(PointersChecked, NoFindings) {
  check({.batch = 3, .m = 18, .n = 20, .k = 12, .layout = "tn", .alignment = 16}, 2);
  check({.batch = 3, .m = 17, .n = 19, .k = 11, .layout = "nt", .pad = 1, .beta = 1, .bias = 2}, 2);
}

TEST(PointersOnMaxwell, HasTheSameBits) {
  EmulatorDevice device(embedded_cubins(), sass::Arch::sm_52, false, std::size_t{1} << 28);
  Device* before = exchange_device(&device);
  for (const Dtype type : {Dtype::float32, Dtype::float16}) {
    Pointers data({.type = type, .result = type, .m = 33, .n = 18, .k = 20, .alignment = 16, .beta = 1});
    data.compute_expected();
    gemm(data.all());
    EXPECT_TRUE(data.right());
  }
  exchange_device(before);
}

TEST_F(PointersTest, PlansTakeTables) {
  Pointers data({.m = 32, .n = 32, .k = 32, .alignment = 16});
  data.compute_expected();
  const GemmProblem p = data.all();
  const GemmPlan plan(p);
  EXPECT_EQ(plan.workspace(), 0U);
  plan.launch({p.a, p.b, p.c});
  EXPECT_TRUE(data.right());
  expect_error<InvalidArgument>(
      [&] {
        plan.launch({p.a + 4, p.b, p.c});
      },
      "gemm plan: address of a is " + std::to_string(p.a + 4) + "; needs a multiple of 8, as planned");
}

TEST_F(PointersTest, Refusals) {
  Pointers data({.m = 8, .n = 8, .k = 8});
  const GemmProblem good = data.all();
  const auto refused = [&](const std::string& text, auto change) {
    GemmProblem p = good;
    change(p);
    expect_error<InvalidArgument>([&] { gemm(p); }, text);
  };
  refused("gemm: pointers is 2; needs a power of two that is at least 4, what the matrices' addresses are multiples of",
          [](GemmProblem& p) { p.pointers = 2; });
  refused(
      "gemm: pointers is 12; needs a power of two that is at least 4, what the matrices' addresses are multiples of",
      [](GemmProblem& p) { p.pointers = 12; });
  refused("gemm: stride_b is 64; needs 0: the matrices lie where the tables say",
          [](GemmProblem& p) { p.stride_b = 64; });
  refused("gemm: sum_batch is true but the matrices are in tables; needs strides",
          [](GemmProblem& p) { p.sum_batch = true; });
  refused("gemm: splits is 2; needs 0 or 1 for matrices in tables", [](GemmProblem& p) { p.splits = 2; });
  refused("gemm: rounding is stochastic but the matrices are in tables; needs rounding to nearest",
          [](GemmProblem& p) { p.rounding.stochastic = true; });
  refused("gemm: address of c is " + std::to_string(good.c + 4) + "; needs a multiple of 8",
          [](GemmProblem& p) { p.c += 4; });
  refused("gemm: a is 0; needs a device address", [](GemmProblem& p) { p.a = 0; });
}

TEST_F(PointersTest, GroupsOfOneFormAreOneLaunch) {
  Pointers few({.batch = 7, .m = 12, .n = 16, .k = 24, .alignment = 16});
  Pointers many({.batch = 200, .m = 5, .n = 7, .k = 9, .alignment = 4, .beta = 1});  // 600 words: two writes
  std::vector<GemmProblem> all;
  for (Pointers* data : {&few, &many}) data->compute_expected();
  for (std::size_t i = 0; i < 200; ++i) {
    if (i < 7) all.push_back(few.one(i));
    all.push_back(many.one(i));
  }
  const Tensor tables = Tensor::empty({static_cast<std::int64_t>(grouped_gemm_workspace(all)) / 4});
  for (const bool with : {true, false}) {
    int launches = 0;
    sgemm::launch_group(device_, all, with ? tables.address() : 0, 0, [&](const GemmProblem& p) {
      ++launches;
      gemm(p);
    });
    EXPECT_EQ(launches == 2, with) << launches;
    EXPECT_TRUE(few.right() && many.right());
    few.restore(), many.restore();
  }
  grouped_gemm(all, tables.address());
  EXPECT_TRUE(few.right() && many.right());
  all[3].lda = 1;
  expect_error<InvalidArgument>([&] { grouped_gemm(all, tables.address()); },
                                "grouped_gemm: product 3: gemm: lda is 1; needs at least 9, the length of a row (k)");
  expect_error<InvalidArgument>([&] { grouped_gemm({}, 8); },
                                "grouped_gemm: address of workspace is 8; needs a multiple of 16");
}

// Neighbours at equal distances stay batches, and what tensor cores multiply is not put into tables.
TEST_F(PointersTest, GroupsThatAreBatches) {
  const Tensor a = Tensor::zeros({20, 8, 8});
  std::vector<GemmProblem> all;
  for (std::uint64_t i = 0; i < 20; ++i) {
    GemmProblem p;
    p.m = p.n = p.k = p.lda = p.ldb = p.ldc = 8;
    p.a = p.b = a.address() + i * 256, p.c = a.address() + (20 + i) * 256;
    p.splits = 1;
    all.push_back(p);
  }
  std::vector<GemmProblem> got;
  const auto keep = [&](const GemmProblem& p) { got.push_back(p); };
  sgemm::launch_group(device_, all, 1 << 20, 0, keep);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].batch, 20);
  EXPECT_EQ(got[0].pointers, 0);
  got.clear();
  for (std::size_t i = 0; i < 20; ++i) {
    all[i].a_type = all[i].b_type = all[i].c_type = Dtype::float16;
    all[i].a += 16 * (i * i % 7);
  }
  sgemm::launch_group(device_, all, 1 << 20, 0, keep);
  EXPECT_GT(got.size(), 5U);
  for (const GemmProblem& p : got) EXPECT_EQ(p.pointers, 0);
}

}  // namespace
}  // namespace nervanagpu
