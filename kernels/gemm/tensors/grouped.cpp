// Products of tensors that do not depend on each other: checked here, launched together where group.h can.
#include <algorithm>
#include <string>

#include "kernels/gemm/epilogue/results.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/group.h"
#include "kernels/gemm/tensors/dot.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/grouped_gemm.hpp"
#include "src/device/placement.h"
#include "src/memory/workspace.h"
#include "src/tensor/shape.h"
#include "src/tensor/shares_memory.h"

namespace nervanagpu {
namespace {

[[noreturn]] void refuse(std::size_t index, const std::string& what) {
  throw InvalidArgument("grouped_dot: product " + std::to_string(index) + ": " + what);
}

std::int64_t span_of(const Tensor& t) {
  const Extent e = extent_of(t.shape(), t.strides());
  return t.size() == 0 ? 0 : e.high - e.low + 1;
}

// Bytes that a result covers, and whose it is.
struct Result {
  std::uint64_t begin, end;
  std::size_t product;
};

std::vector<Result> results_of(const std::vector<GroupedProduct>& products) {
  std::vector<Result> out;
  for (std::size_t i = 0; i < products.size(); ++i) {
    const Tensor& c = products[i].c;
    if (c.size() == 0) continue;
    const Extent e = extent_of(c.shape(), c.strides());
    const auto size = static_cast<std::int64_t>(size_of(c.dtype()));
    out.push_back({c.address() + static_cast<std::uint64_t>(e.low * size),
                   c.address() + static_cast<std::uint64_t>((e.high + 1) * size), i});
  }
  std::sort(out.begin(), out.end(), [](const Result& a, const Result& b) { return a.begin < b.begin; });
  return out;
}

// No product reads or writes what another one writes.
void check_apart(const std::vector<GroupedProduct>& products) {
  const std::vector<Result> results = results_of(products);
  std::uint64_t longest = 0;
  for (const Result& r : results) longest = std::max(longest, r.end - r.begin);
  const auto check = [&](std::size_t i, const char* name, const Tensor& t) {
    if (t.size() == 0) return;
    const Extent e = extent_of(t.shape(), t.strides());
    const auto size = static_cast<std::int64_t>(size_of(t.dtype()));
    const std::uint64_t begin = t.address() + static_cast<std::uint64_t>(e.low * size);
    const std::uint64_t end = t.address() + static_cast<std::uint64_t>((e.high + 1) * size);
    const std::uint64_t from = begin > longest ? begin - longest : 0;
    auto r = std::lower_bound(results.begin(), results.end(), from,
                              [](const Result& x, std::uint64_t v) { return x.begin < v; });
    for (; r != results.end() && r->begin < end; ++r) {
      if (r->product == i || r->end <= begin || !shares_memory(products[r->product].c, t)) continue;
      refuse(i, std::string(name) + " shares memory with out of product " + std::to_string(r->product));
    }
  };
  for (std::size_t i = 0; i < products.size(); ++i) {
    check(i, "a", products[i].a);
    check(i, "b", products[i].b);
    check(i, "out", products[i].c);
  }
}

bool as_it_lies(const GroupedProduct& x, const GemmOptions& options) {
  const auto lies = [](const Tensor& t) { return t.size() == 0 || sgemm::matrix_of(t).has_value(); };
  return lies(x.a) && lies(x.b) && lies(x.c) && (options.bias == nullptr || options.bias->contiguous());
}

}  // namespace

void grouped_dot(const std::vector<GroupedProduct>& products, const GemmOptions& options) {
  if (sgemm::along_rows(options)) {
    throw InvalidArgument("grouped_dot: there is a mask, or sums; needs products of their own calls");
  }
  std::vector<Placed::Operand> operands{{"stream", options.stream}, {"bias", options.bias}};
  for (const GroupedProduct& x : products) {
    operands.insert(operands.end(), {{"a of a product", x.a}, {"b of a product", x.b}, {"c of a product", x.c}});
  }
  const Placed placed("grouped_dot", operands);
  for (std::size_t i = 0; i < products.size(); ++i) {
    try {
      sgemm::check_product(products[i].a, products[i].b, products[i].c, options);
    } catch (const TypeError& e) {
      throw TypeError("grouped_dot: product " + std::to_string(i) + ": " + e.what());
    } catch (const InvalidArgument& e) {
      refuse(i, e.what());
    }
  }
  check_apart(products);
  GemmOptions each = options;
  if (each.splits == 0) each.splits = 1;
  std::vector<GemmProblem> all;
  for (const GroupedProduct& x : products) {
    if (as_it_lies(x, each)) {
      all.push_back(sgemm::describe(x.a, x.b, x.c, each).problem);
    } else {
      Tensor c = x.c;
      gemm(x.a, x.b, c, each);
    }
    each.rounding.offset += static_cast<std::uint64_t>((span_of(x.c) + 3) / 4);
  }
  const Workspace tables(sgemm::tables_of(all.size()), options.stream);
  sgemm::launch_group(current_device(), all, tables.address(), options.stream.handle(),
                      [&](const GemmProblem& p) { sgemm::run(p, each); });
  for (const GroupedProduct& x : products) {
    for (const Tensor* t : {&x.a, &x.b, &x.c}) t->used_on(options.stream);
  }
  if (options.bias != nullptr) options.bias->used_on(options.stream);
}

}  // namespace nervanagpu
