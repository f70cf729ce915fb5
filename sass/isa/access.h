// Which registers an instruction touches, and how: the common ground of schedule, verify and the checked emulator.
#pragma once

#include <cstdint>

#include "sass/isa/arch.h"
#include "sass/isa/inst.h"

namespace nervanagpu::sass {

// Where the instruction executes, as far as timing goes: the key of the latency tables.
enum class Unit : std::uint8_t {
  kFma,              // FFMA, FADD, FMUL, and IMAD where it runs on the FMA pipe
  kAlu,              // integer add, logic, shift, select, compare, min/max
  kImadWide,         // IMAD.WIDE, IMAD.HI: 64-bit products
  kHalf,             // HADD2, HMUL2, HFMA2
  kDouble,           // DADD, DMUL, DFMA, DSETP
  kXu,               // MUFU, conversions, POPC, FLO (in-order queue)
  kUniform,          // the uniform datapath
  kUniformToVector,  // R2UR and the like
  kMemShared,        // LDS, STS, SHFL, ATOMS (in-order queue)
  kMemGlobal,        // LDG, STG, ATOM, RED, LDGSTS
  kMemConst,         // LDC, ULDC
  kSpecial,          // S2R, S2UR, CS2R
  kBranch,           // BRA, EXIT, BSSY, BSYNC, ...
  kSync,             // BAR, MEMBAR, DEPBAR, WARPSYNC
  kTensor,           // HMMA, IMMA, DMMA, BMMA: a warp's products
  kGmma,             // HGMMA, IGMMA, QGMMA, BGMMA: a warpgroup's products, asynchronous
  kTma,              // UTMALDG, UTMASTG, UBLKCP, ...: the copy engine
  kMbarrier,         // SYNCS, ARRIVES, STAS, REDAS
  kNone,             // NOP
};

// How a result becomes readable.
enum class Ready : std::uint8_t {
  kFixed,       // after a known number of cycles
  kScoreboard,  // when its scoreboard was awaited
  // A product of the tensor engine: from issue until WARPGROUP.DEPBAR has awaited its group, the accumulators and the
  // registers of A belong to the engine. Only products with the same shape and accumulators may follow without a wait.
  kGroup,
};

// kOrder is no file of registers: 0 stands for the order of this thread's stores, 1 for what the asynchronous engines see
// of them. MEMBAR, FENCE.VIEW.ASYNC and what publishes to the engines read and write them (docs/engines.md).
enum class RegFile : std::uint8_t { kGpr, kUGpr, kPred, kUPred, kBarrier, kCc, kOrder };
inline constexpr unsigned kOrderOfStores = 0;
inline constexpr unsigned kViewOfEngines = 1;

struct Access {
  RegFile file = RegFile::kGpr;
  std::uint8_t first = 0;  // register number; RZ, URZ, PT and UPT never appear
  std::uint8_t count = 1;  // consecutive registers
  bool write = false;
  bool late = false;         // a source read after issue: needs the read scoreboard before it may be overwritten
  bool group = false;        // belongs to the tensor engine until WARPGROUP.DEPBAR, see Ready::kGroup
  bool guard = false;        // read as the guard predicate (or as a branch condition)
  bool carried = false;      // read only to be written back: R2P replaces the whole predicate file
  std::uint8_t operand = 0;  // index into Inst::operands(); 255 for the guard
};

struct Accesses {
  std::array<Access, 16> items;
  std::uint8_t count = 0;
  [[nodiscard]] const Access* begin() const { return items.data(); }
  [[nodiscard]] const Access* end() const { return items.data() + count; }
};

Accesses accesses(const Inst& inst);

// Traits of the row, for every form alike.
Unit unit(const Inst& inst);
Ready ready(const Inst& inst);      // kScoreboard: its results need a write scoreboard (or an in-order successor's)
bool reads_late(const Inst& inst);  // it has sources that need a read scoreboard
bool ends_block(const Inst& inst);  // BRA, EXIT, BRX, RET, SYNC, BRK ...: control may leave here
bool is_branch(const Inst& inst);   // has a label operand that control may go to

}  // namespace nervanagpu::sass
