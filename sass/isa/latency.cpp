#include "sass/isa/latency.h"

#include <algorithm>
#include <array>

#include "sass/isa/codec/raw_word.h"
#include "sass/isa/op_facts.h"
#include "sass/isa/rows/row.h"

namespace nervanagpu::sass {
namespace {

constexpr std::size_t kProducers = static_cast<std::size_t>(Producer::kCount);
constexpr std::size_t kConsumers = static_cast<std::size_t>(Consumer::kCount);

bool by_registers(const Inst& inst) {
  return std::ranges::any_of(inst.operands(), [](const Operand& o) { return o.kind == OperandKind::kGpr; });
}

// Sets of producers and consumers, so that a row can speak of several.
struct P {
#define PRODUCER(name, what) static constexpr std::uint32_t name = 1u << static_cast<unsigned>(Producer::name);
#include "sass/isa/latency.inc"
  static constexpr std::uint32_t kAll = (1u << kProducers) - 1;
  static constexpr std::uint32_t kAllPred = kPred | kPredFile | kFmaPred | kHalfPred | kDoublePred;
};
struct C {
#define CONSUMER(name, what) static constexpr std::uint32_t name = 1u << static_cast<unsigned>(Consumer::name);
#include "sass/isa/latency.inc"
  static constexpr std::uint32_t kAll = (1u << kConsumers) - 1;
};

constexpr ArchMask kMaxwell = mask_from(Arch::sm_50, Arch::sm_62);
constexpr ArchMask kVolta = mask_from(Arch::sm_70, Arch::sm_90a);
constexpr ArchMask kTuring = mask_of(Arch::sm_75);
constexpr ArchMask kAmpere = mask_from(Arch::sm_80, Arch::sm_89);
constexpr ArchMask kHopper = mask_of(Arch::sm_90a);

struct LatencyRow {
  ArchMask archs;
  std::uint32_t from, to;
  std::uint8_t need, safe;
  std::string_view source;
};

constexpr LatencyRow kRaw[] = {
#define RAW(archs, producers, consumers, need, safe, source) {archs, producers, consumers, need, safe, source},
#include "sass/isa/latency.inc"
};
constexpr LatencyRow kWaw[] = {
#define WAW(archs, firsts, seconds, need, safe, source) {archs, firsts, seconds, need, safe, source},
#include "sass/isa/latency.inc"
};

constexpr LatencyRow kWar[] = {
#define WAR(archs, readers, writers, need, safe, source) {archs, readers, writers, need, safe, source},
#include "sass/isa/latency.inc"
};

struct MinStall {
  Op op;
  std::uint8_t cycles;
};

constexpr MinStall kMinStalls[] = {
#define MIN_STALL(op, cycles) {Op::op, cycles},
#include "sass/isa/latency.inc"
};

constexpr bool rows_are_sane(std::span<const LatencyRow> rows) {
  for (const LatencyRow& r : rows) {
    if (r.need > r.safe || r.archs == 0 || r.from == 0 || r.to == 0) return false;
  }
  return true;
}
static_assert(rows_are_sane(kRaw) && rows_are_sane(kWaw) && rows_are_sane(kWar));

// The rows of one architecture, spread out for look-up.
struct Table {
  std::array<std::array<Gap, kConsumers>, kProducers> raw{};
  std::array<std::array<Gap, kProducers>, kProducers> waw{};
  std::array<std::array<Gap, kProducers>, kConsumers> war{};
  std::array<Gap, kProducers> slowest_raw{};  // of each producer, whoever reads
  Gap slowest_war{};
  std::array<bool, kConsumers> overwritten_early{};  // some writer could come too early after the reader
  int max = 0;
};

Gap slower(const Gap& a, const Gap& b) {
  return {std::max(a.need, b.need), std::max(a.safe, b.safe), a.safe >= b.safe ? a.source : b.source};
}

const std::array<Gap, kMaxDeclaredLatency + 1>& declared_gaps() {
  static const std::array<Gap, kMaxDeclaredLatency + 1> all = [] {
    std::array<Gap, kMaxDeclaredLatency + 1> made;
    for (std::size_t n = 0; n < made.size(); ++n) {
      made[n] = {static_cast<std::uint8_t>(n), static_cast<std::uint8_t>(n), "declared"};
    }
    return made;
  }();
  return all;
}

// The gap of a declared result; nullptr: `p` is a pipe of the table.
const Gap* declared(Producer p) {
  const auto n = static_cast<std::size_t>(p);
  return n < kProducers ? nullptr : &declared_gaps()[n - kProducers];
}

template <std::size_t N, std::size_t M>
void spread(std::array<std::array<Gap, N>, M>& to, std::span<const LatencyRow> rows, Arch arch) {
  for (const LatencyRow& row : rows) {
    if ((row.archs & mask_of(arch)) == 0) continue;
    for (std::size_t i = 0; i < M; ++i) {
      for (std::size_t j = 0; j < N; ++j) {
        if ((row.from >> i & 1) && (row.to >> j & 1)) to[i][j] = {row.need, row.safe, row.source};
      }
    }
  }
}

constexpr std::size_t kArchs = static_cast<std::size_t>(Arch::sm_90a) + 1;

const std::array<Table, kArchs>& tables() {
  static const std::array<Table, kArchs> all = [] {
    std::array<Table, kArchs> made;
    for (std::size_t a = 0; a < kArchs; ++a) {
      Table& t = made[a];
      spread(t.raw, kRaw, static_cast<Arch>(a));
      spread(t.waw, kWaw, static_cast<Arch>(a));
      for (auto& line : t.war) line.fill({1, 1, "bound"});
      spread(t.war, kWar, static_cast<Arch>(a));
      for (const auto& line : t.raw) {
        for (const Gap& g : line) t.max = std::max<int>(t.max, g.safe);
      }
      for (const auto& line : t.waw) {
        for (const Gap& g : line) t.max = std::max<int>(t.max, g.safe);
      }
      for (std::size_t p = 0; p < kProducers; ++p) {
        for (const Gap& g : t.raw[p]) t.slowest_raw[p] = slower(t.slowest_raw[p], g);
        for (const Gap& g : t.waw[p]) t.slowest_raw[p] = slower(t.slowest_raw[p], g);
      }
      for (std::size_t c = 0; c < kConsumers; ++c) {
        for (const Gap& g : t.war[c]) {
          t.slowest_war = slower(t.slowest_war, g);
          t.overwritten_early[c] |= g.safe > 1;
        }
      }
    }
    return made;
  }();
  return all;
}

bool has_token(const Inst& inst, Tok tok) {
  return std::ranges::any_of(inst.modifiers(), [tok](const Modifier& m) { return m.tok == tok; });
}

const Table& table(Arch arch) {
  return tables()[static_cast<std::size_t>(arch)];
}

}  // namespace

const Gap& raw_gap(Arch arch, Producer producer, Consumer consumer) {
  if (const Gap* gap = declared(producer)) return *gap;
  const auto from = static_cast<std::size_t>(producer);
  if (consumer >= kAnyConsumer) return table(arch).slowest_raw[from];
  return table(arch).raw[from][static_cast<std::size_t>(consumer)];
}

const Gap& waw_gap(Arch arch, Producer first, Producer second) {
  if (const Gap* gap = declared(first)) return *gap;
  const auto from = static_cast<std::size_t>(first);
  if (declared(second) != nullptr) return table(arch).slowest_raw[from];
  return table(arch).waw[from][static_cast<std::size_t>(second)];
}

const Gap& war_gap(Arch arch, Consumer reader, Producer writer) {
  static constexpr Gap kNone = {1, 1, "bound"};
  if (reader == kAnyLateConsumer) return kNone;
  if (reader == kAnyConsumer || declared(writer) != nullptr) return table(arch).slowest_war;
  return table(arch).war[static_cast<std::size_t>(reader)][static_cast<std::size_t>(writer)];
}

bool overwritten_early(Arch arch, Consumer reader) {
  if (reader == kAnyLateConsumer) return false;
  if (reader == kAnyConsumer) return table(arch).slowest_war.safe > 1;
  return table(arch).overwritten_early[static_cast<std::size_t>(reader)];
}

int max_gap(Arch arch) {
  return table(arch).max;
}

int max_gap(Arch arch, const Inst& inst) {
  return std::max(max_gap(arch), static_cast<int>(declared_latency(inst)));
}

Producer producer_of(const Inst& inst, const Access& def, unsigned part) {
  if (is_raw_word(inst)) return static_cast<Producer>(kProducers + declared_latency(inst));
  const bool predicate = def.file == RegFile::kPred;  // CC arrives with its register
  const bool uniform_predicate = def.file == RegFile::kUPred;
  const Timing& own = inst.row->traits.timing;
  const Producer named = predicate || uniform_predicate ? own.predicate : own.result;
  if (named != Producer::kCount) return named;
  if (uniform_predicate) return Producer::kUniformPred;
  switch (unit(inst)) {
    case Unit::kFma: return predicate ? Producer::kFmaPred : Producer::kFma;
    case Unit::kImadWide:
      if (predicate) return Producer::kFmaPred;
      return def.count == 2 && part == 0 ? Producer::kWideLow : Producer::kWideHigh;
    case Unit::kAlu: return predicate ? Producer::kPred : Producer::kAlu;
    case Unit::kHalf:
      if (predicate) return Producer::kHalfPred;
      return has_token(inst, Tok::MMA) ? Producer::kHalfMma : Producer::kHalf;
    case Unit::kDouble: return predicate ? Producer::kDoublePred : Producer::kDouble;
    case Unit::kXu: return Producer::kXu;
    case Unit::kUniform: return Producer::kUniform;
    case Unit::kUniformToVector: return predicate ? Producer::kPred : Producer::kVectorToUniform;
    case Unit::kMemShared: return Producer::kShared;
    case Unit::kMemGlobal: return Producer::kGlobal;
    case Unit::kMemConst: return Producer::kConst;
    case Unit::kSpecial: return Producer::kSpecial;
    case Unit::kTensor:
      // The time goes with the depth, which is the registers of A.
      return inst.operand_array[1].width == 4   ? Producer::kTensorLarge
             : inst.operand_array[1].width == 2 ? Producer::kTensor
                                                : Producer::kTensorSmall;
    case Unit::kMbarrier: return Producer::kShared;
    case Unit::kGmma:
    case Unit::kTma:
    case Unit::kBranch:
    case Unit::kSync:
    case Unit::kNone: break;
  }
  return Producer::kOther;
}

Consumer consumer_of(const Inst& inst, const Access& use, unsigned part) {
  if (is_raw_word(inst)) return ready(inst) == Ready::kScoreboard ? kAnyLateConsumer : kAnyConsumer;
  const Unit u = unit(inst);
  const Timing& own = inst.row->traits.timing;
  const bool uniform_op = u == Unit::kUniform || own.uniform;
  switch (use.file) {
    case RegFile::kCc: return Consumer::kAlu;
    case RegFile::kPred:
      if (u == Unit::kBranch) return Consumer::kBranch;
      if (use.guard || u == Unit::kMemGlobal || u == Unit::kMemShared) return Consumer::kGuard;
      if (own.predicate_source != Consumer::kCount) return own.predicate_source;
      return u == Unit::kFma || u == Unit::kImadWide ? Consumer::kPredicateFma : Consumer::kPredicate;
    case RegFile::kUPred:
      if (use.guard || u == Unit::kBranch) return Consumer::kUniformGuard;
      return uniform_op ? Consumer::kUniformPred : Consumer::kUniformPredOp;
    case RegFile::kUGpr:
      if (own.uniform_source != Consumer::kCount) return own.uniform_source;
      if (uniform_op) return Consumer::kUniform;
      if (u == Unit::kMemGlobal || u == Unit::kMemShared || u == Unit::kMemConst) return Consumer::kDescriptor;
      if (u == Unit::kXu) return Consumer::kXuUniform;
      if (u == Unit::kGmma || u == Unit::kTma || u == Unit::kMbarrier) return Consumer::kEngine;
      return u == Unit::kDouble ? Consumer::kDoubleUniform : Consumer::kVectorUniform;
    case RegFile::kBarrier:
    case RegFile::kOrder: return Consumer::kOther;
    case RegFile::kGpr: break;
  }
  if (own.source != Consumer::kCount) return own.source;
  switch (u) {
    case Unit::kFma: return Consumer::kFma;
    case Unit::kImadWide: return use.count == 2 && part == 1 ? Consumer::kWideAddHigh : Consumer::kWide;
    case Unit::kAlu: return Consumer::kAlu;
    case Unit::kHalf: return has_token(inst, Tok::MMA) ? Consumer::kHalfMma : Consumer::kHalf;
    case Unit::kDouble: return Consumer::kDouble;
    case Unit::kMemConst:
    case Unit::kXu: return Consumer::kXu;
    case Unit::kUniform:
    case Unit::kUniformToVector: return Consumer::kToUniform;
    case Unit::kMemShared:
    case Unit::kMemGlobal:
      if (by_texture_unit(inst.op)) return Consumer::kXu;
      if (use.operand < inst.operand_count && inst.operands()[use.operand].kind == OperandKind::kGpr) {
        return Consumer::kData;
      }
      return Consumer::kAddress;
    case Unit::kTensor:
    case Unit::kGmma: return Consumer::kTensor;
    case Unit::kMbarrier: return Consumer::kData;
    case Unit::kTma:
    case Unit::kSpecial:
    case Unit::kBranch:
    case Unit::kSync:
    case Unit::kNone: break;
  }
  return Consumer::kOther;
}

int min_stall(Arch arch, const Inst& inst) {
  if (inst.op == Op::WARPGROUP && inst.has(Axis::kFunction, Tok::ARRIVE)) return kArriveStall;
  for (const MinStall& m : kMinStalls) {
    if (m.op == inst.op) return m.cycles;
  }
  return arch <= Arch::sm_62 ? 0 : 1;
}

bool closes_group(const Inst& inst) {
  return std::ranges::any_of(inst.operands(),
                             [](const Operand& o) { return o.kind == OperandKind::kGroup && o.imm != kNoGroup; });
}

bool awaits_groups(const Inst& inst) {
  return inst.op == Op::WARPGROUP && inst.has(Axis::kFunction, Tok::DEPBAR);
}

bool hands_over(const Inst& inst) {
  return inst.op == Op::WARPGROUP && inst.has(Axis::kFunction, Tok::ARRIVE);
}

Queue queue_of(Arch arch, const Inst& inst) {
  if (ready(inst) != Ready::kScoreboard) return Queue::kNone;
  const Queue own = inst.row->traits.timing.queue;
  if (own != Queue::kCount) return own;
  if (by_texture_unit(inst.op)) return Queue::kGlobal;
  switch (unit(inst)) {
    case Unit::kXu: return Queue::kXu;
    case Unit::kMemShared: return Queue::kShared;
    case Unit::kMemGlobal: return info(arch).encoding == Encoding::k64 ? Queue::kGlobal : Queue::kNone;
    case Unit::kDouble: return Queue::kDouble;
    default: return Queue::kNone;
  }
}

bool announced_by_reads(const Inst& inst, const Access& def) {
  const MemoryUse use = memory_of(inst.op);
  return (use.reads & use.writes & kSpaceGlobal) != 0 && def.write && def.file == RegFile::kPred;
}

ReadQueue read_queue_of(Arch arch, const Inst& inst) {
  if (inst.op == Op::BAR && arch >= Arch::sm_75 && arch < Arch::sm_90a && by_registers(inst)) return ReadQueue::kMemory;
  const ReadQueue own = inst.row->traits.timing.read_queue;
  if (own != ReadQueue::kCount) return own;
  switch (unit(inst)) {
    case Unit::kMemShared:
    case Unit::kMemGlobal: return ReadQueue::kMemory;
    case Unit::kMemConst: return inst.row->encoding == Encoding::k64 ? ReadQueue::kMemory : ReadQueue::kConst;
    case Unit::kXu: return ReadQueue::kXu;
    case Unit::kDouble: return ReadQueue::kDouble;
    default: return ReadQueue::kNone;
  }
}

bool frees_older_reads(Arch arch, const Inst& inst) {
  return inst.op == Op::BAR && arch < Arch::sm_90a && !inst.has(Axis::kDefer, Tok::DEFER_BLOCKING) &&
         !inst.has(Axis::kFunction, Tok::ARV);
}

}  // namespace nervanagpu::sass
