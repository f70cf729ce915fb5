"""Whatever a public function is called with: it works, or one of our errors says what is wrong with which argument."""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import _core

# These take functions, programs, files or addresses of anything, or set what other tests rely on.
LEFT_OUT = {"wrap", "benchmark", "check_finite", "track_memory", "autotune", "load", "assemble", "disassemble"}
LEFT_OUT |= {"set_kernel_cache"}
LEFT_OUT |= {"dump", "tofile"}  # they write files of any name
LEFT_OUT |= {
    "SassModule",
    "SourceModule",
    "Module",
    "CompileError",
    "AssembleError",
    "CheckError",
    "DeviceLost",
    "Error",
}
LEFT_OUT |= {"Kernel", "Benchmark", "Image", "Surface", "Texture", "TensorMap", "from_handle"}
LEFT_OUT |= {"ndarray", *ng.dtypes.NAMES}  # classes, and NumPy's own
BUDGET = 1 << 20  # elements: what works must not take long


# What they hand on to, or are another name of.
SHARED = {"Network.backward": ["y"], "layers.Layer": ["partitions", "layer", "config"], "Graph": ["body", "stream"]}


class Odd:
    """Of no type that anything takes."""


def values() -> list[Any]:
    huge = [2**40, -(2**31) - 1, 2**63, -(2**63) - 1, 2**64, 10**400]
    floats = [1.5, -1.0, float("nan"), float("inf"), 1e300, np.float32(2.5)]
    texts = ["", "no", "nhwc", "same", "sum", "float32", "complex64", b"no", "\ud800"]
    ints = [0, 1, -1, 3, 7, True, np.int64(2), np.uint8(200)]
    lists = [[], [1, 2], (2, 2), (-1,), [1.5], ["a"], (1, (2, 3)), {}, {"a": 1}, {1}, [None], range(3)]
    arrays = [np.ones((2, 3)), np.ones(3, np.complex64), np.array(["a"]), np.array([None]), [[1, 2], [3]]]
    tensors = [
        ng.ones((2, 3)),
        ng.zeros((), "int32"),
        ng.ones((1, 4, 4, 2), "float16"),
        ng.ones((2, 2)) + 1,
        ng.zeros(0),
    ]
    others = [None, ..., slice(None), Odd(), Odd, 1j, print, object(), np.dtype("f4"), np.float32, ng.Stream()]
    return [*huge, *floats, *texts, *ints, *lists, *arrays, *tensors, *others]


def callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in ng.__all__:
        member = getattr(ng, name)
        if name not in LEFT_OUT and callable(member):
            yield name, member
    for module in (ng.nn, ng.layers):
        for name, member in vars(module).items():
            if not name.startswith("_") and callable(member) and getattr(member, "__module__", "") == module.__name__:
                yield f"{module.__name__.rpartition('.')[2]}.{name}", member
    for module in (ng.linalg, ng.fft):
        for name in module.__all__:
            if not isinstance(getattr(module, name), type):
                yield f"{module.__name__.rpartition('.')[2]}.{name}", getattr(module, name)
    x = ng.ones((2, 3))
    net = ng.Network([ng.layers.Full(2), ng.layers.Softmax()], input_shape=(3,))
    event = ng.Event()
    event.record()
    for owner in (x, x + 1, net, event, ng.NervanaGPU()):
        for name in dir(type(owner)):
            if (not name.startswith("_") or name in ("__getitem__", "__setitem__")) and name not in LEFT_OUT:
                member = getattr(type(owner), name)
                if callable(member) and name not in ("save", "load_parameters"):
                    yield f"{type(owner).__name__}.{name}", getattr(owner, name)


def names_of(name: str, function: Callable[..., Any]) -> list[str]:
    """What a message may name: the function, its arguments, the arguments that its kind have."""
    try:
        own = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        own = []
    doc = inspect.getdoc(function) or ""
    signature = re.match(r"\w+\((.*)\)", doc)
    own += re.findall(r"(\w+): ", signature[1]) if signature else []
    # "operand", "index", "key", "value" are what operators and subscripts call theirs.
    kinds = ["operand", "operands", "number", "value", "index", "axis", "axes", "shape", "shapes", "dtype", "truth"]
    return [
        *(part.strip("_") for part in name.split(".")),
        getattr(function, "__name__", ""),
        *own,
        *kinds,
        *SHARED.get(name, []),
    ]


def arguments(function: Callable[..., Any], pool: list[Any], rng: random.Random) -> tuple[list[Any], dict[str, Any]]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    most = len(parameters) or 4
    positional = [rng.choice(pool) for _ in range(rng.randint(0, min(most, 4)))]
    keywords = [p.name for p in parameters[len(positional) :] if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    named = {name: rng.choice(pool) for name in rng.sample(keywords, min(len(keywords), rng.randint(0, 2)))}
    if rng.random() < 0.02:
        named["no_such"] = 1
    return positional, named


KINDS = (TypeError, ValueError, OverflowError, IndexError, BufferError, MemoryError, ng.Error)
DUMP = re.compile(r"incompatible (function|constructor)|The following argument types|Invoked with|C\+\+ type|pybind")


def judged(name: str, function: Callable[..., Any], positional: list[Any], named: dict[str, Any]) -> str | None:
    """What is wrong with how the call was refused; None: nothing, or it was not."""
    try:
        function(*positional, **named)
    except KINDS as error:
        text = str(error)
        if DUMP.search(text):
            return f"a list of signatures: {text[:300]}"
        if not isinstance(error, MemoryError) and not any(
            re.search(rf"\b_?{re.escape(n)}\b", text) for n in names_of(name, function)
        ):
            return f"{type(error).__name__} names nothing: {text[:300]}"
        if len(text) > 1500:
            return f"a message of {len(text)} letters: {text[:300]}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    return None


ALL = dict(callables())


@pytest.mark.parametrize("name", list(ALL))
def test_refusals(name: str) -> None:
    rng = random.Random(name)
    pool = values()
    wrong = []
    for _ in range(25):
        positional, named = arguments(ALL[name], pool, rng)
        found = judged(name, ALL[name], positional, named)
        if found is not None:
            wrong.append(f"{name}(*{[type(v).__name__ for v in positional]}, **{list(named)}): {found}")
    assert not wrong, "\n".join(wrong)


def bound() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every function of the compiled module, and every one of its classes and their members."""
    for name, member in vars(_core).items():
        if not isinstance(member, type):
            if callable(member) and name not in ("set_result_check", "set_operation_check"):  # called with every result
                yield name, member
            continue
        if member.__module__ not in ("nervanagpu", "nervanagpu._core"):
            continue
        yield name, member
        for own, inner in vars(member).items():
            if isinstance(inner, property):
                for accessor in (inner.fget, inner.fset):
                    if accessor is not None:
                        yield f"{name}.{own}", accessor
            elif type(inner).__name__ == "instancemethod" and not own.startswith("_pybind11"):
                yield f"{name}.{own}", getattr(member, own)


@pytest.mark.parametrize(("name", "function"), list(bound()), ids=lambda v: v if isinstance(v, str) else "")
def test_no_bound_function_lists_signatures(name: str, function: Callable[..., Any]) -> None:
    seen = 0
    for args in ((Odd(),), (Odd(),) * 40, ("x", Odd(), 1.5), ()):
        for named in ({}, {"no_such_argument": Odd()}):
            try:
                if not args and not named:
                    continue  # that may work
                function(*args, **named)
            except Exception as error:
                assert not DUMP.search(str(error)), f"{name}: {error}"
                seen += 1
    assert seen or name.rpartition(".")[2] in WELCOME, f"{name} takes everything"


WELCOME = {"plain_dot", "__matmul__"}  # NotImplemented

NET = ng.Network([ng.layers.Full(2), ng.layers.Softmax()], input_shape=(3,))
X, Y = np.ones((4, 3), np.float32), np.zeros(4, np.int32)
A = ng.ones((2, 3))
IMAGE, FILTER = ng.ones((1, 4, 4, 1)), ng.ones((1, 3, 3, 1))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: NET.fit(X, Y, epochs=1.5), TypeError, "fit: epochs is 1.5; needs an integer"),
        (lambda: NET.fit(X, Y, batch="8"), TypeError, "fit: batch is '8'; needs an integer"),
        (lambda: NET.fit(X, Y, lr="fast"), TypeError, "fit: lr is 'fast'; needs a number"),
        (lambda: NET.predict(X, batch=2.5), TypeError, "predict: batch is 2.5; needs an integer"),
        (
            lambda: ng.Network([ng.layers.Full(2)], (3,), seed=-1),
            ValueError,
            "Network: seed is -1; needs 0 to 18446744073709551615",
        ),
        (
            lambda: ng.Network([ng.layers.Full(2)], (3,), bits=1 << 40),
            ValueError,
            "Network: bits is 1099511627776; needs",
        ),
        (lambda: ng.sum(A, "0"), TypeError, "sum: axis is '0'; needs an integer or a sequence of integers"),
        (lambda: ng.sum(A, [0.5]), TypeError, r"sum: axis\[0\] is 0.5; needs an integer"),
        (lambda: ng.sum(A, keepdims="no"), TypeError, "sum: keepdims is 'no'; needs True or False"),
        (lambda: ng.argmax(A, axis=(0, 1)), TypeError, r"argmax: axis is \(0, 1\); needs an integer"),
        (lambda: A.fill(1, copy=False), TypeError, "fill: copy is no argument; needs value"),
        (lambda: A.astype(copy=True), TypeError, r"GPUTensor.astype\(\) missing .*'dtype'"),
        (lambda: A.get(1, 2, 3, 4, 5), TypeError, r"get: takes 4 arguments \(stream, order, out, blocking\); 5 came"),
        (lambda: ng.Event().ms_since(3), TypeError, "ms_since: start is 3; needs Event"),
        (lambda: ng.Event().ms_since(), TypeError, "ms_since: start is missing"),
        (lambda: ng.zeros(3, 4), TypeError, r"dtype is 4; needs .*shape of several lengths is one arg"),
        (lambda: ng.full((2,), "x"), TypeError, "value is str; needs a number"),
        (lambda: ng.percentile(A, 1j), TypeError, "percentile: q is complex; needs a number or numbers"),
        (lambda: ng.exp(A, out=3), TypeError, "exp: out is 3; needs GPUTensor"),
        (lambda: ng.conv2d(IMAGE, FILTER, padding="same"), TypeError, "conv2d: padding is 'same'; needs an integer or"),
        (lambda: ng.conv2d(IMAGE, FILTER, layout="nhwc"), ValueError, 'layout is "nhwc"; needs NWC, NHWC'),
        (lambda: ng.conv2d(IMAGE, FILTER, groups=1.5), TypeError, "conv2d: groups is 1.5; needs an integer"),
        # None is also what bias, out and others are when they are left out.
        (lambda: ng.conv2d(IMAGE, FILTER, groups=None), TypeError, "conv2d: groups is None; needs an integer"),
        (lambda: ng.conv2d(IMAGE, FILTER, layout=None), TypeError, "conv2d: layout is None; needs a str"),
        (lambda: ng.arange(2**70), ValueError, "arange: 1180591620717411303424 numbers from 0; needs fewer than 2.63"),
        (lambda: ng.arange(0, 1e19, 0.5), ValueError, "arange: 20000000000000000000 numbers from 0; needs fewer"),
        (lambda: ng.conv2d(IMAGE, FILTER, seed=-1), ValueError, "conv2d: seed is -1; needs 0 to"),
        (lambda: ng.layers.Conv(3, 2.7), TypeError, "Conv: window is 2.7; needs an integer"),
        (lambda: ng.layers.Conv(3.5, 2), TypeError, "Conv: channels is 3.5; needs an integer"),
        (lambda: ng.layers.Conv(3, (2, 2.5)), TypeError, r"Conv: window\[1\] is 2.5; needs an integer"),
        (lambda: ng.layers.Conv(3, 2, relu=1), TypeError, "Conv: relu is 1; needs True or False"),
        (lambda: ng.layers.Deconv(3, 2, output_padding=0.5), TypeError, "Deconv: output_padding is 0.5; needs"),
        (lambda: ng.layers.Pool(2, stride=1.5), TypeError, "Pool: stride is 1.5; needs an integer"),
        (lambda: ng.layers.Pool(2, op="mean"), ValueError, "Pool: op is 'mean'; needs max, avg or l2"),
        (lambda: ng.layers.Full(2.0), TypeError, "Full: outputs is 2.0; needs an integer"),
        (lambda: ng.layers.Dropout("half"), TypeError, "Dropout: rate is 'half'; needs a number"),
        (lambda: ng.layers.Dropout(float("nan")), ValueError, "Dropout: rate is nan; needs a finite number"),
        (lambda: ng.layers.Activation("relu6"), ValueError, "Activation: f is 'relu6'; needs identity, relu"),
        (lambda: ng.layers.Inception([3]), TypeError, r"Inception: branches\[0\] is 3; needs a sequence"),
        (lambda: ng.layers.Data((2, 2.5)), TypeError, r"Data: shape\[1\] is 2.5; needs an integer"),
    ],
)
def test_examples(call: Callable[[], object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_what_numpy_takes_is_taken() -> None:
    np.testing.assert_array_equal(ng.sum(A, np.int64(0)).get(), np.full(3, 2))
    np.testing.assert_array_equal(ng.argmax(A, np.int8(1)).get(), [0, 0])
    assert ng.randint(0, 10, [2, 2]).shape == ng.randint(np.int64(0), np.int64(10), (2, 2)).shape == (2, 2)
    assert NET.predict(X, batch=np.int32(2)).shape == (4, 2)
    assert ng.conv2d(IMAGE, FILTER, padding=np.array([1, 1]), stride=np.int64(2)).shape == (1, 2, 2, 1)
    assert ng.layers.Conv(np.int64(3), np.array([3, 3])).config()["window"] == [3, 3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ng.maximum(A, "x"), "maximum: b is str; needs a GPUTensor, a number, a list or a NumPy array"),
        (lambda: ng.where(A > 0, {}, A), "where: a is dict; needs a GPUTensor"),
        (lambda: ng.clip(A, 0, "x"), "clip: a_max is str; needs a GPUTensor"),
        (lambda: A.clip("x"), "clip: min is str; needs a GPUTensor"),
        (lambda: ng.sum("x"), "sum: x is 'x', with dtype <U1; needs float16, .* integer type of 8 to 64 bits"),
        (lambda: ng.mean(None), "mean: x is None, with dtype object; needs float16"),
        (lambda: ng.isin(A, ["x"]), r"isin: test_elements is \['x'\], with dtype <U1; needs float16"),
        (lambda: ng.interp(A, "x", [1]), "interp: xp is 'x', with dtype <U1; needs"),
        (lambda: ng.cov("x"), "cov: m is 'x', with dtype <U1; needs"),
        (lambda: ng.put(A, "x", 1), "put: ind is 'x', with dtype <U1; needs"),
    ],
)
def test_operands_are_called_as_the_function_calls_them(call: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


def test_numbers_outside_of_their_range_are_shown() -> None:
    with pytest.raises(ValueError, match="percentile: q has -3; needs 0 to 100"):
        ng.percentile(A, [50, -3])
    with pytest.raises(ValueError, match="quantile: q has nan; needs 0 to 1"):
        ng.quantile(A, float("nan"))
    with pytest.raises(ValueError, match="bincount: x has -2; needs integers of 0 or more"):
        ng.bincount([1, -2])
