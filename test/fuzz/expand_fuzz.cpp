// Templates: front matter, variants, the template language, and every stage behind it. What assembles must read back, and
// every error must name its place.
#include "sass/asm/expand.h"
#include "sass/asm/pipeline.h"
#include "test/fuzz/words.h"

using namespace nervanagpu::sass;
using namespace nervanagpu::sass::fuzz;

namespace {

constexpr std::size_t kMostLines = 500;  // of an expansion that goes on: the stages behind are linear, and not quick
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
                               ".deal s over {2 - i}\n",
                               ".deal s 3\n",
                               "{x}",
                               "{x * 3 + 1:x}",
                               "label:\n",
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

bool small(const Template& source, Arch arch, const std::vector<Defines>& all) {
  for (const Defines& d : all) {
    const auto expansion = expand(source, arch, d);
    if (!expansion.ok()) {
      check(!expansion.error().message.empty(), "an error without a message");
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
  static_cast<void>(archs(source));
  const auto all = variants(source, {});
  if (!all.ok() || all->size() > kMostVariants || !small(source, arch, *all)) return 0;
  const auto image = assemble(source, arch, {});
  if (!image.ok()) {
    check(!image.error().message.empty(), "an error without a message");
    return 0;
  }
  const auto bytes = write_cubin(*image);
  if (!bytes.ok()) return 0;
  const auto again = read_cubin(bytes->data(), bytes->size());
  check(again.ok(), "what was assembled cannot be read", again.ok() ? "" : again.error().text());
  for (std::size_t i = 0; i < image->kernels.size(); ++i) {
    check(again->kernels[i].code == image->kernels[i].code, "other code comes back", image->kernels[i].name);
  }
  return 0;
}
