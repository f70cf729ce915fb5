// The stages in a row, and templates that live in files.
#include "sass/asm/pipeline.h"

#include <algorithm>
#include <filesystem>

#include "sass/asm/template/excerpt.h"
#include "sass/asm/template/include.h"
#include "sass/asm/template/template.h"
#include "sass/file.h"
#include "sass/verify/verify.h"

namespace nervanagpu::sass {
namespace {

constexpr std::size_t kMaxNotes = 10;

std::string place(const Span& at) {
  return at.file + ":" + std::to_string(at.line) + ":" + std::to_string(at.col);
}

// The first hazard is the error, the others its notes.
Diag hazard_error(const std::string& kernel, const std::vector<Hazard>& hazards) {
  Diag d = error_at(hazards[0].at, "hazard in " + kernel + ": " + hazards[0].text);
  for (std::size_t i = 1; i < hazards.size() && i <= kMaxNotes; ++i) {
    d.notes.push_back("also at " + place(hazards[i].at) + ": " + hazards[i].text);
  }
  if (hazards.size() > kMaxNotes + 1)
    d.notes.push_back("and " + std::to_string(hazards.size() - kMaxNotes - 1) + " more");
  return d;
}

std::string spelled(const Defines& d) {
  std::string out;
  for (const auto& [name, value] : d) out += " " + name + "=" + value;
  return out;
}

}  // namespace

Result<KernelImage> assemble_variant(const Template& source, Arch arch, const Defines& defines, Proof proof) {
  Result<Expansion> expansion = expand(source, arch, defines);
  if (!expansion.ok()) return expansion.error();
  Result<Program> program = parse(*expansion);
  if (!program.ok()) return program.error();
  Status scheduled = schedule(*program);
  if (!scheduled.ok()) return scheduled.error();
  Result<KernelImage> kernel = encode_kernel(*program);
  if (!kernel.ok()) return kernel;
  if (proof == Proof::kSkipped) return kernel;
  const std::vector<Hazard> hazards = verify(arch, *kernel);
  if (!hazards.empty()) return hazard_error(kernel->name, hazards);
  return kernel;
}

Result<CubinImage> assemble(const Template& source, Arch arch, const Defines& fixed, Proof proof) {
  Result<std::vector<Defines>> all = variants(source, fixed);
  if (!all.ok()) return with_excerpt(all.error(), source);
  CubinImage image;
  image.arch = arch;
  for (const Defines& defines : *all) {
    Result<KernelImage> kernel = assemble_variant(source, arch, defines, proof);
    if (!kernel.ok()) {
      Diag d = with_excerpt(kernel.error(), source);
      if (!defines.empty()) d.notes.push_back("in the variant" + spelled(defines));
      return d;
    }
    const auto same = std::find_if(image.kernels.begin(), image.kernels.end(),
                                   [&](const KernelImage& k) { return k.name == kernel->name; });
    if (same != image.kernels.end()) {
      return error_at({source.name, 1, 1}, "two variants have the kernel name `" + kernel->name + "`",
                      {"the variants" + spelled(same->manifest.variant) + " and" + spelled(defines),
                       ".kernel must name every {VARIABLE} of .variants that tells them apart"});
    }
    image.kernels.push_back(std::move(*kernel));
  }
  return image;
}

Result<Template> read_template(const std::string& path, const std::vector<std::string>& include_dirs) {
  Result<std::string> text = read_file(path, kMaxSourceBytes);
  if (!text.ok()) return text.error();
  Template out;
  out.name = path;
  out.text = std::move(*text);
  std::vector<std::string> folders = {std::filesystem::path(path).parent_path().string()};
  folders.insert(folders.end(), include_dirs.begin(), include_dirs.end());
  out.include = include_from(std::move(folders));
  return out;
}

}  // namespace nervanagpu::sass
