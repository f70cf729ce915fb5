// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011), as src/numbers/philox.h and kernels/lib/philox.sass have it.
#include "src/fuse/numeric/emit.h"

namespace nervanagpu::fuse {

using sass::kAlways;
using sass::kZero;

namespace {

// The four words of the block `counter` (a pair).
std::array<VReg, 4> block_of(Builder& b, const RoundKeys& keys, VReg counter) {
  std::array<VReg, 4> r = {counter[0], counter[1], kZero, kZero};
  for (unsigned round = 0; round < 10; ++round) {
    const VReg p = b.reg(2), q = b.reg(2), x = b.reg(), y = b.reg();
    b.emit(Op::IMAD_WIDE, {Tok::U32}, {p, r[0], 0xd2511f53U, kZero});
    b.emit(Op::IMAD_WIDE, {Tok::U32}, {q, r[2], 0xcd9e8d57U, kZero});
    b.emit(Op::LOP3, {Tok::LUT}, {x, q[1], r[1], keys[2 * round], kXor3, !kAlways});
    b.emit(Op::LOP3, {Tok::LUT}, {y, p[1], r[3], keys[2 * round + 1], kXor3, !kAlways});
    r = {x, q[0], y, p[0]};
  }
  return r;
}

}  // namespace

RoundKeys Emit::round_keys(VReg seed) {
  RoundKeys keys;
  keys[0] = seed[0];
  keys[1] = seed[1];
  for (unsigned k = 2; k < keys.size(); ++k) {
    keys[k] = b.reg();
    op(Op::IADD3, {}, {keys[k], keys[k - 2], k % 2 == 0 ? 0x9e3779b9U : 0xbb67ae85U, kZero});
  }
  return keys;
}

Lanes Emit::random(const RoundKeys& keys, VReg index, VReg far) {
  // index less kIndexBase, in blocks of four
  const VReg high = b.reg(), part = b.reg(), first = b.reg(2);
  op(Op::LOP3, {Tok::LUT}, {high, index[1], 0x7fffffff, kZero, kAnd, !kAlways});
  op(Op::SHF, {Tok::R, Tok::U64}, {first[0], index[0], 2, high});
  op(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {first[1], kZero, 2, high});
  if (!far.none()) op(Op::IADD3, {}, {first[1], first[1], far, kZero});
  Lanes out;
  for (unsigned i = 0; i + 4 <= n; i += 4) {
    VReg counter = first;
    if (i > 0) {
      const VPred carry = b.pred();
      counter = b.reg(2);
      op(Op::IADD3, {}, {counter[0], carry, first[0], std::int64_t{i / 4}, kZero});
      op(Op::IADD3, {Tok::X}, {counter[1], first[1], kZero, kZero, carry, !kAlways});
    }
    const std::array<VReg, 4> words = block_of(b, keys, counter);
    for (unsigned j = 0; j < 4; ++j) out[i + j] = words[j];
  }
  if (n >= 4) return out;
  // Two lanes of one block, the first an even one, or any lane alone.
  const std::array<VReg, 4> words = block_of(b, keys, first);
  const VPred upper = b.pred();
  op(Op::LOP3, {Tok::LUT}, {part, index[0], 2, kZero, kAnd, !kAlways});
  op(Op::ISETP, {Tok::NE, Tok::U32, Tok::AND}, {upper, kAlways, part, kZero, kAlways});
  const VReg even = b.reg(), odd = b.reg();
  select(even, words[2], words[0], upper);
  select(odd, words[3], words[1], upper);
  out[0] = even;
  out[1] = odd;
  if (n == 2) return out;
  const VPred second = b.pred();
  const VReg bit = b.reg();
  op(Op::LOP3, {Tok::LUT}, {bit, index[0], 1, kZero, kAnd, !kAlways});
  op(Op::ISETP, {Tok::NE, Tok::U32, Tok::AND}, {second, kAlways, bit, kZero, kAlways});
  out[0] = b.reg();
  select(out[0], odd, even, second);
  return out;
}

}  // namespace nervanagpu::fuse
