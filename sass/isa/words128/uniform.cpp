// Words of 128 bits: the uniform datapath, and the ways between it and the vector registers.
#include "sass/isa/rows/enums.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off: tables

constexpr Enum kUnsigned[] = {{Tok::U32, 0}, {Tok::kNone, 1}};
constexpr Enum kShiftType[] = {{Tok::S64, 0}, {Tok::U64, 1}, {Tok::S32, 2}, {Tok::U32, 3}};
constexpr Enum kLeftRight[] = {{Tok::L, 0}, {Tok::R, 1}};
constexpr Enum kVote[] = {{Tok::ALL, 0}, {Tok::ANY, 1}, {Tok::EQ, 2}};
constexpr Enum kReduce[] = {{Tok::kNone, 0}, {Tok::OR, 1}, {Tok::XOR, 2}, {Tok::SUM, 3}, {Tok::MIN, 4}, {Tok::MAX, 5}};
constexpr Enum kReduceSign[] = {{Tok::kNone, 0}, {Tok::S32, 1}};
constexpr Enum kByteOf[] = {{Tok::kNone, 0}, {Tok::B1, 1}, {Tok::B2, 2}, {Tok::B3, 3}};

constexpr ImmFormat hex = ImmFormat::kHex;
constexpr Slot kD = ugpr(16).def();
constexpr Slot kD64 = ugpr(16).def().wide(Width::k2);
constexpr Slot kPd = upred(81).def();
constexpr Slot kPs = upred(87).inv(90);
constexpr Slot kCarryOut = kPd.omit(kPT);
constexpr Slot kShift = imm(bits(75, 5));
constexpr Traits kUdp{.unit = Unit::kUniform};
constexpr Traits kMove{.unit = Unit::kUniform,
                       .timing = {.result = Producer::kUniformMove, .uniform_source = Consumer::kUniformMove}};
constexpr Word kNoCarry = code128(0, {{87, 4, 15}});

// Forms of the uniform datapath, all with bit 91: 2 A B C registers, 8 A imm C, 4 A C imm.
template <std::size_t N>
constexpr void ualu(RowList<N>& list, const Row& proto, unsigned base, std::string_view forms) {
  for (const char form : forms) {
    Row r = proto;
    r.uniform_guard = true;
    r.fixed = r.fixed | code128((static_cast<unsigned>(form - '0') << 8 | base) | kU);
    const bool swapped = form == '4';
    for (std::size_t i = 0; i < r.slot_count; ++i) {
      Slot& s = r.slot_array[i];
      const Slot logical = s;
      const AluBits at{};
      const auto at_b = [&] {
        return form == '2' ? place(logical, ugpr(32), at.b, 1) : imm(bits(32, 32), logical.format);
      };
      if (s.type == SlotType::kSrcA) s = place(logical, ugpr(24), at.a, 0);
      if (s.type == SlotType::kSrcB) s = swapped ? place(logical, ugpr(64), at.c, 2) : at_b();
      if (s.type == SlotType::kSrcC) s = swapped ? at_b() : place(logical, ugpr(64), at.c, 2);
    }
    list.add(r);
  }
}

constexpr void arithmetic(RowList<112>& t) {
  const Slot out1 = upred(81).def().omit(kPT, Show::kWithNext);
  const Slot out2 = upred(84).def().omit(kPT);
  const Mod x = always<Tok::X>(Axis::kExtended);
  const Mod u32{Axis::kSigned, bits(73, 1), kUnsigned};
  const Word ext = code128(0, {{74, 1, 1}});
  const Word high = code128(0, {{80, 1, 1}});
  const Word sext = code128(0, {{73, 1, 1}});
  const Word no_c = code128(0, {{64, 6, 63}});
  const Slot an = src_a().neg(0);
  const Slot bn = src_b().neg(0);
  const Slot ai = src_a().inv(0);
  const Slot bi = src_b().inv(0);
  ualu(t,
       row(Op::UIADD3, kFromTuring, kNoCarry | code128(0, {{77, 4, 15}}), {}, {kD, out1, out2, an, bn, src_c().neg(0)},
           kUdp),
       0x090, "28");
  ualu(t,
       row(Op::UIADD3, kFromTuring, ext, {x}, {kD, out1, out2, ai, bi, src_c().inv(0), kPs, upred(77).inv(80)}, kUdp),
       0x090, "28");
  // Of register pairs.
  const Mod pairs = always<Tok::k64>(Axis::kSize);
  const auto two = [](const Slot& s) { return s.wide(Width::k2); };
  ualu(t,
       row(Op::UIADD3, kHopper, kNoCarry | code128(0, {{77, 4, 15}}), {pairs},
           {kD64, out1, out2, two(an), two(bn), two(src_c().neg(0))}, kUdp),
       0x097, "28");
  ualu(t,
       row(Op::UIADD3, kHopper, ext, {pairs, x},
           {kD64, out1, out2, two(ai), two(bi), two(src_c().inv(0)), kPs, upred(77).inv(80)}, kUdp),
       0x097, "28");
  ualu(t,
       row(Op::UIMAD, kFromTuring, kNoCarry | code128(0, {{81, 3, 7}}), {u32}, {kD, src_a(), src_b(), src_c().neg(0)},
           kUdp),
       0x0a4, "248");
  const Slot wide_c = src_c().wide(Width::k2);
  ualu(t, row(Op::UIMAD_WIDE, kFromTuring, kNoCarry, {u32}, {kD64, kCarryOut, src_a(), src_b(), wide_c.neg(0)}, kUdp),
       0x0a5, "28");
  const Slot bnh = src_b(hex).neg(0);
  const Slot bih = src_b(hex).inv(0);
  const Mod hi = always<Tok::HI>(Axis::kHigh);
  const Mod sx = always<Tok::SX32>(Axis::kMode);
  ualu(t, row(Op::ULEA, kFromTuring, kNoCarry | no_c, {}, {kD, kCarryOut, an, bnh, kShift}, kUdp), 0x091, "28");
  ualu(t, row(Op::ULEA, kFromTuring, ext | no_c, {x}, {kD, kCarryOut, ai, bih, kShift, kPs}, kUdp), 0x091, "28");
  ualu(t, row(Op::ULEA, kFromTuring, kNoCarry | high, {hi}, {kD, kCarryOut, an, bnh, src_c(), kShift}, kUdp), 0x091,
       "28");
  ualu(t, row(Op::ULEA, kFromTuring, ext | high, {hi, x}, {kD, kCarryOut, ai, bih, src_c(), kShift, kPs}, kUdp), 0x091,
       "28");
  ualu(t, row(Op::ULEA, kFromTuring, kNoCarry | high | sext | no_c, {hi, sx}, {kD, kCarryOut, an, bnh, kShift}, kUdp),
       0x091, "28");
  ualu(t,
       row(Op::ULEA, kFromTuring, ext | high | sext | no_c, {hi, x, sx}, {kD, kCarryOut, ai, bih, kShift, kPs}, kUdp),
       0x091, "28");
  ualu(t,
       row(Op::ULOP3, kFromTuring, {}, {always<Tok::LUT>(Axis::kLogic)},
           {kCarryOut, kD, src_a(), src_b(hex), src_c(), imm(bits(72, 8)), kPs}, kUdp),
       0x092, "28");
  ualu(t,
       row(Op::USHF, kFromTuring, {},
           {{Axis::kDirection, bits(76, 1), kLeftRight},
            flag<Tok::W>(Axis::kWrap, 75),
            {Axis::kType, bits(73, 2), kShiftType},
            flag<Tok::HI>(Axis::kHigh, 80)},
           {kD, src_a(), src_b(hex), src_c(hex)}, kUdp),
       0x099, "248");
  ualu(t, row(Op::UPRMT, kFromTuring, {}, {}, {kD, src_a(), src_b(hex), src_c()}, kUdp), 0x096, "28");
  ualu(t, row(Op::USEL, kFromTuring, {}, {}, {kD, src_a(), src_b(hex), kPs}, kUdp), 0x087, "28");
  ualu(t, row(Op::UBMSK, kFromTuring, {}, {flag<Tok::W>(Axis::kWrap, 75)}, {kD, src_a(), src_b(hex)}, kUdp), 0x09b,
       "28");
  ualu(t, row(Op::USGXT, kFromTuring, {}, {flag<Tok::W>(Axis::kWrap, 75), u32}, {kD, src_a(), src_b(hex)}, kUdp), 0x09a,
       "28");
  ualu(t,
       row(Op::UFLO, kFromTuring, {}, {u32, flag<Tok::SH>(Axis::kMode, 74)}, {kD, kCarryOut, src_b(hex).inv(0)}, kUdp),
       0x0bd, "28");
  ualu(t, row(Op::UPOPC, kFromTuring, {}, {}, {kD, src_b(hex).inv(0)}, kUdp), 0x0bf, "28");
  ualu(t, row(Op::UBREV, kFromTuring, {}, {}, {kD, src_b(hex)}, kUdp), 0x0be, "28");
}

constexpr void compares(RowList<112>& t) {
  const Mod cmp{Axis::kCmp, bits(76, 3), kCmpInt};
  const Mod u32{Axis::kSigned, bits(73, 1), kUnsigned};
  const Mod combine{Axis::kBool, bits(74, 2), kBoolOp};
  ualu(t,
       row(Op::UISETP, kFromTuring, code128(0, {{68, 3, 7}}), {cmp, u32, combine},
           {kPd, upred(84).def(), src_a(), src_b(), kPs}, kUdp),
       0x08c, "28");
  ualu(t,
       row(Op::UISETP, kFromTuring, code128(0, {{72, 1, 1}}), {cmp, u32, combine, always<Tok::EX>(Axis::kExtended)},
           {kPd, upred(84).def(), src_a(), src_b(), kPs, upred(68).inv(71)}, kUdp),
       0x08c, "28");
  const auto uniform = [&](Row r) {
    r.uniform_guard = true;
    t.add(r);
  };
  uniform(
      row(Op::UPLOP3, kFromTuring, code128(0x89c), {always<Tok::LUT>(Axis::kLogic)},
          {kPd, upred(84).def(), kPs, upred(77).inv(80), upred(68).inv(71), imm(bits(64, 3, 72, 5)), imm(bits(16, 8))},
          kUdp));
  uniform(row(Op::UMOV, kFromTuring, code128(0x882), {}, {kD, imm(bits(32, 32))}, kMove));
  uniform(row(Op::UMOV, kFromTuring, code128(0xc82 | kU), {}, {kD, ugpr(32)}, kMove));
  uniform(row(Op::UP2UR, kFromTuring, code128(0x883 | kU), {{Axis::kMode, bits(76, 2), kByteOf}},
              {kD, word("UPR"), ugpr(24), imm(bits(32, 32))}, kUdp));
}

constexpr void bridges(RowList<112>& t) {
  const Slot p = pred(87).inv(90);
  constexpr Traits cross{
      .unit = Unit::kUniformToVector,
      .write_sb = true,
      .timing = {.predicate = Producer::kVectorToPred, .predicate_source = Consumer::kPredicateMore}};
  constexpr Traits vote{.unit = Unit::kUniformToVector,
                        .write_sb = true,
                        .timing = {.result = Producer::kVoteUniform,
                                   .predicate = Producer::kVoteUniform,
                                   .predicate_source = Consumer::kGuard,
                                   .uniform = true}};
  constexpr Traits reduce{
      .unit = Unit::kUniformToVector,
      .ready = Ready::kScoreboard,
      .late = true,
      .timing = {.source = Consumer::kReduce, .queue = Queue::kRedux, .read_queue = ReadQueue::kReduce}};
  t.add(row(Op::R2UR, kHopper, code128(0x2ca), {}, {pred(81).def().omit(kPT), kD, gpr(24).reuse(0)}, cross));
  t.add(row(Op::R2UR, kHopper, code128(0x2ca, {{84, 1, 1}}), {always<Tok::OR>(Axis::kFunction)},
            {pred(81).both(), kD, gpr(24).reuse(0)}, cross));
  t.add(row(Op::VOTEU, kFromTuring, code128(0x886), {{Axis::kFunction, bits(72, 2), kVote}},
            {kD.omit(kURZ), upred(81).def(), p}, vote));
  t.add(row(Op::REDUX, kFromAmpere, code128(0x3c4),
            {{Axis::kFunction, bits(78, 3), kReduce}, {Axis::kType, bits(73, 1), kReduceSign}},
            {kD, gpr(24).read_late()}, reduce));
}

constexpr void wide_products(RowList<112>& t) {
  Row wide = row(Op::UIMAD_WIDE, kFromTuring, code128(0x2a5 | kU, {{74, 1, 1}}),
                 {{Axis::kSigned, bits(73, 1), kUnsigned}, always<Tok::X>(Axis::kExtended)},
                 {ugpr(16).def().wide(Width::k2), upred(81).def().omit(kPT), ugpr(24), ugpr(32),
                  ugpr(64).wide(Width::k2).inv(75), upred(87).inv(90)},
                 {.unit = Unit::kUniform});
  wide.uniform_guard = true;
  t.add(wide);
  wide.fixed = code128(0x8a5 | kU, {{74, 1, 1}});
  wide.slot_array[3] = imm(bits(32, 32), ImmFormat::kSigned);
  t.add(wide);
}

constexpr void older_bridges(RowList<112>& t) {
  constexpr Traits cross{
      .unit = Unit::kUniformToVector,
      .write_sb = true,
      .timing = {.predicate = Producer::kVectorToPred, .predicate_source = Consumer::kPredicateMore}};
  t.add(row(Op::R2UR, kTuringToAda, code128(0x3c2), {}, {pred(81).def().omit(kPT), ugpr(16).def(), gpr(24)}, cross));
  t.add(row(Op::R2UR, kTuringToAda, code128(0x3c2, {{84, 1, 1}}), {always<Tok::OR>(Axis::kFunction)},
            {pred(81).both(), ugpr(16).def(), gpr(24)}, cross));
}

// clang-format on

constexpr auto build() {
  RowList<112> t;
  arithmetic(t);
  compares(t);
  bridges(t);
  wide_products(t);
  older_bridges(t);
  return t;
}

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows128_uniform() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
