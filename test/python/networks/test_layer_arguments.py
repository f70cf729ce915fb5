"""What the layers' arguments may be: a count is an integer, no bool, and not below what its least is."""

from __future__ import annotations

import inspect
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import layers

# A layer, what it cannot do without, and the least that each of its counts may be.
LENGTHS = {"window": 1, "stride": 1, "padding": 0, "dilation": 1}
CONV = {"channels": 3, "window": 2}
COUNTS: list[tuple[type, dict[str, Any], dict[str, int]]] = [
    (layers.Data, {"shape": (4, 4, 2)}, {"shape": 1, "batch": 0}),
    (layers.Conv, CONV, {"channels": 1, "groups": 1, **LENGTHS}),
    (layers.Deconv, CONV, {"channels": 1, "groups": 1, "output_padding": 0, **LENGTHS}),
    (
        layers.Pool,
        {},
        {"window": 1, "stride": 1, "padding": 0, "maps": 1, "maps_stride": 0, "maps_padding": 0},
    ),
    (layers.Full, {"outputs": 3}, {"outputs": 1}),
]
ROWS = [(layer, have, name, least) for layer, have, counts in COUNTS for name, least in counts.items()]
each_count = pytest.mark.parametrize(
    ("layer", "have", "name", "least"), ROWS, ids=[f"{layer.__name__}-{name}" for layer, _, name, _ in ROWS]
)
PER_AXIS = {"shape", "window", "stride", "padding", "dilation", "output_padding"}


def test_every_count_is_in_the_table() -> None:
    """By their annotations: int, or one for each axis; bool and float are none."""
    for name in layers.__all__:
        layer = getattr(layers, name)
        if name == "Parameter" or layer is layers.Layer:
            continue
        parameters = inspect.signature(layer.__init__).parameters.values()
        counts = {p.name for p in parameters if str(p.annotation).split(" ")[0] in ("int", "Ints", "Sequence[int]")}
        assert counts == {n for kind, _, n, _ in ROWS if kind is layer}, name


@each_count
@pytest.mark.parametrize("value", [True, False, 1.0, "1", None, np.True_, [[1]], 1j])
def test_what_is_no_integer(layer: type, have: dict[str, Any], name: str, least: int, value: Any) -> None:
    if (layer, name, value) == (layers.Pool, "stride", None):
        return  # it is the window
    with pytest.raises(TypeError, match=rf"^{layer.__name__}: {name}(\[0\])? is .*; needs an integer"):
        layer(**{**have, name: value})


@each_count
def test_what_is_too_small_or_too_large(layer: type, have: dict[str, Any], name: str, least: int) -> None:
    for value in (least - 1, -(2**40), 2**31, 2**64):
        with pytest.raises(ValueError, match=rf"^{layer.__name__}: {name} is {value}; needs {least} to 2147483647$"):
            layer(**{**have, name: value})
    layer(**{**have, name: least})


@each_count
def test_for_each_axis(layer: type, have: dict[str, Any], name: str, least: int) -> None:
    if name not in PER_AXIS:
        with pytest.raises(TypeError, match=f"^{layer.__name__}: {name} is .*; needs an integer"):
            layer(**{**have, name: (3, 3)})
        return
    layer(**{**have, name: (3, np.int64(3))})
    with pytest.raises(ValueError, match=rf"^{layer.__name__}: {name}\[1\] is {least - 1}; needs {least} to"):
        layer(**{**have, name: (3, least - 1)})
    with pytest.raises(TypeError, match=rf"^{layer.__name__}: {name} is \(3, True\); needs an integer, not a bool"):
        layer(**{**have, name: (3, True)})


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"layer": "ConvLayer", "K": 0}, "K is 0; needs 1 or more"),
        ({"layer": "ConvLayer", "K": True}, "field 'K' is of another kind; needs a whole number"),
        ({"layer": "ConvLayer", "K": 2, "R": 0}, "R is 0; needs 1 or more"),
        ({"layer": "ConvLayer", "K": 2, "window": [3, 0]}, r"window is \(3, 0\); needs 1 or more"),
        ({"layer": "ConvLayer", "K": 2, "pad_w": -1}, "pad_w is -1; needs 0 or more"),
        ({"layer": "ConvLayer", "K": 2, "groups": 0}, "groups is 0; needs 1 or more"),
        ({"layer": "DeconvLayer", "K": 2, "output_padding": -1}, "output_padding is -1; needs 0 or more"),
        ({"layer": "PoolLayer", "stride": -1}, "stride is -1; needs 0 or more"),
        ({"layer": "PoolLayer", "J": 0}, "J is 0; needs 1 or more"),
        ({"layer": "FullLayer", "nOut": 0}, "nOut is 0; needs 1 or more"),
        ({"layer": "DataLayer", "N": -1}, "N is -1; needs 0 or more"),
        ({"layer": "DataLayer", "C": 0}, "C is 0; needs 1 or more"),
    ],
)
def test_entries_of_tables(entry: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        layers.Layer.create(None, entry)


@pytest.mark.parametrize("call", ["fit", "predict", "batch", "input_shape"])
def test_networks_count_in_integers_too(call: str) -> None:
    net = ng.Network([layers.Full(2), layers.Softmax()], input_shape=(3,))
    x, y = np.ones((4, 3), np.float32), np.zeros(4, np.int32)
    calls = {
        "fit": (lambda: net.fit(x, y, epochs=True), "fit: epochs is True"),
        "predict": (lambda: net.predict(x, batch=True), "predict: batch is True"),
        "batch": (lambda: net.fit(x, y, batch=True), "fit: batch is True"),
        "input_shape": (lambda: ng.Network([layers.Full(2)], (3, True)), r"Network: input_shape is \(3, True\)"),
    }
    with pytest.raises(TypeError, match=f"^{calls[call][1]}; needs an integer, not a bool"):
        calls[call][0]()
