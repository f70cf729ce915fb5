// The state of a running grid: what handlers see.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sass/emulate/emulate.h"
#include "sass/emulate/memory/arena.h"
#include "sass/emulate/uop/uop.h"

namespace nervanagpu::sass::emulate {

inline constexpr unsigned kLanes = 32;
inline constexpr std::uint32_t kAllLanes = 0xffffffffu;
inline constexpr std::uint32_t kPoison = 0x7ff1dead;  // what a value read too early, or out of bounds, becomes
inline constexpr unsigned kNamedBarriers = 16;

// Generic addresses whose upper halves are these lie in shared and in local memory.
inline constexpr std::uint64_t kSharedWindow = 0x7d00'0000'0000;
inline constexpr std::uint64_t kLocalWindow = 0x7e00'0000'0000;
inline constexpr std::uint64_t kParamWindow = 0x7f00'0000'0000;  // the parameters, read only

// Absolute code addresses: of the kernel's first instruction, and of functions that only a driver has, 16 bytes each.
inline constexpr std::uint64_t kCodeWindow = 0x7b00'0000'0000;
inline constexpr std::uint64_t kExternalWindow = 0x7c00'0000'0000;

// The variables of c[0x3], read only: c[0x0][0xd0] says where they are.
inline constexpr std::uint64_t kConstantWindow = 0x7f80'0000'0000;

// sm_50 .. sm_62: 16 MiB each of the lowest 4 GiB; and addresses of code have 32 bits.
inline constexpr std::uint32_t kSharedWindow32 = 0x100'0000;
inline constexpr std::uint32_t kLocalWindow32 = 0x200'0000;
inline constexpr std::uint32_t kCodeWindow32 = 0x7b00'0000;
inline constexpr std::uint32_t kExternalWindow32 = 0x7c00'0000;

// What an access does.
enum class Intent : std::uint8_t { kLoad, kStore, kAtomic, kAsyncStore };

class Checker;
struct Grid;
struct Cta;
struct Cluster;     // cluster.h
struct TensorUnit;  // tensor_unit.h

// Lanes of a warp that are at the same place. A warp starts as one group; a divergent branch splits it, and groups
// join again where they wait for each other, or when they come to the same instruction.
struct Group {
  enum class State : std::uint8_t { kReady, kAtSync, kAtWarpSync, kAtBarrier, kAtToken, kAtCluster };
  std::uint32_t mask = 0;
  std::uint32_t pc = 0;  // instruction index; while waiting that of the waiting instruction
  State state = State::kReady;
  std::uint8_t barrier = 0;    // kAtSync: B0..B15; kAtBarrier: named barrier
  std::uint32_t wanted = 0;    // kAtSync, kAtWarpSync: lanes that take part
  std::uint32_t token = 0;     // top of its convergence stack; kAtToken: the token where it waits
  std::uint32_t mbarrier = 0;  // of the last SYNCS.PHASECHK that was false: its address and what it waited for
  bool parity = false;
  std::uint32_t registers = 0;  // of the last USETMAXREG.TRY_ALLOC that was refused: what it asked for
  bool released = false;        // by BSYNC or WARPSYNC, and has not run since
};

// An entry of the convergence stack of sm_50 .. sm_62: SSY, PBK, PCNT and CAL push one, SYNC, BRK, CONT and RET wait at
// theirs until all its lanes have come, and all go on at its target. Entries form a tree: groups that split share what
// lies below. Entry 0 is the bottom.
struct Token {
  enum class Kind : std::uint8_t { kFree, kSync, kBreak, kContinue, kReturn };
  Kind kind = Kind::kFree;
  std::uint32_t mask = 0;    // lanes that have not left it
  std::uint32_t target = 0;  // instruction index
  std::uint32_t below = 0;
};

enum class Stop : std::uint8_t {
  kNone,
  kYield,        // the group could go on (time slice, NANOSLEEP, YIELD)
  kQuantumOver,  // the group goes on where it is in the next quantum
  kBlocked,      // the group waits, or has split or ended: pick another
  kFault,
};

struct alignas(64) Warp {
  std::uint32_t* file = nullptr;  // rows of 32 lanes
  std::uint32_t active = 0;       // lanes of the running group
  std::uint32_t exec = 0;         // those that execute the current instruction
  std::array<std::uint32_t, preds::kCount> pred{};
  std::array<std::uint32_t, uregs::kCount> ureg{};
  const Uop* code = nullptr;
  const std::byte* constants = nullptr;  // c[0], c[2]
  std::byte* shared = nullptr;           // host byte of shared address `shared_base`
  std::uint32_t shared_base = 0;
  std::uint32_t shared_bytes = 0;
  Machine::Impl* memory = nullptr;
  Cta* cta = nullptr;
  Checker* checker = nullptr;  // checked mode only
  Stop stop = Stop::kNone;
  std::uint32_t slice = 0;    // backward branches left in this time slice
  std::uint32_t quantum = 0;  // instructions left in this quantum; 0: without end
  const Uop* mark = nullptr;  // instructions are counted from here
  std::uint64_t instructions = 0;
  std::uint64_t counted = 0;   // of these, in Grid::executed
  std::uint32_t overtime = 0;  // time slices used up after a finding

  std::uint32_t live = 0;       // lanes that have not exited
  std::uint32_t index = 0;      // number of the warp in its CTA
  std::uint32_t turn = 0;       // for fairness between groups
  std::uint32_t current = 0;    // the running group
  std::uint32_t by_chance = 0;  // lanes that joined others at the same instruction, not at BSYNC or WARPSYNC
  bool rotate = false;          // the last group yielded: let another one go first
  std::vector<Group> groups;
  std::array<std::array<std::uint32_t, kLanes>, 16> convergence{};  // B0..B15 of each lane: who takes part
  std::byte* local = nullptr;                                       // local memory, `local_bytes` a lane
  std::uint32_t local_bytes = 0;
  bool stacked = false;                      // sm_50 .. sm_62: groups only join where a token says so
  std::vector<Token> tokens;                 // of these
  std::uint32_t barrier_result = 0;          // of BAR.RED
  bool polls = false;                        // the last quantum ended at an mbarrier whose phase was not over
  bool comes_again = false;                  // checked mode: the instruction that ran last has yet to do something
  std::uint32_t cluster_owed = 0;            // lanes that arrived at the cluster barrier and have not waited
  std::uint32_t registers = 0;               // a thread's
  std::uint64_t cluster_phase = 0;           // the completed cluster barriers that they wait for
  std::array<std::uint32_t, 2> described{};  // what cx[UR] named in this instruction
  alignas(64) std::array<std::array<std::uint32_t, kLanes>, 12> scratch{};

  [[nodiscard]] std::uint32_t* row(std::uint16_t r) const { return file + std::size_t{r} * kLanes; }
};

enum BarReduce : std::uint8_t { kBarPopc, kBarAnd, kBarOr };

// The position of an instruction in its kernel.
inline std::uint32_t index_of(const Warp& w, const Uop* u) {
  return static_cast<std::uint32_t>(u - w.code);
}

struct NamedBarrier {
  std::uint32_t expected = 0;                   // threads; 0: all of the CTA
  bool counted = false;                         // this phase has an explicit count
  std::uint32_t arrived_warps = 0;              // bit per warp
  std::array<std::uint32_t, kLanes> arrived{};  // lanes of each warp
  std::uint32_t red_count = 0;                  // BAR.RED: lanes whose predicate was true, false
  std::uint32_t red_false = 0;
  BarReduce red_kind = kBarPopc;
  std::uint32_t where = 0;  // instruction of the first arrival
};

struct Cta {
  Grid* grid = nullptr;
  std::array<std::uint32_t, 3> id{};
  std::vector<Warp> warps;
  std::vector<std::uint32_t> files;  // registers of all warps
  std::vector<std::byte> shared;
  std::vector<std::byte> local;
  std::array<NamedBarrier, kNamedBarriers> barriers{};
  std::uint32_t pending = 0;             // bit per named barrier with arrivals
  std::uint64_t clock = 0;               // instructions so far, for CLOCK
  std::vector<std::uint32_t> mbarriers;  // shared addresses of those initialised
  std::uint64_t progress = 0;            // changes of mbarriers so far
  std::shared_ptr<TensorUnit> tensor;    // made when first used
  Cluster* cluster = nullptr;
  std::uint32_t free_registers = 0;                     // of a thread of a warp, given up by USETMAXREG
  std::uint32_t rank = 0;                               // in the cluster
  std::array<std::uint32_t, kLanes> cluster_arrived{};  // lanes of each warp, at the cluster barrier
  Checker* checker = nullptr;                           // checked mode only
  // Checked mode, of accesses from other CTAs: the cluster barrier that is past the last one, and who made it where.
  std::uint64_t touched_until = 0;
  std::uint32_t touched_pc = 0;
  const Warp* touched_by = nullptr;
};

// Sets the fault of the grid (the first one wins) and stops the group: `return fault(w, u, lane, "...")`. lane 32: the
// instruction as a whole.
const Uop* fault(Warp& w, const Uop* u, unsigned lane, const std::string& what);

inline constexpr std::uint32_t kSlice = 4096;  // backward branches that a group takes before others run

// Groups of lanes: groups.cpp.
void split(Warp& w, std::uint32_t lanes, std::uint32_t pc);  // puts `lanes` of the running group aside, to go on at pc
// The lanes Warp::exec stay the running group. Whether it has others: they are put aside, to go on past pc.
bool split_others(Warp& w, std::uint32_t pc);
const Uop* leave(Warp& w, const Uop* u, std::uint32_t pc, Stop why);  // the running group stops, to go on at pc
const Uop* jump(Warp& w, const Uop* u, std::uint32_t target);  // the lanes Warp::exec go to target, others to u + 1
// Counts an instruction, after which *u is the next; nullptr: the quantum is over.
inline const Uop* count_quantum(Warp& w, const Uop* u) {
  if (u == nullptr || --w.quantum != 0) return u;
  return leave(w, u - 1, static_cast<std::uint32_t>(u - w.code), Stop::kQuantumOver);
}

}  // namespace nervanagpu::sass::emulate
