// Sums, comparisons, logic and shifts for sm_50 .. sm_62.
#include <utility>

#include "sass/asm/builder/lowering.h"

namespace nervanagpu::sass {

void Lowering::move() {
  const Arg& from = arg(1);
  if (from.kind == Arg::Kind::kImm) return last(Op::MOV32I, {}, {arg(0), from.imm & 0xffffffff});
  last(Op::MOV, {}, {arg(0), from});
}

// ---- Sums --------------------------------------------------------------------------------------------------------------

// IADD3 d, [carry,] a, b, c
void Lowering::add() {
  if (says(Tok::X)) return add_extended();
  const bool carries = arg(1).kind == Arg::Kind::kPred;
  const unsigned first = carries ? 2 : 1;
  if (arg_count() != first + 3) return refuse("with other operands is not known");
  // Zeros go, numbers and constants come second; -0 leaves a carry.
  std::array<Arg, 3> term{kZero, kZero, kZero};
  unsigned count = 0;
  for (unsigned i = first; i < first + 3; ++i) {
    const Arg& a = arg(i);
    if (is_zero(a) && !(a.neg && carries)) continue;
    term[count++] = a;
  }
  if (!is_register(term[0])) std::swap(term[0], term[1]);
  if (!is_register(term[2])) std::swap(term[2], term[1]);
  if (!is_register(term[0]) || !is_register(term[2])) return refuse("with these operands is not known");
  if (carries) {
    if (count > 2) return refuse("with a carry of three terms is not known");
    add_two(with_carry(arg(0)), term[0], term[1]);
    return leave_carry(arg(1));
  }
  if (count <= 1 && !term[0].neg && is_zero(term[1])) return last(Op::MOV, {}, {arg(0), term[0]});
  if (count <= 2) return add_two(arg(0), term[0], term[1]);
  const Arg middle = second(term[1], Short::kUnsigned);
  last(Op::IADD3, {}, {arg(0), term[0], middle, term[2]});
}

// d = x + y, of which y alone may be no register.
void Lowering::add_two(Arg d, const Arg& x, const Arg& y) {
  if (y.kind == Arg::Kind::kImm) {
    const auto n = static_cast<std::int32_t>(static_cast<std::uint32_t>(y.neg ? -y.imm : y.imm));
    if (is_short(Short::kSigned, n)) return last(Op::IADD, {}, {d, x, n});
    return last(Op::IADD32I, {}, {d, x, n});
  }
  // Both signs of IADD together mean something else.
  if (x.neg && y.neg) return last(Op::IADD3, {}, {d, x, y, kZero});
  last(Op::IADD, {}, {d, x, y});
}

// IADD3.X d, [carry,] a, b, 0, carry in, !PT
void Lowering::add_extended() {
  const bool carries = arg(1).kind == Arg::Kind::kPred;
  const unsigned first = carries ? 2 : 1;
  const unsigned in = first + 3;
  const bool one_carry = arg_count() == in + 2 && arg(in + 1).id == kNoVirtual && arg(in + 1).inv;
  if (!one_carry || !is_zero(arg(first + 2)) || !is_register(arg(first)))
    return refuse("with these operands is not known");
  take_carry(arg(in));
  Arg d = arg(0);
  if (carries) d = with_carry(d);
  // With a carry, minus is the complement.
  Arg x = arg(first), y = arg(first + 1);
  for (Arg* a : {&x, &y}) {
    if (a->neg) return refuse("with a minus sign is not known");
    a->neg = a->inv;
    a->inv = false;
  }
  if (y.kind == Arg::Kind::kImm) return refuse("with a number is not known");
  if (x.neg && y.neg) {
    last(Op::IADD3, {Tok::X}, {d, x, y, kZero});
  } else {
    last(Op::IADD, {Tok::X}, {d, x, y});
  }
  if (carries) leave_carry(arg(1));
}

// Whether the next request, and no other, takes this carry: it stays in CC.
bool Lowering::next_takes(const Arg& carry) const {
  const std::size_t next = index_ + 1;
  if (next >= b_.requests_.size() || labelled_[next]) return false;
  const Request& r = b_.requests_[next];
  if (r.op != Op::IADD3 || r.mod_count != 1 || r.mod_array[0] != Tok::X || r.guard.id != r_->guard.id ||
      r.guard.inverted != r_->guard.inverted)
    return false;
  const Arg& in = r.arg_array[r.arg_array[1].kind == Arg::Kind::kPred ? 5 : 4];
  return in.kind == Arg::Kind::kPred && in.id == carry.id && !in.inv && readers_[carry.id] == 2;  // with the writer
}

void Lowering::leave_carry(const Arg& carry) {
  in_cc_ = kNoVirtual;
  if (carry.id == kNoVirtual) return;
  if (next_takes(carry)) {
    in_cc_ = carry.id;
    return;
  }
  const VReg one = b_.reg();
  put(Op::IADD, {Tok::X}, {one, kZero, kZero});
  last(Op::ISETP, {Tok::NE, Tok::AND}, {carry, kAlways, one, kZero, kAlways});
}

void Lowering::take_carry(const Arg& carry) {
  const bool there = carry.id != kNoVirtual && carry.id == in_cc_ && !carry.inv;
  in_cc_ = kNoVirtual;
  if (there) return;
  const VReg one = b_.reg();
  put(Op::SEL, {}, {one, kZero, 1, VPred{carry.id, !carry.inv}});
  put(Op::IADD, {}, {with_carry(kZero), one, -1});
}

void Lowering::absolute() {
  const VReg minus = b_.reg();
  put(Op::IADD, {}, {minus, kZero, -arg(1)});
  last(Op::IMNMX, {}, {arg(0), arg(1), minus, !kAlways});
}

void Lowering::extend_sign() {
  if (arg(2).kind != Arg::Kind::kImm) return refuse("by a register is not known");
  last(Op::BFE, {}, {arg(0), arg(1), arg(2).imm << 8});
}

// ---- Comparisons and choices -------------------------------------------------------------------------------------------

void Lowering::extremum() {
  const Arg b = second(arg(2), says(Tok::U32) ? Short::kUnsigned : Short::kSigned);
  last(Op::IMNMX, r_->mods(), {arg(0), arg(1), b, arg(3)});
}

void Lowering::compare() {
  if (says(Tok::EX)) return compare_extended();
  const Arg b = second(arg(3), says(Tok::U32) ? Short::kUnsigned : Short::kSigned);
  last(Op::ISETP, r_->mods(), {arg(0), arg(1), arg(2), b, arg(4)});
}

// ISETP.EX p, PT, a, b, PT, low: of the upper words, `low` being what the lower ones say.
void Lowering::compare_extended() {
  const auto is_true = [](const Arg& a) { return a.id == kNoVirtual && !a.inv; };
  if (arg_count() != 6 || !is_true(arg(1)) || !is_true(arg(4)) || !says(Tok::AND))
    return refuse("with these operands is not known");
  const Arg b = second(arg(3), Short::kSigned);
  if (says(Tok::EQ)) return last(Op::ISETP, {Tok::EQ, Tok::AND}, {arg(0), kAlways, arg(2), b, arg(5)});
  if (says(Tok::NE)) return last(Op::ISETP, {Tok::NE, Tok::OR}, {arg(0), kAlways, arg(2), b, arg(5)});
  const VPred equal = b_.pred();
  put(Op::ISETP, {Tok::EQ, Tok::AND}, {equal, kAlways, arg(2), b, arg(5)});
  const Tok strict = says(Tok::LT) || says(Tok::LE) ? Tok::LT : Tok::GT;
  if (says(Tok::U32)) {
    last(Op::ISETP, {strict, Tok::U32, Tok::OR}, {arg(0), kAlways, arg(2), b, equal});
  } else {
    last(Op::ISETP, {strict, Tok::OR}, {arg(0), kAlways, arg(2), b, equal});
  }
}

void Lowering::select() {
  last(Op::SEL, {}, {arg(0), arg(1), second(arg(2), Short::kSigned), arg(3)});
}

// ---- Logic and shifts --------------------------------------------------------------------------------------------------

// LOP3.LUT d, a, b, c, table: of two operands, where the third is 0, LOP.
void Lowering::logic() {
  if (arg_count() < 5 || !says(Tok::LUT) || arg(4).kind != Arg::Kind::kImm)
    return refuse("with these operands is not known");
  const Arg& a = arg(1);
  const Arg& b = arg(2);
  const Arg& c = arg(3);
  const auto table = static_cast<unsigned>(arg(4).imm);
  if (is_zero(b) || is_zero(c)) {
    // What the table says for 00, 01, 10 and 11 of the two others.
    const unsigned step = is_zero(c) ? 1 : 0;
    unsigned two = 0;
    for (unsigned i = 0; i < 4; ++i) two |= (table >> (((i >> 1) << 2) | ((i & 1) << step)) & 1) << i;
    const Tok op = two == 0x8 ? Tok::AND : two == 0xe ? Tok::OR : two == 0x6 ? Tok::XOR : Tok::kNone;
    const Arg& other = is_zero(c) ? b : c;
    if (op != Tok::kNone && other.kind == Arg::Kind::kImm)
      return last(Op::LOP32I, {op}, {arg(0), a, other.imm & 0xffffffff});
    if (op != Tok::kNone) return last(Op::LOP, {op}, {arg(0), a, other});
  }
  last(Op::LOP3, {Tok::LUT}, {arg(0), a, second(b, Short::kSigned), in_register(c), table});
}

// SHF d, low, count, high: of one word a shift, else the funnel, which gives the upper word to the left and the lower one
// to the right.
void Lowering::shift() {
  const Arg& low = arg(1);
  const Arg& count = arg(2);
  const Arg& high = arg(3);
  const bool upper = says(Tok::HI);
  if (says(Tok::L)) {
    if (!upper && is_zero(high)) return last(Op::SHL, {}, {arg(0), in_register(low), count});
    if (upper) return last(Op::SHF, {Tok::L}, {arg(0), low, count, high});
  } else {
    const bool arithmetic = says(Tok::S32);
    if (upper && is_zero(low) && arithmetic) return last(Op::SHR, {}, {arg(0), high, count});
    if (upper && is_zero(low)) return last(Op::SHR, {Tok::U32}, {arg(0), high, count});
    if (!upper && !arithmetic) {
      if (says(Tok::U64)) return last(Op::SHF, {Tok::R, Tok::U64}, {arg(0), low, count, high});
      return last(Op::SHF, {Tok::R}, {arg(0), low, count, high});
    }
  }
  refuse("with these operands is not known");
}

}  // namespace nervanagpu::sass
