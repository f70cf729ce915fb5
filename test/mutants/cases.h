// The right kernels that are mutated: one small launch of each, with random inputs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "test/mutants/record.h"

namespace nervanagpu::test {

struct MutantCase {
  std::string name;
  std::function<void()> work;  // calls public operations on the current device
};
std::vector<MutantCase> mutant_cases();

// The first launch of each kernel that the cases use, recorded on `device`; memory stays with `recorder`.
struct Subject {
  std::string name;  // case and kernel
  sass::KernelImage image;
  std::uint32_t dynamic_shared = 0;
  Launch launch;
};
// `templates`: the folder of chain.sass. One recorder per case keeps the memory of its launches apart.
std::vector<Subject> subjects(Device& device, const std::string& templates,
                              std::vector<std::unique_ptr<Recorder>>& recorders);

}  // namespace nervanagpu::test
