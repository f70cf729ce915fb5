"""The text in front of CuPy's kernels, and arrays as their arguments: CArray, CIndexer, float16.

A CArray is a pointer, a size, lengths and strides in bytes; `x[n]` is element n in row-major order, `x[_ind.get()]`
that at an index.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from nervanagpu._core import GPUTensor
from nervanagpu.kernels.c_types import Packed

PREAMBLE = r"""#include <stddef.h>
class float16 {
  unsigned short bits_;
 public:
  float16() = default;
  __device__ float16(float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits_) : "f"(x)); }
  __device__ operator float() const { float x; asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits_)); return x; }
  __device__ float16& operator+=(float x) { return *this = float(*this) + x; }
  __device__ float16& operator-=(float x) { return *this = float(*this) - x; }
  __device__ float16& operator*=(float x) { return *this = float(*this) * x; }
  __device__ float16& operator/=(float x) { return *this = float(*this) / x; }
};

template <typename T, int N, bool Dense> class CArray {
  char* data_;
  ptrdiff_t size_, shape_[N], strides_[N];
 public:
  static const int ndim = N;
  __device__ ptrdiff_t size() const { return size_; }
  __device__ const ptrdiff_t* shape() const { return shape_; }
  __device__ const ptrdiff_t* strides() const { return strides_; }
  __device__ T* begin_ptr() const { return (T*)data_; }
  template <typename I> __device__ T& operator[](const I (&index)[N]) const {
    char* at = data_;
    for (int k = 0; k < N; ++k) at += strides_[k] * (ptrdiff_t)index[k];
    return *(T*)at;
  }
  __device__ T& operator[](ptrdiff_t i) const {
    if (Dense) return ((T*)data_)[i];
    char* at = data_;
    for (int k = N; --k > 0;) {
      const ptrdiff_t rest = i / shape_[k];
      at += strides_[k] * (i - rest * shape_[k]);
      i = rest;
    }
    return *(T*)(at + strides_[0] * i);
  }
};
template <typename T, bool Dense> class CArray<T, 0, Dense> {
  T* data_;
  ptrdiff_t size_;
 public:
  static const int ndim = 0;
  __device__ ptrdiff_t size() const { return 1; }
  __device__ const ptrdiff_t* shape() const { return &size_; }
  __device__ const ptrdiff_t* strides() const { return &size_; }
  __device__ T* begin_ptr() const { return data_; }
  template <typename I> __device__ T& operator[](const I&) const { return *data_; }
};

template <int N> class CIndexer {
  ptrdiff_t size_, shape_[N], index_[N];
 public:
  static const int ndim = N;
  __device__ ptrdiff_t size() const { return size_; }
  __device__ const ptrdiff_t* shape() const { return shape_; }
  __device__ void set(ptrdiff_t i) {
    for (int k = N; --k > 0;) {
      const ptrdiff_t rest = i / shape_[k];
      index_[k] = i - rest * shape_[k];
      i = rest;
    }
    index_[0] = i;
  }
  __device__ const ptrdiff_t (&get() const)[N] { return index_; }
};
template <> class CIndexer<0> {
  ptrdiff_t size_, none_;
 public:
  static const int ndim = 0;
  __device__ ptrdiff_t size() const { return 1; }
  __device__ void set(ptrdiff_t) {}
  __device__ ptrdiff_t get() const { return 0; }
};
#define CUPY_FOR(i, n) \
  for (ptrdiff_t i = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += (ptrdiff_t)gridDim.x * blockDim.x)
"""
COMPLEX = "#include <pycuda-complex.hpp>\ntemplate <typename T> using complex = pycuda::complex<T>;\n"


def preamble(*texts: str) -> str:
    """PREAMBLE, with complex numbers where one of the texts has them."""
    return (COMPLEX if any("complex" in t for t in texts) else "") + PREAMBLE


def array_type(type_name: str, shape: Sequence[int], dense: bool) -> str:
    """The C type of an argument."""
    return f"CArray<{type_name}, {len(shape)}, {'true' if dense else 'false'}>"


def packed_array(tensor: GPUTensor, shape: Sequence[int], strides: Sequence[int]) -> Packed:
    """An array as an argument: `strides` in bytes."""
    size = int(np.prod(shape, dtype=np.int64))
    numbers = (tensor.ptr, size, *shape, *strides)
    return _eight_byte_aligned(struct.pack(f"Q{len(numbers) - 1}q", *numbers))


def packed_indexer(shape: Sequence[int]) -> Packed:
    """A CIndexer as an argument."""
    size = int(np.prod(shape, dtype=np.int64))
    numbers = (size, *shape, *[0] * max(len(shape), 1))
    return _eight_byte_aligned(struct.pack(f"{len(numbers)}q", *numbers))


def _eight_byte_aligned(data: bytes) -> Packed:
    out = Packed(data)
    out.alignment = 8
    return out


def is_dense(shape: Sequence[int], strides: Sequence[int], width: int) -> bool:
    """Whether elements lie in row-major order without gaps."""
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if length != 1 and stride != width:
            return False
        width *= length
    return True


def merged(shape: Sequence[int], strides: list[list[int]]) -> tuple[list[int], list[list[int]]]:
    """The axes of several arrays of one shape, as few as they all can have."""
    lengths: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for k, length in enumerate(shape):
        if length == 1:
            continue
        if lengths and all(mine[-1] == all_[k] * length for mine, all_ in zip(steps, strides, strict=True)):
            lengths[-1] *= length
            for mine, all_ in zip(steps, strides, strict=True):
                mine[-1] = all_[k]
            continue
        lengths.append(length)
        for mine, all_ in zip(steps, strides, strict=True):
            mine.append(all_[k])
    if not lengths:
        return [1], [[0] for _ in strides]
    return lengths, steps


def number(value: Any, dtype: Any) -> Packed:
    """A number, or a texture, as an argument."""
    if isinstance(dtype, str):
        return Packed.of(value._texture_handle, np.uint64)
    return Packed.of(value, dtype)
