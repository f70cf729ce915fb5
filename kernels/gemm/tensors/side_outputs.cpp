// What a product of tensors writes, or reads, beside its result: the bits of relu, sums and magnitudes of rows and columns.
#include <algorithm>
#include <array>
#include <string>

#include "kernels/gemm/epilogue/relu_mask.h"
#include "kernels/gemm/tensors/dot.h"
#include "kernels/gemm/tensors/refuse.h"
#include "nervanagpu/error.hpp"
#include "src/tensor/shape.h"
#include "src/tensor/shares_memory.h"

namespace nervanagpu::sgemm {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw InvalidArgument("dot: " + what);
}

}  // namespace

void put_mask(GemmProblem& p, const Tensor* mask, const Tensor& a, const Tensor& b, const Tensor& c) {
  if (mask == nullptr) {
    if (applies_mask(p)) refuse("activation is drelu but there is no mask; needs what relu wrote");
    return;
  }
  if (mask->dtype() != Dtype::uint32 && mask->dtype() != Dtype::int32) {
    refuse_type("mask", *mask, "uint32 or int32");
  }
  Shape needed = c.shape();
  needed.back() = words_of_mask(needed.back());
  if (mask->shape() != needed) {
    refuse("mask has shape " + text_of(mask->shape()) + "; needs " + text_of(needed) +
           ", a bit for each element of out");
  }
  if (c.size() == 0) return;
  const std::size_t axes = needed.size();
  const std::int64_t rows = needed[axes - 2];
  const std::int64_t words = needed[axes - 1];
  const std::int64_t down = rows > 1 ? mask->strides()[axes - 2] : words;
  const bool lies = (words == 1 || mask->strides()[axes - 1] == 1) && down >= words &&
                    (axes == 2 || needed[0] == 1 || mask->strides()[0] == rows * down);
  if (!lies) {
    refuse("mask has strides " + text_of(mask->strides()) +
           "; needs rows of contiguous words, matrices one after the other");
  }
  const auto check = [&](const char* name, const Tensor& t) {
    if (shares_memory(*mask, t)) refuse(std::string("mask shares memory with ") + name + "; needs memory of its own");
  };
  check("a", a);
  check("b", b);
  check("out", c);
  p.mask = mask->address();
  p.ld_mask = down;
}

void put_sums(GemmProblem& p, const GemmOptions& options, const Tensor& a, const Tensor& b, const Tensor& c) {
  struct Vector {
    const char* name;
    const Tensor* tensor;
    bool of_rows;
    std::uint64_t GemmProblem::*address;
  };
  const std::array all = {Vector{"row_sum", options.row_sum, true, &GemmProblem::row_sum},
                          Vector{"column_sum", options.column_sum, false, &GemmProblem::column_sum},
                          Vector{"row_max_abs", options.row_max_abs, true, &GemmProblem::row_max_abs},
                          Vector{"column_max_abs", options.column_max_abs, false, &GemmProblem::column_max_abs}};
  for (const Vector& v : all) {
    if (v.tensor == nullptr) continue;
    const Tensor& t = *v.tensor;
    if (t.dtype() != Dtype::float32) refuse_type(v.name, t, "float32");
    if (c.ndim() != 2)
      refuse(std::string(v.name) + " is given for a batch; needs one product, or a sum over the batch");
    const std::int64_t length = c.shape()[v.of_rows ? 0 : 1];
    const Shape wide = v.of_rows ? Shape{length, 1} : Shape{1, length};
    if (t.shape() != Shape{length} && t.shape() != wide) {
      refuse(std::string(v.name) + " has shape " + text_of(t.shape()) + "; needs " + text_of(Shape{length}) + " or " +
             text_of(wide) + ", one for each " + (v.of_rows ? "row" : "column"));
    }
    if (!t.contiguous()) refuse(std::string(v.name) + " has strides " + text_of(t.strides()) + "; needs it contiguous");
    const auto check = [&](const char* name, const Tensor* other) {
      if (other != nullptr && shares_memory(t, *other)) {
        refuse(std::string(v.name) + " shares memory with " + name + "; needs memory of its own");
      }
    };
    check("a", &a);
    check("b", &b);
    check("out", &c);
    check("bias", options.bias);
    check("mask", options.mask);
    for (const Vector& other : all) {
      if (&other != &v) check(other.name, other.tensor);
    }
    p.*v.address = t.address();
  }
}

bool along_rows(const GemmOptions& o) {
  return std::ranges::any_of(std::array{o.mask, o.row_sum, o.column_sum, o.row_max_abs, o.column_max_abs},
                             [](const Tensor* t) { return t != nullptr; });
}

void used_by_stream(const GemmOptions& o) {
  for (const Tensor* t : {o.mask, o.row_sum, o.column_sum, o.row_max_abs, o.column_max_abs}) {
    if (t != nullptr) t->used_on(o.stream);
  }
}

}  // namespace nervanagpu::sgemm
