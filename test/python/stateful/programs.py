"""Random programs: each statement is drawn with the arrays in sight, and kept if NumPy takes it and it is exact."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np
from libraries import DTYPES, EXACT, Array, Namespace, numpy_namespace

SHAPES: list[tuple[int, ...]] = [
    (),
    (1,),
    (4,),
    (7,),
    (3, 4),
    (4, 4),
    (4, 1),
    (1, 5),
    (2, 3, 4),
    (33,),
    (5, 70),
    (0, 3),
]
MOST = 9  # arrays in sight
INFIX = ["+", "-", "*", "//", "%", "&", "|", "^"]
COMPARE = ["==", "!=", "<", "<=", ">", ">="]
UNARY = ["-{}", "abs({})", "~{}", "+{}", "{} * {}"] + [
    f"xp.{name}({{}})" for name in ["logical_not", "sign", "floor", "ceil", "trunc", "isfinite"]
]
PAIRS = ["maximum", "minimum", "logical_and", "logical_or", "fmax"]
REDUCE = ["sum", "max", "min", "any", "all", "argmax", "argmin"]
AUGMENTED = [f"{op}=" for op in INFIX]


@lru_cache(maxsize=4096)
def compiled(text: str) -> CodeType:
    return compile(text, "statement", "exec")


def arrays(space: Namespace) -> dict[str, Any]:
    """The arrays in sight, and the numbers: NumPy's scalars, which have shapes and dtypes, too."""
    return {k: v for k, v in space.items() if k[0] == "v" and isinstance(v, np.ndarray | np.generic)}


def exact(a: Array) -> bool:
    """Whether a float array has nothing but whole numbers that its dtype has exactly, with all that lie between."""
    limit = EXACT.get(a.dtype.name)
    if limit is None or a.size == 0:
        return True
    wide = a.astype(np.float64)
    return bool(np.all(np.abs(wide) < limit) and np.all(wide == np.floor(wide)))


def run_on_numpy(space: Namespace, text: str) -> bool:
    """Whether NumPy takes the statement without rounding; if not, `space` is of no more use."""
    try:
        with np.errstate(all="raise"):
            exec(compiled(text), space)
    except (ArithmeticError, AttributeError, IndexError, NameError, TypeError, ValueError):
        return False
    for name, v in list(space.items()):
        if name[0] == "v" and isinstance(v, bool):
            space[name] = np.bool_(v)
        elif name[0] == "v" and isinstance(v, np.ndarray) and v.base is None and not v.flags.c_contiguous:
            space[name] = np.ascontiguousarray(v)  # new arrays are row-major here
    return all(exact(a) for a in arrays(space).values())


class Generator:
    """Draws statements; `space` is what NumPy has after `program`."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.program: list[str] = []
        self.space = numpy_namespace()
        self.next = 0

    def step(self) -> str:
        while True:
            text = self.statement()
            if run_on_numpy(self.space, text):
                self.program.append(text)
                self.next += text.startswith(f"v{self.next} =")
                return text
            self.space = numpy_namespace()
            for before in self.program:
                run_on_numpy(self.space, before)

    # What is in sight.

    def pick(self, *kinds: str) -> str:
        known = arrays(self.space)
        return self.rng.choice([k for k, v in known.items() if not kinds or v.dtype.name in kinds] or list(known))

    def value(self, name: str) -> Any:
        out = self.space[name]
        assert isinstance(out, np.ndarray | np.generic)
        return out

    def like(self, name: str) -> str:
        """One that broadcasts with this one."""
        shape = self.value(name).shape
        return self.rng.choice([k for k, v in arrays(self.space).items() if v.shape in (shape, (), (1,), shape[-1:])])

    def assignable(self, name: str) -> str:
        """One that converts to this one's dtype as assignments do, or a number."""
        to = self.value(name).dtype
        v = self.like(name)
        return v if np.can_cast(self.value(v).dtype, to, "same_kind") else self.assigned(name)

    # Parts of statements.

    def key(self, shape: tuple[int, ...], keeps_rank: bool = False) -> str:
        """A basic index of some of the axes."""
        parts = []
        for n in shape:
            low = self.rng.randint(0, max(n - 1, 0))
            forms = [":", ":", "::2", "::-1", f"{low}:", f":{low + 1}", f"{low}:{n}:2"]
            if n > 0 and len(shape) > 1 and not keeps_rank:
                forms += [str(low), str(low - n)]
            parts.append(self.rng.choice(forms))
        if not keeps_rank and self.rng.random() < 0.1:
            parts.insert(self.rng.randint(0, len(parts)), "None")
        if self.rng.random() < 0.2:
            parts = [*parts[: self.rng.randint(0, len(parts))], "..."]
        if all(p.lstrip("-").isdigit() for p in parts):
            parts.append("...")  # without it NumPy copies the element
        return ", ".join(parts) or "..."

    def seed(self) -> int:
        return self.rng.randint(0, 999)

    def array(self) -> str:
        return f"array({self.seed()}, {self.rng.choice(SHAPES)}, {self.rng.choice(DTYPES)!r})"

    def host(self, like: str) -> str:
        v = self.value(like)
        return f"host({self.seed()}, {v.shape}, {v.dtype.name!r})"

    def number(self) -> str:
        return self.rng.choice(["-3", "-2", "-1", "0", "1", "2", "3", "5", "True"])

    def assigned(self, to: str) -> str:
        """A number that converts to this one's dtype as assignments do."""
        return "True" if self.value(to).dtype.kind == "b" else self.number()

    def operand(self, beside: str) -> str:
        draw = self.rng.random()
        return self.number() if draw < 0.3 else self.host(beside) if draw < 0.36 else self.like(beside)

    def rows(self, n: int, distinct: bool) -> str:
        """Indices of an axis of n."""
        count = self.rng.randint(1, n)
        chosen = self.rng.sample(range(n), count) if distinct else [self.rng.randrange(n) for _ in range(count)]
        text = str([i - n if self.rng.random() < 0.2 else i for i in chosen])
        return f"index({text})" if self.rng.random() < 0.5 else text

    def axis(self, a: Array) -> str:
        return "None" if a.ndim == 0 or self.rng.random() < 0.3 else str(self.rng.randint(-a.ndim, a.ndim - 1))

    def sums(self, v: str) -> bool:
        """Whether every sum of its elements is exact."""
        a = self.value(v)
        limit = EXACT.get(a.dtype.name)
        return limit is None or float(np.abs(a.astype(np.float64)).sum()) < limit

    # One operation; those that follow each other become one kernel.

    def expression(self) -> str:
        v = self.pick()
        a = self.value(v)
        make: list[tuple[int, Callable[[], str]]] = [
            (10, lambda: f"{v} {self.rng.choice(INFIX)} {self.operand(v)}"),
            (3, lambda: f"{self.number()} {self.rng.choice(INFIX)} {v}"),
            (3, lambda: f"{v} {self.rng.choice(COMPARE)} {self.operand(v)}"),
            (3, lambda: self.rng.choice(UNARY).format(v, v)),
            (2, lambda: f"xp.{self.rng.choice(PAIRS)}({v}, {self.operand(v)})"),
            (2, lambda: f"where({self.pick('bool')}, {v}, {self.like(v)})"),
            (2, lambda: f"astype({v}, {self.rng.choice(DTYPES)!r})"),
            (3, lambda: self.reduction(v)),
            (1, lambda: f"xp.concatenate([{v}, {self.like(v)}])"),
            (1, lambda: f"xp.stack([{v}, {self.like(v)}])"),
            (1, lambda: f"dice({self.rng.choice(SHAPES)}, {self.seed()})"),
            (3, self.product),
        ]
        if a.dtype.name not in ("bool", "bfloat16"):  # where NumPy's clip has another dtype, or none
            make.append((1, lambda: f"xp.clip({v}, 0, 3)"))
        if a.ndim and a.size:
            make.append((2, lambda: f"{v}[{self.rows(a.shape[0], False)}]"))
            make.append((1, lambda: f"{v}[{v} > {self.number()}]"))
            if self.sums(v):
                make.append((1, lambda: f"xp.cumsum({v}, axis={self.rng.randint(-a.ndim, a.ndim - 1)})"))
        return self.rng.choices([m for _, m in make], [w for w, _ in make])[0]()

    def reduction(self, v: str) -> str:
        name = self.rng.choice(REDUCE if self.sums(v) else REDUCE[1:])
        axis = self.axis(self.value(v))
        keep = self.rng.choice(["", ", keepdims=True"]) if axis != "None" else ""
        return f"xp.{name}({v}, axis={axis}{keep})"

    def product(self) -> str:
        """Of matrices, with what may become its epilogue."""
        kind = self.rng.choice(["float32", "float32", "float16", "bfloat16"])
        fits = [k for k, v in arrays(self.space).items() if v.dtype.name == kind and v.ndim == 2 and self.sums(k)]
        if not fits:
            return f"array({self.seed()}, {self.rng.choice([(4, 4), (3, 4), (5, 4)])}, {kind!r})"
        a, b = self.rng.choice(fits), self.rng.choice(fits)
        x, y = (np.abs(self.value(v).astype(np.float64)) for v in (a, b))
        if float(x.sum()) * max(float(y.max(initial=0)), 1) * 2 >= EXACT[kind]:
            return f"{a}.T"
        forms = ["{} @ {}", "{} @ {}.T", "linear({}, {}, {})", "xp.maximum({} @ {}.T, 0)"]
        if kind == "bfloat16":
            forms = ["bfloat16_product({}, {})", "bfloat16_product({}, {}.T)"]
        return self.rng.choice(forms).format(a, b, self.pick(kind))

    def view(self) -> str:
        v = self.pick()
        a = self.value(v)
        forms = [f"{v}[{self.key(a.shape)}]"] * 3 + [f"{v}.T"]
        if a.flags.c_contiguous and a.size > 0:
            forms += [f"{v}.reshape({shape})" for shape in ((a.size,), (1, *a.shape), (*a.shape, 1))]
        return self.rng.choice(forms)

    def body(self) -> str:
        """Statements in place, as the elements of a tuple."""
        calls, known = [], arrays(self.space)
        for _ in range(self.rng.randint(1, 3)):
            v = self.pick()
            form = self.rng.choice(["iadd({0}, {1})", "isub({0}, {1})", "assign({0}, ..., {1} + {1})"])
            other = self.assignable(v)
            if other not in known:  # a number written to a tensor is a copy from the host, which no graph records
                form = "iadd({0}, {1})"
            place = v if self.value(v).ndim else f"{v}[...]"  # in place, numbers have their own way
            calls.append(form.format(place, other))
        return ", ".join(calls)

    def statement(self) -> str:
        known = arrays(self.space)
        if len(known) < 3:
            return f"v{self.next} = {self.array()}"
        if len(known) > MOST:
            return f"del {self.pick()}"
        v = self.pick()
        a = self.value(v)
        target = f"v{self.next}" if self.rng.random() < 0.7 else v
        place = f"{v}[{self.key(a.shape, True)}]" if self.rng.random() < 0.4 or not a.ndim else v
        make: list[tuple[int, Callable[[], str]]] = [
            (14, lambda: f"{target} = {self.expression()}"),
            (4, lambda: f"{target} = {self.view()}"),
            (1, lambda: f"{target} = {self.pick()}"),
            (2, lambda: f"{target} = {self.array()}"),
            (8, lambda: f"{place} {self.rng.choice(AUGMENTED)} {self.assignable(v)}"),
            (4, lambda: f"{v}[{self.key(a.shape)}] = {self.assignable(v)}"),
            (1, lambda: f"{v}[{v} > {self.number()}] = {self.assigned(v)}"),
            (isinstance(a, np.ndarray), lambda: f"fill({v}, {self.assigned(v)})"),
            (1, lambda: f"put({v}, {self.host(v)})"),
            (1, lambda: f"evaluate({self.pick()}, {self.pick()})"),
            (3, lambda: f"read({self.pick()})"),
            (1, lambda: "synchronize()"),
            (2, lambda: f"del {v}"),
            (1, lambda: f"launch(graph(lambda: ({self.body()},)), {self.rng.randint(1, 3)})"),
        ]
        if a.ndim and a.size:
            rows = self.rows(a.shape[0], True)
            make.append((2, lambda: f"{v}[{rows}] = {self.assigned(v)}"))
            make.append((1, lambda: f"{v}[{rows}] = xp.{self.rng.choice(['max', 'min'])}({v}, axis=0)"))
            make.append((1, lambda: f"{v}[{rows}] += 1"))
            make.append((1, lambda: f"add_at({v}, {self.rows(a.shape[0], False)}, 1)"))
        return self.rng.choices([m for _, m in make], [w for w, _ in make])[0]()


def program_of(seed: int, length: int) -> list[str]:
    """The same for the same seed and length."""
    g = Generator(seed)
    for _ in range(length):
        g.step()
    return g.program


def differs(got: Any, want: Array) -> str | None:
    """What tells ours from NumPy's, or None: they have one shape, dtype and elements."""
    have = np.asarray(got)
    if have.dtype != want.dtype or have.shape != want.shape:
        return f"{have.dtype} {have.shape}, needs {want.dtype} {want.shape}"
    if bool(np.all(have == want)):
        return None
    return f"{have.tolist()}, needs {want.tolist()}"
