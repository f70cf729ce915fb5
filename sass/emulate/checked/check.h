// Checked mode. Every register carries a tag: when it was written and by what, whether its scoreboard was awaited, who
// may still read its old value, which lanes ever wrote it. A warp's clock advances by the stall counts alone, the least
// time that the control codes promise; a result that is not ready by then is reported and read as poison. Shared and global
// memory carry a shadow of who touched each word (shadow.h, global_shadow.h), judged by happens-before (order.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sass/emulate/checked/global_shadow.h"
#include "sass/emulate/checked/order.h"
#include "sass/emulate/checked/shadow.h"
#include "sass/emulate/checked/store_marks.h"
#include "sass/emulate/checked/tensor_marks.h"
#include "sass/emulate/state/warp.h"
#include "sass/isa/latency.h"

namespace nervanagpu::sass::emulate {

class Kernel;
struct Grid;

std::string named(const Kernel& kernel, std::uint32_t pc);  // an instruction and its line

// All register files in one numbering.
namespace tags {
inline constexpr std::uint16_t kGpr = 0;
inline constexpr std::uint16_t kUGpr = 256;
inline constexpr std::uint16_t kPred = 320;
inline constexpr std::uint16_t kUPred = 328;
inline constexpr std::uint16_t kCc = 336;
inline constexpr std::size_t kCount = 337;
// One value for the warp.
constexpr bool is_uniform(std::uint16_t tag) {
  return (tag >= kUGpr && tag < kPred) || (tag >= kUPred && tag < kCc);
}
std::string name(std::uint16_t tag);
}  // namespace tags

// What checked mode knows about one instruction.
struct CheckOp {
  struct Use {
    std::uint16_t tag = 0;
    Consumer consumer = Consumer::kOther;
    bool late = false;
    bool carried = false;    // only passed on: may be uninitialised
    bool overtaken = false;  // a writer right after it may come before it reads
    // Lanes in which the value matters: all, or those where the instruction's predicate operand is true or false.
    enum class In : std::uint8_t { kAll, kTrue, kFalse };
    In matters = In::kAll;
    std::uint8_t bytes = 15;  // that it reads, of a vector register
  };
  struct Def {
    std::uint16_t tag = 0;
    Producer producer = Producer::kOther;
    std::uint8_t settled = 0;  // cycles after which any reader is served
  };
  std::vector<Use> guard;  // read whether or not it executes
  std::vector<Use> uses;
  std::vector<Def> defs;
  std::uint8_t stall = 1;  // cycles until the next instruction, as the chip counts them
  std::uint8_t wait = 0;
  std::uint8_t write_sb = kNoScoreboard;
  std::uint8_t read_sb = kNoScoreboard;
  std::uint8_t least = 0;       // shortest time of a scoreboard result, for who awaits it
  std::uint8_t least_read = 0;  // the same of the read scoreboard
  Queue queue = Queue::kNone;
  ReadQueue read_queue = ReadQueue::kNone;
  bool by_scoreboard = false;              // results need a scoreboard
  bool late = false;                       // some sources are read after issue
  bool commits_async = false;              // LDGDEPBAR
  bool commits_stores = false;             // UTMACMDFLUSH
  bool frees_reads = false;                // a BAR that blocks: older memory operations and barriers have read
  bool joins_memory = false;               // a BAR whose registers are read in the order of memory operations
  bool by_reads = false;                   // its results, predicates, are there when its sources were read
  bool always_counts = false;              // before sm_70 its scoreboards count even if its guard is false
  std::uint8_t depbar_all = 0;             // DEPBAR: scoreboards to await in full
  std::uint8_t depbar_sb = kNoScoreboard;  // and one to await down to depbar_count
  std::uint8_t depbar_count = 0;
  enum class Tensor : std::uint8_t { kNone, kMultiply, kArrive, kWait };  // HGMMA and its kin; WARPGROUP
  Tensor tensor = Tensor::kNone;
  bool commits = false;          // closes the group
  std::uint8_t wait_groups = 0;  // kWait: that may stay in flight
  std::uint16_t registers = 0;   // it names those below this number; 0: fewer than any warp has
  bool strong = false;           // a load or store of memory that has an order (.STRONG): it may be of a flag
  bool atomic = false;
  bool compares = false;  // an atomic compare and swap
  enum class Membar : std::uint8_t { kNone, kCta, kGpu };
  Membar membar = Membar::kNone;
  bool init_fence = false;  // a NOP that stands for PTX's fence.mbarrier_init
  // PRMT: a byte of the result was written if the byte was that is taken for it, of the first or of the last source.
  static constexpr std::uint16_t kNoTag = 0xffff;
  bool permutes = false;
  std::array<std::uint16_t, 2> permuted{kNoTag, kNoTag};
};

CheckOp check_op(Arch arch, const Inst& inst);
std::uint8_t bytes_read(const Inst& inst, const Operand& o);  // a bit for each byte of a register
const Operand* selector_of(const Inst& inst);                 // of a PRMT
void find_permuted(const Inst& inst, CheckOp& op);

// The same for the common case, small: no guard, no scoreboard, no wait, results of fixed latency in vector registers.
struct QuickOp {
  Handler body = nullptr;  // nullptr: not such an instruction
  std::array<std::uint16_t, 6> use{};
  std::array<std::uint16_t, 2> def{};
  std::array<std::uint8_t, 2> settled{};
  std::array<Producer, 2> producer{};
  std::uint8_t uses = 0;
  std::uint8_t defs = 0;
  std::uint8_t stall = 1;
};
QuickOp quick_op(const CheckOp& op, Handler body);  // body nullptr: it has a guard

class Checker {
 public:
  Checker(Grid& grid, Order& order);

  void begin(Cta& cta);             // a CTA starts
  void end(Cta& cta);               // a CTA has ended
  void run(Warp& w, const Uop* u);  // runs the current group until it stops

  void found(const Warp& w, const Uop* u, unsigned lane, const char* what, std::string detail);
  // The same was found there before; it is counted. Asked before a sentence is put together.
  [[nodiscard]] bool again(const Uop* u, const char* what, const Warp& w);

  // Accesses: by `w`, of this CTA or another one of the cluster, to this CTA's shared memory; or to global memory.
  void shared_access(Warp& w, const Uop* u, unsigned lane, std::uint32_t offset, unsigned bytes, Intent intent);
  void global_access(Warp& w, const Uop* u, unsigned lane, std::uint64_t address, std::uint64_t bytes, Intent intent);
  void tensor_read(Warp& w, const Uop* u, std::uint32_t offset);  // 16 bytes of shared memory, by an HGMMA
  // A copy that completes at an mbarrier of this CTA; and what a copy writes to this CTA's shared memory.
  Shadow::Copy copy_begins(std::uint32_t mbarrier) { return shadow_.copy_begins(mbarrier); }
  // `adds`: it is a reduction, of which several may be under way.
  void engine_write(Warp& w, const Uop* u, Shadow::Copy copy, std::uint32_t offset, unsigned bytes, bool adds = false);
  // Until told otherwise nothing is noted of accesses of this CTA's warps: an engine makes them.
  void mute(bool on) { muted_ = on; }
  void engine_read(Warp& w, const Uop* u, std::uint32_t offset, unsigned bytes);
  // A copy out of it to global memory, and 16 bytes that it reads.
  void store_begins(const Warp& w) { stores_.issued(w.index); }
  void store_read(Warp& w, const Uop* u, std::uint32_t offset);
  void fenced(const Warp& w, Order::Fence kind);  // FENCE.VIEW.ASYNC and its kin

  // Mbarriers of this CTA, by their address; `w` may be of another CTA.
  void mbarrier_made(const Warp& w, const Uop* u, std::uint32_t address);
  void mbarrier_gone(const Warp& w, std::uint32_t address) { shadow_.mbarrier_gone(address - w.shared_base); }
  void mbarrier_used(const Warp& w, const Uop* u, unsigned lane, std::uint32_t address, bool engine);
  // `counts`: as an arrival, not only bytes to come; `told`: its result says which phase it is.
  void mbarrier_arrived(const Warp& w, unsigned lane, std::uint32_t address, bool counts, bool told);
  void mbarrier_phase_over(const Warp& w, std::uint32_t address);
  void mbarrier_asked(const Warp& w, const Uop* u, unsigned lane, std::uint32_t address, bool parity);
  void mbarrier_observed(const Warp& w, unsigned lane, std::uint32_t address);
  void cluster_arrived(Warp& w);
  void cluster_completed();  // once for a cluster
  void cluster_passed(Warp& w);
  void registers_released(Warp& w);  // those from w.registers on have no value any more
  void copies_done(Warp& w);
  Strand& strand(const Warp& w, unsigned lane) { return order_.strand(w.cta->rank, w.index, lane); }
  void async_issued(Warp& w) { shadow_.async_issued(w.index); }
  void barrier_arrived(Warp& w, unsigned number);
  void barrier_completed(Cta& cta, unsigned number);
  void lanes_met(const Warp& w, std::uint32_t lanes) { order_.meet(w.cta->rank, w.index, lanes); }  // BSYNC, WARPSYNC

  [[nodiscard]] bool dirty() const { return !findings_.empty() || !races_.empty(); }
  [[nodiscard]] std::vector<Finding> take();

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  static constexpr unsigned kRing = 64;

  struct Tag {
    std::uint64_t settled = 0;  // from this cycle on every reader is served; kNever: pending on a scoreboard
    std::uint64_t issued = 0;
    std::uint32_t lanes = 0;   // ever written
    std::uint32_t pc = 0;      // who wrote it
    std::uint32_t number = 0;  // of the operation on its scoreboard
    Producer producer = Producer::kOther;
    std::uint8_t sb = kNoScoreboard;
    Queue queue = Queue::kNone;
    std::uint8_t readers = 0;     // bit per read queue: late readers were issued
    std::uint32_t last = 0;       // lanes of the last write: groups of a warp do not disturb each other
    std::uint32_t tensor_pc = 0;  // the HGMMA that owns it, or did
  };
  static constexpr std::size_t kReadQueues = static_cast<std::size_t>(ReadQueue::kCount);
  struct Reader {                                     // the youngest late readers of a register
    std::array<std::uint32_t, kReadQueues> number{};  // in each read queue; for queue kNone on scoreboard `sb`
    std::array<std::uint32_t, kReadQueues> lanes{};   // of each
    std::uint8_t sb = kNoScoreboard;
    std::uint32_t pc = 0;
  };
  struct EarlyRead {  // of a uniform register, by a reader that some writers could overtake
    std::uint64_t clock = 0;
    std::uint32_t pc = 0;
    Consumer consumer = Consumer::kOther;
    bool any = false;
  };
  struct Outstanding {  // one operation on a scoreboard
    std::uint64_t issued = 0;
    std::uint64_t least = 0;
    std::uint32_t in_queue = 0;
    std::uint32_t async = 0;  // LDGDEPBAR: copies it covers
    Queue queue = Queue::kNone;
    ReadQueue read_queue = ReadQueue::kNone;
    std::uint32_t in_read_queue = 0;
    std::uint32_t stores = 0;        // UTMACMDFLUSH: copies that it covers
    std::uint32_t memory_reads = 0;  // of the memory queue: so many are done with it
  };
  // HGMMA instructions of a warp, numbered from 1.
  static constexpr std::uint8_t kTensorReader = 0x80;  // of Tag::readers
  struct TensorState {
    std::uint32_t issued = 0;
    std::uint32_t done = 0;
    std::uint64_t arrived = 0;                          // cycle after the last WARPGROUP.ARRIVE; 0: none
    std::array<std::uint32_t, kScoreboards> awaited{};  // what was done by then,
    std::array<std::uint32_t, static_cast<std::size_t>(Queue::kCount)> in_order{};  // also by what came after it
    std::uint64_t closed = 0;                         // cycle of the last group's end, and 1; 0: none
    std::vector<std::uint32_t> groups;                // the last instruction of each
    std::array<std::uint32_t, tags::kUGpr> writes{};  // the last one that has a register as accumulator
    std::array<std::uint32_t, tags::kUGpr> reads{};   // or reads it
  };
  struct WarpState {
    std::uint64_t clock = 0;
    std::array<Tag, tags::kCount> tag{};
    std::array<EarlyRead, 64> early{};                   // by uniform register
    std::array<std::uint32_t, tags::kCount> in_queue{};  // of the operation that wrote it, in its queue
    std::array<std::uint32_t, kScoreboards> issued{}, done{};
    std::array<std::array<Outstanding, kRing>, kScoreboards> ring{};
    std::array<std::uint32_t, static_cast<std::size_t>(Queue::kCount)> queue_issued{}, queue_done{};
    std::array<std::uint32_t, kReadQueues> read_issued{}, read_done{};
    std::uint32_t memory_at_barrier = 0;  // number in the memory queue of the last BAR there
    std::array<Reader, tags::kCount> reader{};
    // Of lanes that are not in Tag::lanes: those in which a byte of a vector register was written.
    std::array<std::array<std::uint32_t, 4>, tags::kUGpr> bytes{};
    TensorState tensor;
  };

  const Uop* step(Warp& w, const Uop* u);  // one instruction, guard included
  // `gap`: how many cycles ago an operation was issued at least for the wait to see it.
  void await(WarpState& s, Warp& w, unsigned sb, unsigned keep, int gap = kScoreboardSetGap);
  [[nodiscard]] bool pending(const WarpState& s, std::uint16_t tag) const;
  void check_use(WarpState& s, Warp& w, const Uop* u, const CheckOp::Use& use);
  void check_def(WarpState& s, Warp& w, const Uop* u, const CheckOp& op, const CheckOp::Def& def);
  static void take_turn(WarpState& s, const CheckOp& op);
  void issue(WarpState& s, Warp& w, const Uop* u, const CheckOp& op, std::uint32_t lanes);
  static std::uint32_t raise(WarpState& s, unsigned sb, const Outstanding& o);
  void poison(Warp& w, std::uint16_t tag);
  // Of `lanes` those in which a byte that is read was never written.
  static std::uint32_t unwritten_lanes(const WarpState& s, const CheckOp::Use& use, std::uint32_t lanes);
  struct Permuted {
    std::array<std::uint32_t, 4> bytes{};    // lanes, for each byte of the result
    std::uint16_t blamed = CheckOp::kNoTag;  // a source that was not written in full; none: `bytes` does not count
  };
  static Permuted permuted(const WarpState& s, Warp& w, const Uop* u, const CheckOp& op);
  void note_permuted(WarpState& s, const Warp& w, const Uop* u, const CheckOp& op, const Permuted& p,
                     std::uint32_t lanes);

  Strand& strand(const Warp& w);  // of the first lane that executes

  // One side of a race.
  struct Party {
    std::uint32_t pc = 0;
    std::array<std::uint32_t, 3> cta{};
    std::uint32_t warp = 0;
    std::uint32_t lane = kLanes;  // not known
    bool writes = false;
    bool strong = false;
    const Order::Agent* copies = nullptr;  // a copy of the engine
  };
  enum class Where : std::uint8_t { kShared, kGlobal };
  Party party(const Touch& a, unsigned lane) const;
  Party party(const Warp& w, const Uop* u, unsigned lane, bool writes) const;
  std::string sentence(const Party& p, const std::array<std::uint32_t, 3>& cta) const;
  // What is wrong with an access of `w`. `place`: "shared offset 4", "global address 0x70000000".
  void trouble(const Warp& w, const Uop* u, unsigned lane, const Trouble& t, bool writes, Where where,
               const std::string& place);
  void race(Party mine, Party other, const char* what, const std::string& place, const char* missing);
  void wait_is_unclear(Party at, std::uint32_t address, bool parity);
  void put(const Party& at, std::uint32_t other_pc, const Party* other, const char* what, std::string detail);
  void release_part();
  // The instruction is over, as far as memory is concerned.
  void accesses_done(const Warp& w, std::uint32_t lanes);
  // Of words that are read and were not written: only if no write turns up that nothing orders after the read, which makes it
  // a race, is it told that they are uninitialised.
  void shared_trouble(const Warp& w, const Uop* u, unsigned lane, const Trouble& t, bool writes);
  void tell_unwritten();
  void unwritten(const Warp& w, const Uop* u, unsigned lane, std::uint32_t offset, std::string place);

  static bool owned(const WarpState& s, std::uint16_t tag);
  void check_owned(WarpState& s, Warp& w, const Uop* u, const CheckOp& op);
  static bool comes_late(const WarpState& s, std::uint16_t tag);
  void check_arrived(WarpState& s, Warp& w, const Uop* u, const CheckOp& op);
  void issue_tensor(WarpState& s, Warp& w, const Uop* u, const CheckOp& op);
  // A write: whether HGMMA or a copy still read there.
  void check_marks(Warp& w, const Uop* u, unsigned lane, std::uint32_t offset, unsigned bytes) {
    if (!marks_.empty()) check_products(w, u, lane, offset, bytes);
    if (!stores_.empty()) check_stores(w, u, lane, offset, bytes);
  }
  void check_products(Warp& w, const Uop* u, unsigned lane, std::uint32_t offset, unsigned bytes);
  void check_stores(Warp& w, const Uop* u, unsigned lane, std::uint32_t offset, unsigned bytes);

  Grid& grid_;
  Order& order_;
  std::uint32_t rank_ = 0;  // of the CTA in its cluster
  std::vector<WarpState> state_;
  Shadow shadow_;
  GlobalShadow::Part* part_ = nullptr;  // locked, for the accesses of one instruction
  bool muted_ = false;
  bool ticks_ = false;  // flags were set by this instruction: what comes next is later
  TensorMarks marks_;
  StoreMarks stores_;
  std::vector<std::pair<std::uint16_t, std::array<std::uint32_t, kLanes>>> poisoned_;  // rows to put back
  std::map<std::pair<std::string, std::uint32_t>, Finding> findings_;
  struct Race {
    std::array<std::uint32_t, 10> rank{};  // of two that say the same of other CTAs and lanes the lower one is told
    Finding finding;
  };
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t>, Race> races_;  // by what, and both instructions
  struct Unwritten {
    Party by;
    std::string place;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Unwritten> unwritten_;  // by shared offset and instruction
};

}  // namespace nervanagpu::sass::emulate
