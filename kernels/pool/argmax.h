// How the positions of a pooling's largest elements are stored: kernels/lib/argmax.sass.
#pragma once

#include "kernels/pool/problem.h"

namespace nervanagpu::pool_detail {

// Throws InvalidArgument where there are no such positions: not max, over feature maps, or windows of too many positions.
void check_argmax(const PoolProblem& p);

// Elements that a thread takes, and their codes' bits: 8 or 4 of 4 bits, or a single one of 8.
struct ArgmaxForm {
  int elements = 1;
  int bits = 8;
};
ArgmaxForm argmax_form(const PoolProblem& p);

// Bytes that the addresses of a pass are multiples of.
struct Alignments {
  std::size_t tensors = 1, argmax = 1;
};
// Throws as check_argmax() does. Elements whose codes share a word are taken by one thread.
Alignments alignments_of(const PoolProblem& p, bool argmax);

}  // namespace nervanagpu::pool_detail
