// Kernel images with random contents, and what two images must have in common to count as the same.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "sass/cubin.h"

namespace nervanagpu::sass {

class RandomImages {
 public:
  explicit RandomImages(std::uint64_t seed) : rng_(seed) {}

  std::uint64_t below(std::uint64_t n) { return rng_() % n; }
  bool coin() { return below(2) != 0; }

  CubinImage cubin(Arch arch) {
    CubinImage image;
    image.arch = arch;
    const std::size_t count = 1 + below(5);
    for (std::size_t i = 0; i < count; ++i) image.kernels.push_back(kernel(arch, "k" + std::to_string(i) + tail()));
    return image;
  }

  KernelImage kernel(Arch arch, std::string name) {
    const ArchInfo& chip = info(arch);
    KernelImage k;
    k.name = std::move(name);
    const bool bundles = chip.encoding == Encoding::k64;
    k.code.resize(bundles ? 3 * (1 + below(20)) : 1 + below(60));
    for (Word& w : k.code) w = {rng_(), bundles ? rng_() & (kControlBits.hi) : rng_()};
    k.max_threads = coin() ? 32 * (1 + static_cast<std::uint32_t>(below(8))) : 0;
    if (coin()) {
      k.reqntid[0] = 1 + static_cast<std::uint32_t>(below(16));
      k.reqntid[1] = 1 + static_cast<std::uint32_t>(below(4));
      k.reqntid[2] = 1 + static_cast<std::uint32_t>(below(2));
    }
    k.registers = 1 + static_cast<std::uint32_t>(below(k.max_threads == 0 && k.reqntid[0] == 0 ? 255 : 64));
    k.shared = coin() ? 1 + static_cast<std::uint32_t>(below(chip.max_shared)) : 0;
    k.local = coin() ? static_cast<std::uint32_t>(below(4096)) : 0;
    k.barriers = static_cast<std::uint32_t>(below(17));
    params(k);
    k.constant0.resize(chip.param_base + std::size_t{k.param_bytes});
    if (coin())
      std::generate(k.constant0.begin(), k.constant0.end(), [&] { return static_cast<std::uint8_t>(rng_()); });
    if (coin()) {
      for (std::size_t i = 0; i < k.code.size(); ++i) k.lines.push_back(i != 0 && coin() ? k.lines[i - 1] : span());
    }
    if (coin()) manifest(arch, k);
    if (k.manifest.name.empty()) forget_types(k);
    return k;
  }

 private:
  std::string tail() { return coin() ? "" : "_long.name$" + std::to_string(rng_()); }

  std::string text() {
    static constexpr std::string_view kParts[] = {"",         "k % 8 == 0", "\"",       "\\", "\n",
                                                  "\x01\x7f", "2^31",       "\xc3\xa9", " "};
    std::string s;
    for (std::size_t n = below(5); n != 0; --n) s += kParts[below(std::size(kParts))];
    return s;
  }

  Span span() {
    return {coin() ? "kernels/x/y.sass" : text(), static_cast<std::uint32_t>(below(1000)),
            static_cast<std::uint32_t>(below(120))};
  }

  void params(KernelImage& k) {
    unsigned at = 0;
    for (std::size_t n = below(9); n != 0; --n) {
      const auto type = static_cast<ParamType>(below(12));
      const unsigned size = size_of(type);
      at = (at + size - 1) / size * size;
      k.params.push_back({"p" + std::to_string(n) + text(), type, static_cast<std::uint16_t>(at)});
      at += size;
    }
    k.param_bytes = at;
  }

  void manifest(Arch arch, KernelImage& k) {
    Manifest& m = k.manifest;
    m.name = k.name;
    m.op = text();
    m.arch = arch;
    for (std::size_t n = below(4); n != 0; --n) m.variant["V" + text() + std::to_string(n)] = text();
    m.params = k.params;
    m.threads = static_cast<std::uint32_t>(rng_());
    m.shared = static_cast<std::uint32_t>(rng_());
    m.registers = static_cast<std::uint32_t>(below(256));
    for (std::size_t n = below(3); n != 0; --n) m.needs.push_back(text());
    m.accum = text();
    m.bound = text();
  }

  // Without a manifest a cubin keeps only the sizes of parameters.
  static void forget_types(KernelImage& k) {
    for (Param& p : k.params) {
      p.name.clear();
      switch (size_of(p.type)) {
        case 1: p.type = ParamType::u8; break;
        case 2: p.type = ParamType::u16; break;
        case 4: p.type = ParamType::u32; break;
        default: p.type = ParamType::u64; break;
      }
    }
  }

  std::mt19937_64 rng_;
};

inline void expect_same(const Manifest& a, const Manifest& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.op, b.op);
  EXPECT_EQ(a.arch, b.arch);
  EXPECT_EQ(a.variant, b.variant);
  EXPECT_EQ(a.params, b.params);
  EXPECT_EQ(a.threads, b.threads);
  EXPECT_EQ(a.shared, b.shared);
  EXPECT_EQ(a.registers, b.registers);
  EXPECT_EQ(a.needs, b.needs);
  EXPECT_EQ(a.accum, b.accum);
  EXPECT_EQ(a.bound, b.bound);
}

inline void expect_same(const LineTable& a, const LineTable& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].file, b[i].file);
    EXPECT_EQ(a[i].line, b[i].line);
    EXPECT_EQ(a[i].col, b[i].col);
  }
}

inline void expect_same(const KernelImage& a, const KernelImage& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.code, b.code);
  EXPECT_EQ(a.registers, b.registers);
  EXPECT_EQ(a.shared, b.shared);
  EXPECT_EQ(a.local, b.local);
  EXPECT_EQ(a.barriers, b.barriers);
  EXPECT_EQ(a.max_threads, b.max_threads);
  EXPECT_TRUE(std::equal(a.reqntid, a.reqntid + 3, b.reqntid));
  EXPECT_EQ(a.param_bytes, b.param_bytes);
  EXPECT_EQ(a.params, b.params);
  EXPECT_EQ(a.constant0, b.constant0);
  expect_same(a.lines, b.lines);
  expect_same(a.manifest, b.manifest);
}

inline std::vector<std::uint8_t> read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline std::vector<std::uint8_t> golden_cubin(const std::string& name) {
  return read_bytes(std::string(NG_SOURCE_DIR) + "/test/data/cubin/" + name + ".cubin");
}

}  // namespace nervanagpu::sass
