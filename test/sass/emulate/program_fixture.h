// Programs compiled by ptxas, run from a cubin under test/data/emulate in either mode: neither faults nor findings.
#pragma once

#include <fstream>
#include <iterator>
#include <random>

#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {

inline CubinImage read_file(const std::string& name) {
  std::ifstream file(NG_SOURCE_DIR "/test/data/emulate/" + name, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  Result<CubinImage> r = read_cubin(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.error().text());
  return r.ok() ? *r : CubinImage{};
}

struct Setting {
  Mode mode;
  Arch arch;
};

inline std::string setting_name(const Setting& s) {
  return std::string(info(s.arch).name) + (s.mode == Mode::kFast ? "_fast" : "_checked");
}

class ProgramTest : public ::testing::TestWithParam<Setting> {
 protected:
  [[nodiscard]] virtual const CubinImage& cubin() const = 0;

  // Runs a kernel of the cubin and expects neither fault nor finding.
  void launch(const std::string& name, Dim3 grid, Dim3 block, const Params& params, std::uint32_t dynamic_shared = 0) {
    for (const KernelImage& k : cubin().kernels) {
      if (k.name != name) continue;
      const Result<Report> report =
          run_image(k, memory_, grid, block, params.bytes(), GetParam().mode, dynamic_shared, 0, GetParam().arch);
      ASSERT_TRUE(report.ok()) << report.error().text();
      for (const Finding& f : report->findings) ADD_FAILURE() << f.text();
      return;
    }
    FAIL() << "no kernel " << name;
  }

  template <class T>
  std::vector<T> integers(std::size_t n) {
    std::vector<T> v(n);
    for (T& x : v) x = static_cast<T>(rng_() >> (rng_() % 4 == 0 ? 40 : 0));
    return v;
  }
  std::vector<float> floats(std::size_t n, float scale = 1.0F) {
    std::vector<float> v(n);
    for (float& x : v) x = std::uniform_real_distribution<float>(-scale, scale)(rng_);
    return v;
  }

  Memory memory_{std::size_t{64} << 20};
  std::mt19937_64 rng_{99};
};

}  // namespace nervanagpu::sass::emulate::testing
