// ngasm dis: cubin -> text.
#include <cstdio>

#include "sass/dis/listing.h"
#include "sass/tools/commands.h"

namespace nervanagpu::sass::tools {

int cmd_dis(const Arguments& args) {
  Result<Options> options = parse_options(args, {"--kernel"}, {"--words"});
  if (!options.ok()) return usage_error("dis", options.error().message);
  if (options->files.size() != 1) {
    return usage_error("dis", "one cubin is needed, found " + std::to_string(options->files.size()));
  }
  Result<CubinImage> image = load_cubin(options->files[0]);
  if (!image.ok()) return input_error(image.error());
  const std::optional<std::string> only = options->one("--kernel");
  bool found = false;
  for (const KernelImage& k : image->kernels) {
    if (only && k.name != *only) continue;
    const std::string text = header_of(image->arch, k) + code_of(image->arch, k, options->has("--words")) + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
    found = true;
  }
  if (!found) return input_error(error("there is no kernel `" + only.value_or("") + "` in " + options->files[0]));
  return 0;
}

}  // namespace nervanagpu::sass::tools
