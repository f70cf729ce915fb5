// Linked cubins: device functions lie in sections of their own, and calls to them are relocated. Every kernel that has such
// calls gets a copy of all functions after its code, at the same address in each, so that a pointer means one everywhere.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sass/cubin.h"
#include "sass/dis/elf.h"

namespace nervanagpu::sass {

class CodeLayout {
 public:
  struct Place {
    std::size_t kernel = 0;
    std::uint32_t first = 0;  // instruction of the section's first
  };

  // `text_of`: the section of each kernel. Appends the functions.
  static Result<CodeLayout> make(const ElfView& elf, Arch arch, const std::vector<std::uint32_t>& text_of,
                                 std::vector<KernelImage>& kernels);

  // Where the instructions of a section have come to; null: it has none.
  [[nodiscard]] const std::vector<Place>* places(std::uint32_t section) const;
  // The address of a function, the same in every kernel that has it.
  [[nodiscard]] std::optional<std::uint64_t> address(const ElfView::Symbol& symbol) const;

 private:
  std::map<std::uint32_t, std::vector<Place>> places_;  // by section
  std::map<std::uint32_t, std::uint64_t> functions_;    // by section: its address
};

}  // namespace nervanagpu::sass
