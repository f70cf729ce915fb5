// encode_kernel: what ptxas made of a kernel, decoded and encoded again, is the same to the bit, with its tail,
// registers and barriers.
#include "sass/asm/cubin/encode.h"

#include <gtest/gtest.h>

#include "sass/asm/pipeline.h"
#include "sass/isa/codec/codec.h"
#include "test/sass/images.h"

namespace nervanagpu::sass {
namespace {

Line line(Arch arch, const std::string& text, Control control = {}) {
  auto parsed = parse_inst(arch, text, {"t.sass", 1, 1});
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().text());
  Line l;
  if (!parsed.ok()) return l;
  l.inst = parsed->inst;
  l.inst.control = control;
  l.label = parsed->label;
  l.at = {"t.sass", 1, 1};
  return l;
}

Program program(Arch arch, const std::vector<std::string>& lines) {
  Program p;
  p.manifest.name = "k";
  p.manifest.arch = arch;
  for (const std::string& text : lines) p.lines.push_back(line(arch, text));
  for (std::size_t i = 0; i < p.lines.size(); ++i) p.lines[i].at.line = static_cast<std::uint32_t>(i + 1);
  return p;
}

std::string message(const Program& p) {
  const auto k = encode_kernel(p);
  return k.ok() ? "encoded" : k.error().text();
}

// The instructions of ptxas's kernel up to its tail (the branch to itself), as a program.
Program lift(Arch arch, const KernelImage& k) {
  const Encoding encoding = info(arch).encoding;
  Program p;
  p.manifest.name = k.name;
  p.manifest.arch = arch;
  for (std::size_t i = 0; i < k.code.size(); ++i) {
    const auto inst = decode(arch, k.code[i], address_of(encoding, i));
    EXPECT_TRUE(inst.ok()) << k.name << " instruction " << i;
    if (!inst.ok()) return p;
    const auto self = [&](const Operand& o) {
      return o.kind == OperandKind::kLabel && o.imm == static_cast<std::int64_t>(target_of(encoding, i));
    };
    if (inst->op == Op::BRA && std::ranges::any_of(inst->operands(), self)) break;
    Line l;
    l.inst = *inst;
    p.lines.push_back(l);
  }
  return p;
}

void expect_again(const char* file, std::initializer_list<const char*> names) {
  const auto bytes = golden_cubin(file);
  const auto image = read_cubin(bytes.data(), bytes.size());
  ASSERT_TRUE(image.ok());
  for (const KernelImage& theirs : image->kernels) {
    if (std::find(names.begin(), names.end(), theirs.name) == names.end()) continue;
    Program p = lift(image->arch, theirs);
    p.manifest.params = theirs.params;
    p.manifest.shared = theirs.shared;
    p.manifest.threads = theirs.max_threads;
    const auto ours = encode_kernel(p);
    ASSERT_TRUE(ours.ok()) << ours.error().text();
    EXPECT_EQ(ours->code, theirs.code) << theirs.name;
    EXPECT_EQ(ours->registers, theirs.registers) << theirs.name;
    EXPECT_EQ(ours->barriers, theirs.barriers) << theirs.name;
    EXPECT_EQ(ours->shared, theirs.shared);
    EXPECT_EQ(ours->param_bytes, theirs.param_bytes);
    EXPECT_EQ(ours->max_threads, theirs.max_threads);
    EXPECT_EQ(ours->constant0, theirs.constant0);
    EXPECT_TRUE(ours->lines.empty());  // what came from no text has no table of lines
  }
}

TEST(EncodeKernel, PtxasSm90aAgain) {
  expect_again("scale_fill.sm_90a", {"scale", "fill"});
  expect_again("corners.sm_90a", {"exact", "nothing", "any_barrier"});
}

TEST(EncodeKernel, PtxasSm52Again) {
  expect_again("scale_fill.sm_52", {"scale", "fill"});
  expect_again("corners.sm_52", {"exact", "nothing", "any_barrier"});
}

TEST(EncodeKernel, LabelsBecomeAddresses) {
  Program p = program(Arch::sm_90a, {"NOP", "BRA `(TOP)", "NOP", "EXIT"});
  p.lines[1].inst.operands().back().imm = 3;  // as parse leaves it: an instruction index
  const auto k = encode_kernel(p);
  ASSERT_TRUE(k.ok()) << k.error().text();
  const auto branch = decode(Arch::sm_90a, k->code[1], 16);
  ASSERT_TRUE(branch.ok());
  EXPECT_EQ(branch->operands().back().imm, 48);
  ASSERT_EQ(k->lines.size(), k->code.size());
  EXPECT_EQ(k->lines[1].line, 2u);
}

TEST(EncodeKernel, RefusesLostBranchesAndOpenEnds) {
  EXPECT_EQ(message(program(Arch::sm_90a, {})), Diag(error("kernel 'k' has no instructions")).text());
  EXPECT_EQ(message(program(Arch::sm_90a, {"EXIT", "NOP"})),
            "t.sass:2:1: error: the code runs off its end: the last instruction must be an unguarded EXIT or branch");
  EXPECT_EQ(message(program(Arch::sm_90a, {"@P0 EXIT"})),
            "t.sass:1:1: error: the code runs off its end: the last instruction must be an unguarded EXIT or branch");
  for (const auto& [arch, last] : {std::pair{Arch::sm_90a, "EXIT P0"},
                                   {Arch::sm_90a, "BRA.DIV UR4, 0x0"},
                                   {Arch::sm_90a, "CALL.ABS.NOINC R2"},
                                   {Arch::sm_52, "EXIT CC.LT"}}) {
    EXPECT_EQ(message(program(arch, {last})),
              "t.sass:1:1: error: the code runs off its end: the last instruction must be an unguarded EXIT or branch")
        << last;
  }
  for (const Arch arch : {Arch::sm_52, Arch::sm_90a}) {
    EXPECT_EQ(message(program(arch, {"BPT.TRAP"})), "encoded") << "the launch fails there";
  }
  EXPECT_EQ(message(program(Arch::sm_90a, {"BRA 0x8", "EXIT"})),
            "t.sass:1:1: error: branch target 0x8 is not the address of an instruction (the last is 0x10)");
  EXPECT_EQ(message(program(Arch::sm_90a, {"BRA 0x20", "EXIT"})),
            "t.sass:1:1: error: branch target 0x20 is not the address of an instruction (the last is 0x10)");
  Program late = program(Arch::sm_90a, {"BRA `(END)", "EXIT"});
  late.lines[0].inst.operands().back().imm = 2;
  EXPECT_EQ(message(late), "t.sass:1:1: error: label 'END' is past the last instruction");
}

TEST(EncodeKernel, CountsRegistersAndBarriers) {
  const Arch arch = Arch::sm_90a;
  const Program p = program(arch, {"MOV R9, RZ", "BAR.SYNC.DEFER_BLOCKING 0x2", "EXIT"});
  EXPECT_EQ(registers_needed(arch, p.lines), 12u);  // R0..R9 and the chip's two
  EXPECT_EQ(barriers_needed(p.lines), 3u);
  EXPECT_EQ(registers_needed(arch, program(arch, {"LDG.E.128 R4, desc[UR4][R20.64]", "EXIT"}).lines), 24u);
  EXPECT_EQ(registers_needed(arch, program(arch, {"EXIT"}).lines), 2u);
}

TEST(EncodeKernel, DeclaredRegistersMustSuffice) {
  Program p = program(Arch::sm_90a, {"MOV R9, RZ", "EXIT"});
  p.manifest.registers = 168;
  EXPECT_EQ(encode_kernel(p)->registers, 168u);
  p.manifest.registers = 11;
  EXPECT_EQ(message(p), Diag(error("kernel 'k': registers 11, need 12 to 255")).text());
  p.manifest.registers = 256;
  EXPECT_EQ(message(p), Diag(error("kernel 'k': registers 256, need 12 to 255")).text());
  EXPECT_EQ(
      message(program(Arch::sm_90a, {"MOV R253, RZ", "EXIT"})),
      Diag(error("kernel 'k' needs 256 registers (with the two that the chip keeps), at most 255 can be")).text());
  EXPECT_EQ(message(program(Arch::sm_90a, {"MOV R252, RZ", "EXIT"})), "encoded");
}

TEST(CodeTail, IsAsLongAsPtxasMakesIt) {
  // Instructions before the tail -> bytes of the kernel, from ptxas 12.4.
  const std::pair<std::size_t, std::size_t> sm90[] = {{3, 256},  {10, 384},  {14, 384},
                                                      {19, 512}, {66, 1280}, {136, 2432}};
  for (const auto& [count, bytes] : sm90) {
    const auto tail = code_tail(Arch::sm_90a, count);
    ASSERT_TRUE(tail.ok()) << tail.error().text();
    EXPECT_EQ((count + tail->size()) * 16, bytes) << count;
  }
}

}  // namespace
}  // namespace nervanagpu::sass
