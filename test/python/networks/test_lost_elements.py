"""Gradients from two pieces, as the library chooses: lost elements, zeros, pitches, masks, beta."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
import pytest
import tier

pytestmark = pytest.mark.skipif(ng.device().arch != "sm_90a", reason="the tensor cores of sm_90a")

Floats = npt.NDArray[np.float32]
PAST = 7.5  # what lies between pixels


@dataclass
class Layer:
    """A gradient whose tensors have channels last; extra: elements between pixels of dy, of x."""

    which: str
    dy: Floats
    other: Floats  # w, or x
    shape: tuple[int, ...]
    geometry: dict[str, int]
    extra: tuple[int, int]
    alpha: float
    old: Floats | None
    mask: ng.GPUTensor | None

    def pitched(self, a: Floats, extra: int) -> ng.GPUTensor:
        """As channels of a wider tensor."""
        wide = np.full((*a.shape[:-1], a.shape[-1] + extra), PAST, np.float32)
        wide[..., : a.shape[-1]] = a
        return ng.array(wide)

    def operands(self, magnitudes: bool = False) -> tuple[ng.GPUTensor, ng.GPUTensor]:
        """Dy and w, or dy and x."""
        dy, other = (np.abs(self.dy), np.abs(self.other)) if magnitudes else (self.dy, self.other)
        of_other = 0 if self.which == "bprop" else self.extra[1]
        return (
            self.pitched(dy, self.extra[0])[..., : dy.shape[-1]],
            self.pitched(other, of_other)[..., : other.shape[-1]],
        )

    def kernels(self) -> set[str]:
        """What the library takes."""
        out = ng.empty(self.shape)
        beta = 0.0 if self.old is None else 1.0
        with ng.precision("tensor"):
            return set(
                ng.ConvPlan(self.which, *self.operands(), out, beta=beta, mask=self.mask, **self.geometry).kernels
            )

    def result(self, precision: str, magnitudes: bool = False) -> Floats:
        """The gradient, or the sums of its products' magnitudes."""
        old = np.zeros(self.shape, np.float32) if self.old is None else self.old
        extra = self.extra[1] if self.which == "bprop" else 0
        wide = self.pitched(np.abs(old) if magnitudes else old, extra)
        out = wide[..., : self.shape[-1]]
        how = {"alpha": abs(self.alpha) if magnitudes else self.alpha, "beta": 0.0 if self.old is None else 1.0}
        operands = self.operands(magnitudes)
        if self.which == "bprop":
            ng.conv2d_bprop(*operands, self.shape, out=out, mask=self.mask, precision=precision, **how, **self.geometry)
        else:
            ng.conv2d_update(*operands, self.shape, out=out, precision=precision, **how, **self.geometry)
        got = wide.get()
        assert (got[..., self.shape[-1] :] == PAST).all()
        return got[..., : self.shape[-1]]


def lose(rng: np.random.Generator, a: Floats) -> None:
    """Some elements of `a` far below the others."""
    at = rng.choice(a.size, min(int(rng.choice([0, 1, 3, 20, 200, 3000])), a.size), replace=False)
    a.reshape(-1)[at] = rng.standard_normal(len(at)) * 10.0 ** rng.uniform(-14, -8)


def draw(rng: np.random.Generator) -> Layer:
    """Some layer of at most 1e9 products."""
    while True:
        which = str(rng.choice(["bprop", "update"]))
        taps, stride = int(rng.choice([1, 3, 3, 5])), int(rng.choice([1, 1, 2]))
        dilation, pad = int(rng.choice([1, 1, 2])), int(rng.integers(0, taps))
        c, k = int(rng.choice([64, 96, 128, 200, 256])), int(rng.choice([64, 128, 144, 192, 256]))
        n, side = int(rng.integers(4, 28)), int(rng.integers(7, 20))
        out = (side + 2 * pad - dilation * (taps - 1) - 1) // stride + 1
        if out > 0 and n * out * out * c * k * taps * taps < 1e9:
            break
    dy = rng.standard_normal((n, out, out, k), dtype=np.float32)
    if rng.random() < 0.7:
        dy[rng.random((n, out, out)) < rng.random()] = 0
    if rng.random() < 0.7:
        dy[rng.random(dy.shape) < rng.random()] = 0
    x_shape, w_shape = (n, side, side, c), (k, taps, taps, c)
    other = rng.standard_normal(w_shape if which == "bprop" else x_shape, dtype=np.float32)
    if which == "update":
        other[rng.random(other.shape) < 0.5] = 0
    lose(rng, dy)
    lose(rng, other)
    if rng.random() < 0.5:  # sums of lost elements alone
        other[..., 1] = 0
        other.reshape(-1, c)[rng.integers(0, other.size // c), 1] = 1e-10
        dy[-1] = 0
        dy[-1, 0, 0, 2] = 3e-11
    shape = x_shape if which == "bprop" else w_shape
    masked = which == "bprop" and rng.random() < 0.5
    return Layer(
        which,
        dy,
        other,
        shape,
        {"stride": stride, "padding": pad, "dilation": dilation},
        (int(rng.choice([0, 4, 8])), int(rng.choice([0, 4, 8]))),
        float(rng.choice([1, -1.5])),
        rng.standard_normal(shape, dtype=np.float32) if rng.random() < 0.4 else None,
        ng.array(rng.integers(0, 2**32, (*x_shape[:-1], -(-c // 32)), dtype=np.uint32)) if masked else None,
    )


def test_gradients_of_layers_with_lost_elements() -> None:
    """Beside multiply-adds, each element within 4e-6 of its products' magnitudes; bits that a mask leaves out are 0."""
    rng = np.random.default_rng(30)
    seen: Counter[str] = Counter()
    left = tier.drawn(6, 200)
    while left > 0 or len(seen) < 2:  # both kinds, whatever the model leaves to others
        layer = draw(rng)
        kernels = layer.kernels()
        if not any(name.startswith("conv_f16x3") for name in kernels):
            continue
        left -= 1
        seen.update(name for name in kernels if name.startswith("conv_lost"))
        got, want = layer.result("tensor"), layer.result("strict")
        wrong = ~(np.abs(got.astype(np.float64) - want) <= 4e-6 * layer.result("strict", magnitudes=True))
        assert not wrong.any(), (layer.which, layer.shape, layer.geometry, int(wrong.sum()), kernels)
    assert set(seen) == {"conv_lost_b", "conv_lost_u"}
