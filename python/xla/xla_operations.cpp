#include "python/xla/xla_operations.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "nervanagpu/nervanagpu.h"
#include "nervanagpu/nervanagpu.hpp"
#include "nervanagpu/nn.hpp"

namespace nervanagpu::python::xla {
namespace {

using Shape = std::vector<std::int64_t>;
constexpr std::size_t kAligned = 256;  // parts of a workspace

void check(ng_status status) {
  switch (status) {
    case NG_OK: return;
    case NG_INVALID_ARGUMENT: throw InvalidArgument(ng_last_error());
    case NG_TYPE_ERROR: throw TypeError(ng_last_error());
    case NG_OUT_OF_MEMORY: throw OutOfMemory(ng_last_error());
    case NG_DEVICE_LOST: throw DeviceLost(ng_last_error());
    default: throw Error(ng_last_error());
  }
}

std::string shown(const Shape& shape) {
  std::string out = "(";
  for (const std::int64_t n : shape) out += (out.size() > 1 ? ", " : "") + std::to_string(n);
  return out + (shape.size() == 1 ? ",)" : ")");
}

// --- what a call must have, whoever wrote it: a wrong one is refused, not run ------------------------------------------

const Shape& numbers(const Request& call, std::string_view name, std::size_t count) {
  const auto found = call.numbers.find(name);
  if (found == call.numbers.end() || found->second.size() != count) {
    throw InvalidArgument("attribute " + std::string(name) + ": needs " + std::to_string(count) + " of int64");
  }
  return found->second;
}

std::int64_t number(const Request& call, std::string_view name) {
  return numbers(call, name, 1)[0];
}

std::int32_t small(const Request& call, std::string_view name) {
  const std::int64_t value = number(call, name);
  if (value < 0 || value > 255) {
    throw InvalidArgument("attribute " + std::string(name) + " is " + std::to_string(value) + "; needs 0 to 255");
  }
  return static_cast<std::int32_t>(value);
}

void need_operands(const Request& call, std::size_t least, std::size_t most, std::size_t results) {
  if (call.in.size() < least || call.in.size() > most || call.out.size() != results) {
    throw InvalidArgument("a call with " + std::to_string(call.in.size()) + " operands and " +
                          std::to_string(call.out.size()) + " results; needs " + std::to_string(least) + " to " +
                          std::to_string(most) + " and " + std::to_string(results));
  }
}

void need_one_dtype(const Request& call) {
  const auto same = [&](const Operand& o) { return o.dtype == call.in[0].dtype; };
  if (!std::all_of(call.in.begin(), call.in.end(), same) || !std::all_of(call.out.begin(), call.out.end(), same)) {
    throw TypeError("operands and results of several dtypes; needs one");
  }
}

void need_shape(const char* what, const Operand& o, const Shape& shape) {
  if (o.shape != shape) throw InvalidArgument(std::string(what) + " is " + shown(o.shape) + "; needs " + shown(shape));
}

void need_axes(const char* what, const Operand& o, std::size_t least, std::size_t most) {
  if (o.shape.size() < least || o.shape.size() > most) {
    throw InvalidArgument(std::string(what) + " is " + shown(o.shape) + "; needs " + std::to_string(least) + " to " +
                          std::to_string(most) + " axes");
  }
}

Dtype dtype_of(const Operand& o) {
  return o.dtype == NG_FLOAT16 ? Dtype::float16 : o.dtype == NG_BFLOAT16 ? Dtype::bfloat16 : Dtype::float32;
}

// --- products: a (batch, m, k) or transposed, b (batch, k, n) or transposed, a batch of 1 is the same for all ----------

ng_gemm_problem product_of(const Request& call, const Operand& a, const Operand& b, const Operand& c) {
  need_axes("a", a, 3, 3);
  need_axes("b", b, 3, 3);
  ng_gemm_problem p = NG_GEMM_PROBLEM_INIT;
  p.a_transposed = small(call, "transpose_a");
  p.b_transposed = small(call, "transpose_b");
  p.sum_batch = small(call, "sum_batch");
  p.activation = small(call, "activation");
  p.precision = small(call, "precision");
  if (std::max(p.a_transposed, p.b_transposed) > 1) throw InvalidArgument("attribute transpose_: needs 0 or 1");
  p.m = a.shape[p.a_transposed ? 2 : 1];
  p.k = a.shape[p.a_transposed ? 1 : 2];
  p.n = b.shape[p.b_transposed ? 1 : 2];
  const std::int64_t one_a = a.shape[0], one_b = b.shape[0];
  p.batch = std::max(one_a, one_b);
  if ((one_a != p.batch && one_a != 1) || (one_b != p.batch && one_b != 1) || b.shape[p.b_transposed ? 2 : 1] != p.k) {
    throw InvalidArgument("a " + shown(a.shape) + " and b " + shown(b.shape) + " cannot be multiplied");
  }
  need_shape("c", c, {p.sum_batch ? 1 : p.batch, p.m, p.n});
  p.a = a.address, p.b = b.address, p.c = c.address;
  p.lda = a.shape[2], p.ldb = b.shape[2], p.ldc = p.n;
  p.stride_a = one_a == 1 ? 0 : p.m * p.k;
  p.stride_b = one_b == 1 ? 0 : p.k * p.n;
  p.stride_c = p.sum_batch ? 0 : p.m * p.n;
  if (p.batch == 1) p.sum_batch = 0, p.stride_c = 0;
  p.a_type = p.b_type = p.c_type = p.bias_type = a.dtype;
  return p;
}

ng_gemm_problem gemm_problem(const Request& call) {
  need_operands(call, 2, 3, 1);
  need_one_dtype(call);
  ng_gemm_problem p = product_of(call, call.in[0], call.in[1], call.out[0]);
  if (call.in.size() == 3) {
    need_shape("bias", call.in[2], {p.n});
    p.bias = call.in[2].address != 0 ? call.in[2].address : kAligned;  // of a query: there will be one
  }
  p.workspace = call.workspace;
  p.workspace_bytes = call.workspace_bytes;
  return p;
}

std::size_t gemm_bytes(const Request& call) {
  const ng_gemm_problem p = gemm_problem(call);
  std::size_t bytes = 0;
  check(ng_gemm_workspace(&p, &bytes));
  return bytes;
}

void run_gemm(const Request& call) {
  const ng_gemm_problem p = gemm_problem(call);
  check(ng_gemm(&p, call.stream));
}

// --- groups of products: a, a, ..., b, b, ... -> c, c, ... -------------------------------------------------------------

// The problems, and where the workspace of each begins; the one of the tables is last.
struct Group {
  std::vector<ng_gemm_problem> problems;
  std::vector<const ng_gemm_problem*> list;
  std::size_t tables_at = 0, tables_bytes = 0;
};

Group group_of(const Request& call) {
  const std::size_t count = call.out.size();
  need_operands(call, 2 * count, 2 * count, count);
  if (count == 0) throw InvalidArgument("no products; needs one or more");
  need_one_dtype(call);
  Group g;
  const std::uint64_t start = call.workspace != 0 ? call.workspace : kAligned;  // of a query: there will be one
  for (std::size_t i = 0; i < count; ++i) {
    ng_gemm_problem& p = g.problems.emplace_back(product_of(call, call.in[i], call.in[count + i], call.out[i]));
    p.splits = 1;
    std::size_t bytes = 0;
    check(ng_gemm_workspace(&p, &bytes));
    if (bytes != 0) {
      p.workspace = start + g.tables_at;
      p.workspace_bytes = bytes;
      g.tables_at += (bytes + kAligned - 1) / kAligned * kAligned;
    }
  }
  for (const ng_gemm_problem& p : g.problems) g.list.push_back(&p);
  check(ng_gemm_grouped_workspace(g.list.data(), count, &g.tables_bytes));
  return g;
}

std::size_t grouped_bytes(const Request& call) {
  const Group g = group_of(call);
  return g.tables_at + g.tables_bytes;
}

void run_grouped(const Request& call) {
  const Group g = group_of(call);
  if (call.workspace_bytes < g.tables_at + g.tables_bytes) throw InvalidArgument("workspace: too small");
  const std::uint64_t tables = g.tables_bytes == 0 ? 0 : call.workspace + g.tables_at;
  check(ng_gemm_grouped(g.list.data(), g.list.size(), tables, g.tables_bytes, call.stream));
}

// --- convolution and pooling: axes by layout ---------------------------------------------------------------------------

// The lengths of an x, w or y, whose axes are (outer, inner): (n, c), (k, c / groups), (n, k).
struct Lengths {
  std::int64_t outer = 1, inner = 1;
  std::array<std::int64_t, 3> space{1, 1, 1};
  bool operator==(const Lengths&) const = default;
};

Lengths lengths_of(const char* what, const Operand& o, std::int32_t layout) {
  need_axes(what, o, 3, 5);
  const std::size_t last = o.shape.size() - 1;
  const std::size_t outer = layout == NG_BATCH_LAST ? last : 0;
  const std::size_t inner = layout == NG_BATCH_LAST ? 0 : layout == NG_CHANNELS_LAST ? last : 1;
  const std::size_t first = layout == NG_CHANNELS_FIRST ? 2 : 1;
  Lengths out{o.shape[outer], o.shape[inner]};
  const auto begin = o.shape.begin() + static_cast<std::ptrdiff_t>(first);
  std::copy_n(begin, last - 1, out.space.end() - static_cast<std::ptrdiff_t>(last - 1));
  return out;
}

// The C++ interface, as the C one has no precision of convolutions.
struct Conv {
  ConvPass pass = ConvPass::fprop;
  ConvProblem problem;
  ConvPointers at;
  ConvOptions options;
};

Conv conv_of(const Request& call) {
  Conv c;
  const std::int32_t pass = small(call, "pass"), layout = small(call, "layout");
  if (pass > 2) throw InvalidArgument("attribute pass is " + std::to_string(pass) + "; needs 0 to 2");
  if (layout > 2) throw InvalidArgument("attribute layout is " + std::to_string(layout) + "; needs 0 to 2");
  c.pass = static_cast<ConvPass>(pass);
  need_operands(call, 2, c.pass == ConvPass::fprop ? 3 : 2, 1);
  need_one_dtype(call);
  const Operand& x = c.pass == ConvPass::fprop ? call.in[0] : c.pass == ConvPass::bprop ? call.out[0] : call.in[1];
  const Operand& w = c.pass == ConvPass::update ? call.out[0] : call.in[1];
  const Operand& y = c.pass == ConvPass::fprop ? call.out[0] : call.in[0];
  ConvProblem& p = c.problem;
  p.layout = static_cast<Layout>(layout);
  p.groups = number(call, "groups");
  p.x_type = p.w_type = p.y_type = c.at.bias_type = dtype_of(x);
  p.precision = small(call, "precision") == NG_TENSOR ? Precision::tensor : Precision::strict;
  const Lengths lx = lengths_of("x", x, layout), lw = lengths_of("w", w, layout);
  p.n = lx.outer, p.c = lx.inner, p.k = lw.outer;
  p.in = lx.space, p.filter = lw.space;
  std::copy_n(numbers(call, "stride", 3).begin(), 3, p.stride.begin());
  std::copy_n(numbers(call, "padding", 3).begin(), 3, p.pad.begin());
  std::copy_n(numbers(call, "dilation", 3).begin(), 3, p.dilation.begin());
  if (x.shape.size() != w.shape.size() || x.shape.size() != y.shape.size() || lw.inner * p.groups != p.c ||
      lengths_of("y", y, layout) != Lengths{p.n, p.k, p.out()}) {
    throw InvalidArgument("x " + shown(x.shape) + ", w " + shown(w.shape) + " and y " + shown(y.shape) + " in " +
                          std::to_string(p.groups) + " groups do not fit");
  }
  c.options.precision = p.precision;
  c.options.activation = static_cast<GemmActivation>(small(call, "activation"));
  c.options.stream = Stream::from_handle(call.stream);
  if (call.in.size() == 3) {
    need_shape("bias", call.in[2], {p.k});
    c.at.bias = call.in[2].address;
  }
  c.at.in1 = call.in[0].address, c.at.in2 = call.in[1].address, c.at.out = call.out[0].address;
  c.at.workspace = call.workspace;
  return c;
}

std::size_t conv_bytes(const Request& call) {
  const Conv c = conv_of(call);
  return conv_workspace(c.pass, c.problem);
}

void run_conv(const Request& call) {
  const Conv c = conv_of(call);
  const std::size_t needed = conv_workspace(c.pass, c.problem);
  if (call.workspace_bytes < needed)
    throw InvalidArgument("a workspace of " + std::to_string(call.workspace_bytes) + " bytes; needs " +
                          std::to_string(needed));
  conv(c.pass, c.problem, c.at, c.options);
}

ng_pool_problem pool_problem(const Request& call, const Operand& x, const Operand& y) {
  need_one_dtype(call);
  ng_pool_problem p = NG_POOL_PROBLEM_INIT;
  p.op = small(call, "op");
  p.layout = small(call, "layout");
  p.dtype = x.dtype;
  p.count_padding = small(call, "count_padding");
  const Lengths lx = lengths_of("x", x, p.layout), ly = lengths_of("y", y, p.layout);
  p.n = lx.outer, p.in[0] = lx.inner;
  std::copy_n(lx.space.begin(), 3, p.in + 1);
  std::copy_n(numbers(call, "window", 3).begin(), 3, p.window + 1);
  std::copy_n(numbers(call, "stride", 3).begin(), 3, p.stride + 1);
  std::copy_n(numbers(call, "padding", 3).begin(), 3, p.pad + 1);
  std::array<std::int64_t, 4> out{};
  check(ng_pool_out(&p, out.data()));
  if (x.shape.size() != y.shape.size() || ly != Lengths{p.n, out[0], {out[1], out[2], out[3]}}) {
    throw InvalidArgument("x " + shown(x.shape) + " and y " + shown(y.shape) + " do not fit");
  }
  return p;
}

void run_pool(const Request& call) {
  need_operands(call, 1, 1, 1);
  const ng_pool_problem p = pool_problem(call, call.in[0], call.out[0]);
  ng_pool_options o = NG_POOL_OPTIONS_INIT;
  o.stream = call.stream;
  check(ng_pool_fprop(&p, call.in[0].address, call.out[0].address, &o));
}

void run_pool_gradient(const Request& call) {
  need_operands(call, 2, 2, 1);
  need_shape("dx", call.out[0], call.in[1].shape);
  const ng_pool_problem p = pool_problem(call, call.in[1], call.in[0]);
  ng_pool_options o = NG_POOL_OPTIONS_INIT;
  o.stream = call.stream;
  check(ng_pool_bprop(&p, call.in[0].address, call.in[1].address, call.out[0].address, &o));
}

// --- rounding; the C interface has no conversion -----------------------------------------------------------------------

Tensor row(const Operand& o) {
  std::int64_t count = 1;
  for (const std::int64_t n : o.shape) count *= n;
  return Tensor::wrap(o.address, {count}, {1}, dtype_of(o));
}

void run_round(const Request& call) {
  need_operands(call, 1, 1, 1);
  need_shape("y", call.out[0], call.in[0].shape);
  Rounding rounding;
  rounding.stochastic = true;
  rounding.bits = small(call, "bits");
  rounding.seed = static_cast<std::uint64_t>(number(call, "seed"));
  rounding.offset = static_cast<std::uint64_t>(number(call, "offset"));
  Tensor y = row(call.out[0]);
  convert(row(call.in[0]), y, rounding, Stream::from_handle(call.stream));
}

constexpr std::array<Operation, kOperations> kAll{{{"gemm", gemm_bytes, run_gemm},
                                                   {"gemm_grouped", grouped_bytes, run_grouped},
                                                   {"conv", conv_bytes, run_conv},
                                                   {"pool", nullptr, run_pool},
                                                   {"pool_gradient", nullptr, run_pool_gradient},
                                                   {"stochastic_round", nullptr, run_round}}};

}  // namespace

std::span<const Operation, kOperations> operations() {
  return kAll;
}

}  // namespace nervanagpu::python::xla
