// Convolution of tensors: what is accepted, and what is refused before anything is written.
#include <gtest/gtest.h>

#include <functional>

#include "kernels/conv/problem.h"
#include "nervanagpu/nervanagpu.hpp"
#include "test/src/expect_error.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

class ConvTensorsTest : public test::OnEmulator {
 protected:
  ConvTensorsTest() {
    p_.n = 2, p_.c = 4, p_.k = 6, p_.groups = 2;
    p_.in = {1, 5, 4}, p_.filter = {1, 3, 2}, p_.pad = {0, 1, 0}, p_.stride = {1, 2, 1};
  }

  // Refused with this text, and y is as before.
  template <class E>
  void refused(const std::function<void()>& call, const std::string& text) {
    expect_error<E>(call, text);
    for (const float v : y_.to_host<float>()) ASSERT_EQ(v, 7.0F) << text;
  }

  ConvProblem p_;
  Tensor x_ = Tensor::ones({2, 5, 4, 4});
  Tensor w_ = Tensor::ones({6, 3, 2, 2});
  Tensor y_ = Tensor::full({2, 3, 3, 6}, 7.0);
};

TEST_F(ConvTensorsTest, OneTwoAndThreeDimensions) {
  ConvOptions options;
  const Tensor bias = Tensor::full({6}, 0.5);
  options.bias = &bias;
  conv_fprop(p_, x_, w_, y_, options);
  const std::vector<float> flat = y_.to_host<float>();
  EXPECT_EQ(flat[0], 8.5F);       // a padded row: 2 of 3 rows, 2 columns, 2 channels
  EXPECT_EQ(flat[3 * 6], 12.5F);  // the second row: all
  Tensor deep = Tensor::full({2, 1, 3, 3, 6}, 7.0);
  conv_fprop(p_, x_.reshape({2, 1, 5, 4, 4}), w_.reshape({6, 1, 3, 2, 2}), deep, options);
  EXPECT_EQ(deep.to_host<float>(), flat);

  ConvProblem line;
  line.layout = Layout::channels_first;
  line.c = 3, line.in = {1, 1, 5}, line.filter = {1, 1, 2};
  Tensor y = Tensor::empty({1, 1, 4});
  conv_fprop(line, Tensor::ones({1, 3, 5}), Tensor::ones({1, 3, 2}), y);
  EXPECT_EQ(y.to_host<float>(), std::vector<float>(4, 6.0F));
}

TEST_F(ConvTensorsTest, GradientsInPlaceOfNothing) {
  Tensor dx = Tensor::full({2, 5, 4, 4}, 1.0);
  const Tensor dy = Tensor::ones({2, 3, 3, 6});
  ConvOptions options;
  options.beta = 10.0F;
  conv_bprop(p_, dy, w_, dx, options);
  EXPECT_EQ(dx.to_host<float>()[0], 13.0F);  // row 0 is under one row of the filter, column 0 under one column
  Tensor dw = Tensor::full({6, 3, 2, 2}, 1.0);
  conv_update(p_, dy, x_, dw, options);
  EXPECT_EQ(dw.to_host<float>()[0], 22.0F);      // the first row misses the padded one: 2 x 2 x 3
  EXPECT_EQ(dw.to_host<float>()[2 * 2], 28.0F);  // the middle one does not: 2 x 3 x 3
}

TEST_F(ConvTensorsTest, RefusesShapesTypesAndMemory) {
  refused<InvalidArgument>(
      [&] {
        conv_fprop(p_, Tensor::ones({2, 5, 4, 3}), w_, y_);
      },
      "conv: x has shape (2, 5, 4, 3); needs (2, 5, 4, 4)");
  refused<InvalidArgument>(
      [&] {
        conv_fprop(p_, x_, Tensor::ones({6, 3, 2, 4}), y_);
      },
      "conv: w has shape (6, 3, 2, 4); needs (6, 3, 2, 2)");
  refused<InvalidArgument>(
      [&] {
        conv_fprop(p_, x_.transpose({0, 2, 1, 3}).transpose({0, 2, 1, 3}), w_, x_);
      },
      "conv: y has shape (2, 5, 4, 4); needs (2, 3, 3, 6)");
  const Tensor wide = Tensor::ones({2, 5, 4, 8});
  refused<InvalidArgument>(
      [&] { conv_fprop(p_, wide.slice(3, 0, 8, 2), w_, y_); },
      "conv: x has strides (160, 32, 8, 2); needs contiguous memory (copy() makes it), or a slice of "
      "the last axis of such");
  refused<InvalidArgument>(
      [&] {
        conv_fprop(p_, Tensor::ones({2, 5, 8, 4}).slice(2, 0, 4), w_, y_);
      },
      "conv: x has strides (160, 32, 4, 1); needs contiguous memory (copy() makes it), or a slice of "
      "the last axis of such");
  refused<InvalidArgument>(
      [&] {
        conv_fprop(p_, x_, Tensor::ones({6, 3, 2, 4}).slice(3, 0, 2), y_);
      },
      "conv: w has strides (24, 8, 4, 1); needs contiguous memory (copy() makes it)");
  ConvProblem other = p_;
  other.x_pitch = 12;
  refused<InvalidArgument>([&] { conv_fprop(other, wide.slice(3, 0, 4), w_, y_); },
                           "conv: x has strides (160, 32, 8, 1); needs 12 elements from pixel to pixel, as the problem "
                           "says");
  refused<TypeError>(
      [&] {
        conv_fprop(p_, Tensor::ones({2, 5, 4, 4}, Dtype::float16), w_, y_);
      },
      "conv: x has dtype float16; needs float32");
  ConvProblem mixed = p_;
  mixed.x_type = Dtype::float16;
  refused<TypeError>(
      [&] {
        conv_fprop(mixed, Tensor::ones({2, 5, 4, 4}, Dtype::float16), w_, y_);
      },
      "conv: x is float16, w float32, y float32; needs float32, float16 or bfloat16, the same for all, or x int8 or "
      "uint8 with w and y of one float type, or x int8 or uint8 with w int8 and y int32, float32 or int8");
  const Tensor whole = Tensor::ones({160 + 108});
  Tensor inside = whole.slice(0, 100, 208).reshape({2, 3, 3, 6});
  refused<InvalidArgument>(
      [&] {
        conv_fprop(p_, whole.slice(0, 0, 160).reshape({2, 5, 4, 4}), w_, inside);
      },
      "conv: y shares memory with x; needs memory of its own");
  ConvOptions options;
  const Tensor bias = Tensor::ones({5});
  options.bias = &bias;
  refused<InvalidArgument>([&] { conv_fprop(p_, x_, w_, y_, options); }, "conv: bias has shape (5,); needs (6,)");
  const Tensor half = Tensor::ones({6}, Dtype::float16);
  options.bias = &half;
  refused<TypeError>([&] { conv_fprop(p_, x_, w_, y_, options); }, "conv: bias is float16; needs float32");
  options.bias = nullptr;
  options.rounding = {true, 1, 0, 16};
  refused<InvalidArgument>([&] { conv_fprop(p_, x_, w_, y_, options); },
                           "conv: rounding bits is 16; needs 1 to 15, or 0 for 15");
  options.rounding = {};
  options.relu = true;
  Tensor dx = Tensor::ones({2, 5, 4, 4});
  refused<InvalidArgument>([&] { conv_bprop(p_, y_, w_, dx, options); }, "conv: relu is for fprop alone");
}

TEST_F(ConvTensorsTest, RefusesProblems) {
  const auto with = [&](const std::function<void(ConvProblem&)>& change) {
    return [this, change] {
      ConvProblem q = p_;
      change(q);
      conv_fprop(q, x_, w_, y_);
    };
  };
  refused<InvalidArgument>(with([](ConvProblem& q) { q.groups = 3; }),
                           "conv: groups is 3; needs a divisor of c (channels of x), 4");
  refused<InvalidArgument>(with([](ConvProblem& q) { q.x_pitch = 3; }),
                           "conv: x_pitch is 3; needs 0, or the channels, 4, or more and less than 2^31");
  refused<InvalidArgument>(with([](ConvProblem& q) { q.layout = Layout::batch_last, q.y_pitch = 8; }),
                           "conv: y_pitch is 8; needs 0, since only channels_last has pixels");
  refused<InvalidArgument>(with([](ConvProblem& q) { q.n = 0; }),
                           "conv: n (batch) is 0; needs 1 or more and less than 2^31");
  refused<InvalidArgument>(with([](ConvProblem& q) { q.stride[1] = 0; }),
                           "conv: stride (height) is 0; needs 1 or more and less than 2^28");
  refused<InvalidArgument>(with([](ConvProblem& q) { q.dilation[2] = -1; }),
                           "conv: dilation (width) is -1; needs 1 or more and less than 2^28");
  refused<InvalidArgument>(with([](ConvProblem& q) { q.pad[0] = -1; }),
                           "conv: pad (depth) is -1; needs 0 or more and less than 2^28");
  refused<InvalidArgument>(with([](ConvProblem& q) { q.filter[2] = 5; }),
                           "conv: the output is empty (width): input length 4 + 2 * pad 0 is less than the filter's "
                           "reach 5");
  ConvProblem vast = p_;
  vast.n = vast.in[1] = std::int64_t{1} << 22;
  vast.in[0] = vast.in[2] = 4;
  refused<InvalidArgument>([&] { static_cast<void>(conv_workspace(ConvPass::fprop, vast)); },
                           "conv: x has 4503599627370496 bytes; needs less than 2^48");
  refused<InvalidArgument>([&] { static_cast<void>(layout_from_name("NHCW")); },
                           "layout is \"NHCW\"; needs NWC, NHWC, NDHWC, CWN, CHWN, CDHWN, NCW, NCHW or NCDHW");
  ConvProblem bytes = p_;
  bytes.x_type = bytes.w_type = Dtype::int8;
  bytes.y_type = Dtype::int32;
  ConvOptions options;
  options.alpha = 0.5F;
  Tensor y = Tensor::ones({2, 3, 3, 6}, Dtype::int32);
  refused<InvalidArgument>(
      [&] {
        conv_fprop(bytes, Tensor::ones({2, 5, 4, 4}, Dtype::int8), Tensor::ones({6, 3, 2, 2}, Dtype::int8), y, options);
      },
      "conv: alpha is 0.500000; an int32 result needs an integer of 32 bits");
}

TEST_F(ConvTensorsTest, RefusesAddresses) {
  ConvPointers pointers;
  pointers.in1 = x_.address(), pointers.in2 = w_.address() + 2, pointers.out = y_.address();
  refused<InvalidArgument>([&] { conv(ConvPass::fprop, p_, pointers); },
                           "conv: address of w is " + std::to_string(pointers.in2) + "; needs a multiple of 4");
  pointers.in2 = 0;
  refused<InvalidArgument>([&] { conv(ConvPass::fprop, p_, pointers); }, "conv: w is 0; needs a device address");
  pointers.in2 = w_.address();
  p_.layout = Layout::channels_first;
  refused<InvalidArgument>([&] { conv(ConvPass::fprop, p_, pointers); },
                           "conv: workspace is 0; needs a device address");
}

}  // namespace
}  // namespace nervanagpu
