// Memo: values are made once, by any thread, and forgotten when there are many.
#include "src/memo.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace nervanagpu {
namespace {

// The same in order and hashed.
template <typename Memo>
void expect_kept() {
  Memo memo;
  int made = 0;
  const auto length = [&](const std::string& key) {
    return memo.get(key, [&] {
      ++made;
      return static_cast<int>(key.size());
    });
  };
  EXPECT_FALSE(memo.find("four").has_value());
  EXPECT_EQ(length("four"), 4);
  EXPECT_EQ(length("four"), 4);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(memo.find("four"), 4);
  EXPECT_EQ(length("three"), 5);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(length("seven"), 5);  // the third of at most two: the others are forgotten
  EXPECT_FALSE(memo.find("four").has_value());
  EXPECT_EQ(memo.find("seven"), 5);
}

TEST(Memo, MakesAValueOnce) {
  expect_kept<Memo<std::string, int, void, 2>>();
  expect_kept<Memo<std::string, int, std::hash<std::string>, 2>>();
}

TEST(Memo, KeepsNothingOfWhatThrows) {
  Memo<int, int> memo;
  EXPECT_THROW(memo.get(1, []() -> int { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_FALSE(memo.find(1).has_value());
  EXPECT_EQ(memo.get(1, [] { return 7; }), 7);
}

// make() may ask the same table.
TEST(Memo, MakesFromOtherValues) {
  Memo<int, int> memo;
  const auto fibonacci = [&](const auto& self, int n) -> int {
    return memo.get(n, [&] { return n < 2 ? n : self(self, n - 1) + self(self, n - 2); });
  };
  EXPECT_EQ(fibonacci(fibonacci, 40), 102334155);
}

TEST(Memo, GivesAllThreadsOneValue) {
  Memo<int, std::thread::id> memo;
  constexpr std::size_t kThreads = 8;
  std::latch all_make(kThreads);
  std::vector<std::thread::id> got(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      got[i] = memo.get(0, [&] {
        all_make.arrive_and_wait();
        return std::this_thread::get_id();
      });
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::thread::id id : got) EXPECT_EQ(id, got.front());
}

}  // namespace
}  // namespace nervanagpu
