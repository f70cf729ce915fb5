#include "test/sass/asm/lowering_harness.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "sass/dis/listing.h"
#include "sass/emulate/emulate.h"
#include "sass/verify/verify.h"

namespace nervanagpu::sass::lowering {
namespace {

constexpr u32 kThreads = 128;
constexpr u32 kPoison = 0xdeadbeef;
constexpr unsigned kCtaid = 37;  // SR_CTAID.X

// ---- Operands ----------------------------------------------------------------------------------------------------------

const std::vector<u64>& edges(Kind kind) {
  static const std::vector<u64> words = {0,          1,          2,          7,          31,      32,
                                         33,         0x7fff,     0x8000,     0xffff,     0x10000, 0x7ffff,
                                         0x80000,    0x12345678, 0x7fffffff, 0x80000000, 0x80001, 0xfff80000,
                                         0xfffffffe, 0xffffffff, 0xffff0000, 0xffff8000};
  static const std::vector<u64> longs = {0,
                                         1,
                                         0xffffffff,
                                         0x100000000,
                                         0x7fffffffffffffff,
                                         0x8000000000000000,
                                         ~u64{0},
                                         0x8000000000000001,
                                         0xffffffff00000000,
                                         0x123456789abcdef0};
  static const std::vector<u64> singles = {0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x3f800000,
                                           0xbf800000, 0x3effffff, 0x3f000000, 0xbfc00000, 0x40200000, 0x477fe000,
                                           0x477ff000, 0x33000000, 0x4b000001, 0xcb7fffff, 0x4f000000, 0xcf000001,
                                           0x4f800000, 0x5f000000, 0xdf800000, 0x7f7fffff, 0x7f800000, 0xff800000,
                                           0x7fc00000, 0xffc01234, 0x3f80ffff, 0x3f818000};
  static const std::vector<u64> doubles = {0,
                                           0x8000000000000000,
                                           1,
                                           0x000fffffffffffff,
                                           0x0010000000000000,
                                           0x3ff0000000000000,
                                           0xbff8000000000000,
                                           0x3fe0000000000000,
                                           0x4004000000000000,
                                           0x36a0000000000000,
                                           0x380fffffe0000000,
                                           0x3e60000000000001,
                                           0x40effc0000000000,
                                           0x41dfffffffc00000,
                                           0xc1e0000000000000,
                                           0x41f0000000000000,
                                           0x43e0000000000000,
                                           0xc3e0000000000000,
                                           0x43f0000000000000,
                                           0x47efffffe0000000,
                                           0x47efffffffffffff,
                                           0x7fefffffffffffff,
                                           0x7ff0000000000000,
                                           0xfff0000000000000,
                                           0x7ff8000000000000};
  return kind == Kind::words ? words : kind == Kind::longs ? longs : kind == Kind::singles ? singles : doubles;
}
bool is_wide(Kind kind) {
  return kind == Kind::longs || kind == Kind::doubles;
}

// Every pair of edges with a third of them, then random ones.
std::vector<Row> operands(Kind kind) {
  std::mt19937_64 random(7);
  const std::vector<u64>& e = edges(kind);
  const auto any = [&]() -> u64 {
    const u64 x = random();
    if (random() % 3 == 0) return e[x % e.size()];
    switch (kind) {
      case Kind::words: return static_cast<u32>(x) >> random() % 32;
      case Kind::longs: return x >> random() % 64;
      case Kind::singles: return (x & 0x807fffff) | (96 + random() % 64) << 23;
      default: return (x & 0x800fffffffffffff) | (1023 - 70 + random() % 140) << 52;
    }
  };
  std::vector<Row> out;
  const auto add = [&](u64 a, u64 b) {
    Row row{};
    const std::array<u64, 4> from = {a, b, any(), any()};
    for (unsigned i = 0; i < 8; ++i) {
      row[i] =
          is_wide(kind) ? static_cast<u32>(from[i / 2] >> (i % 2 * 32)) : static_cast<u32>(i < 3 ? from[i] : any());
    }
    out.push_back(row);
  };
  for (const u64 a : e) {
    for (const u64 b : e) add(a, b);
  }
  for (unsigned i = 0; i < 600; ++i) add(any(), any());
  return out;
}

// ---- A kernel around a case --------------------------------------------------------------------------------------------

struct Place {
  int over = -1;  // the result stands in operand `over`; -1: by itself
  bool guarded = false;
};

KernelImage kernel_of(Arch arch, const Case& c, Place place) {
  Builder b(arch, "probe");
  b.threads(kThreads);
  const Arg in = b.param("in", ParamType::ptr), out = b.param("out", ParamType::ptr);
  const Arg constant = b.param("c", ParamType::u64), count = b.param("count", ParamType::u32);
  const VReg tid = b.reg(), i = b.reg(), from = b.reg(2), to = b.reg(2), r = b.reg(8);
  const VPred outside = b.pred();
  b.emit(Op::S2R, {}, {tid, special(kTid)});
  b.emit(Op::S2R, {}, {i, special(kCtaid)});
  b.emit(Op::IMAD, {}, {i, i, std::int64_t{kThreads}, tid});
  b.emit(Op::ISETP, {Tok::GE, Tok::U32, Tok::AND}, {outside, kAlways, i, count, kAlways});
  b.emit(Op::EXIT, {}, {}, outside);
  const VReg size = b.reg();
  b.emit(Op::MOV, {}, {size, 32});
  b.emit(Op::IMAD_WIDE, {Tok::U32}, {from, i, size, in});
  b.emit(Op::MOV, {}, {size, 8});
  b.emit(Op::IMAD_WIDE, {Tok::U32}, {to, i, size, out});
  for (unsigned k = 0; k < 8; k += 4) {
    const VReg four = b.reg(4);
    b.emit(Op::LDG, {Tok::E, Tok::k128}, {four, at(from, 4 * k)});
    for (unsigned j = 0; j < 4; ++j) b.emit(Op::MOV, {}, {r[k + j], four[j]});
  }
  VReg d = c.words == 2 ? b.reg(2) : b.reg();
  if (place.over >= 0) {
    d = c.words == 2 ? r.pair(2 * static_cast<unsigned>(place.over)) : r[static_cast<unsigned>(place.over)];
  } else {
    for (unsigned k = 0; k < c.words; ++k) b.emit(Op::MOV, {}, {d[k], kPoison});
  }
  VPred guard = kAlways;
  if (place.guarded) {
    const VReg bit = b.reg();
    guard = b.pred();
    b.emit(Op::LOP3, {Tok::LUT}, {bit, r[7], 1, kZero, 0xc0, !kAlways});
    b.emit(Op::ISETP, {Tok::NE, Tok::U32, Tok::AND}, {guard, kAlways, bit, kZero, kAlways});
  }
  c.emit({b, d, r, constant, guard});
  const VReg result = b.reg(2);
  b.emit(Op::MOV, {}, {result[0], d[0]});
  b.emit(Op::MOV, {}, {result[1], c.words == 2 ? Arg(d[1]) : Arg(kZero)});
  b.emit(Op::STG, {Tok::E, Tok::k64}, {at(to), result});
  b.emit(Op::EXIT, {}, {});
  auto k = b.finish();
  EXPECT_TRUE(k.ok()) << c.name << ": " << (k.ok() ? "" : k.error().text());
  if (!k.ok()) return {};
  const auto hazards = verify(arch, *k);
  EXPECT_TRUE(hazards.empty()) << c.name << ": " << hazards[0].text << "\n" << code_of(arch, *k, true);
  return *k;
}

constexpr u64 kConstant = 0x9e3779b97f4a7c15;

std::vector<u64> run(Arch arch, const Case& c, Place place, const std::vector<Row>& rows, emulate::Mode mode) {
  std::vector<u64> out(rows.size(), 0);
  const KernelImage image = kernel_of(arch, c, place);
  if (image.code.empty()) return out;
  const auto kernel = emulate::load(arch, image);
  EXPECT_TRUE(kernel.ok()) << c.name << ": " << (kernel.ok() ? "" : kernel.error().text());
  if (!kernel.ok()) return out;
  emulate::Memory memory(rows.size() * 64 + (1 << 20));
  const u64 in_at = memory.allocate(rows.size() * sizeof(Row)), out_at = memory.allocate(rows.size() * 8);
  std::memcpy(memory.host(in_at, rows.size() * sizeof(Row)), rows.data(), rows.size() * sizeof(Row));
  const std::array<u64, 4> params = {in_at, out_at, kConstant, rows.size()};
  const auto ctas = static_cast<u32>((rows.size() + kThreads - 1) / kThreads);
  const auto report = emulate::run(**kernel, memory,
                                   {.grid = {ctas, 1, 1},
                                    .block = {kThreads, 1, 1},
                                    .params = std::as_bytes(std::span(params)).first(28),
                                    .mode = mode});
  EXPECT_TRUE(report.ok()) << c.name << ": " << (report.ok() ? "" : report.error().text());
  if (!report.ok()) return out;
  for (const emulate::Finding& f : report->findings) ADD_FAILURE() << c.name << ": " << f.text();
  std::memcpy(out.data(), memory.host(out_at, rows.size() * 8), rows.size() * 8);
  return out;
}

void check(const Case& c, Place place) {
  const std::vector<Row> rows = operands(c.kind);
  const std::vector<u64> want = run(Arch::sm_90a, c, place, rows, emulate::Mode::kFast);
  const auto compare = [&](Arch arch, std::span<const Row> part, emulate::Mode mode) {
    const std::vector<u64> got = run(arch, c, place, {part.begin(), part.end()}, mode);
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (got[i] == want[i]) continue;
      std::string text;
      for (const u32 x : part[i]) text += " " + std::to_string(x);
      ADD_FAILURE() << c.name << " over " << place.over << (place.guarded ? ", guarded" : "") << " on "
                    << info(arch).name << ": " << std::hex << got[i] << ", sm_90a has " << want[i] << "; operands"
                    << text << "\n"
                    << code_of(arch, kernel_of(arch, c, place), false);
      return;
    }
  };
  compare(Arch::sm_52, rows, emulate::Mode::kFast);
  compare(Arch::sm_52, std::span(rows).first(256), emulate::Mode::kChecked);
  if (place.over < 0) compare(Arch::sm_80, std::span(rows).first(256), emulate::Mode::kChecked);
  for (std::size_t i = 0; c.expect && place.over < 0 && !place.guarded && i < rows.size(); ++i) {
    ASSERT_EQ(want[i], c.expect(rows[i], kConstant)) << c.name;
  }
}

}  // namespace

void check_all(std::span<const Case> cases) {
  for (const Case& c : cases) {
    check(c, {});
    for (int over = 0; over < (is_wide(c.kind) && c.words == 2 ? 3 : c.words == 2 ? 2 : 3); ++over)
      check(c, {over, false});
    check(c, {-1, true});
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace nervanagpu::sass::lowering
