#include "kernels/sort/launch.h"

#include <algorithm>
#include <string>

#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/fuse/kernel.h"
#include "src/launch/values.h"

namespace nervanagpu::sorting {
namespace {

constexpr std::int64_t kDigits = 256;
constexpr std::int64_t kTurn = 2048;                           // keys of a turn of sort_histogram's loop
constexpr std::int64_t kParts = 1024;                          // CTAs that make the histogram of a few rows
constexpr std::int64_t kMostTables = std::int64_t{256} << 20;  // bytes that rows sorted together have beside their keys
constexpr std::int64_t kMostTiles = (std::int64_t{1} << 31) - 1;  // of a grid

const Kernel& find(const Device& device, const std::string& name) {
  const Kernel* k = device.registry().find(name);
  if (k == nullptr) throw Error("there is no kernel " + name + " for this device's architecture");
  return *k;
}

void add_order(Values& v, const Order& o) {
  for (const std::uint32_t word : {o.flip, o.flip_high, o.fold, o.up, o.cap, o.mul, o.add}) v.u32(word);
}

Grid grid_of(std::int64_t ctas) {
  Grid g;
  g.x = static_cast<std::uint32_t>(ctas);
  return g;
}

// What the launches of one group of rows share.
struct Group {
  Device& device;
  const Order& order;
  StreamId stream;
  std::int64_t width, rows, n, tiles;
  std::uint64_t histogram, status, tickets;

  void count(std::uint64_t keys) const {
    const std::int64_t most = std::max<std::int64_t>(kParts / rows, 1);
    const std::int64_t chunk = ceil_div(ceil_div(n, most), kTurn) * kTurn;
    const std::int64_t parts = ceil_div(n, chunk);
    Values v;
    v.u64(keys).u64(histogram).u32(rows).u32(n).u32(chunk).divisor(parts);
    add_order(v, order);
    v.launch(device, find(device, std::string("sort_histogram_") + order.key), grid_of(rows * parts), stream);
  }

  struct Pass {
    std::uint64_t keys_in, keys_out, indices_in, indices_out;
    bool wide;
  };
  void pass(std::int64_t digit, const Pass& p, bool indices) const {
    const bool high = digit >= 4;
    Values v;
    v.u64(p.keys_in).u64(p.keys_out).u64(p.indices_in).u64(p.indices_out);
    v.u64(histogram + static_cast<std::uint64_t>(digit * rows * kDigits * 4));
    v.u64(status + static_cast<std::uint64_t>(digit * rows * tiles * kDigits * 4));
    v.u64(tickets + static_cast<std::uint64_t>(digit * 4));
    v.u32(rows).u32(n).divisor(tiles);
    v.u32(0x5540 | digit % 4).u32(high ? 0xffffffff : 0).u32(p.wide ? 1 : 0).u32(order.pad).u32(order.pad_high);
    add_order(v, order);
    const std::string name = std::string("sort_pass_") + order.key + (indices ? "_indices" : "_keys");
    v.launch(device, find(device, name), grid_of(rows * tiles), stream);
  }
};

void sort_group(Device& device, const Rows& r, const Order& order, std::int64_t tiles) {
  const auto width = static_cast<std::int64_t>(size_of(r.dtype));
  const std::int64_t size = r.rows * r.n;
  const std::int64_t words = r.rows * width * kDigits * (1 + tiles) + width;
  const Tensor tables = fuse::temporary({words}, Dtype::uint32);
  const StreamId stream = fuse::OnStream::current().handle();
  const std::uint64_t status = tables.address() + static_cast<std::uint64_t>(r.rows * width * kDigits * 4);
  const std::uint64_t tickets = status + static_cast<std::uint64_t>(r.rows * tiles * width * kDigits * 4);
  device.fill(tables.address(), 0, 4, static_cast<std::size_t>(words), stream);
  const Group group{device, order, stream, width, r.rows, r.n, tiles, tables.address(), status, tickets};
  group.count(r.keys);

  // Every second digit's keys go to memory of their own, the others, with the last, to the result, or, if it is not
  // wanted, to memory of their own as well. Places likewise, in 32 bits up to the last.
  const auto own = [&](bool needed, Dtype dtype) {
    return needed ? fuse::temporary({size}, dtype) : Tensor::empty({0}, dtype);
  };
  const Tensor between = own(width > 1, r.dtype);
  const Tensor second = own(width > 2 && r.values == 0, r.dtype);
  const Tensor moved = own(width > 1 && r.indices != 0, Dtype::uint32);
  const std::uint64_t even = between.address(), odd = r.values != 0 ? r.values : second.address();
  std::uint64_t keys = r.keys, indices = 0;
  for (std::int64_t digit = 0; digit < width; ++digit) {
    const bool last = digit + 1 == width;
    Group::Pass p{};
    p.keys_in = keys;
    p.keys_out = last ? r.values : digit % 2 == 0 ? even : odd;
    p.indices_in = indices;
    p.indices_out = r.indices == 0 ? 0 : last || digit % 2 == 1 ? r.indices : moved.address();
    p.wide = last && r.indices != 0;
    group.pass(digit, p, r.indices != 0);
    keys = p.keys_out;
    indices = p.indices_out;
  }
}

}  // namespace

std::int64_t most_of_row(std::size_t width) {
  return width == 8 ? 3072 : 4096;
}

std::int64_t tile_of(std::size_t width, bool indices) {
  return std::int64_t{384} * (width == 8 ? 11 : indices ? 16 : 20);
}

void sort_in_cta(Device& device, const Rows& r, StreamId stream) {
  const Order order = order_of(r.dtype, r.descending);
  const std::int64_t most = most_of_row(size_of(r.dtype));
  const std::int64_t keys = r.n <= 256 ? 1 : r.n <= 1024 ? 4 : most / 256;  // of a thread
  Values v;
  v.u64(r.keys).u64(r.values).u64(r.indices).u32(r.rows).u32(r.n);
  add_order(v, order);
  const std::string name = std::string("sort_row_") + order.key + "_" + std::to_string(keys);
  v.launch(device, find(device, name), grid_of(r.rows), stream);
}

void sort_by_digits(Device& device, const Rows& r) {
  const Order order = order_of(r.dtype, r.descending);
  const auto width = static_cast<std::int64_t>(size_of(r.dtype));
  const std::int64_t tiles = ceil_div(r.n, tile_of(size_of(r.dtype), r.indices != 0));
  const std::int64_t fit =
      std::min(kMostTables / ((tiles + 1) * width * kDigits * 4), kMostTiles / std::max(tiles, kParts));
  const std::int64_t most = std::max<std::int64_t>(fit, 1);
  for (std::int64_t row = 0; row < r.rows; row += most) {
    Rows part = r;
    part.rows = std::min(most, r.rows - row);
    const auto ahead = [&](std::uint64_t base, std::int64_t bytes) {
      return base == 0 ? 0 : base + static_cast<std::uint64_t>(row * r.n * bytes);
    };
    part.keys = ahead(r.keys, width);
    part.values = ahead(r.values, width);
    part.indices = ahead(r.indices, 8);
    sort_group(device, part, order, tiles);
  }
}

}  // namespace nervanagpu::sorting
