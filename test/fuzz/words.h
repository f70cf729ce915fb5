// Words that assembler text is made of, from the instruction table itself.
#pragma once

#include <string>

#include "sass/isa/rows/table.h"
#include "test/fuzz/fuzz.h"

namespace nervanagpu::sass::fuzz {

inline std::string any_word(Arch arch, Random& random) {
  static constexpr std::array kOperands = {"R0",
                                           "R255",
                                           "RZ",
                                           "UR4",
                                           "URZ",
                                           "P0",
                                           "!PT",
                                           "UP1",
                                           "B3",
                                           "SB5",
                                           "{5,0}",
                                           "c[0x0][0x210]",
                                           "cx[UR4][0x8]",
                                           "desc[UR4][R2.64+0x10]",
                                           "[R2+UR4+-0x8]",
                                           "[RZ]",
                                           "0x7fffffff",
                                           "-0x80000000",
                                           "-1",
                                           "1.5",
                                           "+INF",
                                           "-QNAN",
                                           "3.40282346e+38",
                                           "`(label)",
                                           "-R1",
                                           "|R2|",
                                           "~R3",
                                           "R4.reuse",
                                           "R5.H1_H1",
                                           "R6.X16",
                                           "R7.64",
                                           "R2.CC",
                                           "CC.NE",
                                           "SR_TID.X",
                                           "@!P3 ",
                                           "@UP0 ",
                                           ", ",
                                           ".",
                                           "??:?:?:?:?",
                                           "3f:0:5:Y:15",
                                           "0xffffffffffffffffffff",
                                           "1e999",
                                           "PR",
                                           ".word 0x1, 0x2 reads(R2, UR4:2) writes(R8:2, P0) latency 6",
                                           ".word 0x1, 0x2 reads() writes(R1) scoreboard",
                                           ".word 0x1 reads(R2:4) writes(CC) latency 15 reuse 5",
                                           ";"};
  static constexpr std::size_t kTokens = [] {
    std::size_t n = 1;  // kNone
#define TOK(name, text) ++n;
#include "sass/isa/token.inc"
#undef TOK
    return n;
  }();
  switch (below(random, 4)) {
    case 0: return std::string(tok_text(static_cast<Tok>(below(random, kTokens))));
    case 1: {
      const auto ops = ops_of(arch);
      if (ops.empty()) return "NOP";  // an architecture that we only know the name of
      return std::string(op_text(ops[below(random, ops.size())]));
    }
    case 2: return "." + std::string(tok_text(static_cast<Tok>(below(random, kTokens))));
    default: return kOperands[below(random, kOperands.size())];
  }
}

}  // namespace nervanagpu::sass::fuzz
