// The right kernels that are mutated: one small launch of each, with random inputs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "test/mutants/record.h"

namespace nervanagpu::test {

struct MutantCase {
  std::string name;
  std::function<void()> work;  // calls public operations on the current device
  std::string op = {};         // only kernels of this operation count; "": all
};
std::vector<MutantCase> mutant_cases();
// For each operation of the library a problem that is drawn for one of its kernels, as test/variants draws them.
std::vector<MutantCase> drawn_cases(const Registry& registry);

// The first launch of each kernel that the cases use.
struct Subject {
  std::string name;  // case and kernel
  Launch launch;
};
// What one case launches, recorded on `recorder`, which keeps its memory. `templates`: the folder of chain.sass.
std::vector<Subject> subjects_of(const MutantCase& work, Recorder& recorder);
std::vector<Subject> chains(Recorder& recorder, const std::string& templates);

// Those of all cases, each kernel once; of the drawn cases those whose operation no other case launches. Throws if an
// operation of the library has none. One recorder per case keeps the memory of its launches apart.
std::vector<Subject> subjects(Device& device, const std::string& templates,
                              std::vector<std::unique_ptr<Recorder>>& recorders);
// That one of them; `name` begins with its case.
Subject subject(Device& device, const std::string& templates, const std::string& name,
                std::vector<std::unique_ptr<Recorder>>& recorders);

}  // namespace nervanagpu::test
