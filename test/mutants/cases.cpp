#include "test/mutants/cases.h"

#include <cstring>
#include <random>
#include <set>
#include <stdexcept>

#include "nervanagpu/conv.hpp"
#include "nervanagpu/gemm.hpp"
#include "nervanagpu/nn.hpp"
#include "nervanagpu/pool.hpp"
#include "sass/asm/pipeline.h"
#include "src/select_device.h"

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

void convolve(ConvPass pass, Layout layout, Dtype type = Dtype::float32) {
  const ConvProblem p = convolution(layout, type);
  const auto out = p.out();
  const Tensor x = random_tensor({p.x_elements()}, 4, type);
  const Tensor w = random_tensor({p.w_elements()}, 5, type);
  const Tensor y = random_tensor({p.y_elements()}, 6, type);
  static_cast<void>(out);
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

}  // namespace

std::vector<MutantCase> mutant_cases() {
  const Layout last = Layout::channels_last;
  const Layout batch = Layout::batch_last;
  GemmOptions whole;  // one chain, by kernels whose grids have no clusters
  whole.splits = 1;
  GemmOptions scaled = whole;
  scaled.alpha = 0.7F;
  scaled.beta = 0.3F;
  scaled.relu = true;
  GemmOptions rounded;
  rounded.rounding.stochastic = true;
  rounded.rounding.bits = 8;
  return {
      {"sgemm nn",
       [whole] {
         product({128, 96}, {96, 128}, false, false, whole);
       }},
      {"sgemm nt",
       [whole] {
         product({70, 65}, {65, 90}, false, true, whole);
       }},
      {"sgemm tn",
       [scaled] {
         product({128, 64}, {64, 64}, true, false, scaled);
       }},
      {"sgemm tt",
       [scaled] {
         product({64, 64}, {64, 64}, true, true, scaled);
       }},
      {"gemm f16",
       [] {
         product({64, 64}, {64, 64}, false, false, {}, Dtype::float16);
       }},
      {"gemm rounded",
       [rounded] {
         product({64, 32}, {32, 64}, false, true, rounded);
       }},
      {"conv fprop", [last] { convolve(ConvPass::fprop, last); }},
      {"conv bprop", [last] { convolve(ConvPass::bprop, last); }},
      {"conv update", [last] { convolve(ConvPass::update, last); }},
      {"conv fprop batch", [batch] { convolve(ConvPass::fprop, batch); }},
      {"conv fprop f16", [last] { convolve(ConvPass::fprop, last, Dtype::float16); }},
      {"pool max",
       [last] {
         pooling(PoolOp::max, false, last, {1, 1, 2, 2});
       }},
      {"pool max back",
       [last] {
         pooling(PoolOp::max, true, last, {1, 1, 3, 3});
       }},
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
  };
}

namespace {

// A kernel written for this test: test/mutants/*.sass, with the parameters x, y.
Subject chain(Device& device, Recorder& recorder, const std::string& path) {
  sass::Result<sass::Template> source = sass::read_template(path, {});
  if (!source.ok()) throw std::runtime_error(source.error().text());
  sass::Result<sass::CubinImage> image = sass::assemble(*source, sass::Arch::sm_90a, {});
  if (!image.ok()) throw std::runtime_error(image.error().text());
  Device* const before = exchange_device(&recorder);
  const Tensor x = random_tensor({8192}, 21);
  const Tensor y = Tensor::zeros({8192});
  exchange_device(before);
  Subject s{"chain " + image->kernels[0].name, image->kernels[0], 0, {}};
  s.launch.grid = {16, 1, 1};
  const std::uint64_t args[2] = {x.address(), y.address()};
  s.launch.params.resize(sizeof args);
  std::memcpy(s.launch.params.data(), args, sizeof args);
  for (const Tensor& t : {x, y}) {
    s.launch.before.push_back({t.address(), std::vector<std::byte>(t.nbytes())});
    device.download(s.launch.before.back().bytes.data(), t.address(), t.nbytes());
  }
  return s;
}

}  // namespace

std::vector<Subject> subjects(Device& device, const std::string& templates,
                              std::vector<std::unique_ptr<Recorder>>& recorders) {
  std::vector<Subject> out;
  std::set<std::string> seen;
  for (const MutantCase& c : mutant_cases()) {
    recorders.push_back(std::make_unique<Recorder>(device));
    Device* const before = exchange_device(recorders.back().get());
    c.work();
    exchange_device(before);
    for (const Launch& l : recorders.back()->launches()) {
      if (!seen.insert(l.kernel->name()).second) continue;
      out.push_back({c.name + ": " + l.kernel->name(), *l.kernel->image, l.kernel->dynamic_shared(), l});
    }
    recorders.back()->forget();
  }
  recorders.push_back(std::make_unique<Recorder>(device));
  for (const char* name : {"chain", "chain_uniform"}) {
    out.push_back(chain(device, *recorders.back(), templates + "/" + name + ".sass"));
  }
  return out;
}

}  // namespace nervanagpu::test
