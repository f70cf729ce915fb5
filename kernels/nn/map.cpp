#include "kernels/nn/map.h"

#include <algorithm>

#include "kernels/nn/launch.h"

namespace nervanagpu::nn {
namespace {

constexpr std::int64_t kItems = 512;  // of a CTA

std::uint32_t u32(std::int64_t v) {
  return static_cast<std::uint32_t>(v);
}

enum class Second { none, alike, along_rows, one_a_row };  // what b is

Second second_of(const std::string& op) {
  if (op == "bias_last") return Second::along_rows;
  if (op == "bias_first" || op == "onehot_grad") return Second::one_a_row;
  if (op == "add" || op.ends_with("_grad")) return Second::alike;
  return Second::none;
}

class Launcher {
 public:
  Launcher(Device& device, const Map& map, StreamId stream)
      : device_(device), map_(map), second_(second_of(map.op)), stream_(stream) {}

  // Elements [begin, begin + count), in rows of `divisor`; b is the address of what the first of them needs.
  void part(std::int64_t begin, std::int64_t count, std::int64_t divisor, std::uint64_t b) const {
    const bool rows = second_ == Second::along_rows || second_ == Second::one_a_row;
    const std::int64_t fours = aligned(begin, b) && (!rows || divisor % 4 == 0) ? count / 4 * 4 : 0;
    if (fours > 0) launch(begin, fours, divisor, b, 4);
    if (fours == count) return;
    const std::uint64_t behind = second_ == Second::alike ? static_cast<std::uint64_t>(fours) * b_size() : 0;
    launch(begin + fours, count - fours, divisor, b + behind, 1);
  }

  [[nodiscard]] std::uint64_t b_size() const { return size_of(map_.b_dtype); }

 private:
  [[nodiscard]] std::uint64_t at(std::uint64_t base, std::int64_t element) const {
    return base + static_cast<std::uint64_t>(element) * size_of(map_.dtype);
  }
  [[nodiscard]] bool aligned(std::int64_t begin, std::uint64_t b) const {
    const std::uint64_t four = 4 * size_of(map_.dtype);
    const bool b_fits = second_ == Second::none || second_ == Second::one_a_row || b % (4 * b_size()) == 0;
    return at(map_.a, begin) % four == 0 && at(map_.y, begin) % four == 0 && begin % 4 == 0 && b_fits;
  }

  void launch(std::int64_t begin, std::int64_t count, std::int64_t divisor, std::uint64_t b, std::int64_t v) const {
    const auto first = static_cast<std::uint64_t>(begin);
    const std::string name = "map_" + map_.op + "_" + type_word("map", "a", map_.dtype) + "_" +
                             type_word("map", "b", map_.b_dtype) + "_" + std::to_string(v);
    const std::int64_t items = count / v;
    Call call(device_, name);
    call.add(at(map_.a, begin)).add(b).add(at(map_.y, begin)).add(u32(items));
    call.add(u32(divisor)).add(magic(u32(divisor))).add(map_.alpha).add(map_.beta).add(map_.keep);
    call.add(map_.mask_seed).add(map_.mask_counter + first / 4).add(u32(begin % 4));
    call.add(RoundingArgs::of(map_.rounding, map_.dtype, first));
    call.launch({u32((items + kItems - 1) / kItems)}, stream_);
  }

  Device& device_;
  const Map& map_;
  Second second_;
  StreamId stream_;
};

}  // namespace

void run(Device& device, const Map& map, StreamId stream) {
  const Launcher launcher(device, map, stream);
  const Second second = second_of(map.op);
  const auto b_at = [&](std::int64_t element) {
    return map.b + static_cast<std::uint64_t>(element) * launcher.b_size();
  };
  if (second == Second::none || second == Second::alike) {
    for (std::int64_t i = 0; i < map.elements; i += map.most) {
      launcher.part(i, std::min(map.most, map.elements - i), 1, b_at(second == Second::alike ? i : 0));
    }
    return;
  }
  if (map.divisor > map.most) {  // rows in parts
    for (std::int64_t row = 0; row * map.divisor < map.elements; ++row) {
      for (std::int64_t i = 0; i < map.divisor; i += map.most) {
        const std::int64_t count = std::min(map.most, map.divisor - i);
        launcher.part(row * map.divisor + i, count, count, b_at(second == Second::along_rows ? i : row));
      }
    }
    return;
  }
  const std::int64_t rows = map.elements / map.divisor;
  const std::int64_t step = std::max<std::int64_t>(1, map.most / map.divisor);
  for (std::int64_t row = 0; row < rows; row += step) {
    launcher.part(row * map.divisor, std::min(step, rows - row) * map.divisor, map.divisor,
                  b_at(second == Second::along_rows ? 0 : row));
  }
}

}  // namespace nervanagpu::nn
