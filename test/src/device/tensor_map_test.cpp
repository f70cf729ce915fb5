// Tensor maps of the public API: what is refused on every device, what reaches the driver, and a kernel that takes one.
#include "nervanagpu/tensor_map.hpp"

#include <cstring>
#include <fstream>
#include <iterator>

#include "nervanagpu/error.hpp"
#include "nervanagpu/module.hpp"
#include "src/device/cuda_device.h"
#include "test/src/expect_error.h"
#include "test/src/fake_driver.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

TensorMap plane() {
  TensorMap m;
  m.address = 0x10000;
  m.sizes = {40, 20};
  m.strides = {160};
  m.box = {32, 8};
  return m;
}

TensorMap pixels() {
  TensorMap m;
  m.type = MapType::bfloat16;
  m.rank = 4;
  m.address = 0x10000;
  m.sizes = {64, 28, 28, 2};
  m.strides = {128, 128 * 28, 128 * 28 * 28};
  m.im2col = {.lower = {-1, -1}, .upper = {-1, -1}, .channels = 64, .pixels = 128};
  return m;
}

struct Refusal {
  const char* text;
  void (*change)(TensorMap&);
};

const Refusal kRefusals[] = {
    {"rank is 6; 1 to 5 are possible", [](TensorMap& m) { m.rank = 6; }},
    {"rank is 0; 1 to 5 are possible", [](TensorMap& m) { m.rank = 0; }},
    {"type is 13; there are 0 to 12", [](TensorMap& m) { m.type = static_cast<MapType>(13); }},
    {"swizzle is 4; there are 0 to 3", [](TensorMap& m) { m.swizzle = static_cast<MapSwizzle>(4); }},
    {"address is 65544; a multiple of 16 is needed", [](TensorMap& m) { m.address += 8; }},
    {"address is 0; a multiple of 16 is needed", [](TensorMap& m) { m.address = 0; }},
    {"sizes[1] is 0; 1 to 2^32 are possible", [](TensorMap& m) { m.sizes[1] = 0; }},
    {"sizes[0] is 4294967297; 1 to 2^32 are possible", [](TensorMap& m) { m.sizes[0] = (std::uint64_t{1} << 32) + 1; }},
    {"strides[0] is 168; a multiple of 16 below 2^40 is needed", [](TensorMap& m) { m.strides[0] = 168; }},
    {"strides[0] is 1099511627776; a multiple of 16 below 2^40 is needed",
     [](TensorMap& m) { m.strides[0] = std::uint64_t{1} << 40; }},
    {"box[1] is 257; 1 to 256 are possible", [](TensorMap& m) { m.box[1] = 257; }},
    {"box[0], in bytes, is 132; a multiple of 16 is needed", [](TensorMap& m) { m.box[0] = 33; }},
    {"box[0], in bytes, is 128; with this swizzle 64 are the most", [](TensorMap& m) { m.swizzle = MapSwizzle::b64; }},
    {"box has more bytes than shared memory, 232448",
     [](TensorMap& m) {
       m.box = {256, 256};
     }},
    {"box has more bytes than shared memory, 232448",  // as many units of 32 bytes; of 16 they would fit
     [](TensorMap& m) {
       m.interleave = MapInterleave::b32;
       m.swizzle = MapSwizzle::b32;
       m.rank = 3;
       m.sizes = {256, 2, 64};
       m.strides = {256 * 32, 2 * 256 * 32};
       m.box = {256, 1, 29};
     }},
    {"element_strides[1] is 9; 1 to 8 are possible", [](TensorMap& m) { m.steps[1] = 9; }},
    {"the number of sizes is 2; 3 to 5 are possible", [](TensorMap& m) { m.interleave = MapInterleave::b16; }},
    {"fill_nan needs a floating-point type",
     [](TensorMap& m) {
       m.type = MapType::uint32;
       m.fill = MapFill::nan;
     }},
};

const Refusal kPixelRefusals[] = {
    {"the number of sizes is 2; 3 to 5 are possible", [](TensorMap& m) { m.rank = 2; }},
    {"lower[1] is -129; -128 to 127 are possible", [](TensorMap& m) { m.im2col->lower[1] = -129; }},
    {"upper[0] is 128; -128 to 127 are possible", [](TensorMap& m) { m.im2col->upper[0] = 128; }},
    {"the extent of the box of base pixels, sizes[1] + upper[0] - lower[0], is 0; at least 1 is needed",
     [](TensorMap& m) { m.im2col->upper[0] = -29; }},
    {"channels is 257; 1 to 256 are possible", [](TensorMap& m) { m.im2col->channels = 257; }},
    {"pixels is 1025; 1 to 1024 are possible", [](TensorMap& m) { m.im2col->pixels = 1025; }},
    {"swizzle is 0; 32 is needed with interleave 32", [](TensorMap& m) { m.interleave = MapInterleave::b32; }},
};

void expect_refusals(Device& device) {
  for (const Refusal& r : kRefusals) {
    TensorMap m = plane();
    r.change(m);
    expect_error<InvalidArgument>([&] { static_cast<void>(device.encode_tensor_map(m)); },
                                  std::string("tensor map: ") + r.text);
  }
  for (const Refusal& r : kPixelRefusals) {
    TensorMap m = pixels();
    r.change(m);
    expect_error<InvalidArgument>([&] { static_cast<void>(device.encode_tensor_map(m)); },
                                  std::string("tensor map: ") + r.text);
  }
}

using TensorMapOnEmulator = test::OnEmulator;

TEST_F(TensorMapOnEmulator, RefusesByName) {
  expect_refusals(device_);
}

TEST(TensorMapOnCuda, RefusesByNameBeforeTheDriverIsAsked) {
  const test::FakeDriver fake;
  CudaDevice device(fake.table(), 0, embedded_cubins(), sass::Arch::sm_90a, false);
  expect_refusals(device);
  EXPECT_EQ(fake.calls("cuTensorMapEncodeTiled") + fake.calls("cuTensorMapEncodeIm2col"), 0);
}

TEST(TensorMapOnCuda, IsTheDriversOwn) {
  const test::FakeDriver fake;
  CudaDevice device(fake.table(), 0, embedded_cubins(), sass::Arch::sm_90a, false);
  TensorMap m = plane();
  m.swizzle = MapSwizzle::b128;
  m.promotion = MapPromotion::b256;
  m.fill = MapFill::nan;
  m.steps[1] = 3;
  std::array<std::uint64_t, 16> words{};
  const EncodedTensorMap tiled = device.encode_tensor_map(m);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&tiled) % 64, 0U);
  std::memcpy(words.data(), tiled.bytes.data(), 128);
  EXPECT_EQ(words, (std::array<std::uint64_t, 16>{1, 7, 2, 0x10000, 40, 20, 160, 32, 8, 3, 0, 3, 3, 1}));
  const EncodedTensorMap columns = device.encode_tensor_map(pixels());
  std::memcpy(words.data(), columns.bytes.data(), 128);
  const std::uint64_t minus = ~std::uint64_t{0};
  EXPECT_EQ(words, (std::array<std::uint64_t, 16>{2, 9, 4, 0x10000, 64, 128, minus, minus, 64, 128, 1}));
}

TEST(TensorMapOnCuda, AnOldDriverIsNamed) {
  test::FakeDriver fake;
  fake.forget_tensor_maps();
  CudaDevice device(fake.table(), 0, embedded_cubins(), sass::Arch::sm_90a, false);
  const std::string tail = ": it is too old for tensor maps, which came with CUDA 12.0";
  expect_error<Error>([&] { static_cast<void>(device.encode_tensor_map(plane())); },
                      "the driver has no cuTensorMapEncodeTiled" + tail);
  expect_error<Error>([&] { static_cast<void>(device.encode_tensor_map(pixels())); },
                      "the driver has no cuTensorMapEncodeIm2col" + tail);
}

TEST_F(TensorMapOnEmulator, OfATensor) {
  const Tensor t = Tensor::empty({6, 20, 40}, Dtype::float16);
  const TensorMap m = TensorMap::of(t, {2, 8, 32});
  EXPECT_EQ(m.type, MapType::float16);
  EXPECT_EQ(m.rank, 3U);
  EXPECT_EQ(m.address, t.address());
  EXPECT_EQ(m.sizes, (std::array<std::uint64_t, 5>{40, 20, 6}));
  EXPECT_EQ(m.strides, (std::array<std::uint64_t, 4>{80, 1600}));
  EXPECT_EQ(m.box, (std::array<std::uint32_t, 5>{32, 8, 2}));
  expect_error<InvalidArgument>(
      [&] {
        TensorMap::of(t.transpose(), {2, 8, 32});
      },
      "tensor map: the stride of the tensor's last axis is 800 elements; needs 1");
  expect_error<InvalidArgument>(
      [&] {
        TensorMap::of(t, {8, 32});
      },
      "tensor map: the number of box sizes is 2; needed are 3");
}

std::string text_of(const std::string& name) {
  std::ifstream file(NG_SOURCE_DIR "/test/data/tensor/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

class TensorMapKernel : public test::OnEmulator, public ::testing::WithParamInterface<bool> {
 protected:
  TensorMapKernel() : OnEmulator(GetParam()) {}
};

TEST_P(TensorMapKernel, LoadsABoxOfAMapParameter) {
  constexpr std::int64_t kWide = 100, kHigh = 70;
  std::vector<std::uint32_t> values(kWide * kHigh);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i * 2654435761U);
  const Tensor x = Tensor::from_host<std::uint32_t>(values, {kHigh, kWide});
  const Tensor out = Tensor::zeros({32, 32}, Dtype::uint32);
  const Module module(Cubin::assemble(text_of("tma_map.sass"),
                                      {.name = "tma_map.sass", .arch = {}, .defines = {}, .include_dirs = {}}));
  const KernelInfo& info = module.cubin().kernels().front();
  ASSERT_EQ(info.params.front().type, "map");
  EXPECT_EQ(info.params.front().offset, 0x30U);
  EXPECT_EQ(info.params.front().bytes, 128U);
  const EncodedTensorMap map = encode_tensor_map(TensorMap::of(x, {32, 32}));
  for (const auto& [cx, cy] : {std::pair{0, 0}, {8, 30}, {80, 50}, {-4, -3}, {200, 0}}) {
    module.launch("tma_load_map", {1}, {}, {map, out, cx, cy});
    const std::vector<std::uint32_t> got = out.to_host<std::uint32_t>();
    for (int r = 0; r < 32; ++r) {
      for (int c = 0; c < 32; ++c) {
        const std::int64_t px = cx + c;
        const std::int64_t py = cy + r;
        const bool in = px >= 0 && px < kWide && py >= 0 && py < kHigh;
        ASSERT_EQ(got[static_cast<std::size_t>(r * 32 + c)], in ? values[static_cast<std::size_t>(py * kWide + px)] : 0)
            << cx << "," << cy << ": " << r << "," << c;
      }
    }
  }
  expect_error<TypeError>(
      [&] {
        module.launch("tma_load_map", {1}, {}, {x, out, 0, 0});
      },
      "kernel tma_load_map: argument 0 (tile) is a tensor; needs map");
  expect_error<TypeError>(
      [&] {
        module.launch("tma_load_map", {1}, {}, {7, out, 0, 0});
      },
      "kernel tma_load_map: argument 0 (tile) is an integer; needs map");
}

INSTANTIATE_TEST_SUITE_P(Modes, TensorMapKernel, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "checked" : "fast"; });

}  // namespace
}  // namespace nervanagpu
