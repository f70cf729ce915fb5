// Sorts of tensors: what is refused, the order of their elements, and the radix sort's launches.
#include <string>

#include "kernels/sort/launch.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/sorting.hpp"
#include "src/device/placement.h"
#include "src/fuse/kernel.h"

namespace nervanagpu {
namespace {

Sorted run(const char* op, const Tensor& x, bool descending, bool values, bool indices) {
  if (x.ndim() == 0) throw InvalidArgument(std::string(op) + ": x has no axes; needs one or more");
  if (is_complex(x.dtype())) {
    throw TypeError(std::string(op) + ": x has dtype " + std::string(name_of(x.dtype())) +
                    "; needs real numbers, which have an order");
  }
  const std::int64_t n = x.shape().back();
  if (n >= sorting::kMostKeys) {
    throw InvalidArgument(std::string(op) + ": x has " + std::to_string(n) +
                          " elements along its last axis; needs fewer than 2^30");
  }
  const OnDevice there(x.device());
  Sorted out;
  if (values) out.values = Tensor::empty(x.shape(), x.dtype());
  if (indices) out.indices = Tensor::empty(x.shape(), Dtype::int64);
  if (x.size() == 0) return out;
  const Tensor from = x.contiguous() ? x : x.copy();
  sorting::Rows r;
  r.rows = x.size() / n;
  r.n = n;
  r.keys = from.address();
  r.values = values ? out.values.address() : 0;
  r.indices = indices ? out.indices.address() : 0;
  r.dtype = x.dtype();
  r.descending = descending;
  if (n <= sorting::most_of_row(size_of(x.dtype()))) {
    sorting::sort_in_cta(current_device(), r, fuse::OnStream::current().handle());
  } else {
    sorting::sort_by_digits(current_device(), r);
  }
  return out;
}

}  // namespace

Tensor sort(const Tensor& x, bool descending) {
  return run("sort", x, descending, true, false).values;
}
Tensor argsort(const Tensor& x, bool descending) {
  return run("argsort", x, descending, false, true).indices;
}
Sorted sort_with_indices(const Tensor& x, bool descending) {
  return run("sort_with_indices", x, descending, true, true);
}

}  // namespace nervanagpu
