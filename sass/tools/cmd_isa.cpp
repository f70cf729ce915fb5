// ngasm isa: the table of instructions of one architecture as JSON, one object for each row. The reference in the
// documentation is made of it (tools/isa_pages.py).
#include <cstdio>
#include <vector>

#include "sass/isa/rows/table.h"
#include "sass/tools/commands.h"
#include "sass/tools/result_times.h"

namespace nervanagpu::sass::tools {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// [[at, width], ...], least significant first.
std::string bits_of(const Field& field) {
  std::string out = "[";
  for (const Field::Piece& p : field.piece) {
    if (p.width == 0) continue;
    out += (out.size() == 1 ? "[" : ", [") + std::to_string(p.at) + ", " + std::to_string(p.width) + "]";
  }
  return out + "]";
}

std::string bits_of(std::uint8_t bit) {
  return bit == kNoBit ? "[]" : "[[" + std::to_string(bit) + ", 1]]";
}

std::string values_of(std::span<const Enum> table) {
  std::string out = "[";
  for (const Enum& e : table) {
    out += (out.size() == 1 ? "[" : ", [") + std::to_string(e.raw) + ", " + quoted(tok_text(e.tok)) + "]";
  }
  return out + "]";
}

std::string_view kind_of(SlotType type) {
  switch (type) {
    case SlotType::kGpr: return "register";
    case SlotType::kUGpr: return "uniform register";
    case SlotType::kPred: return "predicate";
    case SlotType::kUPred: return "uniform predicate";
    case SlotType::kBarrierReg: return "convergence barrier";
    case SlotType::kImm: return "number";
    case SlotType::kConst: return "constant";
    case SlotType::kAddr: return "address";
    case SlotType::kLabel: return "label";
    case SlotType::kSpecialReg: return "special register";
    case SlotType::kScoreboard: return "scoreboard";
    case SlotType::kSet: return "set of scoreboards";
    case SlotType::kCc: return "condition code";
    case SlotType::kWord: return "word";
    default: return "operand";
  }
}

std::string_view role_of(Role role) {
  if (role == Role::kUse) return "read";
  return role == Role::kDef ? "written" : "read and written";
}

std::string_view latency_of(Ready ready) {
  if (ready == Ready::kFixed) return "fixed";
  return ready == Ready::kScoreboard ? "scoreboard" : "group";
}

std::string_view unit_of(Unit unit) {
  switch (unit) {
    case Unit::kFma: return "FMA";
    case Unit::kAlu: return "ALU";
    case Unit::kImadWide: return "wide integer product";
    case Unit::kHalf: return "half precision";
    case Unit::kDouble: return "double precision";
    case Unit::kXu: return "special functions";
    case Unit::kUniform: return "uniform datapath";
    case Unit::kUniformToVector: return "uniform to vector";
    case Unit::kMemShared: return "shared memory";
    case Unit::kMemGlobal: return "global memory";
    case Unit::kMemConst: return "constant memory";
    case Unit::kSpecial: return "special registers";
    case Unit::kBranch: return "branch";
    case Unit::kSync: return "synchronisation";
    case Unit::kTensor: return "tensor cores of a warp";
    case Unit::kGmma: return "tensor cores of a warpgroup";
    case Unit::kTma: return "copy engine";
    case Unit::kMbarrier: return "barriers in shared memory";
    case Unit::kNone: break;
  }
  return "none";
}

std::string operand_of(const Slot& s) {
  std::string out = "{\"kind\": " + quoted(kind_of(s.type)) + ", \"role\": " + quoted(role_of(s.role));
  out += ", \"late\": " + std::string(s.late ? "true" : "false");
  const std::pair<const char*, std::string> parts[] = {
      {"value", bits_of(s.value)},     {"index", bits_of(s.index)},      {"uniform", bits_of(s.ureg)},
      {"descriptor", bits_of(s.desc)}, {"bank", bits_of(s.bank)},        {"part", bits_of(s.sub)},
      {"negated", bits_of(s.neg_bit)}, {"absolute", bits_of(s.abs_bit)}, {"inverted", bits_of(s.inv_bit)}};
  out += ", \"fields\": {";
  bool first = true;
  for (const auto& [name, bits] : parts) {
    if (bits == "[]") continue;
    out += (first ? "" : ", ") + quoted(name) + ": " + bits;
    first = false;
  }
  return out + "}, \"parts\": " + values_of(s.sub_table) + "}";
}

std::string hex(const Word& w) {
  char text[40];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(w.hi),
                static_cast<unsigned long long>(w.lo));
  return text;
}

std::string row_of(Arch arch, const Row& r) {
  std::string out = "{\"op\": " + quoted(op_text(r.op)) + ", \"form\": " + quoted(form_text(r));
  out += ", \"bits\": " + std::to_string(code_bytes(r.encoding) * 8);
  out += ", \"fixed\": " + quoted(hex(r.fixed)) + ", \"fixed_mask\": " + quoted(hex(r.fixed_mask));
  out += ", \"guard\": " + (r.has_guard ? bits_of(r.guard_field()) : std::string("[]"));
  out += ", \"latency\": " + quoted(latency_of(r.traits.ready)) + ", \"unit\": " + quoted(unit_of(r.traits.unit));
  out += ", \"cycles\": [";
  bool first = true;
  for (const ResultTime& t : result_times(arch, r)) {
    out += (first ? "" : ", ") + std::string("{\"result\": ") + quoted(t.result) + ", \"reader\": " + quoted(t.reader) +
           ", \"need\": " + std::to_string(t.need) + ", \"safe\": " + std::to_string(t.safe) +
           ", \"source\": " + quoted(t.source) + "}";
    first = false;
  }
  out += "], \"branch\": " + std::string(r.traits.branch ? "true" : "false");
  out += ", \"modifiers\": [";
  first = true;
  for (const Mod& m : r.mods()) {
    out += (first ? "" : ", ") + std::string("{\"what\": ") + quoted(axis_text(m.axis)) +
           ", \"field\": " + bits_of(m.field) + ", \"values\": " + values_of(m.table) + "}";
    first = false;
  }
  out += "], \"operands\": [";
  first = true;
  for (const Slot& s : r.slots()) {
    out += (first ? "" : ", ") + operand_of(s);
    first = false;
  }
  return out + "]}";
}

}  // namespace

int cmd_isa(const Arguments& args) {
  const Result<Options> options = parse_options(args, {"--arch"}, {});
  if (!options.ok()) return usage_error("isa", options.error().message);
  const std::optional<Arch> arch = arch_from_name(options->one("--arch").value_or(""));
  if (!arch || !options->files.empty()) return usage_error("isa", "--arch ARCH is needed, and nothing else");
  std::string out = "[";
  for (const Op op : ops_of(*arch)) {
    for (const Row* row : rows_for(*arch, op)) out += (out.size() == 1 ? "\n" : ",\n") + row_of(*arch, *row);
  }
  out += "\n]\n";
  std::fwrite(out.data(), 1, out.size(), stdout);
  return 0;
}

}  // namespace nervanagpu::sass::tools
