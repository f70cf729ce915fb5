// ngasm: the assembler's command line.
#include <array>
#include <cstdio>

#include "sass/tools/commands.h"

#ifndef NG_VERSION
#define NG_VERSION "unknown"
#endif

namespace nervanagpu::sass::tools {
namespace {

struct Command {
  std::string_view name;
  int (*run)(const Arguments&);
  std::string_view summary;
  std::string_view help;
};

// clang-format off
constexpr std::array kCommands = {
    Command{"as", cmd_as, "assemble a template into a cubin",
            "usage: ngasm as FILE.sass -o OUT.cubin [options]\n\n"
            "Assembles every variant of a template, proves each free of hazards, and writes one cubin.\n\n"
            "  -o FILE         the cubin; required unless --dump or --report is given\n"
            "  -D NAME=VALUE   fix a variable of .variants, or define a name (integer or word)\n"
            "  -I DIR          where else to look for included files: none is read that is neither below the template's\n"
            "                  folder nor below one of these\n"
            "  --arch ARCH     architecture (sm_90a); default: the first of the template's .arch line\n"
            "  --abi N         of the cubin: 7 (CUDA 12; default) or 8 (CUDA 13, from sm_75)\n"
            "  --dump STAGE    print the product of expand, parse, schedule, encode or link\n"
            "  --report        print what each variant costs by the model: registers, occupancy, bank conflicts, and of\n"
            "                  each loop the issue slots, the cycles and what they are lost to\n"
            "  --json          the report as JSON\n"
            "  --unproven      skip the hazard proof: for experiments on a chip only\n"},
    Command{"dis", cmd_dis, "print a cubin's instructions and headers",
            "usage: ngasm dis FILE.cubin [--kernel NAME] [--words]\n\n"
            "Prints each kernel: its header, then address, control codes (wait:read:write:yield:stall) and text.\n"},
    Command{"verify", cmd_verify, "prove a cubin free of hazards",
            "usage: ngasm verify FILE.cubin [--kernel NAME]\n\n"
            "Prints every hazard, or `NAME: N instructions, proven`. Exit status 1 if there is a hazard.\n"},
    Command{"run", cmd_run, "run a kernel on the emulator",
            "usage: ngasm run FILE.cubin [--kernel NAME] --grid X[,Y[,Z]] --block X[,Y[,Z]] [options]\n\n"
            "  --arg TYPE[N]=FILL   an array in device memory, one --arg for each parameter in order; FILL is zeros, ones,\n"
            "                       iota, random, or the name of a file with the raw values\n"
            "  --arg TYPE=VALUE     a value; TYPE is u8 s8 u16 s16 u32 s32 u64 s64 f16 f32 f64\n"
            "  --shared BYTES       dynamic shared memory\n"
            "  --checked            report hazards, uninitialised reads, bounds and races (exit status 1 on findings)\n"
            "  --seed N             of random fills (default 0)\n"
            "  --threads N          CTAs that run at a time: host threads (default: all cores), with --order turns\n"
            "  --limit N            warp instructions after which the run ends with an error that says where each warp is\n"
            "                       (default 100000000000; 0: it never does)\n"
            "  --order SEED         warps and CTAs run in an order drawn from the seed: some fall far behind, some get far\n"
            "                       ahead; the same seed gives the same run, on one host thread (default: 0, ascending)\n"
            "  --dump-args          print the arrays' values after the run (the first and last of long ones)\n"
            "  --kernel NAME        needed if the cubin has more than one\n"},
    Command{"new", cmd_new, "write a kernel to begin with, and its test",
            "usage: ngasm new NAME\n\n"
            "Writes NAME.sass, a commented template, and NAME_test.sh, which assembles, proves, runs and checks it on the\n"
            "emulator. Overwrites nothing.\n"},
    Command{"explain", cmd_explain, "show the forms of an instruction, its operands and its timing",
            "usage: ngasm explain MNEMONIC [--arch ARCH]\n\n"
            "Each form as the parser accepts it, what each operand is for, where it executes and when results are there.\n"
            "The default architecture is sm_90a.\n"},
    Command{"encode", cmd_encode, "encode instructions from standard input",
            "usage: ngasm encode --arch ARCH < TEXT\n\n"
            "One instruction a line, address 0, control bits free; prints 0xLOW 0xHIGH (one word on sm_5x and sm_6x), or\n"
            "`error: ...` on that line.\n"},
    Command{"roundtrip", cmd_roundtrip, "decode, print, parse and encode every instruction",
            "usage: ngasm roundtrip FILE.cubin\n"
            "       ngasm roundtrip --arch ARCH --words FILE\n\n"
            "FILE has lines `hex <tab> text`: the text of another disassembler, which ours must equal.\n"
            "  -v, --verbose   show what is unknown\n\n"
            "Prints `N instructions, E exact, U unknown, B broken`; exit status 0 only if nothing is broken.\n"},
    Command{"isa", cmd_isa, "print the table of instructions as JSON",
            "usage: ngasm isa --arch ARCH\n\n"
            "One object for each row: mnemonic, form, fixed bits, modifiers with their values, operands with their fields.\n"},
    Command{"coverage", cmd_coverage, "how many of an architecture's opcodes have rows",
            "usage: ngasm coverage [--arch ARCH] [--missing]\n\n"
            "Compares the instruction table with the opcodes that nvdisasm takes, a list made by tools/harvest/opcodes.py.\n"
            "  --missing   name those without a row\n"},
};
// clang-format on

void print_help() {
  std::printf("usage: ngasm COMMAND [ARGUMENTS]\n\n");
  for (const Command& c : kCommands) {
    std::printf("  %-10.*s %.*s\n", static_cast<int>(c.name.size()), c.name.data(), static_cast<int>(c.summary.size()),
                c.summary.data());
  }
  std::printf("\n`ngasm COMMAND --help` explains one. `ngasm --version` prints the version.\n");
}

int main_of(const Arguments& args) {
  if (args.empty()) {
    print_help();
    return 2;
  }
  if (args[0] == "--help" || args[0] == "-h") {
    print_help();
    return 0;
  }
  if (args[0] == "--version") {
    std::printf("ngasm %s\n", NG_VERSION);
    return 0;
  }
  for (const Command& c : kCommands) {
    if (c.name != args[0]) continue;
    for (std::size_t i = 1; i < args.size() && args[i] != "--"; ++i) {
      if (args[i] != "--help" && args[i] != "-h") continue;
      std::printf("%.*s", static_cast<int>(c.help.size()), c.help.data());
      return 0;
    }
    const int status = c.run(Arguments(args.begin() + 1, args.end()));
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      std::fprintf(stderr, "ngasm: error: cannot write the output\n");
      return 1;
    }
    return status;
  }
  std::string all;
  for (const Command& c : kCommands) all += (all.empty() ? "" : ", ") + std::string(c.name);
  std::fprintf(stderr, "ngasm: error: there is no command `%s`\n  commands: %s\n", args[0].c_str(), all.c_str());
  return 2;
}

}  // namespace

std::string_view help_of(std::string_view command) {
  for (const Command& c : kCommands) {
    if (c.name == command) return c.help;
  }
  return {};
}

int usage_error(std::string_view command, const std::string& message) {
  const std::string_view help = help_of(command);
  const std::string_view line = help.substr(0, help.find('\n'));
  std::fprintf(stderr, "ngasm: error: %s\n  %.*s\n", message.c_str(), static_cast<int>(line.size()), line.data());
  return 2;
}

int input_error(const Diag& diag) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s%s\n", diag.at.file.empty() ? "ngasm: " : "", diag.text().c_str());
  return 1;
}

}  // namespace nervanagpu::sass::tools

int main(int argc, char** argv) {
  return nervanagpu::sass::tools::main_of(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
