// Products of any shapes together: of lists of tensors; and, where an operator can have none, each is noted in a tensor of numbers,
// which then says what is to be computed. Who calls keeps the tensors alive from the notes to the launch.
#include <array>
#include <cstring>
#include <vector>

#include "python/torch_ops/numbers.h"
#include "python/torch_ops/operators.h"
#include "python/torch_ops/products.h"

namespace nervanagpu::python::torch {

std::vector<Array> grouped_mm(const std::vector<Array>& a, const std::vector<Array>& b, std::int64_t precision) {
  if (a.size() != b.size()) {
    refuse(std::to_string(a.size()) + " and " + std::to_string(b.size()) + " operands; needs as many");
  }
  std::vector<Array> out;
  if (a.empty()) return out;
  std::vector<const Array*> operands;
  for (const auto* some : {&a, &b}) {
    for (const Array& t : *some) operands.push_back(&t);
  }
  const Call call{operands};
  GemmOptions options;
  options.precision = precision_of(precision);
  options.stream = call.stream();
  std::vector<GroupedProduct> all;
  for (std::size_t i = 0; i < a.size(); ++i) {
    check_product(a[i], b[i], 2);
    out.push_back(empty(a[i], {a[i].size(0), b[i].size(1)}));
    Array& c = out.back();
    if (c.elements() == 0 || a[i].size(1) == 0) {
      c = zeroed(std::move(c));
    } else {
      all.push_back({Call::ours(a[i]), Call::ours(b[i]), Call::ours(c)});
    }
  }
  if (!all.empty()) grouped_dot(all, options);
  return out;
}

namespace {

// A row of the notes.
struct Note {
  std::int64_t a, b, c, m, k, n;
  std::array<std::int64_t, 2> a_strides, b_strides;
  std::int64_t type, device;  // device: -1 for the CPU
};
constexpr std::int64_t kWords = sizeof(Note) / sizeof(std::int64_t);

Note* notes_of(const Array& notes) {
  const bool fits = notes.type() == shim().dtype_int64() && !notes.on_gpu() && notes.axes() == 2 &&
                    notes.size(1) == kWords && notes.contiguous();
  if (!fits)
    refuse("notes " + shown(notes.sizes()) + "; needs int64 on the CPU, (products, " + std::to_string(kWords) + ")");
  return static_cast<Note*>(notes.data());
}

std::int64_t address(const Array& t) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(t.data()));
}

Array note(const Array& notes, std::int64_t index, const Array& a, const Array& b) {
  const Call call{&a, &b};
  check_product(a, b, 2);
  Note* rows = notes_of(notes);
  if (index < 0 || index >= notes.size(0)) refuse("index " + std::to_string(index) + " of " + shown(notes.sizes()));
  Array out = empty(a, {a.size(0), b.size(1)});
  const Note row{address(a),
                 address(b),
                 address(out),
                 a.size(0),
                 a.size(1),
                 b.size(1),
                 {a.stride(0), a.stride(1)},
                 {b.stride(0), b.stride(1)},
                 a.type(),
                 a.on_gpu() ? a.device() : -1};
  std::memcpy(rows + index, &row, sizeof row);
  return out;
}

// An operand's memory, as if it were a tensor of torch's.
Tensor memory(std::int64_t at, Shape sizes, Shape strides, Dtype dtype, bool gpu) {
  const auto place = static_cast<std::uint64_t>(at);
  if (gpu) return Tensor::wrap(place, std::move(sizes), std::move(strides), dtype);
  return Tensor::adopt_host(reinterpret_cast<void*>(place), std::move(sizes), std::move(strides), dtype,  // NOLINT
                            std::function<void()>());
}

void run(const Array& notes, const Array& like, std::int64_t precision) {
  const Call call{&like};
  const Note* rows = notes_of(notes);
  GemmOptions options;
  options.precision = precision_of(precision);
  options.stream = call.stream();
  std::vector<GroupedProduct> all;
  for (std::int64_t i = 0; i < notes.size(0); ++i) {
    const Note& r = rows[i];
    if (r.type != like.type()) {
      refuse("operands of several dtypes: " + dtype_name(like.type()) + ", " +
             dtype_name(static_cast<std::int32_t>(r.type)));
    }
    if (r.device != (like.on_gpu() ? like.device() : -1)) refuse("operands on several devices");
    if (r.m == 0 || r.n == 0) continue;
    const auto lies = [&](std::int64_t at, Shape sizes, const std::array<std::int64_t, 2>& strides) {
      return memory(at, std::move(sizes), {strides[0], strides[1]}, like.dtype(), like.on_gpu());
    };
    Tensor a = lies(r.a, {r.m, r.k}, r.a_strides), b = lies(r.b, {r.k, r.n}, r.b_strides);
    Tensor c = lies(r.c, {r.m, r.n}, {r.n, 1});
    if (r.k == 0) {
      gemm(a, b, c, options);  // zeros
    } else {
      all.push_back({std::move(a), std::move(b), std::move(c)});
    }
  }
  if (!all.empty()) grouped_dot(all, options);
}

constexpr std::array kGroups{
    Operator{"grouped_mm_note(Tensor notes, int index, Tensor a, Tensor b) -> Tensor", boxed<note>},
    Operator{"grouped_mm_run(Tensor notes, Tensor like, int precision) -> ()", boxed<run>}};

}  // namespace

std::span<const Operator> groups() {
  return kGroups;
}

}  // namespace nervanagpu::python::torch
