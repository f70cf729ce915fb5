// Which float32 products of precision tensor are computed from pieces of their operands, and from how many: functions of the
// problem alone, by the cost model.
#pragma once

#include <cstdint>
#include <string_view>

#include "nervanagpu/gemm.hpp"

namespace nervanagpu::pieces {

// Asked for, possible, and faster than by multiply-adds. With `splits` given it is taken whatever its sides are, so that a row
// does not depend on the others.
bool takes(const GemmProblem& problem);

// Of one that takes(): from two float16 pieces, unless a tile says otherwise, because that is faster than from three and no less
// exact than multiply-adds. With `splits` given, whose rows do not depend on the others, never.
bool in_two(const GemmProblem& problem);

// What three pieces take by the model of an H200.
double three_microseconds(const GemmProblem& problem);
// What it takes in two, and what comes on top of that where two pieces do not do, by the model of an H200.
struct TwoMicroseconds {
  double done = 0, behind = 0;
};
TwoMicroseconds two_microseconds(const GemmProblem& problem);

// Of one that takes(), not in_two(): A has many rows and B few columns (bf16x6_rs.h). Its sums, in one part, are those of that kernel, however A
// lies.
bool many_rows(const GemmProblem& problem);

// Of one that is in_two(): pieces of its large operand are best taken on the way to registers (f16x3_rs.h), whose splits it has. It
// has them, too, where that operand does not lie as that kernel wants it, so that its bits do not depend on it.
bool in_registers(const GemmProblem& problem);

// What it costs to write pieces of both operands, where there are kernels beside that split the large one themselves; else 0.
double written_microseconds(const GemmProblem& problem);

// Of one from two pieces: splits of k without which its errors would be larger than strict's.
std::int64_t least_splits(const GemmProblem& problem);

// Of one from two pieces: where they do not do, multiply-adds follow at once: after short products, and where the large operand's pieces
// are not written. Else three pieces come first, which are faster but cost two more launches that mostly find nothing to do. A tile that is named has three, or "+strict" after its name.
bool strict_behind(const GemmProblem& problem, std::string_view tile = {});

}  // namespace nervanagpu::pieces
