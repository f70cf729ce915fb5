#include <algorithm>
#include <string>

#include "kernels/gemm/dot.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/overlap.h"
#include "kernels/gemm/results.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/grouped_gemm.hpp"
#include "src/select_device.h"
#include "src/shape.h"

namespace nervanagpu {
namespace {

constexpr std::int64_t kMostMatrices = 65535;  // of a launch

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
      if (r->product == i || r->end <= begin || !sgemm::overlap(products[r->product].c, t)) continue;
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

// Products that are one batch: the first one, and how far apart the operands of neighbours lie.
struct Run {
  GemmProblem problem;
  std::uint64_t a = 0, b = 0, c = 0;  // of the last one, addresses
};

// The elements from one address to the next; -1: none that a batch can have.
std::int64_t stride_of(std::uint64_t from, std::uint64_t to, Dtype type) {
  const std::uint64_t size = size_of(type);
  return to < from || (to - from) % size != 0 ? -1 : static_cast<std::int64_t>((to - from) / size);
}

bool join(Run& run, const GemmProblem& next) {
  GemmProblem form = next;
  GemmProblem& p = run.problem;
  form.a = p.a, form.b = p.b, form.c = p.c;
  form.batch = p.batch, form.stride_a = p.stride_a, form.stride_b = p.stride_b, form.stride_c = p.stride_c;
  form.rounding.offset = p.rounding.offset;
  if (!(form == p) || p.rounding.stochastic || p.splits > 1 || p.batch == kMostMatrices || p.k == 0) return false;
  // Where one of them has tensor cores and the other has not, bits would tell who is in a group with whom.
  const auto alike = [](std::uint64_t x, std::uint64_t y) { return (x % 16 == 0) == (y % 16 == 0); };
  if (!alike(p.a, next.a) || !alike(p.b, next.b)) return false;
  const std::int64_t a = stride_of(run.a, next.a, p.a_type);
  const std::int64_t b = stride_of(run.b, next.b, p.b_type);
  const std::int64_t c = stride_of(run.c, next.c, p.c_type);
  if (a < 0 || b < 0 || c < 0) return false;
  GemmProblem wider = p;
  ++wider.batch;
  wider.stride_a = a, wider.stride_b = b, wider.stride_c = c;
  if (!sgemm::apart(sgemm::spread_of(wider))) return false;
  if (p.batch > 1 && (a != p.stride_a || b != p.stride_b || c != p.stride_c)) return false;
  p = wider;
  run.a = next.a, run.b = next.b, run.c = next.c;
  return true;
}

}  // namespace

void grouped_dot(const std::vector<GroupedProduct>& products, const GemmOptions& options) {
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
  Run run;
  run.problem.batch = 0;  // none
  const auto flush = [&] {
    if (run.problem.batch > 0) sgemm::run(run.problem, each);
    run.problem.batch = 0;
  };
  for (const GroupedProduct& x : products) {
    if (as_it_lies(x, each)) {
      const GemmProblem p = sgemm::describe(x.a, x.b, x.c, each).problem;
      if (p.m != 0 && p.n != 0 && !(run.problem.batch > 0 && join(run, p))) {
        flush();
        run = {p, p.a, p.b, p.c};
      }
    } else {
      flush();
      Tensor c = x.c;
      gemm(x.a, x.b, c, each);
    }
    each.rounding.offset += static_cast<std::uint64_t>((span_of(x.c) + 3) / 4);
  }
  flush();
  for (const GroupedProduct& x : products) {
    for (const Tensor* t : {&x.a, &x.b, &x.c}) t->used_on(options.stream);
  }
  if (options.bias != nullptr) options.bias->used_on(options.stream);
}

}  // namespace nervanagpu
