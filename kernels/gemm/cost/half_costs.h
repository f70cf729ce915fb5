// Constants of half_cost.cpp, in microseconds where nothing else is said.
#pragma once

#include <array>
#include <limits>

namespace nervanagpu::hgemm::half {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

// What a kernel moves. Rows are those that the copy engine brings of a block of k, 128 bytes or a box's width. They cost by where
// their lines of memory begin: at multiples of 128 bytes, of 32, anywhere.
struct Moves {
  std::array<double, 3> inside;  // a row of an operand
  double outside, partly;        // a row that lies outside of it, whole or in part
  double memory;  // million bytes a microsecond; of those whose lines begin elsewhere each counts for `bytes`
  std::array<double, 3> bytes;
  double traffic;  // million bytes a microsecond that all CTAs bring to their multiprocessors,
  double fetched;  // and that neighbours bring of which each has what they share: kNever, if that is not known to cost
  double
      hindered;  // by how much products, memory and traffic may take longer than the longest of them; kNever: they add up
};

// hgemm.sass. start: to the first products; early_start: of a grid that begins beside the end of the work ahead.
struct Tiles {
  Moves moves;
  double start, early_start;
  double tile, columns;                              // between two tiles of a CTA, and for each 64 columns
  double ping_pong, ping_pong_end, ping_pong_block;  // the same of ping-pong, the last tile's end, and a block of k
  double sum, part, sums;                            // split_sum, for each part, and for a million partial sums
  std::array<double, 4> block;                       // of k, for 64, 128, 192 and 256 columns
};

// hgemm_resident.sass.
struct Resident {
  Moves moves;
  double start, early_start;  // early: of one wave
  double column;              // of a block's products
  double tile, columns;
  double load;  // of B, times what its rows cost
};

// hgemm_cluster.sass. twice: a block, where a multiprocessor has two CTAs; meet: sums of 64 columns that go to other CTAs.
struct Cluster {
  Moves moves;
  double start, twice, meet, part;
  std::array<double, 4> block, end;  // for 16, 32, 64 and 128 columns
};

// Its pairs of CTAs, all at a time.
struct Pair {
  Moves moves;
  double start, tile, columns;
  std::array<double, 5> block;  // for 64, 96, 128, 160 and 192 columns
};

}  // namespace nervanagpu::hgemm::half
