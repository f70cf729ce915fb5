#include "test/mutants/cases.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <span>
#include <stdexcept>

#include "nervanagpu/conv.hpp"
#include "nervanagpu/expr.hpp"
#include "nervanagpu/gemm.hpp"
#include "nervanagpu/nn.hpp"
#include "nervanagpu/pool.hpp"
#include "sass/asm/pipeline.h"
#include "src/device/select_device.h"

namespace nervanagpu::test {
namespace {

// Values with full significands, so that one wrong or missing term shows.
Tensor random_tensor(const Shape& shape, unsigned seed, Dtype dtype = Dtype::float32) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-1.0F, 1.0F);
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  std::vector<float> host(static_cast<std::size_t>(n));
  for (float& x : host) x = value(random);
  Tensor t = Tensor::from_host<float>(host, shape);
  if (dtype == Dtype::float32) return t;
  Tensor out = Tensor::empty(shape, dtype);
  convert(t, out);
  return out;
}

void product(Shape a, Shape b, bool ta, bool tb, const GemmOptions& options, Dtype type = Dtype::float32) {
  const std::int64_t m = a[0];
  const std::int64_t n = b[1];
  if (ta) std::swap(a[0], a[1]);
  if (tb) std::swap(b[0], b[1]);
  Tensor x = random_tensor(a, 1, type);
  Tensor y = random_tensor(b, 2, type);
  Tensor c = random_tensor({m, n}, 3, type);
  gemm(ta ? x.transpose() : x, tb ? y.transpose() : y, c, options);
}

ConvProblem convolution(Layout layout, Dtype type) {
  ConvProblem p;
  p.layout = layout;
  p.n = 8;
  p.c = 8;
  p.k = 16;
  p.in = {1, 9, 9};
  p.filter = {1, 3, 3};
  p.pad = {0, 1, 1};
  p.x_type = p.w_type = p.y_type = type;
  return p;
}

// Channels that fill a stage of the tensor cores' kernels.
ConvProblem of_many_channels() {
  ConvProblem p = convolution(Layout::channels_last, Dtype::float16);
  p.n = 2;
  p.c = p.k = 64;
  p.in = {1, 16, 16};
  return p;
}

// An image of colours.
ConvProblem first_layer() {
  ConvProblem p = convolution(Layout::channels_last, Dtype::float16);
  p.n = 2;
  p.c = 3;
  p.k = 64;
  p.in = {1, 35, 35};
  p.filter = {1, 11, 11};
  p.stride = {1, 4, 4};
  p.pad = {0, 0, 0};
  return p;
}

void convolve(ConvPass pass, const ConvProblem& p) {
  const Dtype type = p.x_type;
  const Tensor x = random_tensor({p.x_elements()}, 4, type);
  const Tensor w = random_tensor({p.w_elements()}, 5, type);
  const Tensor y = random_tensor({p.y_elements()}, 6, type);
  ConvPointers at;
  Tensor to = pass == ConvPass::fprop ? y : pass == ConvPass::bprop ? x : w;
  at.in1 = pass == ConvPass::fprop ? x.address() : y.address();
  at.in2 = pass == ConvPass::update ? x.address() : w.address();
  at.out = to.address();
  Tensor room;
  if (const std::size_t bytes = conv_workspace(pass, p); bytes > 0) {
    room = Tensor::zeros({static_cast<std::int64_t>(bytes)}, Dtype::uint8);
    at.workspace = room.address();
  }
  conv(pass, p, at);
}

void convolve(ConvPass pass, Layout layout, Dtype type = Dtype::float32) {
  convolve(pass, convolution(layout, type));
}

void pooling(PoolOp op, bool back, Layout layout, std::array<std::int64_t, 4> window) {
  PoolProblem p;
  p.op = op;
  p.layout = layout;
  p.n = 32;
  p.in = {8, 1, 8, 8};
  p.window = window;
  p.stride = {window[0], 1, 2, 2};
  const auto out = p.out();
  const Tensor x = random_tensor({p.n * 8 * 64}, 7);
  const Tensor y = random_tensor({p.n * out[0] * out[1] * out[2] * out[3]}, 8);
  if (back) {
    pool_bprop(p, y.address(), x.address(), random_tensor({p.n * 8 * 64}, 9).address());
  } else {
    pool_fprop(p, x.address(), y.address());
  }
}

// max that saves where its maxima are, and the gradient from that.
void pooling_by_places() {
  PoolProblem p;
  p.n = 16;
  p.in = {8, 1, 8, 8};
  p.window = {1, 1, 3, 3};
  p.stride = {1, 1, 2, 2};
  p.pad = {0, 0, 1, 1};
  const std::int64_t of_x = p.n * 8 * 64, of_y = p.n * 8 * 16;
  const Tensor x = random_tensor({of_x}, 7), y = random_tensor({of_y}, 8), dx = random_tensor({of_x}, 9);
  const Tensor argmax = Tensor::zeros({pool_argmax_bytes(p)}, Dtype::uint8);
  max_pool_fprop(p, x.address(), y.address(), argmax.address());
  max_pool_bprop(p, y.address(), argmax.address(), dx.address());
}

// Kernels that expressions make: elementwise, along rows, down columns, scans.
Expr op(ExprOp what, const std::vector<Expr>& operands) {
  return apply(what, std::span<const Expr>(operands));
}

void elementwise() {
  const Tensor x = random_tensor({64, 96}, 11);
  const Tensor y = random_tensor({64, 96}, 12);
  const Expr z = op(ExprOp::add, {op(ExprOp::exp, {x}), op(ExprOp::multiply, {op(ExprOp::tanh, {y}), Expr(2.0F)})});
  static_cast<void>(op(ExprOp::divide, {z, op(ExprOp::add, {op(ExprOp::multiply, {x, x}), Expr(1.0F)})}).evaluate());
}

void along_rows() {
  const Tensor x = random_tensor({48, 200}, 13);
  const Expr most = reduce(Reduction::max, x, {1}, true);
  const Expr e = op(ExprOp::exp, {op(ExprOp::subtract, {x, most})});
  static_cast<void>(op(ExprOp::divide, {e, reduce(Reduction::sum, e, {1}, true)}).evaluate());
}

void down_columns() {
  const Tensor x = random_tensor({300, 96}, 14);
  static_cast<void>(reduce(Reduction::var, x, {0}).evaluate());
}

void all_elements() {
  const Tensor x = random_tensor({4096}, 15);
  static_cast<void>(reduce(Reduction::sum, op(ExprOp::multiply, {x, x})).evaluate());
}

void update() {
  Tensor w = random_tensor({2048}, 16);
  Tensor velocity = random_tensor({2048}, 17);
  sgd_update(w, nullptr, velocity, random_tensor({2048}, 18), {0.1F, 0.9F, 0.01F, {}, {}});
}

void classes() {
  Tensor probs = Tensor::empty({32, 100});
  softmax_fprop(random_tensor({32, 100}, 19), nullptr, probs, nullptr);
}

GemmOptions tiled(const std::string& tile, std::int64_t splits) {
  GemmOptions out;
  out.tile = tile;
  out.splits = splits;
  return out;
}

GemmOptions in_pieces(const std::string& tile) {
  GemmOptions out = tiled(tile, 1);
  out.precision = Precision::tensor;
  return out;
}

}  // namespace

std::vector<MutantCase> mutant_cases() {
  const Layout last = Layout::channels_last;
  const Layout batch = Layout::batch_last;
  const Dtype f16 = Dtype::float16;
  GemmOptions whole;  // one chain, by kernels whose grids have no clusters
  whole.splits = 1;
  GemmOptions scaled = whole;
  scaled.alpha = 0.7F;
  scaled.beta = 0.3F;
  scaled.relu = true;
  GemmOptions rounded;
  rounded.rounding.stochastic = true;
  rounded.rounding.bits = 8;
  GemmOptions chains = whole;
  chains.tensor_cores = false;
  struct Product {
    const char* name;
    Shape a, b;
    bool ta, tb;
    GemmOptions options;
    Dtype type = Dtype::float32;
  };
  const Product products[] = {
      {"sgemm nn", {128, 96}, {96, 128}, false, false, whole},
      {"sgemm nt", {70, 65}, {65, 90}, false, true, whole},
      {"sgemm tn", {128, 64}, {64, 64}, true, false, scaled},
      {"sgemm tt", {64, 64}, {64, 64}, true, true, scaled},
      {"sgemm 128x128", {256, 96}, {96, 128}, true, false, tiled("128x128", 1)},
      {"gemm f16", {64, 64}, {64, 64}, false, false, chains, f16},
      {"gemm rounded", {64, 32}, {32, 64}, false, true, rounded},
      {"ring nn", {64, 352}, {352, 128}, false, false, tiled("ring32x64", 2)},
      {"ring nt", {96, 352}, {352, 64}, false, true, tiled("ring48x64", 1)},
      {"ring tn", {48, 352}, {352, 128}, true, false, tiled("ring16x128", 3)},
      {"ring odd", {61, 347}, {347, 67}, false, false, tiled("ring16x64", 2)},
      {"ring8 64", {128, 352}, {352, 128}, false, true, tiled("ring64x64", 2)},
      {"ring8 128", {256, 352}, {352, 128}, true, false, tiled("ring128x128", 1)},
      {"hgemm nn", {384, 448}, {448, 128}, false, false, tiled("128x64", 1), f16},
      {"hgemm nt", {384, 448}, {448, 256}, false, true, tiled("128x256", 1), f16},
      {"hgemm turns", {512, 448}, {448, 256}, false, false, tiled("128x128x2", 1), f16},
      {"cluster nn", {128, 448}, {448, 128}, false, false, tiled("64x64n", 3), f16},
      {"cluster nt", {128, 448}, {448, 32}, false, true, tiled("64x32t", 2), f16},
      {"cluster pair", {256, 448}, {448, 256}, false, false, tiled("128x64n", 1), f16},
      {"hgemm resident", {384, 320}, {320, 128}, false, true, tiled("64x128r9", 1), f16},
      {"two pieces", {192, 200}, {200, 128}, false, false, in_pieces("f16_128x128")},
      {"three pieces", {192, 200}, {200, 128}, true, false, in_pieces("128x128")},
  };
  std::vector<MutantCase> out;
  for (const Product& p : products) {
    out.push_back({p.name, [p] { product(p.a, p.b, p.ta, p.tb, p.options, p.type); }});
  }
  const std::vector<MutantCase> others = {
      {"conv fprop", [last] { convolve(ConvPass::fprop, last); }},
      {"conv bprop", [last] { convolve(ConvPass::bprop, last); }},
      {"conv update", [last] { convolve(ConvPass::update, last); }},
      {"conv fprop batch", [batch] { convolve(ConvPass::fprop, batch); }},
      {"conv fprop f16", [last] { convolve(ConvPass::fprop, last, Dtype::float16); }},
      {"conv channels", [] { convolve(ConvPass::fprop, of_many_channels()); }},
      {"conv channels back", [] { convolve(ConvPass::bprop, of_many_channels()); }},
      {"conv channels update", [] { convolve(ConvPass::update, of_many_channels()); }},
      {"conv colours", [] { convolve(ConvPass::fprop, first_layer()); }},
      {"conv colours update", [] { convolve(ConvPass::update, first_layer()); }},
      {"pool max",
       [last] {
         pooling(PoolOp::max, false, last, {1, 1, 2, 2});
       }},
      {"pool max back",
       [last] {
         pooling(PoolOp::max, true, last, {1, 1, 3, 3});
       }},
      {"pool argmax", pooling_by_places},
      {"pool avg",
       [batch] {
         pooling(PoolOp::avg, false, batch, {1, 1, 3, 3});
       }},
      {"pool l2",
       [last] {
         pooling(PoolOp::l2, false, last, {1, 1, 2, 2});
       }},
      {"pool l2 back",
       [batch] {
         pooling(PoolOp::l2, true, batch, {2, 1, 3, 3});
       }},
      {"transpose",
       [] {
         Tensor t = Tensor::empty({96, 64});
         convert(random_tensor({64, 96}, 10).transpose(), t);
       }},
      {"generated elementwise", elementwise},
      {"generated rows", along_rows},
      {"generated columns", down_columns},
      {"generated sum", all_elements},
      {"generated update", update},
      {"generated softmax", classes},
  };
  out.insert(out.end(), others.begin(), others.end());
  return out;
}

namespace {

// A kernel written for this test: test/mutants/*.sass, with the parameters x, y.
Subject chain(Recorder& recorder, const std::string& path) {
  sass::Result<sass::Template> source = sass::read_template(path, {});
  if (!source.ok()) throw std::runtime_error(source.error().text());
  sass::Result<sass::CubinImage> image = sass::assemble(*source, sass::Arch::sm_90a, {});
  if (!image.ok()) throw std::runtime_error(image.error().text());
  Device* const before = exchange_device(&recorder);
  const Tensor x = random_tensor({8192}, 21);
  const Tensor y = Tensor::zeros({8192});
  exchange_device(before);
  Subject s{"chain: " + image->kernels[0].name, {}};
  s.launch.image = image->kernels[0];
  s.launch.threads = image->kernels[0].manifest.threads;
  s.launch.grid = {16, 1, 1};
  const std::uint64_t args[2] = {x.address(), y.address()};
  s.launch.params.resize(sizeof args);
  std::memcpy(s.launch.params.data(), args, sizeof args);
  for (const Tensor& t : {x, y}) {
    s.launch.before.push_back({t.address(), std::vector<std::byte>(t.nbytes())});
    recorder.download(s.launch.before.back().bytes.data(), t.address(), t.nbytes());
  }
  return s;
}

}  // namespace

std::vector<Subject> chains(Recorder& recorder, const std::string& templates) {
  std::vector<Subject> out;
  for (const char* name : {"chain", "chain_uniform"}) {
    out.push_back(chain(recorder, templates + "/" + name + ".sass"));
  }
  return out;
}

std::vector<Subject> subjects_of(const MutantCase& work, Recorder& recorder) {
  Device* const before = exchange_device(&recorder);
  work.work();
  exchange_device(before);
  std::vector<Subject> out;
  std::map<std::string, int> named;  // generated kernels may have one name
  for (const Launch& l : recorder.launches()) {
    if (!work.op.empty() && l.image.manifest.op != work.op) continue;
    const auto same = [&](const Subject& s) { return s.launch.image.code == l.image.code; };
    if (std::ranges::any_of(out, same)) continue;
    const int number = ++named[l.image.name];
    out.push_back({work.name + ": " + l.image.name + (number > 1 ? " " + std::to_string(number) : ""), l});
  }
  recorder.forget();
  return out;
}

std::vector<Subject> subjects(Device& device, const std::string& templates,
                              std::vector<std::unique_ptr<Recorder>>& recorders) {
  std::vector<Subject> out;
  std::set<std::string> ops;
  const auto add = [&](const MutantCase& c) {
    recorders.push_back(std::make_unique<Recorder>(device));
    for (Subject& s : subjects_of(c, *recorders.back())) {
      const auto same = [&](const Subject& x) { return x.launch.image.code == s.launch.image.code; };
      ops.insert(s.launch.image.manifest.op);
      if (std::ranges::none_of(out, same)) out.push_back(std::move(s));
    }
  };
  for (const MutantCase& c : mutant_cases()) add(c);
  for (const MutantCase& c : drawn_cases(device.registry())) {
    if (!ops.contains(c.op)) add(c);
    if (!ops.contains(c.op)) throw std::runtime_error(c.name + " launches no kernel of its operation");
  }
  recorders.push_back(std::make_unique<Recorder>(device));
  for (Subject& s : chains(*recorders.back(), templates)) out.push_back(std::move(s));
  return out;
}

Subject subject(Device& device, const std::string& templates, const std::string& name,
                std::vector<std::unique_ptr<Recorder>>& recorders) {
  recorders.push_back(std::make_unique<Recorder>(device));
  const std::string work = name.substr(0, name.find(": "));
  std::vector<Subject> all;
  if (work == "chain") all = chains(*recorders.back(), templates);
  std::vector<MutantCase> cases = mutant_cases();
  std::ranges::move(drawn_cases(device.registry()), std::back_inserter(cases));
  for (const MutantCase& c : cases) {
    if (c.name == work) all = subjects_of(c, *recorders.back());
  }
  for (Subject& s : all) {
    if (s.name == name) return std::move(s);
  }
  throw std::runtime_error("no case launches " + name);
}

}  // namespace nervanagpu::test
