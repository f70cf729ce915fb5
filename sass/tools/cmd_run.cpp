// ngasm run: a kernel on the emulator.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "sass/asm/template/condition.h"
#include "sass/asm/template/expr.h"
#include "sass/emulate/emulate.h"
#include "sass/tools/commands.h"
#include "sass/tools/run_args.h"

namespace nervanagpu::sass::tools {
namespace {

constexpr std::uint64_t kLimit = 100'000'000'000;  // warp instructions: many minutes
constexpr std::size_t kGuard = std::size_t{1} << 20;

// "x", "x,y" or "x,y,z", each at least 1.
Result<emulate::Dim3> read_dim(const std::string& option, const std::string& text, const std::uint32_t (&most)[3]) {
  std::uint32_t out[3] = {1, 1, 1};
  std::size_t start = 0;
  for (int i = 0; i < 4; ++i) {
    const std::size_t comma = text.find(',', start);
    const auto n =
        integer_from(std::string_view(text).substr(start, comma == std::string::npos ? comma : comma - start));
    if (i == 3 || !n || *n < 1 || *n > std::int64_t{most[i]}) {
      return error(option + " takes X, X,Y or X,Y,Z from 1 to " + std::to_string(most[0]) + "," +
                   std::to_string(most[1]) + "," + std::to_string(most[2]) + ", found `" + text + "`");
    }
    out[i] = static_cast<std::uint32_t>(*n);
    if (comma == std::string::npos) break;
    start = comma + 1;
  }
  return emulate::Dim3{out[0], out[1], out[2]};
}

Result<std::uint64_t> read_count(const Options& options, const std::string& name, std::uint64_t most,
                                 std::uint64_t otherwise = 0) {
  const auto text = options.one(name);
  if (!text) return otherwise;
  const auto n = integer_from(*text);
  if (!n || *n < 0 || static_cast<std::uint64_t>(*n) > most) {
    return error(name + " takes a number from 0 to " + std::to_string(most) + ", found `" + *text + "`");
  }
  return static_cast<std::uint64_t>(*n);
}

// What all arrays together may have: they stand in memory twice, as contents and as the device's.
std::uint64_t room_for_arrays() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long bytes = ::sysconf(_SC_PAGE_SIZE);
  return pages > 0 && bytes > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes) / 2
                                : std::uint64_t{1} << 34;
}

// Each argument must have the size of its parameter, and be a float where that is known to be one; arrays are pointers.
// Cubins of ptxas name no parameters and say sizes alone.
Status check_args(const KernelImage& kernel, const std::vector<RunArg>& args) {
  if (args.size() != kernel.params.size()) {
    std::string all;
    for (const Param& p : kernel.params) all += (all.empty() ? "" : ", ") + std::string(name_of(p.type)) + " " + p.name;
    return error("`" + kernel.name + "` has " + std::to_string(kernel.params.size()) + " parameters (" + all +
                 "), found " + std::to_string(args.size()) + " --arg");
  }
  for (std::size_t i = 0; i < args.size(); ++i) {
    const Param& p = kernel.params[i];
    const unsigned bytes = args[i].array ? 8 : size_of(args[i].type);
    const std::string which = "parameter " + std::to_string(i) + (p.name.empty() ? "" : " `" + p.name + "`");
    if (bytes != size_of(p.type)) {
      return error(which + " has " + std::to_string(size_of(p.type)) + " bytes; " + args[i].title() +
                   (args[i].array ? " is a pointer of 8" : " has " + std::to_string(bytes)));
    }
    if (!p.name.empty() && is_float(p.type) != (!args[i].array && is_float(args[i].type))) {
      return error(which + " is " + std::string(name_of(p.type)) + "; found " + args[i].title() +
                   (args[i].array ? ", a pointer" : ""));
    }
  }
  return Done{};
}

Result<const KernelImage*> pick_kernel(const CubinImage& image, const std::optional<std::string>& name) {
  std::string all;
  for (const KernelImage& k : image.kernels) {
    if (name ? k.name == *name : image.kernels.size() == 1) return &k;
    all += (all.empty() ? "" : ", ") + k.name;
  }
  return error(name ? "there is no kernel `" + *name + "`; there are " + all
                    : "--kernel NAME is needed; there are " + all);
}

// What the kernel's .needs say of the launch, as the library asks them.
Status check_needs(const KernelImage& kernel, const emulate::Launch& config) {
  const Result<std::vector<Condition>> needs = compile_needs(kernel.manifest);
  if (!needs.ok()) return needs.error();
  const LaunchSize size = {config.grid.x, config.grid.y, config.grid.z, kernel.manifest.cluster};
  for (const Condition& c : *needs) {
    if (c.holds(config.params, size)) continue;
    return error("kernel " + kernel.name + " needs " + c.text() + "; " + c.found(kernel.manifest, config.params, size));
  }
  return Done{};
}

int launch(const CubinImage& image, const KernelImage& kernel, std::vector<RunArg>& args, emulate::Launch config,
           bool dump) {
  std::size_t total = image.data.bytes + 2 * kGuard;
  for (const RunArg& a : args) total += a.array ? a.bytes.size() + kGuard : 0;
  emulate::Memory memory(total);
  std::vector<std::byte> params(kernel.param_bytes);
  for (std::size_t i = 0; i < args.size(); ++i) {
    RunArg& a = args[i];
    const std::size_t offset = kernel.params[i].offset;
    if (!a.array) {
      std::memcpy(params.data() + offset, a.bytes.data(), a.bytes.size());
      continue;
    }
    a.address = memory.allocate(a.bytes.size());
    std::byte* host = a.address == 0 ? nullptr : memory.host(a.address, a.bytes.size());
    if (host == nullptr) return input_error(error("no memory for " + a.title()));
    std::memcpy(host, a.bytes.data(), a.bytes.size());
    for (unsigned k = 0; k < 8; ++k) params[offset + k] = static_cast<std::byte>(a.address >> (8 * k));
  }
  config.params = params;
  if (const Status needs = check_needs(kernel, config); !needs.ok()) return input_error(needs.error());
  const auto module = emulate::Module::load(image, memory);
  if (!module.ok()) return input_error(module.error());
  const auto loaded = (*module)->kernel(kernel);
  if (!loaded.ok()) return input_error(loaded.error());
  const Result<emulate::Report> report = emulate::run(**loaded, memory, config);
  if (!report.ok()) return input_error(report.error());
  std::printf("%s: grid %u,%u,%u, block %u,%u,%u: %llu warp instructions\n", kernel.name.c_str(), config.grid.x,
              config.grid.y, config.grid.z, config.block.x, config.block.y, config.block.z,
              static_cast<unsigned long long>(report->warp_instructions));
  for (std::size_t i = 0; i < args.size(); ++i) {
    RunArg& a = args[i];
    if (!a.array) continue;
    std::memcpy(a.bytes.data(), memory.host(a.address, a.bytes.size()), a.bytes.size());
    const std::string& name = kernel.params[i].name;
    std::printf("arg %zu%s%s %s\n", i, name.empty() ? "" : " ", name.c_str(), statistics(a).c_str());
    if (dump) std::printf("  %s\n", values(a).c_str());
  }
  for (const emulate::Finding& f : report->findings) std::printf("%s\n", f.text().c_str());
  if (config.mode == emulate::Mode::kChecked) std::printf("%zu findings\n", report->findings.size());
  return report->findings.empty() ? 0 : 1;
}

}  // namespace

int cmd_run(const Arguments& arguments) {
  Result<Options> options = parse_options(
      arguments, {"--kernel", "--grid", "--block", "--arg", "--shared", "--seed", "--threads", "--limit", "--order"},
      {"--checked", "--dump-args"});
  if (!options.ok()) return usage_error("run", options.error().message);
  if (options->files.size() != 1) {
    return usage_error("run", "one cubin is needed, found " + std::to_string(options->files.size()));
  }
  emulate::Launch config;
  const auto grid = options->one("--grid"), block = options->one("--block");
  if (!grid || !block) return usage_error("run", std::string(grid ? "--block" : "--grid") + " X,Y,Z is missing");
  const Result<emulate::Dim3> g = read_dim("--grid", *grid, {0x7fffffff, 65535, 65535});
  if (!g.ok()) return usage_error("run", g.error().message);
  const Result<emulate::Dim3> b = read_dim("--block", *block, {1024, 1024, 64});
  if (!b.ok()) return usage_error("run", b.error().message);
  if (std::uint64_t{b->x} * b->y * b->z > 1024) {
    return usage_error("run",
                       "a block has at most 1024 threads, found " + std::to_string(std::uint64_t{b->x} * b->y * b->z));
  }
  config.grid = *g;
  config.block = *b;
  const Result<std::uint64_t> shared = read_count(*options, "--shared", 228u << 10);
  if (!shared.ok()) return usage_error("run", shared.error().message);
  const Result<std::uint64_t> seed = read_count(*options, "--seed", 0x7fffffffffffffff);
  if (!seed.ok()) return usage_error("run", seed.error().message);
  const Result<std::uint64_t> threads = read_count(*options, "--threads", 1024);
  if (!threads.ok()) return usage_error("run", threads.error().message);
  const Result<std::uint64_t> limit = read_count(*options, "--limit", 0x7fffffffffffffff, kLimit);
  if (!limit.ok()) return usage_error("run", limit.error().message);
  config.limit = *limit;
  const Result<std::uint64_t> order = read_count(*options, "--order", 0xffffffff);
  if (!order.ok()) return usage_error("run", order.error().message);
  config.order = static_cast<std::uint32_t>(*order);
  config.dynamic_shared = static_cast<std::uint32_t>(*shared);
  config.threads = static_cast<unsigned>(*threads);
  config.mode = options->has("--checked") ? emulate::Mode::kChecked : emulate::Mode::kFast;

  // multimap keeps the order in which equal options were given.
  std::vector<RunArg> args;
  std::uint64_t room = room_for_arrays();
  for (const std::string& text : options->all("--arg")) {
    Result<RunArg> a = read_run_arg(text, *seed, args.size(), room);
    if (!a.ok()) return usage_error("run", a.error().message);
    args.push_back(std::move(*a));
  }
  Result<CubinImage> image = load_cubin(options->files[0]);
  if (!image.ok()) return input_error(image.error());
  const Result<const KernelImage*> kernel = pick_kernel(*image, options->one("--kernel"));
  if (!kernel.ok()) return usage_error("run", kernel.error().message);
  const Status fit = check_args(**kernel, args);
  if (!fit.ok()) return usage_error("run", fit.error().message);
  return launch(*image, **kernel, args, config, options->has("--dump-args"));
}

}  // namespace nervanagpu::sass::tools
