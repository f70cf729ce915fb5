#include "kernels/gemm/choose/alternatives.h"

#include <algorithm>
#include <cstddef>

#include "kernels/gemm/tensor_cores/hgemm.h"

namespace nervanagpu::sgemm {
namespace {

constexpr double kHopeless = 3.0;  // times the cost of the best, by the model: is not measured
constexpr std::size_t kMost = 24;

std::vector<Plan> of_ring(const Registry& registry, const GemmProblem& p, const sgemm_ring::Shape& own) {
  std::vector<Plan> out;
  for (const sgemm_ring::Priced& s : sgemm_ring::shapes_with(p, own)) {
    const Kernel* kernel = sgemm_ring::find(registry, p, s.shape);
    if (kernel != nullptr) out.push_back({kernel, sgemm_ring::grid(p, s.shape), 1, s.cost, s.shape});
  }
  return out;
}

// The tiles that the library chooses among by itself, and those of clusters that it does not.
std::vector<Plan> of_tiles(const Registry& registry, int multiprocessors, const GemmProblem& p) {
  std::vector<Plan> out = plans(registry, multiprocessors, p);
  if (!on_tensor_cores(registry, p)) return out;
  for (const Kernel* k : registry.of_op("hgemm_cluster")) {
    const auto known = [&](const Plan& x) { return x.kernel == k; };
    if (std::ranges::any_of(out, known)) continue;
    for (const Plan& x : plans(registry, multiprocessors, p, hgemm::tile_name(*k))) {
      if (known(x)) out.push_back(x);
    }
  }
  return out;
}

}  // namespace

std::string label_of(const Plan& plan) {
  return plan.kernel->name() + (plan.ring && plan.ring->swapped ? " swapped" : "");
}

std::vector<Plan> alternatives(const Registry& registry, int multiprocessors, const GemmProblem& p) {
  const Plan own = choose(registry, multiprocessors, p);
  std::vector<Plan> out = own.ring ? of_ring(registry, p, *own.ring) : of_tiles(registry, multiprocessors, p);
  const std::string name = label_of(own);
  const bool apart = finished_apart(own, p);
  std::erase_if(out, [&](const Plan& x) { return label_of(x) == name || (finished_apart(x, p) && !apart); });
  std::ranges::stable_sort(out, {}, &Plan::cost);
  if (!out.empty()) {
    const double least = std::min(own.ring ? out.front().cost : own.cost, out.front().cost);
    std::erase_if(out, [&](const Plan& x) { return x.cost > kHopeless * least; });
  }
  if (out.size() >= kMost) out.resize(kMost - 1);
  out.insert(out.begin(), own);
  return out;
}

}  // namespace nervanagpu::sgemm
