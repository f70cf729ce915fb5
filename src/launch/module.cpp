// Assembling and loading a user's kernels, and what is refused before a launch.
#include "nervanagpu/module.hpp"

#include <algorithm>

#include "sass/asm/pipeline.h"
#include "sass/asm/report.h"
#include "sass/asm/template/include.h"
#include "sass/dis/listing.h"
#include "sass/verify/verify.h"
#include "src/device/placement.h"
#include "src/launch/module_arguments.h"

namespace nervanagpu {
namespace {

// The Diag with the line it speaks of and a caret under the column, where that line is of `text`.
std::string with_caret(const sass::Diag& diag, const std::string& name, const std::string& text) {
  std::string out = diag.text();
  if (diag.at.line == 0 || diag.at.file != name || out.find('^') != std::string::npos) return out;
  std::size_t start = 0;
  for (std::uint32_t line = 1; line < diag.at.line && start != std::string::npos; ++line) {
    start = text.find('\n', start);
    if (start != std::string::npos) ++start;
  }
  if (start == std::string::npos) return out;
  const std::string source = text.substr(start, text.find('\n', start) - start);
  std::string blank = source.substr(0, std::min<std::size_t>(source.size(), diag.at.col == 0 ? 0 : diag.at.col - 1));
  for (char& c : blank) c = c == '\t' ? '\t' : ' ';
  return out + "\n  " + source + "\n  " + blank + "^";
}

[[noreturn]] void refuse(const sass::Diag& diag, const std::string& name, const std::string& text) {
  throw AssembleError(with_caret(diag, name, text), diag.message, diag.at.file, diag.at.line, diag.at.col);
}

// What the template is assembled for, if the caller leaves it open.
sass::Arch default_arch(const sass::Template& source) {
  const auto listed = sass::archs(source);
  if (!listed.ok()) refuse(listed.error(), source.name, source.text);
  const sass::Arch device = current_device().registry().arch();
  if (listed->empty() || std::find(listed->begin(), listed->end(), device) != listed->end()) return device;
  return listed->front();
}

sass::Template template_from(const std::string& text, const AssembleOptions& options) {
  sass::Template t;
  t.name = options.name;
  t.text = text;
  t.include = sass::include_from(options.include_dirs);
  return t;
}

std::uint32_t volume(const std::uint32_t (&d)[3]) {
  return d[0] * d[1] * d[2];
}

std::uint32_t dynamic_of(const sass::KernelImage& k) {
  return k.manifest.shared > k.shared ? k.manifest.shared - k.shared : 0;
}

KernelInfo info_of(const sass::KernelImage& k) {
  KernelInfo out;
  out.name = k.name;
  out.instructions = k.code.size();
  out.registers = k.registers;
  out.shared = k.shared;
  out.dynamic = dynamic_of(k);
  out.local = k.local;
  out.threads = k.reqntid[0] != 0 ? volume(k.reqntid) : k.manifest.threads;
  out.max_threads = k.max_threads != 0 ? k.max_threads : 1024;
  out.param_bytes = k.param_bytes;
  for (const sass::Param& p : k.params) {
    out.params.push_back({p.name, type_text(k, p), p.offset, sass::size_of(p.type)});
  }
  for (std::size_t i = 0; i < 3; ++i) out.cluster[i] = k.cluster[0] != 0 ? k.cluster[i] : 1;
  if (k.cluster[0] == 0) out.cluster[0] = k.manifest.cluster;
  out.variant = k.manifest.variant;
  return out;
}

Grid dimensions(const char* what, const std::vector<std::uint32_t>& d, const Grid& most) {
  if (d.empty() || d.size() > 3) {
    throw InvalidArgument(std::string(what) + " has " + std::to_string(d.size()) + " dimensions; needs 1 to 3");
  }
  Grid out;
  out.x = d[0];
  if (d.size() > 1) out.y = d[1];
  if (d.size() > 2) out.z = d[2];
  const auto check = [&](const char* axis, std::uint32_t n, std::uint32_t limit) {
    if (n >= 1 && n <= limit) return;
    throw InvalidArgument(std::string(what) + "." + axis + " is " + std::to_string(n) + "; needs 1 to " +
                          std::to_string(limit));
  };
  check("x", out.x, most.x);
  check("y", out.y, most.y);
  check("z", out.z, most.z);
  return out;
}

Grid block_of(const sass::KernelImage& k, const std::vector<std::uint32_t>& given) {
  const KernelInfo info = info_of(k);
  if (given.empty()) {
    if (k.reqntid[0] != 0) return {k.reqntid[0], k.reqntid[1], k.reqntid[2]};
    if (info.threads != 0) return {info.threads, 1, 1};
    throw InvalidArgument("kernel " + k.name + " does not say how many threads a block has: give the block");
  }
  const Grid block = dimensions("block", given, {1024, 1024, 64});
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads > info.max_threads) {
    throw InvalidArgument("block has " + std::to_string(threads) + " threads; kernel " + k.name + " takes at most " +
                          std::to_string(info.max_threads));
  }
  const bool exact = k.reqntid[0] == 0 ? info.threads == 0 || threads == info.threads
                                       : block.x == k.reqntid[0] && block.y == k.reqntid[1] && block.z == k.reqntid[2];
  if (!exact) {
    throw InvalidArgument("block has " + std::to_string(threads) + " threads; kernel " + k.name +
                          " is written for exactly " + std::to_string(info.threads));
  }
  return block;
}

std::string triple(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z);
}

void check_cluster(const sass::KernelImage& k, const Grid& grid) {
  const std::array<std::uint32_t, 3> c = info_of(k).cluster;
  if (grid.x % c[0] == 0 && grid.y % c[1] == 0 && grid.z % c[2] == 0) return;
  throw InvalidArgument("grid is " + triple(grid.x, grid.y, grid.z) + "; kernel " + k.name + " runs in clusters of " +
                        triple(c[0], c[1], c[2]) + " blocks and needs a multiple of that");
}

}  // namespace

AssembleError::AssembleError(const std::string& diagnostic, std::string message, std::string file, std::uint32_t line,
                             std::uint32_t column)
    : InvalidArgument(diagnostic), message_(std::move(message)), file_(std::move(file)), line_(line), column_(column) {}
AssembleError::~AssembleError() = default;

struct Cubin::Data {
  // What it was assembled from; name empty where it was read.
  sass::Template source;
  sass::Defines defines;
  std::vector<std::uint8_t> bytes;
  sass::CubinImage image;
  std::vector<KernelInfo> kernels;
};

Cubin Cubin::assemble(const std::string& text, const AssembleOptions& options) {
  const sass::Template source = template_from(text, options);
  sass::Arch arch{};
  if (options.arch.empty()) {
    arch = default_arch(source);
  } else if (const auto named = sass::arch_from_name(options.arch)) {
    arch = *named;
  } else {
    std::string all;
    for (const sass::ArchInfo& i : sass::all_archs()) all += (all.empty() ? "" : ", ") + std::string(i.name);
    throw InvalidArgument("arch is `" + options.arch + "`; needs one of " + all);
  }
  const auto image = sass::assemble(source, arch, {options.defines.begin(), options.defines.end()});
  if (!image.ok()) refuse(image.error(), source.name, text);
  const auto bytes = sass::write_cubin(*image);
  if (!bytes.ok()) refuse(bytes.error(), source.name, text);
  const Cubin read_back = read(*bytes);
  auto data = std::make_shared<Data>(*read_back.data_);
  data->source = source;
  data->defines = {options.defines.begin(), options.defines.end()};
  return Cubin(std::move(data));
}

Cubin Cubin::read(std::span<const std::uint8_t> bytes) {
  auto image = sass::read_cubin(bytes.data(), bytes.size());
  if (!image.ok()) throw InvalidArgument("this is no cubin that can be read: " + image.error().text());
  auto data = std::make_shared<Data>();
  data->bytes.assign(bytes.begin(), bytes.end());
  data->image = std::move(*image);
  for (const sass::KernelImage& k : data->image.kernels) data->kernels.push_back(info_of(k));
  return Cubin(std::move(data));
}

std::span<const std::uint8_t> Cubin::bytes() const noexcept {
  return data_->bytes;
}
std::string Cubin::arch() const {
  return std::string(sass::info(data_->image.arch).name);
}
const std::vector<KernelInfo>& Cubin::kernels() const noexcept {
  return data_->kernels;
}

std::string Cubin::listing() const {
  std::string out;
  for (const sass::KernelImage& k : data_->image.kernels) {
    out += sass::header_of(data_->image.arch, k) + sass::code_of(data_->image.arch, k, false) + "\n";
  }
  return out;
}

namespace {

// By the machine model, which needs the program: what is in a cubin does not say where registers came from.
std::string costs_of(const sass::Template& source, sass::Arch arch, const sass::Defines& fixed) {
  std::string out;
  const auto all = sass::variants(source, fixed);
  if (!all.ok()) return all.error().text();
  for (const sass::Defines& defines : *all) {
    const auto expansion = sass::expand(source, arch, defines);
    if (!expansion.ok()) return expansion.error().text();
    auto program = sass::parse(*expansion);
    if (!program.ok()) return program.error().text();
    if (const auto ok = sass::schedule(*program); !ok.ok()) return ok.error().text();
    out += (out.empty() ? "" : "\n") + sass::table_of(sass::report_of(*program));
  }
  return out;
}

}  // namespace

std::string Cubin::report() const {
  if (!data_->source.text.empty()) return costs_of(data_->source, data_->image.arch, data_->defines);
  std::string out;
  for (const sass::KernelImage& k : data_->image.kernels) {
    const std::size_t hazards = sass::verify(data_->image.arch, k, &data_->image.data).size();
    out += sass::header_of(data_->image.arch, k) + "//   ";
    out += hazards == 0 ? "proven free of hazards\n" : std::to_string(hazards) + " hazards\n";
  }
  return out;
}

std::vector<Hazard> Cubin::verify() const {
  std::vector<Hazard> out;
  for (const sass::KernelImage& k : data_->image.kernels) {
    for (const sass::Hazard& h : sass::verify(data_->image.arch, k, &data_->image.data)) {
      out.push_back({k.name, h.text, h.at.file, h.at.line, h.producer, h.consumer});
    }
  }
  return out;
}

struct Module::Loaded {
  std::shared_ptr<const Cubin::Data> data;  // outlives the module that was made of it
  std::shared_ptr<LoadedModule> module;
  int device = 0;
};

Module::Module(const Cubin& cubin) : cubin_(cubin), loaded_(std::make_shared<Loaded>()) {
  loaded_->data = cubin.data_;
  loaded_->device = current_ordinal;
  loaded_->module = current_device().load(cubin.data_->image, cubin.data_->bytes);
}

void Module::launch(const std::string& kernel, const std::vector<std::uint32_t>& grid,
                    const std::vector<std::uint32_t>& block, const std::vector<Argument>& args,
                    std::optional<std::uint32_t> shared, const Stream& stream) const {
  const auto& kernels = loaded_->data->image.kernels;
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const auto& k) { return k.name == kernel; });
  if (found == kernels.end()) {
    std::string all;
    for (const sass::KernelImage& k : kernels) all += (all.empty() ? "" : ", ") + k.name;
    throw InvalidArgument("there is no kernel `" + kernel + "`; there are " + all);
  }
  std::vector<Placed::Operand> operands{{"the module", loaded_->device}, {"stream", stream}};
  for (const Argument& a : args) {
    if (const Tensor* t = std::get_if<Tensor>(&a.value)) operands.emplace_back("an argument", *t);
  }
  const Placed placed(kernel.c_str(), operands);
  ModuleLaunch launch;
  launch.kernel = static_cast<std::size_t>(found - kernels.begin());
  launch.grid = dimensions("grid", grid, {0x7fffffff, 65535, 65535});
  check_cluster(*found, launch.grid);
  launch.block = block_of(*found, block);
  launch.shared = shared.value_or(dynamic_of(*found));
  const std::uint32_t most = sass::info(loaded_->data->image.arch).max_shared;
  if (launch.shared < dynamic_of(*found) || launch.shared > most - std::min(most, found->shared)) {
    throw InvalidArgument("shared is " + std::to_string(launch.shared) + " bytes; kernel " + kernel + " needs " +
                          std::to_string(dynamic_of(*found)) + " to " +
                          std::to_string(most - std::min(most, found->shared)));
  }
  const std::vector<std::byte> params = pack_arguments(*found, args);
  launch.params = params;
  for (const Argument& a : args) {
    if (const Tensor* t = std::get_if<Tensor>(&a.value)) t->used_on(stream);
  }
  current_device().launch(*loaded_->module, launch, stream.handle());
}

Module::Variable Module::variable(const std::string& name) const {
  const LoadedModule::Variable found = loaded_->module->variable(name);
  if (found.address == 0) throw InvalidArgument("there is no variable `" + name + "` in the module");
  return {found.address, found.bytes};
}

}  // namespace nervanagpu
