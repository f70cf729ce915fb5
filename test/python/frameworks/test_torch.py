"""nervanagpu.torch: operators, gradients, autocast, compile, and aten's operators by ours, beside torch's own."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import pytest
from source_tree import ROOT
from torch_operands import BOUND, DEVICE, OPS, F, close, ngt, rand, torch

pytestmark = pytest.mark.usefixtures("fresh_torch")


def same_gradients(
    ours: Callable[..., Any], theirs: Callable[..., Any], *operands: Any, bound: float = 1e-4, host: bool = False
) -> None:
    """Results and gradients of both, for a random gradient of the result. host: theirs on the CPU."""
    a = [t.detach().clone().requires_grad_() for t in operands]
    b = [(t.detach().cpu() if host else t.detach()).clone().requires_grad_() for t in operands]
    y, z = ours(*a), theirs(*b)
    close(y, z.to(y.device))
    grad = torch.randn_like(z)
    y.backward(grad.to(y.device))
    z.backward(grad)
    for s, t in zip(a, b, strict=True):
        close(s.grad, t.grad.to(s.device), bound)


# --- products ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", list(BOUND))
@pytest.mark.parametrize("m, k, n", [(5, 7, 3), (33, 64, 40), (1, 1, 1), (0, 3, 4), (3, 0, 4)])
def test_products(dtype: Any, m: int, k: int, n: int) -> None:
    a, b = rand(m, k, dtype=dtype), rand(k, n, dtype=dtype)
    close(ngt.mm(a, b), a @ b)
    for bias in (rand(n, dtype=dtype), rand(m, n, dtype=dtype), rand(m, 1, dtype=dtype), rand(1, dtype=dtype)):
        for alpha, beta in ((1, 1), (0.5, 2), (2, 0)):
            want = torch.addmm(bias.float(), a.float(), b.float(), alpha=alpha, beta=beta).to(dtype)
            close(ngt.addmm(bias, a, b, alpha=alpha, beta=beta), want)
    x, y = rand(4, m, k, dtype=dtype), rand(4, k, n, dtype=dtype)
    close(ngt.bmm(x, y), torch.bmm(x, y))
    close(ngt.bmm(x.mT.contiguous().mT, y.flip(0)), torch.bmm(x, y.flip(0)))
    for got, p in zip(
        ngt.grouped_mm([a, b.t(), x[0]], [b, a.t(), y[1]]), (a @ b, (a @ b).t(), x[0] @ y[1]), strict=True
    ):
        close(got, p)


ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "none": lambda x: x,
    "relu": torch.relu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
}


@pytest.mark.parametrize("activation", list(ACTIVATIONS))
def test_linear(activation: str) -> None:
    act = ACTIVATIONS[activation]
    x, w, b = rand(3, 4, 10), rand(6, 10), rand(6)
    same_gradients(
        lambda x, w, b: ngt.linear(x, w, b, activation=activation), lambda x, w, b: act(F.linear(x, w, b)), x, w, b
    )
    close(ngt.linear(x[0, 0], w, activation=activation), act(F.linear(x[0, 0], w)))
    close(ngt.linear(x[:0], w, b, activation=activation), act(F.linear(x[:0], w, b)))


def test_gradients_of_products() -> None:
    same_gradients(ngt.mm, torch.mm, rand(5, 6), rand(6, 4))
    same_gradients(ngt.bmm, torch.bmm, rand(3, 5, 6), rand(3, 6, 4))
    for bias in (rand(4), rand(5, 4), rand(5, 1)):
        same_gradients(
            lambda c, a, b: ngt.addmm(c, a, b, alpha=0.5, beta=2),
            lambda c, a, b: torch.addmm(c, a, b, alpha=0.5, beta=2),
            bias, rand(5, 6), rand(6, 4),
        )  # fmt: skip
    same_gradients(
        lambda a, b, c, d: torch.cat([y.flatten() for y in ngt.grouped_mm([a, c], [b, d])]),
        lambda a, b, c, d: torch.cat([(a @ b).flatten(), (c @ d).flatten()]),
        rand(5, 6), rand(6, 4), rand(2, 3), rand(3, 7),
    )  # fmt: skip


def checked(f: Callable[..., Any], *operands: Any, second: bool = True) -> None:
    """gradcheck of what is linear in each operand, so that large steps in float32 are exact but for rounding."""
    with_grad = [t.detach().requires_grad_() for t in operands]
    options = {"eps": 0.25, "atol": 2e-3, "rtol": 1e-3, "nondet_tol": 0.0}
    torch.autograd.gradcheck(f, with_grad, **options)
    if second:
        torch.autograd.gradgradcheck(f, with_grad, **options)


@pytest.mark.filterwarnings("ignore:Input #")
def test_gradcheck() -> None:
    checked(ngt.mm, rand(2, 3), rand(3, 2))
    checked(ngt.bmm, rand(2, 2, 3), rand(2, 3, 2))
    checked(lambda c, a, b: ngt.addmm(c, a, b, alpha=0.5, beta=2), rand(2), rand(2, 3), rand(3, 2))
    checked(ngt.linear, rand(2, 3), rand(2, 3), rand(2))
    checked(lambda x, w, b: ngt.conv2d(x, w, b, 2, 1, 1, 2), rand(1, 2, 4, 3), rand(2, 1, 3, 2), rand(2))
    checked(lambda x, w: ngt.conv_transpose1d(x, w, None, 2, 1, 1), rand(1, 2, 4), rand(2, 1, 3))
    checked(lambda x: ngt.avg_pool2d(x, 2, 1, 1, False), rand(1, 1, 3, 4))


# --- convolution ------------------------------------------------------------------------------------------------------

CONVOLUTIONS = [
    # x, weight, stride, padding, dilation, groups
    ((2, 3, 9), (4, 3, 3), 1, 0, 1, 1),
    ((2, 4, 9), (6, 2, 2), 2, 1, 2, 2),
    ((2, 3, 8, 7), (5, 3, 3, 3), 1, 1, 1, 1),
    ((1, 4, 9, 6), (4, 1, 3, 2), (2, 1), (0, 1), (1, 2), 4),
    ((3, 16, 6, 6), (8, 16, 1, 1), 1, 0, 1, 1),
    ((1, 2, 5, 6, 4), (3, 2, 2, 3, 2), 1, (1, 0, 1), 1, 1),
    ((2, 2, 4, 4, 4), (4, 1, 3, 3, 3), 2, 1, 1, 2),
]


def named(kind: str, axes: int, where: Any) -> Any:
    return getattr(where, f"{kind}{axes}d")


@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
@pytest.mark.parametrize("last", [False, True], ids=["contiguous", "channels_last"])
def test_convolution(case: tuple[Any, ...], last: bool) -> None:
    shape, filters, *geometry = case
    axes = len(shape) - 2
    form = {4: torch.channels_last, 5: torch.channels_last_3d}.get(len(shape), torch.contiguous_format)
    x, w, b = rand(*shape), rand(*filters), rand(filters[0])
    if last:
        x = x.contiguous(memory_format=form)
    same_gradients(
        lambda x, w, b: named("conv", axes, ngt)(x, w, b, *geometry),
        lambda x, w, b: named("conv", axes, F)(x, w, b, *geometry),
        x, w, b,
    )  # fmt: skip
    y = named("conv", axes, ngt)(x, w, b, *geometry)
    if last:
        assert y.is_contiguous(memory_format=form)
    # Of y's channels, the same filters make x's again.
    same_gradients(
        lambda y, w: named("conv_transpose", axes, ngt)(y, w, None, *geometry[:2], 0, geometry[3], geometry[2]),
        lambda y, w: named("conv_transpose", axes, F)(y, w, None, *geometry[:2], 0, geometry[3], geometry[2]),
        y.detach(), w,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_convolution_of_16_bits(dtype: Any) -> None:
    x, w, b = rand(2, 8, 6, 6, dtype=dtype), rand(8, 8, 3, 3, dtype=dtype), rand(8, dtype=dtype)
    want = F.conv2d(x.float(), w.float(), b.float(), padding=1).to(dtype)
    close(ngt.conv2d(x, w, b, padding=1), want)
    close(ngt.conv2d(x.contiguous(memory_format=torch.channels_last), w, b, padding=1), want)


@pytest.mark.parametrize("activation", list(ACTIVATIONS))
@pytest.mark.parametrize("dtype", list(BOUND))
@pytest.mark.parametrize("case", [CONVOLUTIONS[i] for i in (1, 2, 3, 5)], ids=str)
def test_convolution_with_activation(case: tuple[Any, ...], dtype: Any, activation: str) -> None:
    shape, filters, *geometry = case
    axes, act = len(shape) - 2, ACTIVATIONS[activation]
    x, w, b = rand(*shape, dtype=dtype), rand(*filters, dtype=dtype), rand(filters[0], dtype=dtype)

    def ours(x: Any, w: Any, b: Any) -> Any:
        return named("conv", axes, ngt)(x, w, b, *geometry, activation=activation)

    def theirs(x: Any, w: Any, b: Any) -> Any:
        """In float32, rounded once."""
        y = act(named("conv", axes, F)(x.float(), w.float(), None if b is None else b.float(), *geometry))
        return y.to(dtype)

    forms = [torch.contiguous_format, {4: torch.channels_last, 5: torch.channels_last_3d}.get(len(shape))]
    for form in forms[: 2 if axes > 1 else 1]:
        same_gradients(ours, theirs, x.contiguous(memory_format=form), w, b, bound=BOUND[dtype] * 10)
    close(ours(x[:0], w, b), theirs(x[:0], w, b))
    close(ours(x, w, None), theirs(x, w, None))


def copies(call: Callable[[], Any]) -> int:
    """How often torch copies a tensor's elements meanwhile."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        call()
    return sum(e.name in ("aten::copy_", "aten::clone", "aten::contiguous") for e in profile.events())


def test_channels_last_is_not_copied() -> None:
    x = rand(2, 8, 6, 6).contiguous(memory_format=torch.channels_last)
    w = rand(8, 8, 3, 3).contiguous(memory_format=torch.channels_last)
    for call in (lambda x: ngt.conv2d(x, w), lambda x: ngt.max_pool2d(x, 2), lambda x: ngt.avg_pool2d(x, 2)):
        assert call(x).is_contiguous(memory_format=torch.channels_last)
        assert copies(lambda call=call: call(x)) == 0
        assert copies(lambda call=call: call(x[:, :, :, ::2])) > 0  # it would be seen


FORMS = (torch.contiguous_format, torch.channels_last)


@pytest.mark.parametrize("forms", itertools.product(FORMS, repeat=3), ids=str)
def test_both_gradients_of_a_convolution(forms: tuple[Any, ...]) -> None:
    """Together, of operands and a gradient that lie in either form, and a gradient that is copied once."""
    shapes = (2, 4, 7, 5), (6, 2, 3, 3), (2, 6, 4, 3)
    x, w, grad = (rand(*s).contiguous(memory_format=f) for s, f in zip(shapes, forms, strict=True))
    b = rand(6)
    wide = torch.stack([grad, -grad], -1)[..., 0]
    for dy in (grad, wide):
        want = torch.autograd.grad(F.conv2d(*(t.requires_grad_() for t in (x, w, b)), 2, 1, 1, 2), (x, w, b), dy)
        y = ngt.conv2d(x, w, b, 2, 1, 1, 2)
        with ngt.use("convolution"):
            inside = F.conv2d(x, w, b, 2, 1, 1, 2)
            used = torch.autograd.grad(inside, (x, w, b), dy)
        for got in (torch.autograd.grad(y, (x, w, b), dy, retain_graph=True), used):
            for g, t in zip(got, want, strict=True):
                close(g, t)
        if set(forms) == {torch.contiguous_format} and ngt.entry() == "compiled":
            assert copies(lambda y=y, dy=dy: torch.autograd.grad(y, (x, w), dy)) == (dy is wide)
    assert ngt.calls()["aten.convolution_backward"] == {"ours": 2, "fallback": {}}


# --- pooling ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["max_pool", "avg_pool"])
@pytest.mark.parametrize(
    "shape, size, stride, padding",
    [
        ((2, 3, 9), 3, 2, 1),
        ((2, 3, 8, 7), 2, None, 0),
        ((1, 8, 7, 9), (3, 2), (2, 1), (1, 0)),
        ((1, 2, 5, 6, 4), 2, 2, 1),
    ],
    ids=str,
)
def test_pooling(kind: str, shape: tuple[int, ...], size: Any, stride: Any, padding: Any) -> None:
    axes = len(shape) - 2
    x = rand(*shape)
    for operand in (x, x.contiguous(memory_format=torch.channels_last) if axes == 2 else x.mT):
        same_gradients(
            lambda x: named(kind, axes, ngt)(x, size, stride, padding),
            lambda x: named(kind, axes, F)(x, size, stride, padding),
            operand,
            host=kind == "avg_pool",  # torch 2.11's own gradient of strided operands is wrong on a GPU
        )
    if kind == "avg_pool":
        options = [{"count_include_pad": False}, {"ceil_mode": True, "count_include_pad": False}, {"ceil_mode": True}]
        options += [{"divisor_override": 3}] * (axes > 1)
    else:
        options = [{"ceil_mode": True}, {"dilation": 2}, {"dilation": 2, "ceil_mode": True}]
    for more in options:
        same_gradients(
            lambda x, more=more: named(kind, axes, ngt)(x, size, stride, padding, **more),
            lambda x, more=more: named(kind, axes, F)(x, size, stride, padding, **more),
            x,
        )


# --- the rest ---------------------------------------------------------------------------------------------------------


def test_stochastic_rounding() -> None:
    x = rand(1000)
    y = ngt.stochastic_round(x, torch.bfloat16, seed=7)
    want = ng.stochastic_round(ng.from_dlpack(x), "float32", bits=7, seed=7).get()
    assert (y.float().cpu().numpy() == want).all()
    assert not torch.equal(y, x.to(torch.bfloat16))
    x.requires_grad_()
    ngt.stochastic_round(x, torch.float16, seed=7).float().sum().backward()
    close(x.grad, torch.ones_like(x))


def test_precision_of_products() -> None:
    a, b = rand(40, 50), rand(50, 30)
    for precision in ("strict", "tensor", None):
        close(ngt.mm(a, b, precision=precision), a @ b)
    with pytest.raises(RuntimeError, match="precision"):
        ngt.mm(a, b, precision="half")


def test_autocast() -> None:
    x, w, b = rand(4, 8), rand(6, 8), rand(6)
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        assert ngt.linear(x, w, b).dtype == torch.bfloat16
        assert ngt.mm(x, w.t()).dtype == torch.bfloat16
        assert ngt.conv1d(x[None], rand(6, 4, 3)).dtype == torch.bfloat16
        assert ngt.grouped_mm([x], [w.t()])[0].dtype == torch.bfloat16
        close(ngt.linear(x, w, b), F.linear(x, w, b))
    assert ngt.mm(x, w.t()).dtype == torch.float32


IMAGE = [2, 2], [1, 1], [1, 1], 1  # stride, padding, dilation, groups
LINE = [1], [0], [1], 1
SAMPLES: list[tuple[str, Callable[[], tuple[Any, ...]], dict[str, Any]]] = [
    ("mm", lambda: (leaf(3, 4), leaf(4, 5)), {}),
    ("bmm", lambda: (leaf(2, 3, 4), leaf(2, 4, 5)), {}),
    ("addmm", lambda: (leaf(5), leaf(3, 4), leaf(4, 5)), {"beta": 2}),
    ("linear", lambda: (leaf(2, 3, 4), leaf(5, 4), leaf(5)), {"activation": "gelu"}),
    ("linear", lambda: (leaf(3, 4), leaf(5, 4), None), {"activation": "relu"}),
    ("grouped_mm", lambda: ([leaf(3, 4)], [leaf(4, 5)]), {}),
    ("stochastic_round", lambda: (leaf(3, 4), torch.bfloat16, 3), {}),
    ("convolution", lambda: (leaf(1, 2, 5, 5), leaf(3, 2, 3, 3), leaf(3), *IMAGE), {}),
    ("convolution", lambda: (leaf(1, 2, 5, 5), leaf(3, 2, 3, 3), leaf(3), *IMAGE), {"activation": "tanh"}),
    ("convolution", lambda: (leaf(1, 2, 5), leaf(3, 2, 3), None, *LINE), {"activation": "silu"}),
    ("convolution_input", lambda: (leaf(1, 3, 3), leaf(3, 2, 3), [1, 2, 5], *LINE), {}),
    ("convolution_weight", lambda: (leaf(1, 3, 3), leaf(1, 2, 5), [3, 2, 3], *LINE), {}),
    ("max_pool", lambda: (leaf(1, 2, 6, 6), [2, 2], [2, 2], [0, 0]), {}),
    ("max_pool_backward", lambda: (leaf(1, 2, 3, 3), leaf(1, 2, 6, 6), [2, 2], [2, 2], [0, 0]), {}),
    ("max_pool_choice", lambda: (leaf(1, 2, 6, 6), leaf(1, 2, 6, 6), [3, 2], [2, 2], [1, 0]), {}),
    ("avg_pool", lambda: (leaf(1, 2, 6, 6), [3, 3], [2, 2], [1, 1], False), {}),
    ("avg_pool_backward", lambda: (leaf(1, 2, 3, 3), leaf(1, 2, 6, 6), [3, 3], [2, 2], [1, 1], False), {}),
]


def leaf(*shape: int) -> Any:
    return rand(*shape).requires_grad_()


@pytest.mark.parametrize("name, sample, options", SAMPLES, ids=[f"{s[0]}-{i}" for i, s in enumerate(SAMPLES)])
def test_opcheck(name: str, sample: Callable[[], Any], options: dict[str, Any]) -> None:
    torch.library.opcheck(getattr(OPS, name).default, sample(), options)


def test_compile_without_breaks() -> None:
    def block(x: Any, w: Any, b: Any, f: Any) -> Any:
        y = ngt.conv2d(x, f, None, 1, 1)
        y = ngt.max_pool2d(torch.relu(y), 2)
        return ngt.linear(y.flatten(1), w, b, activation="gelu").square().mean()

    operands = [rand(2, 3, 8, 8), rand(5, 64), rand(5), rand(4, 3, 3, 3)]
    results = []
    for f in (block, torch.compile(block, fullgraph=True, backend="aot_eager")):
        mine = [t.detach().clone().requires_grad_() for t in operands]
        loss = f(*mine)
        loss.backward()
        results.append([loss, *(t.grad for t in mine)])
    for got, want in zip(*results, strict=True):
        close(got, want, 1e-6)


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: ngt.mm(rand(3, 4), rand(5, 6)), "cannot be multiplied"),
        (lambda: ngt.mm(rand(3, 4), rand(4, 6).double()), "float64"),
        (lambda: ngt.mm(rand(3, 4), rand(4, 6, dtype=torch.float16)), "several dtypes"),
        (lambda: ngt.mm(rand(2, 3, 4), rand(4, 6)), "axes"),
        (lambda: ngt.linear(rand(3, 4), rand(6, 5)), "does not fit"),
        (lambda: ngt.linear(rand(3, 4), rand(6, 4), rand(5)), "bias"),
        (lambda: ngt.linear(rand(3, 4), rand(6, 4), activation="elu"), "activation"),
        (lambda: ngt.conv2d(rand(1, 3, 4, 4), rand(2, 2, 3, 3)), "does not fit"),
        (lambda: ngt.conv2d(rand(1, 3, 4, 4), rand(2, 3, 3, 3), activation="clip"), "activation is 'clip'; needs"),
        (lambda: ngt.conv2d(rand(1, 3, 2, 2), rand(2, 3, 3, 3)), "less than a window"),
        (lambda: ngt.max_pool2d(rand(1, 1, 4, 4), 2, 2, 2), "padding"),
    ],
)  # fmt: skip
def test_bad_input_is_torchs_error(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        call()


# --- aten by ours -----------------------------------------------------------------------------------------------------


def test_use_counts_what_ran() -> None:
    a, b = rand(3, 4), rand(4, 5)
    with ngt.use("mm"):
        close(a @ b, ngt.mm(a, b))
        assert torch.equal(a.double() @ b.double(), torch.mm(a.double(), b.double()))
        torch.bmm(a[None], b[None])
    reason = "dtype torch.float64; needs float32, float16 or bfloat16"
    assert ngt.calls() == {"aten.mm": {"ours": 1, "fallback": {reason: 2}}}
    torch.mm(a, b)
    assert ngt.calls()["aten.mm"]["ours"] == 1
    ngt.reset_calls()
    assert ngt.calls() == {}
    with pytest.raises(ValueError, match="needs names of mm"):
        ngt.use("matmul")


def test_use_is_of_its_thread_and_nests() -> None:
    a, b = rand(3, 4), rand(4, 5)
    with ngt.use("mm"):
        with pytest.raises(ZeroDivisionError), ngt.use("bmm"):
            torch.mm(a, b)
            torch.bmm(a[None], b[None])
            raise ZeroDivisionError
        torch.bmm(a[None], b[None])  # aten's again
        other = threading.Thread(target=lambda: torch.mm(a, b))
        other.start()
        other.join()
        torch.mm(a, b)
    assert ngt.calls() == {"aten.bmm": {"ours": 1, "fallback": {}}, "aten.mm": {"ours": 2, "fallback": {}}}
    x, w = rand(2, 3, 8, 8).requires_grad_(), rand(4, 3, 3, 3).requires_grad_()
    with ngt.use("convolution"):
        F.conv2d(x, w).sum().backward()
    assert ngt.calls()["aten.convolution_backward"] == {"ours": 1, "fallback": {}}


def test_use_pools_with_torchs_indices() -> None:
    for shape, size, stride, padding in (((2, 8, 9, 7), 3, 2, 1), ((1, 3, 6, 6), 2, 2, 0), ((1, 8, 4, 6, 5), 2, 1, 1)):
        axes = len(shape) - 2
        for x in (
            rand(*shape),
            rand(*shape).contiguous(memory_format=[torch.channels_last, torch.channels_last_3d][axes - 2]),
            torch.full(shape, float("-inf"), device=DEVICE),
        ):
            want, places = named("max_pool", axes, F)(x, size, stride, padding, return_indices=True)
            with ngt.use("max_pool"):
                got, mine = named("max_pool", axes, F)(x, size, stride, padding, return_indices=True)
            assert torch.equal(got, want) and torch.equal(mine, places)
    assert {n: c["fallback"] for n, c in ngt.calls().items() if c["fallback"]} == {}


class Block(torch.nn.Module):
    """A residual block as torchvision has it."""

    def __init__(self, before: int, channels: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = torch.nn.Conv2d(before, channels, 3, stride, 1, bias=False)
        self.norm1 = torch.nn.BatchNorm2d(channels)
        self.conv2 = torch.nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.norm2 = torch.nn.BatchNorm2d(channels)
        self.short: torch.nn.Module = torch.nn.Identity()
        if stride != 1 or before != channels:
            self.short = torch.nn.Sequential(
                torch.nn.Conv2d(before, channels, 1, stride, bias=False), torch.nn.BatchNorm2d(channels)
            )

    def forward(self, x: Any) -> Any:
        y = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(self.norm2(self.conv2(y)) + self.short(x))


def residual_network() -> Any:
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 5, 2, 2), torch.nn.ReLU(), torch.nn.MaxPool2d(3, 2, 1),
        Block(8, 8), Block(8, 16, 2), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(16, 10),
    ).to(DEVICE)  # fmt: skip


@pytest.mark.parametrize("last", [False, True], ids=["contiguous", "channels_last"])
def test_a_residual_network_trains(last: bool) -> None:
    form = torch.channels_last if last else torch.contiguous_format
    x, target = rand(4, 3, 16, 16).contiguous(memory_format=form), torch.arange(4, device=DEVICE)
    states = []
    for where in (None, ngt.use()):
        net = residual_network().to(memory_format=form)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        losses = []
        for _ in range(2):
            optimizer.zero_grad()
            if where is None:
                loss = F.cross_entropy(net(x), target)
                loss.backward()
            else:
                with where:
                    loss = F.cross_entropy(net(x), target)
                    loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
        states.append((losses, [p.detach() for p in net.parameters()]))
    assert abs(states[0][0][1] - states[1][0][1]) <= 1e-4
    for got, want in zip(states[1][1], states[0][1], strict=True):
        close(got, want, 1e-4)
    calls = ngt.calls()
    assert calls["aten.convolution"] == {"ours": 12, "fallback": {}}
    assert calls["aten.convolution_backward"]["ours"] == 12
    assert calls["aten.max_pool2d_with_indices_backward"]["ours"] == 2
    assert calls["aten.addmm"]["ours"] == 2 and calls["aten.mm"]["ours"] >= 4


def test_the_page_runs() -> None:
    page = ROOT / "docs" / "torch.md"
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.S):
        names: dict[str, Any] = {}
        exec(block, names)
        assert ngt.calls()["aten.convolution"] == {"ours": 1, "fallback": {}}
        assert names["h"].shape == (5, 64)
