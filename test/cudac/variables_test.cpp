// Variables of a module, and functions that only a GPU's driver has.
#include "test/cudac/program.h"

namespace nervanagpu::test {
namespace {

class Variables : public Program {
 protected:
  Variables() : Program("variables") {}
};

TEST_P(Variables, ValuesPointersAndTables) {
  const auto out = blank<int>(64);
  std::vector<int> want(64);
  for (int round = 0; round < 2; ++round) {
    launch("variables", {1, 1, 1}, {64, 1, 1}, 0, out, round);
    const int counter = 5 + 64 * (round + 1);
    const auto triple = [&](int a) { return a * 3 + counter; };
    const auto flip = [](int a) { return a ^ 7; };
    const std::string names[] = {"alpha", "beta"};
    for (int t = 0; t < 64; ++t) {
      const int called = (t & 1) == 0 ? triple(round) : flip(round);
      const int constant = (t >> 1 & 1) == 0 ? flip(3) : triple(3);
      const auto letter = static_cast<std::size_t>(round) + 1;
      want[static_cast<std::size_t>(t)] =
          names[t & 1][letter] * 1000 + (t % 4 + 1) * 100 + called + constant + round + 1;
    }
    expect_equal("variables" + std::to_string(round), get(out), want);
  }
}

TEST_P(Variables, Assertions) {
  if (on_gpu()) GTEST_SKIP() << "an assertion ends the process's work on a GPU";
  const auto good = array(std::vector<int>(32, 1));
  launch("asserts", {1, 1, 1}, {32, 1, 1}, 0, good);
  std::vector<int> values(32, 1);
  values[7] = -1;
  const std::string said = try_launch("asserts", {1, 1, 1}, {32, 1, 1}, 0, array(values));
  EXPECT_NE(said.find("lane 7: assertion failed: a[threadIdx.x] >= 0"), std::string::npos) << said;
  EXPECT_NE(said.find("asserts(const int *)"), std::string::npos) << said;
}

TEST_P(Variables, FunctionsOfTheDriver) {
  if (on_gpu()) GTEST_SKIP() << "a GPU has all of them";
  launch("prints", {1, 1, 1}, {1, 1, 1}, 0, 0);
  testing::internal::CaptureStdout();
  launch("prints", {1, 1, 1}, {2, 1, 1}, 0, 3);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "3 alpha\n3 alpha\n");
  const auto p = array(std::vector<std::uint64_t>(1));
  launch("allocates", {1, 1, 1}, {1, 1, 1}, 0, p, 0);
  EXPECT_NE(try_launch("allocates", {1, 1, 1}, {1, 1, 1}, 0, p, 8).find("calls malloc"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(On, Variables, testing::ValuesIn(settings()), setting_name);

}  // namespace
}  // namespace nervanagpu::test
