#include "test/tma/cases.h"

#include <algorithm>
#include <cstring>

namespace nervanagpu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// SplitMix64.
class Random {
 public:
  explicit Random(u64 seed) : state_(seed) {}
  u64 bits() {
    u64 z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
  }
  u32 below(u32 n) { return static_cast<u32>(bits() % n); }
  std::int32_t between(std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(below(static_cast<u32>(high - low + 1)));
  }
  bool one_in(u32 n) { return below(n) == 0; }

 private:
  u64 state_;
};

u32 width_of(MapType t) {
  switch (t) {
    case MapType::uint8: return 1;
    case MapType::uint16:
    case MapType::float16:
    case MapType::bfloat16: return 2;
    case MapType::uint64:
    case MapType::int64:
    case MapType::float64: return 8;
    default: return 4;
  }
}

constexpr std::array kPlain = {MapType::uint8, MapType::uint16,  MapType::uint32,  MapType::int32,   MapType::uint64,
                               MapType::int64, MapType::float16, MapType::float32, MapType::float64, MapType::bfloat16};
constexpr std::array kConverted = {MapType::float32_ftz, MapType::tfloat32, MapType::tfloat32_ftz};

enum Op : unsigned { kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor };
struct Operation {
  Op op;
  MapType type;
};
constexpr Operation kIntegers[] = {
    {kAdd, MapType::uint32}, {kAdd, MapType::int32},  {kAdd, MapType::uint64}, {kMin, MapType::uint32},
    {kMin, MapType::int32},  {kMin, MapType::uint64}, {kMin, MapType::int64},  {kMax, MapType::uint32},
    {kMax, MapType::int32},  {kMax, MapType::uint64}, {kMax, MapType::int64},  {kInc, MapType::uint32},
    {kDec, MapType::uint32}, {kAnd, MapType::uint32}, {kAnd, MapType::uint64}, {kOr, MapType::uint32},
    {kOr, MapType::uint64},  {kXor, MapType::uint32}, {kXor, MapType::uint64}};
constexpr Operation kFloats[] = {{kAdd, MapType::float16}, {kAdd, MapType::bfloat16}, {kAdd, MapType::float32},
                                 {kMin, MapType::float16}, {kMin, MapType::bfloat16}, {kMax, MapType::float16},
                                 {kMax, MapType::bfloat16}};

// Sizes and strides of a tensor that fits.
void make_tensor(Random& r, TensorMap& m, u32 inner_most) {
  const u32 width = width_of(m.type);
  m.sizes.fill(0);
  m.strides.fill(0);
  m.sizes[0] = 1 + r.below(inner_most);
  u64 pitch = (m.sizes[0] * width + 15) / 16 * 16;
  for (u32 d = 1; d < m.rank; ++d) {
    pitch += 16 * r.below(3);
    m.strides[d - 1] = pitch;
    const u64 room = kTensorBytes / pitch;
    const u64 wanted = 1 + r.below(d == 1 ? 14 : d == 2 ? 9 : 4);
    m.sizes[d] = std::max<u64>(1, std::min(wanted, room));
    pitch *= m.sizes[d];
  }
}

u32 box_elements(const TensorMap& m) {
  u32 n = 1;
  for (u32 d = 0; d < m.rank; ++d) n *= d == 0 ? m.box[0] : (m.box[d] + m.steps[d] - 1) / m.steps[d];
  return n;
}

void place(Random& r, TmaCase& c, u32 bytes) {
  c.shared = 128 * r.below((kImageBytes - bytes) / 128 + 1);
}

void fill(Random& r, TensorMap& m) {
  if (m.type >= MapType::float16 && r.one_in(3)) m.fill = MapFill::nan;
}

constexpr u32 span_of(MapSwizzle s) {
  return 16U << static_cast<u32>(s);
}

void make_box(Random& r, TmaCase& c, bool narrow, bool strided, bool legal) {
  TensorMap& m = c.map;
  const u32 width = width_of(m.type);
  m.swizzle = static_cast<MapSwizzle>(narrow ? 1 + r.below(3) : r.below(4));
  const u32 most = std::min(m.swizzle == MapSwizzle::none ? 512U : span_of(m.swizzle), 256 * width);
  m.box[0] = (m.swizzle != MapSwizzle::none && !narrow ? most : 16 * (1 + r.below(most / 16))) / width;
  for (u32 d = 1; d < m.rank; ++d) {
    m.steps[d] = strided ? 1 + r.below(8) : 1;
    m.box[d] = 1 + r.below((d == 1 ? 20 : 5) * (strided ? 3 : 1));
  }
  // Rows of a swizzled box begin at multiples of its span.
  const u32 row = legal && narrow ? span_of(m.swizzle) : m.box[0] * width;
  const auto bytes = [&] { return box_elements(m) / m.box[0] * row; };
  while (bytes() > kImageBytes) {
    for (u32 d = m.rank; d-- > 1;) m.box[d] = (m.box[d] + 1) / 2;
  }
  place(r, c, bytes());
  for (u32 d = 0; d < m.rank; ++d) {
    const auto size = static_cast<std::int32_t>(m.sizes[d]);
    const auto reach = static_cast<std::int32_t>(m.box[d]);
    c.at[d] = r.one_in(3) ? 0 : r.between(-reach - 2, size + 2);
    if (r.one_in(12)) c.at[d] = size - reach;
  }
  if (r.one_in(60)) c.at[r.below(m.rank)] = r.one_in(2) ? 0x7fffff00 : -0x7fffff00;
}

void make_image(Random& r, TmaCase& c, bool odd) {
  TensorMap& m = c.map;
  const u32 width = width_of(m.type);
  const u32 spatial = m.rank - 2;
  m.swizzle = static_cast<MapSwizzle>(r.below(4));
  const u32 most = std::min(m.swizzle == MapSwizzle::none ? 256U : span_of(m.swizzle), 256 * width);
  TensorMap::Im2col i;
  i.channels = (m.swizzle != MapSwizzle::none ? most : 16 * (1 + r.below(most / 16))) / width;
  i.pixels = 1 + r.below(std::min(200U, kImageBytes / (i.channels * width)));
  for (u32 d = 0; d < spatial; ++d) {
    const auto size = static_cast<std::int32_t>(m.sizes[d + 1]);
    i.lower[d] = r.between(-3, 2);
    i.upper[d] = r.between(std::max(-4, i.lower[d] - size + 1), 3);
    const std::int32_t extent = size + i.upper[d] - i.lower[d];
    m.steps[d + 1] = r.one_in(2) ? 1 : 1 + r.below(3);
    const auto step = static_cast<std::int32_t>(m.steps[d + 1]);
    c.at[d + 1] = i.lower[d] + (odd ? r.between(0, extent - 1) : step * r.between(0, (extent - 1) / step));
    if (c.load) c.offsets[d] = r.below(5);
  }
  m.im2col = i;
  c.at[0] = r.one_in(2) ? 0 : r.between(-5, static_cast<std::int32_t>(m.sizes[0]) + 1);
  c.at[m.rank - 1] = r.between(odd ? -1 : 0, static_cast<std::int32_t>(m.sizes[m.rank - 1]) - 1);
  place(r, c, i.channels * i.pixels * width);
}

}  // namespace

std::vector<std::byte> tma_bytes(const TmaCase& c, std::size_t bytes, u64 stream) {
  Random r(c.seed + stream);
  const MapType type = c.map.type;
  std::vector<std::byte> out(bytes);
  for (std::size_t i = 0; i + 8 <= bytes; i += 8) {
    u64 v = r.bits();
    if (c.halves) {  // bits 0 to 11 of half of the words are zero, and the exponents of some are the greatest
      if ((v >> 32 & 3) != 0) v &= 0xfffffffffffff000ULL;
      if ((v >> 36 & 15) == 0) v |= 0x7f800000ULL;
      if ((v >> 40 & 15) == 0) v |= 0x7f7ff000ULL;
      if ((v >> 44 & 15) == 0) v &= 0xffffffffff800fffULL;
    }
    if (c.numbers) {  // the exponent's high bits are those of numbers near one
      if (type == MapType::float16) v = (v & 0x8fff8fff8fff8fffULL) | 0x3000300030003000ULL;
      if (type == MapType::bfloat16) v = (v & 0x81ff81ff81ff81ffULL) | 0x3e003e003e003e00ULL;
      if (type == MapType::float32) v = (v & 0x81ffffff81ffffffULL) | 0x3e0000003e000000ULL;
    }
    std::memcpy(out.data() + i, &v, 8);
  }
  return out;
}

TmaCase tma_case(std::string_view group, unsigned number) {
  u64 seed = 0xcbf29ce484222325ULL;
  for (const char ch : group) seed = (seed ^ static_cast<unsigned char>(ch)) * 0x100000001b3ULL;
  Random r(seed + number * 0x2545f4914f6cdd1dULL);
  const auto is = [&](std::string_view part) { return group.find(part) != std::string_view::npos; };
  TmaCase c;
  c.seed = r.bits();
  c.load = !is("store") && !is("reduce");
  TensorMap& m = c.map;
  m.type = is("converted") ? kConverted[r.below(3)] : kPlain[r.below(kPlain.size())];
  if (is("reduce")) {
    const bool integer = !is("special") && !r.one_in(3);
    const Operation& o = integer ? kIntegers[r.below(std::size(kIntegers))] : kFloats[r.below(std::size(kFloats))];
    c.op = o.op;
    m.type = o.type;
    c.numbers = !is("special") && !integer;
  }
  const bool image = is("im2col") || (is("reduce") && r.one_in(4));
  m.rank = image ? 3 + r.below(3) : 1 + r.below(5);
  m.promotion = static_cast<MapPromotion>(r.below(4));
  make_tensor(r, m, 400 / width_of(m.type));
  fill(r, m);
  if (image) {
    make_image(r, c, is("odd"));
  } else {
    make_box(r, c, is("narrow"), is("strided"), number >= kTmaLegal);
  }
  const bool beyond = number < kTmaLegal && is("upper");
  if (number < kTmaLegal && !beyond) return c;
  c.halves = is("converted");
  const auto align = static_cast<std::int32_t>(16 / std::min(16U, width_of(m.type)));
  c.at[0] = c.at[0] / align * align;
  if (c.load) return c;
  for (std::int32_t& at : c.at) at = std::max(at, 0);
  if (!m.im2col) return c;
  for (u32 d = 0; d + 2 < m.rank; ++d) {
    m.im2col->lower[d] = 0;
    m.im2col->upper[d] = std::clamp(m.im2col->upper[d], 1 - static_cast<std::int32_t>(m.sizes[d + 1]), 0);
    c.at[d + 1] = 0;
  }
  if (beyond) m.im2col->upper[r.below(m.rank - 2)] = r.between(1, 3);
  return c;
}

}  // namespace nervanagpu::test
