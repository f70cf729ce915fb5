// Templates: front matter, variants, the template language, and every stage after it. What assembles must read back, and
// every error must name its place.
#include "sass/asm/pipeline.h"
#include "sass/asm/report.h"
#include "sass/asm/template/excerpt.h"
#include "sass/asm/template/expand.h"
#include "test/fuzz/words.h"

using namespace nervanagpu::sass;
using namespace nervanagpu::sass::fuzz;

namespace {

constexpr std::size_t kMostLines = 500;  // of an expansion that goes on: the stages after it are linear, and not quick
constexpr std::size_t kMostVariants = 3;

constexpr std::array kWords = {".kernel k\n",
                               ".arch sm_90a, sm_52\n",
                               ".variants A={0,1} B=x\n",
                               ".param u64 a\n",
                               ".param f32 x\n",
                               ".threads 128\n",
                               ".shared 0x4000\n",
                               ".regs 64\n",
                               ".needs n % 8 == 0\n",
                               ".accum serial\n",
                               ".bound n * eps\n",
                               ".reg a, b[8] align 4\n",
                               ".reg acc[64] = R0\n",
                               ".reg c bank 1\n",
                               ".ureg d[2] = UR4\n",
                               ".pred p, q\n",
                               ".alias s = acc[3]\n",
                               ".free a\n",
                               ".let x = 1 << 40\n",
                               ".default x = 2\n",
                               ".const w = c[0x0][0x28]\n",
                               ".for i in 0..8\n",
                               ".for i in 7..-1 step -1\n",
                               ".if x > 3\n",
                               ".elif y == n\n",
                               ".else\n",
                               ".end\n",
                               ".macro m(a, b=0)\n",
                               "m(R1, 2)\n",
                               "m(acc, b=\"{x}\")\n",
                               ".include \"lib.sass\"\n",
                               ".include \"self.sass\"\n",
                               ".error \"{x}\"\n",
                               ".assert x == 1, \"x\"\n",
                               ".stream s\n",
                               ".deal s over 2 - i\n",
                               ".deal s 3\n",
                               ".schedule\n",
                               ".schedule independent shared\n",
                               ".schedule independent global, local\n",
                               ".allocate live\n",
                               ".allocate scope\n",
                               ".reserve R0..R23, UR4, P6\n",
                               ".cluster 2\n",
                               ".param map m\n",
                               ".upred first\n",
                               "  HGMMA.64x64x16.F32.BF16 R24, gdesc[UR8], R24, gsb0\n",
                               "  HGMMA.64x8x16.F32 R24, R4, gdesc[UR8].tnspB, RZ, !UPT\n",
                               "  WARPGROUP.ARRIVE\n",
                               "  WARPGROUP.DEPBAR.LE gsb0, 0x0\n",
                               "  UTMALDG.2D [UR8], [UR4]\n",
                               "  SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR9], R4\n",
                               "  LDG.E R2, desc[UR4][R2.64]\n",
                               "  STS [R4], R2\n",
                               "  FFMA R0, R1, R2, R3\n",
                               "  BAR.SYNC 0x0\n",
                               "{x}",
                               "{x * 3 + 1:x}",
                               "label:\n",
                               "  .word 0x1, 0x2 reads(R2, acc[0]:2) writes(R8:2, P0) latency 6\n",
                               "  .word 0x1, 0x2 reads(acc[1]) writes(x) scoreboard\n",
                               "l$:\n",
                               "  BRA label\n",
                               "  EXIT\n",
                               "  NOP\n",
                               "  MOV R0, param[x+4]\n",
                               "sys[descriptor]",
                               "acc[i * 8]",
                               "--:-:-:Y:1  ",
                               "??:?:?:?:?  ",
                               "9223372036854775807",
                               "-9223372036854775808",
                               " / 0",
                               " % -1",
                               " << 64",
                               "((((((((",
                               "))))",
                               "\"",
                               "// ",
                               "/*",
                               "*/",
                               "min(1, 2)",
                               "log2(8)",
                               "ceil_div(a, 3)",
                               "align(5, 4)",
                               "bank(a)",
                               "count(acc)",
                               "defined(x)",
                               " ? 1 : 2",
                               "==",
                               "{{",
                               "}}",
                               "[",
                               "]"};

Template template_of(std::string text) {
  Template t;
  t.name = "fuzz.sass";
  t.text = std::move(text);
  t.include = [](const std::string& path) -> Result<std::string> {
    if (path == "lib.sass") return std::string(".let from_lib = 7\n.macro zero(x)\n  MOV x, RZ\n.end\n");
    if (path == "self.sass") return std::string(".include \"self.sass\"\n");
    return error("there is no file `" + path + "`");
  };
  return t;
}

// What a user sees of an error: its text with the line of the template and a mark under the place.
void check_error(const Diag& d, const Template& source) {
  check(!d.message.empty(), "an error without a message");
  check(with_excerpt(d, source).text().size() >= d.text().size(), "an excerpt loses text", d.text());
}

// `ngasm as --report`, of what assembles.
void check_report(const Template& source, Arch arch, const Defines& defines) {
  const auto expansion = expand(source, arch, defines);
  check(expansion.ok(), "what was assembled does not expand");
  auto program = parse(*expansion);
  check(program.ok(), "what was assembled does not parse");
  check(schedule(*program).ok(), "what was assembled cannot be scheduled");
  const KernelReport report = report_of(*program);
  check(!table_of(report).empty(), "a report without text", report.name);
  check(json_of(report).front() == '{', "a report that is no object", report.name);
}

bool small(const Template& source, Arch arch, const std::vector<Defines>& all) {
  for (const Defines& d : all) {
    const auto expansion = expand(source, arch, d);
    if (!expansion.ok()) {
      check_error(expansion.error(), source);
      return false;
    }
    if (expansion->lines.size() > kMostLines) return false;
    static_cast<void>(dump(*expansion));
  }
  return true;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  Random random(seed + 1);
  if (size == 0 || below(random, 3) == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string word =
      below(random, 3) == 0 ? any_word(arch_of(data[0]), random) : kWords[below(random, kWords.size())];
  return mutate_word(data, size, max_size, random, word);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Arch arch = arch_of(data[0]);
  const Template source = template_of(std::string(data + 1, data + size));
  const auto named = archs(source);
  if (!named.ok()) check_error(named.error(), source);
  const auto all = variants(source, {});
  if (!all.ok()) check_error(all.error(), source);
  if (!all.ok() || all->size() > kMostVariants || !small(source, arch, *all)) return 0;
  const auto image = assemble(source, arch, {});
  if (!image.ok()) {
    check_error(image.error(), source);
    return 0;
  }
  check_report(source, arch, all->front());
  const auto bytes = write_cubin(*image);
  if (!bytes.ok()) return 0;
  const auto again = read_cubin(bytes->data(), bytes->size());
  check(again.ok(), "what was assembled cannot be read", again.ok() ? "" : again.error().text());
  for (std::size_t i = 0; i < image->kernels.size(); ++i) {
    check(again->kernels[i].code == image->kernels[i].code, "other code comes back", image->kernels[i].name);
  }
  return 0;
}
