#include "sass/verify/limits.h"

#include <algorithm>

namespace nervanagpu::sass::verify_detail {
namespace {

constexpr std::uint32_t kUnit = 8;  // registers come in these
constexpr std::uint32_t kUnreached = ~0u;

bool trades(const Step& s) {
  return s.known && !s.never && s.inst.op == Op::USETMAXREG;
}

std::uint32_t behind(const Step& s, std::uint32_t before) {
  if (!trades(s)) return before;
  for (const Operand& o : s.inst.operands()) {
    if (o.kind == OperandKind::kImm) return static_cast<std::uint32_t>(o.imm);
  }
  return before;
}

}  // namespace

std::vector<std::uint32_t> register_limits(const Code& code) {
  const std::uint32_t declared = code.kernel->registers;
  if (declared == 0 || std::none_of(code.steps.begin(), code.steps.end(), trades)) {
    return std::vector<std::uint32_t>(code.steps.size(), declared);
  }
  std::vector<std::uint32_t> limit(code.steps.size(), kUnreached);
  std::vector<std::uint32_t> work{0};
  limit[0] = (declared + kUnit - 1) / kUnit * kUnit;
  while (!work.empty()) {
    const std::uint32_t i = work.back();
    work.pop_back();
    const std::uint32_t out = behind(code.steps[i], limit[i]);
    for (const std::uint32_t n : code.steps[i].next) {
      if (out >= limit[n]) continue;
      limit[n] = out;
      work.push_back(n);
    }
  }
  const std::uint32_t chips = chips_registers(Encoding::k128);  // USETMAXREG has no other
  for (std::uint32_t& n : limit) n = n == kUnreached ? 0 : n - std::min(n, chips);
  return limit;
}

}  // namespace nervanagpu::sass::verify_detail
