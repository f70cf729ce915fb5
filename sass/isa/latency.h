// How many issue cycles must lie between an instruction that writes a register and one that reads or overwrites it.
// The hardware does not interlock fixed-latency results: a reader issued too early gets the old value. The numbers are
// rows of latency.inc; schedule keeps `safe`, verify and the checked emulator complain below `need`.
//
// A gap is issue-to-issue: the sum of the stall fields from the producer (inclusive) to the consumer (exclusive).
#pragma once

#include <cstdint>
#include <string_view>

#include "sass/isa/access.h"
#include "sass/isa/arch.h"
#include "sass/isa/inst.h"

namespace nervanagpu::sass {

// What writes: the pipe and the part of the result.
enum class Producer : std::uint8_t {
#define PRODUCER(name, what) name,
#include "sass/isa/latency.inc"
  kCount
};

// The result of a `.word` that declares `latency N` counts as the producer kCount + N, and whatever a `.word` reads as one of
// these consumers, the slowest of all: which pipe it is for is not known.
// What reads: the pipe and the kind of operand slot.
enum class Consumer : std::uint8_t {
#define CONSUMER(name, what) name,
#include "sass/isa/latency.inc"
  kCount
};

// The in-order queue that returns a scoreboard result. A result is there when its own scoreboard, or that of a
// younger operation of the same queue, was awaited.
enum class Queue : std::uint8_t {
  kNone,            // fixed latency, or returns in any order (S2R, LDC; from sm_70 LDG, ATOM): only its own scoreboard
  kShared,          // LDS, LDSM, SHFL, ATOMS, STS
  kXu,              // MUFU, F2I, I2F, F2F, FRND, POPC, FLO, BREV
  kGlobal,          // sm_50 .. sm_62: LDG, ATOM; every access to textures and surfaces
  kDouble,          // DADD, DMUL, DFMA where they use scoreboards
  kDoubleProduct,   // DMMA
  kRedux,           // REDUX
  kFence,           // FENCE.VIEW.ASYNC
  kUniformSpecial,  // S2UR
  kBarrierResult,   // B2R
  kCount
};

// The in-order queue in which an operation's sources are read. Once a younger one's were, an older one's were, too.
enum class ReadQueue : std::uint8_t {
  kNone,
  kMemory,  // loads, stores, shuffles, atomics of every memory: one queue a scheduler
  kConst,   // LDC: its result may overtake what older memory operations have yet to read
  kXu,
  kDouble,         // where it uses scoreboards
  kFence,          // MEMBAR
  kBarrier,        // BAR by numbers (by registers: read_queue_of), and B2R, which asks for its result
  kMbarrier,       // SYNCS
  kReduce,         // REDUX
  kDoubleProduct,  // DMMA
  kCount
};

inline constexpr Consumer kAnyConsumer = Consumer::kCount;
// Of a `.word` with `scoreboard`: its sources are free when the read scoreboard says so.
inline constexpr auto kAnyLateConsumer = static_cast<Consumer>(static_cast<unsigned>(Consumer::kCount) + 1);

struct Gap {
  std::uint8_t need = 0;  // fewer cycles than this are an error
  std::uint8_t safe = 0;  // what the scheduler leaves; >= need
  std::string_view source;
};

// `part` counts registers from def.first: the halves of a 64-bit product do not arrive together.
Producer producer_of(const Inst& inst, const Access& def, unsigned part = 0);
Consumer consumer_of(const Inst& inst, const Access& use, unsigned part = 0);
Queue queue_of(Arch arch, const Inst& inst);
// From sm_75 to sm_89 a BAR takes its registers in the order of memory operations; the result of a B2R tells of them, too.
ReadQueue read_queue_of(Arch arch, const Inst& inst);
// A barrier at which the warp stands: it goes on when older memory operations and barriers have read their sources. Code
// for sm_90 does not count on that.
bool frees_older_reads(Arch arch, const Inst& inst);
// The predicate of an atomic operation is there when its sources were read, and the read scoreboard says so, too.
bool announced_by_reads(const Inst& inst, const Access& def);
// This source is read so late that overwriting it needs the read scoreboard. Uniform registers are read at issue, but
// for those of the copy engine and of SYNCS.EXCH (Traits::late_uniform).
inline bool is_late_read(const Access& access) {
  return !access.write && access.late &&
         (access.file == RegFile::kGpr || access.file == RegFile::kUGpr || access.file == RegFile::kOrder);
}
// What it writes arrives after issue. (That a fence uses up the order of stores does not: it only waits for that.)
inline bool is_result(const Access& access) {
  return access.write && !(access.file == RegFile::kOrder && access.first == kOrderOfStores);
}

// O(1) table look-ups. Only for producers whose ready(inst) is kFixed; a scoreboard result needs its wait instead, and
// the look-up with its producer gives the shortest time in which it can be there at all.
const Gap& raw_gap(Arch arch, Producer producer, Consumer consumer);
// From the first write to the second one of the same register.
const Gap& waw_gap(Arch arch, Producer first, Producer second);

// From a read of fixed latency to a write of the same register.
const Gap& war_gap(Arch arch, Consumer reader, Producer writer);
// Some writer could come too early after this reader.
bool overwritten_early(Arch arch, Consumer reader);

// The stall that `inst` itself must carry at least, whatever follows (branches, barriers, DEPBAR).
int min_stall(Arch arch, const Inst& inst);

// A product of the tensor engine that ends its group (gsb0).
bool closes_group(const Inst& inst);
bool awaits_groups(const Inst& inst);  // WARPGROUP.DEPBAR
bool hands_over(const Inst& inst);     // WARPGROUP.ARRIVE: registers, to the products after it

// The most cycles any row of `arch` asks for: older results are there.
int max_gap(Arch arch);
// The same for code that may hold this instruction.
int max_gap(Arch arch, const Inst& inst);

// After an instruction that sets a scoreboard, an instruction that awaits it may issue this many cycles later.
inline constexpr int kScoreboardSetGap = 2;
// sm_50 .. sm_62: no operation lowers its scoreboard sooner than this after it was issued.
inline constexpr int kLeastWait = 8;
// DEPBAR returns before the next instructions see it: its own stall must be at least this.
inline constexpr int kDepbarStall = 4;
// From WARPGROUP.ARRIVE to the product. ptxas leaves 6 or more. With 2, products of an H200 began while a slower warp of the
// warpgroup still read the accumulators (91 of 6,000 launches were wrong; none with a stall of 12, or with a barrier).
inline constexpr int kArriveGap = 6;
inline constexpr int kArriveStall = 12;
// From the product that closes a group to the WARPGROUP.DEPBAR that awaits it; ptxas leaves 3. With 1 the DEPBAR of an H200 does
// not count the group, if the products before it have been few: sums were read too early.
inline constexpr int kGroupGap = 3;
inline constexpr unsigned kBarrierCycles = 6;  // from BAR to the next memory access, found on the chip
// sm_70 and later: a stall from here on is only honoured with the yield bit set (bit 109 = 0).
inline constexpr int kYieldStall = 12;
inline constexpr int kMaxStall = 15;
// sm_70 and later: stall 0 with the yield bit takes at least this long. At -O0 ptxas writes it after the tensor products that
// take longer than the largest stall, 24 cycles, and reads their results next.
inline constexpr int kDrain = 24;
inline constexpr int kScoreboards = 6;

}  // namespace nervanagpu::sass
