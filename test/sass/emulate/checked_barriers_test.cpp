// Checked mode before sm_90: what a barrier says of registers that older operations read, as verify has it.
#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

constexpr Control kSets{.stall = 15, .yield = true, .write_sb = 0};
constexpr Control kReads{.stall = 15, .yield = true, .read_sb = 0};
constexpr Control kAwaits{.stall = 15, .yield = true, .wait = 1};
constexpr Control kPlain{.stall = 15, .yield = true};

// One warp on an sm_80: R4 is the thread's place, R8 barrier 1 in the low half and its 32 threads in the high one, R9 zero. Then the body.
std::vector<std::string> findings(const std::vector<TextLine>& body) {
  std::vector<TextLine> lines = {{"S2R R0, SR_TID.X", kSets},
                                 {"ULDC.64 UR4, c[0x0][0x118]", kPlain},
                                 {"MOV R2, c[0x0][0x160]", kPlain},
                                 {"MOV R3, c[0x0][0x164]", kPlain},
                                 {"IMAD.WIDE.U32 R4, R0, 0x4, R2", kAwaits},
                                 {"MOV R8, 0x200001", kPlain},
                                 {"MOV R9, RZ", kPlain},
                                 {"ISETP.NE.AND P0, PT, R0, RZ, PT", kPlain}};
  lines.insert(lines.end(), body.begin(), body.end());
  lines.push_back({"EXIT", kPlain});
  Memory memory(1 << 20);
  Buffer<std::uint32_t> data(memory, std::vector<std::uint32_t>(32, 7));
  const Result<Report> r = run_image(assemble(lines, 8, 0, Arch::sm_80), memory, {1}, {32},
                                     Params().add(data.address()).bytes(), Mode::kChecked, 0, 0, Arch::sm_80);
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.error().text());
  std::vector<std::string> out;
  if (!r.ok()) return out;
  for (const Finding& f : r->findings) out.push_back(f.what + ": " + f.detail);
  return out;
}

// How many findings an overwrite of a store's data has, after `between`.
std::size_t overwritten(std::vector<TextLine> between) {
  between.insert(between.begin(), {"STG.E [R4.64], R9 {desc=UR4}", kPlain});
  between.push_back({"MOV R9, 0x1", kPlain});
  const std::vector<std::string> found = findings(between);
  for (const std::string& f : found) {
    EXPECT_TRUE(f.starts_with("overwritten before read: R9 is still to be read by STG")) << f;
  }
  return found.size();
}

TEST(CheckedBarriers, OneThatBlocksFreesWhatOlderOperationsRead) {
  EXPECT_EQ(overwritten({}), 1u);
  EXPECT_EQ(overwritten({{"BAR.SYNC 0x0", kPlain}}), 0u);
  EXPECT_EQ(overwritten({{"BAR.SYNC.DEFER_BLOCKING 0x0", kPlain}}), 1u) << "it blocks later";
}

TEST(CheckedBarriers, RegistersOfABarrierAreReadInTheOrderOfMemory) {
  const TextLine result{"B2R.RESULT R10", kSets};
  const TextLine used{"MOV R11, R10", kAwaits};
  const TextLine by_registers{"BAR.RED.POPC.DEFER_BLOCKING R8, R8, P0", kPlain};
  EXPECT_EQ(overwritten({by_registers, result, used}), 0u);
  EXPECT_EQ(overwritten({{"BAR.RED.POPC.DEFER_BLOCKING 0x1, P0", kPlain}, result, used}), 1u);
  EXPECT_EQ(overwritten({by_registers, result}), 1u) << "the result is not awaited";
  EXPECT_EQ(overwritten({{"BAR.SYNC.DEFER_BLOCKING R8, R8", kReads}, {"NOP", kAwaits}}), 0u);
  EXPECT_EQ(overwritten({{"BAR.SYNC.DEFER_BLOCKING R8, R8", kPlain}, {"NOP", kAwaits}}), 1u);
  // The other way about: a younger store's scoreboard tells of the barrier's registers.
  const TextLine barrier{"BAR.SYNC.DEFER_BLOCKING R8, R8", kPlain};
  const TextLine change{"MOV R8, 0x1", kPlain};
  EXPECT_EQ(findings({barrier, {"STG.E [R4.64], R9 {desc=UR4}", kReads}, {"NOP", kAwaits}, change}).size(), 0u);
  EXPECT_EQ(findings({barrier, {"STG.E [R4.64], R9 {desc=UR4}", kReads}, change}).size(), 1u);
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
