"""What every public function returns: memory of its own, or a view, as NumPy's does.

What is written in place to a result or to its operand is not seen in the other, or is, whether they have been computed
by then or not.
"""

from __future__ import annotations

import copy
import operator
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import function_table
from source_tree import TESTS

Array = np.ndarray[Any, Any]
Call = Callable[[Any, Any], Any]  # of ng or np, and a (4, 6) array
DTYPES = ["float32", "float16", "float64", "int32", "int64", "uint8", "bool"]
KEYS = np.array([2, 0, 1])
NUMPY = {"rint": "around"}  # integers stay integers here


def unary(name: str) -> Call:
    return lambda m, x: getattr(m, name if m is ng else NUMPY.get(name, name))(x)


def binary(name: str) -> Call:
    return lambda m, x: getattr(m, name)(x, x)


def with_number(name: str, number: Any) -> Call:
    return lambda m, x: getattr(m, name)(x, number)


def ours(f: Callable[[Any], Any]) -> Call:
    """Of functions that NumPy does not have."""
    return lambda m, x: f(x) if m is ng else x.copy()


_UNARY = """
    absolute acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh cbrt ceil cos cosh deg2rad
    degrees exp exp2 expm1 fabs floor invert isfinite isinf isnan log log10 log1p log2 logical_not negative positive
    rad2deg radians reciprocal rint sign signbit sin sinh sqrt square tan tanh trunc all any argmax argmin cumsum
    flatnonzero max mean min std sum var nonzero
""".split()
_BINARY = """
    add arctan2 atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide divmod
    equal floor_divide fmax fmin fmod greater greater_equal hypot left_shift less less_equal logical_and logical_or
    logical_xor maximum minimum mod multiply not_equal power remainder right_shift subtract true_divide
""".split()
_OURS = "erf erfc finite gelu sgn sig sig2 silu softmax log_softmax logsumexp tanh2 layer_norm".split()

NEW: dict[str, Call] = {
    **{name: unary(name) for name in _UNARY},
    **{name: binary(name) for name in _BINARY},
    **{name: ours(getattr(ng, name)) for name in _OURS},
    "add 0": with_number("add", 0),
    "subtract 0": with_number("subtract", 0),
    "multiply 1": with_number("multiply", 1),
    "power 1": with_number("power", 1),
    "maximum 0": with_number("maximum", 0),
    "bitwise_or 0": with_number("bitwise_or", 0),
    "left_shift 0": with_number("left_shift", 0),
    "all ()": lambda m, x: m.all(x, axis=()),
    "any ()": lambda m, x: m.any(x, axis=()),
    "sum ()": lambda m, x: m.sum(x, axis=()),
    "max ()": lambda m, x: m.max(x, axis=()),
    "min ()": lambda m, x: m.min(x, axis=()),
    "mean ()": lambda m, x: m.mean(x, axis=()),
    "var ()": lambda m, x: m.var(x, axis=()),
    "std ()": lambda m, x: m.std(x, axis=()),
    "sum of one": lambda m, x: m.sum(x[:1], axis=0),
    "max of one": lambda m, x: m.max(x[:1], axis=0, keepdims=True),
    "mean of one": lambda m, x: m.mean(x[:1], axis=0),
    "argmax 1": lambda m, x: m.argmax(x, axis=1),
    "cumsum 0": lambda m, x: m.cumsum(x, axis=0),
    "cumsum of one": lambda m, x: m.cumsum(x[:1], axis=0),
    "where": lambda m, x: m.where(True, x, x),
    "clip": lambda m, x: m.clip(x, 0, 1),
    "clip None": lambda m, x: m.clip(x, None, None),
    "clip one": lambda m, x: m.clip(x, None, 1),
    "clip nothing": lambda m, x: m.clip(x, -1000, 100000) if x.dtype != "bool" else m.clip(x, 0, 1),
    "concatenate": lambda m, x: m.concatenate([x]),
    "stack": lambda m, x: m.stack([x]),
    "take": lambda m, x: m.take(x, KEYS, axis=0),
    "take all": lambda m, x: m.take(x, np.arange(4), axis=0),
    "array": lambda m, x: m.array(x),
    "array dtype": lambda m, x: m.array(x, dtype=x.dtype),
    "dot": lambda m, x: m.dot(x, x.T),
    "matmul": lambda m, x: m.matmul(x, x.T),
    "onehot": ours(lambda x: ng.onehot(x, 3)),
    "dropout": ours(lambda x: ng.dropout(x, 1.0)),
    "stochastic_round": ours(lambda x: ng.stochastic_round(x, x.dtype)),
    "batched_dot": ours(lambda x: ng.batched_dot(x[None], x.T[None])),
    "grouped_dot": ours(lambda x: ng.grouped_dot([(x, x.T)])),
    "compensated_sum": ours(lambda x: ng.compensated_sum(ng.zeros_like(x), ng.zeros_like(x), x)),
    "empty_like": lambda m, x: m.zeros_like(m.empty_like(x)),
    "zeros_like": lambda m, x: m.zeros_like(x),
    "pool": ours(lambda x: ng.max_pool1d(x[None].copy(), 1)),
    "avg_pool": ours(lambda x: ng.avg_pool1d(x[None].copy(), 1)),
    "nn.convert": ours(lambda x: ng.nn.convert(x, x.dtype)),
    "+": lambda m, x: +x,
    "-": lambda m, x: -x,
    "abs": lambda m, x: abs(x),
    "~": lambda m, x: ~x,
    "+ 0": lambda m, x: x + 0,
    "* 1": lambda m, x: x * 1,
    "| 0": lambda m, x: x | 0,
    "** 1": lambda m, x: x**1,
    "@": lambda m, x: x @ x.T,
    "astype": lambda m, x: x.astype(x.dtype),
    "astype of a sum": lambda m, x: (x + x).astype((x + x).dtype),
    "copy": lambda m, x: x.copy(),
    "copy.copy": lambda m, x: copy.copy(x),
    "copy.deepcopy": lambda m, x: copy.deepcopy(x),
    "pickle": lambda m, x: pickle.loads(pickle.dumps(x)),
    "by an array": lambda m, x: x[KEYS],
    "by all": lambda m, x: x[np.arange(4)],
    "by a mask": lambda m, x: x[np.ones((4, 6), bool)],
    "get": lambda m, x: x.get() if m is ng else x.copy(),
    **{f"np.{name}": (lambda m, x, name=name: getattr(np, name)(x)) for name in "positive floor sum".split()},
    "np.copy": lambda m, x: np.copy(x),
}
VIEWS: dict[str, Call] = {
    "from_dlpack": lambda m, x: m.from_dlpack(x),
    "all of it": lambda m, x: x[...],
    "slice": lambda m, x: x[1:, ::2],
    "one": lambda m, x: x[2],
    "None": lambda m, x: x[None],
    "reshape": lambda m, x: x.reshape(6, 4),
    "the same shape": lambda m, x: x.reshape(4, 6),
    "T": lambda m, x: x.T,
    "transpose": lambda m, x: x.transpose(1, 0),
    "np.transpose": lambda m, x: np.transpose(x),
    "np.reshape": lambda m, x: np.reshape(x, (2, 12)),
    "ravel": lambda m, x: m.ravel(x),
    "swapaxes": lambda m, x: x.swapaxes(0, 1),
    "moveaxis": lambda m, x: m.moveaxis(x, 0, 1),
    "squeeze": lambda m, x: m.squeeze(x[None]),
    "expand_dims": lambda m, x: m.expand_dims(x, 1),
    "flip": lambda m, x: m.flip(x, 0),
    "rot90": lambda m, x: m.rot90(x),
    "diagonal": lambda m, x: m.diagonal(x) if m is ng else x.reshape(-1)[:22:7],  # NumPy's is read-only
    "split": lambda m, x: m.split(x, 2),
    "atleast_3d": lambda m, x: m.atleast_3d(x),
    "view": lambda m, x: x.view(),
}
# The rest of the module: these make tensors of no other, are covered where their kernels are tested, or return none.
OTHERS = """
    fuse get_default_memory_pool get_default_pinned_memory_pool from_cuda_array from_dlpack
    add_at assemble autotune benchmark check_finite conv1d conv1d_bprop conv1d_update conv2d conv2d_bprop
    conv2d_update conv3d conv3d_bprop conv3d_update deconv1d deconv2d deconv3d device device_count disassemble doctor
    empty
    evaluate explain full image launch_count layers load memory_report memory_stats ones pinned rand randint randn
    set_kernel_cache release_cached_memory release_captured_memory seed surface synchronize tensor_map texture
    track_memory version
    wrap zeros nn max_pool_argmax conv2d_max_pool2d conv2d_max_pool2d_argmax conv2d_max_pool2d_is_one_kernel
    avg_pool1d avg_pool1d_bprop avg_pool2d avg_pool2d_bprop avg_pool3d avg_pool3d_bprop l2_pool1d
    l2_pool1d_bprop l2_pool2d l2_pool2d_bprop l2_pool3d l2_pool3d_bprop max_pool1d max_pool1d_bprop max_pool2d
    max_pool2d_bprop max_pool3d max_pool3d_bprop pool_bprop
""".split()
MEMBERS = """
    T asbuffer asnumpyarray astype backend allocator base contiguous copy copy_from dtype fill get gpudata is_trans
    kahan_count kahan_reset name nbytes ndim ptr reshape rounding set shape share size strides take_array transpose
    device element_strides flatten imag item itemsize mT real sort to to_device tobytes tolist view
    byteswap data dump dumps flags flat partition reduced_view scatter_add scatter_max scatter_min toDlpack tofile
    clip getfield put resize setfield setflags as_integer_ratio bit_count is_integer
""".split()


def test_every_function_is_here() -> None:
    """A new function needs a line in one of the tables, or in a test beside NumPy's."""
    functions = {n for n in ng.__all__ if callable(getattr(ng, n)) and not isinstance(getattr(ng, n), type)}
    beside = "names numpy_windows_bits_signals numpy_programs numpy_protocol_files sorting linalg fft exchange".split()
    tests = [file for name in beside for file in TESTS.glob(f"*/test_{name}.py")]
    assert len(tests) == len(beside)
    tests += (TESTS / "array_api").glob("*.py")
    named = set(re.findall(r"\w+", " ".join(t.read_text(encoding="utf-8") for t in tests)))
    aliases = {n for row in function_table.TABLE for n in row.names if set(row.names) & named}
    assert functions - set(NEW) - set(OTHERS) - aliases == set()
    members = {n for n in dir(ng.GPUTensor) if not n.startswith("_")}
    assert members - {m for row in function_table.TABLE for m in row.methods} == set(MEMBERS)


def operand(dtype: str) -> Array:
    a = np.arange(24).reshape(4, 6) % 5
    return (a % 2 == 0) if dtype == "bool" else a.astype(dtype)


def change(x: Any) -> None:
    """Every element, in place."""
    if str(x.dtype) == "bool":
        x ^= True
    else:
        x += 1


def results(made: Any) -> Iterator[Any]:
    yield from made if isinstance(made, tuple | list) else (made,)


def host(x: Any) -> Array:
    return np.array(x.get() if isinstance(x, ng.GPUTensor) else x)


def same(a: Array, b: Array) -> bool:
    return a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))


def shared(call: Call, a: Array) -> bool | None:
    """Whether NumPy's result has memory of its operand; None: NumPy refuses it."""
    x = a.copy()
    try:
        return any(np.shares_memory(r, x) for r in results(call(np, x)))
    except (TypeError, AttributeError):
        return None


REFUSED = (TypeError, ValueError)


def seen(call: Call, make: Callable[[], Any], computed: bool) -> tuple[bool, bool] | None:
    """Whether a change of the operand is seen in a result, and a change of a result in the operand."""
    x = make()
    try:
        made = list(results(call(ng, x)))
        before = [host(r) for r in results(call(ng, make()))]
    except REFUSED:
        return None
    if computed:
        for r in made:
            host(r)
    change(x)
    after = [host(r) for r in made]
    forth = not all(same(b, c) for b, c in zip(before, after, strict=True))
    x = make()
    kept = host(make())
    for r in results(call(ng, x)):
        if computed:
            host(r)
        if isinstance(r, ng.GPUTensor):
            change(r)
            host(r)
    return forth, not same(kept, host(x))


def forms(dtype: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    a = operand(dtype)
    yield "a tensor", lambda: ng.array(a)
    yield "an expression", lambda: ng.where(True, ng.array(a), ng.array(a))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*NEW, *VIEWS])
def test_memory(name: str) -> None:
    call = NEW.get(name) or VIEWS[name]
    view = name in VIEWS
    done = 0
    for dtype in DTYPES:
        numpy_shares = shared(call, operand(dtype))
        assert numpy_shares in (view, None), f"NumPy's {name} of {dtype}"
        for form, make in forms(dtype):
            for computed in (True, False):
                found = seen(call, make, computed)
                if found is None:
                    continue
                done += 1
                assert found == (view, view), f"{name} of {form} of {dtype}, computed before: {computed}"
    assert done, f"{name} takes no dtype"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [*DTYPES, "int8", "int16", "uint16", "uint32", "uint64"])
def test_reductions_over_no_axis(dtype: str) -> None:
    """The values and dtypes of NumPy's, widened sums among them."""
    a = operand(dtype)
    if a.dtype.kind == "f":
        a = np.concatenate([a, np.array([[-0.0, np.inf, -np.inf, np.nan, 1e-7, 6e4]], dtype)])
    for name in ("sum", "max", "min", "mean", "var", "std"):
        for ddof in (0, 1, 2) if name in ("var", "std") else (None,):
            how = {} if ddof is None else {"ddof": ddof}
            for axis in ((), (0,), (0, 1)):
                want = np.asarray(getattr(np, name)(a, axis=axis, **how))
                if axis and (a.dtype.kind == "f" or name in ("mean", "var", "std")):
                    continue  # of several elements: test_reductions.py
                got = getattr(ng, name)(ng.array(a), axis=axis, **how).get()
                assert got.dtype == want.dtype and same(got, want), f"{name} of {dtype} over {axis}: {got} {want}"
                assert same(np.signbit(got), np.signbit(want)) or want.dtype.kind != "f" or np.isnan(want).any()


def test_variance_of_too_few() -> None:
    """The divisor is 0 then, not below it."""
    a = np.array([1.5, 2, 5], np.float32)
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        for ddof in (3, 4, 7):
            np.testing.assert_array_equal(ng.var(ng.array(a), ddof=ddof).get(), np.var(a, ddof=ddof))


def test_positive() -> None:
    a = np.array([1, -2], np.int8)
    np.testing.assert_array_equal((+ng.array(a)).get(), operator.pos(a))
    with pytest.raises(TypeError, match="positive: operands are bool"):
        +ng.array(np.array([True]))
