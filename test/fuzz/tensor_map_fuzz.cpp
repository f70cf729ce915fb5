// Bytes as the arguments of a tensor map. What is not refused describes boxes that fit in shared memory and rows that lie
// in the tensor.
#include <cstring>

#include "nervanagpu/error.hpp"
#include "src/device/tensor_map.h"
#include "test/fuzz/fuzz.h"

using namespace nervanagpu;
using namespace nervanagpu::sass::fuzz;
namespace emulate = nervanagpu::sass::emulate;

namespace {

// Numbers from the input: one byte chooses a number that is likely to be right or at a limit, or says that it follows.
class Numbers {
 public:
  Numbers(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  std::uint64_t next() {
    static constexpr std::array<std::uint64_t, 24> kLikely = {0,
                                                              1,
                                                              2,
                                                              3,
                                                              4,
                                                              5,
                                                              7,
                                                              8,
                                                              16,
                                                              32,
                                                              64,
                                                              12,
                                                              96,
                                                              128,
                                                              255,
                                                              256,
                                                              257,
                                                              1024,
                                                              4096,
                                                              65536,
                                                              1ull << 32,
                                                              1ull << 39,
                                                              (1ull << 40) - 16,
                                                              ~0ull};
    const std::uint64_t choice = take(1);
    return choice < kLikely.size() ? kLikely[choice] : choice < 128 ? choice : take(8);
  }
  template <class T>
  void fill(T& all) {
    for (auto& v : all) v = static_cast<std::remove_reference_t<decltype(v)>>(next());
  }

 private:
  std::uint64_t take(std::size_t width) {
    std::uint64_t v = 0;
    const std::size_t n = std::min(width, size_ - at_);
    if (n > 0) std::memcpy(&v, data_ + at_, n);
    at_ += n;
    return v;
  }
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Numbers numbers(data, size);
  TensorMap map;
  map.type = static_cast<MapType>(numbers.next());
  map.rank = static_cast<std::uint32_t>(numbers.next());
  map.interleave = static_cast<MapInterleave>(numbers.next());
  map.swizzle = static_cast<MapSwizzle>(numbers.next());
  map.promotion = static_cast<MapPromotion>(numbers.next());
  map.fill = static_cast<MapFill>(numbers.next());
  map.address = numbers.next();
  numbers.fill(map.sizes);
  numbers.fill(map.strides);
  numbers.fill(map.steps);
  if (numbers.next() % 2 == 0) {
    numbers.fill(map.box);
  } else {
    map.im2col = TensorMap::Im2col{};
    numbers.fill(map.im2col->lower);
    numbers.fill(map.im2col->upper);
    map.im2col->channels = static_cast<std::uint32_t>(numbers.next());
    map.im2col->pixels = static_cast<std::uint32_t>(numbers.next());
  }
  static_cast<void>(name_of(map.type));
  emulate::TensorMap form;
  try {
    form = emulated(map);
  } catch (const InvalidArgument& e) {
    check(std::string_view(e.what()).starts_with("tensor map: "), "an error that names nothing", e.what());
    return 0;
  }
  std::array<std::int32_t, TensorMap::kMaxRank> at{};
  std::array<std::uint32_t, TensorMap::kMaxRank - 2> offsets{};
  numbers.fill(at);
  numbers.fill(offsets);
  for (std::uint32_t& o : offsets) o %= 65536;  // the instruction has 16 bits of each
  constexpr std::uint32_t kShared = 227 << 10;
  const std::uint32_t room = emulate::shared_bytes(form);
  check(emulate::box_bytes(form) <= room && (map.im2col || room <= kShared), "a box that does not fit");
  std::uint32_t rows = 0;
  emulate::each_row(form, at, offsets, [&](const emulate::BoxRow& row) {
    check(row.from <= row.to && row.to <= row.bytes, "a row that ends before it begins");
    check(row.offset <= room && row.bytes <= room - row.offset, "a row outside of the box");
    if (row.from != row.to) check(row.address >= form.address, "a row in front of the tensor");
    return ++rows < 4096;
  });
  return 0;
}
