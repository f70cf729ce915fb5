// May a wrong value do harm beyond wrong results? A mutant is run on a chip only if what it may get wrong flows into no
// address, no condition of a branch, barrier or memory operation, and no count of a loop.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sass/verify/code.h"
#include "sass/verify/verify.h"

namespace nervanagpu::test {

class Danger {
 public:
  // `right` is not kept.
  Danger(sass::Arch arch, const sass::KernelImage& right);

  // None of these hazards can reach what decides where the kernel goes or where it writes.
  [[nodiscard]] bool harmless(const std::vector<sass::Hazard>& hazards) const;

 private:
  using Set = std::array<std::uint64_t, 6>;  // by register_id
  struct Step {
    Set reads{}, writes{};
    Set critical{};  // read as an address or as a condition
    Set data{};      // stored: critical where loaded values are
    Set after{};     // critical registers after the step
    bool loads = false;
  };
  [[nodiscard]] Set needed(const Step& step) const;  // read by the step, and critical
  void solve(const sass::verify_detail::Code& code);

  std::vector<Step> steps_;
  bool memory_ = false;  // some loaded value is critical
};

}  // namespace nervanagpu::test
