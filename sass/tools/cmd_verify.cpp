// ngasm verify: the hazard proof of a cubin.
#include "sass/verify/verify.h"

#include <cstdio>

#include "sass/tools/commands.h"

namespace nervanagpu::sass::tools {

int cmd_verify(const Arguments& args) {
  Result<Options> options = parse_options(args, {"--kernel"}, {});
  if (!options.ok()) return usage_error("verify", options.error().message);
  if (options->files.size() != 1) {
    return usage_error("verify", "one cubin is needed, found " + std::to_string(options->files.size()));
  }
  Result<CubinImage> image = load_cubin(options->files[0]);
  if (!image.ok()) return input_error(image.error());
  const std::optional<std::string> only = options->one("--kernel");
  bool found = false;
  bool proven = true;
  for (const KernelImage& k : image->kernels) {
    if (only && k.name != *only) continue;
    found = true;
    const std::vector<Hazard> hazards = verify(image->arch, k, &image->data);
    for (const Hazard& h : hazards) {
      if (h.at.line != 0) std::printf("%s:%u:%u: ", h.at.file.c_str(), h.at.line, h.at.col);
      std::printf("%s: %s\n", k.name.c_str(), h.text.c_str());
    }
    if (hazards.empty()) {
      std::printf("%s: %zu instructions, proven\n", k.name.c_str(), k.code.size());
    } else {
      std::printf("%s: %zu instructions, %zu hazards\n", k.name.c_str(), k.code.size(), hazards.size());
      proven = false;
    }
  }
  if (!found) return input_error(error("there is no kernel `" + only.value_or("") + "` in " + options->files[0]));
  return proven ? 0 : 1;
}

}  // namespace nervanagpu::sass::tools
