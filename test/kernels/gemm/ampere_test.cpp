// The float32 kernels as they are assembled for sm_80: exact integers, parts of k, tables, and the bits of sm_90a's. No such
// GPU has run them; the emulator does, fast and checked.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "nervanagpu/nervanagpu.hpp"
#include "src/device/emulator_device.h"
#include "src/device/select_device.h"
#include "test/kernels/gemm/gemm_case.h"

namespace nervanagpu {
namespace {

using test::Epilogue;

class OnAmpere {
 public:
  explicit OnAmpere(bool checked = false, sass::Arch arch = sass::Arch::sm_80)
      : device(embedded_cubins(), arch, checked, std::size_t{1} << 28), before_(exchange_device(&device)) {}
  ~OnAmpere() { exchange_device(before_); }
  OnAmpere(const OnAmpere&) = delete;
  OnAmpere& operator=(const OnAmpere&) = delete;

  EmulatorDevice device;

 private:
  Device* before_;
};

// By every kernel that can: two tiles of sgemm.sass, four variants of gemm.sass, at least.
void check_all(Device& device, std::mt19937& random, std::int64_t m, std::int64_t n, std::int64_t k) {
  const Epilogue epilogues[] = {{}, {1, 1, 0, false}, {-1, 2, 1, true}, {1, 0, 2, true}};
  for (int layout = 0; layout < 4; ++layout) {
    for (const std::int64_t pad : {0, 3}) {
      const test::GemmCase c(random, m, n, k, (layout & 1) != 0, (layout & 2) != 0, pad, epilogues[layout]);
      const auto plans = sgemm::plans(device.registry(), 108, c.problem());
      const auto quick = std::ranges::count(plans, "sgemm", [](const auto& p) { return p.kernel->manifest().op; });
      ASSERT_GE(quick, 2);
      ASSERT_GE(plans.size(), static_cast<std::size_t>(quick + 4));
      for (const sgemm::Plan& plan : plans) ASSERT_EQ(c.judge(device, plan), "") << plan.kernel->name();
    }
  }
}

TEST(Ampere, ExactIntegersByEveryKernel) {
  OnAmpere a;
  EXPECT_EQ(a.device.info().arch, "sm_80");
  std::mt19937 random(1);
  check_all(a.device, random, 1, 1, 1);
  check_all(a.device, random, 36, 40, 24);
  check_all(a.device, random, 33, 17, 19);
  check_all(a.device, random, 130, 129, 9);
}

TEST(Ampere, PartsOfK) {
  OnAmpere a;
  std::mt19937 random(2);
  test::GemmCase c(random, 20, 24, 200, false, true, 0, {2, 1, 1, true});
  c.split(3);
  for (const sgemm::Plan& plan : sgemm::plans(a.device.registry(), 108, c.problem())) {
    ASSERT_EQ(plan.splits, 3);
    ASSERT_EQ(c.judge(a.device, plan), "") << plan.kernel->name();
  }
}

TEST(Ampere, CheckedRunsFindNothing) {
  OnAmpere a(true);
  std::mt19937 random(3);
  check_all(a.device, random, 18, 20, 12);
}

// One product of numbers whose sums round, on both.
std::vector<float> product(sass::Arch arch) {
  OnAmpere a(false, arch);
  std::mt19937 random(4);
  std::vector<float> x(70 * 90), y(90 * 50);
  for (auto* v : {&x, &y}) {
    for (float& f : *v) f = static_cast<float>(static_cast<int>(random() % 2001) - 1000) * 0.00137F;
  }
  GemmOptions o;
  o.splits = 1;
  return dot(Tensor::from_host<float>(x, {70, 90}), Tensor::from_host<float>(y, {90, 50}), o).to_host<float>();
}

TEST(Ampere, HasTheBitsOfHopper) {
  EXPECT_EQ(product(sass::Arch::sm_80), product(sass::Arch::sm_90a));
}

// What a product writes beside its result, and an activation: bit for bit on both.
std::vector<float> beside(sass::Arch arch) {
  OnAmpere a(true, arch);
  std::mt19937 random(5);
  std::vector<float> x(9 * 20), y(20 * 70);
  for (auto* v : {&x, &y}) {
    for (float& f : *v) f = static_cast<float>(static_cast<int>(random() % 2001) - 1000) * 0.00137F;
  }
  const Tensor left = Tensor::from_host<float>(x, {9, 20});
  const Tensor right = Tensor::from_host<float>(y, {20, 70});
  const Tensor mask = Tensor::empty({9, 3}, Dtype::int32);
  const Tensor rows = Tensor::empty({9});
  const Tensor columns = Tensor::empty({70});
  const Tensor largest = Tensor::empty({70});
  GemmOptions o;
  o.splits = 1;
  o.relu = true;
  o.mask = &mask;
  const std::vector<float> relu = dot(left, right, o).to_host<float>();
  o.relu = false;
  o.activation = GemmActivation::drelu;
  o.row_sum = &rows, o.column_sum = &columns, o.column_max_abs = &largest;
  std::vector<float> out = dot(left, right, o).to_host<float>();
  EXPECT_EQ(out, relu);
  o = {};
  o.splits = 1;
  o.activation = GemmActivation::gelu;
  for (const std::vector<float>& more : {rows.to_host<float>(), columns.to_host<float>(), largest.to_host<float>(),
                                         dot(left, right, o).to_host<float>()}) {
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

TEST(Ampere, HasWhatAProductWritesBesideItsResult) {
  const std::vector<float> ampere = beside(sass::Arch::sm_80);
  EXPECT_GT(*std::ranges::max_element(ampere), 0.0F);
  EXPECT_EQ(ampere, beside(sass::Arch::sm_90a));
}

// What sm_52 has, sm_80 has, too.
TEST(Ampere, HasTheKernelsOfMaxwell) {
  const OnAmpere a;
  const OnAmpere maxwell(false, sass::Arch::sm_52);
  for (const Kernel& k : maxwell.device.registry().kernels()) {
    EXPECT_NE(a.device.registry().find(k.name()), nullptr) << k.name();
  }
}

}  // namespace
}  // namespace nervanagpu
