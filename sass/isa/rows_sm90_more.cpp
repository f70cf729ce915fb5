// sm_90a: what is rare in kernels: eight-bit floats, packed differences, address spaces, signs as predicates, cache control.
#include "sass/isa/enums.h"
#include "sass/isa/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off: tables

constexpr Enum kUnsigned[] = {{Tok::U32, 0}, {Tok::kNone, 1}};
constexpr Enum kByteSign[] = {{Tok::U8, 0}, {Tok::kNone, 1}};
constexpr Enum kSpaces[] = {{Tok::G, 0}, {Tok::L, 1}, {Tok::S, 2}, {Tok::D, 3}};
constexpr Enum kIndexScale[] = {{Tok::kNone, 0}, {Tok::X4, 1}, {Tok::X8, 2}, {Tok::X16, 3}};
constexpr Enum kL2Op[] = {{Tok::PML2, 1}, {Tok::DML2, 2}, {Tok::RML2, 3}};
constexpr Enum kCacheWhich[] = {{Tok::kNone, 0}, {Tok::U, 1}, {Tok::C, 2}, {Tok::I, 3}};
constexpr Enum kEightBit[] = {{Tok::E5M2, 4}, {Tok::E4M3, 5}};
constexpr Enum kEightBitFrom[] = {{Tok::E5M2, 0}, {Tok::E4M3, 1}};
constexpr Enum kHalfTo[] = {{Tok::F16, 0}, {Tok::BF16, 1}};
constexpr Enum kHalfPart[] = {{Tok::kNone, 0}, {Tok::H1, 1}};
constexpr Enum kUpper[] = {{Tok::H1, 1}};
constexpr Enum kSign[] = {{Tok::SIGN, 0}};
constexpr Enum kPackRound[] = {{Tok::kNone, 0}, {Tok::RZ, 3}};
constexpr Enum kToByte[] = {{Tok::U8, 0}, {Tok::S8, 1}};
constexpr Enum kToSmall[] = {{Tok::U8, 0}, {Tok::S8, 1}, {Tok::U16, 2}, {Tok::S16, 3}};
constexpr Enum kCacheOp[] = {{Tok::PF1, 0}, {Tok::PF2, 1}, {Tok::WB, 2}, {Tok::IV, 3}, {Tok::RS, 5}};
constexpr Enum kRoundByte[] = {{Tok::kNone, 0}, {Tok::TRUNC, 3}};
constexpr Enum kReduceBar[] = {{Tok::RED_POPC, 0}, {Tok::RED_AND, 1}, {Tok::RED_OR, 2}};
constexpr Enum kMufuHalf[] = {{Tok::COS, 0}, {Tok::SIN, 1}, {Tok::EX2, 2},  {Tok::LG2, 3},
                              {Tok::RCP, 4}, {Tok::RSQ, 5}, {Tok::SQRT, 8}, {Tok::TANH, 9}};
constexpr Enum kMufuType[] = {{Tok::F16, 1}, {Tok::BF16, 2}};
constexpr Enum kMufu64[] = {{Tok::RCP64H, 6}, {Tok::RSQ64H, 7}};
constexpr Enum kFromU32[] = {{Tok::U32, 4}};
constexpr Enum kFromS32[] = {{Tok::kNone, 5}};
constexpr Enum kFloat32[] = {{Tok::F16, 1}, {Tok::kNone, 2}, {Tok::BF16, 4}};
constexpr Enum kOnlyF64[] = {{Tok::F64, 3}};

constexpr Slot kD = gpr(16).def();
constexpr Slot kPd = pred(81).def();
constexpr Slot kPs = pred(87).inv(90);
constexpr ImmFormat hex = ImmFormat::kHex;
constexpr Traits kAluPipe{.unit = Unit::kAlu};
constexpr Traits kXu{.unit = Unit::kXu, .ready = Ready::kScoreboard, .late = true};

// The slow unit: no reuse cache, sources read late.
constexpr Slot slow(Slot s) {
  s.late = s.role == Role::kUse;
  s.reuse_slot = Operand::kNoSlot;
  return s;
}

constexpr void conversions(RowList<128>& t) {
  const Mod finite = flag<Tok::SATFINITE>(Axis::kCmp, 77);
  const Mod relu = flag<Tok::RELU>(Axis::kSat, 75);
  const Mod to8{Axis::kDstType, bits(76, 1, 86, 2), kEightBit};
  Slot merged = gpr(64).reuse(2);
  merged.sub = bits(72, 1);
  merged.sub_table = kHalfPart;
  const AluBits at{{72, 73, 74}, {63, 62, 60}, {75, 74, 81}};
  alu(t,
      row(Op::F2FP, kFromAda, code128(0, {{78, 1, 1}, {90, 1, 1}}),
          {finite, relu, to8, always<Tok::F32>(Axis::kSrcType), always<Tok::PACK_AB_MERGE_C>(Axis::kPack)},
          {kD, src_a(), src_b(ImmFormat::kF32), merged}, kAluPipe),
      0x03e, "28ac", at);
  alu(t,
      row(Op::F2FP, kFromAda, code128(0, {{24, 8, 255}, {73, 1, 1}, {90, 1, 1}}),
          {finite, relu, to8, always<Tok::F16>(Axis::kSrcType), always<Tok::UNPACK_B_MERGE_C>(Axis::kPack)},
          {kD, src_b(hex), merged}, kAluPipe),
      0x03e, "2", at);
  const Slot half_b = [] {
    Slot s = gpr(32).reuse(1);
    s.sub = bits(88, 1);
    s.sub_table = kHalfPart;
    return s;
  }();
  t.add(row(Op::F2FP, kFromAda, code128(0x23e, {{24, 8, 255}, {64, 8, 255}, {74, 1, 1}, {89, 1, 1}}),
            {relu,
             {Axis::kDstType, bits(76, 1), kHalfTo},
             {Axis::kSrcType, bits(73, 1), kEightBitFrom},
             always<Tok::UNPACK_B>(Axis::kPack)},
            {kD, half_b}, kAluPipe));
  t.add(row(Op::F2FP, kFromAda,
            code128(0x23e, {{24, 8, 255}, {64, 8, 255}, {76, 1, 1}, {78, 1, 1}, {86, 1, 1}, {89, 1, 1}}),
            {relu,
             always<Tok::TF32>(Axis::kDstType),
             always<Tok::F32>(Axis::kSrcType),
             always<Tok::PACK_B>(Axis::kPack),
             {Axis::kRound, bits(79, 2), kPackRound}},
            {kD, gpr(32).reuse(1)}, kAluPipe));
  alu(t,
      row(Op::F2IP, kFromGA102, {},
          {{Axis::kDstType, bits(76, 1), kToByte},
           always<Tok::F32>(Axis::kSrcType),
           {Axis::kRound, bits(78, 2), kRoundByte},
           flag<Tok::NTZ>(Axis::kMode, 74),
           flag<Tok::RELU>(Axis::kSat, 75)},
          {kD, src_a(), src_b(ImmFormat::kF32), src_c()}, kAluPipe),
      0x043, "2ac");
  RowList<8> narrowing;
  alu(narrowing,
      row(Op::I2I, kFromTuring, {},
          {{Axis::kDstType, bits(76, 2), kToSmall}, always<Tok::S32>(Axis::kSrcType), always<Tok::SAT>(Axis::kSat)},
          {kD, src_b()}, kAluPipe),
      0x038, "28ac");
  for (Row r : narrowing.all()) {
    r.slot_array[1].reuse_slot = Operand::kNoSlot;
    t.add(r);
  }
  // Halves in the upper part of the source; reciprocals of the upper word of a double, of a constant.
  Slot upper = slow(gpr(32).neg(63).abs(62));
  upper.sub = bits(60, 2);
  upper.sub_table = kUpper;
  t.add(row(Op::MUFU, kHopper, code128(0x308),
            {{Axis::kFunction, bits(74, 4), kMufuHalf}, {Axis::kType, bits(72, 2), kMufuType}}, {kD, upper}, kXu));
  Slot uniform_upper = slow(ugpr(32).neg(63).abs(62));
  uniform_upper.sub = bits(60, 2);
  uniform_upper.sub_table = kHalfPart;
  t.add(row(Op::MUFU, kHopper, code128(0xd08 | kU),
            {{Axis::kFunction, bits(74, 4), kMufuHalf}, {Axis::kType, bits(72, 2), kMufuType}}, {kD, uniform_upper},
            kXu));
  // sm_75 .. sm_89 have halves alone, in either part.
  Slot either = upper;
  either.sub_table = kHalfPart;
  t.add(row(Op::MUFU, kTuringToAda, code128(0x308, {{73, 1, 1}}),
            {{Axis::kFunction, bits(74, 4), kMufuHalf}, always<Tok::F16>(Axis::kType)}, {kD, either}, kXu));
  t.add(row(Op::MUFU, kFromTuring, code128(0x908), {{Axis::kFunction, bits(74, 4), kMufu64}},
            {kD, imm(bits(32, 32), ImmFormat::kF64)}, kXu));
  const Mod round{Axis::kRound, bits(78, 2), kRound4};
  for (const bool is_signed : {false, true}) {
    const Mod from{Axis::kSrcType, bits(74, 1, 84, 2),
                   is_signed ? std::span<const Enum>(kFromS32) : std::span<const Enum>(kFromU32)};
    const Slot value = imm(bits(32, 32), is_signed ? ImmFormat::kSigned : hex);
    t.add(row(Op::I2F, kHopper, code128(0x906), {{Axis::kDstType, bits(75, 3), kFloat32}, from, round}, {kD, value},
              kXu));
    t.add(row(Op::I2F, kTuringToAda, code128(0x906),
              {{Axis::kDstType, bits(75, 3), std::span<const Enum>(kFloat32).first(2)}, from, round}, {kD, value},
              kXu));
    t.add(row(Op::I2F, kFromTuring, code128(0x912), {{Axis::kDstType, bits(75, 3), kOnlyF64}, from, round},
              {kD.wide(Width::k2), value}, kXu));
  }
}

constexpr void integers(RowList<128>& t) {
  const Slot out = kPd.omit(kPT);
  alu(t,
      row(Op::VABSDIFF, kFromTuring, {}, {{Axis::kSigned, bits(73, 1), kUnsigned}},
          {kD, out, src_a(), src_b(hex), src_c(hex)}, kAluPipe),
      0x014, "2468ace");
  alu(t,
      row(Op::VABSDIFF4, kFromTuring, {}, {{Axis::kSigned, bits(73, 1), kByteSign}, flag<Tok::ACC>(Axis::kMode, 75)},
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

constexpr void memory(RowList<128>& t) {
  constexpr Traits shared{.unit = Unit::kMemShared, .ready = Ready::kScoreboard, .late = true};
  constexpr Traits global{.unit = Unit::kMemGlobal, .ready = Ready::kScoreboard, .late = true};
  constexpr Traits cctl{.unit = Unit::kMemGlobal, .late = true};
  Slot counter = address(bits(24, 8), bits(40, 24)).read_late().uniform(bits(64, 6)).part(bits(78, 2), kIndexScale);
  t.add(row(Op::ATOMS, kHopper, code128(0xf8c | kU, {{87, 4, 11}}),
            {always<Tok::POPC_INC>(Axis::kFunction), always<Tok::k32>(Axis::kType)}, {kD, counter}, shared));
  t.add(row(Op::ATOMS, kAmpere, code128(0xf8c | kU, {{87, 4, 10}}),
            {always<Tok::POPC_INC>(Axis::kFunction), always<Tok::k32>(Axis::kType)}, {kD, counter}, shared));
  const Slot address64 = address(bits(24, 8), bits(40, 24)).base(Width::k2).read_late();
  const Slot address32 = address(bits(24, 8), bits(40, 24)).read_late();
  t.add(row(Op::CCTLL, kFromTuring, code128(0x990), {{Axis::kFunction, bits(87, 3), kCacheOp}}, {address32}, cctl));
  const Mod space{Axis::kMode, bits(73, 2), kSpaces};
  t.add(row(Op::QSPC, kHopper, code128(0x3aa, {{72, 1, 1}}), {always<Tok::E>(Axis::kWide), space}, {kPd, kD, address64},
            global));
  t.add(row(Op::QSPC, kHopper, code128(0x3aa), {space}, {kPd, kD, address32}, global));
  Slot offset =
      address(bits(24, 8), bits(40, 24)).base(Width::k1, Tok::U32).read_late().uniform(bits(32, 6), Width::k2);
  offset.base_always = true;
  t.add(row(Op::QSPC, kHopper, code128(0x9aa | kU, {{72, 1, 1}}), {always<Tok::E>(Axis::kWide), space},
            {kPd, kD, offset}, global));
  t.add(
      row(Op::CCTL, kFromAmpere, code128(0x98f, {{72, 1, 1}, {90, 1, 1}}),
          {always<Tok::E>(Axis::kWide), {Axis::kMode, bits(78, 3), kCacheWhich}, {Axis::kFunction, bits(87, 3), kL2Op}},
          {address(bits(24, 8), bits(32, 32)).base(Width::k2).read_late()}, cctl));
}

constexpr void flow(RowList<128>& t) {
  constexpr Traits sync{
      .unit = Unit::kSync, .late = true, .publishes = true, .timing = {.read_queue = ReadQueue::kBarrier}};
  const Mod defer = flag<Tok::DEFER_BLOCKING>(Axis::kDefer, 80);
  const Slot both = gpr(32).read_late();  // barrier in the low half of the register, threads in the high one
  t.add(row(Op::BAR, kFromTuring, code128(0x31d), {always<Tok::SYNC>(Axis::kFunction), defer}, {both, same_as_first()},
            sync));
  t.add(row(Op::BAR, kFromTuring, code128(0x31d, {{77, 1, 1}}), {always<Tok::ARV>(Axis::kFunction)},
            {both, same_as_first()}, sync));
  t.add(row(Op::BAR, kFromTuring, code128(0x31d, {{78, 1, 1}}), {{Axis::kFunction, bits(74, 2), kReduceBar}, defer},
            {both, same_as_first(), kPs}, sync));
  constexpr Field kTarget = bits(16, 8, 34, 48);
  const Slot p = kPs.omit(kPT);
  t.add(row(Op::WARPSYNC, kHopper, code128(0x948, {{86, 1, 1}}),
            {always<Tok::COLLECTIVE>(Axis::kMode), always<Tok::ALL>(Axis::kMode2)}, {p, label(kTarget, 2)},
            {.unit = Unit::kBranch}));
  t.add(row(Op::CALL, kHopper, code128(0x943), {always<Tok::ABS>(Axis::kWide), flag<Tok::NOINC>(Axis::kMode, 86)},
            {p, imm(bits(16, 8, 34, 47)).scaled(2)}, {.unit = Unit::kBranch, .ends = true}));
}

// clang-format on

constexpr auto build() {
  RowList<128> t;
  conversions(t);
  integers(t);
  memory(t);
  flow(t);
  return t;
}

constexpr auto kRows = build();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows_sm90_more() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
