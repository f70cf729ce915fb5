// Problems of test/variants: kernels whose operands no small case of cases.cpp would bring about by itself.
#include <set>
#include <stdexcept>

#include "test/mutants/cases.h"
#include "test/variants/other.h"

namespace nervanagpu::test {

std::vector<MutantCase> drawn_cases(const Registry& registry) {
  std::vector<MutantCase> out;
  std::set<std::string> ops;
  for (const Kernel& k : registry.kernels()) {
    const std::string& op = k.manifest().op;
    if (!ops.insert(op).second) continue;
    const auto work = [&k] {
      constexpr variants::Limits kSmall{1e6, 5e4, false};
      variants::Random random(1);
      const variants::Outcome o = variants::solve(random, k, kSmall);
      if (!o.wrong.empty()) throw std::runtime_error(k.name() + ": " + o.problem + ": " + o.wrong);
    };
    out.push_back({"drawn " + op, work, op});
  }
  return out;
}

}  // namespace nervanagpu::test
