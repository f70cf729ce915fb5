// ngasm as: template -> cubin.
#include <algorithm>
#include <array>
#include <cstdio>

#include "sass/asm/parse.h"
#include "sass/asm/pipeline.h"
#include "sass/asm/report.h"
#include "sass/asm/template/excerpt.h"
#include "sass/asm/template/expand.h"
#include "sass/asm/template/expr.h"
#include "sass/dis/listing.h"
#include "sass/tools/commands.h"

namespace nervanagpu::sass::tools {
namespace {

constexpr std::array<std::string_view, 5> kStages = {"expand", "parse", "schedule", "encode", "link"};

void show(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

// The product of one stage, for every variant.
Status dump_stage(const Template& source, Arch arch, const Defines& fixed, std::string_view stage) {
  Result<std::vector<Defines>> all = variants(source, fixed);
  if (!all.ok()) return all.error();
  for (const Defines& defines : *all) {
    Result<Expansion> expansion = expand(source, arch, defines);
    if (!expansion.ok()) return expansion.error();
    if (stage == "expand") {
      show(dump(*expansion));
      continue;
    }
    Result<Program> program = parse(*expansion);
    if (!program.ok()) return program.error();
    show("// " + program->manifest.name + "\n");
    if (stage == "parse") {
      show(dump(*program));
      continue;
    }
    Status scheduled = schedule(*program);
    if (!scheduled.ok()) return scheduled;
    if (stage == "schedule") {
      show(dump(*program));
      continue;
    }
    Result<KernelImage> kernel = encode_kernel(*program);
    if (!kernel.ok()) return kernel.error();
    show(code_of(arch, *kernel, true));
  }
  return Done{};
}

// What every variant costs, as tables or as one JSON list.
Status show_reports(const Template& source, Arch arch, const Defines& fixed, bool json) {
  Result<std::vector<Defines>> all = variants(source, fixed);
  if (!all.ok()) return all.error();
  std::string out;
  for (const Defines& defines : *all) {
    Result<Expansion> expansion = expand(source, arch, defines);
    if (!expansion.ok()) return expansion.error();
    Result<Program> program = parse(*expansion);
    if (!program.ok()) return program.error();
    Status scheduled = schedule(*program);
    if (!scheduled.ok()) return scheduled;
    const KernelReport report = report_of(*program);
    out += json ? (out.empty() ? "[" : ",\n ") + json_of(report) : (out.empty() ? "" : "\n") + table_of(report);
  }
  show(json ? out + "]\n" : out);
  return Done{};
}

}  // namespace

int cmd_as(const Arguments& args) {
  Result<Options> options =
      parse_options(args, {"-o", "-D", "-I", "--arch", "--dump", "--abi"}, {"--unproven", "--report", "--json"});
  if (!options.ok()) return usage_error("as", options.error().message);
  if (options->files.size() != 1) {
    return usage_error("as", "one template is needed, found " + std::to_string(options->files.size()));
  }
  const std::optional<std::string> output = options->one("-o");
  const std::optional<std::string> stage = options->one("--dump");
  const bool report = options->has("--report");
  if (options->has("--json") && !report) return usage_error("as", "--json is a form of --report");
  if (!output && !stage && !report) return usage_error("as", "-o OUT.cubin is missing");
  if (stage && std::find(kStages.begin(), kStages.end(), *stage) == kStages.end()) {
    return usage_error("as", "--dump takes expand, parse, schedule, encode or link, found `" + *stage + "`");
  }
  const std::string abi = options->one("--abi").value_or("7");
  if (abi != "7" && abi != "8") return usage_error("as", "--abi takes 7 or 8, found `" + abi + "`");
  Defines fixed;
  for (const std::string& d : options->all("-D")) {
    const std::size_t equals = d.find('=');
    const std::string name = d.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : d.substr(equals + 1);
    if (!is_name(name) || (!is_name(value) && !integer_from(value))) {
      return usage_error("as", "-D takes NAME=VALUE with an integer or a word, found `" + d + "`");
    }
    if (fixed.count(name) != 0) return usage_error("as", "-D " + name + " is given twice");
    fixed[name] = value;
  }
  Result<Template> source = read_template(options->files[0], options->all("-I"));
  if (!source.ok()) return input_error(source.error());

  std::optional<Arch> arch;
  if (const auto name = options->one("--arch")) {
    arch = arch_from_name(*name);
    if (!arch) {
      std::string all;
      for (const ArchInfo& i : all_archs()) all += (all.empty() ? "" : ", ") + std::string(i.name);
      return usage_error("as", "there is no architecture `" + *name + "`; there are " + all);
    }
  } else {
    Result<std::vector<Arch>> listed = archs(*source);
    if (!listed.ok()) return input_error(with_excerpt(listed.error(), *source));
    if (listed->empty()) return usage_error("as", "the template has no .arch line, so --arch ARCH is needed");
    arch = listed->front();
  }

  if (report) {
    Status s = show_reports(*source, *arch, fixed, options->has("--json"));
    if (!s.ok()) return input_error(with_excerpt(s.error(), *source));
    if (!output && !stage) return 0;
  }
  if (stage && *stage != "link") {
    Status s = dump_stage(*source, *arch, fixed, *stage);
    if (!s.ok()) return input_error(with_excerpt(s.error(), *source));
    if (!output) return 0;
  }
  Result<CubinImage> image =
      assemble(*source, *arch, fixed, options->has("--unproven") ? Proof::kSkipped : Proof::kNeeded);
  if (!image.ok()) return input_error(image.error());
  Result<std::vector<std::uint8_t>> bytes = write_cubin(*image, abi == "8" ? CubinAbi::k8 : CubinAbi::k7);
  if (!bytes.ok()) return input_error(bytes.error());
  if (stage && *stage == "link") {
    for (const KernelImage& k : image->kernels) show(header_of(*arch, k));
    std::printf("// %zu kernels, %zu bytes\n", image->kernels.size(), bytes->size());
  }
  if (!output) return 0;
  Status written = write_file(*output, bytes->data(), bytes->size());
  return written.ok() ? 0 : input_error(written.error());
}

}  // namespace nervanagpu::sass::tools
