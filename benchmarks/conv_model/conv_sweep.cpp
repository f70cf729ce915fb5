// Tiles and parts of the sums of convolutions on the tensor cores, float16 with channels last: what a cost model is fitted to.
//
//   conv_sweep [SECONDS [PARTS [TILES]]] < LAYERS
//
// A line of LAYERS: name pass n c side k size stride pad, of square images and filters. In 3D also: depth size pad, of stride 1.
//
// One JSON object a line on stdout: the layer, tile, parts, what was launched ("hconv_u_128x64x1/8"), median microseconds of a launch in
// a CUDA graph. Every tile of hconv.sass, and of gconv.sass ("_8_128x64": 8 channels a load), halo.sass, halo_update.sass,
// resident.sass, narrow*.sass where they can compute the layer, in the library's own number of parts (0) and, but of the last four, some others:
// PARTS of an update, "4,8,16,32,64" if not said. The library's choice has the tile "", and twice more "early": 1 and 0, where its
// launch may start before the one ahead has ended and where not. With less than 8 channels of x windows are copied where a
// tile of hconv.sass is named: then there is one. A layer of 1x1 filters is also a plain product: "gemm", the library's choice, and
// "gemm_64x32n", tiles of hgemm.sass, hgemm_cluster.sass and hgemm_resident.sass. A bprop of few channels without strides is also
// computed by cells of pixels, "_bycells_4_4", copies among them; the tile "" never is. TILES: beside the library's choice only
// tiles whose names begin so. TILES "sums": instead a fprop or bprop by the library's choice with sums of the result's channels, "made"
// by "nobody", by the "kernel" (not said where that cannot) or "behind" it, and then with those of squares.
// Operands are random and rotate past the L2. It stops after SECONDS (default 60), saying so on stderr.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/conv/gather/gconv_choice.h"
#include "kernels/conv/strided/by_cells.h"
#include "kernels/conv/sums/channel_sums.h"
#include "kernels/conv/tensor_cores.h"
#include "nervanagpu/nervanagpu.hpp"
#include "src/device/select_device.h"
#include "src/numbers/half.h"

namespace nervanagpu {
namespace {

using conv_detail::Forced;

constexpr std::array kTiles = {"_128x256x1", "_128x192x1", "_128x128x1", "_128x64x1",
                               "_128x128x2", "_64x192x2",  "_64x256x2"};
constexpr std::array kSharedTiles = {"_halo_128x64",
                                     "_halo_128x128",
                                     "_halo_128x192",
                                     "_halo_256x64",
                                     "_halo_256x128",
                                     "_halo_128x96",
                                     "_halo_256x96",
                                     "_halo_128x160",
                                     "_cells_128x64",
                                     "_resident_32_128x64",
                                     "_resident_32_128x128",
                                     "_resident_128_128x64",
                                     "_resident_128_128x128",
                                     "_narrow_16_64",
                                     "_narrow_16_128",
                                     "_narrow_32_64",
                                     "_narrow_32_96",
                                     "_narrowswapped_16_64x128",
                                     "_narrowswapped_16_128x64",
                                     "_narrowswapped_32_64x64",
                                     "_narrowupdate_16_3",
                                     "_narrowupdate_16_5",
                                     "_narrowupdate_16_7",
                                     "_narrowupdate_32_8",
                                     "_narrowupdate_32_11",
                                     "_swapped_128x64",
                                     "_swapped_192x64",
                                     "_swapped_256x64",
                                     "_swapped_304x64",
                                     "_swapped_384x64",
                                     "_swapped_126x32",
                                     "_swapped_190x32",
                                     "_swapped_254x32",
                                     "_swapped_302x32",
                                     "_swapped_382x32",
                                     "_swapped_462x32",
                                     "_swapped_122x32",
                                     "_swapped_186x32",
                                     "_swapped_250x32",
                                     "_swapped_298x32",
                                     "_swapped_378x32",
                                     "_swapped_458x32"};
constexpr std::array kCells = {"_bycells_1_2", "_bycells_1_4", "_bycells_1_8", "_bycells_2_2",
                               "_bycells_2_4", "_bycells_4_4", "_bycells_4_8", "_bycells_8_8"};
constexpr std::array kSharedUpdates = {2, 3, 4, 5, 7};  // taps
constexpr std::array kProducts = {"128x64",   "128x128", "128x192",  "128x256",  "128x128x2", "64x16n",
                                  "64x32n",   "64x64n",  "64x128n",  "64x16t",   "64x32t",    "64x64t",
                                  "64x128t",  "128x64n", "128x96n",  "128x128n", "128x160n",  "128x192n",
                                  "64x64r16", "64x96r9", "64x128r9", "64x160r8", "64x192r6",  "64x256r4"};
constexpr std::array kGatheringTiles = {"_128x64", "_128x128", "_128x192"};
constexpr std::int64_t kPastL2 = 120 << 20;  // bytes
constexpr double kWork = 2e10;               // of a graph, multiply-adds x 2
constexpr int kRounds = 5;

struct Layer {
  std::string name, pass;
  ConvPass which = ConvPass::fprop;
  ConvProblem p;
};

bool read(Layer& l) {
  std::string line;
  if (!std::getline(std::cin, line)) return false;
  std::istringstream in(line);
  l = {};
  std::int64_t side = 0, size = 0, stride = 0, pad = 0;
  in >> l.name >> l.pass >> l.p.n >> l.p.c >> side >> l.p.k >> size >> stride >> pad;
  if (!in) throw InvalidArgument("conv_sweep: line '" + line + "'; needs name pass n c side k size stride pad");
  if (!(in >> l.p.in[0])) {
    l.p.in[0] = 1;
  } else if (!(in >> l.p.filter[0] >> l.p.pad[0])) {
    throw InvalidArgument("conv_sweep: line '" + line + "'; needs depth size pad after it, or nothing");
  }
  l.which = l.pass == "fprop" ? ConvPass::fprop : l.pass == "bprop" ? ConvPass::bprop : ConvPass::update;
  for (const std::size_t axis : {1U, 2U}) {
    l.p.in[axis] = side, l.p.filter[axis] = size, l.p.stride[axis] = stride, l.p.pad[axis] = pad;
  }
  l.p.x_type = l.p.w_type = l.p.y_type = Dtype::float16;
  return true;
}

// Normal numbers, over and over.
Tensor random_tensor(std::int64_t elements) {
  constexpr std::int64_t kSome = 1 << 20;
  static const std::vector<std::uint16_t> some = [] {
    std::mt19937 random(2015);
    std::normal_distribution<float> normal;
    std::vector<std::uint16_t> out(kSome);
    for (std::uint16_t& v : out) v = half_bits(normal(random));
    return out;
  }();
  Tensor out = Tensor::empty({elements}, Dtype::float16);
  for (std::int64_t from = 0; from < elements; from += kSome) {
    const std::size_t bytes = 2 * static_cast<std::size_t>(std::min(kSome, elements - from));
    current_device().upload(out.address() + static_cast<std::uint64_t>(2 * from), some.data(), bytes);
  }
  return out;
}

struct Operands {
  Tensor in1, in2, out;
};

using Queue = std::function<void(const Operands&, std::uint64_t workspace)>;

// Median microseconds of a launch.
double measure(const Layer& l, const std::vector<Operands>& sets, std::size_t bytes, const Queue& queue,
               const Stream& stream) {
  const Tensor workspace = Tensor::empty({static_cast<std::int64_t>(std::max<std::size_t>(bytes, 16))}, Dtype::uint8);
  const int times = std::clamp(static_cast<int>(kWork / l.p.flops() / static_cast<double>(sets.size())), 1, 20);
  const Graph graph = Graph::capture(
      [&] {
        for (int i = 0; i < times; ++i) {
          for (const Operands& o : sets) queue(o, workspace.address());
        }
      },
      stream);
  std::vector<double> took;
  graph.launch(stream);
  for (int i = 0; i < kRounds; ++i) {
    Event start, end;
    start.record(stream);
    graph.launch(stream);
    end.record(stream);
    took.push_back(end.ms_since(start));
  }
  std::ranges::sort(took);
  return 1e3 * took[took.size() / 2] / times / static_cast<double>(sets.size());
}

double measure_pass(const Layer& l, const std::vector<Operands>& sets, const Forced& forced, const Stream& stream) {
  return measure(
      l, sets, conv_detail::tensor_cores::workspace(l.which, l.p, forced),
      [&](const Operands& o, std::uint64_t workspace) {
        ConvPointers at;
        at.in1 = o.in1.address(), at.in2 = o.in2.address(), at.out = o.out.address(), at.workspace = workspace;
        conv_detail::tensor_cores::queue(current_device(), l.which, l.p, at, {}, stream, forced);
      },
      stream);
}

double measure_cells(const Layer& l, const std::vector<Operands>& sets, const conv_detail::by_cells::Cells& cells,
                     const Stream& stream) {
  using conv_detail::tensor_cores::queue;
  return measure(
      l, sets, conv_detail::by_cells::workspace(cells, l.p),
      [&](const Operands& o, std::uint64_t workspace) {
        ConvPointers at;
        at.in1 = o.in1.address(), at.in2 = o.in2.address(), at.out = o.out.address(), at.workspace = workspace;
        const auto inner = [&](ConvPass pass, const ConvProblem& p, const ConvPointers& own) {
          queue(current_device(), pass, p, own, {}, stream);
        };
        conv_detail::by_cells::queue(current_device(), cells, l.p, at, {}, inner, stream);
      },
      stream);
}

// With sums of the result's channels, which the kernel may leave `parts` of. parts < 0: without. 0: they are made afterwards.
// None: the kernel was to leave parts, and did not.
std::optional<double> measure_sums(const Layer& l, const std::vector<Operands>& sets, std::int64_t parts, bool squares,
                                   const Stream& stream) {
  namespace sums = conv_detail::channel_sums;
  const std::size_t own = (conv_detail::tensor_cores::workspace(l.which, l.p) + 255) / 256 * 256;
  const std::int64_t channels = l.which == ConvPass::fprop ? l.p.k : l.p.c;
  const Tensor vectors = Tensor::empty({2, channels});
  bool made = true;
  const double us = measure(
      l, sets, own + sums::workspace(l.which, l.p, std::max<std::int64_t>(parts, 0)),
      [&](const Operands& o, std::uint64_t workspace) {
        ConvPointers at;
        at.in1 = o.in1.address(), at.in2 = o.in2.address(), at.out = o.out.address(), at.workspace = workspace;
        conv_detail::Epilogue e;
        if (parts >= 0) {
          const std::uint64_t second = vectors.address() + static_cast<std::uint64_t>(channels) * sizeof(float);
          e.sums = {vectors.address(), squares ? second : 0, workspace + own, parts};
        }
        const auto left = conv_detail::tensor_cores::queue(current_device(), l.which, l.p, at, e, stream);
        made = made && left.parts > 0;
        if (parts >= 0) sums::queue(current_device(), l.which, l.p, at.out, e, stream.handle(), left.parts);
      },
      stream);
  return parts > 0 && !made ? std::nullopt : std::optional(us);
}

// A pass of 1x1 filters as a product.
GemmProblem product_of(const Layer& l) {
  const std::int64_t positions = l.p.x_elements() / l.p.c;
  GemmProblem g;
  g.a_type = g.b_type = g.c_type = Dtype::float16;
  g.a_transposed = l.which == ConvPass::update;
  g.b_transposed = l.which == ConvPass::fprop;
  g.m = g.a_transposed ? l.p.k : positions;
  g.n = g.ldc = l.which == ConvPass::fprop ? l.p.k : l.p.c;
  g.k = g.a_transposed ? positions : l.which == ConvPass::fprop ? l.p.c : l.p.k;
  g.lda = l.which == ConvPass::fprop ? l.p.c : l.p.k;
  g.ldb = l.p.c;
  return g;
}

bool volume(const Layer& l) {
  return l.p.in[0] != 1 || l.p.filter[0] != 1 || l.p.pad[0] != 0;
}

bool is_product(const Layer& l) {
  return !volume(l) && l.p.filter[2] == 1 && l.p.stride[2] == 1 && l.p.pad[2] == 0 && l.p.c % 8 == 0 && l.p.k % 8 == 0;
}

double measure_product(const Layer& l, const std::vector<Operands>& sets, const std::string& tile, std::int64_t splits,
                       const Stream& stream) {
  GemmProblem g = product_of(l);
  g.splits = splits;
  return measure(
      l, sets, gemm_workspace(g, tile),
      [&](const Operands& o, std::uint64_t workspace) {
        g.a = o.in1.address(), g.b = o.in2.address(), g.c = o.out.address(), g.workspace = workspace;
        gemm(g, stream, tile);
      },
      stream);
}

// What is launched, copies among it; "" where the tile that was asked for is not.
std::string launched(const Layer& l, const Forced& forced) {
  std::string out;
  bool there = forced.kernel.empty();
  const bool of_hconv = forced.kernel.ends_with("x1") || forced.kernel.ends_with("x2");
  const std::string family = of_hconv ? "hconv"
                             : conv_detail::gconv::forced_run(forced) != 0
                                 ? "gconv"
                                 : forced.kernel.substr(forced.kernel.empty() ? 0 : 1, 5);
  for (const auto& m : conv_detail::tensor_cores::modelled(l.which, l.p, forced)) {
    out += (out.empty() ? "" : " ") + m.kernel + "/" + std::to_string(m.splits);
    there = there || m.kernel.starts_with(family);
  }
  return there ? out : "";
}

std::vector<std::int64_t> numbers(const std::string& text) {
  std::vector<std::int64_t> out;
  std::istringstream in(text);
  for (std::string each; std::getline(in, each, ',');) out.push_back(std::stoll(each));
  return out;
}

void sweep(const Layer& l, const std::vector<std::int64_t>& parts, const std::string& only, const Stream& stream) {
  if (!conv_detail::tensor_cores::takes(l.which, l.p)) {
    std::fprintf(stderr, "conv_sweep: %s %s is nothing for the tensor cores\n", l.name.c_str(), l.pass.c_str());
    return;
  }
  const std::int64_t x = l.p.x_elements(), w = l.p.w_elements(), y = l.p.y_elements();
  const std::int64_t in1 = l.which == ConvPass::fprop ? x : y;
  const std::int64_t in2 = l.which == ConvPass::update ? x : w;
  const std::int64_t out = l.which == ConvPass::fprop ? y : l.which == ConvPass::bprop ? x : w;
  const std::int64_t count = std::clamp<std::int64_t>(kPastL2 / (2 * (in1 + in2 + out)), 1, 4);
  std::vector<Operands> sets;
  for (std::int64_t i = 0; i < count; ++i) sets.push_back({random_tensor(in1), random_tensor(in2), random_tensor(out)});
  std::string depth;  // 3D: depth size pad
  if (volume(l)) {
    depth = R"("depth": [)" + std::to_string(l.p.in[0]) + ", " + std::to_string(l.p.filter[0]) + ", " +
            std::to_string(l.p.pad[0]) + "], ";
  }
  const auto print = [&](const std::string& tile, std::int64_t splits, const std::string& more, double us) {
    std::printf(R"({"layer": "%s", "pass": "%s", "n": %lld, "c": %lld, "side": %lld, "k": %lld, "size": %lld, )"
                R"("stride": %lld, "pad": %lld, %s"tile": "%s", "splits": %lld%s, "us": %.3f})"
                "\n",
                l.name.c_str(), l.pass.c_str(), static_cast<long long>(l.p.n), static_cast<long long>(l.p.c),
                static_cast<long long>(l.p.in[2]), static_cast<long long>(l.p.k), static_cast<long long>(l.p.filter[2]),
                static_cast<long long>(l.p.stride[2]), static_cast<long long>(l.p.pad[2]), depth.c_str(), tile.c_str(),
                static_cast<long long>(splits), more.c_str(), us);
    std::fflush(stdout);
  };
  const auto say = [&](const std::string& tile, std::int64_t splits, std::optional<bool> early = {}) {
    if (!tile.starts_with(only) && !tile.empty()) return;
    Forced forced;
    forced.kernel = tile, forced.splits = splits, forced.early = early;
    const std::string kernels = launched(l, forced);
    if (kernels.empty()) return;
    std::string more = R"(, "launched": ")" + kernels + "\"";
    if (early) more += R"(, "early": )" + std::to_string(static_cast<int>(*early));
    print(tile, splits, more, measure_pass(l, sets, forced, stream));
  };
  if (only == "sums") {
    if (l.which == ConvPass::update) return;
    const std::string kernels = R"(, "launched": ")" + launched(l, {}) + "\"";
    const auto with = [&](const char* by, std::int64_t left, bool squares) {
      const std::string more = kernels + R"(, "made": ")" + by + R"(", "squares": )" + std::to_string(int{squares});
      if (const auto us = measure_sums(l, sets, left, squares, stream)) print("", 0, more, *us);
    };
    with("nobody", -1, false);
    for (const bool squares : {false, true}) {
      if (const std::int64_t most = conv_detail::tensor_cores::most_parts(l.which, l.p); most > 0)
        with("kernel", most, squares);
      with("behind", 0, squares);
    }
    return;
  }
  say("", 0);
  say("", 0, true);
  say("", 0, false);
  constexpr std::int64_t kFew = 8;
  const std::int64_t gathered = l.which == ConvPass::bprop ? l.p.k : l.p.c;
  const bool copied = l.which != ConvPass::bprop && gathered < kFew;
  std::vector<std::string> tiles(kTiles.begin(), copied ? kTiles.begin() + 1 : kTiles.end());
  const std::int64_t columns = l.p.filter[0] * l.p.filter[1] * l.p.filter[2] * gathered;
  constexpr std::int64_t kMany = 136;  // channels: more are the copy engine's
  const std::int64_t run = conv_detail::gconv::usual_run(gathered);
  if (gathered <= kMany && conv_detail::gconv::possible(l.which, l.p) && conv_detail::gconv::has_room(columns, run)) {
    for (const char* tile : kGatheringTiles) tiles.push_back("_" + std::to_string(run) + tile);
  }
  for (const char* tile : kSharedTiles) {
    try {
      say(tile, 0);
    } catch (const InvalidArgument&) {  // not of this layer
    }
  }
  const auto* const taps = std::ranges::find_if(kSharedUpdates, [&](int t) { return t >= l.p.filter[2]; });
  if (l.which == ConvPass::update && taps != kSharedUpdates.end()) {
    for (std::int64_t lines = 1; lines <= l.p.filter[2]; ++lines) {
      for (const int planes : {1, 2, 4}) {
        try {
          say("_haloupdate_" + std::to_string(*taps) + "_" + std::to_string(lines) + "x" + std::to_string(planes), 0);
        } catch (const InvalidArgument&) {  // not of this layer
        }
      }
    }
  }
  for (const std::string& tile : tiles) {
    if (l.which == ConvPass::update && tile.starts_with("_64")) continue;
    say(tile, 0);
    try {
      say("_h" + tile, 0);              // of half blocks
    } catch (const InvalidArgument&) {  // not of this layer
    }
    if (copied && tile == kTiles[0]) continue;
    if (l.which != ConvPass::update) {
      for (const std::int64_t splits : {1, 2, 3}) say(tile, splits);
    } else {
      for (const std::int64_t splits : parts) say(tile, splits);
    }
  }
  for (const std::string tile : kCells) {
    Forced forced;
    forced.kernel = tile;
    if (l.which != ConvPass::bprop || !tile.starts_with(only)) continue;
    if (const auto cells = conv_detail::by_cells::named(l.p, forced)) {
      print(tile, 0, "", measure_cells(l, sets, *cells, stream));
    }
  }
  if (!is_product(l)) return;
  say("_gemm", 0);
  for (const char* tile : kProducts) {
    if (!("gemm_" + std::string(tile)).starts_with(only)) continue;
    const bool resident = std::string_view(tile).find('r') != std::string_view::npos;
    const bool clusters = tile[0] != '1' || std::string_view(tile).ends_with("n");
    const std::vector<std::int64_t> some = resident   ? std::vector<std::int64_t>{1}
                                           : clusters ? std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8}
                                           : l.which == ConvPass::update ? parts
                                                                         : std::vector<std::int64_t>{1, 2, 3};
    for (const std::int64_t splits : some) {
      try {
        print(std::string("gemm_") + tile, splits, "", measure_product(l, sets, tile, splits, stream));
      } catch (const InvalidArgument&) {  // not of this product
      }
    }
  }
}

}  // namespace
}  // namespace nervanagpu

int main(int argc, char** argv) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  try {
    const auto start = std::chrono::steady_clock::now();
    const std::chrono::duration<double> most(argc > 1 ? std::atof(argv[1]) : 60.0);
    const std::vector<std::int64_t> parts = numbers(argc > 2 ? argv[2] : "4,8,16,32,64");
    const std::string only = argc > 3 ? argv[3] : "";
    const Stream stream = Stream::create();
    for (Layer l; read(l);) {
      if (std::chrono::steady_clock::now() - start > most) {
        std::fprintf(stderr, "conv_sweep: stopped at %s %s, its time is over\n", l.name.c_str(), l.pass.c_str());
        return 2;
      }
      sweep(l, parts, only, stream);
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "conv_sweep: %s\n", e.what());
    return 1;
  }
}
