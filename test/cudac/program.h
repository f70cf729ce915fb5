// A fixture for programs in CUDA C: inputs, launches, and comparison with the host and with what an H200 computed.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

#include "test/cudac/chip.h"

namespace nervanagpu::test {

struct Setting {
  int abi;  // 7: by nvcc 12.4; 8: by nvcc 13.0
  sass::emulate::Mode mode;
};
std::vector<Setting> settings();
std::vector<Setting> settings_of_templates();  // which we assemble: ABI 7
std::string setting_name(const testing::TestParamInfo<Setting>& info);

// Memory of the device.
template <class T>
struct Array {
  std::uint64_t address = 0;
  std::size_t count = 0;
};

class Program : public testing::TestWithParam<Setting> {
 protected:
  // `file`: the source's name in test/data/cudac, without ending. Every result has its line in test/data/digests/cudac.txt.
  explicit Program(std::string file) : file_(std::move(file)) {}
  void SetUp() override;
  // The program's cubin; of the template test/data/cudac/NAME.sass where nvcc made none.
  [[nodiscard]] std::vector<std::uint8_t> cubin() const;

  template <class T>
  Array<T> array(const std::vector<T>& values) {
    const Array<T> a{chip_->allocate(values.size() * sizeof(T)), values.size()};
    chip_->upload(a.address, values.data(), values.size() * sizeof(T));
    return a;
  }
  // Filled with a pattern that no program should leave.
  template <class T>
  Array<T> blank(std::size_t count) {
    std::vector<T> values(count);
    std::memset(values.data(), 0xa5, count * sizeof(T));
    return array(values);
  }
  template <class T>
  std::vector<T> get(const Array<T>& a) {
    std::vector<T> values(a.count);
    chip_->download(values.data(), a.address, a.count * sizeof(T));
    return values;
  }

  // Expects neither fault nor finding.
  template <class... Args>
  void launch(const std::string& kernel, std::array<unsigned, 3> grid, std::array<unsigned, 3> block, unsigned shared,
              const Args&... args) {
    const std::string said = try_launch(kernel, grid, block, shared, args...);
    ASSERT_EQ(said, "") << kernel;
  }
  template <class... Args>
  std::string try_launch(const std::string& kernel, std::array<unsigned, 3> grid, std::array<unsigned, 3> block,
                         unsigned shared, const Args&... args) {
    Chip::Launch l{kernel, grid, block, shared, {}};
    (pack(l.params, args), ...);
    return chip_->launch(l);
  }

  // Equal to the last bit; and the H200 gave the same.
  template <class T>
  void expect_equal(const std::string& name, const std::vector<T>& got, const std::vector<T>& want) {
    ASSERT_EQ(got.size(), want.size()) << name;
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(std::memcmp(&got[i], &want[i], sizeof(T)), 0)
          << name << " [" << i << "]: " << shown(got[i]) << ", want " << shown(want[i]);
    }
    expect_digest(name, got.data(), got.size() * sizeof(T));
  }
  // Within `ulps` units in the last place, or `least` absolutely.
  template <class T>
  void expect_near(const std::string& name, const std::vector<T>& got, const std::vector<T>& want, double ulps,
                   double least = 0) {
    ASSERT_EQ(got.size(), want.size()) << name;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double g = static_cast<double>(got[i]), w = static_cast<double>(want[i]);
      if (std::isnan(w) ? std::isnan(g) : g == w) continue;
      const double unit = std::abs(w) * static_cast<double>(std::numeric_limits<T>::epsilon());
      const double bound = std::max({ulps * unit, least, static_cast<double>(std::numeric_limits<T>::denorm_min())});
      ASSERT_TRUE(std::abs(g - w) <= bound) << name << " [" << i << "]: " << g << ", want " << w << " within " << bound;
    }
  }
  // The H200 gave these bytes, with this cubin. Not for values that MUFU has a part in.
  void expect_digest(const std::string& name, const void* data, std::size_t bytes);
  template <class T>
  void expect_digest(const std::string& name, const std::vector<T>& values) {
    expect_digest(name, values.data(), values.size() * sizeof(T));
  }

  template <class T>
  std::vector<T> integers(std::size_t n) {
    std::vector<T> v(n);
    for (T& x : v) x = static_cast<T>(rng_() >> (rng_() % 4 == 0 ? rng_() % 60 : 0));
    return v;
  }
  template <class T>
  std::vector<T> reals(std::size_t n, double low, double high) {
    std::vector<T> v(n);
    for (T& x : v) x = static_cast<T>(low + (high - low) * (static_cast<double>(rng_() >> 11) * 0x1p-53));
    return v;
  }

  std::unique_ptr<Chip> chip_;
  std::mt19937_64 rng_{2024};

 private:
  template <class T>
  static void pack(std::vector<std::byte>& to, const T& v) {
    to.resize((to.size() + alignof(T) - 1) / alignof(T) * alignof(T));
    const std::size_t at = to.size();
    to.resize(at + sizeof v);
    std::memcpy(to.data() + at, &v, sizeof v);
  }
  // The parameters begin at 0x210 of c[0]; a map's address there is a multiple of 64.
  static void pack(std::vector<std::byte>& to, const EncodedTensorMap& map) {
    constexpr std::size_t kBegin = 0x210;
    to.resize((to.size() + kBegin + 63) / 64 * 64 - kBegin);
    to.insert(to.end(), map.bytes.begin(), map.bytes.end());
  }
  template <class T>
  static void pack(std::vector<std::byte>& to, const Array<T>& a) {
    pack(to, a.address);
  }
  template <class T>
  static std::string shown(const T& v) {
    if constexpr (std::is_arithmetic_v<T>) {
      return std::to_string(v);
    } else {
      return testing::PrintToString(v);
    }
  }

  std::string file_;
};

}  // namespace nervanagpu::test
