"""nervanagpu.torch where programs are less tidy than tests: strange operands, transforms, modes, threads, copies."""

from __future__ import annotations

import copy
import io
import pickle
import shutil
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from torch_operands import DEVICE, OPS, F, close, ngt, rand, torch

pytestmark = pytest.mark.usefixtures("fresh_torch")

Function = Callable[..., Any]
# Ours, torch's, and operands that are differentiated.
PAIRS: dict[str, tuple[Function, Function, Callable[[], tuple[Any, ...]]]] = {
    "mm": (ngt.mm, torch.mm, lambda: (rand(5, 6), rand(6, 4))),
    "bmm": (ngt.bmm, torch.bmm, lambda: (rand(2, 5, 6), rand(2, 6, 4))),
    "addmm": (ngt.addmm, torch.addmm, lambda: (rand(4), rand(5, 6), rand(6, 4))),
    "linear": (ngt.linear, F.linear, lambda: (rand(2, 5, 6), rand(4, 6), rand(4))),
    "linear_gelu": (
        lambda x, w, b: ngt.linear(x, w, b, activation="gelu"),
        lambda x, w, b: F.gelu(F.linear(x, w, b)),
        lambda: (rand(5, 6), rand(4, 6), rand(4)),
    ),
    "linear_silu": (
        lambda x, w, b: ngt.linear(x, w, b, activation="silu"),
        lambda x, w, b: F.silu(F.linear(x, w, b)),
        lambda: (rand(5, 6), rand(4, 6), rand(4)),
    ),
    "conv1d": (
        lambda x, w, b: ngt.conv1d(x, w, b, 2, 1),
        lambda x, w, b: F.conv1d(x, w, b, 2, 1),
        lambda: (rand(2, 3, 9), rand(4, 3, 3), rand(4)),
    ),
    "conv2d": (
        lambda x, w, b: ngt.conv2d(x, w, b, 1, 1),
        lambda x, w, b: F.conv2d(x, w, b, 1, 1),
        lambda: (rand(2, 4, 6, 5), rand(4, 4, 3, 3), rand(4)),
    ),
    **{
        f"conv2d_{act}": (
            partial(ngt.conv2d, stride=2, padding=1, activation=act),
            lambda x, w, b, f=f: f(F.conv2d(x, w, b, 2, 1)),
            lambda: (rand(2, 4, 6, 5), rand(4, 4, 3, 3), rand(4)),
        )
        for act, f in (("relu", torch.relu), ("sigmoid", torch.sigmoid), ("silu", F.silu))
    },
    "conv3d": (ngt.conv3d, F.conv3d, lambda: (rand(1, 2, 4, 5, 4), rand(3, 2, 2, 2, 2), rand(3))),
    "conv_transpose2d": (
        lambda x, w, b: ngt.conv_transpose2d(x, w, b, 2, 1, 1),
        lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1, 1),
        lambda: (rand(2, 4, 5, 4), rand(4, 3, 3, 3), rand(3)),
    ),
    "avg_pool2d": (
        lambda x: ngt.avg_pool2d(x, 3, 2, 1),
        lambda x: F.avg_pool2d(x, 3, 2, 1),
        lambda: (rand(2, 3, 7, 6),),
    ),
    "max_pool2d": (
        lambda x: ngt.max_pool2d(x, 3, 2, 1),
        lambda x: F.max_pool2d(x, 3, 2, 1),
        lambda: (rand(2, 3, 7, 6),),
    ),
    "max_pool2d_dilated": (
        lambda x: ngt.max_pool2d(x, 2, 2, 0, 2),
        lambda x: F.max_pool2d(x, 2, 2, 0, 2),
        lambda: (rand(2, 3, 7, 6),),
    ),
}
each = pytest.mark.parametrize("name", list(PAIRS))


# --- operands ---------------------------------------------------------------------------------------------------------


def _strided(t: Any) -> Any:
    wide = torch.empty((*t.shape[:-1], 2 * t.shape[-1] + 1), device=t.device, dtype=t.dtype)
    wide[..., 1::2] = t
    return wide[..., 1::2]


def _permuted(t: Any) -> Any:
    return t.transpose(0, -1).contiguous().transpose(0, -1)


def _negated(t: Any) -> Any:
    out = torch.complex(torch.zeros_like(t), -t).conj().imag
    assert out.is_neg()
    return out


def _offset(t: Any) -> Any:
    flat = torch.empty(t.numel() + 3, device=t.device, dtype=t.dtype)
    flat[3:] = t.reshape(-1)
    return flat[3:].view(t.shape)


LAYOUTS = {
    "strided": _strided,
    "permuted": _permuted,
    "negated": _negated,
    "offset": _offset,
    "expanded": lambda t: t[:1].expand(t.shape),
    "flipped": lambda t: t.flip(0).flip(0),
    "read_only_numpy": lambda t: torch.from_numpy(t.cpu().numpy().copy()).to(t.device),
}


@each
@pytest.mark.parametrize("layout", list(LAYOUTS))
def test_operands_as_they_lie(name: str, layout: str) -> None:
    ours, theirs, make = PAIRS[name]
    operands = [LAYOUTS[layout](t) for t in make()]
    want = theirs(*operands)
    with torch.no_grad():
        close(ours(*operands), want)
    leaves = [t.detach().requires_grad_() for t in operands]
    y = ours(*leaves)
    close(y, want)
    grad = LAYOUTS[layout](torch.randn_like(y))
    got = torch.autograd.grad(y, leaves, grad)
    expected = torch.autograd.grad(theirs(*leaves), leaves, grad)
    for g, w in zip(got, expected, strict=True):
        close(g, w)


def test_operands_that_overlap_themselves() -> None:
    rows, b = rand(20).unfold(0, 4, 1), rand(4, 5)
    close(ngt.mm(rows, b), rows @ b)
    close(ngt.linear(rows, b.t()), rows @ b)
    close(ngt.mm(b.t(), rows.t()), b.t() @ rows.t())
    batch, c = rand(30).as_strided((3, 4, 5), (2, 3, 1)), rand(3, 5, 2)
    close(ngt.bmm(batch, c), torch.bmm(batch, c))
    x, w = rand(200).as_strided((2, 3, 5, 5), (7, 5, 3, 1)), rand(4, 3, 3, 3)
    close(ngt.conv2d(x, w), F.conv2d(x, w))
    close(ngt.max_pool2d(x, 2), F.max_pool2d(x, 2))


@pytest.mark.parametrize("form", [torch.channels_last_3d, torch.contiguous_format])
def test_three_dimensions_of_either_form(form: Any) -> None:
    x, w = rand(2, 4, 5, 4, 6).contiguous(memory_format=form), rand(8, 4, 2, 3, 2)
    y, z = ngt.conv3d(x, w, padding=1), F.conv3d(x, w, padding=1)
    close(y, z)
    assert y.is_contiguous(memory_format=form)
    for got, want in (
        (ngt.max_pool3d(x, 2), F.max_pool3d(x, 2)),
        (ngt.avg_pool3d(x, 2, 1, 1), F.avg_pool3d(x, 2, 1, 1)),
    ):
        close(got, want)
        assert got.is_contiguous(memory_format=form)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_an_image_that_is_no_batch(axes: int) -> None:
    image, w = rand(4, *(7, 6, 5)[:axes]), rand(6, 4, *(3, 2, 3)[:axes])
    for kind, operands in (("conv", (image, w, rand(6))), ("conv_transpose", (rand(6, *(3, 4, 3)[:axes]), w)),
                           ("max_pool", (image, 2)), ("avg_pool", (image, 2))):  # fmt: skip
        close(*(getattr(where, f"{kind}{axes}d")(*operands) for where in (ngt, F)))


@pytest.mark.parametrize("padding", ["same", "valid"])
@pytest.mark.parametrize("window, dilation", [(3, 1), (4, 1), (2, 3), (1, 1), ((2, 3), (1, 2)), ((4, 2), (3, 1))])
def test_padding_by_name(padding: str, window: Any, dilation: Any) -> None:
    size = window if isinstance(window, tuple) else (window, window)
    x, w = rand(2, 3, 12, 8).requires_grad_(), rand(4, 3, *size)
    y, z = (where.conv2d(x, w, None, 1, padding, dilation) for where in (ngt, F))
    close(y, z)
    grad = torch.randn_like(y)
    close(*(torch.autograd.grad(t, x, grad)[0] for t in (y, z)))


def test_numbers_of_other_kinds() -> None:
    import numpy as np

    x, w = rand(1, 3, 9, 8), rand(4, 3, 3, 3)
    close(ngt.conv2d(x, w, None, np.int64(2), torch.Size([1, 0]), torch.tensor(1)), F.conv2d(x, w, None, 2, (1, 0)))


def test_numbers_in_lists_of_one_and_of_none() -> None:
    x, w = rand(2, 3, 9, 8), rand(4, 3, 3, 3)
    close(ngt.conv2d(x, w, None, [2], (1,), [1]), F.conv2d(x, w, None, [2], (1,), [1]))
    close(ngt.conv_transpose2d(x, w.transpose(0, 1), None, [2]), F.conv_transpose2d(x, w.transpose(0, 1), None, [2]))
    for ours, theirs in ((ngt.max_pool2d, F.max_pool2d), (ngt.avg_pool2d, F.avg_pool2d)):
        close(ours(x, [3], [2], [1]), theirs(x, [3], [2], [1]))
        close(ours(x, (3, 2), []), theirs(x, (3, 2), []))


@pytest.mark.parametrize("form", [torch.channels_last, torch.contiguous_format])
def test_what_is_laid_out_anew_has_no_gaps(form: Any) -> None:
    """As torch's, so that a view of it can be taken."""
    x = rand(2, 3, 8, 7).to(memory_format=form)
    for ours, theirs in (
        (partial(ngt.max_pool2d, ceil_mode=True), partial(F.max_pool2d, ceil_mode=True)),
        (partial(ngt.max_pool2d, dilation=2), partial(F.max_pool2d, dilation=2)),
        (partial(ngt.avg_pool2d, ceil_mode=True), partial(F.avg_pool2d, ceil_mode=True)),
    ):
        leaf = x.clone().requires_grad_()
        y, want = ours(leaf, 3, 2), theirs(x, 3, 2)
        close(y, want)
        assert y.stride() == want.stride()


def test_alpha_0_reads_no_operand() -> None:
    a, b = torch.full((3, 4), float("nan"), device=DEVICE), rand(4, 5)
    for bias in (rand(5), rand(3, 5)):
        for beta in (1, 0.5):
            close(ngt.addmm(bias, a, b, beta=beta, alpha=0), (bias * beta).expand(3, 5))


@pytest.mark.parametrize("where", ["batch", "rows", "columns", "depth"])
def test_products_without_elements(where: str) -> None:
    m, k, n = (0 if where == name else size for name, size in (("rows", 3), ("depth", 4), ("columns", 5)))
    count = 0 if where == "batch" else 2
    close(ngt.bmm(rand(count, m, k), rand(count, k, n)), torch.bmm(rand(count, m, k), rand(count, k, n)) * 0)
    for bias in (rand(n), rand(m, n), rand(1)):
        close(ngt.addmm(bias, rand(m, k), rand(k, n), beta=2, alpha=0), (2 * bias).expand(m, n))
    x, w, b = (t.requires_grad_() for t in (rand(2, m, k), rand(n, k), rand(n)))
    y = ngt.linear(x, w, b)
    close(y, F.linear(x, w, b))
    y.sum().backward()
    assert [t.grad.shape for t in (x, w, b)] == [t.shape for t in (x, w, b)]


def test_windows_without_elements() -> None:
    x = rand(0, 3, 6, 6).requires_grad_()
    w = rand(4, 3, 3, 3).requires_grad_()
    for y in (ngt.conv2d(x, w), ngt.max_pool2d(x, 2), ngt.avg_pool2d(x, 2)):
        assert y.shape[0] == 0
        y.sum().backward()
    assert x.grad.shape == x.shape and not w.grad.any()
    assert ngt.conv_transpose2d(x, rand(3, 2, 3, 3)).shape == (0, 2, 8, 8)


# --- gradients --------------------------------------------------------------------------------------------------------


@each
def test_every_choice_of_gradients(name: str) -> None:
    ours, theirs, make = PAIRS[name]
    operands = make()
    for chosen in range(2 ** len(operands)):
        a = [t.detach().clone().requires_grad_(bool(chosen >> i & 1)) for i, t in enumerate(operands)]
        b = [t.detach().clone().requires_grad_(t.requires_grad) for t in a]
        for s, t in zip(a, b, strict=True):
            t.requires_grad_(s.requires_grad)
        y, z = ours(*a), theirs(*b)
        assert y.requires_grad == z.requires_grad
        close(y, z)
        if y.requires_grad:
            grad = torch.randn_like(y)
            y.backward(grad)
            z.backward(grad)
        for s, t in zip(a, b, strict=True):
            assert (s.grad is None) == (t.grad is None)
            if s.grad is not None:
                close(s.grad, t.grad)


@each
def test_second_derivatives(name: str) -> None:
    ours, theirs, make = PAIRS[name]
    operands = [t.requires_grad_() for t in make()]
    found = []
    for f in (ours, theirs):
        y = (f(*operands) ** 2).sum()
        first = torch.autograd.grad(y, operands, create_graph=True)
        found.append(torch.autograd.grad(sum((g**2).sum() for g in first), operands))
    for got, want in zip(*found, strict=True):
        close(got, want)


def test_a_gradient_through_a_view_and_in_place() -> None:
    w = rand(6, 4).requires_grad_()
    y = ngt.mm(rand(5, 6), w)
    y += 1  # what is saved for the gradient is not y
    y.sum().backward()
    assert w.grad is not None
    h = ngt.linear(rand(5, 6), rand(4, 6).requires_grad_(), activation="tanh")
    h += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        h.sum().backward()


def _saved(y: Callable[[], Any], operands: Sequence[Any]) -> tuple[set[int], int]:
    """Which of the operands a call saves for its gradients, and how many elements more."""
    found: dict[int, Any] = {}

    def pack(t: Any) -> Any:
        found[t.data_ptr()] = t
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        result = y()
    which = {i for i, t in enumerate(operands) if t.data_ptr() in found}
    others = {p: t for p, t in found.items() if p not in {t.data_ptr() for t in operands}}
    del result
    return which, sum(t.numel() for t in others.values())


@each
@pytest.mark.parametrize("autocast", [False, True])
def test_no_more_is_saved_than_torch_saves(name: str, autocast: bool) -> None:
    """What is saved lives until the gradients are there, and may not be changed in place."""
    ours, theirs, make = PAIRS[name]
    operands = make()
    for chosen in range(1, 2 ** len(operands)):
        some = [t.detach().requires_grad_(bool(chosen >> i & 1)) for i, t in enumerate(operands)]
        with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=autocast):
            mine, more = _saved(lambda s=some: ours(*s), some)
            torchs, most = _saved(lambda s=some: theirs(*s), some)
        if name.endswith(("gelu", "silu")):  # torch saves what stood before the activation, we what it was made from
            torchs |= {0, 1, 2}
            most = sum(t.numel() for t in some)
        assert mine <= torchs
        assert more <= most or name == "max_pool2d_dilated"  # which saves x as it was laid anew


def test_lists_are_differentiated_where_it_is_wanted() -> None:
    a, b = [rand(3, 4), rand(5, 2).requires_grad_()], [rand(4, 6).requires_grad_(), rand(2, 3)]
    assert _saved(lambda: ngt.grouped_mm(a, b), [*a, *b])[0] == {0, 3}
    got = torch.autograd.grad(sum(y.sum() for y in ngt.grouped_mm(a, b)), (a[1], b[0]))
    want = torch.autograd.grad(sum((x @ y).sum() for x, y in zip(a, b, strict=True)), (a[1], b[0]))
    for g, w in zip(got, want, strict=True):
        close(g, w)


# --- transforms -------------------------------------------------------------------------------------------------------


@each
def test_grad_and_vjp_of_functions(name: str) -> None:
    ours, theirs, make = PAIRS[name]
    operands = make()
    every = tuple(range(len(operands)))
    got = torch.func.grad(lambda *a: (ours(*a) ** 2).sum(), argnums=every)(*operands)
    want = torch.func.grad(lambda *a: (theirs(*a) ** 2).sum(), argnums=every)(*operands)
    for g, w in zip(got, want, strict=True):
        close(g, w)
    y, back = torch.func.vjp(ours, *operands)
    close(y, theirs(*operands))
    for g, w in zip(back(y), torch.func.vjp(theirs, *operands)[1](y), strict=True):
        close(g, w)


@each
def test_vmap(name: str) -> None:
    ours, theirs, make = PAIRS[name]
    many = [torch.stack([t, 2 * t, -t]) for t in make()]
    close(torch.func.vmap(ours)(*many), torch.func.vmap(theirs)(*many))
    # Over one operand only, and over its last axis.
    one = [many[0].movedim(0, -1), *(t[0] for t in many[1:])]
    dims = (-1, *(None for _ in many[1:]))
    close(torch.func.vmap(ours, in_dims=dims)(*one), torch.func.vmap(theirs, in_dims=dims)(*one))
    # Gradients of each sample.
    got = torch.func.vmap(torch.func.grad(lambda *a: (ours(*a) ** 2).sum()))(*many)
    close(got, torch.func.vmap(torch.func.grad(lambda *a: (theirs(*a) ** 2).sum()))(*many))


@each
def test_forward_derivatives(name: str) -> None:
    ours, theirs, make = PAIRS[name]
    operands = make()
    tangents = tuple(torch.randn_like(t) for t in operands)
    y, dy = torch.func.jvp(theirs, operands, tangents)
    got, dgot = torch.func.jvp(ours, operands, tangents)
    close(got, y)
    close(dgot, dy)
    _, dz = torch.func.jvp(lambda x: theirs(x, *operands[1:]), operands[:1], tangents[:1])
    ad = torch.autograd.forward_ad
    with ad.dual_level():
        dual = [ad.make_dual(t, d) for t, d in zip(operands, tangents, strict=True)]
        close(ad.unpack_dual(ours(*dual)).tangent, dy)
        close(ad.unpack_dual(ours(dual[0], *operands[1:])).tangent, dz)


@each
def test_autocast_in_transforms(name: str) -> None:
    ours, theirs, make = PAIRS[name]
    operands = make()
    many = [torch.stack([t, -t]) for t in operands]
    tangents = tuple(torch.randn_like(t) for t in operands)
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        for transform in (
            lambda f: torch.func.grad(lambda *a: f(*a).float().sum())(*operands),
            lambda f: torch.func.vmap(f)(*many),
            lambda f: torch.func.jvp(f, operands, tangents)[1],
        ):
            close(transform(ours).float(), transform(theirs).float(), 5e-2)
        assert torch.func.vmap(ours)(*many).dtype == (torch.float32 if "pool" in name else torch.bfloat16)


def test_jacobians_and_hessians() -> None:
    a, b, w = rand(2, 4), rand(4, 3), rand(2, 1, 3)
    for ours, theirs, x in (
        (lambda t: ngt.mm(t, b) ** 2, lambda t: (t @ b) ** 2, a),
        (lambda t: ngt.conv1d(t, w) ** 2, lambda t: F.conv1d(t, w) ** 2, rand(1, 1, 5)),
    ):
        for jacobian in (torch.func.jacrev, torch.func.jacfwd):
            close(jacobian(ours)(x), jacobian(theirs)(x))
        close(
            torch.func.hessian(lambda t, f=ours: f(t).sum())(x), torch.func.hessian(lambda t, f=theirs: f(t).sum())(x)
        )
    a.requires_grad_()
    grads = torch.randn(5, 2, 3, device=DEVICE)
    (got,) = torch.autograd.grad(ngt.mm(a, b), a, grads, is_grads_batched=True)
    close(got, grads @ b.t())


def test_lists_of_products_are_transformed() -> None:
    def ours(*t: Any) -> Any:
        return torch.cat([y.flatten() for y in ngt.grouped_mm(t[:2], t[2:])])

    def theirs(*t: Any) -> Any:
        return torch.cat([(a @ b).flatten() for a, b in zip(t[:2], t[2:], strict=True)])

    operands = rand(3, 4), rand(5, 2), rand(4, 6), rand(2, 3)
    tangents = tuple(torch.randn_like(t) for t in operands)
    for got, want in zip(
        torch.func.jvp(ours, operands, tangents), torch.func.jvp(theirs, operands, tangents), strict=True
    ):
        close(got, want)
    every = (0, 1, 2, 3)
    for got, want in zip(
        torch.func.grad(lambda *t: (ours(*t) ** 2).sum(), every)(*operands),
        torch.func.grad(lambda *t: (theirs(*t) ** 2).sum(), every)(*operands),
        strict=True,
    ):
        close(got, want)


def test_rounding_is_transformed_as_a_conversion() -> None:
    x, t = rand(5), rand(5)
    y, dy = torch.func.jvp(lambda x: ngt.stochastic_round(x, torch.bfloat16, 3), (x,), (t,))
    assert torch.equal(y, ngt.stochastic_round(x, torch.bfloat16, 3)) and torch.equal(dy, t.to(torch.bfloat16))
    close(torch.func.grad(lambda x: ngt.stochastic_round(x, torch.float16, 3).float().sum())(x), torch.ones(5).to(x))


def test_operators_themselves_refuse_transforms() -> None:
    with pytest.raises(RuntimeError, match=r"nervanagpu\.mm in a transform.*nervanagpu\.torch"):
        torch.func.grad(lambda a: OPS.mm(a, a).sum())(rand(3, 3))


# --- modes ------------------------------------------------------------------------------------------------------------


@each
def test_modes_without_gradients(name: str) -> None:
    ours, theirs, make = PAIRS[name]
    operands = [t.requires_grad_() for t in make()]
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            y = ours(*operands)
            close(y, theirs(*operands))
            assert not y.requires_grad and y.is_inference() == torch.is_inference_mode_enabled()


@each
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast(name: str, dtype: Any) -> None:
    ours, theirs, make = PAIRS[name]
    operands = [t.requires_grad_() for t in make()]
    with torch.autocast(DEVICE, dtype=dtype):
        y, z = ours(*operands), theirs(*operands)
    assert y.dtype == (torch.float32 if "pool" in name else dtype)
    close(y.float(), z.float(), 3e-2)
    y.float().sum().backward()
    assert all(t.grad is not None and t.grad.dtype == torch.float32 for t in operands)
    with torch.no_grad(), torch.autocast(DEVICE, dtype=dtype):
        assert ours(*operands).dtype == y.dtype


@each
def test_meta_and_fake_tensors(name: str) -> None:
    ours, theirs, make = PAIRS[name]
    operands = make()
    y = ours(*(t.to("meta") for t in operands))
    z = theirs(*operands)
    assert y.is_meta and y.shape == z.shape and y.dtype == z.dtype
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode:
        fakes = [mode.from_tensor(t) for t in operands]
        y = ours(*fakes)
        assert type(y).__name__ == "FakeTensor" and y.shape == z.shape and y.device == z.device


class Net(torch.nn.Module):
    """Ours as modules use it."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.out = torch.nn.Linear(16, 5)

    def forward(self, x: Any) -> Any:
        y = ngt.conv2d(x, self.conv.weight, self.conv.bias, 1, 1)
        y = ngt.max_pool2d(torch.relu(y), 3)
        return ngt.linear(y.flatten(1)[:, :16], self.out.weight, self.out.bias, activation="silu")

    def theirs(self, x: Any) -> Any:
        y = F.max_pool2d(torch.relu(self.conv(x)), 3)
        return F.silu(self.out(y.flatten(1)[:, :16]))


def test_modules_are_copied_and_pickled() -> None:
    net, x = Net().to(DEVICE), rand(2, 3, 6, 6)
    want = net.theirs(x)
    twin = copy.deepcopy(net)
    net(x).sum().backward()
    close(twin(x), want)
    assert twin.conv.weight.grad is None
    file = io.BytesIO()
    torch.save(net.state_dict(), file)
    file.seek(0)
    twin.load_state_dict(torch.load(file))
    close(twin(x), want)
    close(pickle.loads(pickle.dumps(net))(x), want)
    parameters = dict(net.named_parameters())
    close(torch.func.functional_call(net, parameters, (x,)), want)


def test_threads() -> None:
    """Gradients in many threads, each its own."""
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            generator = torch.Generator().manual_seed(seed)
            for _ in range(5):
                a, b = (torch.randn(s, generator=generator).to(DEVICE).requires_grad_() for s in ((5, 6), (6, 4)))
                y = ngt.mm(a, b)
                close(y, a @ b)
                y.sum().backward()
                close(a.grad, b.sum(1).expand(5, 6))
                with torch.no_grad():
                    close(ngt.linear(a, b.t()), a @ b)
                    net = Net().to(DEVICE)
                    x = rand(2, 3, 6, 6)
                    close(net(x), net.theirs(x))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors, errors


def test_checkpoints_and_saved_tensors() -> None:
    from torch.utils.checkpoint import checkpoint

    a, w = rand(3, 4).requires_grad_(), rand(5, 4).requires_grad_()
    want = torch.autograd.grad(F.gelu(F.linear(a, w)).sum(), (a, w))
    for reentrant in (True, False):
        y = checkpoint(lambda a, w: ngt.linear(a, w, activation="gelu"), a, w, use_reentrant=reentrant)
        y.sum().backward()
        for leaf, g in zip((a, w), want, strict=True):
            close(leaf.grad, g)
            leaf.grad = None
    with torch.autograd.graph.save_on_cpu():
        y = ngt.mm(a, w.t()).sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


# --- tracing ----------------------------------------------------------------------------------------------------------


def test_compiled_for_any_batch() -> None:
    net = Net().to(DEVICE)
    torch._dynamo.reset()
    compiled = torch.compile(net, fullgraph=True, dynamic=True, backend="aot_eager")
    for batch in (2, 3, 7):
        x = rand(batch, 3, 6, 6).requires_grad_()
        y, z = compiled(x), net.theirs(x)
        close(y, z)
        got, want = (torch.autograd.grad(t.sum(), [x, *net.parameters()]) for t in (y, z))
        for g, w in zip(got, want, strict=True):
            close(g, w)


@each
def test_compiled_without_breaks_for_any_shape(name: str) -> None:
    ours, theirs, make = PAIRS[name]
    torch._dynamo.reset()
    compiled = torch.compile(ours, fullgraph=True, dynamic=True, backend="aot_eager")
    for _ in range(2):
        operands = [t.requires_grad_() for t in make()]
        y, z = compiled(*operands), theirs(*operands)
        close(y, z)
        got, want = (torch.autograd.grad((t**2).sum(), operands) for t in (y, z))
        for g, w in zip(got, want, strict=True):
            close(g, w)
    with torch.no_grad():
        close(compiled(*make()[:0], *operands), theirs(*operands))


@pytest.mark.skipif(shutil.which("g++") is None, reason="torch's own compiler needs g++")
def test_beside_what_inductor_makes() -> None:
    """It lays what it computes as it likes; strides of ours are as the shapes of fake tensors said."""
    from torch._inductor import config

    def block(x: Any, w: Any, b: Any) -> Any:
        h = ngt.conv2d(torch.relu(x) + 1, w, b, 1, 1, activation="gelu")
        h = ngt.max_pool2d(h.sigmoid(), 2).flatten(1)
        return ngt.linear(h, torch.ones(3, h.shape[1], device=h.device), activation="silu").tanh()

    shapes = (2, 8, 6, 6), (8, 8, 3, 3), (8,)
    operands = [rand(*s) for s in shapes]
    operands[0] = operands[0].contiguous(memory_format=torch.channels_last)
    torch._dynamo.reset()
    found = []
    for f in (torch.compile(block, fullgraph=True), block):
        mine = [t.detach().requires_grad_() for t in operands]
        with config.patch(force_disable_caches=True):  # which know nothing of our code
            y = f(*mine)
            found.append([y, *torch.autograd.grad(y.sum(), mine)])
    for got, want in zip(*found, strict=True):
        close(got, want)


@pytest.mark.parametrize("strict", [False, True])
def test_exported_with_a_free_batch(strict: bool) -> None:
    net, x = Net().to(DEVICE).eval(), rand(4, 3, 6, 6)
    batch = torch.export.Dim("batch", min=2, max=64)
    program = torch.export.export(net, (x,), dynamic_shapes={"x": {0: batch}}, strict=strict)
    names = {str(n.target) for n in program.graph.nodes}
    assert {"nervanagpu.convolution.default", "nervanagpu.max_pool.default", "nervanagpu.linear.default"} <= names
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    again = torch.export.load(file).module()
    for n in (2, 9):
        x = rand(n, 3, 6, 6)
        close(again(x), net.theirs(x))


# --- what cannot be ---------------------------------------------------------------------------------------------------

BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: ngt.mm(rand(3, 4), rand(4, 5).to_sparse()), "mm|sparse|Sparse"),
    (lambda: ngt.mm(rand(3, 4), torch.ones(4, 5, dtype=torch.int64, device=DEVICE)), "int64"),
    (lambda: ngt.mm(rand(3, 4).to(torch.complex64), rand(4, 5)), "complex64"),
    (lambda: ngt.addmm(rand(3), rand(3, 4), rand(4, 5)), "3"),
    (lambda: ngt.addmm(rand(2, 3, 5), rand(3, 4), rand(4, 5)), "expand|bias"),
    (lambda: ngt.addmm(rand(5), rand(3, 4), rand(4, 5), beta=2j), "beta is 2j; needs a real number"),
    (
        lambda: ngt.addmm(rand(5), rand(3, 4), rand(4, 5), alpha="1"),
        "alpha is '1'; needs a real number|for argument 'alpha'",
    ),
    (lambda: ngt.grouped_mm([rand(3, 4)], []), "as many"),
    (lambda: ngt.grouped_mm([rand(3, 4), rand(3, 4).half()], [rand(4, 5), rand(4, 5).half()]), "several dtypes"),
    (lambda: ngt.conv2d(rand(1, 3, 4, 4), rand(2, 3, 3, 3), None, 0), "stride"),
    (lambda: ngt.conv2d(rand(1, 3, 4, 4), rand(2, 3, 3, 3), None, 1, -1), "padding"),
    (lambda: ngt.conv2d(rand(1, 3, 4, 4), rand(2, 3, 3, 3), None, 1, 0, 0), "dilation"),
    (lambda: ngt.conv2d(rand(1, 3, 4, 4), rand(2, 3, 3, 3), None, 1, 0, 1, 0), "groups"),
    (lambda: ngt.conv2d(rand(1, 3, 4, 4), rand(2, 3, 3, 3), None, 1, 0, 1, -3), "groups"),
    (lambda: ngt.conv2d(rand(1, 3, 4, 4), rand(2, 3, 3, 3), None, [1, 1, 1]), "stride"),
    (lambda: ngt.conv2d(rand(4, 4), rand(2, 3, 3, 3)), "axes"),
    (lambda: ngt.conv2d(rand(1, 3, 4, 4), rand(2, 3, 3, 3), None, 1.5), "stride is 1.5; needs an integer"),
    (lambda: ngt.conv2d(rand(1, 3, 4, 4), rand(2, 3, 3, 3), None, 1, "full"), "padding is 'full'; needs 'same'"),
    (lambda: ngt.conv2d(rand(1, 3, 4, 4), rand(2, 3, 3, 3), None, 2, "same"), "stride of 1"),
    (
        lambda: ngt.conv2d(rand(1, 3, 4, 4), rand(2, 3, 3, 3), activation=["relu"]),
        "activation is|for argument 'activation'",
    ),
    (lambda: ngt.max_pool2d(rand(1, 3, 4, 4), "2"), "kernel_size is '2'"),
    (lambda: ngt.conv2d(rand(1, 3, 4, 4), rand(2, 3, 3, 3), rand(3)), "bias"),
    (lambda: ngt.conv2d(rand(1, 3, 4, 4), rand(2, 3, 3, 3), None, 1, 2**40), "padding|range|overflow"),
    (lambda: ngt.conv2d(None, rand(2, 3, 3, 3)), "x is NoneType; needs a tensor"),
    (lambda: ngt.conv2d(rand(1, 3, 4, 4), None), "weight is NoneType; needs a tensor"),
    (lambda: ngt.conv2d(rand(1, 3, 4, 4), rand(0, 3, 3, 3)), "does not fit weight"),
    (lambda: ngt.conv_transpose2d([[1.0]], rand(3, 2, 3, 3)), "x is list; needs a tensor"),
    (lambda: ngt.conv_transpose2d(rand(4, 4), rand(3, 2, 3, 3)), "x has 2 axes"),
    (lambda: ngt.conv_transpose2d(rand(1, 3, 4, 4), rand(3, 2, 3, 3), groups=0), "groups"),
    (lambda: ngt.conv_transpose2d(rand(1, 3, 4, 4), rand(3, 2, 3, 3), rand(1)), r"bias \(1,\); needs \(2,\)"),
    (lambda: ngt.conv_transpose2d(rand(1, 3, 4, 4), rand(3, 2, 3, 3), rand(2, 1)), r"bias \(2, 1\); needs \(2,\)"),
    (lambda: ngt.conv_transpose2d(rand(1, 3, 4, 4), rand(3, 2, 3, 3), rand(2).half()), "several dtypes"),
    (lambda: ngt.conv_transpose2d(rand(1, 3, 4, 4), rand(3, 2, 3, 3), None, 2, 0, 2), "output_padding"),
    (lambda: ngt.conv_transpose2d(rand(1, 3, 4, 4), rand(3, 2, 3, 3), None, 2, 0, -1), "output_padding"),
    (
        lambda: ngt.conv_transpose2d(rand(1, 3, 4, 4), rand(3, 2, 1, 1), None, 1, 2),
        r"give \(1, 2, 0, 0\); needs lengths",
    ),
    (lambda: ngt.max_pool2d(rand(1, 3, 4, 4), (1, 2), 1, 1, ceil_mode=True), "padding .* half the kernel"),
    (lambda: ngt.max_pool2d(rand(1, 3, 9, 9), 2, 1, 2, 2), "padding .* half the kernel"),
    (lambda: ngt.max_pool2d(rand(1, 3, 4, 4), 2, dilation=0), "dilation"),
    (lambda: ngt.max_pool2d(rand(1, 3, 4, 4), 2, dilation=-1), "dilation"),
    (lambda: ngt.max_pool2d(None, 2), "x is NoneType; needs a tensor"),
    (lambda: ngt.avg_pool2d(rand(1, 3, 4, 4), 2, divisor_override=0), "divisor_override is 0"),
    (lambda: ngt.avg_pool2d(rand(1, 3, 4, 4), 2, divisor_override=2.5), "divisor_override is 2.5"),
    (lambda: ngt.max_pool2d(rand(1, 3, 4, 4), 0), "kernel"),
    (lambda: ngt.max_pool2d(rand(1, 3, 4, 4), 2, 0), "stride"),
    (lambda: ngt.avg_pool2d(rand(3, 4), 2), "axes"),
    (lambda: ngt.avg_pool2d(rand(1, 3, 4, 4), [2, 2, 2]), "kernel"),
    (lambda: ngt.stochastic_round(rand(3), torch.int32, 1), "int32"),
    (lambda: ngt.stochastic_round(rand(3), torch.bfloat16, -1), "seed"),
    (lambda: ngt.stochastic_round(rand(3), torch.bfloat16, 1, bits=99), "bits"),
    (
        lambda: OPS.convolution_weight(rand(1, 2, 2, 2), rand(1, 3, 4, 4), [2, 3, 3], [1, 1], [0, 0], [1, 1], 1),
        "size|numbers",
    ),
    (
        lambda: OPS.convolution_input(rand(1, 2, 2, 2), rand(2, 3, 3, 3), [1, 3, 9, 9], [1, 1], [0, 0], [1, 1], 1),
        "gradient",
    ),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_what_cannot_be_is_torchs_error(number: int) -> None:
    call, text = BAD[number]
    for context in (torch.no_grad, torch.enable_grad, torch.inference_mode):
        with context(), pytest.raises(RuntimeError, match=text):
            call()


def test_operands_on_another_device() -> None:
    """Also where no kernel would look."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    for call in (
        lambda a, b: ngt.mm(a, b),
        lambda a, b: ngt.linear(a, b.t()),
        lambda a, b: OPS.grouped_mm([a], [b]),
        lambda a, b: ngt.conv1d(a[None], b[..., None]),
    ):
        with pytest.raises(RuntimeError, match="on cpu and meta|on cuda:0 and meta|device"):
            call(rand(4, 4), torch.empty(4, 4, device="meta"))
        with FakeTensorMode(), pytest.raises(RuntimeError, match="on cpu and meta|device"):
            call(torch.empty(4, 4), torch.empty(4, 4, device="meta"))
    for wrong in (torch.float64, torch.int32):
        with pytest.raises(RuntimeError, match="dtype"):
            ngt.mm(torch.empty(4, 4, device="meta", dtype=wrong), torch.empty(4, 4, device="meta", dtype=wrong))
    if DEVICE == "cpu" and torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="emulator"):
            ngt.mm(rand(4, 4).cuda(), rand(4, 4).cuda())
