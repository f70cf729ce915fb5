// The graph of control that schedule works on.
#include "sass/asm/schedule/flow.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "test/sass/verify/hand_kernel.h"

namespace nervanagpu::sass {
namespace {

using test::program;

// Whether control may go from line `from` to the block of line `to`.
bool leads(const Program& p, std::uint32_t from, std::uint32_t to) {
  const Flow flow = flow_of(p);
  const Block& block = flow.blocks[flow.block_of[from]];
  EXPECT_EQ(block.last, from + 1) << "the line does not end its block";
  return std::ranges::find(block.next, flow.block_of[to]) != block.next.end();
}

TEST(Flow, NothingRunsBehindATrap) {
  for (const Arch arch : {Arch::sm_52, Arch::sm_75, Arch::sm_90a}) {
    EXPECT_FALSE(leads(program("NOP\nBPT.TRAP\nNOP\nEXIT\n", arch), 1, 2)) << info(arch).name;
  }
  EXPECT_TRUE(leads(program("NOP\n@P0 BPT.TRAP\nNOP\nEXIT\n"), 1, 2));
}

TEST(Flow, AnExitWithAConditionLetsOthersPass) {
  EXPECT_TRUE(leads(program("NOP\nEXIT P0\nNOP\nEXIT\n"), 1, 2));
  EXPECT_TRUE(leads(program("NOP\nEXIT CC.LT\nNOP\nEXIT\n", Arch::sm_52), 1, 2));
  EXPECT_FALSE(leads(program("NOP\nEXIT\nNOP\nEXIT\n"), 1, 2));
}

// The function may be at any label or after any line that nothing falls through.
TEST(Flow, ACallThroughARegisterMayGoToAnyFunction) {
  const Program p = program("NOP\nCALL.ABS.NOINC R2\nNOP\nEXIT\nMOV R4, R5\nRET.REL.NODEC R6 0x0\n");
  EXPECT_TRUE(leads(p, 1, 4)) << "the function";
  EXPECT_TRUE(leads(p, 1, 2)) << "what it comes back to";
}

}  // namespace
}  // namespace nervanagpu::sass
