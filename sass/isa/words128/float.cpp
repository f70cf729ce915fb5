// Words of 128 bits: single and double precision, special functions, conversions.
#include "sass/isa/rows/enums.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off: tables

constexpr Enum kFtzFmz[] = {{Tok::kNone, 0}, {Tok::FTZ, 2}, {Tok::FMZ, 1}};
constexpr Enum kScale[] = {{Tok::kNone, 4}, {Tok::D8, 1}, {Tok::D4, 2}, {Tok::D2, 3},
                           {Tok::M2, 5},    {Tok::M4, 6}, {Tok::M8, 7}};
constexpr Enum kMufu[] = {{Tok::COS, 0}, {Tok::SIN, 1},    {Tok::EX2, 2},    {Tok::LG2, 3},  {Tok::RCP, 4},
                          {Tok::RSQ, 5}, {Tok::RCP64H, 6}, {Tok::RSQ64H, 7}, {Tok::SQRT, 8}, {Tok::TANH, 9}};
constexpr Enum kMufuHalf[] = {{Tok::COS, 0}, {Tok::SIN, 1}, {Tok::EX2, 2},  {Tok::LG2, 3},
                              {Tok::RCP, 4}, {Tok::RSQ, 5}, {Tok::SQRT, 8}, {Tok::TANH, 9}};
constexpr Enum kMufuType[] = {{Tok::F16, 1}, {Tok::BF16, 2}};
constexpr Enum kCmpDouble[] = {{Tok::MIN, 0},  {Tok::LT, 1},   {Tok::EQ, 2},   {Tok::LE, 3},
                               {Tok::GT, 4},   {Tok::NE, 5},   {Tok::GE, 6},   {Tok::NUM, 7},
                               {Tok::kNAN, 8}, {Tok::LTU, 9},  {Tok::EQU, 10}, {Tok::LEU, 11},
                               {Tok::GTU, 12}, {Tok::NEU, 13}, {Tok::GEU, 14}, {Tok::MAX, 15}};
// Conversions. Float formats: 1 F16, 2 F32, 3 F64, 4 BF16; F32 is not written where it is the usual one.
constexpr Enum kFloat32[] = {{Tok::F16, 1}, {Tok::kNone, 2}, {Tok::BF16, 4}};
constexpr Enum kOldFloat32[] = {{Tok::F16, 1}, {Tok::kNone, 2}};
constexpr Enum kOnly32[] = {{Tok::kNone, 2}};
constexpr Enum kRoundInt[] = {{Tok::kNone, 0}, {Tok::FLOOR, 1}, {Tok::CEIL, 2}, {Tok::TRUNC, 3}};
constexpr Enum kInt8[] = {{Tok::U8, 0}, {Tok::S8, 1}};
constexpr Enum kInt16[] = {{Tok::U16, 2}, {Tok::S16, 3}};
constexpr Enum kInt32[] = {{Tok::U32, 4}, {Tok::kNone, 5}};
constexpr Enum kInt64[] = {{Tok::U64, 6}, {Tok::S64, 7}};
constexpr Enum kToInt[] = {{Tok::U8, 0}, {Tok::S8, 1}, {Tok::U16, 2}, {Tok::S16, 3}, {Tok::U32, 4}, {Tok::kNone, 5}};
constexpr Enum kBytePart[] = {{Tok::kNone, 0}, {Tok::B1, 1}, {Tok::B2, 2}, {Tok::B3, 3}};
constexpr Enum kHalfPart[] = {{Tok::kNone, 0}, {Tok::H1, 1}};
constexpr Enum kF16[] = {{Tok::F16, 1}};
constexpr Enum kF32[] = {{Tok::F32, 2}};
constexpr Enum kF64[] = {{Tok::F64, 3}};
constexpr Enum kBF16[] = {{Tok::BF16, 4}};
constexpr Enum kSmallFloat[] = {{Tok::F16, 1}, {Tok::BF16, 4}};

constexpr Enum kPackType[] = {{Tok::F16, 0}, {Tok::BF16, 1}};
constexpr Enum kOldPackType[] = {{Tok::kNone, 0}, {Tok::BF16, 1}};
constexpr Enum kPackRound[] = {{Tok::kNone, 0}, {Tok::RZ, 3}};
constexpr Enum kPackedRound[] = {{Tok::kNone, 0}, {Tok::RZ, 3}};
constexpr Enum kSign32[] = {{Tok::U32, 0}, {Tok::S32, 1}};
constexpr Enum kEightBit[] = {{Tok::E5M2, 4}, {Tok::E4M3, 5}};
constexpr Enum kEightBitFrom[] = {{Tok::E5M2, 0}, {Tok::E4M3, 1}};
constexpr Enum kHalfTo[] = {{Tok::F16, 0}, {Tok::BF16, 1}};
constexpr Enum kUpper[] = {{Tok::H1, 1}};
constexpr Enum kToSmall[] = {{Tok::U8, 0}, {Tok::S8, 1}, {Tok::U16, 2}, {Tok::S16, 3}};
constexpr Enum kRoundByte[] = {{Tok::kNone, 0}, {Tok::TRUNC, 3}};
constexpr Enum kMufu64[] = {{Tok::RCP64H, 6}, {Tok::RSQ64H, 7}};
constexpr Enum kFromU32[] = {{Tok::U32, 4}};
constexpr Enum kFromS32[] = {{Tok::kNone, 5}};

constexpr Mod kRound{Axis::kRound, bits(78, 2), kRound4};
constexpr Mod kFtz = flag<Tok::FTZ>(Axis::kFtz, 80);
constexpr Mod kSat = flag<Tok::SAT>(Axis::kSat, 77);
constexpr Mod kBool{Axis::kBool, bits(74, 2), kBoolOp};
constexpr Slot kD = gpr(16).def();
constexpr Slot kD64 = gpr(16).def().wide(Width::k2);
constexpr Slot kPd = pred(81).def();
constexpr Slot kPd2 = pred(84).def();
constexpr Slot kPs = pred(87).inv(90);
constexpr ImmFormat f32 = ImmFormat::kF32;
constexpr ImmFormat f64 = ImmFormat::kF64;
constexpr ImmFormat hex = ImmFormat::kHex;
constexpr Traits kAluPipe{.unit = Unit::kAlu};
constexpr Traits kXu{.unit = Unit::kXu, .ready = Ready::kScoreboard, .late = true};

constexpr Row reads_late(Row r) {
  for (Slot& s : r.slot_array) s.late = s.role == Role::kUse;
  return r;
}
// Rows of the slow unit: no reuse cache, sources read late.
constexpr Row slow(Row r) {
  for (Slot& s : r.slot_array) s.reuse_slot = Operand::kNoSlot;
  return reads_late(r);
}
constexpr Slot slow(Slot s) {
  s.late = s.role == Role::kUse;
  s.reuse_slot = Operand::kNoSlot;
  return s;
}

// Conversions to and from bfloat16 are younger than the row's other formats: a row for each age.
constexpr void add_by_age(RowList<512>& t, Row r) {
  for (std::size_t i = 0; i < r.mod_count; ++i) {
    Mod& m = r.mod_array[i];
    if (m.table.data() != kFloat32 && m.table.data() != kSmallFloat) continue;
    const ArchMask archs = r.archs;
    m.table = m.table.data() == kFloat32 ? std::span<const Enum>(kOldFloat32) : std::span<const Enum>(kF16);
    r.archs = kFromTuring;
    t.add(r);
    m.table = kBF16;
    r.archs = archs;
    t.add(r);
    return;
  }
  t.add(r);
}

constexpr void single(RowList<512>& t) {
  constexpr Traits fma{.unit = Unit::kFma};
  constexpr Traits alu_pipe{.unit = Unit::kAlu};
  constexpr Traits xu{.unit = Unit::kXu, .ready = Ready::kScoreboard, .late = true};
  const Mod ftz{Axis::kFtz, bits(76, 1, 80, 1), kFtzFmz};
  const Mod cmp{Axis::kCmp, bits(76, 4), kCmpFloat};
  const Slot a = src_a().neg(0).abs(0);
  const Slot b = src_b(f32).neg(0).abs(0);
  const Slot c = src_c(f32).neg(0).abs(0);
  alu(t, row(Op::FFMA, kFromTuring, {}, {ftz, kRound, kSat}, {kD, a, b, c}, fma), 0x023, "2468ace");
  alu(t, row(Op::FADD, kFromTuring, {}, {kFtz, kRound, kSat}, {kD, a, c}, fma), 0x021, "246e");
  alu(t, row(Op::FMUL, kFromTuring, {}, {ftz, {Axis::kScale, bits(84, 3), kScale}, kRound, kSat}, {kD, a, b}, fma),
      0x020, "28ac");
  alu(t,
      row(Op::FMNMX, kFromAmpere, {},
          {
              kFtz,
              flag<Tok::kNAN>(Axis::kMode, 81),
          },
          {kD, a, b, kPs}, alu_pipe),
      0x009, "28ac");
  // The sign of one factor times that of the other, of a product.
  alu(t,
      row(Op::FMNMX, kFromGA102, code128(0, {{82, 1, 1}}),
          {kFtz, flag<Tok::kNAN>(Axis::kMode, 81), always<Tok::XORSIGN>(Axis::kMode2)}, {kD, a, b, kPs}, alu_pipe),
      0x009, "28ac");
  alu(t, row(Op::FSEL, kFromTuring, {}, {kFtz}, {kD, a, b, kPs}, alu_pipe), 0x008, "28ac");
  alu(t, row(Op::FSET, kFromTuring, {}, {always<Tok::BF>(Axis::kPack), cmp, kFtz, kBool}, {kD, a, b, kPs}, alu_pipe),
      0x00a, "28ac");
  alu(t, row(Op::FSETP, kFromTuring, {}, {cmp, kFtz, kBool}, {kPd, kPd2, a, b, kPs}, alu_pipe), 0x00b, "28ac");
  RowList<32> x;
  alu(x, row(Op::FCHK, kFromTuring, {}, {}, {kPd, a, b}, xu), 0x102, "28ac");
  alu(x, row(Op::MUFU, kFromTuring, {}, {{Axis::kFunction, bits(74, 4), kMufu}}, {kD, b}, xu), 0x108, "2ac");
  alu(x, row(Op::MUFU, kFromTuring, {}, {{Axis::kFunction, bits(74, 4), kMufuHalf}}, {kD, b}, xu), 0x108, "8");
  alu(x,
      row(Op::MUFU, kHopper, {}, {{Axis::kFunction, bits(74, 4), kMufuHalf}, {Axis::kType, bits(72, 2), kMufuType}},
          {kD, b}, xu),
      0x108, "2");
  for (const Row& r : x.all()) t.add(slow(r));
}

// Before sm_90 scoreboards say when a double is there, and when its operands have been read.
constexpr void float64_operations(RowList<512>& t, ArchMask archs, Traits dbl) {
  dbl.unit = Unit::kDouble;
  const Slot a = src_a().neg(0).abs(0).wide(Width::k2);
  const Slot b = src_b(f64).neg(0).abs(0).wide(Width::k2);
  const Slot c = src_c(f64).neg(0).abs(0).wide(Width::k2);
  RowList<32> x;
  alu(x, row(Op::DADD, archs, {}, {kRound}, {kD64, a, c}, dbl), 0x029, "246e", {}, true);
  alu(x, row(Op::DMUL, archs, {}, {kRound}, {kD64, a, b}, dbl), 0x028, "28ac");
  alu(x, row(Op::DFMA, archs, {}, {kRound}, {kD64, a, b, c}, dbl), 0x02b, "2468ace");
  alu(x, row(Op::DSETP, archs, {}, {{Axis::kCmp, bits(76, 4), kCmpDouble}, kBool}, {kPd, kPd2, a, c, kPs}, dbl), 0x02a,
      "246e");
  for (const Row& r : x.all()) t.add(dbl.late ? reads_late(r) : r);
}

constexpr void conversions(RowList<512>& t) {
  constexpr Traits xu{.unit = Unit::kXu, .ready = Ready::kScoreboard, .late = true};
  constexpr Traits alu_pipe{.unit = Unit::kAlu};
  RowList<224> x;
  const Slot f = src_b(f32).neg(0).abs(0);
  const Slot d = src_b(f64).neg(0).abs(0).wide(Width::k2);
  const Slot i = src_b(ImmFormat::kHex);
  const Slot i64 = src_b(ImmFormat::kHex).wide(Width::k2);
  const Mod round_int{Axis::kRound, bits(78, 2), kRoundInt};
  const Mod ntz = flag<Tok::NTZ>(Axis::kMode, 77);
  const auto to_float = [](std::span<const Enum> e) { return Mod{Axis::kDstType, bits(75, 3), e}; };
  const auto from_float = [](std::span<const Enum> e) { return Mod{Axis::kSrcType, bits(84, 3), e}; };
  const auto from_int = [](std::span<const Enum> e) { return Mod{Axis::kSrcType, bits(74, 1, 84, 2), e}; };
  const auto to_int = [](std::span<const Enum> e) { return Mod{Axis::kDstType, bits(72, 1, 75, 2), e}; };
  const AluBits part{{72, 73, 74}, {63, 62, 60}, {75, 74, 81}};
  // Integer to float.
  alu(x, row(Op::I2F, kHopper, {}, {to_float(kFloat32), from_int(kInt8), kRound}, {kD, i.part({}, kBytePart)}, xu),
      0x106, "2ac", part);
  alu(x, row(Op::I2F, kHopper, {}, {to_float(kFloat32), from_int(kInt16), kRound}, {kD, i.part({}, kHalfPart)}, xu),
      0x106, "2ac", part);
  alu(x, row(Op::I2F, kHopper, {}, {to_float(kFloat32), from_int(kInt32), kRound}, {kD, i}, xu), 0x106, "2ac");
  alu(x, row(Op::I2F, kHopper, {}, {to_float(kFloat32), from_int(kInt64), kRound}, {kD, i64}, xu), 0x112, "2ac");
  alu(x, row(Op::I2F, kFromTuring, {}, {to_float(kF64), from_int(kInt8), kRound}, {kD64, i.part({}, kBytePart)}, xu),
      0x112, "2ac", part);
  alu(x, row(Op::I2F, kFromTuring, {}, {to_float(kF64), from_int(kInt16), kRound}, {kD64, i.part({}, kHalfPart)}, xu),
      0x112, "2ac", part);
  alu(x, row(Op::I2F, kFromTuring, {}, {to_float(kF64), from_int(kInt32), kRound}, {kD64, i}, xu), 0x112, "2ac");
  alu(x, row(Op::I2F, kFromTuring, {}, {to_float(kF64), from_int(kInt64), kRound}, {kD64, i64}, xu), 0x112, "2ac");
  // Float to integer.
  alu(x, row(Op::F2I, kFromTuring, {}, {kFtz, to_int(kToInt), from_float(kOnly32), round_int, ntz}, {kD, f}, xu), 0x105,
      "28ac");
  alu(x,
      row(Op::F2I, kHopper, {}, {kFtz, to_int(kToInt), from_float(kSmallFloat), round_int, ntz},
          {kD, f.part({}, kHalfPart)}, xu),
      0x105, "2ac", part);
  alu(x, row(Op::F2I, kFromTuring, {}, {kFtz, to_int(kToInt), from_float(kF64), round_int, ntz}, {kD, d}, xu), 0x111,
      "28ac");
  alu(x, row(Op::F2I, kFromTuring, {}, {kFtz, to_int(kInt64), from_float(kOnly32), round_int, ntz}, {kD64, f}, xu),
      0x111, "28ac");
  alu(x,
      row(Op::F2I, kHopper, {}, {kFtz, to_int(kInt64), from_float(kSmallFloat), round_int, ntz},
          {kD64, f.part({}, kHalfPart)}, xu),
      0x111, "2ac", part);
  alu(x, row(Op::F2I, kFromTuring, {}, {kFtz, to_int(kInt64), from_float(kF64), round_int, ntz}, {kD64, d}, xu), 0x111,
      "28ac");
  // Float to float.
  alu(x, row(Op::F2F, kFromAmpere, {}, {kFtz, to_float(kSmallFloat), from_float(kF32), kRound}, {kD, f}, xu), 0x104,
      "28ac");
  alu(x,
      row(Op::F2F, kHopper, {}, {kFtz, to_float(kF32), from_float(kSmallFloat), kRound}, {kD, f.part({}, kHalfPart)},
          xu),
      0x104, "2ac", part);
  alu(x, row(Op::F2F, kFromTuring, {}, {kFtz, to_float(kF64), from_float(kF32), kRound}, {kD64, f}, xu), 0x110, "28ac");
  alu(x,
      row(Op::F2F, kHopper, {}, {kFtz, to_float(kF64), from_float(kSmallFloat), kRound}, {kD64, f.part({}, kHalfPart)},
          xu),
      0x110, "2ac", part);
  alu(x, row(Op::F2F, kFromTuring, {}, {kFtz, to_float(kF32), from_float(kF64), kRound}, {kD, d}, xu), 0x110, "28ac");
  alu(x, row(Op::F2F, kHopper, {}, {kFtz, to_float(kSmallFloat), from_float(kF64), kRound}, {kD, d}, xu), 0x110, "2ac");
  // Rounding to an integral value: both format fields name the same format.
  const auto same = [](std::span<const Enum> e, unsigned) { return Mod{Axis::kSrcType, bits(84, 3), e}; };
  alu(x, row(Op::FRND, kFromTuring, code128(0, {{75, 3, 2}, {84, 3, 2}}), {kFtz, round_int}, {kD, f}, xu), 0x107,
      "28ac");
  alu(x,
      row(Op::FRND, kFromTuring, code128(0, {{75, 3, 1}}), {kFtz, same(kF16, 1), round_int},
          {kD, f.part({}, kHalfPart)}, xu),
      0x107, "2ac", part);
  alu(x,
      row(Op::FRND, kHopper, code128(0, {{75, 3, 4}}), {kFtz, same(kBF16, 4), round_int}, {kD, f.part({}, kHalfPart)},
          xu),
      0x107, "2ac", part);
  alu(x, row(Op::FRND, kFromTuring, code128(0, {{75, 3, 3}}), {kFtz, same(kF64, 3), round_int}, {kD64, d}, xu), 0x113,
      "28ac");
  for (const Row& r : x.all()) add_by_age(t, slow(r));
  RowList<8> between;  // the two small formats
  alu(between,
      row(Op::F2F, kHopper, {}, {kFtz, to_float(kBF16), from_float(kF16), kRound}, {kD, f.part({}, kHalfPart)}, xu),
      0x104, "2c", part);
  alu(between,
      row(Op::F2F, kHopper, {}, {kFtz, to_float(kF16), from_float(kBF16), kRound}, {kD, f.part({}, kHalfPart)}, xu),
      0x104, "2c", part);
  for (const Row& r : between.all()) t.add(slow(r));
  alu(t,
      row(Op::I2FP, kFromGA102, code128(0, {{76, 1, 1}, {85, 1, 1}}),
          {always<Tok::F32>(Axis::kDstType),
           {Axis::kSrcType, bits(74, 1), kSign32},
           {Axis::kRound, bits(78, 2), kPackedRound}},
          {kD, i}, alu_pipe),
      0x045, "2ac");
  alu(t,
      row(Op::F2FP, kFromAda, code128(0, {{64, 8, 255}}),
          {flag<Tok::RELU>(Axis::kSat, 75),
           {Axis::kDstType, bits(76, 1), kPackType},
           always<Tok::F32>(Axis::kSrcType),
           always<Tok::PACK_AB>(Axis::kPack),
           {Axis::kRound, bits(79, 2), kPackRound}},
          {kD, src_a(), src_b(f32)}, alu_pipe),
      0x03e, "28ac");
  // One half beside another that stays; ptxas has only the form with zero there. sm_80 and sm_86 do not write F32.
  for (const bool newer : {false, true}) {
    Row one = row(
        Op::F2FP, newer ? kFromAda : kFromAmpere & ~kFromAda, code128(0, {{24, 8, 255}, {78, 1, 1}}),
        {flag<Tok::RELU>(Axis::kSat, 75),
         {Axis::kDstType, bits(76, 1), newer ? std::span<const Enum>(kPackType) : std::span<const Enum>(kOldPackType)}},
        {kD, src_b(f32), gpr(64).reuse(2)}, alu_pipe);
    if (newer) one.mod_array[one.mod_count++] = always<Tok::F32>(Axis::kSrcType);
    one.mod_array[one.mod_count++] = always<Tok::MERGE_C>(Axis::kPack);
    one.mod_array[one.mod_count++] = {Axis::kRound, bits(79, 2), kPackRound};
    alu(t, one, 0x03e, "2ac");
  }
}

// Eight-bit floats, halves in either part of a register, and what takes numbers.
constexpr void small_types(RowList<512>& t) {
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
          {{Axis::kDstType, bits(76, 1), kInt8},
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
    t.add(row(Op::I2F, kFromTuring, code128(0x912), {{Axis::kDstType, bits(75, 3), kF64}, from, round},
              {kD.wide(Width::k2), value}, kXu));
  }
}

constexpr void quads(RowList<512>& t) {
  // Sums of a quad's lanes, each with signs of its own: derivatives.
  t.add(row(
      Op::FSWZADD, kFromTuring, code128(0x822),
      {flag<Tok::FTZ>(Axis::kFtz, 80), {Axis::kRound, bits(78, 2), kRound4}, flag<Tok::NDV>(Axis::kDivergent, 77)},
      {gpr(16).def(), gpr(24).reuse(0), gpr(64).reuse(2), imm(bits(32, 8), ImmFormat::kQuad)}, {.unit = Unit::kFma}));
}

// sm_75 .. sm_89 have fewer forms.
constexpr void older(RowList<512>& t) {
  alu(t,
      row(Op::F2FP, kAmpere & ~kFromAda, code128(0, {{64, 8, 255}}),
          {flag<Tok::RELU>(Axis::kSat, 75),
           {Axis::kDstType, bits(76, 1), kOldPackType},
           always<Tok::PACK_AB>(Axis::kPack),
           {Axis::kRound, bits(79, 2), kPackRound}},
          {gpr(16).def(), src_a(), src_b(ImmFormat::kF32)}, kAluPipe),
      0x03e, "28ac");
  alu(t,
      row(Op::FMNMX, kTuring, {}, {flag<Tok::FTZ>(Axis::kFtz, 80)},
          {gpr(16).def(), src_a().neg(0).abs(0), src_b(ImmFormat::kF32).neg(0).abs(0), pred(87).inv(90)}, kAluPipe),
      0x009, "28ac");
}

// clang-format on

constexpr auto build() {
  RowList<512> t;
  single(t);
  float64_operations(t, kTuringToAda, {.ready = Ready::kScoreboard, .late = true});
  float64_operations(t, kHopper, {.write_sb = true});
  conversions(t);
  small_types(t);
  quads(t);
  older(t);
  return t;
}

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows128_float() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
