// Every way to launch a kernel asks what the kernel needs: the driver's launches are counted beside the questions. A form of
// product that came before is not checked again.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "kernels/conv/sums/channel_sums.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/module.hpp"
#include "nervanagpu/nervanagpu.h"
#include "nervanagpu/nervanagpu.hpp"
#include "src/device/cuda_device.h"
#include "src/device/select_device.h"
#include "src/expr/deferred.h"
#include "test/src/fake_driver.h"

namespace nervanagpu {
namespace {

class LaunchPaths : public ::testing::Test {
 protected:
  LaunchPaths() : device_(fake_.table(), 0, embedded_cubins(), sass::Arch::sm_90a, false) {
    fake_.capacity = std::size_t{1} << 30;
    exchange_device(&device_);
  }
  ~LaunchPaths() override { exchange_device(nullptr); }
  LaunchPaths(const LaunchPaths&) = delete;
  LaunchPaths& operator=(const LaunchPaths&) = delete;

  // Each launch of `path` is checked once.
  void follow(const std::string& name, const std::function<void()>& path) {
    const std::size_t launched = fake_.launches.size();
    const std::uint64_t checked = needs_checked, skipped = needs_skipped;
    path();
    expr::before_work();
    const std::size_t launches = fake_.launches.size() - launched;
    EXPECT_GT(launches, 0U) << name;
    EXPECT_GE(needs_checked - checked + (needs_skipped - skipped), launches) << name;
    EXPECT_LE(needs_skipped - skipped, launches) << name;
    for (std::size_t i = launched; i < fake_.launches.size(); ++i) {
      const Kernel* k = device_.registry().find(fake_.launches[i].kernel);
      operations_.insert(k != nullptr ? k->manifest().op : "");
    }
  }
  // Of these numbers of rows and columns; nothing that is computed is looked at.
  static Tensor matrix(std::int64_t rows, std::int64_t cols, Dtype dtype = Dtype::float32) {
    return Tensor::empty({rows, cols}, dtype);
  }
  static void product(std::int64_t m, std::int64_t n, std::int64_t k, Dtype dtype, const GemmOptions& options = {}) {
    static_cast<void>(dot(matrix(m, k, dtype), matrix(k, n, dtype), options));
  }
  void products();
  void convolutions();
  void pools();
  void expressions();

  test::FakeDriver fake_;
  CudaDevice device_;
  std::set<std::string> operations_;  // that were launched
};

void LaunchPaths::products() {
  for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::int8, Dtype::int32}) {
    const std::string type(name_of(dtype));
    for (const std::int64_t size : {1, 31, 128, 1024, 2048}) {
      follow(type + " " + std::to_string(size), [&] { product(size, size, size, dtype); });
    }
    follow(type + " of few rows", [&] { product(8, 4096, 4096, dtype); });
    follow(type + " of few columns", [&] { product(4096, 8, 4096, dtype); });
    follow(type + " of few columns and a short sum", [&] { product(16384, 96, 256, dtype); });
    follow(type + " in parts", [&] { product(64, 64, 16384, dtype); });
    follow(type + " in five parts", [&] {
      GemmOptions options;
      options.splits = 5;
      product(96, 96, 4096, dtype, options);
    });
    follow(type + " turned",
           [&] { static_cast<void>(dot(matrix(96, 64, dtype).transpose(), matrix(80, 96, dtype).transpose())); });
    follow(type + " batch", [&] {
      static_cast<void>(matmul(Tensor::empty({6, 40, 24}, dtype), Tensor::empty({6, 24, 56}, dtype)));
    });
  }
  for (const Dtype dtype : {Dtype::float64, Dtype::int64}) {
    const std::string type(name_of(dtype));
    for (const std::int64_t size : {1, 31, 128, 1024, 2048}) {
      follow(type + " " + std::to_string(size), [&] { product(size, size, size, dtype); });
    }
    follow(type + " turned",
           [&] { static_cast<void>(dot(matrix(96, 64, dtype).transpose(), matrix(80, 96, dtype).transpose())); });
    follow(type + " batch", [&] {
      static_cast<void>(matmul(Tensor::empty({6, 40, 24}, dtype), Tensor::empty({6, 24, 56}, dtype)));
    });
  }
  follow("float32 in pieces", [&] {
    GemmOptions options;
    options.precision = Precision::tensor;
    product(1024, 1024, 1024, Dtype::float32, options);
    options.tile = "f16_128x128";  // of two pieces
    product(1024, 1024, 1024, Dtype::float32, options);
    options.tile += "+896rx2";  // and a tail
    options.splits = 1;
    product(1024, 1024, 1024, Dtype::float32, options);
    options.tile = "f16_rs64";  // of two, of few rows
    options.splits = 2;
    product(40, 1024, 1024, Dtype::float32, options);
    product(1024, 40, 1024, Dtype::float32, options);
    for (const char* tile : {"rs64", "rs128x128"}) {  // of three, of many rows
      options.tile = tile;
      product(1024, 40, 1024, Dtype::float32, options);
    }
  });
  follow("a mask, sums of rows and columns", [&] {
    const Tensor bits = matrix(256, 8, Dtype::uint32), rows = Tensor::empty({256}), columns = Tensor::empty({256});
    GemmOptions options;
    options.relu = true;
    options.mask = &bits, options.row_sum = &rows, options.column_sum = &columns;
    for (const Dtype dtype : {Dtype::float32, Dtype::float16}) {
      for (const std::int64_t k : {64, 16384}) product(256, 256, k, dtype, options);
    }
  });
  follow("a batch that is summed", [&] {
    Tensor c = matrix(40, 56);
    batched_dot(Tensor::empty({6, 40, 24}), Tensor::empty({6, 24, 56}), c);
  });
  follow("a group", [&] {
    std::vector<GroupedProduct> group;
    group.reserve(33);
    for (int i = 0; i < 9; ++i) group.push_back({matrix(5, 9 + i), matrix(9 + i, 7), matrix(5, 7)});
    const auto at = [](std::uint64_t place, const Shape& shape) {  // not at equal distances: by tables of addresses
      return Tensor::wrap(0x1000000 + place * place * 256, shape, {shape[1], 1}, Dtype::float32);
    };
    for (std::uint64_t i = 0; group.size() < 33; i += 3) {
      group.push_back({at(i, {5, 9}), at(i + 1, {9, 7}), at(i + 2, {5, 7})});
    }
    grouped_dot(group);
  });
  follow("plans", [&] {
    for (const Dtype dtype : {Dtype::float32, Dtype::float16}) {
      const Tensor a = matrix(64, 4096, dtype), b = matrix(4096, 64, dtype);
      Tensor c = matrix(64, 64, dtype);
      const GemmPlan plan(a, b, c);
      plan.launch(a, b, c);
      plan.launch(a, b, c, nullptr, Stream::create());
    }
  });
}

void LaunchPaths::convolutions() {
  for (const Dtype dtype : {Dtype::float32, Dtype::float16}) {
    ConvProblem p;
    p.n = 8, p.c = 16, p.k = 32;
    p.in = {1, 14, 14}, p.filter = {1, 3, 3}, p.pad = {0, 1, 1};
    p.x_type = p.w_type = p.y_type = dtype;
    Tensor x = Tensor::empty({p.x_elements()}, dtype), w = Tensor::empty({p.w_elements()}, dtype);
    for (const Layout layout : {Layout::channels_last, Layout::channels_first}) {
      p.layout = layout;
      const auto [m, out_h, out_w] = p.out();
      const bool last = layout == Layout::channels_last;
      Tensor y = last ? Tensor::empty({8, out_h, out_w, 32}, dtype) : Tensor::empty({8, 32, out_h, out_w}, dtype);
      x = last ? Tensor::empty({8, 14, 14, 16}, dtype) : Tensor::empty({8, 16, 14, 14}, dtype);
      w = last ? Tensor::empty({32, 3, 3, 16}, dtype) : Tensor::empty({32, 16, 3, 3}, dtype);
      follow("fprop", [&] { conv_fprop(p, x, w, y); });
      follow("bprop", [&] { conv_bprop(p, y, w, x); });
      follow("update", [&] { conv_update(p, y, x, w); });
      follow("sums of channels", [&] {
        const Tensor of_y = Tensor::empty({32}), of_x = Tensor::empty({16});
        ConvOptions options;
        options.channel_sum = &of_y;
        conv_fprop(p, x, w, y, options);
        options.channel_sum_squares = &of_x, options.channel_sum = nullptr;
        conv_bprop(p, y, w, x, options);
      });
      follow("a planned fprop", [&] {
        const ConvPlan plan(ConvPass::fprop, p, x, w, y);
        plan.launch(x, w, y);
        plan.launch(x, w, y, {}, Stream::create());
      });
    }
    p.layout = Layout::channels_last;
    p.k = p.groups = p.c;
    x = Tensor::empty({8, 14, 14, 16}, dtype), w = Tensor::empty({16, 3, 3, 1}, dtype);
    Tensor y = Tensor::empty({8, 14, 14, 16}, dtype);
    follow("depthwise fprop", [&] { conv_fprop(p, x, w, y); });
    follow("depthwise bprop", [&] { conv_bprop(p, y, w, x); });
    follow("depthwise update", [&] { conv_update(p, y, x, w); });
    p.stride = {1, 2, 2};
    y = Tensor::empty({8, 7, 7, 16}, dtype);
    follow("depthwise bprop with strides", [&] { conv_bprop(p, y, w, x); });
    p.dilation = {1, 2, 1};
    y = Tensor::empty({8, 6, 7, 16}, dtype);
    follow("depthwise bprop with dilation", [&] { conv_bprop(p, y, w, x); });
    follow("depthwise update with dilation", [&] { conv_update(p, y, x, w); });
  }
  ConvProblem first;  // a layer of few channels
  first.n = 32, first.c = 3, first.k = 64;
  first.in = {1, 224, 224}, first.filter = {1, 7, 7}, first.stride = {1, 2, 2}, first.pad = {0, 3, 3};
  first.x_type = first.w_type = first.y_type = Dtype::float16;
  const Tensor x = Tensor::empty({32, 224, 224, 3}, Dtype::float16);
  Tensor w = Tensor::empty({64, 7, 7, 3}, Dtype::float16), y = Tensor::empty({32, 112, 112, 64}, Dtype::float16);
  follow("fprop of a first layer", [&] { conv_fprop(first, x, w, y); });
  ConvProblem pooled = first;
  pooled.filter = {1, 3, 3}, pooled.stride = {1, 1, 1}, pooled.pad = {0, 1, 1};
  PoolProblem two;
  two.window = two.stride = {1, 1, 2, 2};
  ConvOptions with_relu;
  with_relu.relu = true;
  const Tensor three = Tensor::empty({64, 3, 3, 3}, Dtype::float16);
  follow("fprop of a first layer and its pool",
         [&] { conv_max_pool_fprop(pooled, two, x, three, y, nullptr, with_relu); });
  ConvOptions twice;
  twice.alpha = 2;
  follow("fprop of a first layer, times two", [&] { conv_fprop(first, x, w, y, twice); });
  follow("update of a first layer", [&] { conv_update(first, y, x, w); });
  ConvProblem five = first;  // channels: by cells
  five.c = 5, five.filter = {1, 3, 3}, five.stride = {1, 1, 1}, five.pad = {0, 1, 1};
  Tensor few_taps = Tensor::empty({64, 3, 3, 5}, Dtype::float16),
         whole = Tensor::empty({32, 224, 224, 64}, Dtype::float16);
  follow("fprop of a first layer of five channels", [&] {
    conv_fprop(five, Tensor::empty({32, 224, 224, 5}, Dtype::float16), few_taps, whole);
  });
  ConvProblem small = first;  // too little for copies of cells
  small.n = 1, small.in = {1, 20, 20};
  Tensor few = Tensor::empty({1, 10, 10, 64}, Dtype::float16);
  follow("fprop of a small first layer", [&] {
    conv_fprop(small, Tensor::empty({1, 20, 20, 3}, Dtype::float16), w, few);
  });
  ConvProblem wide;  // whose update shares a product among the taps of a line
  wide.n = 128, wide.c = 32, wide.k = 96;
  wide.in = {1, 28, 28}, wide.filter = {1, 5, 5}, wide.pad = {0, 2, 2};
  wide.x_type = wide.w_type = wide.y_type = Dtype::float16;
  Tensor dw = Tensor::empty({96, 5, 5, 32}, Dtype::float16);
  follow("update of a 5x5 layer", [&] {
    conv_update(wide, Tensor::empty({128, 28, 28, 96}, Dtype::float16),
                Tensor::empty({128, 28, 28, 32}, Dtype::float16), dw);
  });
  Tensor dx = Tensor::empty({128, 28, 28, 32}, Dtype::float16);
  Tensor wide_y = Tensor::empty({128, 28, 28, 96}, Dtype::float16);
  follow("fprop of a 5x5 layer", [&] { conv_fprop(wide, dx, dw, wide_y); });
  follow("bprop of a 5x5 layer", [&] { conv_bprop(wide, wide_y, dw, dx); });
  ConvProblem exact;  // of float32 by pieces
  exact.n = 16, exact.c = exact.k = 256;
  exact.in = {1, 28, 28}, exact.filter = {1, 3, 3}, exact.pad = {0, 1, 1};
  ConvOptions by_pieces;
  by_pieces.precision = Precision::tensor;
  const Tensor maps = Tensor::empty({16, 28, 28, 256}), filters = Tensor::empty({256, 3, 3, 256});
  Tensor made = Tensor::empty({16, 28, 28, 256}), changed = Tensor::empty({256, 3, 3, 256});
  follow("fprop by pieces", [&] { conv_fprop(exact, maps, filters, made, by_pieces); });
  follow("bprop by pieces", [&] { conv_bprop(exact, maps, filters, made, by_pieces); });
  follow("update by pieces", [&] { conv_update(exact, maps, made, changed, by_pieces); });
  ConvProblem of_lines = exact;  // by windows of lines
  of_lines.n = 64, of_lines.c = 32, of_lines.k = 96, of_lines.filter = {1, 5, 5}, of_lines.pad = {0, 2, 2};
  const Tensor line_maps = Tensor::empty({64, 28, 28, 32}), line_filters = Tensor::empty({96, 5, 5, 32});
  Tensor line_made = Tensor::empty({64, 28, 28, 96});
  follow("fprop by windows", [&] { conv_fprop(of_lines, line_maps, line_filters, line_made, by_pieces); });
  exact.n = 64;  // tiles enough without splits, after which another kernel writes the bits
  const Tensor more_maps = Tensor::empty({64, 28, 28, 256});
  Tensor relu_bits = Tensor::empty({64, 28, 28, 8}, Dtype::uint32), more = Tensor::empty({64, 28, 28, 256});
  ConvOptions masked = by_pieces;
  masked.mask = &relu_bits;
  follow("bprop by pieces with a mask", [&] { conv_bprop(exact, more_maps, filters, more, masked); });
  masked.relu = true;
  follow("fprop by pieces with a mask", [&] { conv_fprop(exact, more_maps, filters, more, masked); });
  ConvProblem strided;  // images of few channels, whose gradient goes by cells
  strided.n = 64, strided.c = 3, strided.k = 64;
  strided.in = {1, 112, 112}, strided.filter = {1, 7, 7}, strided.pad = {0, 3, 3}, strided.stride = {1, 2, 2};
  strided.x_type = strided.w_type = strided.y_type = Dtype::float16;
  const auto half = [](Shape shape) { return Tensor::empty(std::move(shape), Dtype::float16); };
  Tensor gradient = half({64, 112, 112, 3});
  follow("bprop by cells", [&] { conv_bprop(strided, half({64, 56, 56, 64}), half({64, 7, 7, 3}), gradient); });
  strided.stride = {1, 1, 1};  // by cells of pixels
  Tensor whole_gradient = half({64, 112, 112, 3});
  follow("bprop of few channels without strides", [&] {
    conv_bprop(strided, half({64, 112, 112, 64}), half({64, 7, 7, 3}), whole_gradient);
  });
  ConvProblem exact_first = first;
  exact_first.x_type = exact_first.w_type = exact_first.y_type = Dtype::float32;
  const Tensor images = Tensor::empty({32, 224, 224, 3});
  Tensor seven = Tensor::empty({64, 7, 7, 3}), response = Tensor::empty({32, 112, 112, 64});
  follow("fprop of a first layer by pieces", [&] { conv_fprop(exact_first, images, seven, response, by_pieces); });
  follow("update of a first layer by pieces", [&] { conv_update(exact_first, response, images, seven, by_pieces); });
  first.x_type = first.w_type = Dtype::int8, first.y_type = Dtype::int32, first.c = 32;
  Tensor sums = Tensor::empty({32, 112, 112, 64}, Dtype::int32);
  const Tensor bytes = Tensor::empty({32, 224, 224, 32}, Dtype::int8);
  const Tensor taps = Tensor::empty({64, 7, 7, 32}, Dtype::int8);
  follow("fprop of bytes", [&] { conv_fprop(first, bytes, taps, sums); });
  for (const Dtype result : {Dtype::float32, Dtype::int8}) {
    first.y_type = result, first.c = 32;
    Tensor finished = Tensor::empty({32, 112, 112, 64}, result);
    follow("fprop of bytes to another type", [&] { conv_fprop(first, bytes, taps, finished); });
    first.c = 3;
    follow("fprop of a first layer of bytes to another type", [&] {
      conv_fprop(first, Tensor::empty({32, 224, 224, 3}, Dtype::int8), Tensor::empty({64, 7, 7, 3}, Dtype::int8),
                 finished);
    });
  }
}

void LaunchPaths::pools() {
  for (const PoolOp op : {PoolOp::max, PoolOp::avg, PoolOp::l2}) {
    for (const Layout layout : {Layout::channels_last, Layout::channels_first}) {
      for (const std::int64_t stride : {1, 2, 3}) {
        for (const std::int64_t maps : {1, 2}) {
          PoolProblem p;
          p.op = op, p.layout = layout, p.n = 4;
          p.in = {32, 1, 24, 24}, p.window = {maps, 1, 3, 3}, p.stride = {maps, 1, stride, stride};
          const auto [k, m, h, w] = p.out();
          const bool last = layout == Layout::channels_last;
          const Tensor x = Tensor::empty(last ? Shape{4, 24, 24, 32} : Shape{4, 32, 24, 24});
          Tensor y = Tensor::empty(last ? Shape{4, h, w, k} : Shape{4, k, h, w});
          Tensor dx = Tensor::empty(x.shape());
          follow("pool", [&] { pool_fprop(p, x, y); });
          follow("pool, backwards", [&] { pool_bprop(p, y, x, dx); });
          if (op != PoolOp::max || maps != 1) continue;
          Tensor places = Tensor::empty({pool_argmax_bytes(p)}, Dtype::uint8);
          follow("pool that saves its places", [&] { max_pool_fprop(p, x, y, places); });
          follow("pool from its places", [&] { max_pool_bprop(p, y, places, dx); });
          Tensor indices = Tensor::empty(y.shape(), Dtype::int64);
          follow("indices of its places", [&] { max_pool_indices(p, places, indices); });
        }
      }
    }
  }
}

void LaunchPaths::expressions() {
  const Tensor x = matrix(40, 70), y = matrix(40, 70), one = matrix(40, 1), line = Tensor::empty({70});
  follow("elements", [&] { assign(y, Expr(x) * 2 + Expr(one)); });
  follow("an expression that is written later", [&] { assign_later(y, Expr(x) * 3); });
  follow("rows", [&] { assign(one, reduce(Reduction::sum, Expr(x), {1}, true)); });
  follow("columns", [&] { assign(line, reduce(Reduction::sum, Expr(x), {0})); });
  follow("everything", [&] { assign(Tensor::empty({}), reduce(Reduction::max, Expr(x))); });
  follow("an epilogue", [&] { assign(matrix(40, 40), nervanagpu::product(x, y.transpose()) + 1); });
  follow("random numbers", [&] { assign(y, random({40, 70}, 5)); });
  follow("running sums", [&] { static_cast<void>(cumsum(Expr(x), 1)); });
  for (const std::int64_t n : {70, 5000}) {
    const std::string length = " of " + std::to_string(n);
    follow("rows in order" + length, [&] { static_cast<void>(sort(matrix(4, n))); });
    follow("places in order" + length, [&] { static_cast<void>(argsort(matrix(4, n, Dtype::int64), true)); });
    follow("both" + length, [&] { static_cast<void>(sort_with_indices(matrix(4, n, Dtype::uint8))); });
  }
  follow("gathering", [&] { static_cast<void>(gather(x, indices(7))); });
  follow("scattering", [&] { scatter(y, indices(7), Expr(Tensor::empty({7}))); });
  follow("a copy of other strides", [&] { static_cast<void>(x.transpose().copy()); });
  follow("another type", [&] {
    Tensor half = matrix(40, 70, Dtype::float16);
    convert(x, half);
  });
}

TEST_F(LaunchPaths, AllAskAndEveryOperationIsAmongThem) {
  products();
  convolutions();
  pools();
  expressions();
  for (const Kernel& k : device_.registry().kernels()) {
    EXPECT_TRUE(operations_.contains(k.manifest().op)) << k.manifest().op;
    operations_.insert(k.manifest().op);
  }
}

// The data gradient of a convolution makes the gradient of the bias below; nobody else reads it.
TEST_F(LaunchPaths, OfABiasBelowAConvolution) {
  const layers::ConvSpec spec = {.padding = 1, .relu = true};
  NetworkOptions options;
  options.dtype = Dtype::float16;
  Network net({layers::conv(72, 3, spec), layers::conv(72, 3, spec), layers::conv(64, 3, spec), layers::full(4),
               layers::softmax()},
              {8, 8, 64}, options);
  const std::vector<float> x(std::size_t{2} * 8 * 8 * 64, 0.5F);
  const std::vector<std::int32_t> y = {0, 2};
  net.forward(x);
  const std::size_t before = fake_.launches.size();
  net.backward(y);
  const auto launched = [&](const std::string& name) {
    return std::count_if(fake_.launches.begin() + static_cast<std::ptrdiff_t>(before), fake_.launches.end(),
                         [&](const auto& launch) { return launch.kernel.starts_with(name); });
  };
  EXPECT_EQ(launched("channel_sums_end"), 2);  // of the first and the second layer
  EXPECT_EQ(launched("channel_sums_f16"), 0);
}

// A row that a CTA holds is one launch, a longer one a histogram and a pass for each byte of its keys.
TEST_F(LaunchPaths, OfRowsInOrder) {
  using Names = std::vector<std::string>;
  const auto names = [&](const std::function<void()>& path) {
    const std::size_t launched = fake_.launches.size();
    path();
    Names out;
    for (std::size_t i = launched; i < fake_.launches.size(); ++i) out.push_back(fake_.launches[i].kernel);
    return out;
  };
  const auto digits = [](const std::string& key, const std::string& with, std::size_t bytes) {
    Names out(bytes + 1, "sort_pass_" + key + "_" + with);
    out.front() = "sort_histogram_" + key;
    return out;
  };
  const auto sorts = [&](std::int64_t n, Dtype dtype) {
    return names([&] { static_cast<void>(sort(matrix(2, n, dtype))); });
  };
  EXPECT_EQ(sorts(256, Dtype::float32), Names{"sort_row_f32_1"});
  EXPECT_EQ(sorts(257, Dtype::bfloat16), Names{"sort_row_f16_4"});
  EXPECT_EQ(sorts(4096, Dtype::uint8), Names{"sort_row_i8_16"});
  EXPECT_EQ(sorts(3072, Dtype::float64), Names{"sort_row_f64_12"});
  EXPECT_EQ(sorts(3073, Dtype::float64), digits("f64", "keys", 8));
  EXPECT_EQ(sorts(4097, Dtype::int32), digits("i32", "keys", 4));
  EXPECT_EQ(sorts(4097, Dtype::boolean), digits("i8", "keys", 1));
  EXPECT_EQ(names([&] { static_cast<void>(argsort(matrix(2, 5000, Dtype::uint16))); }), digits("i16", "indices", 2));
  EXPECT_EQ(names([&] { static_cast<void>(sort_with_indices(matrix(1, 5000))); }), digits("f32", "indices", 4));
  EXPECT_EQ(sorts(0, Dtype::float32), Names{});
}

constexpr const char* kUsers = R"(.kernel k
.arch   sm_90a
.param  u32 n
.threads 32
.needs  n % 4 == 0
  EXIT
)";

TEST_F(LaunchPaths, UsersModulesAndGraphs) {
  const Module module(Cubin::assemble(kUsers));
  const Stream stream = Stream::create();
  const auto launch = [&](std::uint64_t n, const Stream& where) {
    module.launch("k", {1}, {}, {Argument(n)}, {}, where);
  };
  follow("a module", [&] { launch(8, {}), launch(4, stream); });
  // What a graph holds is checked when it is recorded; its parameters stay what they were.
  const Tensor x = matrix(40, 40), y = matrix(40, 40);
  const std::uint64_t checked = needs_checked, skipped = needs_skipped;
  const auto body = [&] {
    launch(8, {});
    assign(y, Expr(x) + 1);
    static_cast<void>(dot(x, y));
  };
  const Graph graph = Graph::capture(body), in_stream = Graph::capture(body, stream);
  EXPECT_EQ(fake_.graph.size(), 3U);
  EXPECT_EQ(needs_checked - checked, 5U);  // the product once
  EXPECT_EQ(needs_skipped - skipped, 2U);
  const std::size_t launched = fake_.launches.size();
  graph.launch(), graph.launch(stream);
  EXPECT_EQ(fake_.launches.size() - launched, 6U);
  EXPECT_THROW(Graph::capture([&] { launch(3, {}); }), InvalidArgument);
  EXPECT_TRUE(fake_.graph.empty());
}

TEST_F(LaunchPaths, OfC) {
  std::uint64_t memory = 0;
  ASSERT_EQ(ng_malloc(&memory, std::size_t{1} << 20), NG_OK);
  const auto at = [&](int i) { return memory + static_cast<std::uint64_t>(i) * 0x10000; };
  ng_gemm_problem p = NG_GEMM_PROBLEM_INIT;
  p.a = at(0), p.b = at(1), p.c = at(2);
  p.m = p.n = p.k = p.lda = p.ldb = p.ldc = 64;
  follow("ng_gemm", [&] { EXPECT_EQ(ng_gemm(&p, 0), NG_OK) << ng_last_error(); });
  follow("ng_gemm_grouped", [&] {
    ng_gemm_problem q = p;
    q.c = at(3);
    const std::vector<const ng_gemm_problem*> all = {&p, &q};
    EXPECT_EQ(ng_gemm_grouped(all.data(), all.size(), 0, 0, 0), NG_OK) << ng_last_error();
  });
  follow("ng_gemm_plan_launch", [&] {
    ng_gemm_plan* plan = nullptr;
    ASSERT_EQ(ng_gemm_plan_create(&p, &plan), NG_OK) << ng_last_error();
    ng_gemm_addresses addresses = NG_GEMM_ADDRESSES_INIT;
    addresses.a = at(0), addresses.b = at(1), addresses.c = at(2), addresses.workspace = at(4);
    EXPECT_EQ(ng_gemm_plan_launch(plan, &addresses, 0), NG_OK) << ng_last_error();
    ng_gemm_plan_destroy(plan);
  });
  ng_conv_problem c = NG_CONV_PROBLEM_INIT;
  c.c = 2, c.k = 3, c.in[2] = 5, c.filter[2] = 3;
  ng_conv_options o = NG_CONV_OPTIONS_INIT;
  o.workspace = at(4);
  follow("ng_conv_fprop", [&] { EXPECT_EQ(ng_conv_fprop(&c, at(0), at(1), at(2), &o), NG_OK) << ng_last_error(); });
  follow("ng_conv_bprop", [&] { EXPECT_EQ(ng_conv_bprop(&c, at(2), at(1), at(0), &o), NG_OK) << ng_last_error(); });
  follow("ng_conv_update", [&] { EXPECT_EQ(ng_conv_update(&c, at(2), at(0), at(1), &o), NG_OK) << ng_last_error(); });
  ng_pool_problem pool = NG_POOL_PROBLEM_INIT;
  pool.in[3] = 4, pool.window[3] = pool.stride[3] = 2;
  follow("ng_pool_fprop", [&] { EXPECT_EQ(ng_pool_fprop(&pool, at(0), at(1), nullptr), NG_OK) << ng_last_error(); });
  follow("ng_pool_bprop",
         [&] { EXPECT_EQ(ng_pool_bprop(&pool, at(1), at(0), at(2), nullptr), NG_OK) << ng_last_error(); });
  EXPECT_EQ(ng_free(memory), NG_OK);
}

}  // namespace
}  // namespace nervanagpu
