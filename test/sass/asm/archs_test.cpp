// One kernel for each 128-bit architecture through the whole toolchain: assembled, proven, linked, read, disassembled.
#include <gtest/gtest.h>

#include "sass/asm/pipeline.h"
#include "sass/isa/codec/codec.h"
#include "sass/verify/verify.h"
#include "test/sass/asm/template_text.h"

namespace nervanagpu::sass {
namespace {

struct Case {
  Arch arch;
  const char* load;     // of x[i]
  const char* store;    // of y[i]
  std::uint32_t flags;  // of the ELF header, as ptxas 12.4 writes them
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << info(c.arch).name;
}

constexpr const char* kText = R"(
.kernel  scale
.param   ptr x
.param   ptr y
.param   f32 alpha
.threads 64
.shared  256
  S2R R0, SR_TID.X
  MOV R2, param[x]
  MOV R3, param[x+4]
  MOV R4, param[y]
  MOV R5, param[y+4]
LOADER
  STS [R8], R6
  BAR.SYNC 0x0
  LDS R7, [R8]
  FMUL R7, R7, param[alpha]
  MUFU.RCP R9, R7
  DADD R10, R2, R4
  FADD R7, R7, R9
STORER
  EXIT
)";

class Archs : public ::testing::TestWithParam<Case> {
 public:
  static std::string text() {
    std::string t = kText;
    t.replace(t.find("LOADER"), 6, std::string("  SHF.L.U32 R8, R0, 0x2, RZ\n") + GetParam().load);
    t.replace(t.find("STORER"), 6, GetParam().store);
    return t;
  }
};

TEST_P(Archs, ThroughTheWholeToolchain) {
  const Arch arch = GetParam().arch;
  const auto image = assemble(testing::template_of(text()), arch, {});
  ASSERT_TRUE(image.ok()) << image.error().text();
  ASSERT_EQ(image->kernels.size(), 1u);
  const std::vector<Hazard> found = verify(arch, image->kernels[0]);
  EXPECT_TRUE(found.empty()) << found[0].text;

  const auto bytes = write_cubin(*image);
  ASSERT_TRUE(bytes.ok()) << bytes.error().text();
  ASSERT_GT(bytes->size(), 64u);
  EXPECT_EQ((*bytes)[8], 7u);  // ABI
  std::uint32_t flags = 0;
  for (unsigned i = 0; i < 4; ++i) flags |= std::uint32_t{(*bytes)[48 + i]} << (8 * i);
  EXPECT_EQ(flags, GetParam().flags);

  const auto back = read_cubin(bytes->data(), bytes->size());
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(back->arch, arch);
  ASSERT_EQ(back->kernels[0].code, image->kernels[0].code);
  for (std::size_t i = 0; i < back->kernels[0].code.size(); ++i) {
    const Word& word = back->kernels[0].code[i];
    const auto inst = decode(arch, word, 16 * i);
    ASSERT_TRUE(inst.ok()) << inst.error().text();
    auto parsed = parse_inst(arch, print(*inst), {});
    ASSERT_TRUE(parsed.ok()) << print(*inst) << ": " << parsed.error().text();
    parsed->inst.control = inst->control;
    const auto again = encode(arch, parsed->inst, 16 * i);
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(*again, word) << print(*inst);
  }
}

// The proof must notice when the wait for the load of shared memory goes.
TEST_P(Archs, AMissingWaitIsFound) {
  const Arch arch = GetParam().arch;
  auto image = assemble(testing::template_of(text()), arch, {});
  ASSERT_TRUE(image.ok()) << image.error().text();
  for (Word& word : image->kernels[0].code) {
    const auto inst = decode(arch, word, 0);
    ASSERT_TRUE(inst.ok());
    if (inst->op != Op::FMUL) continue;
    Control c = inst->control;
    EXPECT_NE(c.wait, 0);
    c.wait = 0;
    word = put_control(word, c);
  }
  EXPECT_FALSE(verify(arch, image->kernels[0]).empty());
}

constexpr const char* kPlainLoad = "  LDG.E.SYS R6, [R2]";
constexpr const char* kPlainStore = "  STG.E.SYS [R4], R7";
constexpr const char* kLoad = "  ULDC.64 UR4, sys[descriptor]\n  LDG.E R6, [R2.64] {desc=UR4}";
constexpr const char* kStore = "  STG.E [R4.64], R7 {desc=UR4}";
INSTANTIATE_TEST_SUITE_P(Wide, Archs,
                         ::testing::Values(Case{Arch::sm_75, kPlainLoad, kPlainStore, 0x4b054b},
                                           Case{Arch::sm_80, kLoad, kStore, 0x500550},
                                           Case{Arch::sm_86, kLoad, kStore, 0x560556},
                                           Case{Arch::sm_89, kLoad, kStore, 0x590559}),
                         [](const auto& info) { return std::string(sass::info(info.param.arch).name); });

}  // namespace
}  // namespace nervanagpu::sass
