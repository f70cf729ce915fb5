#include "sass/tools/result_times.h"

#include <array>
#include <span>

#include "sass/isa/latency.h"

namespace nervanagpu::sass::tools {
namespace {

struct Reader {
  std::string_view name;
  Consumer consumer;
};

// Those that differ, and are met most.
constexpr std::array kOfRegister = {Reader{"ALU", Consumer::kAlu},         Reader{"FMA", Consumer::kFma},
                                    Reader{"half", Consumer::kHalf},       Reader{"double", Consumer::kDouble},
                                    Reader{"MUFU", Consumer::kXu},         Reader{"address", Consumer::kAddress},
                                    Reader{"stored data", Consumer::kData}};
constexpr std::array kOfPredicate = {Reader{"operand", Consumer::kPredicate}, Reader{"guard", Consumer::kGuard},
                                     Reader{"branch", Consumer::kBranch}};
constexpr std::array kOfUniform = {Reader{"uniform", Consumer::kUniform}, Reader{"vector", Consumer::kVectorUniform},
                                   Reader{"descriptor", Consumer::kDescriptor}, Reader{"engine", Consumer::kEngine}};
constexpr std::array kOfUniformPredicate = {Reader{"uniform", Consumer::kUniformPred},
                                            Reader{"operand", Consumer::kUniformPredOp},
                                            Reader{"guard", Consumer::kUniformGuard}};

struct Result {
  std::string_view name;
  RegFile file;
  std::span<const Reader> readers;
};

const Result* result_of(SlotType type) {
  static constexpr std::array kResults = {Result{"register", RegFile::kGpr, kOfRegister},
                                          Result{"predicate", RegFile::kPred, kOfPredicate},
                                          Result{"uniform register", RegFile::kUGpr, kOfUniform},
                                          Result{"uniform predicate", RegFile::kUPred, kOfUniformPredicate}};
  switch (type) {
    case SlotType::kGpr: return &kResults[0];
    case SlotType::kPred: return &kResults[1];
    case SlotType::kUGpr: return &kResults[2];
    case SlotType::kUPred: return &kResults[3];
    default: return nullptr;
  }
}

void add(std::vector<ResultTime>& out, Arch arch, const Inst& inst, const Result& result, const std::string& name) {
  for (const ResultTime& before : out) {
    if (before.result == name) return;  // its second predicate
  }
  Access def;
  def.file = result.file;
  def.write = true;
  const Producer producer = producer_of(inst, def);
  for (const Reader& r : result.readers) {
    const Gap& gap = raw_gap(arch, producer, r.consumer);
    out.push_back({name, r.name, gap.need, gap.safe, gap.source});
  }
}

}  // namespace

std::vector<ResultTime> result_times(Arch arch, const Row& row) {
  std::vector<ResultTime> out;
  if (row.traits.ready != Ready::kFixed) return out;
  Inst inst;
  inst.row = &row;
  inst.op = row.op;
  // How long a product of a warp takes depends on the width of A, which a modifier says.
  const bool by_width = row.traits.unit == Unit::kTensor && row.op != Op::DMMA;
  for (const Slot& s : row.slots()) {
    const Result* result = s.role == Role::kDef || s.role == Role::kBoth ? result_of(s.type) : nullptr;
    if (result == nullptr) continue;
    if (!by_width) {
      add(out, arch, inst, *result, std::string(result->name));
      continue;
    }
    for (const std::uint8_t width : {1, 2, 4}) {
      inst.operand_array[1].width = width;
      add(out, arch, inst, *result, std::string(result->name) + " with A in " + std::to_string(width));
    }
  }
  return out;
}

std::vector<std::string> result_texts(Arch arch, const Row& row) {
  std::vector<std::string> out;
  std::string last;
  for (const ResultTime& t : result_times(arch, row)) {
    if (out.empty() || t.result != last) {
      out.push_back(t.result + ": ");
    } else {
      out.back() += ", ";
    }
    last = t.result;
    out.back() += std::string(t.reader) + " " + std::to_string(t.need) + ", " + std::to_string(t.safe) + " (" +
                  std::string(t.source) + ")";
  }
  return out;
}

}  // namespace nervanagpu::sass::tools
