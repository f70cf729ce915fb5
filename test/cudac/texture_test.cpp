// Textures and surfaces through the public interface, on the device that is in use. Their bits are those of an H200:
// test/python/toolchain/test_textures.py.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <numeric>

#include "nervanagpu/nervanagpu.hpp"

namespace nervanagpu::test {
namespace {

constexpr std::int64_t kThreads = 128;

class Textures : public testing::Test {
 protected:
  void SetUp() override {
    if (device().arch != "sm_90a") GTEST_SKIP() << "the programs are for sm_90a";
    std::ifstream file(NG_SOURCE_DIR "/test/data/texture/programs.cubin", std::ios::binary);
    const std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(file)), {});
    module_.emplace(Cubin::read(bytes));
  }

  // The kernel's results, four a thread, for places of four numbers.
  template <class Out, class In>
  std::vector<Out> run(const std::string& kernel, const Argument& handle, std::vector<In> places,
                       const std::vector<In>& values = {}) {
    places.resize(4 * kThreads);
    places.insert(places.end(), values.begin(), values.end());
    places.resize(8 * kThreads);
    const Tensor in = Tensor::from_host<In>(places, {8 * kThreads});
    const Tensor out = Tensor::zeros({4 * kThreads}, DtypeOf<Out>::value);
    module_->launch(kernel, {1}, {kThreads}, {handle, out, in, kThreads});
    return out.to_host<Out>();
  }

  std::optional<Module> module_;
};

TEST_F(Textures, FilterFourTexels) {
  Image image({.width = 2, .height = 2});
  const std::vector<float> texels = {0, 8, 16, 64};
  image.set(texels.data(), image.bytes());
  const Texture texture(image, {.linear = true});
  const auto got = run<float, float>("tex_2d_f", texture, {1, 1, 0, 0, 0.75F, 0.5F, 0, 0});
  EXPECT_EQ(got[0], 22);
  EXPECT_EQ(got[4], 2);
}

TEST_F(Textures, ReadATensor) {
  std::vector<std::uint8_t> texels(4 * 32);
  std::iota(texels.begin(), texels.end(), std::uint8_t{1});
  const Tensor tensor = Tensor::from_host<std::uint8_t>(texels, {4, 32});
  const Texture line = Texture::line(tensor.reshape({128}), {.raw = true});
  const auto got = run<std::uint32_t, std::int32_t>("tld_1d_u", line, {127, 0, 0, 0, 128, 0, 0, 0, 3});
  EXPECT_EQ(got[0], 128u);
  EXPECT_EQ(got[4], 0u);  // outside
  EXPECT_EQ(got[8], 4u);
  const Texture plane = Texture::plane(tensor, {.raw = true});
  const auto at = run<std::uint32_t, float>("tex_2d_u", plane, {5.5F, 2.5F, 0, 0, -3, 9, 0, 0});
  EXPECT_EQ(at[0], 2u * 32 + 5 + 1);
  EXPECT_EQ(at[4], 3u * 32 + 1);
}

TEST_F(Textures, WriteAndAddToASurface) {
  Image image({.width = 8, .height = 4, .dtype = Dtype::uint32});
  const std::vector<std::uint32_t> zeros(32);
  image.set(zeros.data(), image.bytes());
  const Surface surface(image);
  std::vector<std::uint32_t> places(4 * kThreads, 1000), values(4 * kThreads, 7);
  for (std::uint32_t i = 0; i < 32; ++i) {
    places[4 * i] = i % 8 * 4;
    places[4 * i + 1] = i / 8;
    values[4 * i] = i;
  }
  run<std::uint32_t, std::uint32_t>("sust_b32", surface, places, values);
  run<std::uint32_t, std::uint32_t>("sured_add_u32", surface, places, values);
  std::vector<std::uint32_t> got(32), want(32);
  for (std::uint32_t i = 0; i < 32; ++i) want[i] = 2 * i;
  image.get(got.data(), image.bytes());
  EXPECT_EQ(got, want);
}

TEST_F(Textures, RefuseWhatCannotBe) {
  EXPECT_THROW(Image({.width = 0}), InvalidArgument);
  EXPECT_THROW(Image({.channels = 3}), InvalidArgument);
  Image image({.width = 4, .height = 4, .dtype = Dtype::int32});
  EXPECT_THROW(image.set(nullptr, 3), InvalidArgument);
  EXPECT_THROW(Texture(image, {.linear = true}), InvalidArgument);
  EXPECT_THROW(Texture::plane(Tensor::zeros({4, 4})), InvalidArgument);
  EXPECT_THROW(Texture::line(Tensor::zeros({4, 4, 4})), InvalidArgument);
}

}  // namespace
}  // namespace nervanagpu::test
