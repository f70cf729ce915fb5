// Every kernel of products on random floats, through the library: the bits are those of the model of its order class
// (`.accum`), and each sum lies within its `.bound` of the one in float64.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "kernels/gemm/cost/cost.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/pieces/bf16x6.h"
#include "kernels/gemm/pieces/bf16x6_rs.h"
#include "kernels/gemm/pieces/f16x3.h"
#include "kernels/gemm/pieces/f16x3_rs.h"
#include "kernels/gemm/tensor_cores/hgemm.h"
#include "kernels/gemm/tensor_cores/hgemm_rows.h"
#include "nervanagpu/nervanagpu.hpp"
#include "src/ceil_div.h"
#include "src/numbers/half.h"
#include "test/kernels/bound.h"
#include "test/kernels/order.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

using sass::emulate::tensor::Type;
using test::Order;
using test::Terms;

constexpr std::size_t kChunk = 16;  // terms of a planted error

Dtype type_of(const std::string& word) {
  if (word == "f32") return Dtype::float32;
  if (word == "f16") return Dtype::float16;
  if (word == "bf16") return Dtype::bfloat16;
  if (word == "s8") return Dtype::int8;
  return word == "u8" ? Dtype::uint8 : Dtype::int32;
}
std::string word(Dtype t) {
  return t == Dtype::float16 ? "f16" : t == Dtype::bfloat16 ? "bf16" : "f32";
}
bool is_byte(Dtype t) {
  return t == Dtype::int8 || t == Dtype::uint8;
}

// What is stored of a sum, as a number.
double stored(std::uint32_t sum, bool integer, Dtype type) {
  const float f = integer ? static_cast<float>(static_cast<std::int32_t>(sum)) : std::bit_cast<float>(sum);
  switch (type) {
    case Dtype::float16: return half_value(half_bits(f));
    case Dtype::bfloat16: return bfloat_value(bfloat_bits(f));
    case Dtype::int32: return static_cast<std::int32_t>(sum);
    case Dtype::int8: return std::nearbyint(std::min(127.0F, std::max(-128.0F, f)));
    default: return f;
  }
}

struct Product {
  GemmProblem p;
  std::string tile;
};

class ProductOrderTest : public ::testing::TestWithParam<sass::Arch> {
 protected:
  ProductOrderTest()
      : device_(embedded_cubins(), GetParam(), false, std::size_t{1} << 28), before_(exchange_device(&device_)) {}
  ~ProductOrderTest() override { exchange_device(before_); }

  // Numbers of `type`, which float32 holds: everyday ones, all positive, of wide exponents, near 1 and -1 (whose first pieces
  // are 1 and -1, so that sums show what the others give).
  std::vector<float> numbers(std::int64_t count, Dtype type, int kind) {
    std::vector<float> out(static_cast<std::size_t>(count));
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> positive(0.25F, 1.0F);
    for (float& v : out) {
      if (is_byte(type)) {
        v = static_cast<float>(static_cast<int>(random_() % 256) - (type == Dtype::int8 ? 128 : 0));
        continue;
      }
      if (type == Dtype::int32) {  // sums of which wrap nowhere
        v = static_cast<float>(static_cast<int>(random_() % 4001) - 2000);
        continue;
      }
      v = kind == 1 ? positive(random_) : normal(random_);
      if (kind == 3) v = std::ldexp(v, -10) + (random_() % 2 != 0 ? 1.0F : -1.0F);
      if (kind == 2) v = std::ldexp(v, static_cast<int>(random_() % 9) - 4);
      if (type == Dtype::float16) v = static_cast<float>(half_value(half_bits(v)));
      if (type == Dtype::bfloat16) v = static_cast<float>(bfloat_value(bfloat_bits(v)));
    }
    return out;
  }
  static Tensor on_device(const std::vector<float>& host, Dtype type) {
    const auto count = static_cast<std::int64_t>(host.size());
    Tensor out = Tensor::empty({count}, type);
    convert(Tensor::from_host<float>(host, {count}), out);
    return out;
  }

  // A problem that `k` is made for. Lengths that fill no tile, as odd as the kernel takes them.
  static Product made_for(const Kernel& k, std::int64_t splits) {
    const auto value = [&](const char* name) {
      const auto& v = k.manifest().variant;
      return v.count(name) == 0 ? std::string() : v.at(name);
    };
    const std::string op = k.manifest().op;
    const bool ring = op == "sgemm_ring" || op == "sgemm_ring8";
    Product out;
    GemmProblem& p = out.p;
    p.a_transposed = value("TA") == "t", p.b_transposed = value("TB") == "t";
    const bool swapped = value("OUT") == "t";
    if (swapped) p.a_transposed = value("TB") == "n", p.b_transposed = value("TA") == "n";
    const bool typed = !value("XT").empty() && !ring;
    p.a_type = typed ? type_of(value("XT")) : Dtype::float32;
    p.b_type = typed ? type_of(value("WT")) : Dtype::float32;
    p.c_type = typed ? type_of(value("YT")) : Dtype::float32;
    p.bias_type = Dtype::float32;
    p.tensor_cores = on_tensor_cores(k);
    if (in_pieces(k)) p.precision = Precision::tensor;
    p.splits = splits;
    const bool fours = k.number("V") == 4 || k.number("VA") == 4 || k.number("VB") == 4 || on_tensor_cores(k);
    p.m = k.number("BM") + (fours ? 4 : 3), p.n = k.number("BN") + (fours ? 12 : 5);
    if (swapped) std::swap(p.m, p.n);
    if (on_tensor_cores(k)) p.m -= 1;
    p.k = 16 * 21 + (fours ? 0 : 5);
    if (in_pieces(k)) p.k = 64 * 7 + 5;
    if (op == "hgemm_resident") p.k = std::min<std::int64_t>(p.k, 64 * k.number("STAY") - 16);
    if (op == "sgemm_ring8" && k.number("CTAS") == 2 && k.number("BM") == 64) p.m = 64 * 12, p.n = 64 * 12, p.k = 128;
    if (op == "sgemm_ring8") p.k = splits * (k.number("BM") == 128 ? 2300 : p.k == 128 ? 128 : 4400);
    const auto row = [&](std::int64_t length, bool aligned) { return aligned ? (length + 31) / 16 * 16 : length | 1; };
    const bool a16 = ring ? k.number("VA") == 4 : fours;
    const bool b16 = ring ? k.number("VB") == 4 : fours;
    p.lda = row(p.a_transposed ? p.m : p.k, a16);
    p.ldb = row(p.b_transposed ? p.k : p.n, b16);
    p.ldc = p.n + 4;
    out.tile = std::to_string(k.number("BM")) + "x" + std::to_string(k.number("BN"));
    if (ring) out.tile = "ring" + out.tile;
    if (on_tensor_cores(k)) out.tile = hgemm::tile_name(k);
    if (op == f16x3::kPlain || op == f16x3::kCompensated) out.tile = f16x3::tile_name(k);
    if (op == "f16x3_rs") few_rows(k, out);
    if (of_three_written(k)) out.tile = bf16x6::tile_name(k);
    if (op == "bf16x6_rs") many_rows(k, out);
    return out;
  }
  // Always partial sums; one of 64 and one of 5 terms more, or two of 128 and a part of one.
  static void few_rows(const Kernel& k, Product& out) {
    GemmProblem& p = out.p;
    out.tile = f16x3_rs::tile_name(k);
    p.splits = std::max<std::int64_t>(p.splits, 2);
    p.m = f16x3_rs::large_a(k) ? 132 : 37, p.n = f16x3_rs::large_a(k) ? 37 : 132;
    p.k = 64 * 11 + 4;
    p.lda = (p.a_transposed ? p.m : p.k) + 4 - (p.a_transposed ? p.m : p.k) % 4;
    p.ldb = (p.b_transposed ? p.k : p.n) + 4 - (p.b_transposed ? p.k : p.n) % 4;
    p.ldc = p.n + 4;
  }

  static void many_rows(const Kernel& k, Product& out) {
    GemmProblem& p = out.p;
    out.tile = bf16x6_rs::tile_name(k);
    p.m = 132, p.n = k.number("BN") + 5;
    p.lda = (p.a_transposed ? p.m : p.k) + 4 - (p.a_transposed ? p.m : p.k) % 4;
    p.ldb = (p.b_transposed ? p.k : p.n) + 3;
    p.ldc = p.n + 4;
  }

  static bool on_tensor_cores(const Kernel& k) { return k.manifest().op.starts_with("hgemm"); }
  static bool of_three_written(const Kernel& k) {
    return k.manifest().op == "bf16x6" || k.manifest().op == "bf16x6_32";
  }
  static bool of_three_pieces(const Kernel& k) { return of_three_written(k) || k.manifest().op == "bf16x6_rs"; }
  static bool of_two_pieces(const Kernel& k) { return k.manifest().op.starts_with("f16x3"); }
  static bool in_pieces(const Kernel& k) { return of_three_pieces(k) || of_two_pieces(k); }

  static test::Cut cut_of(const sgemm::Plan& plan, const GemmProblem& p) {
    test::Cut cut;
    cut.type = p.a_type == Dtype::bfloat16 || of_three_pieces(*plan.kernel) ? Type::kBf16 : Type::kF16;
    if (plan.ring) {
      cut.splits = plan.ring->ctas;
      cut.part = 16 * ceil_div(ceil_div(p.k, 16), plan.ring->splits());
    } else if (on_tensor_cores(*plan.kernel) || in_pieces(*plan.kernel)) {
      cut.splits = plan.splits;
      const std::int64_t block = 64;
      cut.part = block * ceil_div(ceil_div(p.k, block), plan.splits);
    } else {
      cut.splits = plan.splits;
      cut.part = plan.splits == 1 ? p.k : sgemm::chunk_of(p.k, plan.splits);
    }
    return cut;
  }

  // Runs it with the kernel, if there is a plan with it, and judges. false: no plan.
  bool judge(const Kernel& kernel, Product given, int kind) {
    GemmProblem& p = given.p;
    const std::vector<float> a = numbers((p.a_transposed ? p.k : p.m) * p.lda, p.a_type, kind);
    const std::vector<float> b = numbers((p.b_transposed ? p.n : p.k) * p.ldb, p.b_type, kind);
    const Tensor da = on_device(a, p.a_type), db = on_device(b, p.b_type);
    Tensor c = Tensor::empty({p.m * p.ldc}, p.c_type);
    const bool pieces = p.precision == Precision::tensor;
    const auto room = pieces ? static_cast<std::int64_t>(gemm_workspace(p, given.tile) / 4) : p.splits * p.m * p.n;
    const Tensor workspace = Tensor::empty({std::max<std::int64_t>(1, room)});
    p.a = da.address(), p.b = db.address(), p.c = c.address();
    p.workspace = (p.splits > 1 || pieces) && given.tile.substr(0, 4) != "ring" ? workspace.address() : 0;
    std::vector<sgemm::Plan> plans;
    if (const auto shape = sgemm_ring::shape_of(p, given.tile)) {
      const Kernel* found = sgemm_ring::find(device_.registry(), p, *shape);
      if (found != nullptr) plans.push_back({found, sgemm_ring::grid(p, *shape), 1, 0.0, shape});
    } else {
      plans = sgemm::plans(device_.registry(), 132, p, given.tile);
    }
    const auto plan = std::ranges::find_if(plans, [&](const sgemm::Plan& x) { return x.kernel == &kernel; });
    if (plan == plans.end()) return false;
    sgemm::launch(device_, *plan, p, 0);
    if (sgemm::finished_apart(*plan, p)) finished_.insert(sgemm_name(p));
    Tensor wide = Tensor::empty({p.m * p.ldc}, p.c_type == Dtype::int32 ? Dtype::int32 : Dtype::float32);
    convert(c, wide);
    std::vector<double> got(static_cast<std::size_t>(p.m * p.ldc));
    if (p.c_type == Dtype::int32) {
      const auto host = wide.to_host<std::int32_t>();
      got.assign(host.begin(), host.end());
    } else {
      const auto host = wide.to_host<float>();
      got.assign(host.begin(), host.end());
    }
    const auto order = test::order_of(kernel.manifest().accum);
    EXPECT_TRUE(order) << kernel.name() << ": .accum " << kernel.manifest().accum;
    test::Cut cut = cut_of(*plan, p);
    if (of_two_pieces(kernel)) {
      cut.e_a = test::scale_of(a, p.a_transposed ? p.k : p.m, p.a_transposed ? p.m : p.k, p.lda);
      cut.e_b = test::scale_of(b, p.b_transposed ? p.n : p.k, p.b_transposed ? p.k : p.n, p.ldb);
    }
    if (order) check(kernel, *order, cut, p, a, b, got);
    return true;
  }
  [[nodiscard]] static std::string sgemm_name(const GemmProblem& p) { return std::string(name_of(p.c_type)); }

  void check(const Kernel& kernel, const Order& order, const test::Cut& cut, const GemmProblem& p,
             const std::vector<float>& a, const std::vector<float>& b, const std::vector<double>& got) {
    const bool integer = order.kind == "integer";
    constexpr int kSamples = 40;
    for (int s = 0; s < kSamples; ++s) {
      const std::int64_t i = s == 0 ? p.m - 1 : static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(p.m));
      const std::int64_t j = s <= 1 ? p.n - 1 : static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(p.n));
      Terms t;
      for (std::int64_t l = 0; l < p.k; ++l) {
        t.a.push_back(a[static_cast<std::size_t>(p.a_transposed ? l * p.lda + i : i * p.lda + l)]);
        t.b.push_back(b[static_cast<std::size_t>(p.b_transposed ? j * p.ldb + l : l * p.ldb + j)]);
      }
      const double is = got[static_cast<std::size_t>(i * p.ldc + j)];
      const double model = stored(test::modelled(order, t, cut), integer, p.c_type);
      EXPECT_EQ(std::bit_cast<std::uint64_t>(is), std::bit_cast<std::uint64_t>(model))
          << kernel.name() << ": not the bits of `" << kernel.manifest().accum << "`: (" << i << ", " << j << ") of "
          << p.m << " x " << p.n << ", k " << p.k << " in " << cut.splits << " parts: " << is << ", model " << model;
      judge_bound(kernel, p, cut, t, is);
      if (HasFailure()) return;
    }
  }

  void judge_bound(const Kernel& kernel, const GemmProblem& p, const test::Cut& cut, const Terms& t, double is) {
    double exact = 0, sum = 0, chunk = 0;
    for (std::size_t l = 0; l < t.a.size(); ++l) {
      const double product = static_cast<double>(t.a[l]) * t.b[l];
      exact += product;
      sum += std::abs(product);
      if (l < kChunk) chunk += product;
    }
    const auto bound = test::bound_of(kernel.manifest().bound, {{"k", static_cast<double>(p.k)},
                                                                {"splits", static_cast<double>(cut.splits)},
                                                                {"part", static_cast<double>(cut.part)},
                                                                {"S", sum}});
    ASSERT_TRUE(bound) << kernel.name() << ": .bound " << kernel.manifest().bound;
    if (p.c_type == Dtype::int8) exact = std::min(127.0, std::max(-128.0, exact)), chunk = 0;
    // And the rounding to the type of C.
    const double unit = p.c_type == Dtype::float16                        ? 0x1p-11
                        : p.c_type == Dtype::bfloat16                     ? 0x1p-8
                        : is_byte(p.a_type) && p.c_type == Dtype::float32 ? 0x1p-24
                                                                          : 0;
    const double most = *bound + unit * (std::abs(exact) + *bound) + (p.c_type == Dtype::float16 ? 0x1p-25 : 0);
    const double error = std::abs(is - exact);
    EXPECT_TRUE(error <= most) << kernel.name() << ": " << is << " for " << exact << ", bound " << most;
    ++bounded_;
    if (std::abs(is - (exact - chunk)) > most) ++planted_;  // of a sum that lacks a chunk
    if (most > 0) largest_ = std::max(largest_, error / most);
  }

  EmulatorDevice device_;
  Device* before_;
  std::mt19937 random_{11};
  std::set<std::string> finished_;  // types of C whose parts split_sum has added up
  std::uint64_t bounded_ = 0, planted_ = 0;
  double largest_ = 0;  // of error / bound, over a kernel
};

TEST_P(ProductOrderTest, EveryKernelOfProductsHasTheBitsOfItsClassAndItsBound) {
  int turn = 0;
  std::set<std::string> ops;
  for (const Kernel& k : device_.registry().kernels()) {
    const std::string& op = k.manifest().op;
    const bool product = op == "sgemm" || op == "gemm" || op == "sgemm_ring" || op == "sgemm_ring8" ||
                         on_tensor_cores(k) || in_pieces(k);
    if (!product || test::order_of(k.manifest().accum).value_or(Order{}).number("rows", 0) != 0) continue;
    ops.insert(op);
    ++turn;
    bounded_ = planted_ = 0, largest_ = 0;
    // Of sums of one sign the roundings show most.
    bool ran = judge(k, made_for(k, 1), 1);
    Product parts = made_for(k, 3);
    // The parts of a 16-bit result are another kernel's: that of float32.
    if (on_tensor_cores(k) && parts.p.c_type == Dtype::float32 && !is_byte(parts.p.a_type) && turn % 2 == 0) {
      parts.p.c_type = parts.p.a_type;
    }
    if (on_tensor_cores(k) && parts.p.c_type == Dtype::int32 && turn % 2 == 0) parts.p.c_type = Dtype::float32;
    // What spans too many exponents is not multiplied by two pieces.
    const bool also = judge(k, parts, turn % 4 < 2 || of_two_pieces(k) ? 0 : 2);
    ran = ran || also;
    if (in_pieces(k) && op != "f16x3_rs") {
      Product chunk = made_for(k, 1);
      chunk.p.k = 64;
      ASSERT_TRUE(judge(k, chunk, 3));
    }
    ASSERT_TRUE(ran) << k.name() << " was not launched";
    ASSERT_FALSE(HasFailure());
    if (k.manifest().accum == "integer") continue;
    EXPECT_GE(planted_ * 4, bounded_ * 3) << k.name() << ": the bound hides a chunk that is missing";
    EXPECT_GE(largest_, 1.0 / 1000) << k.name() << ": the bound is far from any error";
  }
  EXPECT_GE(ops.size(), GetParam() == sass::Arch::sm_90a ? 8U : 1U);
  EXPECT_GE(finished_.size(), GetParam() == sass::Arch::sm_90a ? 4U : 2U) << "types that split_sum has made";
}

// Rows that begin anywhere (hgemm_rows.h): one remainder of l after the other, those first whose rows begin last.
TEST_P(ProductOrderTest, RowsThatBeginAnywhere) {
  if (GetParam() != sass::Arch::sm_90a) GTEST_SKIP() << "tensor cores";
  struct Shape {
    std::int64_t m, n, k;
    bool a_transposed, b_transposed;
  };
  for (const Dtype type : {Dtype::float16, Dtype::bfloat16}) {
    for (const Shape& s : {Shape{35, 3001, 1024, false, false}, Shape{3003, 35, 1024, true, false}}) {
      GemmProblem p;
      p.m = s.m, p.n = s.n, p.k = s.k, p.a_transposed = s.a_transposed, p.b_transposed = s.b_transposed;
      p.lda = s.a_transposed ? s.m : s.k, p.ldb = s.b_transposed ? s.k : s.n, p.ldc = s.n;
      p.a_type = p.b_type = p.c_type = type, p.splits = 3;
      const std::vector<float> a = numbers(p.m * p.k, type, 0), b = numbers(p.k * p.n, type, 0);
      const Tensor da = on_device(a, type), db = on_device(b, type);
      Tensor c = Tensor::empty({p.m * p.n}, type), wide = Tensor::empty({p.m * p.n});
      p.a = da.address(), p.b = db.address(), p.c = c.address();
      ASSERT_TRUE(hgemm::by_rows(p));
      const Tensor copy = Tensor::empty({hgemm::copied_by_rows(p)}, type);
      hgemm::multiply_by_rows(device_, p, copy.address(), 0);
      convert(c, wide);
      const auto host = wide.to_host<float>();
      const bool swapped = p.m > p.n;
      const Kernel* kernel = device_.registry().find(std::string("hgemm_cluster_nr_") + word(type) + "_" + word(type) +
                                                     "_" + word(type) + (swapped ? "_t_64x128" : "_n_64x128"));
      ASSERT_NE(kernel, nullptr);
      const auto order = test::order_of(kernel->manifest().accum);
      ASSERT_TRUE(order && order->number("rows", 0) == 8) << kernel->manifest().accum;
      const std::int64_t leading = swapped ? p.lda : p.ldb;
      test::Cut cut;
      cut.type = type == Dtype::bfloat16 ? Type::kBf16 : Type::kF16;
      cut.remainders = {0, 1, 2, 3, 4, 5, 6, 7};
      std::ranges::stable_sort(cut.remainders, std::greater<>(), [&](std::int64_t r) { return r * leading % 8; });
      const std::int64_t blocks = 8 * ceil_div(p.k / 8, 64);
      cut.splits = 3, cut.part = 64 * ceil_div(blocks, 3);
      bounded_ = planted_ = 0, largest_ = 0;
      check(*kernel, *order, cut, p, a, b, {host.begin(), host.end()});
      EXPECT_GE(planted_ * 4, bounded_ * 3) << kernel->name();
      EXPECT_GE(largest_, 1.0 / 1000) << kernel->name();
    }
  }
}

// The sums of a result's rows and columns, of what is stored.
TEST_P(ProductOrderTest, SumsOfResults) {
  for (const Dtype type : {Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    const Kernel* parts = device_.registry().find("result_sums_" + word(type));
    const Kernel* end = device_.registry().find("result_sums_end");
    ASSERT_TRUE(parts != nullptr && end != nullptr);
    const auto first = test::order_of(parts->manifest().accum), last = test::order_of(end->manifest().accum);
    ASSERT_TRUE(first && last && first->kind == "strided" && last->kind == "strided");
    const auto chains = static_cast<std::size_t>(first->number("chains", 0));
    const auto ends = static_cast<std::size_t>(last->number("chains", 0));
    const auto lanes = static_cast<std::size_t>(first->number("lanes", 0));
    GemmProblem p;
    p.m = 1301, p.n = 2700, p.k = 16, p.lda = 16, p.ldb = p.ldc = 2700;
    p.a_type = p.b_type = p.c_type = type, p.bias_type = Dtype::float32;
    const Tensor da = on_device(numbers(p.m * p.k, type, 2), type), db = on_device(numbers(p.k * p.n, type, 2), type);
    Tensor c = Tensor::empty({p.m * p.n}, type), wide = Tensor::empty({p.m * p.n});
    const Tensor rows = Tensor::empty({p.m}), columns = Tensor::empty({p.n});
    p.a = da.address(), p.b = db.address(), p.c = c.address();
    p.row_sum = rows.address(), p.column_sum = columns.address();
    const Tensor workspace = Tensor::empty({static_cast<std::int64_t>(gemm_workspace(p) / 4)});
    p.workspace = workspace.address();
    gemm(p);
    convert(c, wide);
    const auto x = wide.to_host<float>();
    const std::int64_t wide_parts = ceil_div(p.n, 256);
    const std::int64_t chunk =
        std::max<std::int64_t>(64, ceil_div(p.m, std::min<std::int64_t>(512, 1024 / wide_parts)));
    const auto at = [&](std::int64_t i, std::int64_t j) { return x[static_cast<std::size_t>(i * p.n + j)]; };
    const auto compare = [&](float got, float model, const std::vector<float>& terms, const char* what) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(model)) << what << " of " << word(type);
      double exact = 0, size = 0;
      for (const float v : terms) exact += v, size += std::abs(v);
      const auto bound = test::bound_of(end->manifest().bound, {{"k", static_cast<double>(terms.size())}, {"S", size}});
      ASSERT_TRUE(bound);
      EXPECT_TRUE(std::abs(got - exact) <= *bound) << what << " of " << word(type);
    };
    const auto got_columns = columns.to_host<float>(), got_rows = rows.to_host<float>();
    for (std::int64_t j = 0; j < p.n; j += 37) {
      std::vector<float> all, sums;
      for (std::int64_t from = 0; from < p.m; from += chunk) {
        std::vector<float> part;
        for (std::int64_t i = from; i < std::min(p.m, from + chunk); ++i) part.push_back(at(i, j));
        sums.push_back(test::strided(part, chains));
        all.insert(all.end(), part.begin(), part.end());
      }
      compare(got_columns[static_cast<std::size_t>(j)], test::strided(sums, ends), all, "column sum");
    }
    for (std::int64_t i = 0; i < p.m; i += 19) {
      std::vector<float> all, sums;
      for (std::int64_t from = 0; from < p.n; from += 256) {
        std::vector<float> lane(lanes);
        for (std::int64_t j = from; j < std::min<std::int64_t>(p.n, from + 256); ++j) {
          float& sum = lane[static_cast<std::size_t>(j - from) % lanes];
          sum = j - from < static_cast<std::int64_t>(lanes) ? at(i, j) : sum + at(i, j);
          all.push_back(at(i, j));
        }
        sums.push_back(test::butterfly(lane));
      }
      compare(got_rows[static_cast<std::size_t>(i)], test::strided(sums, ends), all, "row sum");
    }
    if (HasFailure()) return;
  }
}

TEST_P(ProductOrderTest, EveryClassAndBoundCanBeRead) {
  const std::map<std::string, double, std::less<>> all = {{"k", 100}, {"splits", 3},  {"part", 48},
                                                          {"S", 1},   {"u", 0x1p-24}, {"w", 4}};
  for (const Kernel& k : device_.registry().kernels()) {
    const auto order = test::order_of(k.manifest().accum);
    EXPECT_TRUE(order) << k.name() << ": .accum " << k.manifest().accum;
    const auto bound = test::bound_of(k.manifest().bound, all);
    ASSERT_TRUE(bound) << k.name() << ": .bound " << k.manifest().bound;
    const bool exact = order && (order->kind == "none" || order->kind == "integer" || order->kind == "integer64");
    EXPECT_EQ(*bound == 0, exact) << k.name() << ": exact, or a sum that rounds: " << k.manifest().accum;
    EXPECT_TRUE(*bound < 1e-3) << k.name();
  }
}

INSTANTIATE_TEST_SUITE_P(Arch, ProductOrderTest,
                         ::testing::Values(sass::Arch::sm_90a, sass::Arch::sm_80, sass::Arch::sm_52),
                         [](const auto& i) { return std::string(sass::info(i.param).name); });

}  // namespace
}  // namespace nervanagpu
