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

# These take functions, programs, files or addresses of anything, or set what other tests rely on.
LEFT_OUT = {"wrap", "benchmark", "check_finite", "track_memory", "autotune", "load", "assemble", "disassemble"}
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
