// `.word`: what it declares is what schedule and verify go by, in the template and in the cubin.
#include "sass/isa/codec/raw_word.h"

#include <gtest/gtest.h>

#include "sass/asm/pipeline.h"
#include "sass/dis/listing.h"
#include "sass/emulate/emulate.h"
#include "test/sass/verify/hand_kernel.h"

namespace nervanagpu::sass {
namespace {

using test::kernel;
using test::sentences;

// No instruction of sm_90a or of sm_52 has these bits.
const std::string kBits = ".word 0x0000000203047fff, 0x0000000000000000";
const std::string kOther = ".word 0x0000000203047ffe, 0x0000000000000000";
const std::string kMaxwell = ".word 0x0007000000070000";

std::string one(const std::string& text) {
  const auto found = verify(Arch::sm_90a, kernel(text + "--:-:-:-:5 | EXIT\n"));
  return sentences(found);
}

TEST(RawWord, PrintsWhatItParses) {
  for (const std::string declared : {"", " reads() writes()", " reads(R2, UR4:2, P0, UP1) writes(R8:2) latency 6",
                                     " reads(R254) writes() scoreboard", " reads() writes(P6) latency 100"}) {
    SCOPED_TRACE(declared);
    const auto parsed = parse_inst(Arch::sm_90a, kBits + declared + ";", {});
    ASSERT_TRUE(parsed.ok()) << parsed.error().text();
    EXPECT_EQ(print(parsed->inst), kBits + declared);
  }
  const std::string old = kMaxwell + " reuse 5 reads(R2, CC) writes(R0:4, CC) latency 15";
  const auto parsed = parse_inst(Arch::sm_52, old, {});
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  EXPECT_EQ(print(parsed->inst), old);
  EXPECT_EQ(parsed->inst.control.reuse, 5);
}

TEST(RawWord, KeepsItsBitsButTheControlCode) {
  const auto parsed = parse_inst(Arch::sm_90a, ".word 0xffffffffffffffff, 0xffffffffffffffff", {});
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  Inst inst = parsed->inst;
  inst.control.stall = 7;
  const auto word = encode(Arch::sm_90a, inst, 0);
  ASSERT_TRUE(word.ok());
  EXPECT_EQ(word->lo, ~0ULL);
  Control expected;
  expected.stall = 7;
  expected.reuse = 15;
  EXPECT_EQ(get_control(*word), expected);
  EXPECT_EQ(word->hi, put_control(Word{~0ULL, ~0ULL}, expected).hi);
}

TEST(RawWord, VerifyKnowsWhatItReads) {
  const std::string fixed = "--:-:-:-:1 | MOV R2, 0x1\n";
  EXPECT_NE(one(fixed + "--:-:-:-:1 | " + kBits + " reads(R2) writes()\n").find("writes R2; .word at 0x0010"),
            std::string::npos);
  EXPECT_EQ(one(fixed + "--:-:-:-:1 | " + kBits + " reads(R3) writes()\n"), "");
  EXPECT_EQ(one("--:-:-:Y:14 | MOV R2, 0x1\n--:-:-:-:1 | " + kBits + " reads(R2) writes()\n"), "");
  const std::string load = "--:-:0:-:2 | LDS R3, [R4]\n";
  EXPECT_NE(one(load + "--:-:-:-:1 | " + kBits + " reads(R2:2) writes()\n").find("no wait for it"), std::string::npos);
  EXPECT_EQ(one(load + "01:-:-:-:1 | " + kBits + " reads(R2:2) writes()\n"), "");
}

TEST(RawWord, VerifyKnowsWhenItsResultsAreThere) {
  const std::string read = "--:-:-:-:1 | IADD3 R9, R8, R8, RZ\n";
  const std::string late = " writes(R7:2) latency 11\n";
  EXPECT_NE(one("--:-:-:-:10 | " + kBits + late + read).find("after 10 cycles, but needs 11"), std::string::npos);
  EXPECT_EQ(one("--:-:-:-:11 | " + kBits + late + read), "");
  // Longer than the table's own latencies.
  std::string far = "--:-:-:-:10 | " + kBits + " writes(R8) latency 41\n";
  for (int i = 0; i < 3; ++i) far += "--:-:-:-:10 | NOP\n";
  EXPECT_NE(one(far + read).find("after 40 cycles, but needs 41"), std::string::npos);
  EXPECT_EQ(one(far + "--:-:-:-:1 | NOP\n" + read), "");
  EXPECT_NE(one("--:-:-:-:10 | " + kBits + late + "--:-:-:-:1 | MOV R7, RZ\n").find("overwrites it"),
            std::string::npos);
  const std::string guard = "--:-:-:-:1 | @P1 MOV R0, RZ\n";
  EXPECT_NE(one("--:-:-:-:5 | " + kBits + " writes(P1) latency 6\n" + guard).find("needs 6"), std::string::npos);
  EXPECT_NE(one("--:-:-:-:1 | " + kBits + " writes(R8) scoreboard\n" + read).find("announced by no scoreboard"),
            std::string::npos);
  EXPECT_NE(one("--:-:1:-:2 | " + kBits + " writes(R8) scoreboard\n" + read).find("no wait for it"), std::string::npos);
  EXPECT_EQ(one("--:-:1:-:2 | " + kBits + " writes(R8) scoreboard\n02" + read.substr(2)), "");
}

TEST(RawWord, VerifyKnowsWhenItsSourcesWereRead) {
  const std::string write = ":-:-:-:1 | MOV R2, RZ\n";
  const std::string word = kBits + " reads(R2) writes() scoreboard\n";
  EXPECT_NE(one("--:-:-:-:2 | " + word + "--" + write).find("reads R2 late"), std::string::npos);
  EXPECT_NE(one("--:3:-:-:2 | " + word + "--" + write).find("reads R2 late"), std::string::npos);
  EXPECT_EQ(one("--:3:-:-:2 | " + word + "08" + write), "");
  // Those of fixed latency are free as late as any.
  const std::string soon = kBits + " reads(R2) writes()\n";
  EXPECT_NE(one("--:-:-:-:2 | " + soon + "--" + write).find("overwrites it after 2 cycles, but needs 3"),
            std::string::npos);
  EXPECT_EQ(one("--:-:-:-:3 | " + soon + "--" + write), "");
}

TEST(RawWord, VerifyKnowsItsRegisterNumbers) {
  KernelImage k = kernel("--:-:-:-:1 | " + kBits + " reads(R13:3) writes()\n--:-:-:-:5 | EXIT\n");
  EXPECT_EQ(k.registers, 18u);
  EXPECT_EQ(sentences(verify(Arch::sm_90a, k)), "");
  k.registers = 15;
  EXPECT_NE(sentences(verify(Arch::sm_90a, k)).find("uses R15"), std::string::npos);
}

// Which slot of the operand cache it reads or keeps is not known.
TEST(RawWord, StaleOperandCache) {
  const std::string keep = "--:-:-:-:1 | IADD3 R0, R2.reuse, R3, RZ\n--:-:-:Y:14 | MOV R2, RZ\n";
  EXPECT_NE(one(keep + "--:-:-:-:1 | " + kBits + " reads(R2) writes()\n").find("from the operand cache"),
            std::string::npos);
  EXPECT_EQ(one(keep + "--:-:-:-:1 | " + kBits + " reads(R4) writes()\n"), "");
  KernelImage k = kernel("--:-:-:-:4 | " + kBits + " reads(R2) writes()\n--:-:-:Y:14 | MOV R2, RZ\n" +
                         "--:-:-:-:5 | IADD3 R0, R2, R3, RZ\n--:-:-:-:5 | EXIT\n");
  EXPECT_EQ(sentences(verify(Arch::sm_90a, k)), "");
  k.code[0] = set_bits(k.code[0], 122, 4, 1);
  EXPECT_NE(sentences(verify(Arch::sm_90a, k)).find("from the operand cache"), std::string::npos);
}

TEST(RawWord, UndeclaredIsNotProven) {
  EXPECT_NE(one("--:-:-:-:1 | " + kBits + "\n").find("no .word declares"), std::string::npos);
  EXPECT_EQ(one("--:-:-:-:1 | " + kBits + " reads() writes()\n"), "");
}

// Where the bits seem to have a guard, the old value may stay.
TEST(RawWord, AGuardedWriteKeepsTheOldValue) {
  for (const auto& [low, expected] : {std::pair{"0x0000000203047fff", false}, {"0x0000000203040fff", true}}) {
    const auto parsed =
        parse_inst(Arch::sm_90a, std::string(".word ") + low + ", 0x0 reads(P0) writes(R8) latency 6", {});
    ASSERT_TRUE(parsed.ok()) << parsed.error().text();
    bool reads = false;
    for (const Access& a : accesses(parsed->inst)) reads |= !a.write && a.file == RegFile::kGpr && a.first == 8;
    EXPECT_EQ(reads, expected) << low;
  }
}

TEST(RawWord, ScheduleMakesItProven) {
  const std::string text = "LDS R2, [R4]\nMOV R5, 0x1\n" + kBits +
                           " reads(R2, R5) writes(R8:2, P0) latency 13\n@P0 IADD3 R9, R9, R8, RZ\n" + kOther +
                           " reads(R9) writes(R10) scoreboard\nMOV R9, RZ\nSTS [R10], R9\nEXIT\n";
  const Program p = test::scheduled(text);
  EXPECT_EQ(sentences(verify(Arch::sm_90a, test::encoded(p))), "") << test::listing(p);
  EXPECT_NE(p.lines[2].inst.control.wait, 0) << test::listing(p);
  EXPECT_GE(p.lines[2].inst.control.stall, 13) << test::listing(p);
  const Control other = p.lines[4].inst.control;
  ASSERT_LT(other.write_sb, 6) << test::listing(p);
  EXPECT_NE(p.lines[5].inst.control.wait, 0) << "sources are read late\n" << test::listing(p);
  EXPECT_NE(p.lines[6].inst.control.wait & 1 << other.write_sb, 0) << test::listing(p);
  const Program old =
      test::scheduled("MOV R2, 0x1\n" + kMaxwell + " reads(R2) writes(R3) latency 9\nMOV R4, R3\nEXIT\n", Arch::sm_52);
  EXPECT_EQ(sentences(verify(Arch::sm_52, test::encoded(old))), "") << test::listing(old);
  EXPECT_EQ(old.lines[1].inst.control.stall, 9);
}

Template template_of(const std::string& lines) {
  Template t;
  t.name = "k.sass";
  t.text = ".kernel k\n" + lines;
  return t;
}

// Names stand where registers do, but not for the words of the declaration.
TEST(RawWord, InATemplate) {
  const auto image = assemble(template_of(".reg a[4] = R4\n.let latency = 1\n.let bits = 0x203047ff\n  MOV a[1], RZ\n" +
                                          std::string("  .word {bits:x}, 0x0 reads(a[1]) writes(a[2]:2) latency 12\n") +
                                          "??:?:?:?:?  " + kOther + " reads(a[2]) writes()\n  EXIT\n"),
                              Arch::sm_90a, {});
  ASSERT_TRUE(image.ok()) << image.error().text();
  const std::vector<DeclaredWord> expected = {{1, "reads(R5) writes(R6:2) latency 12"}, {2, "reads(R6) writes()"}};
  EXPECT_EQ(image->kernels[0].manifest.words, expected);
}

TEST(RawWord, LiveRangesFollowIt) {
  const auto image = assemble(
      template_of(".allocate live\n.reg a, b, c\n  MOV a, 0x1\n  MOV b, 0x2\n  .word 0x203047fff, 0x0 reads(a) "
                  "writes(c) latency 12\n  STS [b], c\n  EXIT\n"),
      Arch::sm_90a, {});
  ASSERT_TRUE(image.ok()) << image.error().text();
  EXPECT_EQ(image->kernels[0].registers, 4u) << "a and c share a register; two are the chip's";
}

TEST(RawWord, DeclarationsAreInTheCubin) {
  const auto image =
      assemble(template_of("  MOV R2, RZ\n  " + kBits + " reads(R2) writes(R3) latency 12\n  MOV R4, R3\n  EXIT\n"),
               Arch::sm_90a, {});
  ASSERT_TRUE(image.ok()) << image.error().text();
  const auto bytes = write_cubin(*image);
  ASSERT_TRUE(bytes.ok());
  auto again = read_cubin(bytes->data(), bytes->size());
  ASSERT_TRUE(again.ok()) << again.error().text();
  KernelImage& k = again->kernels[0];
  EXPECT_EQ(k.manifest.words, image->kernels[0].manifest.words);
  EXPECT_EQ(sentences(verify(Arch::sm_90a, k)), "");
  EXPECT_NE(code_of(Arch::sm_90a, k, false).find(kBits + " reads(R2) writes(R3) latency 12\n"), std::string::npos);
  k.code[1] = set_bits(k.code[1], 105, 4, 11);
  EXPECT_NE(sentences(verify(Arch::sm_90a, k)).find("after 11 cycles, but needs 12"), std::string::npos);
  k.manifest.words.clear();
  EXPECT_NE(sentences(verify(Arch::sm_90a, k)).find("no .word declares"), std::string::npos);
  // What is wrong in a file is found when it is read.
  for (const DeclaredWord& wrong : {DeclaredWord{9999, "reads() writes()"}, DeclaredWord{1, ""},
                                    DeclaredWord{1, "reads(R2)"}, DeclaredWord{1, "reads(R300) writes()"}}) {
    CubinImage bad = *image;
    bad.kernels[0].manifest.words = {wrong};
    const auto written = write_cubin(bad);
    ASSERT_TRUE(written.ok());
    const auto read = read_cubin(written->data(), written->size());
    ASSERT_FALSE(read.ok()) << wrong.text;
    EXPECT_NE(read.error().message.find("manifest: word " + std::to_string(wrong.index)), std::string::npos)
        << read.error().message;
  }
}

TEST(RawWord, TheEmulatorRefusesIt) {
  const KernelImage k = kernel("NOP\n" + kBits + " reads(R2) writes(R3) latency 12\n--:-:-:-:5 | EXIT\n");
  const auto loaded = emulate::load(Arch::sm_90a, k);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().text(),
            "hand.sass:2:1: error: kernel hand+0x10: the emulator cannot run " + kBits +
                " reads(R2) writes(R3) latency 12: it is known what it reads and writes, not what it computes");
}

// What dis prints of bits that it does not know, control column included, assembles to the same bits.
TEST(RawWord, ListingsReassemble) {
  for (const Arch arch : {Arch::sm_90a, Arch::sm_52}) {
    KernelImage k;
    k.name = "k";
    Word word = arch == Arch::sm_90a ? Word{0x0123456203047fff, 0x5100000000abcdef} : Word{0x0007000000070001, 0};
    word = put_control(word, {.stall = 7, .yield = false, .write_sb = 3, .read_sb = 1, .wait = 0x21, .reuse = 5});
    ASSERT_FALSE(decode(arch, word, 0).ok());
    k.code = {word};
    const std::string line = code_of(arch, k, false);
    const std::size_t begin = line.find("*/") + 2;
    const auto image =
        assemble(template_of(line.substr(begin, line.find(" //") - begin) + "\n  EXIT\n"), arch, {}, Proof::kSkipped);
    ASSERT_TRUE(image.ok()) << image.error().text();
    EXPECT_EQ(image->kernels[0].code[0], word) << line;
  }
}

}  // namespace
}  // namespace nervanagpu::sass
