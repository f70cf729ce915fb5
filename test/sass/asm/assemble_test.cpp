// All stages in a row.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "sass/asm/parse.h"
#include "sass/verify/verify.h"
#include "test/sass/asm/template_text.h"

namespace nervanagpu::sass {
namespace {

using testing::template_of;

std::string names_of(const CubinImage& image) {
  std::string out;
  for (const KernelImage& k : image.kernels) out += k.name + " ";
  return out;
}

TEST(Assemble, EveryVariantIsAKernel) {
  const Template t =
      template_of(".kernel k_{A}{B}\n.variants A={n,t} B={1,2}\n.variants A=x B=9\n.threads 32\nMOV R{B}, RZ\nEXIT\n");
  const auto image = assemble(t, Arch::sm_90a, {});
  ASSERT_TRUE(image.ok()) << image.error().text();
  EXPECT_EQ(names_of(*image), "k_n1 k_n2 k_t1 k_t2 k_x9 ");
  EXPECT_EQ(image->kernels[0].registers, 4u) << "R1 and the chip's two";
  EXPECT_EQ(image->kernels[4].registers, 12u);
  EXPECT_EQ(image->kernels[0].max_threads, 32u);
  const auto some = assemble(t, Arch::sm_90a, {{"B", "2"}});
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(names_of(*some), "k_n2 k_t2 ");
}

TEST(Assemble, KernelNamesMustDiffer) {
  const auto image = assemble(template_of(".kernel k_{A}\n.variants A=1 B={1,2}\nEXIT\n"), Arch::sm_90a, {});
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().message, "two variants have the kernel name `k_1`");
  EXPECT_EQ(image.error().notes[0], "the variants A=1 B=1 and A=1 B=2");
}

TEST(Assemble, ErrorsNameTheVariant) {
  const auto image =
      assemble(template_of(".kernel k_{A}\n.variants A={1,0}\nMOV R0, {4 / A}\nEXIT\n"), Arch::sm_90a, {});
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().text(),
            "k.sass:3:14: error: division by zero\n  3 | MOV R0, {4 / A}\n    |              ^\n  in the variant A=0");
}

TEST(Assemble, LinesPointIntoTheTemplate) {
  const auto image = assemble(template_of(".kernel k\n.macro m(x)\n  MOV x, RZ\n.end\nm(R0)\n--:-:-:-:9 NOP\n  EXIT\n"),
                              Arch::sm_90a, {});
  ASSERT_TRUE(image.ok()) << image.error().text();
  const KernelImage& k = image->kernels[0];
  ASSERT_GE(k.lines.size(), 3u);
  EXPECT_EQ(k.lines[0].line, 3u);
  EXPECT_EQ(k.lines[1].line, 6u);
  EXPECT_EQ(k.lines[1].col, 12u) << "of the instruction, not of its control column";
  EXPECT_EQ(k.lines[2].line, 7u);
  EXPECT_EQ(k.lines[2].col, 3u);
}

TEST(Assemble, ScheduledCodeIsProvenAndPinnedMistakesAreFound) {
  const std::string body = "MOV R0, c[0x0][0x210]\nMOV R1, c[0x0][0x214]\nULDC.64 UR4, c[0x0][0x208]\n";
  const auto good =
      assemble(template_of(".kernel k\n" + body +
                           "LDG.E R2, desc[UR4][R0.64]\nIADD3 R2, R2, 0x1, RZ\nSTG.E desc[UR4][R0.64], R2\nEXIT\n"),
               Arch::sm_90a, {});
  ASSERT_TRUE(good.ok()) << good.error().text();
  EXPECT_TRUE(verify(Arch::sm_90a, good->kernels[0]).empty());
  // The load's scoreboard is not awaited, and the sum is stored a cycle after its issue.
  const auto bad = assemble(template_of(".kernel k\n" + body +
                                        "??:-:1:?:? LDG.E R2, desc[UR4][R0.64]\n--:?:?:-:1 IADD3 R2, R2, 0x1, RZ\n"
                                        "--:?:?:?:? STG.E desc[UR4][R0.64], R2\nEXIT\n"),
                            Arch::sm_90a, {});
  ASSERT_FALSE(bad.ok());
  const Diag& d = bad.error();
  EXPECT_EQ(d.at.file, "k.sass");
  EXPECT_GE(d.at.line, 6u);
  EXPECT_NE(d.message.find("R2"), std::string::npos) << d.text();
}

TEST(Assemble, TheSameTextGivesTheSameBytes) {
  const Template t = template_of(".kernel k_{A}\n.variants A={1,2,3}\nMOV R{A}, RZ\nEXIT\n");
  const auto one = write_cubin(*assemble(t, Arch::sm_90a, {}));
  const auto two = write_cubin(*assemble(t, Arch::sm_90a, {}));
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(*one, *two);
}

TEST(Assemble, AListingAssemblesToTheSameWords) {
  // What was expanded, parsed and scheduled, written down with every control code, is a template of the same kernel.
  const std::string text =
      ".kernel k\n.param u64 p\n.reg a[2] align 2, x\n.ureg d[2] align 2\nULDC.64 d[0], sys[descriptor]\nMOV a[0], "
      "param[p]\nMOV a[1], "
      "param[p+4]\nagain:\nLDG.E x, desc[d[0]][a[0].64]\nISETP.NE.AND P0, PT, x, RZ, PT\n@P0 BRA `(again)\nFADD x, x, "
      "x\nEXIT\n";
  const auto e = expand(template_of(text), Arch::sm_90a, {});
  ASSERT_TRUE(e.ok()) << e.error().text();
  auto program = parse(*e);
  ASSERT_TRUE(program.ok()) << program.error().text();
  ASSERT_TRUE(schedule(*program).ok());
  const auto first = encode_kernel(*program);
  ASSERT_TRUE(first.ok());
  const auto second = assemble_variant(template_of(".kernel k\n" + dump(*program)), Arch::sm_90a, {});
  ASSERT_TRUE(second.ok()) << second.error().text() << "\n" << dump(*program);
  EXPECT_EQ(second->code, first->code);
}

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = std::filesystem::temp_directory_path() / ("ng_assemble_" + std::to_string(::getpid()));
    std::filesystem::create_directories(dir_ / "lib");
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(dir_ / name) << text; }
  std::filesystem::path dir_;
};

TEST_F(Files, IncludesAreLookedUpBesideTheTemplateThenInTheDirectories) {
  write("k.sass", ".kernel k\n.include \"a.sass\"\n.include \"b.sass\"\nEXIT\n");
  write("a.sass", "MOV R0, RZ\n");
  write("lib/a.sass", ".error \"the wrong one\"\n");
  write("lib/b.sass", "MOV R1, RZ\n");
  const auto t = read_template((dir_ / "k.sass").string(), {(dir_ / "lib").string()});
  ASSERT_TRUE(t.ok());
  const auto k = assemble_variant(*t, Arch::sm_90a, {});
  ASSERT_TRUE(k.ok()) << k.error().text();
  EXPECT_EQ(k->manifest.op, "k");
  const auto missing = assemble_variant(*read_template((dir_ / "k.sass").string(), {}), Arch::sm_90a, {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "there is no file `b.sass`");
  EXPECT_EQ(missing.error().at.line, 3u);
  EXPECT_FALSE(read_template((dir_ / "none.sass").string(), {}).ok());
  EXPECT_FALSE(read_template(dir_.string(), {}).ok());
}

TEST(Documentation, ItsFirstExampleAssembles) {
  std::ifstream in(NG_SOURCE_DIR "/docs/language.md");
  std::string line, text;
  while (std::getline(in, line) && line != "```text") {
  }
  while (std::getline(in, line) && line != "```") text += line + "\n";
  ASSERT_NE(text.find(".kernel"), std::string::npos);
  const auto image = assemble(template_of(text), Arch::sm_90a, {});
  ASSERT_TRUE(image.ok()) << image.error().text();
  EXPECT_EQ(names_of(*image), "scale_1 scale_2 ");
}

TEST(Assemble, RegistersThatAWarpTakesFromItsCta) {
  const auto text = [](const std::string& regs, const std::string& reg) {
    return ".kernel k\n.arch sm_90a\n.threads 384\n" + regs + "  USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xe8\n  MOV " + reg +
           ", RZ\n  EXIT\n";
  };
  const Result<CubinImage> taken = assemble(testing::template_of(text(".regs 168\n", "R229")), Arch::sm_90a, {});
  ASSERT_TRUE(taken.ok()) << taken.error().text();
  EXPECT_EQ(taken->kernels[0].registers, 168U);
  const Result<CubinImage> more = assemble(testing::template_of(text(".regs 168\n", "R231")), Arch::sm_90a, {});
  ASSERT_FALSE(more.ok());
  EXPECT_NE(more.error().text().find("R231 needs 234 registers a thread (two are the chip's); USETMAXREG takes 232"),
            std::string::npos)
      << more.error().text();
  const Result<CubinImage> unsaid = assemble(testing::template_of(text("", "R9")), Arch::sm_90a, {});
  ASSERT_FALSE(unsaid.ok());
  EXPECT_NE(unsaid.error().text().find("a kernel with USETMAXREG says how many its launch gives (.regs)"),
            std::string::npos)
      << unsaid.error().text();
}

}  // namespace
}  // namespace nervanagpu::sass
