"""The keywords that operations have in common: shown one by one, unpacked in one place."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu.calls.options import DEFAULTS, Epilogue, Rounding

X = np.linspace(-2, 2, 2 * 6 * 6 * 4, dtype=np.float32).reshape(2, 6, 6, 4)
ROUNDED = ("convert", "add", "activation", "activation_bprop", "bias_add", "bias_grad", "sgd_update", "softmax_bprop")
FINISHED = [f"{kind}_pool{n}d{way}" for kind in ("max", "avg", "l2") for n in (1, 2, 3) for way in ("", "_bprop")]
FINISHED += [f"conv{n}d{way}" for n in (1, 2, 3) for way in ("", "_bprop", "_update")]
FINISHED += [f"deconv{n}d" for n in (1, 2, 3)] + ["pool", "pool_bprop", "ConvPlan", "PoolPlan"]


def functions() -> dict[str, tuple[Callable[..., Any], type[Rounding]]]:
    out = {f"nn.{name}": (getattr(ng.nn, name), Rounding) for name in ROUNDED}
    out |= {name: (getattr(ng, name), Rounding) for name in ("dot", "batched_dot", "grouped_dot", "GemmPlan")}
    return out | {name: (getattr(ng, name), Epilogue) for name in FINISHED}


@pytest.mark.parametrize("name", functions())
def test_signatures_show_every_keyword(name: str) -> None:
    function, options = functions()[name]
    shown = inspect.signature(function).parameters
    for key in options.__annotations__:
        assert shown[key].default == DEFAULTS[key], key
        assert shown[key].kind is inspect.Parameter.KEYWORD_ONLY or key in ("alpha", "beta"), key
    assert all(p.kind is not inspect.Parameter.VAR_KEYWORD for p in shown.values())


def test_a_dict_of_keywords_is_what_they_are_one_by_one() -> None:
    how: Epilogue = {"rounding": "stochastic", "seed": 5, "offset": 2, "bits": 6, "alpha": 0.3}
    x, w = ng.array(X, "float16"), ng.array(X[:1, :3, :3], "float16")
    one = ng.conv2d(x, w, rounding="stochastic", seed=5, offset=2, bits=6, alpha=0.3)
    assert np.array_equal(ng.conv2d(x, w, **how).get(), one.get())
    assert not np.array_equal(ng.conv2d(x, w, **{**how, "seed": 6}).get(), one.get())
    pooled = ng.avg_pool2d(x, 2, **how)
    assert np.array_equal(
        pooled.get(), ng.avg_pool2d(x, 2, rounding="stochastic", seed=5, offset=2, bits=6, alpha=0.3).get()
    )


REFUSED: list[tuple[type[Exception], str, Callable[[], object]]] = [
    (TypeError, "conv2d() got an unexpected keyword argument 'sed'", lambda: ng.conv2d(GX, GX, sed=1)),
    (TypeError, "max_pool2d() got an unexpected keyword argument 'sed'", lambda: ng.max_pool2d(GX, 2, sed=1)),
    (TypeError, "add() got an unexpected keyword argument 'sed'", lambda: ng.nn.add(GX, GX, sed=1)),
    (TypeError, "convert() got an unexpected keyword argument 'alpha'", lambda: ng.nn.convert(GX, alpha=1.0)),
    (TypeError, "dot() got an unexpected keyword argument 'sed'", lambda: ng.dot([[1.0]], [[2.0]], sed=1)),
    (TypeError, "dot() got an unexpected keyword argument 'sed'", lambda: ng.dot(GM, GM, sed=1)),
    (TypeError, "batched_dot() got an unexpected keyword", lambda: ng.batched_dot(GX[0], GX[0], GX[0], sed=1)),
    (TypeError, "grouped_dot() got an unexpected keyword argument 'sed'", lambda: ng.grouped_dot([(GM, GM)], sed=1)),
    (
        TypeError,
        "GemmPlan() got an unexpected keyword argument 'sed'",
        lambda: ng.GemmPlan(GM, GM, ng.empty((4, 4)), sed=1),
    ),
    (ValueError, "GemmPlan: seed is -1; needs 0 to", lambda: ng.GemmPlan(GM, GM, ng.empty((4, 4)), seed=-1)),
    (TypeError, "GemmPlan: bits is 'x'; needs an integer", lambda: ng.GemmPlan(GM, GM, ng.empty((4, 4)), bits="x")),
    (ValueError, "rounding is 'up'; needs", lambda: ng.GemmPlan(GM, GM, ng.empty((4, 4)), rounding="up")),
    (TypeError, "ConvPlan() got an unexpected", lambda: ng.ConvPlan("fprop", GX, GX, GX, padding=1, sed=1)),
    (TypeError, "conv2d: alpha is 'x'; needs a number", lambda: ng.conv2d(GX, GX, alpha="x")),
    (TypeError, "conv2d: bits is 1.5; needs an integer", lambda: ng.conv2d(GX, GX, bits=1.5)),
    (ValueError, "max_pool2d: offset is -1; needs 0 to", lambda: ng.max_pool2d(GX, 2, offset=-1)),
    (TypeError, "add: rounding is 3; needs a str", lambda: ng.nn.add(GX, GX, rounding=3)),
    (ValueError, "rounding is 'up'; needs 'nearest' or 'stochastic'", lambda: ng.conv2d(GX, GX, rounding="up")),
    (ValueError, "dropout: rounding_seed is -1; needs 0 to", lambda: ng.nn.dropout(GX, 0.5, 1, rounding_seed=-1)),
    (ValueError, "dropout: seed is -1; needs 0 to", lambda: ng.nn.dropout(GX, 0.5, -1)),
    (ValueError, "dot: seed is -1; needs 0 to", lambda: ng.dot(GM, GM, seed=-1)),
    (ValueError, "stochastic_round: seed is -1; needs 0 to", lambda: ng.stochastic_round(GM, "float16", seed=-1)),
    (TypeError, "stochastic_round: bits is 1.5; needs an", lambda: ng.stochastic_round(GM, "float16", bits=1.5)),
]
GX = ng.array(X)
GM = ng.array(X[0, 0, :4])


@pytest.mark.parametrize(("error", "text", "call"), REFUSED, ids=[text for _, text, _ in REFUSED])
def test_what_does_not_fit(error: type[Exception], text: str, call: Callable[[], object]) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()


def test_defaults_that_are_said_make_the_same_expression() -> None:
    assert type(ng.dot(GM, GM, rounding="nearest", seed=0)) is type(ng.dot(GM, GM))
