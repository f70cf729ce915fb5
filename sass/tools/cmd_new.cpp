// ngasm new: a kernel to begin with, that assembles, is proven and runs, and a script that shows it.
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>

#include "sass/asm/template/manifest.h"
#include "sass/tools/commands.h"

namespace nervanagpu::sass::tools {
namespace {

// NAME stands for the kernel's name.
constexpr std::string_view kTemplate = R"(// NAME: y[i] = alpha * x[i] + y[i], one element a thread.
//
// Registers   R0 ...  by live range: `ngasm as NAME.sass --dump expand` shows who got what
// Shared      none
//
//   ./NAME_test.sh assembles, proves, runs and checks it on the emulator; no GPU is needed.

// ---- Front matter: what the loader, tests and users need to know ------------------------------------------------------
.kernel   NAME
.arch     sm_90a
.param    u64 x
.param    u64 y
.param    u32 n
.param    f32 alpha
.threads  128
.needs    n > 0
.bound    abs(alpha * x) * 2^-23 + abs(y) * 2^-24

// ---- Names for registers ----------------------------------------------------------------------------------------------
.allocate live                // names get registers where they are needed
.ureg  memory[2]              // the descriptor that global loads and stores want
.reg   i, cta, vx, vy
.reg   px[2], py[2]           // 64-bit addresses
.pred  outside

// ---- i = CTA * 128 + thread; threads past the end leave ----------------------------------------------------------------
  S2R i, SR_TID.X
  S2R cta, SR_CTAID.X
  ULDC.64 memory[0], sys[descriptor]
  IMAD i, cta, 0x80, i
  ISETP.GE.U32.AND outside, PT, i, param[n], PT
  @outside EXIT

// ---- The work: inside .schedule lines may change places, so that both loads are under way together -----------------------
.schedule
  MOV px[0], param[x]
  MOV px[1], param[x+4]
  IMAD.WIDE.U32 px[0], i, 0x4, px[0]
  LDG.E vx, desc[memory[0]][px[0].64]
  MOV py[0], param[y]
  MOV py[1], param[y+4]
  IMAD.WIDE.U32 py[0], i, 0x4, py[0]
  LDG.E vy, desc[memory[0]][py[0].64]
  FFMA vy, vx, param[alpha], vy
  STG.E desc[memory[0]][py[0].64], vy
.end
  EXIT
)";

constexpr std::string_view kTest = R"sh(#!/bin/sh
# Assembles, proves and runs NAME.sass on the emulator: x = 0, 1, 2, ..., y = 1, alpha = 2, so y becomes 2 i + 1.
set -eu
cd "$(dirname "$0")"
ngasm="${NGASM:-ngasm}"
"$ngasm" as NAME.sass -o NAME.cubin
"$ngasm" verify NAME.cubin
"$ngasm" as NAME.sass --report
out=$("$ngasm" run NAME.cubin --checked --grid 2 --block 128 --dump-args \
  --arg 'f32[200]=iota' --arg 'f32[200]=ones' --arg u32=200 --arg f32=2)
echo "$out"
# The first values and the last one of y.
echo "$out" | grep -q '1 3 5 7' && echo "$out" | grep -q '399' && echo "NAME: right"
)sh";

std::string filled(std::string_view text, const std::string& name) {
  std::string out;
  std::size_t pos = 0;
  for (std::size_t at = text.find("NAME"); at != std::string_view::npos; at = text.find("NAME", pos)) {
    out += text.substr(pos, at - pos);
    out += name;
    pos = at + 4;
  }
  return out.append(text.substr(pos));
}

}  // namespace

int cmd_new(const Arguments& args) {
  const Result<Options> options = parse_options(args, {}, {});
  if (!options.ok()) return usage_error("new", options.error().message);
  if (options->files.size() != 1) return usage_error("new", "one name is needed");
  const std::string& path = options->files[0];
  const std::string name = std::filesystem::path(path).filename().string();
  if (!is_kernel_name(name)) {
    return usage_error("new", "`" + name + "` is no kernel name; names have letters, digits and _");
  }
  const std::string kernel = path + ".sass";
  const std::string test = path + "_test.sh";
  for (const std::string& file : {kernel, test}) {
    std::error_code ec;
    if (std::filesystem::exists(file, ec)) return input_error(error("`" + file + "` exists; nothing was written"));
  }
  for (const auto& [file, text] : {std::pair{kernel, kTemplate}, std::pair{test, kTest}}) {
    const std::string content = filled(text, name);
    Status written = write_file(file, content.data(), content.size());
    if (!written.ok()) return input_error(written.error());
  }
  ::chmod(test.c_str(), 0755);
  std::printf("%s: the kernel\n%s: assembles, proves, runs and checks it (NGASM=path of ngasm)\n", kernel.c_str(),
              test.c_str());
  return 0;
}

}  // namespace nervanagpu::sass::tools
