"""A chain of layers that learns.

net = ng.Network([ng.layers.Conv(16, 3, padding=1, relu=True), ng.layers.Pool(2), ng.layers.Full(10),
                  ng.layers.Softmax()], input_shape=(8, 8, 1), dtype="float32", seed=1)
net.fit(x, y, epochs=20, batch=64, lr=0.05, momentum=0.9, validation=(xt, yt))
net.predict(xt); net.summary(); net.save("digits.safetensors")
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import Parameter, Stream
from nervanagpu.calls.arguments import choice, count, counts, flag, host_array, iterable, number, path_of, shown

Array = npt.NDArray[np.float32]
History = dict[str, list[float]]


class Evaluation(NamedTuple):
    """loss: the mean cross-entropy; accuracy: the part of the samples whose largest result is the label's."""

    loss: float
    accuracy: float


class StatisticsRow(NamedTuple):
    """Of the absolute values of one tensor of a step.

    what: "activations" (a layer's result), "deltas" (its gradient), "weights" or "updates" (the gradient of a
    parameter; `layer` is then the parameter's name).
    """

    layer: str
    what: str
    mean_abs: float
    max_abs: float


class Memory(NamedTuple):
    """Bytes of the arena, and what it would be if no two tensors shared memory."""

    arena: int
    unshared: int


class Network:
    """A chain of layers that learns by gradient descent.

    layers: ng.layers. input_shape: of one sample: (features,), (W, C), (H, W, C) or (D, H, W, C). None: that of a Data
    layer at the front. dtype: float32, float16 or bfloat16 (not with convolutions and poolings), of weights and of all
    that lies between the layers. Sums are float32.
    seed: of initial weights, dropout, shuffling and stochastic rounding. The same seed and data give the same bits, on
    every device of an architecture, and with precision="strict" on every device.
    layout: "NHWC" or "CHWN", of what lies between the layers; samples and results have the batch first.
    rounding: "nearest", or "stochastic" to `bits` mantissa bits (0: all) for results and weights in training.
    master: 16-bit floats: whether updates are done on float32 copies of the weights; None: unless rounding is
    stochastic.
    loss_scale: what gradients are multiplied by on their way, so that small ones survive in float16; None: 128 for
    float16, else 1.
    graphs: whether a step of training that is like the one before (as many samples, momentum and weight decay) is
    recorded. The steps after it are then replayed by one launch from the host: the same bits. Not with stochastic
    rounding.
    precision: of float32 products and convolutions that are large enough. "tensor" is on the tensor cores, in pieces,
    and on ordinary data no less accurate (ng.precision). "strict" is by fused multiply-adds. What ng.precision says
    does not count.

    Samples are anything that becomes an array (n, *input_shape); (n, H, W) will do for one channel, and so will
    (n, elements). Labels are n whole numbers, 0 to classes - 1.
    ValueError or TypeError, naming layer or argument, if something does not fit; nothing is changed then.
    """

    def __init__(
        self,
        layers: Sequence[_core.Layer],
        input_shape: Sequence[int] | None = None,
        dtype: npt.DTypeLike = "float32",
        seed: int = 1,
        *,
        layout: str = "NHWC",
        rounding: str = "nearest",
        bits: int = 0,
        master: bool | None = None,
        loss_scale: float | None = None,
        precision: str = "tensor",
        stream: Stream | None = None,
        graphs: bool = True,
    ) -> None:
        choice("Network", "rounding", rounding, ("nearest", "stochastic"))
        choice("Network", "precision", precision, ("strict", "tensor"))
        chain = iterable("Network", "layers", layers)
        for i, layer in enumerate(chain):
            if not isinstance(layer, _core.Layer):
                raise TypeError(f"Network: layers[{i}] is {shown(layer)}; needs a layer (nervanagpu.layers)")
        stochastic = rounding == "stochastic"
        if master is None:
            master = not stochastic
        self._net = _core.Network(
            chain,
            None if input_shape is None else counts("Network", "input_shape", input_shape),
            layout,
            dtype,
            seed,
            stochastic,
            bits,
            master,
            0.0 if loss_scale is None else number("Network", "loss_scale", loss_scale, 0),
            precision,
            stream,
            flag("Network", "graphs", graphs),
        )

    # --- what it is

    @property
    def layers(self) -> list[_core.Layer]:
        """The layers, first to last."""
        return self._net.layers

    @property
    def parameters(self) -> list[Parameter]:
        """Weights and biases of all layers, those of branches included."""
        return self._net.parameters

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Of one sample."""
        return self._net.input_shape

    @property
    def output_shape(self) -> tuple[int, ...]:
        """Of the result of one sample."""
        return self._net.output_shape

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """float32, float16 or bfloat16."""
        return self._net.dtype

    @property
    def layout(self) -> str:
        """ "NHWC" or "CHWN"."""
        return self._net.layout

    @property
    def seed(self) -> int:
        """What the network's random numbers come from."""
        return self._net.seed

    @property
    def loss_scale(self) -> float:
        """What gradients carry as a factor."""
        return self._net.loss_scale

    @property
    def precision(self) -> str:
        """ "strict" or "tensor", of float32 products and convolutions."""
        return self._net.precision

    @property
    def flops(self) -> float:
        """Multiplications and additions of the forward pass of one sample, in products and convolutions."""
        return self._net.flops

    def summary(self, batch: int = 64) -> str:
        """A table of layers, shapes, parameters, FLOPs and memory; printed, and returned."""
        text = self._net.summary(self._batch("summary", batch))
        print(text, end="")
        return text

    def memory(self, batch: int = 64, training: bool = True) -> Memory:
        """Bytes of what lies between the layers for batches of this size.

        Weights and gradients come on top, and the batch as it was sent.
        """
        return Memory(*self._net.memory(self._batch("memory", batch), training))

    def share_memory(self, share: bool) -> None:
        """Whether tensors that do not live at the same time share memory (they do); results are the same."""
        self._net.share_memory(share)

    # --- training and use

    def fit(
        self,
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        epochs: int = 1,
        batch: int | None = None,
        lr: float | Callable[[int], float] = 0.01,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        *,
        validation: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
        shuffle: bool = True,
        statistics: bool = False,
        callback: Callable[[int, History], object] | None = None,
        progress: bool = True,
    ) -> History:
        """Gradient descent: v = momentum v + gradient + weight_decay w (not of biases), w -= lr v, for each batch.

        The gradient is that of the mean cross-entropy over the batch; the last batch of an epoch may be smaller.
        lr, weight_decay: 0 or more; momentum: 0 or more and less than 1. lr may be a function that is given the epoch,
        from 0 on, and returns that epoch's.
        batch: None is that of a Data layer, else 64. validation: samples and labels that are judged after each epoch.
        shuffle: another order in each epoch. statistics: the last step of each epoch leaves `statistics()`.
        callback(epoch, history): after each epoch. progress: a bar on stderr, if that is a terminal.
        Returns {"loss", "accuracy", "val_loss", "val_accuracy"}: a list entry an epoch. Loss and accuracy are means
        over the epoch while it trained; the last two are empty without validation.
        Interrupted (Ctrl-C, an exception of the callback, MemoryError), it leaves the network after a whole step.
        """
        samples = self._samples("x", x)
        labels = self._labels("y", y)
        vx: npt.NDArray[np.generic] | None = None
        vy: npt.NDArray[np.int32] | None = None
        if validation is not None:
            parts = iterable("fit", "validation", validation)
            if len(parts) != 2:
                raise ValueError(f"validation has {len(parts)} parts; needs samples and labels")
            vx, vy = self._samples("validation x", parts[0]), self._labels("validation y", parts[1])
        epochs = count("fit", "epochs", epochs, 0, (1 << 31) - 1)
        size = 0 if batch is None else self._batch("fit", batch)
        if callback is not None and not callable(callback):
            raise TypeError(f"fit: callback is {shown(callback)}; needs a function")
        bar = _bar(epochs * len(samples)) if progress and sys.stderr.isatty() else None

        def report(epoch: int, sample: int, loss: float, accuracy: float, done: _Lists | None) -> None:
            if done is not None:
                if callback is not None:
                    callback(epoch, _history(done))
            elif bar is not None:
                bar.set_description(f"epoch {epoch + 1}/{epochs}", refresh=False)
                bar.set_postfix_str(f"loss {loss:.4f}, accuracy {100 * accuracy:.2f} %", refresh=False)
                bar.update(epoch * len(samples) + sample - bar.n)

        def train(passes: int, rate: float, told: Callable[..., None]) -> _Lists:
            sgd = (rate, momentum, weight_decay)
            options = (passes, size, *sgd, shuffle, statistics, bar is not None)
            return self._net.fit(samples, labels, *options, vx, vy, told)

        try:
            if not callable(lr):
                return _history(train(epochs, lr, report))
            return self._by_schedule(lr, epochs, train, report)
        finally:
            if bar is not None:
                bar.close()

    @staticmethod
    def _by_schedule(
        lr: Callable[[int], float], epochs: int, train: Callable[..., _Lists], report: Callable[..., None]
    ) -> History:
        """Each epoch with a rate of its own. Steps are counted on, so that orders are those of one fit."""
        lists = train(0, 0.0, report)  # checks the other arguments

        def told(_: int, sample: int, loss: float, accuracy: float, done: _Lists | None) -> None:
            report(epoch, sample, loss, accuracy, None if done is None else _joined(lists, done))

        for epoch in range(epochs):
            lists = _joined(lists, train(1, number("fit", f"lr({epoch})", lr(epoch), 0), told))
        return _history(lists)

    def predict(self, x: npt.ArrayLike, batch: int = 256) -> Array:
        """The results (n, *output_shape), float32: of a softmax the probabilities of the classes."""
        return self._net.predict(self._samples("x", x), self._batch("predict", batch))

    def evaluate(self, x: npt.ArrayLike, y: npt.ArrayLike, batch: int = 256) -> Evaluation:
        """Mean cross-entropy and accuracy."""
        size = self._batch("evaluate", batch)
        return Evaluation(*self._net.evaluate(self._samples("x", x), self._labels("y", y), size))

    def train_step(
        self, x: npt.ArrayLike, y: npt.ArrayLike, lr: float = 0.01, momentum: float = 0.0, weight_decay: float = 0.0
    ) -> Evaluation:
        """forward, backward and update with all samples as one batch; loss and accuracy are those before the update."""
        step = self._net.train_step(self._samples("x", x), self._labels("y", y), lr, momentum, weight_decay)
        return Evaluation(*step)

    def forward(self, x: npt.ArrayLike, input_gradient: bool = False) -> Array:
        """The results in training mode, all samples as one batch. input_gradient: `backward` shall return d/dx."""
        return self._net.forward(self._samples("x", x), input_gradient)

    def backward(self, against: npt.ArrayLike) -> Array | None:
        """Gradients of the parameters, after `forward`; d/dx like x if it was told so, else None.

        against: the labels, for the mean cross-entropy; without a softmax at the end, dy of the results' shape, for
        sum(results * dy).
        """
        array = host_array("against", against)
        if self.layers[-1].kind == "Softmax":
            return self._net.backward(self._labels("y", array))
        if array.dtype.kind not in "fiub":
            raise TypeError(f"backward: against has dtype {array.dtype}; needs numbers")
        return self._net.backward(np.ascontiguousarray(array, np.float32))

    def update(self, lr: float = 0.01, momentum: float = 0.0, weight_decay: float = 0.0) -> None:
        """One step of gradient descent with the gradients of the last `backward`, as `fit` does it."""
        self._net.update(lr, momentum, weight_decay)

    def statistics(self, x: npt.ArrayLike | None = None, y: npt.ArrayLike | None = None) -> list[StatisticsRow]:
        """Mean and largest absolute value of activations, deltas, weights and updates.

        Of one more forward and backward pass over x and y, without an update; without them, of what `fit` with
        statistics=True left. Gradients are without the loss scale.
        """
        if (x is None) != (y is None):
            raise ValueError("statistics: one of x and y is missing; needs both or none")
        if x is None or y is None:
            rows = self._net.statistics()
        else:
            rows = self._net.statistics_of(self._samples("x", x), self._labels("y", y))
        return [StatisticsRow(*row) for row in rows]

    # --- files

    def save(self, path: str | os.PathLike[str], optimizer: bool = False) -> None:
        """A safetensors file: parameters in the form that does not depend on the layout, and what makes the network.

        optimizer: also the velocities. The file is replaced as a whole or not at all; Error if it cannot be written.
        """
        self._net.save(path_of("save", "path", path), optimizer)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Network:
        """The network of a file, bit for bit. Error if it cannot be read or holds none."""
        net = Network.__new__(Network)
        net._net = _core.Network.load(path_of("load", "path", path))
        return net

    def load_parameters(self, path: str | os.PathLike[str]) -> None:
        """Parameters from a file of a network of the same layers. ValueError, nothing changed, if they differ."""
        self._net.load_parameters(path_of("load_parameters", "path", path))

    # --- arguments

    @staticmethod
    def _batch(function: str, batch: int) -> int:
        return count(function, "batch", batch, 1, (1 << 63) - 1)

    def _samples(self, name: str, x: npt.ArrayLike) -> npt.NDArray[np.generic]:
        array = host_array(name, x)
        wanted = self._net.input_dtype
        shape = self.input_shape
        # A single channel may be left out, and a sample may be a row.
        forms = [shape, (math.prod(shape),)] + ([shape[:-1]] if shape[-1] == 1 else [])
        if array.ndim == 0 or array.shape[1:] not in forms:
            raise ValueError(f"{name} has shape {array.shape}; needs (n, {', '.join(map(str, shape))})")
        if len(array) == 0:
            raise ValueError(f"{name} has no samples; needs 1 or more")
        if wanted != np.float32:
            if array.dtype != wanted:
                raise TypeError(f"{name} has dtype {array.dtype}; needs {wanted}, that of the Data layer")
        elif array.dtype not in (np.uint8, np.int8):
            if array.dtype.kind not in "fiub":
                raise TypeError(f"{name} has dtype {array.dtype}; needs numbers")
            array = array.astype(np.float32, copy=False)
        return np.ascontiguousarray(array)

    def _labels(self, name: str, y: npt.ArrayLike) -> npt.NDArray[np.int32]:
        array = host_array(name, y)
        if array.dtype.kind not in "iu":
            raise TypeError(f"{name} has dtype {array.dtype}; needs whole numbers")
        if array.ndim != 1:
            raise ValueError(f"{name} has shape {array.shape}; needs (n,)")
        if len(array) and (array.min() < 0 or array.max() >= self.output_shape[-1]):
            raise ValueError(f"{name} has {array.min()} to {array.max()}; needs 0 to {self.output_shape[-1] - 1}")
        return np.ascontiguousarray(array, np.int32)


class _Bar(Protocol):
    """What we call of tqdm's."""

    n: int

    def set_description(self, desc: str, refresh: bool) -> None: ...
    def set_postfix_str(self, s: str, refresh: bool) -> None: ...
    def update(self, n: int) -> object: ...
    def close(self) -> None: ...


def _bar(samples: int) -> _Bar | None:
    """A progress bar, or None where tqdm is not installed."""
    try:
        from tqdm import tqdm  # type: ignore[import-untyped]
    except ImportError:
        return None
    bar: _Bar = tqdm(total=samples, unit=" samples", unit_scale=True)
    return bar


_Lists = tuple[list[float], list[float], list[float], list[float]]


def _joined(first: _Lists, then: _Lists) -> _Lists:
    a, b, c, d = (x + y for x, y in zip(first, then, strict=True))
    return a, b, c, d


def _history(lists: _Lists) -> History:
    return dict(zip(("loss", "accuracy", "val_loss", "val_accuracy"), lists, strict=True))
