// Words of 64 bits: integer arithmetic, logic, shifts, moves and compares.
#include "sass/isa/rows/rowdsl64.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off
constexpr Enum kXmadType[]  = {{Tok::kNone, 0}, {Tok::S16_U16, 1}, {Tok::U16_S16, 2}, {Tok::S16_S16, 3}};
constexpr Enum kXmadTypeU[] = {{Tok::kNone, 0}, {Tok::S16_U16, 1}};
constexpr Enum kXmadTypeS[] = {{Tok::U16_S16, 2}, {Tok::S16_S16, 3}};
constexpr Enum kXmadMode[]  = {{Tok::kNone, 0}, {Tok::CLO, 1}, {Tok::CHI, 2}, {Tok::CSFU, 3}, {Tok::CBCC, 4}};
constexpr Enum kXmadModeC[] = {{Tok::kNone, 0}, {Tok::CLO, 1}, {Tok::CHI, 2}, {Tok::CSFU, 3}};
constexpr Enum kPart3[]     = {{Tok::kNone, 0}, {Tok::H0, 1}, {Tok::H1, 2}};
constexpr Enum kShift3[]    = {{Tok::kNone, 0}, {Tok::RS, 1}, {Tok::LS, 2}};
constexpr Enum kMulType[]   = {{Tok::U32_U32, 0}, {Tok::S32_U32, 1}, {Tok::U32_S32, 2}, {Tok::kNone, 3}};
constexpr Enum kMinMaxX[]   = {{Tok::kNone, 0}, {Tok::XLO, 1}, {Tok::XMED, 2}, {Tok::XHI, 3}};
constexpr Enum kLogic[]     = {{Tok::AND, 0}, {Tok::OR, 1}, {Tok::XOR, 2}, {Tok::PASS_B, 3}};
constexpr Enum kTest[]      = {{Tok::kNone, 0}, {Tok::T, 1}, {Tok::Z, 2}, {Tok::NZ, 3}};
constexpr Enum kShrX[]      = {{Tok::kNone, 0}, {Tok::X, 2}, {Tok::XHI, 3}};
constexpr Enum kShfType[]   = {{Tok::kNone, 0}, {Tok::U64, 2}, {Tok::S64, 3}};
constexpr Enum kShfPart[]   = {{Tok::kNone, 0}, {Tok::HI, 1}, {Tok::X, 2}, {Tok::XHI, 3}};
constexpr Enum kPermute[]   = {{Tok::kNone, 0}, {Tok::F4E, 1}, {Tok::B4E, 2}, {Tok::RC8, 3}, {Tok::ECL, 4}, {Tok::ECR, 5}, {Tok::RC16, 6}};

constexpr Enum kByteSign[]  = {{Tok::U8, 0}, {Tok::S8, 1}};
constexpr Enum kHalfSign[]  = {{Tok::U16, 0}, {Tok::S16, 1}};
constexpr Enum kHalves2[]   = {{Tok::k2A_LO, 0}, {Tok::k2A_HI, 1}};

constexpr auto build() {
  RowList<192> t;
  constexpr ImmFormat hex = ImmFormat::kHex;
  constexpr ImmFormat dec = ImmFormat::kSigned;
  constexpr Traits alu{.unit = Unit::kAlu};
  constexpr Traits dot{.unit = Unit::kAlu, .timing = {.result = Producer::kFma, .source = Consumer::kFma}};
  constexpr Traits fma{.unit = Unit::kFma};
  constexpr Traits xu{.unit = Unit::kXu, .ready = Ready::kScoreboard, .late = true};
  constexpr Word sign48 = bit_range(48, 2);
  constexpr Word sign51 = bit_range(51, 2);

  const Mod u32 = flag<Tok::U32, 0>(Axis::kSigned, 48);
  const Mod sat50 = flag<Tok::SAT>(Axis::kSat, 50);
  const Mod x43 = flag<Tok::X>(Axis::kExtended, 43);
  const Mod cmp49{Axis::kCmp, bits(49, 3), kCmpInt64};
  const Mod combine{Axis::kBool, bits(45, 2), kBool64};
  const Mod po = always<Tok::PO>(Axis::kMode2);  // plus one: what both signs together mean
  const Slot flag_out = pred(48).def().omit(kPT);

  // XMAD: 16 x 16 + 32 bits, the building block of every product.
  const Mod xtype{Axis::kType, bits(48, 2), kXmadType};
  const Mod xmode{Axis::kMode, bits(50, 3), kXmadMode};
  const Mod xmode_c{Axis::kMode, bits(50, 2), kXmadModeC};
  const Slot xa = ra().part(bits(53, 1), kHalf);
  t.add(row(Op::XMAD, kMaxwell, top16(0x5b00), {xtype, flag<Tok::PSL>(Axis::kWide, 36), xmode, flag<Tok::MRG>(Axis::kMode2, 37), flag<Tok::X>(Axis::kExtended, 38)},
            {dst_cc(), xa, gpr(20).part(bits(35, 1), kHalf).reuse(1), gpr(39).reuse(2)}, fma));
  const auto xmad_imm = [&](std::span<const Enum> types, ImmFormat f) {  // the immediate is as signed as its type
    t.add(row(Op::XMAD, kMaxwell, top16(0x3600), {Mod{Axis::kType, bits(48, 2), types}, flag<Tok::PSL>(Axis::kWide, 36), xmode, flag<Tok::MRG>(Axis::kMode2, 37),
              flag<Tok::X>(Axis::kExtended, 38)}, {dst_cc(), xa, imm(bits(20, 16), f), gpr(39).reuse(2)}, fma));
  };
  xmad_imm(kXmadTypeU, hex);
  xmad_imm(kXmadTypeS, dec);
  t.add(row(Op::XMAD, kMaxwell, top16(0x4e00), {xtype, flag<Tok::PSL>(Axis::kWide, 55), xmode_c, flag<Tok::MRG>(Axis::kMode2, 56), flag<Tok::X>(Axis::kExtended, 54)},
            {dst_cc(), xa, const64().part(bits(52, 1), kHalf), gpr(39).reuse(2)}, fma));
  t.add(row(Op::XMAD, kMaxwell, top16(0x5100), {xtype, xmode_c, flag<Tok::X>(Axis::kExtended, 54)},
            {dst_cc(), xa, gpr(39).part(bits(52, 1), kHalf).reuse(1), const64()}, fma));

  forms64(t, unless(row(Op::IADD, kMaxwell, {}, {sat50, x43}, {dst_cc(), ra().neg(49), rb(dec).neg(48)}, alu), sign48), 0x5c10, "ric");
  forms64(t, row(Op::IADD, kMaxwell, sign48, {po, sat50, x43}, {dst_cc(), ra(), rb(dec)}, alu), 0x5c10, "ric");
  t.add(row(Op::IADD3, kMaxwell, top16(0x5cc0), {Mod{Axis::kMode, bits(37, 2), kShift3}, flag<Tok::X>(Axis::kExtended, 48)},
            {dst_cc(), ra().neg(51).part(bits(35, 2), kPart3), gpr(20).reuse(1).neg(50).part(bits(33, 2), kPart3), gpr(39).reuse(2).neg(49).part(bits(31, 2), kPart3)}, alu));
  forms64(t, row(Op::IADD3, kMaxwell, {}, {flag<Tok::X>(Axis::kExtended, 48)}, {dst_cc(), ra().neg(51), rb(hex).neg(50), rc().neg(49)}, alu), 0x5cc0, "ic");
  t.add(row(Op::IADD32I, kMaxwell, top16(0x1c00), {flag<Tok::SAT>(Axis::kSat, 54), flag<Tok::X>(Axis::kExtended, 53)}, {dst_cc(52), ra().neg(56), imm32(dec)}, alu));
  t.add(row(Op::IADD32I, kMaxwell, top16(0x1d80), {po, flag<Tok::SAT>(Axis::kSat, 54), flag<Tok::X>(Axis::kExtended, 53)}, {dst_cc(52), ra(), imm32(dec)}, alu));
  forms64(t, unless(row(Op::ISCADD, kMaxwell, {}, {}, {dst_cc(), ra().neg(49), rb(dec).neg(48), imm(bits(39, 5))}, alu), sign48), 0x5c18, "ric");
  forms64(t, row(Op::ISCADD, kMaxwell, sign48, {po}, {dst_cc(), ra(), rb(dec), imm(bits(39, 5))}, alu), 0x5c18, "ric");
  t.add(row(Op::ISCADD32I, kMaxwell, top16(0x1400), {}, {dst_cc(52), ra(), imm32(dec), imm(bits(53, 5))}, alu));
  forms64(t, row(Op::LEA, kMaxwell, {}, {flag<Tok::X>(Axis::kExtended, 46)}, {flag_out, dst_cc(), ra().neg(45), rb(dec), imm(bits(39, 5)).omit(0)}, alu), 0x5bd0, "ric");
  t.add(row(Op::LEA, kMaxwell, top16(0x5bd8), {always<Tok::HI>(Axis::kHigh), flag<Tok::X>(Axis::kExtended, 38)},
            {flag_out, dst_cc(), ra().neg(37), gpr(20).reuse(1), gpr(39).reuse(2), imm(bits(28, 5)).omit(0)}, alu));
  t.add(row(Op::LEA, kMaxwell, top16(0x1800), {always<Tok::HI>(Axis::kHigh), flag<Tok::X>(Axis::kExtended, 57)},
            {flag_out, dst_cc(), ra().neg(56), const64(), gpr(39).reuse(2), imm(bits(51, 5)).omit(0)}, alu));

  // The 32-bit products run as a sequence on another unit; ptxas prefers XMAD.
  const Mod mul_type{Axis::kType, bits(48, 1, 53, 1), kMulType};
  const Mod hi54 = flag<Tok::HI>(Axis::kHigh, 54);
  const Mod x49 = flag<Tok::X>(Axis::kExtended, 49);
  forms64(t, unless(row(Op::IMAD, kMaxwell, {}, {mul_type, hi54, sat50, x49}, {dst_cc(), slow_a().neg(52), slow_b(dec), slow_c().neg(51)}, xu), sign51), 0x5a00, "ricx");
  forms64(t, row(Op::IMAD, kMaxwell, sign51, {mul_type, hi54, po, sat50, x49}, {dst_cc(), slow_a(), slow_b(dec), slow_c()}, xu), 0x5a00, "ricx");
  forms64(t, row(Op::IMUL, kMaxwell, {}, {Mod{Axis::kType, bits(40, 2), kMulType}, flag<Tok::HI>(Axis::kHigh, 39)}, {dst_cc(), slow_a(), slow_b(dec)}, xu), 0x5c38, "ric");
  t.add(row(Op::IMUL32I, kMaxwell, top16(0x1f00), {Mod{Axis::kType, bits(54, 2), kMulType}, flag<Tok::HI>(Axis::kHigh, 53)}, {dst_cc(52), slow_a(), imm32(dec)}, xu));

  // Four or two products of bytes; only sm_61 and sm_62 have them.
  constexpr ArchMask dots = mask_from(Arch::sm_61, Arch::sm_62);
  const Mod sign_b{Axis::kSigned2, bits(47, 1), kByteSign};
  for (const auto& [form, b] : {std::pair{0x53f8u, gpr(20).reuse(1)}, std::pair{0x53d8u, const64()}}) {
    t.add(row(Op::IDP, dots, top16(form), {always<Tok::k4A>(Axis::kMode), Mod{Axis::kSigned, bits(49, 1), kByteSign}, sign_b}, {dst(), ra(), b, gpr(39).reuse(2)}, dot));
    t.add(row(Op::IDP, dots, top16(form | 1), {Mod{Axis::kMode, bits(50, 1), kHalves2}, Mod{Axis::kSigned, bits(49, 1), kHalfSign}, sign_b}, {dst(), ra(), b, gpr(39).reuse(2)}, dot));
  }

  forms64(t, row(Op::IMNMX, kMaxwell, {}, {u32, Mod{Axis::kExtended, bits(43, 2), kMinMaxX}}, {dst_cc(), ra(), rb(dec), pred_in()}, alu), 0x5c20, "ric");
  forms64(t, row(Op::ISETP, kMaxwell, {}, {cmp49, u32, x43, combine}, {pred(3).def(), pred(0).def(), ra(), rb(dec), pred_in()}, alu), 0x5b60, "ric");
  forms64(t, row(Op::ISET, kMaxwell, {}, {flag<Tok::BF>(Axis::kDstType, 44), cmp49, u32, x43, combine}, {dst_cc(), ra(), rb(dec), pred_in()}, alu), 0x5b50, "ric");
  forms64(t, row(Op::ICMP, kMaxwell, {}, {cmp49, u32}, {dst(), ra(), rb(dec), rc()}, alu), 0x5b40, "ricx");

  forms64(t, row(Op::LOP, kMaxwell, {}, {Mod{Axis::kLogic, bits(41, 2), kLogic}, x43, Mod{Axis::kMode, bits(44, 2), kTest}},
                 {flag_out, dst_cc(), ra().inv(39), rb(dec).inv(40)}, alu), 0x5c40, "ric");
  t.add(row(Op::LOP3, kMaxwell, top16(0x5be0), {always<Tok::LUT>(Axis::kLogic), flag<Tok::X>(Axis::kExtended, 38), Mod{Axis::kMode, bits(36, 2), kTest}},
            {flag_out, dst_cc(), ra(), gpr(20).reuse(1), gpr(39).reuse(2), imm(bits(28, 8))}, alu));
  t.add(row(Op::LOP3, kMaxwell, top16(0x3c00), {always<Tok::LUT>(Axis::kLogic), flag<Tok::X>(Axis::kExtended, 57)},
            {dst_cc(), ra(), imm20(dec), gpr(39).reuse(2), imm(bits(48, 8))}, alu));
  t.add(row(Op::LOP3, kMaxwell, top16(0x0200), {always<Tok::LUT>(Axis::kLogic), flag<Tok::X>(Axis::kExtended, 56)},
            {dst_cc(), ra(), const64(), gpr(39).reuse(2), imm(bits(48, 8))}, alu));
  t.add(row(Op::LOP32I, kMaxwell, top16(0x0400), {Mod{Axis::kLogic, bits(53, 2), kLogic}, flag<Tok::X>(Axis::kExtended, 57)},
            {dst_cc(52), ra().inv(55), imm32(hex).inv(56)}, alu));

  const Mod wrap39 = flag<Tok::W>(Axis::kWrap, 39);
  forms64(t, row(Op::SHL, kMaxwell, {}, {wrap39, x43}, {dst_cc(), ra(), rb(dec)}, alu), 0x5c48, "ric");
  forms64(t, row(Op::SHR, kMaxwell, {}, {u32, wrap39, Mod{Axis::kExtended, bits(43, 2), kShrX}, flag<Tok::BREV>(Axis::kMode, 40)}, {dst_cc(), ra(), rb(dec)}, alu), 0x5c28, "ric");
  const auto funnel = [&](const Mod& direction, unsigned reg_top, unsigned imm_top) {
    const Mod wrap = flag<Tok::W>(Axis::kWrap, 50);
    const Mod type{Axis::kType, bits(37, 2), kShfType};
    const Mod part{Axis::kExtended, bits(48, 2), kShfPart};
    t.add(row(Op::SHF, kMaxwell, top16(reg_top), {direction, wrap, type, part}, {dst_cc(), ra(), gpr(20).reuse(1), gpr(39).reuse(2)}, alu));
    t.add(row(Op::SHF, kMaxwell, top16(imm_top), {direction, wrap, type, part}, {dst_cc(), ra(), imm(bits(20, 6)), gpr(39).reuse(2)}, alu));
  };
  funnel(always<Tok::L>(Axis::kDirection), 0x5bf8, 0x36f8);
  funnel(always<Tok::R>(Axis::kDirection), 0x5cf8, 0x38f8);
  forms64(t, row(Op::BFE, kMaxwell, {}, {u32, flag<Tok::BREV>(Axis::kMode, 40)}, {dst_cc(), ra(), rb(dec)}, alu), 0x5c00, "ric");
  forms64(t, row(Op::BFI, kMaxwell, {}, {}, {dst_cc(), ra(), rb(dec), rc()}, alu), 0x5bf0, "ricx");
  forms64(t, row(Op::PRMT, kMaxwell, {}, {Mod{Axis::kMode, bits(48, 4), kPermute}}, {dst(), ra(), rb(dec), rc()}, alu), 0x5bc0, "ricx");
  forms64(t, row(Op::SEL, kMaxwell, {}, {}, {dst(), ra(), rb(dec), pred_in()}, alu), 0x5ca0, "ric");
  // MOV writes only the bytes of its mask; the text hides the full one.
  forms64(t, row(Op::MOV, kMaxwell, {}, {}, {dst(), rb(dec), imm(bits(39, 4)).omit(15)}, alu), 0x5c98, "ric");
  t.add(row(Op::MOV32I, kMaxwell, top16(0x0100), {}, {dst(), imm32(hex), imm(bits(12, 4)).omit(15)}, alu));
  forms64(t, row(Op::FLO, kMaxwell, {}, {u32, flag<Tok::SH>(Axis::kMode, 41)}, {dst_cc(), slow_b(dec).inv(40)}, xu), 0x5c30, "ric");
  forms64(t, row(Op::POPC, kMaxwell, {}, {}, {dst(), slow_b(dec).inv(40)}, xu), 0x5c08, "ric");
  return t;
}
// clang-format on

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows64_integer() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
