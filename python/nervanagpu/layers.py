"""The layers a network is made of.

    net = ng.Network([ng.layers.Conv(16, 3, padding=1, relu=True), ng.layers.Pool(2), ng.layers.Full(10),
                      ng.layers.Softmax()], input_shape=(8, 8, 1))

Shapes are those of one sample, channels last: (features,), (W, C), (H, W, C) or (D, H, W, C), whatever the layout of
the network. An int that stands for lengths (window, stride, padding, dilation) is meant for every spatial axis; else it
is a sequence of one each. A layer belongs to one network. Formulas and gradients: docs/layers.md.

`Layer.create` makes layers of the tables that networks of the 2015 library were written as.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import Parameter
from nervanagpu.calls.arguments import choice, count, counts, dtype_name, flag, is_integer, iterable, number, shown
from nervanagpu.calls.placement import place
from nervanagpu.nn import ActivationName

Ints = int | Sequence[int]

__all__ = [
    "Activation",
    "ActivationLayer",
    "Bias",
    "BiasLayer",
    "Conv",
    "ConvLayer",
    "Data",
    "DataLayer",
    "Deconv",
    "DeconvLayer",
    "Dropout",
    "DropoutLayer",
    "Full",
    "FullLayer",
    "Inception",
    "Layer",
    "Parameter",
    "Pool",
    "PoolLayer",
    "Softmax",
    "SoftmaxLayer",
]


_MOST = (1 << 31) - 1  # that products of lengths do not overflow


def _int(layer: str, name: str, value: int, low: int = 1) -> int:
    return count(layer, name, value, low, _MOST)


def _ints(layer: str, name: str, value: Ints, low: int = 1) -> int | list[int]:
    numbers = counts(layer, name, value, low, _MOST)
    return numbers[0] if is_integer(value) else numbers


def _chain(name: str, branch: object) -> list[_core.Layer]:
    chain = list(iterable("Inception", name, branch))
    for i, layer in enumerate(chain):
        if not isinstance(layer, _core.Layer):
            raise TypeError(f"Inception: {name}[{i}] is {shown(layer)}; needs a layer (nervanagpu.layers)")
    return chain


class Layer(_core.Layer):
    """A layer. Its parameters exist once a network has taken it.

    kind: "Conv". name: "conv1" in a network. input_shape, output_shape: None before it is configured. flops: of the
    forward pass of one sample. parameters: a list of Parameter. config(): the table entry that makes it again.
    """

    @staticmethod
    def create(
        lib: object, conf: Mapping[str, Any], prev_layer: _core.Layer | None = None, dtype: npt.DTypeLike = np.float32
    ) -> _core.Layer:
        """The layer that a table entry of the 2015 library describes, configured for what `prev_layer` gives.

        conf: {"layer": ConvLayer, "K": 64, "R": 3, "S": 3, "pad_h": 1, "pad_w": 1}, for example. "layer" is one of this
        module's classes or its name; the fields of "common" are added. What comes from the previous layer (N, C, H, W,
        nIn) may be left out; where it stands it must agree. Convolution and full layers have relu and no bias unless
        the entry says "relu" or "bias". lib: a NervanaGPU or None, kept for compatibility: a network has its own
        settings. dtype: float32 or float16; the network's.
        ValueError: an unknown layer or field, a shape that does not fit.
        """
        del lib
        if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float16)):
            raise TypeError(f"Layer.create: dtype is {np.dtype(dtype)}; needs float32 or float16")
        layer = _core.Layer(_plain(conf))
        if prev_layer is not None:
            if prev_layer.output_shape is None:
                raise ValueError(f"Layer.create: prev_layer, {prev_layer.kind}, has no shape yet")
            layer.configure(prev_layer.output_shape)
        elif layer.kind == "Data" and layer.config()["shape"]:
            layer.configure(layer.config()["shape"])
        return layer


def _name(layer: object) -> str:
    return layer.__name__ if isinstance(layer, type) else str(layer)


def _plain(conf: Mapping[str, Any]) -> dict[str, Any]:
    """The entry with its common fields, classes replaced by their names."""
    entry: dict[str, Any] = {}
    for name, value in {**conf, **conf.get("common", {})}.items():
        if name == "layer":
            entry[name] = _name(value)
        elif name == "partitions":
            entry[name] = [[_plain(c) for c in branch] for branch in value]
        elif name == "dtype":
            entry[name] = str(_core.dtype(value))
        elif name != "common" and value is not None:
            entry[name] = value
    return entry


class Data(Layer):
    """What comes in, passed on as it is.

    shape: that of a sample, for a network that is not told. batch: what `fit` takes by default. dtype: float32 (that of
    the network), or uint8 or int8: bytes, which the first convolution reads as they are.
    """

    def __init__(self, shape: Sequence[int] = (), *, batch: int = 0, dtype: npt.DTypeLike = np.float32) -> None:
        super().__init__(
            {
                "layer": "DataLayer",
                "shape": _ints("Data", "shape", shape),
                "N": _int("Data", "batch", batch, 0),
                "dtype": dtype_name("Data", dtype),
            }
        )


class Conv(Layer):
    """y = act(x * w + bias): `channels` results for each window; act is max(x, 0) or nothing.

    weight: (channels, T, R, S, C / groups) in files and `Parameter.canonical`. Output lengths
    floor((H + 2 padding - dilation (R - 1) - 1) / stride) + 1.
    """

    def __init__(
        self,
        channels: int,
        window: Ints,
        stride: Ints = 1,
        padding: Ints = 0,
        *,
        dilation: Ints = 1,
        groups: int = 1,
        bias: bool = True,
        relu: bool = False,
    ) -> None:
        super().__init__(
            {
                "layer": "ConvLayer",
                "K": _int("Conv", "channels", channels),
                "window": _ints("Conv", "window", window),
                "stride": _ints("Conv", "stride", stride),
                "padding": _ints("Conv", "padding", padding, 0),
                "dilation": _ints("Conv", "dilation", dilation),
                "groups": _int("Conv", "groups", groups),
                "bias": flag("Conv", "bias", bias),
                "relu": flag("Conv", "relu", relu),
            }
        )


class Deconv(Layer):
    """The transposed convolution: the data gradient of a Conv as a forward pass, then bias and act.

    weight: (C, T, R, S, channels / groups), that of the convolution whose gradient it is. Output lengths
    (P - 1) stride - 2 padding + dilation (R - 1) + 1 + output_padding.
    """

    def __init__(
        self,
        channels: int,
        window: Ints,
        stride: Ints = 1,
        padding: Ints = 0,
        *,
        dilation: Ints = 1,
        output_padding: Ints = 0,
        groups: int = 1,
        bias: bool = True,
        relu: bool = False,
    ) -> None:
        super().__init__(
            {
                "layer": "DeconvLayer",
                "K": _int("Deconv", "channels", channels),
                "window": _ints("Deconv", "window", window),
                "stride": _ints("Deconv", "stride", stride),
                "padding": _ints("Deconv", "padding", padding, 0),
                "dilation": _ints("Deconv", "dilation", dilation),
                "output_padding": _ints("Deconv", "output_padding", output_padding, 0),
                "groups": _int("Deconv", "groups", groups),
                "bias": flag("Deconv", "bias", bias),
                "relu": flag("Deconv", "relu", relu),
            }
        )


class Pool(Layer):
    """The largest, the mean or the root of the sum of squares of each window of space and of `maps` channels.

    stride: None is the window. maps_stride: 0 is `maps`. count_padding: padding counts in means.
    """

    def __init__(
        self,
        window: Ints = 1,
        stride: Ints | None = None,
        padding: Ints = 0,
        *,
        op: Literal["max", "avg", "l2"] = "max",
        maps: int = 1,
        maps_stride: int = 0,
        maps_padding: int = 0,
        count_padding: bool = False,
    ) -> None:
        super().__init__(
            {
                "layer": "PoolLayer",
                "op": choice("Pool", "op", op, ("max", "avg", "l2")),
                "window": _ints("Pool", "window", window),
                "stride": 0 if stride is None else _ints("Pool", "stride", stride),
                "padding": _ints("Pool", "padding", padding, 0),
                "J": _int("Pool", "maps", maps),
                "str_j": _int("Pool", "maps_stride", maps_stride, 0),
                "pad_j": _int("Pool", "maps_padding", maps_padding, 0),
                "count_padding": flag("Pool", "count_padding", count_padding),
            }
        )


class Full(Layer):
    """y = act(w x + bias): each of `outputs` results looks at the whole sample.

    weight: (outputs, D, H, W, C) in files and `Parameter.canonical`.
    """

    def __init__(self, outputs: int, *, bias: bool = True, relu: bool = False) -> None:
        super().__init__(
            {
                "layer": "FullLayer",
                "nOut": _int("Full", "outputs", outputs),
                "bias": flag("Full", "bias", bias),
                "relu": flag("Full", "relu", relu),
            }
        )


class Bias(Layer):
    """y = x + bias, one number for each channel."""

    def __init__(self) -> None:
        super().__init__({"layer": "BiasLayer"})


class Activation(Layer):
    """y = f(x): "identity", "relu", "leaky_relu" (`slope` for negative numbers), "tanh" or "sigmoid"."""

    def __init__(self, f: ActivationName, slope: float = 0.01) -> None:
        super().__init__(
            {
                "layer": "ActivationLayer",
                "activation": choice("Activation", "f", f, get_args(ActivationName)),
                "slope": number("Activation", "slope", slope, 0),
            }
        )


class Dropout(Layer):
    """In training, sets the part `rate` of the numbers to 0, at random, and divides the others by 1 - rate."""

    def __init__(self, rate: float = 0.5) -> None:
        super().__init__({"layer": "DropoutLayer", "rate": number("Dropout", "rate", rate)})


class Inception(Layer):
    """Branches (lists of layers) side by side on the same input; their results are joined along channels."""

    def __init__(self, branches: Iterable[Iterable[_core.Layer]]) -> None:
        super().__init__(
            [_chain(f"branches[{i}]", branch) for i, branch in enumerate(iterable("Inception", "branches", branches))]
        )


class Softmax(Layer):
    """Probabilities of classes; in training the loss is their cross-entropy with the labels. The last layer."""

    def __init__(self) -> None:
        super().__init__({"layer": "SoftmaxLayer"})


# The names in the tables of the 2015 library.
DataLayer = Data
ConvLayer = Conv
DeconvLayer = Deconv
PoolLayer = Pool
FullLayer = Full
BiasLayer = Bias
ActivationLayer = Activation
DropoutLayer = Dropout
SoftmaxLayer = Softmax

place(globals())
