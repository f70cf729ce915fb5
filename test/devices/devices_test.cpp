// Two emulated devices, through the C++ and the C interface.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "nervanagpu/error.hpp"
#include "nervanagpu/nervanagpu.h"
#include "nervanagpu/nervanagpu.hpp"
#include "test/src/expect_error.h"

namespace nervanagpu {
namespace {

// Before the first device is asked for.
class TwoDevices : public ::testing::Environment {
 public:
  void SetUp() override {
    setenv("NERVANAGPU_DEVICE", "emulator", 1);
    setenv("NERVANAGPU_EMULATOR_DEVICES", "2", 1);
    setenv("NERVANAGPU_EMULATOR_MEMORY", "64M", 1);
  }
};
const auto* const kTwo = ::testing::AddGlobalTestEnvironment(new TwoDevices);

constexpr std::int64_t kRows = 5, kColumns = 7;

std::vector<float> counted(std::int64_t n) {
  std::vector<float> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), 1.0F);
  return out;
}

Tensor on(int device, const Shape& shape = {kRows, kColumns}) {
  const OnDevice there(device);
  const std::vector<float> host = counted(shape[0] * shape[1]);
  return Tensor::from_host(std::span(host), shape);
}

TEST(Devices, AreCountedAndNamed) {
  ASSERT_EQ(device_count(), 2);
  EXPECT_EQ(device().ordinal, 0);
  EXPECT_EQ(device(1).ordinal, 1);
  expect_error<InvalidArgument>([] { static_cast<void>(device(2)); }, "device is 2; needs 0 to 1");
  expect_error<InvalidArgument>([] { set_device(-1); }, "device is -1; needs 0 to 1");
  EXPECT_EQ(get_device(), 0);
}

TEST(Devices, TheCurrentOneIsTheThreadsOwn) {
  const OnDevice here(1);
  EXPECT_EQ(get_device(), 1);
  EXPECT_EQ(Tensor::zeros({3}).device(), 1);
  int other = -1;
  std::thread([&] { other = get_device(); }).join();
  EXPECT_EQ(other, 0);
  {
    const OnDevice first(0);
    const OnDevice same(-1);
    EXPECT_EQ(get_device(), 0);
  }
  EXPECT_EQ(get_device(), 1);
}

TEST(Devices, AddressesAreOfOneDevice) {
  const Tensor a = on(0);
  const Tensor b = on(1);
  EXPECT_EQ(device_of(a.address()), 0);
  EXPECT_EQ(device_of(b.address() + 4), 1);
  EXPECT_EQ(device_of(16), -1);
}

TEST(Devices, WorkIsDoneWhereTheTensorsLie) {
  const Tensor a = on(1);
  const Expr e = Expr(a) * 2 + 1;
  EXPECT_EQ(e.device(), 1);
  EXPECT_EQ((Expr(1) + 2).device(), -1);
  const Tensor r = e.evaluate();
  EXPECT_EQ(r.device(), 1);
  EXPECT_EQ(device_of(r.address()), 1);
  const std::vector<float> from = a.to_host<float>();
  const std::vector<float> got = r.to_host<float>();
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], 2 * from[i] + 1);
  const Tensor p = dot(a, a.transpose());
  EXPECT_EQ(p.device(), 1);
  EXPECT_EQ(p.to_host<float>()[0], 140.0F);  // 1 + 4 + ... + 49
  EXPECT_EQ(sort(a).device(), 1);
  EXPECT_EQ(cumsum(a, 1).device(), 1);
  EXPECT_EQ(a.copy().device(), 1);
  EXPECT_EQ(get_device(), 0);
}

TEST(Devices, ExpressionsOfBothAreEvaluatedTogether) {
  const std::array<Expr, 3> all = {Expr(on(0)) + 1, Expr(on(1)) + 1, Expr(on(0)) * 2};
  evaluate(all);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)].evaluate().device(), i % 2);
}

TEST(Devices, MixedOnesAreRefused) {
  const Tensor a = on(0);
  const Tensor b = on(1);
  Tensor c = on(1);
  expect_error<InvalidArgument>([&] { static_cast<void>(Expr(a) + b); },
                                "add: x is on device 0, y on device 1; needs one device");
  expect_error<InvalidArgument>([&] { gemm(a, b.transpose(), c); },
                                "gemm: a is on device 0, b on device 1; needs one device");
  expect_error<InvalidArgument>([&] { add(a, a, c); }, "add: a is on device 0, out on device 1; needs one device");
  expect_error<InvalidArgument>([&] { convert(b, const_cast<Tensor&>(a)); },
                                "convert: from is on device 1, to on device 0; needs one device");
  const OnDevice there(1);
  const Stream s = Stream::create();
  EXPECT_EQ(s.device(), 1);
  Tensor out = Tensor::empty({kRows, kRows});
  GemmOptions o;
  o.stream = s;
  gemm(b, b.transpose(), out, o);
  expect_error<InvalidArgument>([&] { static_cast<void>(dot(a, a.transpose(), o)); },
                                "dot: a is on device 0, stream on device 1; needs one device");
}

TEST(Devices, TensorsAreMoved) {
  const Tensor a = on(0);
  const Tensor b = a.transpose().to(1);
  EXPECT_EQ(b.device(), 1);
  EXPECT_EQ(b.to_host<float>(), a.transpose().to_host<float>());
  EXPECT_EQ(b.to(1).address(), b.address());
  Tensor c = Tensor::zeros({kRows, kColumns});
  c.copy_from(b.transpose());
  EXPECT_EQ(c.device(), 0);
  EXPECT_EQ(c.to_host<float>(), a.to_host<float>());
  assign(c, Expr(b.transpose()) * 2);
  EXPECT_EQ(c.to_host<float>()[2], 6.0F);
  expect_error<InvalidArgument>([&] { static_cast<void>(a.to(2)); }, "device is 2; needs 0 to 1");
}

TEST(Devices, GraphsAreOfOneDevice) {
  const Tensor a = on(1);
  const Tensor other = on(0);
  Tensor out = on(1);
  const OnDevice there(1);
  const Graph g = Graph::capture([&] { assign(out, Expr(a) + 5); });
  g.launch();
  EXPECT_EQ(out.to_host<float>()[0], 6.0F);
  expect_error<Error>([&] { static_cast<void>(Graph::capture([&] { assign(other, Expr(other) + 1); })); },
                      "graph: another device is used while this thread records one");
  EXPECT_EQ(get_device(), 1);
  EXPECT_EQ(other.to_host<float>()[0], 1.0F);
}

TEST(Devices, MemoryIsEachOnesOwn) {
  const std::size_t before = memory_stats().in_use;
  const OnDevice there(1);
  const Tensor most = Tensor::zeros({10 << 20});
  EXPECT_THROW(static_cast<void>(Tensor::zeros({10 << 20})), OutOfMemory);
  const OnDevice back(0);
  EXPECT_EQ(memory_stats().in_use, before);
  const Tensor fits = Tensor::zeros({10 << 20});
  EXPECT_EQ(fits.device(), 0);
}

TEST(Devices, InC) {
  int32_t n = -1;
  ASSERT_EQ(ng_device_count(&n), NG_OK);
  EXPECT_EQ(n, 2);
  EXPECT_EQ(ng_device_set(2), NG_INVALID_ARGUMENT);
  EXPECT_EQ(ng_device_count(nullptr), NG_INVALID_ARGUMENT);
  EXPECT_EQ(ng_device_get(nullptr), NG_INVALID_ARGUMENT);
  const std::array<float, 4> host = {1, 2, 3, 4};
  std::array<float, 4> got{};
  uint64_t first = 0;
  uint64_t second = 0;
  ASSERT_EQ(ng_malloc(&first, sizeof host), NG_OK);
  ASSERT_EQ(ng_upload(first, host.data(), sizeof host), NG_OK);
  ASSERT_EQ(ng_device_set(1), NG_OK);
  ASSERT_EQ(ng_device_get(&n), NG_OK);
  EXPECT_EQ(n, 1);
  ASSERT_EQ(ng_malloc(&second, sizeof host), NG_OK);
  EXPECT_EQ(ng_copy_from_device(second, 7, first, sizeof host), NG_INVALID_ARGUMENT);
  EXPECT_EQ(ng_copy_from_device(0, 0, first, sizeof host), NG_INVALID_ARGUMENT);
  ASSERT_EQ(ng_copy_from_device(second, 0, first, sizeof host), NG_OK);
  ASSERT_EQ(ng_download(got.data(), second, sizeof got), NG_OK);
  EXPECT_EQ(got, host);
  EXPECT_NE(ng_download(got.data(), first, sizeof got), NG_OK);  // the other one's address
  ASSERT_EQ(ng_device_set(0), NG_OK);
  EXPECT_EQ(ng_free(second), NG_OK);  // from whatever device
  EXPECT_EQ(ng_free(first), NG_OK);
}

}  // namespace
}  // namespace nervanagpu
