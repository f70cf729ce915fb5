// How fast the emulator is at HGMMA: a product whose stages are filled by ordinary stores, and the instruction alone. Prints
// GFLOP/s of wall time on all cores and for each second of a core; asserts only what any machine and any build should reach.
#include <chrono>
#include <cstdio>
#include <ctime>

#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

// 64 x 256 of C a CTA: `loops` steps of 64 in k, four HGMMA of m64n256k16 each. With `fill` every step first stores both
// operands (40 KiB) anew.
KernelImage engine_loop(bool fill) {
  std::vector<TextLine> lines = {{"S2R R0, SR_TID.X", {.stall = 15, .yield = true, .write_sb = 0}},
                                 {"ULDC UR20, c[0x0][0x210]"},
                                 {"LEA R2, R0, 0x400, 0x4", {.stall = 15, .yield = true, .wait = 1}},
                                 {"MOV R3, UR20"}};
  const auto add = [&](const std::string& text, Control c = kSlow) { lines.push_back({text, c}); };
  char text[96];
  // Numbers of about 1: the lane's, mixed.
  for (int i = 0; i < 4; ++i) {
    std::snprintf(text, sizeof text, "IMAD R%d, R0, 0x%x, RZ", 4 + i, 0x1f3d + 0x2a5 * i);
    add(text);
    std::snprintf(text, sizeof text, "LOP3.LUT R%d, R%d, 0x83ff83ff, RZ, 0xc0, !PT", 4 + i, 4 + i);
    add(text);
    std::snprintf(text, sizeof text, "LOP3.LUT R%d, R%d, 0x38003400, RZ, 0xfc, !PT", 4 + i, 4 + i);
    add(text);
  }
  const auto store = [&] {
    for (int at = 0; at < 40960; at += 2048) {
      std::snprintf(text, sizeof text, "STS.128 [R2+0x%x], R4", at);
      add(text);
    }
    add("MEMBAR.ALL.CTA");
    add("FENCE.VIEW.ASYNC.S");
    add("BAR.SYNC.DEFER_BLOCKING 0x0");
  };
  if (!fill) store();
  // Both operands with 128-byte swizzle: A at 0x400, B at 0x2400.
  for (int s = 0; s < 4; ++s) {
    std::snprintf(text, sizeof text, "UMOV UR%d, 0x%x", 4 + 4 * s, (0x400 >> 4 | 1 << 16) + 2 * s);
    add(text);
    std::snprintf(text, sizeof text, "UMOV UR%d, 0x%x", 6 + 4 * s, (0x2400 >> 4 | 1 << 16) + 2 * s);
    add(text);
    for (int i : {5, 7}) {
      std::snprintf(text, sizeof text, "UMOV UR%d, 0x40000040", i + 4 * s);
      add(text);
    }
  }
  for (int i = 24; i < 152; ++i) add("MOV R" + std::to_string(i) + ", RZ");
  lines.push_back({"LOOP:"});
  if (fill) store();
  add("WARPGROUP.ARRIVE");
  for (int s = 0; s < 4; ++s) {
    std::snprintf(text, sizeof text, "HGMMA.64x256x16.F32 R24, gdesc[UR%d], R24%s", 4 + 4 * s, s == 3 ? ", gsb0" : "");
    add(text);
  }
  add("WARPGROUP.DEPBAR.LE gsb0, 0x0");
  if (fill) add("BAR.SYNC.DEFER_BLOCKING 0x0");
  add("IADD3 R3, R3, -0x1, RZ");
  add("ISETP.NE.AND P0, PT, R3, RZ, PT");
  add("@P0 BRA `(LOOP)");
  add("EXIT");
  return assemble(lines, 4, 40960);
}

TEST(Throughput, Hgmma) {
  for (const bool fill : {true, false}) {
    const Result<std::shared_ptr<const Kernel>> kernel = load(Arch::sm_90a, engine_loop(fill));
    ASSERT_TRUE(kernel.ok()) << kernel.error().text();
    Memory memory(1 << 20);
    for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
      const std::uint32_t loops = mode == Mode::kFast ? 40 : 10;
      const std::uint32_t grid = 4;
      const std::vector<std::byte> params = Params().add(loops).bytes();
      const auto start = std::chrono::steady_clock::now();
      const std::clock_t cpu = std::clock();
      const Result<Report> r = run(**kernel, memory, {.grid = {grid}, .block = {128}, .params = params, .mode = mode});
      const double spent = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      ASSERT_TRUE(r.ok()) << r.error().text();
      for (const Finding& f : r->findings) ADD_FAILURE() << f.text();
      const double flops = 2.0 * 64 * 256 * 64 * loops * grid;
      std::printf("[          ] HGMMA %s, %s: %.2f GFLOP/s, %.2f a core\n", fill ? "with stores" : "alone",
                  mode == Mode::kFast ? "fast" : "checked", flops / seconds * 1e-9, flops / spent * 1e-9);
      EXPECT_GT(flops / seconds, 2e6);
    }
  }
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
