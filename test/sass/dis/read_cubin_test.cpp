// The cubin reader: identity with the writer, and cubins that ptxas made (test/data/cubin, sources beside them).
#include <gtest/gtest.h>

#include "sass/isa/control.h"
#include "test/sass/images.h"

namespace nervanagpu::sass {
namespace {

Result<CubinImage> read(const std::vector<std::uint8_t>& bytes) {
  return read_cubin(bytes.data(), bytes.size());
}

TEST(ReadCubin, ReadsWhatIsWritten) {
  for (const ArchInfo& arch : all_archs()) {
    RandomImages random(arch.number);
    for (int i = 0; i < 30; ++i) {
      const CubinImage image = random.cubin(arch.arch);
      const auto bytes = write_cubin(image);
      ASSERT_TRUE(bytes.ok()) << bytes.error().text();
      const auto back = read(*bytes);
      ASSERT_TRUE(back.ok()) << back.error().text();
      EXPECT_EQ(back->arch, image.arch);
      ASSERT_EQ(back->kernels.size(), image.kernels.size());
      for (std::size_t k = 0; k < image.kernels.size(); ++k) expect_same(image.kernels[k], back->kernels[k]);
      ASSERT_FALSE(testing::Test::HasFailure()) << arch.name << " image " << i;
    }
  }
}

TEST(ReadCubin, EmptyConstantImageReadsAsZeros) {
  KernelImage k;
  k.name = "k";
  k.code.resize(1);
  k.registers = 8;
  const auto bytes = write_cubin({Arch::sm_90a, {k}});
  ASSERT_TRUE(bytes.ok());
  const auto back = read(*bytes);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->kernels[0].constant0, std::vector<std::uint8_t>(0x210));
}

const KernelImage& kernel(const CubinImage& image, const std::string& name) {
  for (const KernelImage& k : image.kernels) {
    if (k.name == name) return k;
  }
  ADD_FAILURE() << name;
  return image.kernels.front();
}

std::vector<std::uint32_t> offsets(const KernelImage& k) {
  std::vector<std::uint32_t> out;
  for (const Param& p : k.params) out.push_back(p.offset);
  return out;
}

void expect_scale_fill(const CubinImage& image) {
  ASSERT_EQ(image.kernels.size(), 2u);
  const KernelImage& scale = kernel(image, "scale");
  EXPECT_EQ(scale.shared, 512u);
  EXPECT_EQ(scale.barriers, 1u);
  EXPECT_EQ(scale.max_threads, 128u);
  EXPECT_EQ(scale.reqntid[0], 0u);
  EXPECT_EQ(scale.local, 0u);
  EXPECT_EQ(scale.param_bytes, 24u);
  EXPECT_EQ(offsets(scale), (std::vector<std::uint32_t>{0, 8, 16, 20}));
  EXPECT_EQ(scale.params[2].type, ParamType::u32);
  EXPECT_EQ(scale.constant0.size(), info(image.arch).param_base + 24u);
  const KernelImage& fill = kernel(image, "fill");
  EXPECT_EQ(fill.shared, 0u);
  EXPECT_EQ(fill.barriers, 0u);
  EXPECT_EQ(fill.max_threads, 0u);
  EXPECT_EQ(offsets(fill), (std::vector<std::uint32_t>{0, 8, 16, 24, 28}));
  EXPECT_EQ(fill.params[1].type, ParamType::u8);
  EXPECT_EQ(fill.params[2].type, ParamType::u64);
  EXPECT_EQ(fill.params[3].type, ParamType::u16);
  EXPECT_TRUE(fill.manifest.name.empty());
  EXPECT_TRUE(fill.lines.empty());
}

TEST(ReadCubin, PtxasSm90a) {
  const auto image = read(golden_cubin("scale_fill.sm_90a"));
  ASSERT_TRUE(image.ok()) << image.error().text();
  EXPECT_EQ(image->arch, Arch::sm_90a);
  expect_scale_fill(*image);
  EXPECT_EQ(kernel(*image, "scale").registers, 12u);
  const KernelImage& fill = kernel(*image, "fill");
  EXPECT_EQ(fill.registers, 8u);
  ASSERT_EQ(fill.code.size(), 32u);
  // S2R R0, SR_CTAID.X; EXIT; NOP
  EXPECT_EQ(fill.code[1], (Word{0x0000000000007919, 0x000e620000002500}));
  EXPECT_EQ(fill.code[18], (Word{0x000000000000794d, 0x000fea0003800000}));
  EXPECT_EQ(fill.code[31], (Word{0x0000000000007918, 0x000fc00000000000}));
}

TEST(ReadCubin, PtxasAbi8) {
  const auto image = read(golden_cubin("scale_fill.sm_90a.abi8"));
  ASSERT_TRUE(image.ok()) << image.error().text();
  EXPECT_EQ(image->arch, Arch::sm_90a);
  expect_scale_fill(*image);
  EXPECT_EQ(kernel(*image, "scale").registers, 12u);
}

TEST(ReadCubin, PtxasSm52LiftsControlBits) {
  const auto image = read(golden_cubin("scale_fill.sm_52"));
  ASSERT_TRUE(image.ok()) << image.error().text();
  EXPECT_EQ(image->arch, Arch::sm_52);
  expect_scale_fill(*image);
  EXPECT_EQ(kernel(*image, "scale").registers, 7u);
  const auto corners = read(golden_cubin("corners.sm_52"));
  ASSERT_TRUE(corners.ok());
  const KernelImage& nothing = kernel(*corners, "nothing");
  // MOV; NOP; NOP; NOP; BAR; MEMBAR; NOP x 3; EXIT; BRA; NOP, with control words 0x001fbc00fde007f6,
  // 0x001fd400ffe007ed, 0x001fb800fde007ef, 0x001f8000ffe007ff.
  ASSERT_EQ(nothing.code.size(), 12u);
  EXPECT_EQ(nothing.code[0].lo, 0x4c98078000870001u);
  EXPECT_EQ(get_control(nothing.code[0]), (Control{.stall = 6, .yield = false, .read_sb = 7}));
  EXPECT_EQ(nothing.code[4].lo, 0xf0a81b8000070000u);
  EXPECT_EQ(get_control(nothing.code[9]), (Control{.stall = 15}));
  EXPECT_EQ(get_control(nothing.code[11]), (Control{.stall = 0, .yield = true}));
  EXPECT_EQ(nothing.code[9].hi & ~kControlBits.hi, 0u);
}

TEST(ReadCubin, PtxasCorners) {
  for (const char* file : {"corners.sm_52", "corners.sm_90a"}) {
    const auto image = read(golden_cubin(file));
    ASSERT_TRUE(image.ok()) << image.error().text();
    ASSERT_EQ(image->kernels.size(), 5u);
    const KernelImage& exact = kernel(*image, "exact");
    EXPECT_EQ(exact.reqntid[0], 16u);
    EXPECT_EQ(exact.reqntid[1], 8u);
    EXPECT_EQ(exact.reqntid[2], 2u);
    EXPECT_EQ(exact.barriers, 6u);
    EXPECT_EQ(kernel(*image, "any_barrier").barriers, 16u);
    EXPECT_EQ(kernel(*image, "stack").local, 160u);
    const KernelImage& aggregate = kernel(*image, "aggregate");
    EXPECT_EQ(aggregate.param_bytes, 33u);
    EXPECT_TRUE(aggregate.params.empty());  // a structure is not a Param
    const KernelImage& nothing = kernel(*image, "nothing");
    EXPECT_EQ(nothing.param_bytes, 0u);
    EXPECT_EQ(nothing.barriers, 1u);
  }
}

}  // namespace
}  // namespace nervanagpu::sass
