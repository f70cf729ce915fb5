// The kernels in the library for one architecture, by name and by operation, as their manifests describe them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sass/asm/template/condition.h"
#include "sass/cubin.h"
#include "src/module/embedded.h"

namespace nervanagpu {

struct Kernel {
  const sass::KernelImage* image = nullptr;
  std::size_t cubin = 0;               // index into Registry::cubins()
  std::size_t index = 0;               // index into Registry::kernels()
  std::vector<sass::Condition> needs;  // that a launch can violate

  [[nodiscard]] const std::string& name() const { return image->name; }
  [[nodiscard]] const sass::Manifest& manifest() const { return image->manifest; }
  // Shared memory beyond what the image declares, to be asked for at launch; bytes.
  [[nodiscard]] std::uint32_t dynamic_shared() const;
  // A definition of the variant as a number; 0: there is none.
  [[nodiscard]] int number(const std::string& definition) const;
  // To plan a launch, one value for each parameter: the first condition that does not hold, or nullptr. Those that ask for the
  // grid are left out.
  [[nodiscard]] const sass::Condition* unmet(std::span<const std::int64_t> params) const;
};

class Registry {
 public:
  // Reads every cubin of `arch`. Throws Error on one that cannot be read.
  Registry(std::span<const EmbeddedCubin> cubins, sass::Arch arch);
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  [[nodiscard]] sass::Arch arch() const { return arch_; }
  [[nodiscard]] std::span<const EmbeddedCubin> cubins() const { return cubins_; }
  [[nodiscard]] std::span<const Kernel> kernels() const { return kernels_; }
  [[nodiscard]] const Kernel* find(std::string_view name) const;
  [[nodiscard]] std::span<const Kernel* const> of_op(std::string_view op) const;  // empty: none

 private:
  sass::Arch arch_;
  std::vector<EmbeddedCubin> cubins_;
  std::vector<sass::CubinImage> images_;
  std::vector<Kernel> kernels_;
  std::map<std::string, const Kernel*, std::less<>> by_name_;
  std::map<std::string, std::vector<const Kernel*>, std::less<>> by_op_;
};

// The kernels of `arch`. Those of the library are read once in a process and stay: all devices of a kind share them.
std::shared_ptr<const Registry> registry_of(std::span<const EmbeddedCubin> cubins, sass::Arch arch);

// Architectures of the cubins, each once, in order.
std::vector<sass::Arch> archs_of(std::span<const EmbeddedCubin> cubins);

}  // namespace nervanagpu
