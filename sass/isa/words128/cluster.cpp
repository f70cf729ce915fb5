// Words of 128 bits: mbarriers, clusters, warp specialisation, fences of the asynchronous engines.
//   SYNCS.EXCH.64    writes the 64 bits of an mbarrier (init)        SYNCS.CCTL.IV   forgets one (inval)
//   SYNCS.ARRIVE     .A1T0 one arrival; .A0T1 one byte; .ART0 Rb arrivals; .A0TR Rb bytes expected; .A0TX Rb bytes done;
//                    nothing: one arrival and Rb bytes expected. .RED has no result and reaches other CTAs, .OPTOUT
//                    leaves the barrier, .TMASK returns what a count of the warp's lanes needs
//   SYNCS.PHASECHK   true when the phase whose parity is bit 31 of Rb is over; .TRYWAIT waits a while for it
#include "sass/isa/rows/enums.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

constexpr Enum kCount[] = {{Tok::kNone, 0}, {Tok::A1T0, 1}, {Tok::A0T1, 2},
                           {Tok::A0TR, 3},  {Tok::A0TX, 4}, {Tok::ART0, 5}};
constexpr Enum kResult[] = {{Tok::kNone, 0}, {Tok::TMASK, 1}, {Tok::RED, 2}};
constexpr Enum kArrivals[] = {{Tok::ARVCNT, 1}, {Tok::TRANSCNT, 2}};
constexpr Enum kSize[] = {{Tok::kNone, 4}, {Tok::k64, 5}, {Tok::k128, 6}};
constexpr Enum kReduce[] = {{Tok::ADD, 0}, {Tok::MIN, 1}, {Tok::MAX, 2}, {Tok::INC, 3},
                            {Tok::DEC, 4}, {Tok::AND, 5}, {Tok::OR, 6},  {Tok::XOR, 7}};
constexpr Enum kReduceType[] = {{Tok::kNone, 0}, {Tok::S32, 1}, {Tok::k64, 2}};
constexpr Enum kFenced[] = {{Tok::S, 0}, {Tok::G, 1}};

constexpr Field kOffset = bits(40, 24);
constexpr Timing kBarrierQueue{.read_queue = ReadQueue::kMbarrier};
constexpr Traits kAsks{.unit = Unit::kMbarrier, .ready = Ready::kScoreboard, .late = true, .timing = kBarrierQueue};
constexpr Traits kArrives{
    .unit = Unit::kMbarrier, .ready = Ready::kScoreboard, .late = true, .publishes = true, .timing = kBarrierQueue};
constexpr Traits kPlain{.unit = Unit::kMbarrier, .late = true};
constexpr Traits kArrivesLater{.unit = Unit::kMbarrier, .late = true, .publishes = true};
constexpr Mod kTrans = always<Tok::TRANS64>(Axis::kMode);

constexpr Slot barrier() {
  return address(bits(24, 8), kOffset).uniform(bits(64, 6)).read_late();
}

constexpr void barriers(RowList<32>& t) {
  Row exchange = row(Op::SYNCS, kHopper, code128(0x5b2 | kU, {{72, 1, 1}}), {always<Tok::EXCH_64>(Axis::kFunction)},
                     {ugpr(16).def().wide(Width::k2), slot_of(SlotType::kAddr, kOffset).uniform(bits(24, 6)).negative(),
                      ugpr(32).wide(Width::k2).read_late()},
                     {.unit = Unit::kMbarrier,
                      .ready = Ready::kScoreboard,
                      .late = true,
                      .late_uniform = true,
                      .timing = kBarrierQueue});
  exchange.uniform_guard = true;
  t.add(exchange);
  t.add(row(Op::SYNCS, kHopper, code128(0x9a7 | kU),
            {always<Tok::ARRIVE>(Axis::kFunction),
             kTrans,
             {Axis::kMode2, bits(73, 2), kResult},
             flag<Tok::OPTOUT>(Axis::kCarryOut, 75),
             {Axis::kCount, bits(84, 3), kCount}},
            {gpr(16).def().wide(Width::k2), barrier(), gpr(32).read_late()}, kArrives));
  t.add(row(Op::SYNCS, kHopper, code128(0x5a7 | kU, {{70, 1, 1}}),
            {always<Tok::PHASECHK>(Axis::kFunction), kTrans, flag<Tok::TRYWAIT>(Axis::kMode2, 72)},
            {pred(81).def(), barrier(), gpr(32).read_late()}, kAsks));
  t.add(row(Op::SYNCS, kHopper, code128(0x9b1 | kU), {always<Tok::CCTL_IV>(Axis::kFunction)}, {barrier()},
            {.unit = Unit::kMbarrier, .late = true, .timing = kBarrierQueue}));
  // When the LDGSTS of the warp are done, arrive: .ARVCNT instead of an announced arrival, .TRANSCNT beside it.
  t.add(row(Op::ARRIVES, kHopper, code128(0x9b0 | kU, {{73, 1, 1}, {75, 1, 1}}),
            {always<Tok::LDGSTSBAR_64>(Axis::kFunction), {Axis::kCount, bits(70, 2), kArrivals}}, {barrier()},
            kArrivesLater));
  t.add(row(Op::ARRIVES, kAmpere, code128(0x9b0 | kU, {{73, 1, 1}, {75, 1, 1}}),
            {always<Tok::LDGSTSBAR_64>(Axis::kFunction)}, {barrier()}, kArrivesLater));
}

// Stores into the shared memory of a CTA of the cluster that count their bytes at an mbarrier there: the address pair is
// {target, mbarrier}.
constexpr void remote(RowList<32>& t) {
  const Slot where = address(bits(24, 8), kOffset).base(Width::k2, Tok::k64).read_late();
  const auto add = [&](Row r) {
    r.never = bits(24, 8).mask();  // no base register
    t.add(r);
  };
  add(row(Op::STAS, kHopper, code128(0xdbd | kU, {{64, 6, 63}, {90, 1, 1}}), {{Axis::kSize, bits(73, 3), kSize}},
          {where, gpr(32).wide(Width::kSize).read_late()}, kPlain));
  add(row(Op::REDAS, kHopper, code128(0xdbe | kU, {{64, 6, 63}, {72, 1, 1}}),
          {{Axis::kFunction, bits(87, 3), kReduce}, {Axis::kType, bits(73, 3), kReduceType}},
          {where, gpr(32).wide(Width::kType).read_late()}, kPlain));
}

constexpr void groups(RowList<32>& t) {
  constexpr Traits sync{.unit = Unit::kSync};
  const auto uniform = [&](Row r) {
    r.uniform_guard = true;
    t.add(r);
  };
  uniform(row(Op::UCGABAR_ARV, kHopper, code128(0x9c7 | kU), {}, {}, {.unit = Unit::kSync, .publishes = true}));
  uniform(row(Op::UCGABAR_WAIT, kHopper, code128(0xdc7 | kU), {}, {}, sync));
  const Mod pool = always<Tok::CTAPOOL>(Axis::kScope);
  uniform(row(Op::USETMAXREG, kHopper, code128(0x9c8 | kU, {{72, 1, 1}, {74, 1, 1}, {81, 3, 7}}),
              {always<Tok::DEALLOC>(Axis::kFunction), pool}, {imm(bits(32, 10))}, sync));
  uniform(row(Op::USETMAXREG, kHopper, code128(0x9c8 | kU, {{73, 1, 1}, {74, 1, 1}}),
              {always<Tok::TRY_ALLOC>(Axis::kFunction), pool}, {upred(81).def(), imm(bits(32, 10))},
              {.unit = Unit::kSync, .ready = Ready::kScoreboard}));
  constexpr Traits elect{.unit = Unit::kUniformToVector, .timing = {.result = Producer::kVoteUniform}};
  t.add(row(Op::ELECT, kHopper, code128(0x82f), {}, {pred(81).def(), ugpr(16).def(), pred(87).inv(90)}, elect));
  t.add(row(Op::ELECT, kHopper, code128(0x82f | kU), {}, {pred(81).def(), ugpr(16).def(), ugpr(24).inv(72)}, elect));
  t.add(row(Op::FENCE, kHopper, code128(0x3c6),
            {always<Tok::VIEW_ASYNC>(Axis::kMode), {Axis::kScope, bits(72, 1), kFenced}}, {},
            {.unit = Unit::kSync, .ready = Ready::kScoreboard, .timing = {.queue = Queue::kFence}}));
  // Back while a lane has not had its turn of an elected one.
  t.add(row(Op::BRA, kHopper, code128(0x947, {{32, 1, 1}, {84, 1, 1}}),
            {always<Tok::U>(Axis::kUniform), always<Tok::ANY>(Axis::kMode)},
            {pred(87).inv(90).omit(kPT), label(bits(16, 8, 34, 48), 2)},
            {.unit = Unit::kBranch, .ends = true, .branch = true}));
  t.add(row(Op::PREEXIT, kHopper, code128(0x82d), {}, {}, sync));
  t.add(row(Op::ACQBULK, kHopper, code128(0x82e), {}, {}, sync));
}

constexpr auto build() {
  RowList<32> t;
  barriers(t);
  remote(t);
  groups(t);
  return t;
}

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows128_cluster() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
