// Words of 128 bits: integer arithmetic, logic, shifts, moves, compares and predicates.
#include "sass/isa/rows/enums.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off: tables

constexpr Enum kUnsigned[] = {{Tok::U32, 0}, {Tok::kNone, 1}};
constexpr Enum kShiftType[] = {{Tok::S64, 0}, {Tok::U64, 1}, {Tok::S32, 2}, {Tok::U32, 3}};
constexpr Enum kLeftRight[] = {{Tok::L, 0}, {Tok::R, 1}};
constexpr Enum kPermute[] = {{Tok::kNone, 0}, {Tok::F4E, 1}, {Tok::B4E, 2}, {Tok::RC8, 3},
                             {Tok::ECL, 4},   {Tok::ECR, 5}, {Tok::RC16, 6}};
constexpr Enum kVectorType[] = {{Tok::U32, 0}, {Tok::kNone, 1}, {Tok::U16x2, 2}, {Tok::S16x2, 3}};
constexpr Enum kPackTo[] = {{Tok::U8, 0}, {Tok::S8, 1}, {Tok::U16, 2}, {Tok::S16, 3}};
constexpr Enum kAlwaysSat[] = {{Tok::SAT, 0}};
constexpr Enum kPackSat[] = {{Tok::kNone, 0}, {Tok::SAT, 1}, {Tok::SATRELU, 2}};
constexpr Enum kByteSign[] = {{Tok::U8, 0}, {Tok::S8, 1}};
constexpr Enum kByteOf[] = {{Tok::kNone, 0}, {Tok::B1, 1}, {Tok::B2, 2}, {Tok::B3, 3}};
constexpr Enum kHalfSign[] = {{Tok::U16, 0}, {Tok::S16, 1}};
constexpr Enum k4Byte[] = {{Tok::k4A, 0}};
constexpr Enum k2Half[] = {{Tok::k2A_LO, 1}, {Tok::k2A_HI, 3}};
constexpr Enum kByteUnsigned[] = {{Tok::U8, 0}, {Tok::kNone, 1}};
constexpr Enum kSign[] = {{Tok::SIGN, 0}};

constexpr Slot kD = gpr(16).def();
constexpr Slot kD64 = gpr(16).def().wide(Width::k2);
constexpr Slot kPd = pred(81).def();
constexpr Slot kPs = pred(87).inv(90);
constexpr Slot kCarryOut = kPd.omit(kPT);
constexpr Slot kShift = imm(bits(75, 5));
constexpr ImmFormat hex = ImmFormat::kHex;
constexpr Traits kAluPipe{.unit = Unit::kAlu};
constexpr Traits kImadPipe{.unit = Unit::kFma};
constexpr Traits kWidePipe{.unit = Unit::kImadWide};
// An unused carry-in: !PT, which the text hides.
constexpr Word kNoCarry = code128(0, {{87, 4, 15}});

constexpr Row with(Row r, Alias alias) {
  r.alias = alias;
  return r;
}

// Rows of the slow unit: no reuse cache, sources read late.
constexpr Row slow(Row r) {
  for (Slot& s : r.slot_array) {
    s.reuse_slot = Operand::kNoSlot;
    s.late = s.role == Role::kUse;
  }
  return r;
}

constexpr void arithmetic(RowList<320>& t) {
  const Slot out1 = pred(81).def().omit(kPT, Show::kWithNext);
  const Slot out2 = pred(84).def().omit(kPT);
  const Mod x = always<Tok::X>(Axis::kExtended);
  const Mod u32{Axis::kSigned, bits(73, 1), kUnsigned};
  alu(t,
      row(Op::IADD3, kFromTuring, kNoCarry | code128(0, {{77, 4, 15}}), {},
          {kD, out1, out2, src_a().neg(0), src_b().neg(0), src_c().neg(0)}, kAluPipe),
      0x010, "28ac");
  alu(t,
      row(Op::IADD3, kFromTuring, code128(0, {{74, 1, 1}}), {x},
          {kD, out1, out2, src_a().inv(0), src_b().inv(0), src_c().inv(0), kPs, pred(77).inv(80)}, kAluPipe),
      0x010, "28ac");
  alu(t,
      with(row(Op::IMAD, kFromTuring, kNoCarry | code128(0, {{81, 3, 7}}), {u32},
               {kD, src_a(), src_b(), src_c().neg(0)}, kImadPipe),
           Alias::kImad),
      0x024, "2468ace");
  alu(t,
      row(Op::IMAD, kFromTuring, code128(0, {{81, 3, 7}, {74, 1, 1}}), {u32, x},
          {kD, src_a(), src_b(), src_c().inv(0), kPs}, kImadPipe),
      0x024, "2468ace");
  const Slot wide_c = src_c().wide(Width::k2);
  alu(t,
      row(Op::IMAD_WIDE, kFromTuring, kNoCarry, {u32}, {kD64, kCarryOut, src_a(), src_b(), wide_c.neg(0)}, kWidePipe),
      0x025, "268ace");
  alu(t,
      row(Op::IMAD_WIDE, kFromTuring, code128(0, {{74, 1, 1}}), {u32, x},
          {kD64, kCarryOut, src_a(), src_b(), wide_c.inv(0), kPs}, kWidePipe),
      0x025, "268ace");
  alu(t, row(Op::IMAD_HI, kFromTuring, kNoCarry, {u32}, {kD, kCarryOut, src_a(), src_b(), wide_c.neg(0)}, kWidePipe),
      0x027, "268ace");
  alu(t,
      row(Op::IMAD_HI, kFromTuring, code128(0, {{74, 1, 1}}), {u32, x},
          {kD, kCarryOut, src_a(), src_b(), wide_c.inv(0), kPs}, kWidePipe),
      0x027, "268ace");
  alu(t, row(Op::IABS, kFromTuring, {}, {}, {kD, src_b()}, kAluPipe), 0x013, "28ac");
  alu(t,
      row(Op::VIADD, kHopper, {}, {flag<Tok::k16x2>(Axis::kType, 73)}, {kD, src_a(), src_b(hex).neg(0)},
          {.unit = Unit::kAlu, .timing = {.result = Producer::kFma, .source = Consumer::kFma}}),
      0x036, "28ac");
  alu(t,
      row(Op::VIMNMX, kHopper, code128(0, {{81, 3, 7}, {84, 3, 7}}),
          {{Axis::kSigned, bits(72, 2), kVectorType}, flag<Tok::RELU>(Axis::kSat, 76)}, {kD, src_a(), src_b(), kPs},
          kAluPipe),
      0x048, "28ac");
  const Mod lanes{Axis::kSigned, bits(72, 2), kVectorType};
  const Mod relu = flag<Tok::RELU>(Axis::kSat, 76);
  const Slot b_hex = src_b(hex);
  const Slot c_hex = src_c(hex);
  alu(t, row(Op::VIADDMNMX, kHopper, {}, {lanes, relu}, {kD, src_a(), b_hex.neg(0), c_hex, kPs}, kAluPipe), 0x046,
      "28c");
  alu(t, row(Op::VIADDMNMX, kHopper, {}, {lanes, relu}, {kD, src_a(), b_hex, c_hex, kPs}, kAluPipe), 0x046, "e");
  alu(t, row(Op::VIADDMNMX, kHopper, {}, {lanes, relu}, {kD, src_a(), b_hex.neg(0), c_hex, kPs}, kAluPipe), 0x046, "4");
  alu(t, row(Op::VIMNMX3, kHopper, {}, {lanes, relu}, {kD, src_a(), b_hex, c_hex, kPs}, kAluPipe), 0x00f, "28c");
  for (const bool saturates : {false, true}) {  // which sm_90 can leave
    alu(t,
        row(Op::I2IP, saturates ? kTuringToAda : kHopper, {},
            {{Axis::kDstType, bits(76, 2), kPackTo},
             always<Tok::S32>(Axis::kSrcType),
             {Axis::kSat, bits(74, 2),
              saturates ? std::span<const Enum>(kAlwaysSat) : std::span<const Enum>(kPackSat)}},
            {kD, src_a(), src_b(hex), src_c()}, kAluPipe),
        0x039, "2c");
  }
  alu(t, row(Op::IMNMX, kFromTuring, {}, {u32}, {kD, src_a(), src_b(), kPs}, kAluPipe), 0x017, "28ac");
  const Mod sign_a{Axis::kSigned, bits(73, 1), kByteSign};
  const Mod sign_a2{Axis::kSigned, bits(73, 1), kHalfSign};
  const Mod sign_b{Axis::kSigned2, bits(74, 1), kByteSign};
  alu(t,
      row(Op::IDP, kFromTuring, {}, {{Axis::kMode, bits(76, 2), k4Byte}, sign_a, sign_b},
          {kD, src_a(), src_b(hex), src_c().neg(0)}, kImadPipe),
      0x026, "2ac");
  alu(t,
      row(Op::IDP, kFromTuring, {}, {{Axis::kMode, bits(76, 2), k2Half}, sign_a2, sign_b},
          {kD, src_a(), src_b(hex), src_c().neg(0)}, kImadPipe),
      0x026, "2ac");
}

constexpr void logic(RowList<320>& t) {
  const Mod x = always<Tok::X>(Axis::kExtended);
  const Mod hi = always<Tok::HI>(Axis::kHigh);
  const Mod sx = always<Tok::SX32>(Axis::kMode);
  const Slot an = src_a().neg(0);
  const Slot bn = src_b(hex).neg(0);
  const Slot ai = src_a().inv(0);
  const Slot bi = src_b(hex).inv(0);
  const Word high = code128(0, {{80, 1, 1}});
  const Word ext = code128(0, {{74, 1, 1}});
  const Word sext = code128(0, {{73, 1, 1}});
  const Word no_c = code128(0, {{64, 8, 255}});
  alu(t, row(Op::LEA, kFromTuring, kNoCarry | no_c, {}, {kD, kCarryOut, an, bn, kShift}, kAluPipe), 0x011, "28ac");
  alu(t, row(Op::LEA, kFromTuring, ext | no_c, {x}, {kD, kCarryOut, ai, bi, kShift, kPs}, kAluPipe), 0x011, "28ac");
  alu(t, row(Op::LEA, kFromTuring, kNoCarry | high, {hi}, {kD, kCarryOut, an, bn, src_c(), kShift}, kAluPipe), 0x011,
      "28ac");
  alu(t, row(Op::LEA, kFromTuring, ext | high, {hi, x}, {kD, kCarryOut, ai, bi, src_c(), kShift, kPs}, kAluPipe), 0x011,
      "28ac");
  alu(t, row(Op::LEA, kFromTuring, kNoCarry | high | sext | no_c, {hi, sx}, {kD, kCarryOut, an, bn, kShift}, kAluPipe),
      0x011, "28ac");
  alu(t,
      row(Op::LEA, kFromTuring, ext | high | sext | no_c, {hi, x, sx}, {kD, kCarryOut, ai, bi, kShift, kPs}, kAluPipe),
      0x011, "28ac");
  alu(t,
      row(Op::LOP3, kFromTuring, {}, {always<Tok::LUT>(Axis::kLogic), flag<Tok::PAND>(Axis::kBool, 80)},
          {kCarryOut, kD, src_a(), src_b(hex), src_c(), imm(bits(72, 8)), kPs}, kAluPipe),
      0x012, "28ac");
  const Mod direction{Axis::kDirection, bits(76, 1), kLeftRight};
  alu(t,
      row(Op::SHF, kFromTuring, {},
          {direction,
           flag<Tok::W>(Axis::kWrap, 75),
           {Axis::kType, bits(73, 2), kShiftType},
           flag<Tok::HI>(Axis::kHigh, 80)},
          {kD, src_a(), src_b(hex), src_c(hex)}, kAluPipe),
      0x019, "2468ace");
  alu(t,
      row(Op::PRMT, kFromTuring, {}, {{Axis::kMode, bits(72, 3), kPermute}}, {kD, src_a(), src_b(hex), src_c(hex)},
          kAluPipe),
      0x016, "2468ace");
  alu(t, row(Op::SEL, kFromTuring, {}, {}, {kD, src_a(), src_b(hex), kPs}, kAluPipe), 0x007, "28ac");
  alu(t, row(Op::BMSK, kFromTuring, {}, {flag<Tok::W>(Axis::kWrap, 75)}, {kD, src_a(), src_b(hex)}, kAluPipe), 0x01b,
      "28ac");
  alu(t,
      row(Op::SGXT, kFromTuring, {}, {flag<Tok::W>(Axis::kWrap, 75), {Axis::kSigned, bits(73, 1), kUnsigned}},
          {kD, src_a(), src_b(hex)}, kAluPipe),
      0x01a, "28ac");
  // MOV writes only the bytes of its mask, which ptxas leaves at 0xf; the text hides that value.
  alu(t, row(Op::MOV, kFromTuring, {}, {}, {kD, src_b(hex), imm(bits(72, 4)).omit(15)}, kAluPipe), 0x002, "28ac");
  constexpr Traits xu{.unit = Unit::kXu, .ready = Ready::kScoreboard, .late = true};
  RowList<16> q;
  alu(q, row(Op::BREV, kFromTuring, {}, {}, {kD, src_b(hex)}, xu), 0x101, "28ac");
  alu(q,
      row(Op::FLO, kFromTuring, {}, {{Axis::kSigned, bits(73, 1), kUnsigned}, flag<Tok::SH>(Axis::kMode, 74)},
          {kD, kCarryOut, src_b(hex).inv(0)}, xu),
      0x100, "28ac");
  alu(q, row(Op::POPC, kFromTuring, {}, {}, {kD, src_b(hex).inv(0)}, xu), 0x109, "28ac");
  for (const Row& r : q.all()) t.add(slow(r));
}

constexpr void compares(RowList<320>& t) {
  const Mod cmp{Axis::kCmp, bits(76, 3), kCmpInt};
  const Mod u32{Axis::kSigned, bits(73, 1), kUnsigned};
  const Mod combine{Axis::kBool, bits(74, 2), kBoolOp};
  alu(t,
      row(Op::ISETP, kFromTuring, code128(0, {{68, 3, 7}}), {cmp, u32, combine},
          {kPd, pred(84).def(), src_a(), src_b(), kPs}, kAluPipe),
      0x00c, "28ac");
  alu(t,
      row(Op::ISETP, kFromAmpere, code128(0, {{72, 1, 1}}), {cmp, u32, combine, always<Tok::EX>(Axis::kExtended)},
          {kPd, pred(84).def(), src_a(), src_b(), kPs, pred(68).inv(71)}, kAluPipe),
      0x00c, "28ac");
  const Mod lut = always<Tok::LUT>(Axis::kLogic);
  const Slot table = imm(bits(64, 3, 72, 5));
  const Slot table2 = imm(bits(16, 8));
  t.add(row(Op::PLOP3, kFromTuring, code128(0x81c), {lut},
            {kPd, pred(84).def(), kPs, pred(77).inv(80), pred(68).inv(71), table, table2}, kAluPipe));
  t.add(row(Op::PLOP3, kFromTuring, code128(0x81c, {{67, 1, 1}}), {lut},
            {kPd, pred(84).def(), kPs, pred(77).inv(80), upred(68).inv(71), table, table2}, kAluPipe));
  const Mod part{Axis::kMode, bits(76, 2), kByteOf};
  alu(t,
      row(Op::P2R, kHopper, {}, {part}, {kD, word("PR"), src_a(), src_b(hex)},
          {.unit = Unit::kAlu, .timing = {.result = Producer::kPredToVector}}),
      0x003, "28ac");
  alu(t,
      row(Op::R2P, kFromTuring, {}, {}, {word("PR").def(), src_a().part({}, kByteOf), src_b(hex)},
          {.unit = Unit::kAlu, .timing = {.predicate = Producer::kPredFile}}),
      0x004, "28ac", {{72, 73, 76}, {63, 62, 60}, {75, 74, 81}});
}

// Absolute differences, also of packed bytes, and signs as predicates.
constexpr void differences_and_signs(RowList<320>& t) {
  const Slot out = kPd.omit(kPT);
  alu(t,
      row(Op::VABSDIFF, kFromTuring, {}, {{Axis::kSigned, bits(73, 1), kUnsigned}},
          {kD, out, src_a(), src_b(hex), src_c(hex)}, kAluPipe),
      0x014, "2468ace");
  alu(t,
      row(Op::VABSDIFF4, kFromTuring, {},
          {{Axis::kSigned, bits(73, 1), kByteUnsigned}, flag<Tok::ACC>(Axis::kMode, 75)},
          {kD, out, src_a(), src_b(hex), src_c(hex)}, kAluPipe),
      0x015, "2468ace");
  const auto sign = [](unsigned at, unsigned reuse) {
    Slot s = gpr(at).reuse(reuse);
    s.sub_table = kSign;
    return s;
  };
  t.add(row(Op::PLOP3, kFromTuring, code128(0x21f), {always<Tok::LUT>(Axis::kLogic)},
            {kPd, pred(84).def(), sign(24, 0), sign(32, 1), sign(64, 2), imm(bits(72, 8)), imm(bits(16, 8))},
            kAluPipe));
  Slot uniform_sign = ugpr(32);
  uniform_sign.sub_table = kSign;
  Slot constant_sign = constant(bits(40, 14), 2, bits(54, 5)).negative();
  constant_sign.sub_table = kSign;
  for (const auto& [code, second] : {std::pair{0xc1f | kU, uniform_sign}, std::pair{0xa1fu, constant_sign}}) {
    t.add(row(Op::PLOP3, kFromTuring, code128(code), {always<Tok::LUT>(Axis::kLogic)},
              {kPd, pred(84).def(), sign(24, 0), second, sign(64, 2), imm(bits(72, 8)), imm(bits(16, 8))}, kAluPipe));
  }
}

// sm_75 .. sm_89, and what sm_75 writes in another way.
constexpr void older(RowList<320>& t) {
  alu(t,
      row(Op::P2R, kTuringToAda, {}, {{Axis::kMode, bits(76, 2), kByteOf}},
          {gpr(16).def(), word("PR"), src_a(), src_b()},
          {.unit = Unit::kAlu, .timing = {.result = Producer::kPredToVector}}),
      0x003, "28ac");
  alu(t,
      row(Op::ISETP, kTuring, code128(0, {{72, 1, 1}}),
          {{Axis::kCmp, bits(76, 3), kCmpInt},
           {Axis::kSigned, bits(73, 1), kUnsigned},
           {Axis::kBool, bits(74, 2), kBoolOp},
           always<Tok::EX>(Axis::kExtended)},
          {pred(81).def(), pred(84).def(), src_a(), src_b(), pred(87).inv(90), pred(68).inv(71).omit(kPT)}, kAluPipe),
      0x00c, "28ac");
  // Without .EX a third predicate is written where it is not PT.
  Row third = row(Op::ISETP, kTuring, {},
                  {{Axis::kCmp, bits(76, 3), kCmpInt},
                   {Axis::kSigned, bits(73, 1), kUnsigned},
                   {Axis::kBool, bits(74, 2), kBoolOp}},
                  {pred(81).def(), pred(84).def(), src_a(), src_b(), pred(87).inv(90), pred(68).inv(71)}, kAluPipe);
  third.never = bits(68, 3).mask();
  alu(t, third, 0x00c, "28ac");
}

// clang-format on

constexpr auto build() {
  RowList<320> t;
  arithmetic(t);
  logic(t);
  compares(t);
  differences_and_signs(t);
  older(t);
  return t;
}

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows128_integer() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
