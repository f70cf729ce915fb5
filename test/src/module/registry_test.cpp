// The registry finds every embedded kernel, and refuses damaged cubins.
#include "src/module/registry.h"

#include <gtest/gtest.h>

#include <vector>

#include "nervanagpu/error.hpp"
#include "src/module/unpack.h"

namespace nervanagpu {
namespace {

TEST(Registry, FindsEveryEmbeddedKernelByName) {
  const Registry r(embedded_cubins(), sass::Arch::sm_90a);
  ASSERT_FALSE(r.kernels().empty());
  for (const Kernel& k : r.kernels()) {
    EXPECT_EQ(r.find(k.name()), &k);
    EXPECT_EQ(k.manifest().name, k.name());
    EXPECT_GT(k.manifest().threads, 0U);
    // A bound of the error is one of sums in a certain order.
    EXPECT_TRUE(k.manifest().bound.empty() || !k.manifest().accum.empty()) << k.name();
  }
  EXPECT_EQ(r.find("no such kernel"), nullptr);
  EXPECT_TRUE(r.of_op("no such op").empty());
}

TEST(Registry, DevicesOfAKindShareOne) {
  const auto first = registry_of(embedded_cubins(), sass::Arch::sm_52);
  EXPECT_EQ(registry_of(embedded_cubins(), sass::Arch::sm_52), first);
  EXPECT_EQ(first->arch(), sass::Arch::sm_52);
  EXPECT_NE(registry_of(embedded_cubins(), sass::Arch::sm_80), first);
  // Cubins that are not the library's may be others the next time.
  const auto none = embedded_cubins().first(0);
  EXPECT_NE(registry_of(none, sass::Arch::sm_52), first);
  EXPECT_NE(registry_of(none, sass::Arch::sm_52), registry_of(none, sass::Arch::sm_52));
}

TEST(Registry, AnotherArchitectureHasNone) {
  const Registry r(embedded_cubins(), sass::Arch::sm_70);
  EXPECT_TRUE(r.kernels().empty());
}

TEST(Registry, EachArchitectureHasItsOwn) {
  const Registry hopper(embedded_cubins(), sass::Arch::sm_90a);
  const Registry maxwell(embedded_cubins(), sass::Arch::sm_52);
  for (const Kernel& k : maxwell.kernels()) {
    EXPECT_EQ(k.manifest().arch, sass::Arch::sm_52);
    EXPECT_EQ(maxwell.find(k.name()), &k);
  }
  for (const Kernel& k : hopper.kernels()) EXPECT_EQ(k.manifest().arch, sass::Arch::sm_90a);
}

TEST(Registry, RefusesADamagedCubin) {
  Unpacker unpack;
  const std::span<const unsigned char> good = unpack(embedded_cubins().front());
  std::vector<unsigned char> bytes(good.begin(), good.end());
  bytes.resize(bytes.size() / 2);
  const EmbeddedCubin bad{"sgemm.sm_90a", bytes.data(), bytes.size()};
  try {
    const Registry r({&bad, 1}, sass::Arch::sm_90a);
    FAIL() << "a truncated cubin was read";
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).rfind("embedded cubin sgemm.sm_90a: ", 0), 0U) << e.what();
  }
}

TEST(Registry, RefusesTwoKernelsOfOneName) {
  const EmbeddedCubin& one = embedded_cubins().front();
  const EmbeddedCubin twice[] = {one, one};
  EXPECT_THROW(Registry(twice, sass::Arch::sm_90a), Error);
}

}  // namespace
}  // namespace nervanagpu
