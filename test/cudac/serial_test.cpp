// Programs without barriers: the host runs the same source, thread after thread.
#include "test/cudac/program.h"
#include "test/data/cudac/host.h"

namespace nervanagpu::test {
namespace {

namespace source {
#include "test/data/cudac/control.cu"
#include "test/data/cudac/hash.cu"
#include "test/data/cudac/integer.cu"
#include "test/data/cudac/numeric.cu"
#include "test/data/cudac/text.cu"
}  // namespace source

class Hash : public Program {
 protected:
  Hash() : Program("hash") {}
};

TEST_P(Hash, Sha256) {
  const auto text = integers<unsigned char>(64 * 120);
  std::vector<int> length(64);
  for (int i = 0; i < 64; ++i) length[static_cast<std::size_t>(i)] = i < 60 ? i * 2 : 53 + i % 4;
  const auto out = blank<unsigned>(64 * 8);
  launch("sha256", {2, 1, 1}, {32, 1, 1}, 0, array(text), array(length), out, 120);
  std::vector<unsigned> want(64 * 8);
  serially({2, 1, 1}, {32, 1, 1}, [&] { source::sha256(text.data(), length.data(), want.data(), 120); });
  expect_equal("sha256", get(out), want);
  // Of the empty message, by FIPS 180-4.
  const auto got = get(out);
  EXPECT_EQ(got[0], 0xe3b0c442u);
  EXPECT_EQ(got[7], 0x7852b855u);
}

TEST_P(Hash, MurmurAndCrc) {
  const auto text = integers<unsigned>(96 * 13);
  const auto out = blank<unsigned>(96 * 4);
  launch("make_crc_table", {1, 1, 1}, {256, 1, 1}, 0);
  launch("murmur", {3, 1, 1}, {32, 1, 1}, 0, array(text), 13, out);
  std::vector<unsigned> want(96 * 4);
  serially({1, 1, 1}, {256, 1, 1}, [&] { source::make_crc_table(); });
  serially({3, 1, 1}, {32, 1, 1}, [&] { source::murmur(text.data(), 13, want.data()); });
  expect_equal("murmur", get(out), want);
}

TEST_P(Hash, RandomNumbers) {
  const auto out = blank<unsigned>(128 * 6);
  launch("random_numbers", {2, 1, 1}, {64, 1, 1}, 0, out, 12345u, 40);
  std::vector<unsigned> want(128 * 6);
  serially({2, 1, 1}, {64, 1, 1}, [&] { source::random_numbers(want.data(), 12345u, 40); });
  expect_equal("random", get(out), want);
}

class Integer : public Program {
 protected:
  Integer() : Program("integer") {}
};

TEST_P(Integer, Division) {
  auto in = integers<unsigned long long>(400);
  in[2] = 0;
  in[4] = ~0ull;
  in[5] = 0;
  in[6] = 1ull << 63;
  in[7] = ~0ull;
  const auto out = blank<unsigned long long>(200 * 8);
  launch("divide", {4, 1, 1}, {64, 1, 1}, 0, array(in), out, 200);
  std::vector<unsigned long long> want(200 * 8);
  serially({4, 1, 1}, {64, 1, 1}, [&] { source::divide(in.data(), want.data(), 200); });
  expect_equal("divide", get(out), want);
}

TEST_P(Integer, ModularPowers) {
  const auto in = integers<unsigned long long>(128);
  const auto out = blank<unsigned long long>(128);
  launch("modular", {2, 1, 1}, {32, 1, 1}, 0, array(in), out);
  std::vector<unsigned long long> want(128);
  serially({2, 1, 1}, {32, 1, 1}, [&] { source::modular(in.data(), want.data()); });
  expect_equal("modular", get(out), want);
  for (std::size_t t = 0; t < 64; ++t) {  // and without Montgomery
    const unsigned long long m = in[2 * t] | 1;
    unsigned long long r = 1 % m, y = in[2 * t + 1] % m;
    for (unsigned e = 65537; e != 0; e >>= 1) {
      if ((e & 1) != 0) r = static_cast<unsigned long long>(static_cast<unsigned __int128>(r) * y % m);
      y = static_cast<unsigned long long>(static_cast<unsigned __int128>(y) * y % m);
    }
    ASSERT_EQ(want[2 * t], r) << t;
  }
}

TEST_P(Integer, Bits) {
  auto in = integers<unsigned long long>(64);
  in[0] = 0;
  in[1] = ~0ull;
  const auto out = blank<unsigned long long>(256);
  launch("bit_tricks", {1, 1, 1}, {64, 1, 1}, 0, array(in), out);
  std::vector<unsigned long long> want(256);
  serially({1, 1, 1}, {64, 1, 1}, [&] { source::bit_tricks(in.data(), want.data()); });
  expect_equal("bits", get(out), want);
}

TEST_P(Integer, LongProducts) {
  const auto a = integers<unsigned>(32 * 16), b = integers<unsigned>(32 * 16);
  const auto out = blank<unsigned>(32 * 32);
  launch("multiply_long", {1, 1, 1}, {32, 1, 1}, 0, array(a), array(b), out);
  std::vector<unsigned> want(32 * 32);
  for (std::size_t t = 0; t < 32; ++t) {
    for (std::size_t j = 0; j < 16; ++j) {
      unsigned long long carry = 0;
      for (std::size_t i = 0; i < 16; ++i) {
        carry += static_cast<unsigned long long>(a[t * 16 + i]) * b[t * 16 + j] + want[t * 32 + i + j];
        want[t * 32 + i + j] = static_cast<unsigned>(carry);
        carry >>= 32;
      }
      want[t * 32 + j + 16] = static_cast<unsigned>(carry);
    }
  }
  expect_equal("products", get(out), want);
}

TEST_P(Integer, LongSums) {
  auto a = integers<unsigned>(64 * 4), b = integers<unsigned>(64 * 4);
  for (std::size_t i = 0; i < 32; ++i) a[i] = ~b[i];  // long carries
  const auto sum = blank<unsigned>(64 * 5);
  const auto difference = blank<unsigned>(64 * 5);
  launch("add_long", {2, 1, 1}, {32, 1, 1}, 0, array(a), array(b), sum, difference);
  std::vector<unsigned> s(64 * 5), d(64 * 5);
  for (std::size_t t = 0; t < 64; ++t) {
    unsigned long long carry = 0, borrow = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      carry += static_cast<unsigned long long>(a[t * 4 + i]) + b[t * 4 + i];
      s[t * 5 + i] = static_cast<unsigned>(carry);
      carry >>= 32;
      const unsigned long long v = static_cast<unsigned long long>(a[t * 4 + i]) - b[t * 4 + i] - borrow;
      d[t * 5 + i] = static_cast<unsigned>(v);
      borrow = v >> 63;
    }
    s[t * 5 + 4] = static_cast<unsigned>(carry);
    d[t * 5 + 4] = static_cast<unsigned>(0 - borrow);
  }
  expect_equal("sums", get(sum), s);
  expect_equal("differences", get(difference), d);
}

class Text : public Program {
 protected:
  Text() : Program("text") {}
};

TEST_P(Text, Search) {
  std::vector<char> text(64 * 200);
  for (char& c : text) c = static_cast<char>('a' + rng_() % 2);
  const std::string pattern = "abaab";
  const auto out = blank<int>(128);
  launch("search", {2, 1, 1}, {32, 1, 1}, 0, array(text), 200, array(std::vector<char>(pattern.begin(), pattern.end())),
         static_cast<int>(pattern.size()), out);
  std::vector<int> want(128);
  serially({2, 1, 1}, {32, 1, 1},
           [&] { source::search(text.data(), 200, pattern.data(), static_cast<int>(pattern.size()), want.data()); });
  expect_equal("search", get(out), want);
}

TEST_P(Text, EditDistance) {
  std::vector<char> words(65 * 36);
  std::vector<unsigned char> lengths(65);
  for (char& c : words) c = static_cast<char>('a' + rng_() % 4);
  for (unsigned char& n : lengths) n = static_cast<unsigned char>(rng_() % 37);
  const auto out = blank<int>(64);
  launch("edit_distance", {1, 1, 1}, {64, 1, 1}, 0, array(words), 36, array(lengths), out);
  std::vector<int> want(64);
  serially({1, 1, 1}, {64, 1, 1}, [&] { source::edit_distance(words.data(), 36, lengths.data(), want.data()); });
  expect_equal("edit_distance", get(out), want);
}

TEST_P(Text, Base64) {
  for (const int n : {1, 2, 3, 100}) {
    const auto in = integers<unsigned char>(static_cast<std::size_t>(n));
    const std::size_t size = (static_cast<std::size_t>(n) + 2) / 3 * 4;
    const auto out = blank<char>(size);
    launch("base64", {1, 1, 1}, {64, 1, 1}, 0, array(in), n, out);
    std::vector<char> want(size);
    serially({1, 1, 1}, {64, 1, 1}, [&] { source::base64(in.data(), n, want.data()); });
    expect_equal("base64_" + std::to_string(n), get(out), want);
  }
}

TEST_P(Text, Interpreter) {
  const auto code = integers<unsigned char>(64 * 40);
  const auto out = blank<int>(128);
  launch("interpret", {2, 1, 1}, {32, 1, 1}, 0, array(code), 40, out);
  std::vector<int> want(128);
  serially({2, 1, 1}, {32, 1, 1}, [&] { source::interpret(code.data(), 40, want.data()); });
  expect_equal("interpret", get(out), want);
}

class Control : public Program {
 protected:
  Control() : Program("control") {}
};

TEST_P(Control, Recursion) {
  const auto out = blank<int>(64);
  launch("recursion", {2, 1, 1}, {32, 1, 1}, 0, out);
  std::vector<int> want(64);
  serially({2, 1, 1}, {32, 1, 1}, [&] { source::recursion(want.data()); });
  expect_equal("recursion", get(out), want);
}

TEST_P(Control, Queens) {
  const auto out = blank<int>(7);
  launch("queens_from", {1, 1, 1}, {32, 1, 1}, 0, out, 7);
  std::vector<int> want(7);
  serially({1, 1, 1}, {32, 1, 1}, [&] { source::queens_from(want.data(), 7); });
  expect_equal("queens", get(out), want);
  int sum = 0;
  for (const int n : want) sum += n;
  EXPECT_EQ(sum, 40);
}

TEST_P(Control, FunctionPointers) {
  auto which = integers<int>(96);
  const auto a = reals<float>(96, -8, 8), b = reals<float>(96, -8, 8);
  const auto out = blank<float>(96);
  launch("function_pointers", {3, 1, 1}, {32, 1, 1}, 0, array(which), array(a), array(b), out);
  std::vector<float> want(96);
  serially({3, 1, 1}, {32, 1, 1}, [&] { source::function_pointers(which.data(), a.data(), b.data(), want.data()); });
  expect_equal("function_pointers", get(out), want);
}

TEST_P(Control, VirtualFunctions) {
  auto kinds = integers<int>(64);
  for (int& k : kinds) k = static_cast<int>(static_cast<unsigned>(k) % 1000);
  const auto out = blank<int>(64);
  launch("shapes", {2, 1, 1}, {32, 1, 1}, 0, array(kinds), out);
  std::vector<int> want(64);
  serially({2, 1, 1}, {32, 1, 1}, [&] { source::shapes(kinds.data(), want.data()); });
  expect_equal("shapes", get(out), want);
}

TEST_P(Control, Collatz) {
  auto in = integers<unsigned>(100);
  for (unsigned& v : in) v = v % 100000 + 1;
  const auto out = blank<unsigned>(200);
  launch("collatz", {2, 1, 1}, {64, 1, 1}, 0, array(in), out, 100);
  std::vector<unsigned> want(200);
  serially({2, 1, 1}, {64, 1, 1}, [&] { source::collatz(in.data(), want.data(), 100); });
  expect_equal("collatz", get(out), want);
}

TEST_P(Control, Primes) {
  const auto out = blank<unsigned>(128);
  launch("primes", {2, 1, 1}, {64, 1, 1}, 0, out, 1000003u);
  std::vector<unsigned> want(128);
  serially({2, 1, 1}, {64, 1, 1}, [&] { source::primes(want.data(), 1000003u); });
  expect_equal("primes", get(out), want);
}

class Serial : public Program {
 protected:
  Serial() : Program("numeric") {}
};

TEST_P(Serial, Mandelbrot) {
  const auto out = blank<unsigned short>(96 * 32);
  launch("mandelbrot", {3, 4, 1}, {32, 8, 1}, 0, out, 96, 32, 60);
  std::vector<unsigned short> want(96 * 32);
  serially({3, 4, 1}, {32, 8, 1}, [&] { source::mandelbrot(want.data(), 96, 32, 60); });
  expect_equal("mandelbrot", get(out), want);
}

#define ON_ALL(suite) INSTANTIATE_TEST_SUITE_P(On, suite, testing::ValuesIn(settings()), setting_name)
ON_ALL(Hash);
ON_ALL(Integer);
ON_ALL(Text);
ON_ALL(Control);
ON_ALL(Serial);

}  // namespace
}  // namespace nervanagpu::test
