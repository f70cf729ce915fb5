// Conversions and layout changes: which kernel, and in how many launches.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <string>

#include "kernels/nn/axes.h"
#include "kernels/nn/launch.h"
#include "kernels/nn/nn.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"
#include "src/ceil_div.h"
#include "src/device/placement.h"
#include "src/tensor/shape.h"
#include "src/tensor/shares_memory.h"

namespace nervanagpu {
namespace nn {
namespace {

constexpr std::size_t kAxes = 5;
constexpr std::int64_t kItems = 512;  // of a CTA of convert.sass
constexpr std::int64_t kTile = 64;    // of transpose.sass
constexpr std::int64_t kWorthATile = 16;

std::uint32_t u32(std::int64_t v) {
  return static_cast<std::uint32_t>(v);
}

std::uint64_t offset(const View& v, std::int64_t elements) {
  return v.address + static_cast<std::uint64_t>(elements * static_cast<std::int64_t>(size_of(v.dtype)));
}

class Converter {
 public:
  Converter(Device& device, const View& from, const View& to, const Rounding& rounding, StreamId stream, const char* op,
            std::int64_t most)
      : device_(device),
        op_(op),
        from_type_(type_word(op, "from", from.dtype)),
        to_type_(type_word(op, "to", to.dtype)),
        from_width_(static_cast<std::int64_t>(size_of(from.dtype))),
        to_width_(static_cast<std::int64_t>(size_of(to.dtype))),
        to_dtype_(to.dtype),
        rounding_(rounding),
        stream_(stream),
        most_(most) {}

  // Elements `first`, first + 1, ... of the result lie along `axes`, outermost first.
  void run(std::span<const Axis> axes, std::uint64_t from, std::uint64_t to, std::uint64_t first) {
    std::int64_t inner = 1;  // elements of one index of the outermost axis
    for (const Axis& a : axes.subspan(1)) inner *= a.length;
    const bool near = std::all_of(axes.begin(), axes.end(), [&](const Axis& a) { return reachable(a); });
    if (near && axes[0].length * inner <= most_) {
      launch(axes, from, to, first);
      return;
    }
    // A part at a time: some indices of the outermost axis.
    const std::int64_t part = near ? std::max<std::int64_t>(1, most_ / inner) : 1;
    std::vector<Axis> rest(axes.begin(), axes.end());
    for (std::int64_t i = 0; i < axes[0].length; i += part) {
      rest[0].length = std::min(part, axes[0].length - i);
      const std::size_t drop = part == 1 && rest.size() > 1 ? 1 : 0;
      run(std::span(rest).subspan(drop), from + static_cast<std::uint64_t>(i * axes[0].from * from_width_),
          to + static_cast<std::uint64_t>(i * axes[0].to * to_width_), first + static_cast<std::uint64_t>(i * inner));
    }
  }

 private:
  // Kernels take strides as 32-bit numbers of bytes.
  [[nodiscard]] bool reachable(const Axis& a) const {
    constexpr std::int64_t kLimit = std::int64_t{1} << 31;
    return a.length == 1 || (std::abs(a.from) < kLimit / from_width_ && a.to < kLimit / to_width_);
  }
  [[nodiscard]] std::int32_t from_bytes(const Axis& a) const {
    return a.length == 1 ? 0 : static_cast<std::int32_t>(a.from * from_width_);
  }
  [[nodiscard]] std::int32_t to_bytes(const Axis& a) const {
    return a.length == 1 ? 0 : static_cast<std::int32_t>(a.to * to_width_);
  }

  void launch(std::span<const Axis> axes, std::uint64_t from, std::uint64_t to, std::uint64_t first) {
    const RoundingArgs r = RoundingArgs::of(rounding_, to_dtype_, first);
    const Axis& j = axes.back();
    if (j.to == 1 && j.from != 1 && j.length >= kWorthATile && axes.size() <= kAxes) {
      for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
        if (axes[i].from == 1 && axes[i].length >= kWorthATile) {
          transpose(axes, i, from, to, r);
          return;
        }
      }
    }
    if (axes.size() > kAxes) {
      throw InvalidArgument(op_ + ": the views have " + std::to_string(axes.size()) +
                            " axes that cannot be joined; needs 5 or fewer");
    }
    copy(axes, vectors(axes, from, to, r), from, to, r);
  }

  // Whether items of four elements are contiguous and aligned in both views.
  [[nodiscard]] bool vectors(std::span<const Axis> axes, std::uint64_t from, std::uint64_t to,
                             const RoundingArgs& r) const {
    const Axis& last = axes.back();
    if (last.from != 1 || last.to != 1 || last.length % 4 != 0 || r.phase != 0) return false;
    const auto fours = [](std::uint64_t address, std::int64_t width) {
      return address % (4 * static_cast<std::uint64_t>(width)) == 0;
    };
    return fours(from, from_width_) && fours(to, to_width_) &&
           std::all_of(axes.begin(), axes.end() - 1, [](const Axis& a) { return a.from % 4 == 0 && a.to % 4 == 0; });
  }

  void copy(std::span<const Axis> axes, bool four, std::uint64_t from, std::uint64_t to, const RoundingArgs& r) {
    const std::int64_t v = four ? 4 : 1;
    std::array<Axis, kAxes> inner_first;  // padded with axes of length 1
    std::copy(axes.rbegin(), axes.rend(), inner_first.begin());
    inner_first[0] = {inner_first[0].length / v, inner_first[0].from * v, inner_first[0].to * v};
    std::int64_t items = 1;
    for (const Axis& a : inner_first) items *= a.length;
    Call call(device_, "convert_" + from_type_ + "_" + to_type_ + "_" + std::to_string(v));
    call.add(from).add(to).add(u32(items)).add(u32(static_cast<std::int64_t>(axes.size())));
    for (const Axis& a : inner_first) call.add(from_bytes(a));
    for (const Axis& a : inner_first) call.add(to_bytes(a));
    for (std::size_t k = 0; k + 1 < kAxes; ++k) {
      call.add(u32(inner_first[k].length)).add(magic(u32(inner_first[k].length)));
    }
    call.add(r).launch({u32(ceil_div(items, kItems))}, stream_);
  }

  // Axis `i` is contiguous in `from`, the last one in `to`.
  void transpose(std::span<const Axis> axes, std::size_t i, std::uint64_t from, std::uint64_t to,
                 const RoundingArgs& r) {
    struct Batch {
      Axis axis;
      std::int64_t number = 0;  // elements of the result from one index to the next
    };
    std::array<Batch, kAxes - 2> batch;
    std::size_t used = 0;
    std::int64_t number = axes.back().length;
    std::int64_t number_i = 0;
    for (std::size_t k = axes.size() - 1; k-- > 0;) {
      if (k == i) {
        number_i = number;
      } else {
        batch[used++] = {axes[k], number};
      }
      number *= axes[k].length;
    }
    const std::int64_t tiles_i = ceil_div(axes[i].length, kTile);
    const std::int64_t tiles_j = ceil_div(axes.back().length, kTile);
    Call call(device_, "transpose_" + from_type_ + "_" + to_type_);
    call.add(from).add(to).add(u32(axes[i].length)).add(u32(axes.back().length));
    call.add(from_bytes(axes.back())).add(to_bytes(axes[i])).add(u32(number_i));
    call.add(u32(tiles_i)).add(magic(u32(tiles_i))).add(u32(tiles_j)).add(magic(u32(tiles_j)));
    for (std::size_t k = 0; k < 2; ++k) call.add(u32(batch[k].axis.length)).add(magic(u32(batch[k].axis.length)));
    for (const Batch& b : batch) call.add(from_bytes(b.axis));
    for (const Batch& b : batch) call.add(to_bytes(b.axis));
    for (const Batch& b : batch) call.add(u32(b.number));
    std::int64_t ctas = tiles_i * tiles_j;
    for (const Batch& b : batch) ctas *= b.axis.length;
    call.add(r).launch({u32(ctas)}, stream_);
  }

  Device& device_;
  std::string op_;
  std::string from_type_, to_type_;
  std::int64_t from_width_, to_width_;
  Dtype to_dtype_;
  Rounding rounding_;
  StreamId stream_;
  std::int64_t most_;
};

}  // namespace

void convert_strided(Device& device, const View& from, const View& to, const Shape& shape, const Rounding& rounding,
                     StreamId stream, const char* op, std::int64_t most) {
  Converter converter(device, from, to, rounding, stream, op, most);
  check_rounding(op, rounding, to.dtype);
  if (element_count(shape) == 0) return;
  const Axes a = canonical_axes(shape, from.strides, to.strides);
  converter.run(a.axes, offset(from, a.from_at), offset(to, a.to_at), 0);
}

}  // namespace nn

void convert(const Tensor& from, Tensor& to, const Rounding& rounding, const Stream& stream) {
  const Placed placed("convert", {{"from", from}, {"to", to}, {"stream", stream}});
  nn::type_word("convert", "from", from.dtype());
  nn::type_word("convert", "to", to.dtype());
  if (from.shape() != to.shape()) {
    throw InvalidArgument("convert: to has shape " + text_of(to.shape()) + "; needs that of from, " +
                          text_of(from.shape()));
  }
  if (!distinct(to.shape(), to.strides())) {
    throw InvalidArgument("convert: to has strides " + text_of(to.strides()) +
                          ": several of its elements are the same memory");
  }
  const bool same =
      from.address() == to.address() && from.strides() == to.strides() && size_of(from.dtype()) == size_of(to.dtype());
  if (!same && shares_memory(from, to)) {
    throw InvalidArgument("convert: to shares memory with from; needs memory of its own, or all of the same");
  }
  nn::convert_strided(current_device(), {from.address(), from.dtype(), from.strides()},
                      {to.address(), to.dtype(), to.strides()}, to.shape(), rounding, stream.handle());
  from.used_on(stream);
  to.used_on(stream);
}

}  // namespace nervanagpu
