// Operands cx[UR][offset]: constants in a bank that a pair of uniform registers describes. As an H200 reads it, the pair
// holds the bank's address divided by 64 in bits 0 to 50, and its size divided by 16 in bits 51 to 63. At and beyond
// the size stand zeros.
#include <algorithm>
#include <bit>
#include <cstring>

#include "sass/emulate/machine/access_lane.h"
#include "sass/emulate/ops/families.h"
#include "sass/emulate/ops/memory/memory_forms.h"
#include "sass/isa/access.h"

namespace nervanagpu::sass::emulate {
namespace {

constexpr unsigned kAddressBits = 51;
constexpr unsigned kAddressUnit = 64;
constexpr unsigned kSizeUnit = 16;

// The size of what is read is that of the load, or of the operand: both halves of a float64, where there are two.
const Uop* described(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  for (unsigned i = 0; i < x.src_count; ++i) {
    const Src& s = x.src[i];
    if (s.kind != Src::Kind::kDescribed) continue;
    const std::uint64_t bank = w.ureg[s.bits_hi] | std::uint64_t{w.ureg[s.bits_hi + 1]} << 32;
    const std::uint64_t from = (bank & ((std::uint64_t{1} << kAddressBits) - 1)) * kAddressUnit + s.bits;
    const std::uint64_t size = (bank >> kAddressBits) * kSizeUnit;
    w.described = {};
    if (s.bits >= size) break;
    const auto lane = static_cast<unsigned>(std::countr_zero(w.exec));
    const std::byte* p = locate(w, u, lane, Space::kGlobal, from, x.described_bytes, Intent::kLoad);
    if (p == nullptr && w.checker == nullptr) return nullptr;
    if (p != nullptr) std::memcpy(w.described.data(), p, x.described_bytes);
    break;
  }
  return x.of_described(w, u);
}

}  // namespace

void bind_described(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  const auto end = x.src.begin() + x.src_count;
  const auto found = std::find_if(x.src.begin(), end, [](const Src& s) { return s.kind == Src::Kind::kDescribed; });
  if (found == end) return;
  const bool load = unit(inst) == Unit::kMemConst;
  x.described_bytes = load ? x.bytes : 4;
  for (const Operand& o : inst.operands()) {
    if (!load && is_bindless(o) && o.width == 2) x.described_bytes = 8;
  }
  if (found->bits % x.described_bytes != 0) b.refuse("an offset that is no multiple of the operand's size");
  x.of_described = x.body;
  x.body = described;
  b.uop.run = nullptr;
}

}  // namespace nervanagpu::sass::emulate
