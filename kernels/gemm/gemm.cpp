#include "kernels/gemm/gemm.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>

#include "kernels/gemm/cost/cost.h"
#include "kernels/gemm/epilogue/activation.h"
#include "kernels/gemm/epilogue/flags.h"
#include "kernels/gemm/epilogue/relu_mask.h"
#include "kernels/gemm/epilogue/result_sums.h"
#include "kernels/gemm/epilogue/results.h"
#include "kernels/gemm/families.h"
#include "kernels/gemm/pieces/bf16x6.h"
#include "kernels/gemm/pieces/choice.h"
#include "kernels/gemm/pieces/f16x3.h"
#include "kernels/gemm/pieces/kept.h"
#include "kernels/gemm/prepared.h"
#include "kernels/gemm/tensor_cores/hgemm.h"
#include "kernels/gemm/types.h"
#include "kernels/gemm/wide/gemm64.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/device/select_device.h"
#include "src/launch/check_apart.h"

namespace nervanagpu {
namespace sgemm {
namespace {

constexpr std::int64_t kMaxLength = std::int64_t{1} << 31;   // m, n, k lie below
constexpr std::int64_t kMaxLeading = std::int64_t{1} << 29;  // lda, ldb, ldc lie below: times 4 they are 32 bits
constexpr std::int64_t kMostSplits = 65535;                  // and matrices of a batch
constexpr std::size_t kEntry = 8;                            // bytes of a table's entry
constexpr std::int64_t kMaxStride = std::int64_t{1} << 40;

bool integer(const GemmProblem& p) {
  return integral(p.c_type);
}

[[noreturn]] void refuse(const char* name, std::int64_t got, const std::string& needs) {
  throw InvalidArgument(std::string("gemm: ") + name + " is " + std::to_string(got) + "; needs " + needs);
}

void check_length(const char* name, std::int64_t v) {
  if (v < 0 || v >= kMaxLength) refuse(name, v, "0 or more and less than 2^31");
}

void check_leading(const char* name, std::int64_t v, const char* row, std::int64_t row_length) {
  if (v < row_length) refuse(name, v, "at least " + std::to_string(row_length) + ", the length of a row (" + row + ")");
  if (v >= kMaxLeading) refuse(name, v, "less than 2^29");
}

void check_address(const char* name, std::uint64_t v, std::size_t unit, bool needed) {
  if (needed && v == 0) throw InvalidArgument(std::string("gemm: ") + name + " is 0; needs a device address");
  if (v % unit != 0) {
    throw InvalidArgument(std::string("gemm: address of ") + name + " is " + std::to_string(v) +
                          "; needs a multiple of " + std::to_string(unit));
  }
}

[[noreturn]] void refuse_type(const char* name, Dtype got, const std::string& needs) {
  throw TypeError(std::string("gemm: ") + name + " has dtype " + std::string(name_of(got)) + "; needs " + needs);
}

void check_types(const GemmProblem& p) {
  if (!multiplies(p.a_type)) refuse_type("a", p.a_type, kOperands);
  if (!multiplies(p.a_type, p.b_type)) {
    refuse_type("b", p.b_type, byte(p.a_type) ? "int8 or uint8, as a" : std::string(name_of(p.a_type)) + ", as a");
  }
  if (!gives(p.a_type, p.c_type)) {
    refuse_type("c", p.c_type, results_of(p.a_type) + " for " + std::string(name_of(p.a_type)) + " operands");
  }
  if (p.bias != 0 && !takes_bias(p.c_type, p.bias_type)) refuse_type("bias", p.bias_type, biases_of(p.c_type));
  if (p.scale != 0 && !dequantizes(p)) {
    throw InvalidArgument("gemm: scale is given but " + std::string(name_of(p.a_type)) + " operands have the result " +
                          std::string(name_of(p.c_type)) + "; needs bytes with a float32 or int8 result");
  }
}

void check_scalar(const GemmProblem& p, const char* name, float v) {
  if (!integer(p)) return;
  if (!(v >= -2147483648.0F && v < 2147483648.0F && v == std::trunc(v))) {
    throw InvalidArgument(std::string("gemm: ") + name + " is " + std::to_string(v) + "; an " +
                          std::string(name_of(p.c_type)) + " result needs an integer of 32 bits");
  }
}

void check_rounding(const GemmProblem& p) {
  const int most = most_bits(p.c_type);
  if (p.rounding.stochastic && integer(p)) {
    throw TypeError("gemm: rounding is stochastic but the result is " + std::string(name_of(p.c_type)) +
                    "; needs a float or int8 result");
  }
  if (most == 0 && p.rounding.bits != 0) {
    throw InvalidArgument("gemm: rounding bits is " + std::to_string(p.rounding.bits) +
                          "; needs 0 for int8, whose last place is 1");
  }
  if (p.rounding.bits < 0 || p.rounding.bits > most) {
    throw InvalidArgument("gemm: rounding bits is " + std::to_string(p.rounding.bits) + "; needs 1 to " +
                          std::to_string(most) + " for " + std::string(name_of(p.c_type)) + ", or 0 for the most");
  }
}

void check_stride(const char* name, std::int64_t v) {
  if (v < 0 || v >= kMaxStride) refuse(name, v, "0 or more and less than 2^40");
}

void check_pointers(const GemmProblem& p) {
  const auto widest = static_cast<std::int64_t>(std::max({size_of(p.a_type), size_of(p.b_type), size_of(p.c_type)}));
  if (p.pointers < widest || (p.pointers & (p.pointers - 1)) != 0) {
    refuse("pointers", p.pointers,
           "a power of two that is at least " + std::to_string(widest) +
               ", what the matrices' addresses are multiples of");
  }
  for (const auto& [name, stride] :
       {std::pair("stride_a", p.stride_a), std::pair("stride_b", p.stride_b), std::pair("stride_c", p.stride_c)}) {
    if (stride != 0) refuse(name, stride, "0: the matrices lie where the tables say");
  }
  if (p.sum_batch) throw InvalidArgument("gemm: sum_batch is true but the matrices are in tables; needs strides");
  if (p.splits > 1) refuse("splits", p.splits, "0 or 1 for matrices in tables");
  if (has_sums(p)) throw InvalidArgument("gemm: sums are asked for but the matrices are in tables; needs strides");
  if (p.mask != 0) throw InvalidArgument("gemm: mask is given but the matrices are in tables; needs strides");
  if (p.rounding.stochastic) {
    throw InvalidArgument("gemm: rounding is stochastic but the matrices are in tables; needs rounding to nearest");
  }
}

void check_batch(const GemmProblem& p) {
  if (p.batch < 0 || p.batch > kMostSplits) refuse("batch", p.batch, "0 to " + std::to_string(kMostSplits));
  if (p.pointers != 0) {
    check_pointers(p);
    return;
  }
  if (p.batch <= 1) return;
  check_stride("stride_a", p.stride_a);
  check_stride("stride_b", p.stride_b);
  if (p.sum_batch) return;
  check_stride("stride_c", p.stride_c);
  if (const Spread c = spread_of(p); !apart(c)) {
    refuse("stride_c", p.stride_c, "at least " + std::to_string(length_of(c)) + ": matrices of c must not overlap");
  }
  if (p.splits > 1) refuse("splits", p.splits, "0 or 1 for a batch of products");
}

void check_pieces(const GemmProblem& p, bool a) {
  const PiecesAt& at = a ? p.a_pieces : p.b_pieces;
  const std::string name = a ? "a_pieces" : "b_pieces";
  if (at.address == 0) return;
  const auto refuse_pieces = [&](const std::string& what) { throw InvalidArgument("gemm: " + (name + what)); };
  if (p.a_type != Dtype::float32) refuse_pieces(" are given; needs float32 operands");
  if (at.count != 2 && at.count != 3) refuse_pieces(" has count " + std::to_string(at.count) + "; needs 2 or 3");
  if (at.address % 16 != 0) refuse_pieces(": address is " + std::to_string(at.address) + "; needs a multiple of 16");
  if (p.pointers != 0 || (p.batch > 1 && (a ? p.stride_a : p.stride_b) != 0))
    refuse_pieces(" are given for a batch; needs one matrix");
  if (kept::of_operand(p, a)) return;
  refuse_pieces(" are of " + std::to_string(at.rows) + " rows of " + std::to_string(at.columns) +
                "; needs those of the operand as it lies");
}

}  // namespace

Prepared::Call call_of(const GemmProblem& p) {
  return {p.a,
          p.b,
          p.c,
          p.bias,
          p.workspace,
          p.alpha,
          p.beta,
          p.rounding.seed,
          p.rounding.offset,
          p.scale,
          p.mask,
          p.row_sum,
          p.column_sum,
          p.row_max_abs,
          p.column_max_abs,
          p.a_pieces.address,
          p.b_pieces.address};
}

bool finished_apart(const Plan& plan, const GemmProblem& p) {
  const Family& family = family_of(*plan.kernel);
  return (plan.splits > 1 && !family.adds_splits) || (needs_finish(p) && !family.scales_sums);
}

bool masked_apart(const Plan& plan, const GemmProblem& p) {
  const Family& family = family_of(*plan.kernel);
  const bool kept = family.keeps_mask && plan.splits == 1 && (family.pieces.count == 0 || fits_mask_if(p));
  return p.mask != 0 && !kept;
}

Values values_of(const Plan& plan, const GemmProblem& p, Device* device) {
  return family_of(*plan.kernel).values(plan, p, device);
}

void check_sizes(const GemmProblem& p) {
  check_length("m", p.m);
  check_length("n", p.n);
  check_length("k", p.k);
  if (p.m == 0 || p.n == 0) return;
  if (p.k > 0) {
    check_leading("lda", p.lda, p.a_transposed ? "m" : "k", p.a_transposed ? p.m : p.k);
    check_leading("ldb", p.ldb, p.b_transposed ? "k" : "n", p.b_transposed ? p.k : p.n);
  }
  check_leading("ldc", p.ldc, "n", p.n);
  check_batch(p);
  if (p.splits < 0 || p.splits > kMostSplits) refuse("splits", p.splits, "0 to " + std::to_string(kMostSplits));
}

void check(const GemmProblem& p) {
  check_types(p);
  if (p.precision > Precision::tensor) {
    throw InvalidArgument("gemm: precision is " + std::to_string(static_cast<int>(p.precision)) +
                          "; needs a Precision");
  }
  check_activation("gemm", {p.activation, p.relu, p.c_type, p.clip_low, p.clip_high});
  check_scalar(p, "alpha", p.alpha);
  check_scalar(p, "beta", p.beta);
  check_rounding(p);
  check_mask(p);
  check_sums(p);
  if (wide(p.a_type)) gemm64::check(p);
  check_sizes(p);
  if (p.m == 0 || p.n == 0) return;
  const bool read = p.k > 0 && p.batch > 0;
  check_address("a", p.a, p.pointers != 0 ? kEntry : size_of(p.a_type), read);
  check_address("b", p.b, p.pointers != 0 ? kEntry : size_of(p.b_type), read);
  check_address("c", p.c, p.pointers != 0 ? kEntry : size_of(p.c_type), true);
  check_address("bias", p.bias, size_of(p.bias_type), false);
  check_address("scale", p.scale, size_of(Dtype::float32), false);
  check_pieces(p, true);
  check_pieces(p, false);
  if (p.workspace % 16 != 0) refuse("address of workspace", static_cast<std::int64_t>(p.workspace), "a multiple of 16");
}

bool on_tensor_cores(const Registry& registry, const GemmProblem& p) {
  return !registry.of_op("hgemm").empty() && hgemm::takes(p);
}

bool in_pieces(const Registry& registry, const GemmProblem& p) {
  return p.precision == Precision::tensor && !registry.of_op("bf16x6").empty() && pieces::takes(p);
}

namespace {

std::vector<const Kernel*> of_ops(const Registry& registry, std::initializer_list<const char*> ops) {
  std::vector<const Kernel*> out;
  for (const char* op : ops) {
    const auto some = registry.of_op(op);
    out.insert(out.end(), some.begin(), some.end());
  }
  return out;
}

// The kernels of the problem's class: whichever of them is taken, the result has the same bits. Two pieces and three are
// classes of their own, between which a tile's name decides, if there is one.
std::vector<const Kernel*> candidates(const Registry& registry, const GemmProblem& p, std::string_view tile) {
  if (in_pieces(registry, p)) {
    if (!tile.empty())
      return of_ops(registry, {"bf16x6", "bf16x6_32", "bf16x6_rs", "f16x3_compensated", "f16x3", "f16x3_rs"});
    if (pieces::many_rows(p)) return of_ops(registry, {"bf16x6_rs", "bf16x6_32"});
    if (!pieces::in_two(p)) return of_ops(registry, {"bf16x6"});
    if (pieces::in_registers(p)) return of_ops(registry, {"f16x3_rs", "f16x3"});
    return of_ops(registry, {f16x3::is_compensated(p) ? f16x3::kCompensated : f16x3::kPlain});
  }
  if (on_tensor_cores(registry, p)) return of_ops(registry, {"hgemm", "hgemm_resident", "hgemm_cluster"});
  if (wide(p.a_type)) return gemm64::kernels(registry);
  return of_ops(registry, {"sgemm", "gemm"});
}

}  // namespace

bool needs_workspace(const Registry& registry, const GemmProblem& p) {
  if (in_pieces(registry, p)) return true;
  return p.splits != 0 || has_sums(p) || ((p.sum_batch || needs_finish(p)) && !on_tensor_cores(registry, p));
}

GemmProblem reduced(const Registry& registry, const GemmProblem& problem) {
  GemmProblem p = problem;
  if (p.sum_batch && (p.batch == 0 || p.k == 0)) p.batch = 1, p.k = 0;
  const bool a_goes_on = p.stride_a == (p.a_transposed ? p.k * p.lda : p.k);
  const bool b_goes_on = p.stride_b == (p.b_transposed ? p.k : p.k * p.ldb);
  if (p.sum_batch && p.batch > 1 && a_goes_on && b_goes_on && p.k * p.batch < kMaxLength &&
      !on_tensor_cores(registry, p)) {
    p.k *= p.batch;
    p.batch = 1;
  }
  if (p.batch == 1) p.stride_a = p.stride_b = p.stride_c = 0, p.sum_batch = false;
  if (p.sum_batch) p.stride_c = 0;
  if (wide(p.a_type)) gemm64::check_batch(p);
  return p;
}

std::int64_t splits_of(const Registry& registry, const GemmProblem& p) {
  const bool sum = p.sum_batch && p.batch > 1;
  if (sum && !on_tensor_cores(registry, p)) return p.batch;
  if ((p.batch > 1 && !sum) || p.pointers != 0) return 1;
  if (p.m <= 0 || p.n <= 0 || p.k <= 0 || p.m * p.n >= kMaxLength || p.m * p.ldc >= kMaxLength) return 1;
  if (on_tensor_cores(registry, p)) return hgemm::splits_of(p);
  if (in_pieces(registry, p))
    return pieces::in_two(p) ? f16x3::splits_of(p) : pieces::many_rows(p) ? 1 : bf16x6::splits_of(p);
  if (wide(p.a_type) || (p.splits == 0 && p.workspace == 0)) return 1;
  if (p.splits == 0) return best_splits(p);
  return ceil_div(p.k, chunk_of(p.k, p.splits));
}

namespace {

// Before addresses of tables are known `p` has those that matrices could have.
const sass::Condition* unmet(const Kernel& k, const GemmProblem& problem, std::int64_t splits) {
  GemmProblem p = problem;
  p.pointers = 0;
  return k.unmet(values_of({&k, {}, splits}, p, nullptr).numbers());
}

}  // namespace

std::vector<Plan> plans(const Registry& registry, int multiprocessors, const GemmProblem& p, std::string_view tile) {
  const std::int64_t splits = splits_of(registry, p);
  const auto tail = in_pieces(registry, p) ? f16x3::tail_of(p, tile) : std::nullopt;
  // Beside kernels that split the large operand themselves: what it costs to have its pieces written.
  const double written = in_pieces(registry, p) ? pieces::written_microseconds(p) : 0;
  std::vector<Plan> out;
  for (const Kernel* k : candidates(registry, p, tile)) {
    const Family& family = family_of(*k);
    if (!family.fits(*k, p, splits, tile) || unmet(*k, p, splits) != nullptr) continue;
    Plan plan = {k, {}, splits};
    const bool two = family.pieces.count == f16x3::kPieces;
    const bool splits_large = family.pieces.large_a != nullptr;
    if (two && !splits_large) plan.tail = tail;
    plan.strict_behind = two && (splits_large || pieces::strict_behind(p, tile));
    const GemmProblem head = f16x3::head_part(p, plan.tail);
    plan.grid = family.grid(*k, head, splits, multiprocessors);
    plan.cost = family.cost(*k, head, splits, std::max(multiprocessors, 1));
    if (family.pieces.count != 0 && !splits_large) plan.cost += written;
    out.push_back(plan);
  }
  std::stable_sort(out.begin(), out.end(), [](const Plan& a, const Plan& b) { return a.cost < b.cost; });
  return out;
}

Plan choose(const Registry& registry, int multiprocessors, const GemmProblem& problem, std::string_view tile) {
  const auto shape = in_pieces(registry, problem) ? std::nullopt : sgemm_ring::shape_of(problem, tile);
  if (shape) {
    const Kernel* kernel = sgemm_ring::find(registry, problem, *shape);
    if (kernel != nullptr) return {kernel, sgemm_ring::grid(problem, *shape), 1, 0.0, shape};
  }
  const std::vector<Plan> all = plans(registry, multiprocessors, problem, tile);
  if (!all.empty()) return all.front();
  const std::int64_t splits = splits_of(registry, problem);
  std::string why;
  for (const Kernel* k : candidates(registry, problem, tile)) {
    const bool fits = family_of(*k).fits(*k, problem, splits, tile);
    const sass::Condition* c = fits ? unmet(*k, problem, splits) : nullptr;
    if (c != nullptr) why += "\n  " + k->name() + " needs " + c->text();
  }
  std::string asked = tile.empty() ? "" : " with tile " + std::string(tile);
  if ((problem.batch > 1 || problem.pointers != 0) && needs_finish(problem))
    asked += " for a batch, whose epilogue only those of the tensor cores have,";
  if (splits > 1) asked += " that cuts k into " + std::to_string(splits) + " parts";
  throw InvalidArgument("gemm: no kernel" + asked + " for m " + std::to_string(problem.m) + ", n " +
                        std::to_string(problem.n) + ", k " + std::to_string(problem.k) + why);
}

split_sum::Sum sum_of(const GemmProblem& p, std::int64_t splits) {
  split_sum::Sum s;
  s.type = p.c_type;
  s.sums = sums_of(p);
  s.workspace = p.workspace;
  s.out = p.c;
  s.bias = p.bias;
  s.rows = p.m;
  s.cols = p.n;
  s.splits = splits;
  s.ld = p.ldc;
  s.alpha = p.alpha;
  s.beta = p.beta;
  s.flags = flags_of(p);
  s.rounding = p.rounding;
  s.scale = p.scale;
  s.clip_low = p.clip_low;
  s.clip_high = p.clip_high;
  return s;
}

void launch(Device& device, const Plan& plan, const GemmProblem& p, StreamId stream) {
  if (family_of(*plan.kernel).pieces.count != 0) return Prepared(device, p, plan).launch(call_of(p), stream);
  split_sum::Plan sum;  // found before anything is queued
  const bool apart = finished_apart(plan, p);
  if (apart) sum = split_sum::plan(device.registry(), sum_of(p, plan.splits));
  values_of(plan, p, &device).launch(device, *plan.kernel, plan.grid, stream);
  if (apart) sum.values.launch(device, *sum.kernel, sum.grid, stream);
  if (!masked_apart(plan, p)) return;
  mask_plan(device.registry(), p).launch(device, stream);
}

}  // namespace sgemm

std::size_t gemm_workspace(const GemmProblem& problem, const std::string& tile) {
  sgemm::check_sizes(problem);
  sgemm::check_rounding(problem);
  Device& device = current_device();
  const GemmProblem p = sgemm::reduced(device.registry(), problem);
  const std::size_t bytes = sgemm::workspace_of(device, p, tile);
  if (!tile.empty() || (p.a != 0 && p.b != 0) || !sgemm::in_pieces(device.registry(), p)) return bytes;
  GemmProblem anywhere = p;  // an address that is not known yet may be any; pieces of a large operand depend on it
  for (std::uint64_t* x : {&anywhere.a, &anywhere.b}) *x = *x == 0 ? size_of(p.a_type) : *x;
  return std::max(bytes, sgemm::workspace_of(device, anywhere, tile));
}

namespace sgemm {

GemmProblem check_launch(Device& device, const GemmProblem& problem, const std::string& tile) {
  check(problem);
  // Other overlaps are the caller's to know: rows of one matrix may lie between those of another.
  if (problem.pointers == 0 && problem.m != 0 && problem.n != 0 && problem.batch != 0) {
    const bool reads = problem.k > 0;
    check_apart("gemm", "c", problem.c,
                {{"a", reads ? problem.a : 0}, {"b", reads ? problem.b : 0}, {"bias", problem.bias}});
  }
  const GemmProblem p = reduced(device.registry(), problem);
  if (p.m == 0 || p.n == 0 || p.batch == 0) return p;
  if (p.workspace == 0 && needs_workspace(device.registry(), p)) {
    const std::size_t needed = workspace_of(device, p, tile);
    if (needed != 0) {
      const std::string why = p.splits != 0                     ? "splits is " + std::to_string(p.splits) + " and "
                              : p.sum_batch                     ? "sum_batch is true and "
                              : in_pieces(device.registry(), p) ? "precision is tensor and "
                                                                : "";
      throw InvalidArgument("gemm: " + why + "workspace is 0; needs gemm_workspace(), " + std::to_string(needed) +
                            " bytes");
    }
  }
  return p;
}

}  // namespace sgemm

void gemm(const GemmProblem& problem, const Stream& stream, const std::string& tile) {
  Device& device = current_device();
  const GemmProblem p = sgemm::check_launch(device, problem, tile);
  if (p.m == 0 || p.n == 0 || p.batch == 0) return sgemm::sums_of_nothing(device, p, stream.handle());
  const auto plan = sgemm::prepared(device, sgemm::normal_form(p), tile, stream.handle());
  plan->launch(sgemm::call_of(p), stream.handle());
}

}  // namespace nervanagpu
