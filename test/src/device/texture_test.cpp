// What the driver is told about images, textures and surfaces. (What kernels see of them: test/cudac/texture_test.cpp.)
#include "src/device/texture.h"

#include <gtest/gtest.h>

#include <numeric>

#include "nervanagpu/error.hpp"
#include "src/device/cuda_device.h"
#include "src/device/select_device.h"
#include "test/src/expect_error.h"
#include "test/src/fake_driver.h"

namespace nervanagpu {
namespace {

class TextureOnCuda : public ::testing::Test {
 protected:
  TextureOnCuda() : device_(fake_.table(), 0, embedded_cubins(), sass::Arch::sm_90a, false) {
    exchange_device(&device_);
  }
  ~TextureOnCuda() override { exchange_device(nullptr); }

  test::FakeDriver fake_;
  CudaDevice device_;
};

TEST_F(TextureOnCuda, ImagesAreArrays) {
  struct Case {
    ImageSpec spec;
    std::size_t width, height, depth;
    unsigned flags;
    int format;
  };
  constexpr unsigned kSurface = cuda::kArraySurface;
  const Case cases[] = {
      {{.kind = ImageKind::d1, .width = 7, .dtype = Dtype::uint8}, 7, 0, 0, kSurface, 1},
      {{.kind = ImageKind::d2, .width = 7, .height = 5, .dtype = Dtype::float16, .channels = 4},
       7,
       5,
       0,
       kSurface | cuda::kArrayGather,
       0x10},
      {{.kind = ImageKind::d3, .width = 7, .height = 5, .depth = 3, .dtype = Dtype::int32}, 7, 5, 3, kSurface, 0xa},
      {{.kind = ImageKind::d1_array, .width = 7, .layers = 4}, 7, 0, 4, kSurface | cuda::kArrayLayered, 0x20},
      {{.kind = ImageKind::d2_array, .width = 7, .height = 5, .layers = 4, .dtype = Dtype::uint16},
       7,
       5,
       4,
       kSurface | cuda::kArrayLayered,
       2},
      {{.kind = ImageKind::cube, .width = 6, .height = 6, .layers = 6, .dtype = Dtype::int8},
       6,
       6,
       6,
       kSurface | cuda::kArrayCube,
       8},
      {{.kind = ImageKind::cube_array, .width = 6, .height = 6, .layers = 12, .dtype = Dtype::int16},
       6,
       6,
       12,
       kSurface | cuda::kArrayCube | cuda::kArrayLayered,
       9},
  };
  for (const Case& c : cases) {
    Image image(c.spec);
    ASSERT_EQ(fake_.arrays.size(), 1u);
    const cuda::ArrayDescription& d = fake_.arrays.begin()->second.description;
    EXPECT_EQ(d.width, c.width) << name_of(c.spec.kind);
    EXPECT_EQ(d.height, c.height) << name_of(c.spec.kind);
    EXPECT_EQ(d.depth, c.depth) << name_of(c.spec.kind);
    EXPECT_EQ(d.flags, c.flags) << name_of(c.spec.kind);
    EXPECT_EQ(d.format, c.format) << name_of(c.spec.kind);
    EXPECT_EQ(d.channels, c.spec.channels);
    std::vector<std::byte> texels(image.bytes()), back(image.bytes());
    for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<std::byte>(i * 7 + 1);
    image.set(texels.data(), texels.size());
    image.get(back.data(), back.size());
    EXPECT_EQ(back, texels);
  }
  EXPECT_TRUE(fake_.arrays.empty());
}

TEST_F(TextureOnCuda, ObjectsSayWhatWasAskedFor) {
  Image image({.width = 4, .height = 4, .dtype = Dtype::uint8, .channels = 2});
  {
    const Texture texture(image, {.address = {TextureAddress::wrap, TextureAddress::mirror, TextureAddress::border},
                                  .linear = true,
                                  .normalized = true,
                                  .border = {1, 2, 3, 4}});
    const Surface surface(image);
    ASSERT_EQ(fake_.objects.size(), 2u);
    const auto& [resource, t] = fake_.objects.at(texture.handle());
    EXPECT_EQ(resource.type, cuda::kResourceArray);
    EXPECT_EQ(resource.array, fake_.arrays.begin()->first);
    EXPECT_EQ(std::vector<int>(t.address, t.address + 3), (std::vector<int>{0, 2, 3}));
    EXPECT_EQ(t.filter, 1);
    EXPECT_EQ(t.flags, cuda::kNormalizedCoordinates);
    EXPECT_EQ(std::vector<float>(t.border, t.border + 4), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(fake_.objects.at(surface.handle()).resource.array, fake_.arrays.begin()->first);
  }
  EXPECT_TRUE(fake_.objects.empty());
}

TEST_F(TextureOnCuda, TensorsAreMemory) {
  const Tensor tensor = Tensor::zeros({6, 32}, Dtype::int16);
  const Texture line = Texture::line(tensor.reshape({96, 2}), {.raw = true});
  const cuda::ResourceDescription& a = fake_.objects.at(line.handle()).resource;
  EXPECT_EQ(a.type, cuda::kResourceLinear);
  EXPECT_EQ(a.linear.address, tensor.address());
  EXPECT_EQ(a.linear.channels, 2u);
  EXPECT_EQ(a.linear.bytes, 6u * 32 * 2);
  EXPECT_EQ(fake_.objects.at(line.handle()).texture.flags, cuda::kReadAsInteger);
  if (tensor.address() % 512 != 0) return;  // a plane wants that
  const Texture plane = Texture::plane(tensor);
  const cuda::ResourceDescription& b = fake_.objects.at(plane.handle()).resource;
  EXPECT_EQ(b.type, cuda::kResourcePitch);
  EXPECT_EQ(b.plane.width, 32u);
  EXPECT_EQ(b.plane.height, 6u);
  EXPECT_EQ(b.plane.pitch, 64u);
}

TEST_F(TextureOnCuda, RefusedBeforeTheDriverIsAsked) {
  EXPECT_THROW(Image({.width = 0}), InvalidArgument);
  EXPECT_THROW(Image({.channels = 3}), InvalidArgument);
  EXPECT_EQ(fake_.calls("cuArray3DCreate_v2"), 0);
  fake_.fail("cuArray3DCreate_v2", cuda::kOutOfMemory);
  EXPECT_THROW(Image({}), Error);
}

}  // namespace
}  // namespace nervanagpu
