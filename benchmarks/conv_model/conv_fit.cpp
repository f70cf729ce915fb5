// Fits the constants of the convolutions' cost models (kernels/conv/costs.h) to times of conv_sweep.
//
//   conv_fit [--steps N] [--seed S] [--only GROUP] SWEEP... > kernels/conv/fitted_costs.h
//   conv_fit --thin GPU SWEEP... > benchmarks/results/conv/conv_sweep.jsonl
//   conv_fit --show SWEEP...
//
// The model is the library's own: each line of a SWEEP names what was launched, and conv_detail::tensor_cores::modelled() says what
// that costs with any constants. These are moved at random while that lowers how much longer the chosen variants take than the
// best (the regret, a geometric mean), and with a small weight the error of all variants within twice the best. Layers of
// networks count more than random ones ("r. ..."), of which a quarter, by a hash of their names, is held out. The header says what was found, before and after.
//
// --only: moves the constants of one kind of kernel ("product"). --thin: one line a pass, without variants of more than twice the best's time, which are grouped by the beginning of their names. --show: what the library chooses where that is not the best.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/conv/fitted_costs.h"
#include "kernels/conv/tensor_cores.h"
#include "nervanagpu/nervanagpu.hpp"

namespace nervanagpu {
namespace {

using conv_detail::Costs;
using conv_detail::Forced;
using conv_detail::tensor_cores::Modelled;

constexpr double kReference = 1;  // of a GPU's memory to the model's, an H200
constexpr double kNetworks = 3;   // the weight of a network's layer
constexpr double kFar = 2;        // times the best: errors beyond do not count
constexpr double kErrors = 0.4;

// ---- Lines of a sweep: flat objects, but for "times".

std::string text_of(const std::string& line, const std::string& key) {
  const std::string name = "\"" + key + "\": \"";
  const std::size_t at = line.find(name);
  if (at == std::string::npos) return "";
  const std::size_t from = at + name.size();
  return line.substr(from, line.find('"', from) - from);
}

double number_of(const std::string& line, const std::string& key) {
  const std::string name = "\"" + key + "\": ";
  const std::size_t at = line.find(name);
  if (at == std::string::npos) throw InvalidArgument("conv_fit: no " + key + " in '" + line + "'");
  return std::strtod(line.c_str() + at + name.size(), nullptr);
}

// A pass of a layer, and how long each variant took.
struct Measured {
  std::string gpu, layer, pass;
  std::array<std::int64_t, 7> sizes = {};  // n c side k size stride pad
  std::map<std::string, double> times;     // by what was launched
  [[nodiscard]] double best() const {
    return std::ranges::min_element(times, {}, [](const auto& t) { return t.second; })->second;
  }
};
constexpr std::array kSizes = {"n", "c", "side", "k", "size", "stride", "pad"};

std::vector<Measured> read(const std::vector<std::string>& files, const std::string& gpu) {
  std::vector<Measured> out;
  std::map<std::string, std::size_t> known;
  for (const std::string& file : files) {
    std::ifstream in(file);
    if (!in) throw InvalidArgument("conv_fit: cannot read " + file);
    for (std::string line; std::getline(in, line);) {
      Measured m;
      m.gpu = gpu.empty() ? text_of(line, "gpu") : gpu;
      m.layer = text_of(line, "layer"), m.pass = text_of(line, "pass");
      if (m.layer.empty()) continue;                                // where the times come from
      if (line.find("\"depth\": ") != std::string::npos) continue;  // fitted to images alone
      for (std::size_t i = 0; i < kSizes.size(); ++i)
        m.sizes[i] = static_cast<std::int64_t>(number_of(line, kSizes[i]));
      const auto [it, added] = known.emplace(m.gpu + " " + m.layer + " " + m.pass, out.size());
      if (added) out.push_back(m);
      std::map<std::string, double>& times = out[it->second].times;
      const auto add = [&](const std::string& launched, double us) {
        const auto [at, is_new] = times.emplace(launched, us);
        if (!is_new) at->second = std::min(at->second, us);
      };
      const std::size_t all = line.find("\"times\": {");
      if (all == std::string::npos) {  // conv_sweep's
        const std::string launched = text_of(line, "launched");
        if (!launched.empty() && line.find("\"early\"") == std::string::npos) add(launched, number_of(line, "us"));
        continue;
      }
      std::string group;  // what the names of an object within "times" begin with
      for (std::size_t from = line.find('"', all + 8); from != std::string::npos; from = line.find('"', from + 1)) {
        const std::size_t to = line.find('"', from + 1);
        const std::string name = line.substr(from + 1, to - from - 1);
        if (line.compare(to, 4, "\": {") == 0) {
          group = name;
        } else {
          add(group + name, std::strtod(line.c_str() + to + 2, nullptr));
        }
        from = to;
      }
    }
  }
  std::erase_if(out, [](const Measured& m) { return m.times.empty(); });
  return out;
}

void thin(const std::vector<Measured>& all) {
  for (const Measured& m : all) {
    std::printf(R"({"gpu": "%s", "layer": "%s", "pass": "%s")", m.gpu.c_str(), m.layer.c_str(), m.pass.c_str());
    for (std::size_t i = 0; i < kSizes.size(); ++i)
      std::printf(R"(, "%s": %lld)", kSizes[i], static_cast<long long>(m.sizes[i]));
    std::map<std::string, std::string> groups;  // "hconv_b_" of "hconv_b_128x64x1/1"
    for (const auto& [launched, us] : m.times) {
      if (us > kFar * m.best()) continue;
      const std::size_t end = launched.rfind('_') + 1;
      std::string& group = groups[launched.substr(0, end)];
      std::array<char, 32> number = {};
      std::snprintf(number.data(), number.size(), "%.4g", us);
      group += (group.empty() ? "\"" : ", \"") + launched.substr(end) + "\": " + number.data();
    }
    std::printf(R"(, "times": {)");
    const char* between = "";
    for (const auto& [group, times] : groups) {
      std::printf(R"(%s"%s": {%s})", between, group.c_str(), times.c_str());
      between = ", ";
    }
    std::printf("}}\n");
  }
}

// ---- The model of what was measured.

ConvProblem problem_of(const Measured& m) {
  const auto [n, c, side, k, size, stride, pad] = m.sizes;
  ConvProblem p;
  p.n = n, p.c = c, p.k = k;
  p.in = {1, side, side}, p.filter = {1, size, size}, p.stride = {1, stride, stride}, p.pad = {0, pad, pad};
  p.x_type = p.w_type = p.y_type = Dtype::float16;
  return p;
}

ConvPass pass_of(const Measured& m) {
  return m.pass == "fprop" ? ConvPass::fprop : m.pass == "bprop" ? ConvPass::bprop : ConvPass::update;
}

std::string joined(const std::vector<Modelled>& launches) {
  std::string out;
  for (const Modelled& m : launches) out += (out.empty() ? "" : " ") + m.kernel + "/" + std::to_string(m.splits);
  return out;
}

// What asks for these launches.
Forced forced_of(const std::string& launched) {
  const auto word = [&](std::string_view prefix) -> std::string {
    std::size_t at = launched.find(prefix);
    if (at == std::string::npos) return "";
    at += prefix.size();
    return launched.substr(at, launched.find('/', at) - at);
  };
  Forced f;
  const std::size_t slash = launched.find('/', launched.find("conv_") + 1);
  constexpr std::size_t kPass = 2;  // "f_"
  if (launched.starts_with("gemm/")) {
    f.kernel = "_gemm";
  } else if (launched.find("cells/") != std::string::npos) {
    const std::string halo = word("halo_f_");
    f.kernel = halo.empty() ? "_cells_resident_" + word("resident_") : "_cells_" + halo;
    if (!word("haloupdate_").empty()) {
      f.kernel = "_cells_haloupdate_" + word("haloupdate_");
      f.splits = std::atoll(launched.c_str() + launched.find('/', launched.find("haloupdate_")) + 1);
    }
  } else if (launched.find("haloupdate_") != std::string::npos) {
    f.kernel = "_haloupdate_" + word("haloupdate_");
    f.splits = std::atoll(launched.c_str() + launched.find('/', launched.find("haloupdate_")) + 1);
  } else if (launched.find("narrowswapped_") != std::string::npos) {
    f.kernel = "_narrowswapped_" + word("narrowswapped_");
  } else if (launched.find("swapped_") != std::string::npos) {
    f.kernel = "_swapped_" + word("swapped_");
  } else if (launched.find("halo_") != std::string::npos) {
    f.kernel = "_halo_" + word("halo_").substr(kPass);
  } else if (launched.find("resident_") != std::string::npos) {
    f.kernel = "_resident_" + word("resident_");
  } else if (launched.find("narrowupdate_") != std::string::npos) {
    f.kernel = "_narrowupdate_" + word("narrowupdate_");
  } else if (launched.find("narrow_") != std::string::npos) {
    f.kernel = "_narrow_" + word("narrow_");
  } else {
    const std::string tile = word(launched.find("gconv_") == std::string::npos ? "hconv_" : "gconv_");
    f.kernel = (tile.starts_with("h_") ? "_h_" : "_") + tile.substr(kPass);
    f.splits = std::atoll(launched.c_str() + slash + 1);
  }
  return f;
}

struct Variant {
  std::string launched;
  double us = 0;
  std::vector<Modelled> launches;
};
struct Layer {
  const Measured* of = nullptr;
  double best = 0;
  std::vector<Variant> variants;
  bool held_out = false;
  [[nodiscard]] bool on_reference() const { return of->gpu == "H200"; }
};

bool is_random(const std::string& layer) {
  return layer.starts_with("r.");
}

bool is_held_out(const std::string& layer) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : layer) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return is_random(layer) && (hash >> 7) % 4 == 0;
}

std::vector<Layer> layers_of(const std::vector<Measured>& all) {
  std::vector<Layer> out;
  std::size_t gone = 0;
  for (const Measured& m : all) {
    const ConvProblem p = problem_of(m);
    const ConvPass pass = pass_of(m);
    Layer l;
    l.of = &m, l.held_out = is_held_out(m.layer);
    for (const auto& [launched, us] : m.times) {
      try {
        std::vector<Modelled> launches = conv_detail::tensor_cores::modelled(pass, p, forced_of(launched));
        if (joined(launches) == launched) {
          l.variants.push_back({launched, us, std::move(launches)});
          continue;
        }
      } catch (const InvalidArgument&) {  // NOLINT(bugprone-empty-catch)
      }
      if (++gone % 40 == 1)
        std::fprintf(stderr, "conv_fit: not launched any more: %s %s %s\n", m.layer.c_str(), m.pass.c_str(),
                     launched.c_str());
    }
    if (l.variants.size() < 2) continue;
    l.best = std::ranges::min_element(l.variants, {}, &Variant::us)->us;
    out.push_back(std::move(l));
  }
  if (gone > 0) std::fprintf(stderr, "conv_fit: %zu variants are not launched any more\n", gone);
  return out;
}

// ---- The constants, one after the other, and the memory of a GPU that is not the model's as a part of its.

constexpr std::size_t kConstants = sizeof(Costs) / sizeof(double);
static_assert(sizeof(Costs) == kConstants * sizeof(double));
using Numbers = std::array<double, kConstants>;
struct Point {
  Numbers costs = std::bit_cast<Numbers>(conv_detail::kFitted);
  double memory = 0.61;  // of an H100
};

double cost_of(const Variant& v, const Costs& costs) {
  double out = 0;
  for (const Modelled& m : v.launches) out += m.microseconds(costs);
  return out;
}

struct Judged {
  double regret = 0, error = 0;  // means of logarithms
  std::size_t passes = 0, variants = 0;
  [[nodiscard]] double score() const { return regret + kErrors * error; }
};

const Variant& chosen(const Layer& l, const Costs& costs, Judged* errors) {
  constexpr double kMostError = 0.7;
  const Variant* out = nullptr;
  double least = std::numeric_limits<double>::max();
  for (const Variant& v : l.variants) {
    const double cost = cost_of(v, costs);
    if (cost < least) least = cost, out = &v;
    if (v.us > kFar * l.best || errors == nullptr) continue;
    errors->error += std::min(std::abs(std::log(v.us / cost)), kMostError);
    ++errors->variants;
  }
  return *out;
}

Costs costs_of(const Point& p, const Layer& l) {
  Costs costs = std::bit_cast<Costs>(p.costs);
  costs.memory *= l.on_reference() ? kReference : p.memory;
  return costs;
}

Judged judge(const std::vector<Layer>& layers, const Point& p, const std::function<bool(const Layer&)>& counts) {
  Judged out;
  double weights = 0;
  for (const Layer& l : layers) {
    if (!counts(l)) continue;
    const double weight = is_random(l.of->layer) ? 1 : kNetworks;
    out.regret += weight * std::log(chosen(l, costs_of(p, l), &out).us / l.best);
    weights += weight;
    ++out.passes;
  }
  out.regret /= std::max(weights, 1.0);
  out.error /= static_cast<double>(std::max<std::size_t>(out.variants, 1));
  return out;
}

// In Costs' order.
struct Field {
  std::string_view group, name;
  std::size_t count;
};
constexpr std::array kFields = {Field{"", "memory", 1},
                                Field{"", "copy", 1},
                                Field{"positions", "start", 1},
                                Field{"positions", "early", 1},
                                Field{"positions", "tile", 1},
                                Field{"positions", "turn", 1},
                                Field{"positions", "turn_end", 1},
                                Field{"positions", "sum", 1},
                                Field{"positions", "part", 1},
                                Field{"positions", "sums", 1},
                                Field{"positions", "block", 7},
                                Field{"positions", "whole_row", 1},
                                Field{"positions", "part_row", 1},
                                Field{"positions", "odd_row", 1},
                                Field{"positions", "half_row", 1},
                                Field{"positions", "zero_row", 1},
                                Field{"update", "start", 1},
                                Field{"update", "early", 1},
                                Field{"update", "tile", 1},
                                Field{"update", "turn", 1},
                                Field{"update", "turn_end", 1},
                                Field{"update", "sum", 1},
                                Field{"update", "part", 1},
                                Field{"update", "sums", 1},
                                Field{"update", "block", 7},
                                Field{"update", "whole_row", 1},
                                Field{"update", "part_row", 1},
                                Field{"update", "odd_row", 1},
                                Field{"update", "half_row", 1},
                                Field{"update", "zero_row", 1},
                                Field{"gather", "start", 1},
                                Field{"gather", "early", 1},
                                Field{"gather", "tile", 1},
                                Field{"gather", "sum", 1},
                                Field{"gather", "part", 1},
                                Field{"gather", "sums", 1},
                                Field{"gather", "block", 9},
                                Field{"gather_update", "start", 1},
                                Field{"gather_update", "early", 1},
                                Field{"gather_update", "tile", 1},
                                Field{"gather_update", "sum", 1},
                                Field{"gather_update", "part", 1},
                                Field{"gather_update", "sums", 1},
                                Field{"gather_update", "block", 9},
                                Field{"halo", "start", 1},
                                Field{"halo", "early", 1},
                                Field{"halo", "step", 8},
                                Field{"halo", "tile", 8},
                                Field{"halo", "part_row", 1},
                                Field{"halo", "latency", 1},
                                Field{"swapped", "start", 1},
                                Field{"swapped", "hidden", 1},
                                Field{"swapped", "place", 1},
                                Field{"swapped", "tile", 1},
                                Field{"swapped", "chunk", 1},
                                Field{"swapped", "any", 1},
                                Field{"swapped", "zeros", 1},
                                Field{"swapped", "latency", 1},
                                Field{"halo_update", "start", 1},
                                Field{"halo_update", "row", 1},
                                Field{"halo_update", "part_row", 1},
                                Field{"halo_update", "column", 1},
                                Field{"halo_update", "reading", 1},
                                Field{"halo_update", "wide", 1},
                                Field{"halo_update", "sums", 1},
                                Field{"resident", "start", 1},
                                Field{"resident", "early", 1},
                                Field{"resident", "step", 1},
                                Field{"resident", "whole_row", 1},
                                Field{"resident", "part_row", 1},
                                Field{"resident", "epilogue", 1},
                                Field{"cells", "start", 1},
                                Field{"cells", "elements", 1},
                                Field{"narrow", "start", 1},
                                Field{"narrow", "step", 1},
                                Field{"narrow", "epilogue", 1},
                                Field{"narrow", "load", 1},
                                Field{"narrow_swapped", "start", 1},
                                Field{"narrow_swapped", "step", 1},
                                Field{"narrow_swapped", "load", 1},
                                Field{"narrow_update", "start", 1},
                                Field{"narrow_update", "unit", 1},
                                Field{"narrow_update", "words", 1},
                                Field{"narrow_update", "any", 1},
                                Field{"narrow_update", "channel", 1},
                                Field{"narrow_update", "memory", 1},
                                Field{"product", "start", 1},
                                Field{"product", "run", 1}};
constexpr std::size_t count_of_fields() {
  std::size_t out = 0;
  for (const Field& f : kFields) out += f.count;
  return out;
}
static_assert(count_of_fields() == kConstants);

std::string_view group_of(std::size_t constant) {
  for (const Field& f : kFields) {
    if (constant < f.count) return f.group;
    constant -= f.count;
  }
  return "";
}

// The last one is the memory.
double& number(Point& p, std::size_t at) {
  return at == kConstants ? p.memory : p.costs[at];
}

// Constants of a group, or of all, that some variant depends on: the others keep what they are.
std::vector<std::size_t> felt_by(const std::vector<Layer>& layers, std::string_view group) {
  constexpr double kOther = 1.5;
  const auto all = [](const Layer&) { return true; };
  const double before = judge(layers, Point{}, all).error;
  std::vector<std::size_t> out;
  for (std::size_t at = 0; at <= kConstants; ++at) {
    if (!group.empty() && group_of(at) != group) continue;
    Point p;
    number(p, at) *= kOther;
    if (judge(layers, p, all).error != before) out.push_back(at);
  }
  return out;
}

Point fit(const std::vector<Layer>& layers, int steps, unsigned seed, std::string_view group) {
  constexpr double kStep = 0.15;
  const auto counts = [](const Layer& l) { return !l.held_out; };
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const std::vector<std::size_t> felt = felt_by(layers, group);
  if (felt.empty())
    throw InvalidArgument("conv_fit: --only '" + std::string(group) + "' has no constant that a time depends on");
  std::uniform_int_distribution<std::size_t> any(0, felt.size() - 1);
  Point best;
  double least = judge(layers, best, counts).score();
  for (int i = 0; i < steps; ++i) {
    Point tried = best;
    const double width = kStep * std::exp(normal(random));
    for (std::size_t moved = random() % 3; moved < 3; ++moved) {
      number(tried, felt[any(random)]) *= std::exp(width * normal(random));
    }
    const double score = judge(layers, tried, counts).score();
    if (score < least) least = score, best = tried;
  }
  return best;
}

// ---- The header.

void print_header(const std::vector<Layer>& layers, const Point& before, const Point& after, const std::string& how) {
  std::printf(
      "// Constants of an H200, written by `conv_fit %s`.\n//\n"
      "//                        passes   regret: before  after   error: before  after\n",
      how.c_str());
  for (const bool held_out : {false, true}) {
    for (const char* pass : {"fprop", "bprop", "update"}) {
      const auto counts = [&](const Layer& l) { return l.held_out == held_out && l.of->pass == pass; };
      const Judged a = judge(layers, before, counts);
      const Judged b = judge(layers, after, counts);
      std::printf("//   %-8s %-6s       %5zu           %.4f %.4f            %.3f  %.3f\n",
                  held_out ? "held out" : "fitted", pass, a.passes, std::exp(a.regret), std::exp(b.regret),
                  std::exp(a.error), std::exp(b.error));
    }
  }
  std::map<std::string, std::size_t> gpus;
  for (const Layer& l : layers) gpus[l.of->gpu] += l.variants.size();
  std::string times;
  for (const auto& [gpu, count] : gpus) times += (times.empty() ? "" : ", ") + std::to_string(count) + " on an " + gpu;
  std::printf(
      "//\n// before: the constants in use until then. regret: the chosen variant's time over the best's; error: the "
      "model's, of "
      "variants within\n// twice the best's time. Geometric means; a network's layer counts as three random ones.\n"
      "// Times: %s, whose memory counts as %.2f of an H200's.\n",
      times.c_str(), after.memory);
  std::printf(
      "#pragma once\n\n#include \"kernels/conv/costs.h\"\n\nnamespace nervanagpu::conv_detail {\n\n// clang-format "
      "off\n");
  std::printf("inline constexpr Costs kFitted = {\n");
  std::size_t at = 0;
  std::string_view group;
  for (const Field& f : kFields) {
    if (f.group != group) {
      if (!group.empty()) std::printf("    },\n");
      if (!f.group.empty()) std::printf("    .%s = {\n", std::string(f.group).c_str());
      group = f.group;
    }
    std::printf("%s    .%s = %s", group.empty() ? "" : "    ", std::string(f.name).c_str(), f.count > 1 ? "{" : "");
    for (std::size_t i = 0; i < f.count; ++i) std::printf("%s%.4g", i == 0 ? "" : ", ", after.costs[at++]);
    std::printf("%s,\n", f.count > 1 ? "}" : "");
  }
  std::printf("    },\n};\n// clang-format on\n\n}  // namespace nervanagpu::conv_detail\n");
}

// What the library launches, as far as it was measured: that, or the same kernel in the nearest number of parts.
const Variant* own_of(const Layer& l, std::string& launched) {
  launched = joined(conv_detail::tensor_cores::modelled(pass_of(*l.of), problem_of(*l.of)));
  const auto kernel = [](const std::string& name) { return name.substr(0, name.rfind('/')); };
  const auto parts = [](const std::string& name) { return std::log(std::atof(name.c_str() + name.rfind('/') + 1)); };
  const Variant* out = nullptr;
  double nearest = std::log(1.5);
  for (const Variant& v : l.variants) {
    const double away = std::abs(parts(v.launched) - parts(launched));
    if (kernel(v.launched) == kernel(launched) && away <= nearest) nearest = away, out = &v;
  }
  return out;
}

void show(const std::vector<Layer>& layers) {
  constexpr double kSome = 1.03;
  const Point point;
  std::map<std::string, Judged> all;
  for (const Layer& l : layers) {
    std::string launched;
    const Variant* own = own_of(l, launched);
    const Variant& best = *std::ranges::min_element(l.variants, {}, &Variant::us);
    const Costs costs = costs_of(point, l);
    Judged& j = all[l.of->pass + (l.held_out ? ", held out" : "")];
    if (own == nullptr) {
      std::printf("not measured %s %s %s: %s; best %s %.2f\n", l.of->gpu.c_str(), l.of->layer.c_str(),
                  l.of->pass.c_str(), launched.c_str(), best.launched.c_str(), best.us);
      continue;
    }
    j.regret += std::log(own->us / best.us);
    ++j.passes;
    if (own->us < kSome * best.us) continue;
    std::printf("%.3f %s %s %s: %s, measured %s %.2f (%.2f) for %s %.2f (%.2f)\n", own->us / best.us, l.of->gpu.c_str(),
                l.of->layer.c_str(), l.of->pass.c_str(), launched.c_str(), own->launched.c_str(), own->us,
                cost_of(*own, costs), best.launched.c_str(), best.us, cost_of(best, costs));
  }
  for (const auto& [kind, j] : all)
    std::printf("regret of the library's own choice, %s: %.4f of %zu\n", kind.c_str(),
                std::exp(j.regret / static_cast<double>(j.passes)), j.passes);
}

}  // namespace
}  // namespace nervanagpu

int main(int argc, char** argv) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  try {
    int steps = 4000;
    unsigned seed = 1;
    std::string gpu, only;
    bool shows = false;
    std::vector<std::string> files;
    for (int i = 1; i < argc; ++i) {
      const std::string_view word = argv[i];
      if (word == "--show") {
        shows = true;
      } else if (i + 1 < argc && word == "--steps") {
        steps = std::atoi(argv[++i]);
      } else if (i + 1 < argc && word == "--seed") {
        seed = static_cast<unsigned>(std::atoi(argv[++i]));
      } else if (i + 1 < argc && word == "--only") {
        only = argv[++i];
      } else if (i + 1 < argc && word == "--thin") {
        gpu = argv[++i];
      } else {
        files.emplace_back(word);
      }
    }
    const std::vector<Measured> all = read(files, gpu);
    if (!gpu.empty()) {
      thin(all);
      return 0;
    }
    const std::vector<Layer> layers = layers_of(all);
    if (shows) {
      show(layers);
    } else {
      std::string how = "--steps " + std::to_string(steps) + " --seed " + std::to_string(seed) +
                        (only.empty() ? "" : " --only " + only);
      for (const std::string& file : files) how += " " + file;
      print_header(layers, Point{}, fit(layers, steps, seed, only), how);
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "conv_fit: %s\n", e.what());
    return 1;
  }
}
