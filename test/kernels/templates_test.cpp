// The templates of the library through the assembler in this process, so that `make sanitize`, whose kernels another build
// assembles, sees it at work on them: of each line of kernels.cmake, for each architecture, the first and the last variant.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "sass/asm/pipeline.h"
#include "sass/isa/arch.h"

namespace nervanagpu {
namespace {

void assemble_ends(const std::string& kernels, const std::string& name, sass::Arch arch, const sass::Defines& fixed) {
  const auto source = sass::read_template(kernels + "/" + name + ".sass", {kernels});
  ASSERT_TRUE(source.ok()) << name;
  const auto variants = sass::variants(*source, fixed);
  ASSERT_TRUE(variants.ok() && !variants->empty()) << name;
  for (const sass::Defines& defines : std::set<sass::Defines>{variants->front(), variants->back()}) {
    const auto image = sass::assemble_variant(*source, arch, defines);
    ASSERT_TRUE(image.ok()) << name << ": " << image.error().message;
  }
}

TEST(Templates, FirstAndLastVariantsAreAssembledAndProven) {
  const std::string kernels = std::string(NG_SOURCE_DIR) + "/kernels", command = "ng_kernel(";
  std::ifstream file(kernels + "/kernels.cmake");
  int lines = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(command)) continue;
    std::istringstream words(line.substr(command.size(), line.find(')') - command.size()));
    std::string name, word;
    words >> name;
    std::set<sass::Arch> archs;
    sass::Defines fixed;
    while (words >> word) {
      if (word == "DEFINE") continue;
      if (const auto arch = sass::arch_from_name(word)) {
        archs.insert(*arch);
      } else {
        fixed[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
      }
    }
    ASSERT_FALSE(archs.empty()) << line;
    for (const sass::Arch arch : archs) assemble_ends(kernels, name, arch, fixed);
    ++lines;
  }
  EXPECT_GT(lines, 50);
}

}  // namespace
}  // namespace nervanagpu
