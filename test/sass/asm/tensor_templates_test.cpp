// Hand-written kernels with products of a warpgroup, the copy engine and a cluster assemble and are proven.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "sass/isa/codec/codec.h"
#include "sass/verify/verify.h"
#include "test/sass/asm/template_text.h"

namespace nervanagpu::sass {
namespace {

std::string text_of(const char* name) {
  std::ifstream in(std::string(NG_SOURCE_DIR) + "/test/data/tensor/" + name);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

class TensorTemplate : public ::testing::TestWithParam<const char*> {};

TEST_P(TensorTemplate, AssemblesAndIsProven) {
  const auto image = assemble(testing::template_of(text_of(GetParam())), Arch::sm_90a, {});
  ASSERT_TRUE(image.ok()) << image.error().text();
  ASSERT_EQ(image->kernels.size(), 1u);
  const std::vector<Hazard> found = verify(Arch::sm_90a, image->kernels[0]);
  EXPECT_TRUE(found.empty()) << found[0].text;
}

INSTANTIATE_TEST_SUITE_P(Kernels, TensorTemplate, ::testing::Values("hgmma.sass", "tma.sass", "cluster.sass"));

TEST(Cluster, IsInTheCubin) {
  const auto image = assemble(testing::template_of(text_of("cluster.sass")), Arch::sm_90a, {});
  ASSERT_TRUE(image.ok()) << image.error().text();
  EXPECT_EQ(image->kernels[0].manifest.cluster, 2u);
}

TEST(Cluster, IsForHopper) {
  const auto old = assemble(testing::template_of(".kernel k\n.cluster 2\nEXIT\n"), Arch::sm_80, {});
  ASSERT_FALSE(old.ok());
  EXPECT_NE(old.error().message.find("no clusters"), std::string::npos) << old.error().message;
  EXPECT_FALSE(assemble(testing::template_of(".kernel k\n.cluster 17\nEXIT\n"), Arch::sm_90a, {}).ok());
}

TEST(ProgrammaticLaunch, WaitsSomewhereAndIsHoppers) {
  const auto assembled = [](const char* text, Arch arch) { return assemble(testing::template_of(text), arch, {}); };
  const auto image = assembled(".kernel k\n.launch programmatic\nACQBULK\nEXIT\n", Arch::sm_90a);
  ASSERT_TRUE(image.ok()) << image.error().text();
  EXPECT_TRUE(image->kernels[0].manifest.programmatic);
  const auto message = [&](const char* text, Arch arch) { return assembled(text, arch).error().message; };
  EXPECT_NE(message(".kernel k\n.launch programmatic\nEXIT\n", Arch::sm_90a).find("needs an ACQBULK"),
            std::string::npos);
  EXPECT_NE(message(".kernel k\n.launch late\nEXIT\n", Arch::sm_90a).find("needs programmatic"), std::string::npos);
  EXPECT_NE(message(".kernel k\n.launch programmatic\nEXIT\n", Arch::sm_80).find("no programmatic launch"),
            std::string::npos);
}

// What products take from registers is awaited at the arrival, on every path to it, not by the products.
TEST(Products, WaitForLoadsAtTheArrival) {
  const auto image = assemble(testing::template_of(".kernel k\n"
                                                   "S2R R0, SR_TID.X\n"
                                                   "LDSM.16.MT88.4 R4, [R0]\n"
                                                   "LDS R24, [R0]\n"
                                                   "WARPGROUP.ARRIVE\n"
                                                   "ISETP.NE.AND P0, PT, R0, RZ, PT\n"
                                                   "@P0 BRA `(other)\n"
                                                   "HGMMA.64x8x16.F32 R24, R4, gdesc[UR8], R24, gsb0\n"
                                                   "other:\n"
                                                   "WARPGROUP.DEPBAR.LE gsb0, 0x0\n"
                                                   "EXIT\n"),
                              Arch::sm_90a, {});
  ASSERT_TRUE(image.ok()) << image.error().text();
  const auto& code = image->kernels[0].code;
  unsigned set = 0;
  unsigned awaited = 0;
  for (const Word& word : code) {
    const auto decoded = decode(Arch::sm_90a, word, 0);
    ASSERT_TRUE(decoded.ok());
    const Inst& inst = *decoded;
    if (inst.op == Op::LDSM || inst.op == Op::LDS) set |= 1U << inst.control.write_sb;
    if (inst.op == Op::WARPGROUP && inst.has(Axis::kFunction, Tok::ARRIVE)) awaited = inst.control.wait;
  }
  EXPECT_NE(set, 0U);
  EXPECT_EQ(awaited & set, set);
}

// Its products own their registers: a scoreboard on one is refused, in text and in words.
TEST(Products, SetNoScoreboards) {
  const auto bad = assemble(
      testing::template_of(".kernel k\n--:-:0:-:1 HGMMA.64x8x16.F32 R24, gdesc[UR4], R24\nEXIT\n"), Arch::sm_90a, {});
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.error().message.find("scoreboard"), std::string::npos) << bad.error().message;
}

}  // namespace
}  // namespace nervanagpu::sass
