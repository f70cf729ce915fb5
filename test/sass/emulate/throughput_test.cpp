// How fast the emulator is, on the inner loop of an SGEMM: 64 FFMA and 4 LDS.128 a step. Prints GFLOP/s; asserts only
// what any machine and any build should reach.
#include <chrono>
#include <cstdio>

#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

KernelImage inner_loop() {
  std::vector<TextLine> lines = {{"S2R R140, SR_TID.X", {.stall = 15, .yield = true, .write_sb = 0}},
                                 {"ULDC UR6, c[0x0][0x210]"},
                                 {"LEA R141, R140, 0x400, 0x4", {.stall = 15, .yield = true, .wait = 1}},
                                 {"MOV R142, UR6"},
                                 {"MOV R143, 0x400"}};
  const auto add = [&](const std::string& text, Control c = kSlow) { lines.push_back({text, c}); };
  for (int i = 0; i < 128; ++i) add("MOV R" + std::to_string(i) + ", 0x3f800000");
  for (int i = 0; i < 4; ++i) add("STS.128 [R141+0x" + std::string(1, "0123"[i]) + "000], R64");
  add("BAR.SYNC.DEFER_BLOCKING 0x0");
  lines.push_back({"LOOP:"});
  for (int step = 0; step < 8; ++step) {
    const int now = 64 + step % 2 * 16;
    const int next = 64 + (step + 1) % 2 * 16;
    for (int i = 0; i < 64; ++i) {
      Control c{.stall = 1};
      if (i == 0) c.wait = 1;
      if (i % 16 == 3) {
        char text[64];
        std::snprintf(text, sizeof text, "LDS.128 R%d, [R143+0x%x]", next + i / 16 * 4, step * 512 + i / 16 * 128);
        add(text, {.stall = 1, .write_sb = 0});
      }
      const int row = i / 8, col = row % 2 == 0 ? i % 8 : 7 - i % 8;
      add("FFMA R" + std::to_string(row * 8 + col) + ", R" + std::to_string(now + row) + ", R" +
              std::to_string(now + 8 + col) + ", R" + std::to_string(row * 8 + col),
          c);
    }
  }
  add("IADD3 R142, R142, -0x1, RZ");
  add("ISETP.NE.AND P0, PT, R142, RZ, PT");
  add("@P0 BRA `(LOOP)");
  add("EXIT");
  return assemble(lines, 4, 16384);
}

TEST(Throughput, SgemmInnerLoop) {
  const KernelImage image = inner_loop();
  const Result<std::shared_ptr<const Kernel>> kernel = load(Arch::sm_90a, image);
  ASSERT_TRUE(kernel.ok()) << kernel.error().text();
  Memory memory(1 << 20);
  for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
    const std::uint32_t loops = 100;
    const std::vector<std::byte> params = Params().add(loops).bytes();
    const auto start = std::chrono::steady_clock::now();
    const Result<Report> r = run(**kernel, memory, {.grid = {4}, .block = {256}, .params = params, .mode = mode});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ASSERT_TRUE(r.ok()) << r.error().text();
    for (const Finding& f : r->findings) ADD_FAILURE() << f.text();
    const double flops = 4.0 * 256 * loops * 8 * 64 * 2;
    std::printf("[          ] %s: %.2f GFLOP/s\n", mode == Mode::kFast ? "fast" : "checked", flops / seconds * 1e-9);
    EXPECT_GT(flops / seconds, 2e6);
  }
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
