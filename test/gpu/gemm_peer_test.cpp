// GEMM beside cuBLAS: fp32, fp16 and bf16 with fp32 sums within both bounds, 8-bit integers equal.
#include <algorithm>
#include <optional>

#include "test/gpu/cases.h"
#include "test/gpu/peer.h"
#include "test/gpu/peer_library.h"
#include "test/gpu/reference.h"

namespace nervanagpu::gpu_test {
namespace {

struct Operands {
  Values a, b;
};

// C of the library or of the peer, without the gaps of its rows.
Values rows_of(const Buffer& c, const GemmProblem& p, Dtype dtype) {
  const Values all = c.get(dtype);
  EXPECT_EQ(c.guards(), "") << text_of(p);
  Values out;
  for (std::int64_t row = 0; row < p.m; ++row) {
    const auto begin = all.begin() + row * p.ldc;
    out.insert(out.end(), begin, begin + p.n);
  }
  return out;
}

Buffer poisoned_c(const GemmProblem& p, Dtype dtype) {
  return Buffer::poisoned(static_cast<std::size_t>(p.m * p.ldc) * size_of(dtype));
}

// False: cuBLAS refused it.
bool check(Cublas& peer, GemmProblem p, const Operands& in, Dtype peer_type) {
  const Key key = {"gemm", type_name(p), "fprop", "cublas"};
  const Dtype peer_out = peer_type == Dtype::int8 ? Dtype::int32 : peer_type;
  const Buffer a(in.a, p.a_type);
  const Buffer b(in.b, p.b_type);
  const Buffer c = poisoned_c(p, p.c_type);
  p.a = a.address(), p.b = b.address(), p.c = c.address();
  gemm(p);
  Side ours = {rows_of(c, p, p.c_type), p.c_type == Dtype::int32 ? 0.0 : kUnitFloat, p.c_type};

  const Buffer peer_a(in.a, peer_type);
  const Buffer peer_b(in.b, peer_type);
  const Buffer peer_c = poisoned_c(p, peer_out);
  GemmProblem q = p;
  q.a = peer_a.address(), q.b = peer_b.address(), q.c = peer_c.address();
  const std::optional<double> unit = peer.gemm(q, peer_type);
  if (!unit) {
    report().add_unsupported(key);
    return false;
  }
  const Side theirs = {rows_of(peer_c, p, peer_out), *unit, peer_out};
  compare(key, text_of(p), ours, theirs, product(p, in.a, in.b), product(p, absolute(in.a), absolute(in.b)), p.k);
  return true;
}

Operands random_operands(Random& random, const GemmProblem& p) {
  return {reals(random, (p.a_transposed ? p.k : p.m) * p.lda, p.a_type),
          reals(random, (p.b_transposed ? p.n : p.k) * p.ldb, p.b_type)};
}

// Cancelling sums: A's rows are followed by their negatives, so that the result is far below the bound's scale.
void cancel(GemmProblem& p, Operands& in) {
  for (std::int64_t row = 0; row < p.m; ++row) {
    for (std::int64_t l = p.k / 2; l < p.k; ++l) {
      const auto at = [&](std::int64_t i) {
        return static_cast<std::size_t>(p.a_transposed ? i * p.lda + row : row * p.lda + i);
      };
      in.a[at(l)] = -in.a[at(l - p.k / 2)];
    }
  }
}

void compare_all(Dtype type, int count) {
  std::string why;
  Cublas* peer = cublas_peer(why);
  if (peer == nullptr) NG_NO_PEER(why);
  Random random(11);
  // Sums of thousands of products, several tiles, and long thin shapes.
  constexpr std::int64_t kLarge[][3] = {{512, 384, 777}, {33, 1000, 4096}, {1, 4096, 1000}, {2049, 1, 3000}};
  int compared = 0;
  for (int i = 0; i < count; ++i) {
    GemmProblem p = random_gemm(random, 1e6);
    if (i < 16) {
      const auto& [m, n, k] = kLarge[i % 4];
      p.m = m, p.n = n, p.k = k;
      p.lda = p.a_transposed ? m : k, p.ldb = p.b_transposed ? k : n, p.ldc = n;
    }
    p.a_type = p.b_type = p.c_type = p.bias_type = type;
    Operands in = random_operands(random, p);
    if (i % 4 == 3) cancel(p, in);
    compared += check(*peer, p, in, type) ? 1 : 0;
  }
  EXPECT_GE(compared * 2, count) << "cuBLAS refused the others";
}

TEST(GemmBesideCublas, Float32) {
  compare_all(Dtype::float32, 200);
}

TEST(GemmBesideCublas, Float16) {
  compare_all(Dtype::float16, 200);
}

TEST(GemmBesideCublas, Bfloat16) {
  compare_all(Dtype::bfloat16, 200);
}

// cuBLAS has int8 x int8, with lengths in fours; every other pair of types is compared with its fp32 product, where
// sums below 2^24 are exact.
TEST(GemmBesideCublas, Integers) {
  std::string why;
  Cublas* peer = cublas_peer(why);
  if (peer == nullptr) NG_NO_PEER(why);
  Random random(12);
  constexpr int kCount = 200;
  int compared = 0;
  for (int i = 0; i < kCount; ++i) {
    GemmProblem p = random_gemm(random, 1e6);
    constexpr Dtype kBytes[] = {Dtype::int8, Dtype::uint8};
    p.a_type = choose(random, kBytes);
    p.b_type = choose(random, kBytes);
    p.c_type = p.bias_type = Dtype::int32;
    const bool native = i % 2 == 0;
    if (native) {
      p.a_type = p.b_type = Dtype::int8;
      for (std::int64_t* v : {&p.m, &p.n, &p.k, &p.lda, &p.ldb, &p.ldc}) *v = (*v + 3) / 4 * 4;
    } else if (p.k > 256) {
      p.k = 256;  // 255 * 255 * 256 < 2^24
      p.lda = std::max(p.lda, p.a_transposed ? p.m : p.k);
      p.ldb = std::max(p.ldb, p.b_transposed ? p.k : p.n);
    }
    compared += check(*peer, p, random_operands(random, p), native ? Dtype::int8 : Dtype::float32) ? 1 : 0;
  }
  EXPECT_GE(compared * 2, kCount) << "cuBLAS refused the others";
}

}  // namespace
}  // namespace nervanagpu::gpu_test
