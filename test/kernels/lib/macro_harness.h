// Runs macro operations of kernels/lib on the emulator: a body of template text over registers x[0..7] -> y[0..7], one
// thread an element.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sass/emulate/emulate.h"

namespace nervanagpu::test {

using Words = std::vector<std::uint32_t>;

struct MacroRun {
  std::string body;       // besides ops.sass it sees x[8] (align 4, the inputs), y[8] (align 4), i (the thread)
  std::vector<Words> in;  // up to 8 arrays of one length: x[k] of thread i is in[k][i]
  unsigned outs = 1;      // y[0] .. y[outs - 1] are the results
  std::vector<std::uint32_t> params = {};  // up to 4: param[p0] ..
  std::string front = {};                  // further front matter, such as .shared
};

constexpr sass::Arch kArchs[] = {sass::Arch::sm_90a, sass::Arch::sm_52};

// The results of one architecture, [out][thread]. Any diagnostic and any finding is a failure of the test.
std::vector<Words> run_macros(const MacroRun& run, sass::Arch arch,
                              sass::emulate::Mode mode = sass::emulate::Mode::kFast);

// On both architectures, fast, and the first threads also checked (which must find nothing): y[k] is expected[k].
void expect_macros(const MacroRun& run, const std::vector<Words>& expected);

// The numbers at which 32-bit operations go wrong, and `count` random ones, some of them short.
Words edges();
Words random_words(std::uint32_t seed, std::size_t count);
// Every pair of `edges`, then pairs of random words: two arrays.
std::vector<Words> pairs(const Words& edges, std::uint32_t seed, std::size_t count);
// Floats: zeros, infinities, NaN, ends of the ranges of float16 and float32, ones and their neighbours, both signs.
Words float_edges();

}  // namespace nervanagpu::test
