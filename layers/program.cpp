#include "layers/program.h"

#include <algorithm>
#include <climits>
#include <numeric>

#include "layers/text.h"

namespace nervanagpu::layers {
namespace {

constexpr std::size_t kAlign = 256;

}  // namespace

Tensor row_major(std::uint64_t address, const Shape& shape, Dtype dtype) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return Tensor::wrap(address, shape, strides, dtype);
}

std::int64_t Ref::size() const {
  return product(shape);
}

std::size_t Ref::bytes() const {
  return static_cast<std::size_t>(size()) * size_of(dtype);
}

Ref Ref::reshaped(Shape other) const {
  Ref r = *this;
  r.shape = std::move(other);
  return r;
}

Ref Ref::rows(std::int64_t start, std::int64_t count) const {
  Ref r = *this;
  r.offset += start * (size() / shape[0]) * static_cast<std::int64_t>(size_of(dtype));
  r.shape[0] = count;
  return r;
}

Ref Ref::channels(std::int64_t start, std::int64_t count) const {
  Ref r = *this;
  r.offset += start * static_cast<std::int64_t>(size_of(dtype));
  r.pitch = shape.back();
  r.shape.back() = count;
  return r;
}

std::uint64_t Run::address(const Ref& r) const {
  return arena + program->offset(r.id) + static_cast<std::uint64_t>(r.offset);
}

Tensor Run::tensor(const Ref& r) const {
  if (r.pitch == 0) return row_major(address(r), r.shape, r.dtype);
  Shape strides(r.shape.size(), 1);
  for (std::size_t i = strides.size() - 1; i-- > 0;) {
    strides[i] = i + 2 == strides.size() ? r.pitch : strides[i + 1] * r.shape[i + 1];
  }
  return Tensor::wrap(address(r), r.shape, strides, r.dtype);
}

Rounding Run::rounding(std::int64_t elements) {
  Rounding out = mode;
  if (!out.stochastic) return out;
  out.seed = seed;
  out.offset = (step << 40) + counters;
  counters += static_cast<std::uint64_t>((elements + 3) / 4);
  return out;
}

Ref Program::make(Shape shape, Dtype dtype) {
  Ref r;
  r.id = static_cast<int>(buffers_.size());
  r.shape = std::move(shape);
  r.dtype = dtype;
  buffers_.push_back({r.bytes(), -1, -1, 0});
  return r;
}

void Program::live(const Ref& r, int at) {
  if (!r.valid()) return;
  Buffer& b = buffers_[static_cast<std::size_t>(r.id)];
  b.first = b.first < 0 ? at : std::min(b.first, at);
  b.last = std::max(b.last, at);
}

void Program::add(const std::vector<Ref>& uses, std::function<void(Run&)> run) {
  for (const Ref& r : uses) live(r, static_cast<int>(ops_.size()));
  ops_.push_back(std::move(run));
}

void Program::ahead(const std::vector<Ref>& uses, std::function<void(Run&)> run) {
  for (const Ref& r : uses) live(r, 0);
  ahead_.push_back(std::move(run));
}

void Program::observe(const std::string& layer, const char* what, const Ref& r) {
  add({r}, [layer, what, r](Run& run) {
    if (run.observer) run.observer(layer, what, run.tensor(r));
  });
}

void Program::leaves(const Ref& r, bool forever) {
  live(r, forever ? INT_MAX : std::max(0, static_cast<int>(ops_.size()) - 1));
}

void Program::place(bool share) {
  bytes_ = place_buffers(buffers_, share);
}

void Program::run_all(Run& run, std::span<const std::function<void(Run&)>> ops) {
  for (const std::function<void(Run&)>& op : ops) {
    if (run.interrupt) run.interrupt();
    op(run);
  }
}

void Program::run_ahead(Run& run) const {
  run_all(run, ahead_);
}

void Program::run_forward(Run& run) const {
  run.counters = 0;
  run_all(run, std::span(ops_).first(std::min(backward_, ops_.size())));
}

void Program::run_backward(Run& run) const {
  run.counters = std::uint64_t{1} << 39;
  run_all(run, std::span(ops_).subspan(std::min(backward_, ops_.size())));
}

// The largest first, each at the lowest place that is free for its whole life: not the optimum, but within a few percent
// of the largest sum of what lives at once for chains of layers.
std::size_t place_buffers(std::vector<Program::Buffer>& buffers, bool share) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  std::vector<std::size_t> placed;  // by offset
  std::size_t total = 0;
  for (const std::size_t i : order) {
    Program::Buffer& b = buffers[i];
    if (b.first < 0) continue;
    std::size_t at = 0;
    for (const std::size_t j : placed) {
      const Program::Buffer& other = buffers[j];
      if (share && (other.last < b.first || b.last < other.first)) continue;
      if (at + b.bytes <= other.offset) break;
      at = std::max(at, (other.offset + other.bytes + kAlign - 1) / kAlign * kAlign);
    }
    b.offset = at;
    total = std::max(total, at + b.bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](std::size_t a, std::size_t c) { return buffers[a].offset < buffers[c].offset; }),
                  i);
  }
  return total;
}

}  // namespace nervanagpu::layers
