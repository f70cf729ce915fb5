// ngasm explain: the forms of an instruction, what its operands are, where it executes and what its results cost.
#include <algorithm>
#include <cstdio>
#include <set>

#include "sass/asm/schedule/timing.h"
#include "sass/isa/codec/suggest.h"
#include "sass/isa/rows/row.h"
#include "sass/isa/rows/table.h"
#include "sass/tools/commands.h"
#include "sass/tools/result_times.h"

namespace nervanagpu::sass::tools {
namespace {

std::string_view role_of(const Slot& s) {
  return s.role == Role::kDef ? "writes" : s.role == Role::kBoth ? "reads and writes" : "reads";
}

std::string kind_of(const Slot& s) {
  switch (s.type) {
    case SlotType::kGpr: return "register";
    case SlotType::kUGpr: return "uniform register";
    case SlotType::kPred: return "predicate";
    case SlotType::kUPred: return "uniform predicate";
    case SlotType::kBarrierReg: return "convergence barrier";
    case SlotType::kImm: return "number of " + std::to_string(s.value.width() + s.shift) + " bits";
    case SlotType::kConst: return s.bindless() ? "constant cx[UR][offset]" : "constant c[bank][offset]";
    case SlotType::kAddr: return "address";
    case SlotType::kLabel: return "label";
    case SlotType::kSpecialReg: return "special register";
    case SlotType::kScoreboard: return "scoreboard";
    case SlotType::kSet: return "set of scoreboards";
    case SlotType::kCc: return "condition code";
    default: return "word";
  }
}

void explain_row(const Row& row) {
  std::printf("  %s\n", form_text(row).c_str());
  for (const Slot& s : row.slots()) {
    std::string more;
    if (s.type == SlotType::kGpr && s.reuse_slot != Operand::kNoSlot)
      more = ", reuse slot " + std::string(1, "ABCD"[s.reuse_slot & 3]);
    if (s.show != Show::kAlways) more += ", may be left out";
    std::printf("      %-18s %s%s\n", std::string(role_of(s)).c_str(), kind_of(s).c_str(), more.c_str());
  }
}

// Timing of the operation, from its first row.
void explain_timing(Arch arch, const Row& row) {
  Inst inst;
  inst.row = &row;
  inst.op = row.op;
  std::printf("\n  pipe %s: %d %s of a scheduler for one warp's instruction",
              std::string(name_of(pipe_of(inst))).c_str(), pipe_cycles(arch, inst),
              pipe_cycles(arch, inst) == 1 ? "cycle" : "cycles");
  if (pipe_of(inst) == Pipe::kMemory) std::printf(" and 4 bytes a lane");
  std::printf("\n");
  if (row.traits.ready == Ready::kScoreboard) {
    std::printf("  its results need a write scoreboard\n");
  } else {
    const std::vector<std::string> texts = result_texts(arch, row);
    if (!texts.empty()) std::printf("  results are there after (cycles needed, what schedule leaves, source):\n");
    for (const std::string& t : texts) std::printf("    %s\n", t.c_str());
  }
  if (row.traits.late) std::printf("  it reads sources late: overwriting one needs a read scoreboard\n");
  if (min_stall(arch, inst) > 1) std::printf("  its own stall is at least %d\n", min_stall(arch, inst));
}

}  // namespace

int cmd_explain(const Arguments& args) {
  const Result<Options> options = parse_options(args, {"--arch"}, {});
  if (!options.ok()) return usage_error("explain", options.error().message);
  if (options->files.size() != 1) return usage_error("explain", "one mnemonic is needed");
  const std::string name = options->one("--arch").value_or("sm_90a");
  const std::optional<Arch> arch = arch_from_name(name);
  if (!arch) return usage_error("explain", "unknown architecture '" + name + "'");
  const std::string& wanted = options->files[0];
  Suggestion near(wanted);
  bool found = false;
  for (const Op op : ops_of(*arch)) {
    const std::string_view text = op_text(op);
    near.offer(text);
    // IMAD also explains IMAD.WIDE.
    if (text != wanted && text.substr(0, wanted.size() + 1) != wanted + ".") continue;
    std::printf("%s%s on %s\n", found ? "\n" : "", std::string(text).c_str(), std::string(info(*arch).name).c_str());
    found = true;
    const auto rows = rows_for(*arch, op);
    for (const Row* row : rows) explain_row(*row);
    if (!rows.empty()) explain_timing(*arch, *rows.front());
  }
  if (found) return 0;
  return input_error(
      error("there is no instruction `" + wanted + "` on " + std::string(info(*arch).name), near.note()));
}

}  // namespace nervanagpu::sass::tools
