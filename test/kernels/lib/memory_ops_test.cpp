// The memory macros of kernels/lib/ops.sass: every type, offsets of both signs, guards, and that stores write their
// bytes and no more.
#include <gtest/gtest.h>

#include "test/kernels/lib/macro_harness.h"

namespace nervanagpu::test {
namespace {

using u32 = std::uint32_t;

Words map(const Words& x, u32 (*f)(u32)) {
  Words out;
  for (const u32 v : x) out.push_back(f(v));
  return out;
}

Words inputs() {
  Words out = edges();
  const Words more = random_words(1, 200);
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

// `from` is the address of this thread's eight input words (32 bytes), `to` of its outputs.
TEST(MemoryOps, LoadsOfEveryType) {
  const Words a = inputs();
  const Words b = random_words(2, a.size());
  const auto byte = [](u32 x) { return x & 0xff; };
  const auto top_byte = [](u32 x) { return x >> 24; };
  const auto sbyte = [](u32 x) { return static_cast<u32>(static_cast<std::int8_t>(x >> 24)); };
  const auto half = [](u32 x) { return x & 0xffff; };
  const auto top_half = [](u32 x) { return x >> 16; };
  const auto shalf = [](u32 x) { return static_cast<u32>(static_cast<std::int16_t>(x >> 16)); };
  expect_macros({.body = "ldg(y[0], from)\nldg(y[1], from[0], 4)\nldg(y[2], from, 0, u8)\nldg(y[3], from, 3, type=u8)\n"
                         "ldg(y[4], from, 3, s8)\nldg(y[5], from, 0, u16)\nldg(y[6], from, offset=2, type=u16)\n"
                         "ldg(y[7], from, 2, s16)\n",
                 .in = {a, b},
                 .outs = 8},
                {a, b, map(a, byte), map(a, top_byte), map(a, sbyte), map(a, half), map(a, top_half), map(a, shalf)});
  const Words c = random_words(3, a.size()), d = random_words(4, a.size());
  expect_macros({.body = ".reg z[8] align 4\nadd64(from, from, x[4])\nldg(y, from, -16, b64)\nldg(z, from, -16, b128)\n"
                         "mov(y[2], z[2])\nmov(y[3], z[3])\nldg(z[4], from, {-2 * 4}, b64)\nmov(y[4], z[4])\n"
                         "mov(y[5], z[5])\nldg(y[6], from, -15, u8)\nldg(y[7], from, -14, b16)\n",
                 .in = {a, b, c, d, Words(a.size(), 16), Words(a.size(), 0)},
                 .outs = 8},
                {a, b, c, d, c, d, map(a, [](u32 x) { return x >> 8 & 0xff; }), map(a, top_half)});
}

TEST(MemoryOps, GuardedLoadsLeaveTheOthersAlone) {
  const Words a = inputs();
  const auto odd = [](u32 x) { return (x & 1) != 0 ? x : 7u; };
  const auto even = [](u32 x) { return (x & 1) == 0 ? x : 7u; };
  expect_macros(
      {.body = ".pred odd\nand_(y[0], x[0], 1)\nISETP.NE.AND odd, PT, y[0], RZ, PT\nmov(y[0], 7)\nmov(y[1], 7)\n"
               "mov(y[2], 7)\nmov(y[3], 7)\nldg(y[0], from, 0, b32, odd)\nldg(y[1], from, 0, b32, !odd)\n"
               "ldg(y[2], from, pred=\"!PT\")\nldg(y[3], from, 0, b32, PT)\n",
       .in = {a},
       .outs = 4},
      {map(a, odd), map(a, even), Words(a.size(), 7), a});
}

TEST(MemoryOps, StoresWriteTheirBytesOnly) {
  const Words a = inputs();
  const Words old(a.size(), 0xcdcdcdcd);
  // Stored to the thread's outputs, read back over them: what is not written still holds the fill.
  const auto low16 = [](u32 x) { return 0xcdcd0000u | (x & 0xffff); };
  const auto high16 = [](u32 x) { return 0x0000cdcdu | x << 16; };
  const auto byte2 = [](u32 x) { return 0xcd00cdcdu | (x & 0xff) << 16; };
  expect_macros({.body = "stg(to, x[0], 0, b16)\nstg(to, x[0], 6, b16)\nstg(to, x[0], 10, b8)\nstg(to[0], x[0], 12)\n"
                         "stg(to, x[0], 16, b32, \"!PT\")\nldg(y, to, 0, b128)\nldg(y[4], to, 16)\n",
                 .in = {a},
                 .outs = 5},
                {map(a, low16), map(a, high16), map(a, byte2), a, old});
  const Words b = random_words(5, a.size());
  expect_macros({.body = "stg(to, x, 8, b64)\nstg(to, x, 16, b128)\nldg(y, to, 0, b128)\nldg(y[4], to, 16, b128)\n",
                 .in = {a, b, a, b},
                 .outs = 8},
                {old, old, a, b, a, b, a, b});
  expect_macros(
      {.body = ".pred odd\nand_(y[0], x[0], 1)\nISETP.NE.AND odd, PT, y[0], RZ, PT\nstg(to, x[0], 0, b32, odd)\n"
               "stg(to, x[0], 4, u8, !odd)\nldg(y, to, 0, b64)\n",
       .in = {a},
       .outs = 2},
      {map(a, [](u32 x) { return (x & 1) != 0 ? x : 0xcdcdcdcdu; }),
       map(a, [](u32 x) { return (x & 1) == 0 ? 0xcdcdcd00u | (x & 0xff) : 0xcdcdcdcdu; })});
}

// Each thread writes 32 bytes of shared memory and reads those of a thread of another warp, after sync().
TEST(MemoryOps, SharedMemoryAndBarrier) {
  Words a = random_words(6, 256), b = random_words(7, 256);
  const auto beside = [](const Words& x) {
    Words out;
    for (std::size_t i = 0; i < x.size(); ++i) out.push_back(x[i ^ 64]);
    return out;
  };
  const std::string addresses =
      ".reg w, r\nand_(w, i, 127)\nxor_(r, w, 64)\nshl(w, w, 5)\nshl(r, r, 5)\n"
      "iadd(w, w, {SHARED_BASE})\niadd(r, r, {SHARED_BASE})\n";
  expect_macros(
      {.body = addresses + "sts(w, x, 0, b64)\nsts(w, x[0], 8)\nsts(w, x[1], 12)\nsts(w, x, 16, b128)\nsync()\n"
                           "lds(y, r, 0, b128)\nlds(y[4], r, 16, b64)\nlds(y[6], r, 24)\nlds(y[7], r, offset=28)\n",
       .in = {a, b, b, a},
       .outs = 8,
       .front = ".shared 4096\n"},
      {beside(a), beside(b), beside(a), beside(b), beside(a), beside(b), beside(b), beside(a)});
  Words byte1, half1, sbyte, ubyte, shalf, uhalf;
  for (std::size_t i = 0; i < a.size(); ++i) {
    byte1.push_back((b[i] & 0xffff00ffu) | (a[i] & 0xff) << 8);
    half1.push_back((b[i] & 0xffffu) | a[i] << 16);
    sbyte.push_back(static_cast<u32>(static_cast<std::int8_t>(a[i])));
    ubyte.push_back(a[i] & 0xff);
    shalf.push_back(static_cast<u32>(static_cast<std::int16_t>(a[i])));
    uhalf.push_back(a[i] & 0xffff);
  }
  expect_macros(
      {.body =
           addresses +
           "sts(w, x[2], 0, b64)\nsts(w, x[0], 1, b8)\nsts(w, x[0], 6, b16)\nsts(w, x[0], 0, b32, \"!PT\")\nsync()\n"
           "lds(y[0], r)\nlds(y[1], r, 4)\nlds(y[2], r, 1, s8)\nlds(y[3], r, 1, u8)\nlds(y[4], r, 6, s16)\n"
           "lds(y[5], r, 6, u16)\n",
       .in = {a, b, b, b},
       .outs = 6,
       .front = ".shared 4096\n"},
      {beside(byte1), beside(half1), beside(sbyte), beside(ubyte), beside(shalf), beside(uhalf)});
}

TEST(MemoryOps, ExitIfEndsItsThreadsOnly) {
  const Words a = inputs();
  expect_macros(
      {.body = ".pred odd\nstg(to, x[0])\nand_(y[0], x[0], 1)\nISETP.NE.AND odd, PT, y[0], RZ, PT\nexit_if(odd)\n"
               "mov(y[0], 1)\n",
       .in = {a},
       .outs = 1},
      {map(a, [](u32 x) { return (x & 1) != 0 ? x : 1u; })});
}

}  // namespace
}  // namespace nervanagpu::test
