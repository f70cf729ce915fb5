"""torch.ops.nervanagpu as torch enters it: any operands, any mode, and Python of ours only where it is needed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
from torch_operands import DEVICE, OPS, F, close, ngt, rand, torch

pytestmark = pytest.mark.usefixtures("fresh_torch")

Function = Callable[..., Any]
ONE = ([2, 1], [1, 1], [1, 1], 1)  # stride, padding, dilation, groups
WINDOWS = ([2, 3], [2, 1], [1, 0])  # kernel, stride, padding
IMAGE, FILTERS, RESULT = (2, 3, 7, 6), (4, 3, 3, 3), (2, 4, 4, 6)


def _gradients(grad: Any, x: Any, w: Any, which: int) -> Any:
    mask = [i == which for i in range(3)]
    return torch.ops.aten.convolution_backward(grad, x, w, [4], *ONE[:3], False, [0, 0], 1, mask)[which]


def _pooled(pool: Function) -> Function:
    def gradient(grad: Any, x: Any) -> Any:
        leaf = x.detach().requires_grad_()
        with torch.enable_grad():
            return torch.autograd.grad(pool(leaf, *WINDOWS), leaf, grad)[0]

    return gradient


# Ours, aten's, shapes of the operands.
CASES: dict[str, tuple[Function, Function, tuple[tuple[int, ...], ...]]] = {
    "mm": (OPS.mm, torch.mm, ((5, 6), (6, 4))),
    "mm, tensor": (lambda a, b: OPS.mm(a, b, precision="tensor"), torch.mm, ((5, 6), (6, 4))),
    "bmm": (OPS.bmm, torch.bmm, ((2, 5, 6), (2, 6, 4))),
    "bmm, strict": (lambda a, b: OPS.bmm(a, b, precision="strict"), torch.bmm, ((2, 5, 6), (2, 6, 4))),
    "addmm": (OPS.addmm, torch.addmm, ((4,), (5, 6), (6, 4))),
    "addmm, scaled": (
        lambda c, a, b: OPS.addmm(c, a, b, beta=2, alpha=0.5, precision="strict"),
        lambda c, a, b: torch.addmm(c, a, b, beta=2, alpha=0.5),
        ((5, 1), (5, 6), (6, 4)),
    ),
    "linear": (OPS.linear, F.linear, ((2, 5, 6), (4, 6), (4,))),
    "linear, gelu": (
        lambda x, w, b: OPS.linear(x, w, b, activation="gelu"),
        lambda x, w, b: F.gelu(F.linear(x, w, b)),
        ((5, 6), (4, 6), (4,)),
    ),
    "linear, no bias": (lambda x, w: OPS.linear(x, w), F.linear, ((5, 6), (4, 6))),
    "convolution": (
        lambda x, w, b: OPS.convolution(x, w, b, *ONE),
        lambda x, w, b: F.conv2d(x, w, b, *ONE),
        (IMAGE, FILTERS, (4,)),
    ),
    "convolution, tanh": (
        lambda x, w: OPS.convolution(x, w, None, *ONE, activation="tanh"),
        lambda x, w: F.conv2d(x, w, None, *ONE).tanh(),
        (IMAGE, FILTERS),
    ),
    "convolution_input": (
        lambda g, w: OPS.convolution_input(g, w, IMAGE, *ONE),
        lambda g, w: _gradients(g, g.new_empty(IMAGE), w, 0),
        (RESULT, FILTERS),
    ),
    "convolution_weight": (
        lambda g, x: OPS.convolution_weight(g, x, FILTERS, *ONE),
        lambda g, x: _gradients(g, x, x.new_empty(FILTERS), 1),
        (RESULT, IMAGE),
    ),
    "max_pool": (lambda x: OPS.max_pool(x, *WINDOWS), lambda x: F.max_pool2d(x, *WINDOWS), (IMAGE,)),
    "avg_pool": (lambda x: OPS.avg_pool(x, *WINDOWS), lambda x: F.avg_pool2d(x, *WINDOWS), (IMAGE,)),
    "avg_pool, without padding": (
        lambda x: OPS.avg_pool(x, *WINDOWS, False),
        lambda x: F.avg_pool2d(x, *WINDOWS, False, False),
        (IMAGE,),
    ),
    "max_pool_backward": (
        lambda g, x: OPS.max_pool_backward(g, x, *WINDOWS),
        _pooled(F.max_pool2d),
        ((2, 3, 4, 4), IMAGE),
    ),
    "avg_pool_backward": (
        lambda g, x: OPS.avg_pool_backward(g, x, *WINDOWS),
        _pooled(F.avg_pool2d),
        ((2, 3, 4, 4), IMAGE),
    ),
    "grouped_mm": (lambda a, b: OPS.grouped_mm([a, a], [b, b])[1], torch.mm, ((5, 6), (6, 4))),
    "grouped_mm, strict": (
        lambda a, b: OPS.grouped_mm([a], [b], precision="strict")[0],
        torch.mm,
        ((5, 6), (6, 4)),
    ),
    "stochastic_round": (lambda x: OPS.stochastic_round(x, torch.float32, 3, 0, 15), torch.clone, ((5, 6),)),
    "stochastic_round, no bits": (lambda x: OPS.stochastic_round(x, torch.float32, 3), torch.clone, ((5, 6),)),
}
each = pytest.mark.parametrize("name", list(CASES))


def _operands(name: str, **options: Any) -> list[Any]:
    return [rand(*shape).requires_grad_(**options) if options else rand(*shape) for shape in CASES[name][2]]


@each
@pytest.mark.parametrize("mode", [nullcontext, torch.no_grad, torch.inference_mode, ngt.use])
def test_plain_operands(name: str, mode: Any) -> None:
    ours, theirs, _ = CASES[name]
    operands = _operands(name)
    want = theirs(*operands)
    with mode():
        y = ours(*operands)
    close(y, want)
    assert not y.requires_grad and y.is_inference() == (mode is torch.inference_mode)
    assert type(y) is torch.Tensor and y.is_contiguous()


@each
def test_what_wants_gradients(name: str) -> None:
    ours, theirs, shapes = CASES[name]
    for chosen in range(len(shapes)):
        operands = [t.requires_grad_(i == chosen) for i, t in enumerate(_operands(name))]
        y = ours(*operands)
        assert y.requires_grad and y.grad_fn is not None
        with torch.no_grad():
            assert not ours(*operands).requires_grad
            grad = rand(*y.shape)
        if name.endswith("backward"):
            continue  # aten has no such gradient of a window's largest; test_torch.py checks ours by numbers
        (got,) = torch.autograd.grad(y, operands[chosen], grad)
        (want,) = torch.autograd.grad(theirs(*operands), operands[chosen], grad)
        close(got, want)


@each
def test_forward_derivatives_are_not_lost(name: str) -> None:
    ours, _, _ = CASES[name]
    ad = torch.autograd.forward_ad
    operands = _operands(name)
    with ad.dual_level():
        duals = [ad.make_dual(t, torch.randn_like(t)) for t in operands]
        assert ad.unpack_dual(ours(*duals)).tangent is not None
        with torch.no_grad():
            assert ad.unpack_dual(ours(*duals)).tangent is not None
        assert ad.unpack_dual(ours(*operands)).tangent is None


class _Seen(torch.utils._python_dispatch.TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


@each
def test_modes_see_the_operator(name: str) -> None:
    ours, theirs, _ = CASES[name]
    operands = _operands(name)
    with _Seen() as seen:
        y = ours(*operands)
    close(y, theirs(*operands))
    assert [n for n in seen.names if n.startswith("nervanagpu.")] == [f"nervanagpu.{name.split(',')[0]}.default"]


@each
def test_tensors_of_other_classes(name: str) -> None:
    from torch.testing._internal.two_tensor import TwoTensor

    ours, theirs, _ = CASES[name]
    operands = _operands(name)
    own: Any = type("Own", (torch.Tensor,), {})
    y = ours(operands[0].as_subclass(own), *operands[1:])
    assert type(y) is own
    close(y.as_subclass(torch.Tensor), theirs(*operands))
    with torch.no_grad():
        two = ours(*(TwoTensor(t, 2 * t) for t in operands))
    assert type(two) is TwoTensor
    close(two.a, theirs(*operands))
    close(two.b, theirs(*(2 * t for t in operands)))


@each
def test_autocast(name: str) -> None:
    ours, theirs, _ = CASES[name]
    operands = _operands(name)
    with torch.autocast(DEVICE, dtype=torch.bfloat16), torch.no_grad():
        y = ours(*operands)
    assert y.dtype == (torch.float32 if "pool" in name or "round" in name else torch.bfloat16)
    close(y.float(), theirs(*operands).float(), 5e-2)


@each
def test_meta_tensors(name: str) -> None:
    ours, theirs, _ = CASES[name]
    operands = _operands(name)
    y = ours(*(t.to("meta") for t in operands))
    assert y.is_meta and y.shape == theirs(*operands).shape


@each
def test_operands_that_torch_negates_when_they_are_read(name: str) -> None:
    ours, theirs, _ = CASES[name]
    operands = [torch.complex(torch.zeros_like(t), -t).conj().imag for t in _operands(name)]
    assert all(t.is_neg() for t in operands)
    with torch.no_grad():
        close(ours(*operands), theirs(*operands))


@each
@pytest.mark.parametrize("wrong", [torch.float64, torch.int32, torch.bool, torch.complex64, torch.float8_e5m2])
def test_wrong_dtypes_are_refused_by_name(name: str, wrong: Any) -> None:
    ours, _, _ = CASES[name]
    operands = _operands(name)
    for mixed in ([t.to(wrong) for t in operands], [operands[0].to(wrong), *operands[1:]]):
        with pytest.raises(RuntimeError, match=f"nervanagpu: (dtype {wrong}|operands of several dtypes)"):
            ours(*mixed)


BAD: list[tuple[Function, str]] = [
    (lambda: OPS.mm(rand(2, 3), rand(3, 2), precision="exact"), "precision is 'exact'"),
    (lambda: OPS.mm(rand(2, 3), rand(2, 3)), "cannot be multiplied"),
    (lambda: OPS.linear(rand(2, 3), rand(4, 3), activation="clip"), "activation is 'clip'"),
    (lambda: OPS.linear(rand(2, 3), rand(4, 3), activation=""), "activation is ''"),
    (lambda: OPS.addmm(rand(2), rand(2, 3), rand(3, 2), beta=1j), "beta is 1j"),
    (lambda: OPS.addmm(rand(2), rand(2, 3), rand(3, 2), beta=-1e39), "beta is -1.*; needs a number that float32 holds"),
    (
        lambda: OPS.addmm(rand(2), rand(2, 3), rand(3, 2), alpha=1e300),
        "alpha is 1.*; needs a number that float32 holds",
    ),
    (lambda: OPS.mm(None, rand(3, 2)), "nervanagpu: an operand is None"),
    (lambda: OPS.mm(rand(2, 3).to("meta"), rand(3, 2)), "nervanagpu: operands on .* and meta"),
    (lambda: OPS.convolution(rand(*IMAGE), rand(*FILTERS), None, [1], [0, 0], [1, 1], 1), "stride has 1 numbers"),
    (lambda: OPS.convolution(rand(*IMAGE), rand(*FILTERS), None, [1, 1], [0, -1], [1, 1], 1), "padding is .*-1"),
    (
        lambda: OPS.convolution(rand(*IMAGE), rand(*FILTERS), None, [1, 1], [0, 2**40], [1, 1], 1),
        "padding is|can't allocate",
    ),
    (lambda: OPS.convolution(rand(*IMAGE), rand(*FILTERS), None, *ONE[:3], 0), "groups"),
    (lambda: OPS.convolution_input(rand(*RESULT), rand(*FILTERS), [2, 3], *ONE), "size has 2 numbers|x has 2 axes"),
    (lambda: OPS.convolution_input(rand(*RESULT), rand(*FILTERS), [2, 3, 9, 6], *ONE), "the gradient is"),
    (lambda: OPS.convolution_weight(rand(*RESULT), rand(*IMAGE), [4, 3, 3, 3, 3], *ONE), "size has 5 numbers|needs 3"),
    (lambda: OPS.convolution_weight(rand(*RESULT), rand(*IMAGE), [4, 3, 3, -3], *ONE), "nervanagpu: "),
    (lambda: OPS.max_pool(rand(*IMAGE), [2], *WINDOWS[1:]), "kernel has 1 numbers"),
    (lambda: OPS.max_pool(rand(*IMAGE), [2, 2], [1, 1], [2, 0]), "padding"),
    (lambda: OPS.max_pool_backward(rand(2, 3, 4, 5), rand(*IMAGE), *WINDOWS), "the gradient is"),
    (lambda: OPS.avg_pool(rand(3, 4), *WINDOWS), "axes"),
]


def test_numbers_as_large_as_there_are() -> None:
    a, b = torch.ones(2, 3, device=DEVICE), torch.ones(3, 2, device=DEVICE)
    largest = torch.finfo(torch.float32).max
    for scale in (largest / 4, -float("inf"), float("nan"), 2**62, True):
        for scales in ({"alpha": scale}, {"beta": scale}):
            got, want = (f(b[0], a, b, **scales) for f in (OPS.addmm, torch.addmm))
            assert torch.allclose(got, want, equal_nan=True)


@pytest.mark.parametrize("number", range(len(BAD)))
def test_what_cannot_be_is_refused(number: int) -> None:
    call, text = BAD[number]
    for mode in (nullcontext, torch.no_grad, torch.inference_mode):
        with mode(), pytest.raises(RuntimeError, match=text):
            call()


@pytest.mark.skipif(
    not ngt.native.version_has_overrides(), reason="needs torch 2.14, and a Python with a stable interface"
)
@each
def test_no_python_of_ours_is_on_the_way(name: str) -> None:
    ours, _, _ = CASES[name]
    operands = _operands(name)
    entered: list[str] = []

    def note(frame: Any, event: str, argument: object) -> None:
        if event == "call" and "nervanagpu" in frame.f_code.co_filename.replace(__file__, ""):
            entered.append(f"{frame.f_code.co_filename}:{frame.f_code.co_name}")

    for mode in (nullcontext, torch.no_grad, torch.inference_mode, ngt.use):
        with mode():
            sys.setprofile(note)
            try:
                ours(*operands)
            finally:
                sys.setprofile(None)
    assert entered == []
    operands[0].requires_grad_()
    sys.setprofile(note)
    try:
        ours(*operands)
    finally:
        sys.setprofile(None)
    assert entered  # the formula of its gradient is Python's
