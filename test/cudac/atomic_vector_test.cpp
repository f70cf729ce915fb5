// Atomics of several floats, each a step of its own, and of 128 bits: every thread has its own 16 bytes.
#include "sass/half.h"
#include "test/cudac/program.h"

namespace nervanagpu::test {
namespace {

using Words = std::vector<std::uint32_t>;
constexpr unsigned kThreads = 1024;

float flushed(float v) {
  return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0F, v) : v;
}

std::uint32_t add_floats(std::uint32_t a, std::uint32_t b) {
  const float sum = flushed(flushed(std::bit_cast<float>(a)) + flushed(std::bit_cast<float>(b)));
  return std::isnan(sum) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(sum);
}

float bfloat(std::uint32_t half) {
  return std::bit_cast<float>(half << 16);
}
float half_float(std::uint32_t half) {
  return sass::from_half(static_cast<std::uint16_t>(half));
}

// Sums that are exact in double, rounded once.
std::uint32_t add_halves(std::uint32_t a, std::uint32_t b, bool is_bfloat) {
  std::uint32_t out = 0;
  for (unsigned i = 0; i < 2; ++i) {
    const std::uint32_t x = a >> (16 * i) & 0xffff, y = b >> (16 * i) & 0xffff;
    const double sum =
        is_bfloat ? double{bfloat(x)} + double{bfloat(y)} : double{half_float(x)} + double{half_float(y)};
    const std::uint32_t r = is_bfloat ? sass::to_bfloat(sum) : sass::to_half(sum);
    out |= (r & 0xffff) << (16 * i);
  }
  return out;
}

class AtomicVector : public Program {
 protected:
  AtomicVector() : Program("atomic_vector") {}

  struct Result {
    Words to, out;
  };
  Result run(const std::string& kernel, const Words& to, const Words& in) {
    const auto dto = array(to);
    const auto dout = array(Words(4 * kThreads, 0xa5a5a5a5u));
    launch(kernel, {kThreads / 128, 1, 1}, {128, 1, 1}, 0, dto, dout, array(in), kThreads);
    return {get(dto), get(dout)};
  }

  // Of `words` registers, by `apply` each; the others stay.
  template <class F>
  void expect(const std::string& name, unsigned words, const Words& to, const Words& in, F apply) {
    Words want = to, old(4 * kThreads, 0);
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (i % 4 >= words) continue;
      want[i] = apply(to[i], in[i]);
      old[i] = to[i];
    }
    for (const char* prefix : {"red_", "atom_"}) {
      if (std::string(prefix) == "red_" && name.find("x2") == std::string::npos &&
          name.find("f32") == std::string::npos) {
        continue;  // atom alone has single halves
      }
      const Result r = run(prefix + name, to, in);
      expect_equal(prefix + name, r.to, want);
      if (std::string(prefix) == "atom_") expect_equal("old_" + name, r.out, old);
    }
  }

  Words floats() {
    Words w(4 * kThreads);
    for (std::uint32_t& v : w) v = std::bit_cast<std::uint32_t>(reals<float>(1, -9, 9)[0]);
    for (std::size_t i = 0; i < 64; ++i) w[i] = static_cast<std::uint32_t>(rng_()) & 0x807fffffu;  // subnormal
    return w;
  }
  // Numbers of any exponent, with few bits: sums of bfloat16 are then exact in double.
  Words halves(bool is_bfloat) {
    Words w(4 * kThreads);
    for (std::uint32_t& v : w) {
      const auto bits = static_cast<std::uint32_t>(rng_());
      v = is_bfloat ? (bits & 0x8fff8fffu) | 0x30003000u : bits & 0xbfffbfffu;
    }
    return w;
  }
};

TEST_P(AtomicVector, Floats) {
  const Words to = floats(), in = floats();
  expect("v4_f32", 4, to, in, add_floats);
  expect("v2_f32", 2, to, in, add_floats);
}

TEST_P(AtomicVector, Halves) {
  for (const bool is_bfloat : {false, true}) {
    const std::string type = is_bfloat ? "bf16" : "f16";
    const Words to = halves(is_bfloat), in = halves(is_bfloat);
    const auto add = [&](std::uint32_t a, std::uint32_t b) { return add_halves(a, b, is_bfloat); };
    expect("v4_" + type + "x2_add", 4, to, in, add);
    expect("v2_" + type + "x2_add", 2, to, in, add);
    for (const unsigned n : {2u, 4u, 8u}) expect("v" + std::to_string(n) + "_" + type + "_add", n / 2, to, in, add);
    for (const bool least : {false, true}) {
      const auto choose = [&](std::uint32_t a, std::uint32_t b) {
        std::uint32_t out = 0;
        for (unsigned i = 0; i < 2; ++i) {
          const std::uint32_t x = a >> (16 * i) & 0xffff, y = b >> (16 * i) & 0xffff;
          const float p = is_bfloat ? bfloat(x) : half_float(x), q = is_bfloat ? bfloat(y) : half_float(y);
          const bool first = p == q ? (least ? x > y : x < y) : (p < q) == least;
          out |= (first ? x : y) << (16 * i);
        }
        return out;
      };
      const std::string op = least ? "_min" : "_max";
      expect("v4_" + type + "x2" + op, 4, to, in, choose);
      expect("v2_" + type + "x2" + op, 2, to, in, choose);
    }
  }
}

TEST_P(AtomicVector, Of128Bits) {
  const Words to = integers<std::uint32_t>(4 * kThreads), in = integers<std::uint32_t>(4 * kThreads);
  const Result exchanged = run("exch_128", to, in);
  expect_equal("exch.to", exchanged.to, in);
  expect_equal("exch.out", exchanged.out, to);
  // Half of the threads expect what is there.
  Words expected = to;
  for (std::size_t i = 0; i < expected.size(); i += 8) expected[i + i / 8 % 4] ^= 1u << i / 32 % 32;
  const auto dto = array(to);
  const auto dout = array(expected);
  launch("cas_128", {kThreads / 128, 1, 1}, {128, 1, 1}, 0, dto, dout, array(in), kThreads);
  Words want = in;
  for (std::size_t i = 0; i < want.size(); i += 8)
    std::copy_n(to.begin() + static_cast<std::ptrdiff_t>(i), 4, want.begin() + static_cast<std::ptrdiff_t>(i));
  expect_equal("cas.to", get(dto), want);
  expect_equal("cas.out", get(dout), to);
  const Result shared = run("shared_128", to, in);
  expect_equal("shared", shared.out, in);
}

INSTANTIATE_TEST_SUITE_P(Each, AtomicVector, testing::ValuesIn(settings()), setting_name);

}  // namespace
}  // namespace nervanagpu::test
