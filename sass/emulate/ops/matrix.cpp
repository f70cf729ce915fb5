// LDSM, STSM and MOVM: 8 x 8 matrices of 16-bit elements between shared memory and registers. Lanes 8i .. 8i+7 hold the
// addresses of the rows of matrix i; lane l holds elements 2(l mod 4) and the next of row l/4, or transposed of column
// l/4.
#include <cstdint>
#include <cstring>

#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/machine/access_lane.h"
#include "sass/emulate/ops/families.h"
#include "sass/emulate/uop/words.h"

namespace nervanagpu::sass::emulate {
namespace {

using Matrix = u16[8][8];

u32 get(const Matrix& m, unsigned l, bool transposed) {
  const unsigned row = l / 4;
  const unsigned col = l % 4 * 2;
  return transposed ? m[col][row] | u32{m[col + 1][row]} << 16 : m[row][col] | u32{m[row][col + 1]} << 16;
}

void put(Matrix& m, unsigned l, bool transposed, u32 v) {
  const unsigned row = l / 4;
  const unsigned col = l % 4 * 2;
  (transposed ? m[col][row] : m[row][col]) = static_cast<u16>(v);
  (transposed ? m[col + 1][row] : m[row][col + 1]) = static_cast<u16>(v >> 16);
}

const Uop* ldsm(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  if (w.exec != kAllLanes) return fault(w, u, kLanes, "LDSM by a part of the warp");
  u32 out[4][kLanes];
  for (unsigned i = 0; i < x.imm; ++i) {
    Matrix m;
    for (unsigned r = 0; r < 8; ++r) {
      const unsigned l = 8 * i + r;
      const std::byte* p = locate(w, u, l, Space::kShared, lane_address(w, x.address[0], l), 16, Intent::kLoad);
      if (p != nullptr) {
        std::memcpy(m[r], p, 16);
      } else if (w.checker == nullptr) {
        return nullptr;
      } else {
        for (unsigned c = 0; c < 8; ++c) m[r][c] = static_cast<u16>(c % 2 == 0 ? kPoison : kPoison >> 16);
      }
    }
    for (unsigned l = 0; l < kLanes; ++l) out[i][l] = get(m, l, x.flag);
  }
  for (unsigned i = 0; i < x.imm; ++i) std::memcpy(w.row(static_cast<std::uint16_t>(x.dst + i)), out[i], sizeof out[i]);
  return u + 1;
}

const Uop* stsm(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  if (w.exec != kAllLanes) return fault(w, u, kLanes, "STSM by a part of the warp");
  for (unsigned i = 0; i < x.imm; ++i) {
    Matrix m;
    ConstRow from = fetch_raw(w, x.src[0], 0, i);
    for (unsigned l = 0; l < kLanes; ++l) put(m, l, x.flag, from[l]);
    for (unsigned r = 0; r < 8; ++r) {
      const unsigned l = 8 * i + r;
      std::byte* p = locate(w, u, l, Space::kShared, lane_address(w, x.address[0], l), 16, Intent::kStore);
      if (p != nullptr) {
        std::memcpy(p, m[r], 16);
      } else if (w.checker == nullptr) {
        return nullptr;
      }
    }
  }
  return u + 1;
}

// MOVM: a matrix in registers, transposed.
const Uop* movm(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  if (w.exec != kAllLanes) return fault(w, u, kLanes, "MOVM by a part of the warp");
  Matrix m;
  ConstRow from = fetch_raw(w, x.src[0], 0);
  for (unsigned l = 0; l < kLanes; ++l) put(m, l, false, from[l]);
  Row32 to = w.row(x.dst);
  for (unsigned l = 0; l < kLanes; ++l) to[l] = get(m, l, true);
  return u + 1;
}

}  // namespace

bool bind_matrix(const Inst& inst, Binding& b) {
  if (inst.op == Op::MOVM) {
    b.detail.body = movm;
    if (!says(inst, "MT88")) b.refuse("a matrix shape");
    return true;
  }
  if (inst.op != Op::LDSM && inst.op != Op::STSM) return false;
  Detail& x = b.detail;
  x.imm = says(inst, "4") ? 4 : says(inst, "2") ? 2 : 1;
  x.flag = says(inst, "MT88");
  if (!x.flag && !says(inst, "M88")) b.refuse("a matrix shape");
  if (x.address_count != 1) b.refuse("operands");
  x.body = inst.op == Op::LDSM ? ldsm : stsm;
  return true;
}

}  // namespace nervanagpu::sass::emulate
