// The constants of the cost models of convolutions on the tensor cores, in microseconds where nothing else is said. Those in
// use, kFitted, are fitted by benchmarks/conv_model/conv_fit.cpp, which writes fitted_costs.h. Every member is a double, or an array of
// them: the fit moves them one by one.
#pragma once

#include <array>

namespace nervanagpu::conv_detail {

struct Costs {
  double memory;  // million bytes a microsecond, of operands and results
  double copy;    // a small copy's launch

  // hconv.sass. Positions of a result: fprop and bprop.
  struct Tiles {
    double start, early;                  // to the first products: after the work ahead, and beside its end
    double tile;                          // between the tiles of a CTA, for each 64 columns
    double turn, turn_end;                // the same of warpgroups in turn, and their last tile's end
    double sum, part, sums;               // split_sum, for each part of the sums, and for a million partial sums
    std::array<double, 7> block;          // a k block's products, by kVariants
    double whole_row, part_row, odd_row;  // of the copy engine: 64 channels; fewer of a multiple of 16; of none
    double half_row = 0, zero_row = 0;    // positions: 32 channels; a row that it fills with zeros
  };
  Tiles positions, update;

  // gconv.sass: a block by the columns of a tile, 64, 128 and 192, for each number of channels that a load brings, 8, 4 and 1.
  struct Gathered {
    double start, early, tile, sum, part, sums;
    std::array<double, 9> block;
  };
  Gathered gather, gather_update;

  struct Halo {
    double start, early;
    std::array<double, 8> step, tile;  // 16 channels' products, and between the tiles of a CTA, by kVariants
    double part_row;                   // which the copy engine pads with zeros
    double latency;                    // from a stage, or one of two patches, that comes free to what fills it
  };
  Halo halo;

  struct Swapped {
    double start, hidden;  // of the copy of bprop's filters, the launch's beginning hides that much
    double place;          // of a product of 16 channels
    double tile, chunk;    // after a tile's products, and for each 64 places of one
    double any;            // more for these, where the result's columns are no multiple of 8
    double zeros;          // a row of filters that the copy engine pads with zeros
    double latency;        // from a stage that comes free to what fills it
  };
  Swapped swapped;

  struct HaloUpdate {
    double start;
    double row, part_row;          // of 16 channels of x, or 64 filters of dy
    double column, reading, wide;  // a product's clocks: for each column; or reading dy, and for each column of x
    double sums;                   // a million bytes of partial sums, written and read
  };
  HaloUpdate halo_update;

  struct Resident {
    double start, early;
    double step;                 // 16 channels' products, for each 64 columns
    double whole_row, part_row;  // of the copy engine
    double epilogue;             // a consumer group's, for each 64 columns
  };
  Resident resident;

  // cells.sass: the two copies' launches together, and a million elements that are loaded one by one.
  struct Cells {
    double start, elements;
  };
  Cells cells;

  // narrow.sass, with the copy of its filters.
  struct Narrow {
    double start;
    double step;      // 16 products of 64 rows and columns; half of it is reading the rows
    double epilogue;  // a consumer group's, for each 64 columns
    double load;      // of 16 bytes by each lane of a warp
  };
  Narrow narrow;

  // narrow_swapped.sass, with the copy of its filters.
  struct NarrowSwapped {
    double start;
    double step;  // 16 products of 64 filters and positions
    double load;  // of pieces of four pixels, a warp's at once
  };
  NarrowSwapped narrow_swapped;

  // narrow_update.sass, whose products cost what halo_update.sass's do.
  struct NarrowUpdate {
    double start;         // and the sum of all parts
    double unit;          // of 16 bytes of a patch, beside the products
    double words;         // a pass of a warp that loads by words,
    double any, channel;  // or by elements, and each channel of it
    double memory;        // million bytes a microsecond
  };
  NarrowUpdate narrow_update;

  // A product: what its model, hgemm_cost.h's, does not know, and times what it does.
  struct Product {
    double start, run;
  };
  Product product;
};

// Of a copy of so many bytes.
constexpr double copy_microseconds(double bytes, const Costs& costs) {
  return costs.copy + 2e-6 * bytes / costs.memory;
}

}  // namespace nervanagpu::conv_detail
