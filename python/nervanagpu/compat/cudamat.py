"""What scripts of cudamat use, over this library's tensors: change `import cudamat as cm` to
`import nervanagpu.cudamat as cm`.

A CUDAMatrix is a float32 matrix, stored by columns as there. Methods write into `target`; without one they change the
matrix itself where cudamat does (add, mult, apply_sigmoid, ...), else they return a new one (dot, sum, ...).
They return what they wrote. ValueError for shapes that do not fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nervanagpu import _core, linalg, random
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, indexing
from nervanagpu.compat import cudamat_learn as learn  # noqa: F401
from nervanagpu.math import composed, elementwise, reductions

Number = float | int
CUDAMatrixException = ValueError


def _stored(rows: int, columns: int) -> GPUTensor:
    return creation.empty((columns, rows)).T


def _operand(x: CUDAMatrix | Number) -> GPUTensor | Number:
    return x._x if isinstance(x, CUDAMatrix) else x


def _columns(indices: CUDAMatrix) -> GPUTensor:
    if indices.shape[0] != 1:
        raise ValueError(f"indices is {indices.shape[0]} x {indices.shape[1]}; needs 1 row")
    return _core.cast(indices._x[0], "int32")


class CUDAMatrix:
    """A matrix in device memory, made of a two-dimensional array. `shape` is (rows, columns)."""

    def __init__(self, array: npt.ArrayLike) -> None:
        host = np.asarray(array, dtype=np.float32)
        if host.ndim != 2:
            raise ValueError(f"CUDAMatrix: the array has {host.ndim} axes; needs 2")
        self._x = _stored(*host.shape)
        self._x.set(host)
        self.numpy_array = host

    @classmethod
    def _of(cls, tensor: GPUTensor) -> CUDAMatrix:
        out = cls.__new__(cls)
        out._x = tensor
        return out

    @staticmethod
    def init_random(seed: int = 0) -> None:
        """Let the random numbers start again, by `seed`."""
        random.seed(seed)

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self._x.shape
        return rows, columns

    @property
    def T(self) -> CUDAMatrix:
        """The transposed matrix, over the same memory."""
        return TransposedCUDAMatrix(self)

    def set_trans(self, is_trans: bool) -> None:
        """Let the matrix stand for its transpose, over the same memory, or for itself again."""
        if bool(is_trans) != getattr(self, "is_trans", False):
            self._x = self._x.T
        self.is_trans = bool(is_trans)

    def copy(self, include_host: bool = False) -> CUDAMatrix:
        """A matrix of its own with these elements; include_host: and with a copy of `numpy_array`."""
        out = self._into(True, self._x)
        if include_host:
            out.numpy_array = np.array(self.numpy_array)
        return out

    @property
    def tensor(self) -> GPUTensor:
        """The tensor underneath, over the same memory."""
        return self._x

    def __repr__(self) -> str:
        return f"<CUDAMatrix {self.shape[0]} x {self.shape[1]}>"

    def asarray(self) -> npt.NDArray[np.float32]:
        """The elements on the host, also as `numpy_array`."""
        self.copy_to_host()
        return self.numpy_array

    def copy_to_host(self) -> None:
        """Put the elements into `numpy_array`."""
        self.numpy_array = self._x.get()

    def copy_to_device(self) -> None:
        """Take the elements from `numpy_array`."""
        self._x.set(self.numpy_array)

    def free_device_memory(self) -> None:
        """Give the memory back; the matrix is empty then."""
        self._x = _stored(0, 0)

    def _into(self, target: CUDAMatrix | bool | None, value: GPUTensor) -> CUDAMatrix:
        """`value` into `target`; None: into this matrix; True: into a new one."""
        if target is True:
            rows, columns = value.shape
            out = CUDAMatrix._of(_stored(rows, columns))
        else:
            out = target if isinstance(target, CUDAMatrix) else self
        if out.shape != value.shape:
            raise ValueError(f"target is {out.shape[0]} x {out.shape[1]}; needs {value.shape[0]} x {value.shape[1]}")
        out._x[...] = value
        return out

    # --- fill -------------------------------------------------------------------------------------------------------
    def assign(self, val: CUDAMatrix | Number) -> CUDAMatrix:
        """Every element becomes `val`, or that of a matrix of this shape."""
        if isinstance(val, CUDAMatrix):
            return self._into(None, val._x)
        self._x.fill(val)
        return self

    def fill_with_rand(self) -> CUDAMatrix:
        """Uniform numbers in [0, 1)."""
        return self._into(None, random.rand(*self.shape))

    def fill_with_randn(self) -> CUDAMatrix:
        """Normal numbers of mean 0 and variance 1."""
        return self._into(None, random.randn(*self.shape))

    # --- parts ------------------------------------------------------------------------------------------------------
    def transpose(self, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """A transposed copy."""
        return self._into(target or True, self._x.T)

    def reshape(self, shape: Sequence[int]) -> CUDAMatrix:
        """This matrix with another shape; the elements keep their order by columns."""
        rows, columns = shape
        self._x = self._x.T.reshape(columns, rows).T
        return self

    def get_col_slice(self, first_col: int, last_col: int, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """The columns from `first_col` to before `last_col`: a view, or a copy in `target`."""
        part = self._x[:, first_col:last_col]
        return CUDAMatrix._of(part) if target is None else self._into(target, part)

    slice = get_col_slice

    def set_col_slice(self, start: int, end: int, mat: CUDAMatrix) -> CUDAMatrix:
        """The columns from `start` to before `end` become `mat`."""
        self._x[:, start:end] = mat._x
        return self

    def get_row_slice(self, start: int, end: int, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """A copy of the rows from `start` to before `end`."""
        return self._into(target or True, self._x[start:end])

    def set_row_slice(self, start: int, end: int, mat: CUDAMatrix) -> CUDAMatrix:
        """The rows from `start` to before `end` become `mat`."""
        self._x[start:end] = mat._x
        return self

    def select_columns(self, indices: CUDAMatrix, target: CUDAMatrix) -> CUDAMatrix:
        """The columns whose numbers are in `indices`, 1 x n, into target."""
        return self._into(target, indexing.take(self._x, _columns(indices), 1))

    def set_selected_columns(self, indices: CUDAMatrix, source: CUDAMatrix) -> CUDAMatrix:
        """The columns whose numbers are in `indices`, 1 x n, become those of source."""
        if source.shape != (self.shape[0], indices.shape[1]):
            wanted = f"{self.shape[0]} x {indices.shape[1]}"
            raise ValueError(f"source is {source.shape[0]} x {source.shape[1]}; needs {wanted}")
        self._x[:, _columns(indices)] = source._x
        return self

    # --- arithmetic: into this matrix, or into target -----------------------------------------------------------------
    def add(self, val: CUDAMatrix | Number, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """self + val."""
        return self._into(target, self._x + _operand(val))

    def subtract(self, val: CUDAMatrix | Number, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """self - val."""
        return self._into(target, self._x - _operand(val))

    def mult(self, val: CUDAMatrix | Number, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """self * val, element by element."""
        return self._into(target, self._x * _operand(val))

    def divide(self, val: CUDAMatrix | Number, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """self / val, element by element."""
        return self._into(target, self._x / _operand(val))

    def add_mult(self, mat2: CUDAMatrix, alpha: Number = 1.0) -> CUDAMatrix:
        """self += alpha * mat2."""
        return self._into(None, self._x + mat2._x * alpha)

    def subtract_mult(self, mat2: CUDAMatrix, alpha: Number = 1.0) -> CUDAMatrix:
        """self -= alpha * mat2."""
        return self._into(None, self._x - mat2._x * alpha)

    def add_col_vec(self, vec: CUDAMatrix, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """A column (rows x 1) added to every column."""
        return self._into(target, self._x + vec._x)

    def add_col_mult(self, vec: CUDAMatrix, mult: Number, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """mult times a column added to every column."""
        return self._into(target, self._x + vec._x * mult)

    def mult_by_col(self, vec: CUDAMatrix, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """Every column times a column."""
        return self._into(target, self._x * vec._x)

    def div_by_col(self, vec: CUDAMatrix, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """Every column over a column."""
        return self._into(target, self._x / vec._x)

    # A row (1 x columns) with every row.
    add_row_vec = add_col_vec
    mult_by_row = mult_by_col
    div_by_row = div_by_col

    def less_than(self, val: CUDAMatrix | Number, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """1 where self < val, else 0."""
        return self._into(target, elementwise.less(self._x, _operand(val)))

    def greater_than(self, val: CUDAMatrix | Number, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """1 where self > val, else 0."""
        return self._into(target, elementwise.greater(self._x, _operand(val)))

    def equals(self, val: CUDAMatrix | Number, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """1 where self == val, else 0."""
        return self._into(target, elementwise.equal(self._x, _operand(val)))

    def minimum(self, val: CUDAMatrix | Number, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """The smaller of self and val."""
        return self._into(target, elementwise.minimum(self._x, _operand(val)))

    def maximum(self, val: CUDAMatrix | Number, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """The larger of self and val."""
        return self._into(target, elementwise.maximum(self._x, _operand(val)))

    def sign(self, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """-1, 0 or 1."""
        return self._into(target or True, elementwise.sgn(self._x))

    def reciprocal(self, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """1 / self."""
        return self._into(target, elementwise.reciprocal(self._x))

    def apply_sigmoid(self, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """1 / (1 + e ** -self)."""
        return self._into(target, elementwise.sig(self._x))

    def apply_tanh(self, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """tanh(self)."""
        return self._into(target, elementwise.tanh(self._x))

    def apply_soft_threshold(self, alpha: Number, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """sign(self) * max(|self| - alpha, 0)."""
        return soft_threshold(self, alpha, target)

    # Older names, of numbers alone.
    assign_scalar = assign
    add_scalar = add
    mult_by_scalar = mult
    div_by_scalar = divide

    # --- reductions ---------------------------------------------------------------------------------------------------
    def sum(self, axis: int, target: CUDAMatrix | None = None, mult: Number = 1.0) -> CUDAMatrix:
        """mult times the sums along `axis`: 1 x columns for axis 0, rows x 1 for axis 1."""
        return self._into(target or True, reductions.sum(self._x, axis, keepdims=True) * mult)

    def mean(self, axis: int, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """The means along `axis`."""
        return self._into(target or True, reductions.mean(self._x, axis, keepdims=True))

    def max(self, axis: int, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """The largest along `axis`."""
        return self._into(target or True, reductions.max(self._x, axis, keepdims=True))

    def min(self, axis: int, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """The smallest along `axis`."""
        return self._into(target or True, reductions.min(self._x, axis, keepdims=True))

    def argmax(self, axis: int, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """Where the largest along `axis` stands."""
        return self._into(target or True, _core.cast(composed.argmax(self._x, axis, keepdims=True), "float32"))

    def argmin(self, axis: int, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """Where the smallest along `axis` stands."""
        return self._into(target or True, _core.cast(composed.argmin(self._x, axis, keepdims=True), "float32"))

    def add_sums(self, mat: CUDAMatrix, axis: int, mult: Number = 1.0, beta: Number = 1.0) -> CUDAMatrix:
        """self = beta * self + mult * sums of `mat` along `axis`."""
        return self._into(None, self._x * beta + reductions.sum(mat._x, axis, keepdims=True) * mult)

    def euclid_norm(self) -> float:
        """The square root of the sum of squares."""
        return float(elementwise.sqrt(reductions.sum(elementwise.square(self._x))))

    def manhattan_norm(self) -> float:
        """The sum of the absolute values."""
        return float(reductions.sum(elementwise.absolute(self._x)))

    def allfinite(self) -> bool:
        """Whether no element is infinite or NaN."""
        return bool(float(reductions.min(elementwise.finite(self._x))))

    # --- products -----------------------------------------------------------------------------------------------------
    def dot(self, mat2: CUDAMatrix, target: CUDAMatrix | None = None) -> CUDAMatrix:
        """The matrix product self @ mat2."""
        return dot(self, mat2, target)

    def add_dot(self, m1: CUDAMatrix, m2: CUDAMatrix, mult: Number = 1.0, beta: Number = 1.0) -> CUDAMatrix:
        """self = beta * self + mult * (m1 @ m2)."""
        return dot(m1, m2, self, beta, mult)

    def subtract_dot(self, m1: CUDAMatrix, m2: CUDAMatrix, mult: Number = 1.0, beta: Number = 1.0) -> CUDAMatrix:
        """self = beta * self - mult * (m1 @ m2)."""
        return dot(m1, m2, self, beta, -mult)


class TransposedCUDAMatrix(CUDAMatrix):
    """A matrix's transpose, over the same memory."""

    def __init__(self, mat: CUDAMatrix) -> None:
        self._x, self.mat = mat._x.T, mat


def empty(shape: Sequence[int]) -> CUDAMatrix:
    """An undefined matrix of (rows, columns)."""
    rows, columns = shape
    return CUDAMatrix._of(_stored(rows, columns))


def dot(
    m1: CUDAMatrix, m2: CUDAMatrix, target: CUDAMatrix | None = None, beta: Number = 0.0, alpha: Number = 1.0
) -> CUDAMatrix:
    """target = beta * target + alpha * (m1 @ m2); without `target` a new matrix, and beta is 0."""
    out = empty((m1.shape[0], m2.shape[1])) if target is None else target
    linalg.dot(m1._x, m2._x, out._x, float(alpha), float(beta) if target is not None else 0.0)
    return out


def correlate(mat: CUDAMatrix, kernel: CUDAMatrix, target: CUDAMatrix | None = None) -> CUDAMatrix:
    """At each element of `mat` the sum of the products of `kernel`, centred there, with what is below it; 0 outside.

    ValueError for a kernel whose sides are not odd.
    """
    rows, columns = kernel.shape
    if not rows % 2 or not columns % 2:
        raise ValueError(f"correlate: kernel is {rows} x {columns}; needs odd sides")
    height, width = mat.shape
    wide = creation.zeros((height + rows - 1, width + columns - 1))
    wide[rows // 2 : rows // 2 + height, columns // 2 : columns // 2 + width] = mat._x
    total = creation.zeros((height, width))
    for i in range(rows):
        for j in range(columns):
            total[...] = total + wide[i : i + height, j : j + width] * kernel._x[i, j]
    return mat._into(target or True, total)


def vdot(m1: CUDAMatrix, m2: CUDAMatrix) -> float:
    """The sum of the products of the elements."""
    return float(reductions.sum(m1._x * m2._x))


def sigmoid(mat: CUDAMatrix, target: CUDAMatrix | None = None) -> CUDAMatrix:
    """1 / (1 + e ** -mat)."""
    return mat._into(target, elementwise.sig(mat._x))


def tanh(mat: CUDAMatrix, target: CUDAMatrix | None = None) -> CUDAMatrix:
    """tanh(mat)."""
    return mat._into(target, elementwise.tanh(mat._x))


def abs(mat: CUDAMatrix, target: CUDAMatrix | None = None) -> CUDAMatrix:
    """|mat|."""
    return mat._into(target, elementwise.absolute(mat._x))


def log_1_plus_exp(mat: CUDAMatrix, target: CUDAMatrix | None = None) -> CUDAMatrix:
    """log(1 + e ** mat), without overflow."""
    x = mat._x
    tail = elementwise.log(1 + elementwise.exp(-elementwise.absolute(x)))
    return mat._into(target, elementwise.maximum(x, 0) + tail)


def log(mat: CUDAMatrix, target: CUDAMatrix | None = None) -> CUDAMatrix:
    """The natural logarithm."""
    return mat._into(target, elementwise.log(mat._x))


def exp(mat: CUDAMatrix, target: CUDAMatrix | None = None) -> CUDAMatrix:
    """e ** mat."""
    return mat._into(target, elementwise.exp(mat._x))


def soft_threshold(mat: CUDAMatrix, alpha: Number, target: CUDAMatrix | None = None) -> CUDAMatrix:
    """sign(mat) * max(|mat| - alpha, 0)."""
    kept = elementwise.maximum(elementwise.absolute(mat._x) - float(alpha), 0)
    return mat._into(target, elementwise.sgn(mat._x) * kept)


def _log_gamma(x: GPUTensor) -> tuple[GPUTensor, GPUTensor]:
    """(log |gamma(x)|, sin(pi x)) as float64: Lanczos' series for g = 7, below 1/2 by the reflection."""
    series = (
        0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
        12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
    )  # fmt: skip
    wide = _core.cast(x, "float64")
    low = elementwise.less(wide, 0.5)
    z = elementwise.where(low, -wide, wide - 1)
    total = series[0] + 0 * z
    for i, c in enumerate(series[1:], 1):
        total = total + c / (z + i)
    t = z + 7.5
    log_gamma = 0.5 * math.log(2 * math.pi) + (z + 0.5) * elementwise.log(t) - t + elementwise.log(total)
    sine = elementwise.sin((wide - 2 * elementwise.floor(wide * 0.5)) * math.pi)
    whole = elementwise.logical_and(elementwise.equal(wide, elementwise.floor(wide)), elementwise.less_equal(wide, 0))
    pole = elementwise.where(whole, 0.0, elementwise.absolute(sine))
    return elementwise.where(low, math.log(math.pi) - elementwise.log(pole) - log_gamma, log_gamma), sine


def lgamma(mat: CUDAMatrix, target: CUDAMatrix | None = None) -> CUDAMatrix:
    """log |gamma(mat)|."""
    return mat._into(target, _core.cast(_log_gamma(mat._x)[0], "float32"))


def gamma(mat: CUDAMatrix, target: CUDAMatrix | None = None) -> CUDAMatrix:
    """The gamma function; infinite at 0, -1, -2, ..."""
    size, sine = _log_gamma(mat._x)
    sign = elementwise.where(elementwise.logical_and(elementwise.less(mat._x, 0), elementwise.less(sine, 0)), -1.0, 1.0)
    return mat._into(target, _core.cast(elementwise.exp(size) * sign, "float32"))


def sqrt(mat: CUDAMatrix, target: CUDAMatrix | None = None) -> CUDAMatrix:
    """The square root."""
    return mat._into(target, elementwise.sqrt(mat._x))


def pow(mat: CUDAMatrix, p: CUDAMatrix | Number, target: CUDAMatrix | None = None) -> CUDAMatrix:
    """mat ** p, element by element."""
    return mat._into(target, mat._x ** _operand(p))


def softmax(mat: CUDAMatrix, target: CUDAMatrix | None = None) -> CUDAMatrix:
    """e ** mat over the sum of its column."""
    return mat._into(target, reductions.softmax(mat._x, 0))


def where(
    condition_mat: CUDAMatrix, if_mat: CUDAMatrix | Number, else_mat: CUDAMatrix | Number,
    target: CUDAMatrix | None = None,
) -> CUDAMatrix:  # fmt: skip
    """if_mat where the condition is not 0, else else_mat."""
    chosen = elementwise.where(elementwise.not_equal(condition_mat._x, 0), _operand(if_mat), _operand(else_mat))
    return condition_mat._into(target, chosen)


def sum(mat: CUDAMatrix, axis: int, target: CUDAMatrix | None = None, mult: Number = 1.0) -> CUDAMatrix:
    """mat.sum(axis, target, mult)."""
    return mat.sum(axis, target, mult)


def mean(mat: CUDAMatrix, axis: int, target: CUDAMatrix | None = None) -> CUDAMatrix:
    """mat.mean(axis, target)."""
    return mat.mean(axis, target)


def init(*ignored: object) -> None:
    """Open the device."""
    _core.device()


def shutdown() -> None:
    """Wait for all work; matrices stay usable."""
    _core.synchronize()


def cuda_sync_threads() -> None:
    """Wait for all work."""
    _core.synchronize()


def cuda_set_device(dev_id: int) -> None:
    """The device, whose number is 0. ValueError for others."""
    if dev_id != 0:
        raise ValueError(f"cuda_set_device: dev_id is {dev_id}; needs 0 (CUDA_VISIBLE_DEVICES chooses the GPU)")


def reformat(array: npt.ArrayLike, copy: bool = True) -> npt.NDArray[np.float32]:
    """The array as float32 by columns, as matrices lie."""
    return np.array(array, np.float32, order="F") if copy else np.asarray(array, np.float32, order="F")


CUDAMatException = _core.Error
cublas_init = init
cublas_shutdown = shutdown
