"""errstate, seterr and seterrcall: what NumPy reports of arrays, of tensors."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import nervanagpu as ng
import nervanagpu.cupy as cp
import numpy as np
import pytest
from nervanagpu import _core

FACTS: dict[str, Any] = {
    "X": [1.0, 0.0, -1.0],
    "Z": [0.0, 0.0, 0.0],
    "I": [1, 2, 0],
    "E": [np.inf, np.nan, 1.0],
    "H": [1e308, 1.0, 1e-300],
}
PROGRAMS = """
    X / Z
    1 / Z
    Z / Z
    X[0] / Z[0]
    X // Z
    X // 0.0
    X % 0.0
    I // I
    5 % I
    X / 2
    E + 1
    E - E
    E * 0
    H * H
    H + H
    Z ** -1.0
    divmod(I, I)
    xp.divide(X, Z)
    xp.true_divide(X, Z)
    xp.floor_divide(X, Z)
    xp.fmod(X, Z)
    xp.remainder(X, Z)
    xp.log(X)
    xp.log(X[:2])
    xp.log2(-X)
    xp.log10(Z)
    xp.log1p(-X)
    xp.arctanh(X)
    xp.arccos(2 * X)
    xp.sqrt(X)
    xp.sqrt(X.astype('float32'))
    xp.sin(E)
    xp.exp(X * 1000)
    xp.expm1(X * 1000)
    xp.cosh(X * 1000)
    xp.square(H)
    xp.hypot(H, H)
    xp.reciprocal(X)
    xp.power(X, -1)
    xp.float_power(X, -1)
    xp.ldexp(X, 5000)
    xp.logaddexp(X - xp.inf, X - xp.inf)
    xp.maximum(X, E)
    xp.isnan(E / E)
    xp.sqrt(xp.abs(X))
    xp.add(H, H, out=xp.zeros(3))
    xp.divide(X, X, out=xp.zeros(3), where=X != 0)
    xp.divide(X, X, out=xp.zeros(3), where=X <= 0)
    xp.where(X > 0, 1.0, 0.0)
    xp.linalg.norm(X)
    xp.var(X)
    xp.mean(X)
    xp.nan_to_num(E)
"""
LINES = [line.strip() for line in PROGRAMS.strip().splitlines()]


def reports(program: str, xp: Any) -> set[tuple[str, str]]:
    """What the function of mode "call" is told, by the program's only name in NumPy."""
    names = {name: xp.array(value) for name, value in FACTS.items()} | {"xp": xp}
    with warnings.catch_warnings(record=True) as seen, xp.errstate(all="warn", under="ignore"):
        warnings.simplefilter("always")
        eval(program, names)
    return {str(w.message).partition(" encountered in ")[::2] for w in seen if w.category is RuntimeWarning}


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    assert set(ng.geterr().values()) == {"ignore"} and ng.geterrcall() is None


@pytest.mark.parametrize("program", LINES)
def test_reported_as_by_numpy(program: str) -> None:
    theirs = reports(program, np)
    if program.startswith("divmod"):  # two operations here
        theirs = {(kind, name) for kind, _ in theirs for name in ("floor_divide", "remainder")}
    assert reports(program, cp) == theirs


def raised(call: Callable[[], Any]) -> str:
    with pytest.raises(FloatingPointError) as error:
        call()
    return str(error.value)


def test_nothing_is_looked_at_unless_asked_for() -> None:
    x = ng.zeros(3)
    before = ng.launch_count()
    y = 1 / x
    with ng.errstate(all="ignore"), ng.errstate(under="raise"):
        z = ng.log(x) + y
    assert ng.launch_count() == before
    assert z.shape == (3,)


def test_raised_where_the_statement_stands() -> None:
    x = ng.zeros(3)
    with ng.errstate(divide="raise"):
        assert raised(lambda: 1 / x) == "divide by zero encountered in divide"
        with ng.errstate(divide="ignore"):
            assert np.isinf((1 / x).get()).all()
        assert raised(lambda: ng.log(x)) == "divide by zero encountered in log"
        assert np.isnan((x / x).get()).all()  # invalid, which is ignored
        assert raised(lambda: np.log(x)) == "divide by zero encountered in log"  # NumPy's function of a tensor
    assert np.isinf(ng.log(x).get()).all()


def test_in_place_nothing_is_written() -> None:
    x, y = ng.array([1.0, 2.0]), ng.array([0.0, 1.0])
    with ng.errstate(divide="raise"), pytest.raises(FloatingPointError):
        x /= y
    assert x.tolist() == [1, 2]


def test_warnings_name_the_line() -> None:
    x = ng.zeros(3)
    with ng.errstate(invalid="warn"), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        x / x
        ng.sqrt(x - 1)
        ng.sqrt(x - 1, where=x < 1, out=ng.zeros(3))
    assert [w.filename for w in seen] == [__file__] * 3
    assert len({w.lineno for w in seen}) == 3


def test_called_printed_written(capsys: pytest.CaptureFixture[str]) -> None:
    class Log:
        text = ""

        def write(self, text: str) -> None:
            self.text += text

    calls, log, x = [], Log(), ng.zeros(2)
    before = ng.seterrcall(lambda *of: calls.append(of))
    old = ng.seterr(all="call")
    1 / x, x / x, ng.exp(x + 1000)
    assert ng.seterr(**old)["divide"] == "call" and set(old.values()) == {"ignore"}
    assert calls == [("divide by zero", 1), ("invalid value", 8), ("overflow", 2)]
    with ng.errstate(divide="call"):
        ng.array([1.0, 0.0]) / 0  # NumPy has the flags of all errors in each call
    assert calls[3:] == [("divide by zero", 9)]
    ng.seterrcall(before)
    with ng.errstate(call=log, all="log"):
        assert ng.geterrcall() is log
        1 / x
    with ng.errstate(all="print"):
        1 / x
    assert log.text == capsys.readouterr().err == "Warning: divide by zero encountered in divide\n"
    with ng.errstate(all="call"), pytest.raises(NameError, match="needs one, by seterrcall"):
        1 / x


def test_a_decorator_and_other_threads() -> None:
    x, told = ng.zeros(2), []

    @ng.errstate(invalid="raise")
    def ratio() -> Any:
        other = threading.Thread(target=lambda: told.append((x / x).tolist()))
        other.start()
        other.join()
        return x / x

    for _ in range(2):
        assert raised(ratio) == "invalid value encountered in divide"
    assert np.isnan(told).all() and len(told) == 2


def test_numpys_own_is_another() -> None:
    with ng.errstate(all="raise"):
        assert np.geterr() == {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ng.seterr(divide="loud"), "seterr: divide is 'loud'; needs ignore, warn, raise, call, print or log"),
        (lambda: ng.errstate(all=3), "errstate: all is 3; needs"),
        (lambda: ng.seterrcall(3), "seterrcall: it is 3; needs a function"),
        (lambda: ng.errstate(call=3), "errstate: it is 3; needs a function"),
    ],
)
def test_refusals(call: Callable[[], Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        call()


def test_what_is_swapped_is_put_back() -> None:
    with ng.errstate(all="raise"):
        pass
    cell = ng.log.__closure__[[*ng.log.__code__.co_freevars].index("compute")]  # type: ignore[attr-defined]
    assert cell.cell_contents.func is _core.apply
