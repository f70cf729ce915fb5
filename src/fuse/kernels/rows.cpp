#include "src/fuse/kernels/rows.h"

#include <algorithm>

#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/device/select_device.h"
#include "src/fuse/kernel.h"
#include "src/fuse/kernels/columns.h"
#include "src/fuse/kernels/rows_kernel.h"
#include "src/fuse/kernels/tiles.h"
#include "src/launch/magic.h"

namespace nervanagpu::fuse {
namespace {

constexpr std::int64_t kMostOffset = (std::int64_t{1} << 31) - 1;
constexpr unsigned kThreads = 256;           // of rows that are not held
constexpr std::int64_t kElements = 1 << 13;  // of a CTA, at least
constexpr std::int64_t kLongest = 1 << 15;   // row that one CTA takes, where there are few
constexpr std::int64_t kPiece = 1 << 14;     // of such a row, at least
constexpr std::int64_t kAhead = 2'000'000;   // bytes of rows that are asked for before the CTAs that take them start

class Run {
 public:
  Run(const Program& p, const Layout& layout, std::vector<Dtype> dtypes, std::vector<std::uint64_t> address)
      : p_(p), layout_(layout), dtypes_(std::move(dtypes)), address_(std::move(address)) {}

  void launch() {
    Device& device = current_device();
    const Axis& inner = layout_.axes.back();
    RowPlan f = plan();
    GeneratedPtr kernel;
    while (kernel == nullptr) {
      try {
        kernel = generated(key(f), [&] { return make_rows(p_, f, device.registry().arch()); });
      } catch (const Error&) {
        if (f.held == 0) throw;  // what is not held takes fewer registers
        if (f.keep) {
          f.keep = false;
          continue;
        }
        f.held = 0;
        f.exact = f.ahead = false;
        f.threads = f.group = kThreads;
      }
    }
    const std::int64_t rows = layout_.size() / inner.length;
    const std::int64_t at_once = f.group == 32 ? f.threads / 32 : 1;
    // A CTA for each row, so that a CTA that has ended makes room for the next; for several, where they are short.
    const std::int64_t turns = turns_of(at_once);
    const auto ctas = static_cast<std::uint32_t>(ceil_div(rows, at_once * turns));
    Parameters params;
    params.u32(rows).u32(ctas * at_once).u32(inner.length / f.lanes);
    if (f.ahead) params.u32(rows_ahead(f));
    for (std::size_t d = layout_.axes.size() - 1; d-- > 1;) {
      const Magic m = magic(static_cast<std::uint32_t>(layout_.axes[d].length));
      params.u32(-layout_.axes[d].length).u32(m.mul).u32(m.shift);
    }
    for (std::size_t k = 0; k < f.access.size(); ++k) {
      if (f.access[k] == Access::uniform) continue;
      if (layout_.axes.size() == 1) params.u32(0);
      for (std::size_t d = layout_.axes.size() - 1; d-- > 0;) params.u32(layout_.axes[d].strides[k]);
      if (f.access[k] == Access::strided) params.u32(inner.strides[k]);
    }
    params.operands(p_, address_);
    kernel->launch(ctas, params);
  }

 private:
  [[nodiscard]] std::int64_t turns_of(std::int64_t at_once) const {
    return std::clamp<std::int64_t>(kElements / (at_once * layout_.axes.back().length), 1, 16);
  }
  // As many as are kAhead bytes of the operand along rows.
  [[nodiscard]] std::int64_t rows_ahead(const RowPlan& f) const {
    std::size_t k = 0;
    while (f.access[k] != Access::dense || counts(p_.tensors[k])) ++k;
    const std::int64_t row = layout_.axes.back().length * static_cast<std::int64_t>(size_of(dtypes_[k]));
    return std::max<std::int64_t>(1, kAhead / row);
  }

  [[nodiscard]] RowPlan plan() const {
    RowPlan f;
    const Axis& inner = layout_.axes.back();
    f.rank = std::max<std::size_t>(1, layout_.axes.size() - 1);
    std::size_t widest = 1;
    unsigned along = 0;
    bool side_by_side = true;
    for (std::size_t k = 0; k < dtypes_.size(); ++k) {
      const bool output = k >= p_.tensors.size();
      const bool constant = std::ranges::all_of(layout_.axes, [&](const Axis& a) { return a.strides[k] == 0; });
      const bool of_row = output ? p_.values[static_cast<std::size_t>(p_.outputs[k - p_.tensors.size()].value)].reduced
                                 : std::ranges::any_of(p_.values, [&](const Value& v) {
                                     return (v.op == ExprOp::tensor || v.op == ExprOp::index) &&
                                            v.leaf == static_cast<int>(k) && v.reduced;
                                   });
      f.access.push_back(constant && !output     ? Access::uniform
                         : of_row                ? Access::splat
                         : inner.strides[k] == 1 ? Access::dense
                                                 : Access::strided);
      if (f.access.back() == Access::uniform || f.access.back() == Access::splat) continue;
      widest = std::max(widest, size_of(dtypes_[k]));
      side_by_side = side_by_side && f.access.back() == Access::dense;
      if (!output && address_[k] < kIndexBase) ++along;
    }
    f.lanes = side_by_side ? static_cast<unsigned>(16 / widest) : 1;
    while (f.lanes > 1 && !aligned(f)) f.lanes /= 2;
    if (!side_by_side) {
      for (Access& a : f.access) {
        if (a == Access::dense) a = Access::strided;
      }
    }
    const std::int64_t items = inner.length / f.lanes;
    const unsigned words =
        std::max<unsigned>(1, along) * std::max<unsigned>(1, static_cast<unsigned>(f.lanes * widest / 4));
    const auto most_held = static_cast<std::int64_t>(std::max(1U, std::min(16U, 32U / words)));
    const auto hold = [&](unsigned threads, unsigned group) {
      f.threads = threads;
      f.group = group;
      f.held = static_cast<unsigned>((items + group - 1) / group);
      f.exact = items % group == 0;
      // Few kernels: held rows of any length up to the next power of two share one.
      if (!f.exact) {
        unsigned up = 1;
        while (up < f.held) up *= 2;
        f.held = up;
      }
    };
    if (items <= 32 * std::min<std::int64_t>(4, most_held)) {
      hold(256, 32);
      return f;
    }
    // Kernels that write rows are half as long, and a little faster, with half the items in twice the threads.
    const bool writes = std::ranges::any_of(
        p_.outputs, [&](const Output& o) { return !p_.values[static_cast<std::size_t>(o.value)].reduced; });
    for (const unsigned threads : {128U, 256U, 512U, 1024U}) {
      const std::int64_t items_each = threads == 1024 ? 16 : writes && threads < 512 ? 4 : 8;
      const std::int64_t most = std::min<std::int64_t>(items_each, most_held);
      if (items > threads * most) continue;
      hold(threads, threads);
      f.ahead = writes && along == 1 && side_by_side && threads < 1024 && turns_of(1) == 1 &&
                current_device().registry().arch() == sass::Arch::sm_90a;
      return f;
    }
    f.threads = f.group = kThreads;
    return f;
  }

  [[nodiscard]] bool aligned(const RowPlan& f) const {
    if (layout_.axes.back().length % f.lanes != 0) return false;
    for (std::size_t k = 0; k < dtypes_.size(); ++k) {
      if (f.access[k] != Access::dense) continue;
      const std::uint64_t size = size_of(dtypes_[k]);
      const std::uint64_t bytes = std::min<std::uint64_t>(16, f.lanes * size);
      if (address_[k] % bytes != 0) return false;
      for (std::size_t a = 0; a + 1 < layout_.axes.size(); ++a) {
        if (static_cast<std::uint64_t>(std::abs(layout_.axes[a].strides[k])) * size % bytes != 0) return false;
      }
    }
    return true;
  }

  [[nodiscard]] std::string key(const RowPlan& f) const {
    std::string out = "r";
    for (const std::size_t n :
         {std::size_t{f.threads / 32}, std::size_t{f.group / 32}, std::size_t{f.lanes}, std::size_t{f.held},
          std::size_t{f.exact}, std::size_t{f.keep}, std::size_t{f.ahead}, f.rank}) {
      out.push_back(static_cast<char>(n));
    }
    for (std::size_t k = 0; k < f.access.size(); ++k) {
      out.push_back(static_cast<char>(f.access[k]));
      out.push_back(static_cast<char>(dtypes_[k]));
    }
    append_key(out, p_);
    return out;
  }

  const Program& p_;
  const Layout& layout_;
  std::vector<Dtype> dtypes_;
  std::vector<std::uint64_t> address_;
};

// Halves the rows until indices and offsets have 31 bits.
void run_part(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
              const std::vector<std::uint64_t>& address) {
  bool fits = layout.size() / layout.axes.back().length <= kMostOffset / 2;
  for (std::size_t k = 0; k < dtypes.size(); ++k) {
    std::int64_t low = 0, high = 0;
    for (const Axis& a : layout.axes) (a.strides[k] < 0 ? low : high) += a.strides[k] * (a.length - 1);
    fits = fits && low >= -kMostOffset && high <= kMostOffset;
  }
  const auto longest = std::ranges::max_element(layout.axes.begin(), layout.axes.end() - 1, {}, &Axis::length);
  if (fits || layout.axes.size() < 2 || longest->length == 1) {
    if (is_columns(p, layout)) return run_columns(p, layout, dtypes, address);
    if (const auto tiles = tile_plan(p, layout, dtypes, address)) {
      if (run_tiles(p, layout, *tiles, dtypes, address)) return;
    }
    return Run(p, layout, dtypes, address).launch();
  }
  Layout half = layout;
  Axis& axis = half.axes[static_cast<std::size_t>(longest - layout.axes.begin())];
  const std::int64_t done = axis.length / 2;
  axis.length = done;
  run_part(p, half, dtypes, address);
  axis.length = longest->length - done;
  std::vector<std::uint64_t> behind = address;
  for (std::size_t k = 0; k < dtypes.size(); ++k) {
    behind[k] += static_cast<std::uint64_t>(axis.strides[k] * done) * size_of(dtypes[k]);
  }
  run_part(p, half, dtypes, behind);
}

}  // namespace

Walk::Walk(const Program& p) : program(p) {
  std::vector<std::vector<std::int64_t>> strides;
  const auto add = [&](const Tensor& t, bool dropped) {
    strides.push_back(row_strides(t, p.shape, p.axes, dropped));
    dtypes.push_back(t.dtype());
    address.push_back(t.address());
  };
  for (std::size_t i = 0; i < p.tensors.size(); ++i) add(p.tensors[i], p.row_leaf[i]);
  for (const Output& o : p.outputs) add(o.to, o.to.shape().size() < p.shape.size());
  layout = row_layout(p.shape, p.axes, strides, p.tensors.size());
}

std::int64_t Walk::pieces() const {
  const std::int64_t multiprocessors = current_device().info().multiprocessors;
  if (is_columns(program, layout)) return column_pieces(program, layout, dtypes, address, multiprocessors);
  if (is_across(program, layout)) return 1;
  if (length() <= (is_one_pass(program) ? kLongest : 16 * kLongest) || rows() >= multiprocessors * 4) return 1;
  return std::clamp<std::int64_t>(multiprocessors * 16 / rows(), 1, length() / kPiece);
}

bool Walk::reads_again() const {
  return is_across(program, layout) && !is_one_pass(program) && !tile_plan(program, layout, dtypes, address);
}

void Walk::run() const {
  if (layout.size() == 0) return;
  run_part(program, layout, dtypes, address);
}

Walk Walk::chunks(std::int64_t first, std::int64_t count, std::int64_t chunk, std::int64_t step) const {
  Walk out = *this;
  Axis& row = out.layout.axes.back();
  Axis many = row;
  for (std::size_t k = 0; k < dtypes.size(); ++k) {
    const bool output = k >= program.tensors.size();
    many.strides[k] = output ? step : row.strides[k] * chunk;
    out.address[k] += static_cast<std::uint64_t>(many.strides[k] * first) * size_of(dtypes[k]);
  }
  many.length = count;
  row.length = std::min(chunk, length() - first * chunk);
  if (count > 1) out.layout.axes.insert(out.layout.axes.begin(), many);
  return out;
}

}  // namespace nervanagpu::fuse
