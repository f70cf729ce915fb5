#include "test/kernels/gemm/gemm_case.h"

#include <algorithm>

namespace nervanagpu::test {
namespace {

Tensor upload(const std::vector<float>& host) {
  return Tensor::from_host<float>(host, {static_cast<std::int64_t>(host.size())});
}

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// Zeros of both signs are one: which one a sum of zeros gives is not compared here.
std::uint32_t bits_of(float x) {
  return x == 0 ? 0U : std::bit_cast<std::uint32_t>(x);
}

}  // namespace

std::vector<float> integers(std::mt19937& random, std::int64_t count, int size) {
  std::vector<float> out(at(count));
  for (float& x : out) x = static_cast<float>(std::uniform_int_distribution<int>(-size, size)(random));
  return out;
}

GemmCase::GemmCase(std::mt19937& random, std::int64_t m, std::int64_t n, std::int64_t k, bool ta, bool tb,
                   std::int64_t pad, const Epilogue& e)
    : e_(e) {
  p_.m = m, p_.n = n, p_.k = k;
  p_.a_transposed = ta, p_.b_transposed = tb;
  p_.lda = (ta ? m : k) + pad, p_.ldb = (tb ? k : n) + pad, p_.ldc = n + pad;
  p_.alpha = e.alpha, p_.beta = e.beta, p_.relu = e.relu, p_.bias_per_row = e.bias == 2;
  a_ = integers(random, (ta ? k : m) * p_.lda, 8);
  b_ = integers(random, (tb ? n : k) * p_.ldb, 8);
  bias_ = integers(random, std::max(m, n), 8);
  before_.assign(at(m * p_.ldc + 2 * kGuard), kPoison);
  if (e.beta != 0) {
    const std::vector<float> old = integers(random, m * n, 8);
    for (std::int64_t i = 0; i < m * n; ++i) before_[at(kGuard + i / n * p_.ldc + i % n)] = old[at(i)];
  }
  device_a_ = upload(a_);
  device_b_ = upload(b_);
  device_bias_ = upload(bias_);
  device_c_ = upload(before_);
  p_.a = device_a_.address(), p_.b = device_b_.address(), p_.c = device_c_.address() + kGuard * 4;
  p_.bias = e.bias != 0 ? device_bias_.address() : 0;
  sgemm::check(p_);
}

void GemmCase::split(std::int64_t splits) {
  p_.splits = splits;
  const std::size_t bytes = gemm_workspace(p_);
  workspace_ = upload(std::vector<float>(bytes / 4 + 1, kPoison));
  p_.workspace = bytes > 0 ? workspace_.address() : 0;
  sgemm::check(p_);
}

float GemmCase::expected(std::int64_t row, std::int64_t column) const {
  double sum = 0;
  for (std::int64_t l = 0; l < p_.k; ++l) {
    const float a = a_[at(p_.a_transposed ? l * p_.lda + row : row * p_.lda + l)];
    const float b = b_[at(p_.b_transposed ? column * p_.ldb + l : l * p_.ldb + column)];
    sum += static_cast<double>(a) * b;
  }
  sum *= e_.alpha;
  if (e_.beta != 0) sum += static_cast<double>(e_.beta) * before_[at(kGuard + row * p_.ldc + column)];
  if (e_.bias != 0) sum += bias_[at(e_.bias == 1 ? column : row)];
  return static_cast<float>(e_.relu ? std::max(sum, 0.0) : sum);
}

std::string GemmCase::judge(Device& device, const sgemm::Plan& plan) const {
  device_c_.set(before_.data(), before_.size() * 4);
  sgemm::launch(device, plan, p_, 0);
  const std::vector<float> c = device_c_.to_host<float>();
  std::int64_t wrong = 0;
  std::string first;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(c.size()); ++i) {
    const std::int64_t row = i < kGuard ? -1 : (i - kGuard) / p_.ldc;
    const std::int64_t column = i < kGuard ? i - kGuard : (i - kGuard) % p_.ldc;
    const bool inside = row >= 0 && row < p_.m && column < p_.n;
    const float want = inside ? expected(row, column) : before_[at(i)];
    if (bits_of(c[at(i)]) == bits_of(want)) continue;  // bits: a NaN equals only itself
    if (wrong++ == 0) {
      first = std::string(inside ? "element" : "guard") + " (" + std::to_string(row) + ", " + std::to_string(column) +
              "): got " + std::to_string(c[at(i)]) + ", needs " + std::to_string(want);
    }
  }
  if (wrong == 0) return {};
  return plan.kernel->name() + " m " + std::to_string(p_.m) + " n " + std::to_string(p_.n) + " k " +
         std::to_string(p_.k) + " ldc " + std::to_string(p_.ldc) + " alpha " + std::to_string(e_.alpha) + " beta " +
         std::to_string(e_.beta) + " bias " + std::to_string(e_.bias) + (e_.relu ? " relu" : "") + ": " +
         std::to_string(wrong) + " wrong; first " + first;
}

}  // namespace nervanagpu::test
