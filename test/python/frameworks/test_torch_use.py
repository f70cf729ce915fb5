"""ngt.use() among what else torch has: modes, compilers, transforms, threads of a backward, tensors of other kinds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from torch_operands import DEVICE, F, near, ngt, rand, torch

ATEN = torch.ops.aten

pytestmark = pytest.mark.usefixtures("fresh_torch")


def ours(name: str = "aten.mm") -> int:
    count: int = ngt.calls().get(name, {"ours": 0})["ours"]
    return count


@pytest.mark.parametrize("inside", [True, False])
def test_modes_see_atens_operators_and_go_on_to_ours(inside: bool) -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    seen: list[str] = []

    class Watch(TorchDispatchMode):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(f"{self.name} {func}")
            return func(*args, **(kwargs or {}))

    a, b, bias = rand(3, 4), rand(4, 5), rand(5)
    first, second, own = Watch("first"), Watch("second"), ngt.use("mm", "bmm")
    for _ in range(3):
        order = (own, first, second) if inside else (first, second, own)
        with order[0], order[1], order[2]:
            torch.mm(a, b)
            torch.addmm(bias, a, b)  # not asked for
            torch.relu(a)
    wanted = ["aten.mm.default", "aten.addmm.default", "aten.relu.default"]
    assert seen == 3 * [f"{name} {operator}" for operator in wanted for name in ("second", "first")]
    assert ngt.calls() == {"aten.mm": {"ours": 3, "fallback": {}}}


def test_a_mode_may_call_what_is_not_asked_for() -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Batches(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.ops.aten.mm.default:
                return torch.bmm(args[0][None], args[1][None])[0]
            return func(*args, **(kwargs or {}))

    a = rand(3, 3)
    with ngt.use("mm"), Batches():
        torch.mm(a, a)
    assert ngt.calls() == {}
    with ngt.use("bmm", "mm"), Batches():
        torch.mm(a, a)
    assert ngt.calls() == {"aten.bmm": {"ours": 1, "fallback": {}}}


def test_modes_stand_as_they_stood() -> None:
    """Also after an error in one."""
    from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

    class Fails(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise ZeroDivisionError

    a = rand(3, 3)
    with ngt.use(), Fails() as mode:
        with pytest.raises(ZeroDivisionError):
            torch.mm(a, a)
        assert _get_current_dispatch_mode_stack() == [mode]
    torch.mm(a, a)
    assert ngt.calls() == {}


def test_the_threads_of_a_backward_use_it_too() -> None:
    """Torch gives a backward that is nested deep to a thread of its own."""
    a, b = rand(3, 4), rand(4, 5)
    threads: set[int] = set()

    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, depth: int) -> Any:
            ctx.depth = depth
            return x.clone()

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            threads.add(threading.get_ident())
            if ctx.depth == 0:
                torch.mm(a, b)
            else:
                with torch.enable_grad():
                    x = rand(2).requires_grad_()
                    Nested.apply(x, ctx.depth - 1).sum().backward()
            return grads[0], None

    x = rand(2).requires_grad_()
    with ngt.use("mm"):
        Nested.apply(x, 70).sum().backward()
    assert len(threads) > 1
    assert ours() == 1
    Nested.apply(x, 70).sum().backward()
    assert ours() == 1


def test_compilers_see_atens_operators() -> None:
    a, b = rand(3, 4), rand(4, 5)
    with ngt.use():
        compiled = torch.compile(lambda a, b: torch.relu(a @ b).sum(), fullgraph=True, backend="aot_eager")
        got = compiled(a, b)
        assert ours() == 1  # shapes count nothing; the graph calls aten.mm
        graph = torch.fx.experimental.proxy_tensor.make_fx(lambda a, b: a @ b, tracing_mode="fake")(a, b)
    assert float((got - torch.relu(a @ b).sum()).abs()) < 1e-3
    assert [n.target for n in graph.graph.nodes if n.op == "call_function"] == [torch.ops.aten.mm.default]
    assert ngt.calls() == {"aten.mm": {"ours": 1, "fallback": {}}}


@pytest.mark.filterwarnings("ignore")  # torch.jit's time is over
def test_a_trace_has_every_operator() -> None:
    x, w, b = rand(2, 3, 5, 5), rand(4, 3, 3, 3), rand(6, 36)

    def net(x: Any) -> Any:
        return F.linear(F.max_pool2d(F.conv2d(x, w, padding=1), 2, 1, ceil_mode=True)[..., :3, :3].flatten(1), b)

    with ngt.use():
        traced = torch.jit.trace(net, x)
    assert near(traced(2 * x), net(2 * x), 1e-4)


def test_shapes_count_nothing() -> None:
    with torch._subclasses.fake_tensor.FakeTensorMode() as mode:
        fake = mode.from_tensor(rand(3, 3))
    with ngt.use():
        assert torch.mm(fake, fake).shape == (3, 3)
    assert ngt.calls() == {}


def test_transforms_end_at_ours() -> None:
    a, b = rand(3, 4), rand(4, 5)
    with ngt.use():
        batch = torch.func.vmap(lambda t: t @ b)(a[None] * 2)
        grad = torch.func.grad(lambda t: (t @ b).sum())(a)
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            half = a @ b
        with torch.inference_mode():
            quiet = a @ b
    calls = ngt.calls()
    assert sum(c["ours"] for c in calls.values()) == 5 and not any(c["fallback"] for c in calls.values())
    assert half.dtype is torch.bfloat16
    for got, want in ((batch[0], 2 * (a @ b)), (grad, torch.ones(3, 5, device=DEVICE) @ b.t()), (quiet, a @ b)):
        assert float((got - want).abs().max()) < 1e-4


def test_tensors_that_are_not_plain_are_atens() -> None:
    from torch.testing._internal.two_tensor import TwoTensor

    a, b = rand(3, 4), rand(4, 5)
    with ngt.use("mm"):
        assert torch.mm(a.to("meta"), b.to("meta")).shape == (3, 5)
        torch.mm(a.to_sparse(), b)
    shapes = ((2, 3), (4, 3)), ((3, 3), (3, 2))
    nested = [torch.nested.nested_tensor([rand(*s) for s in some]) for some in shapes]
    with ngt.use("bmm"):
        assert torch.bmm(*nested).size(0) == 2
    assert ngt.calls().pop("aten.bmm") == {"ours": 0, "fallback": {"a nested tensor": 1}}
    why = {"a tensor on meta": 1, "layout torch.sparse_coo": 1}
    assert ngt.calls()["aten.mm"] == {"ours": 0, "fallback": why}
    ngt.reset_calls()
    with ngt.use("mm"):
        two = torch.mm(TwoTensor(a, -a), TwoTensor(b, b))
    assert float((two.a - a @ b).abs().max()) <= 1e-5 and float((two.b + a @ b).abs().max()) <= 1e-5
    # Where torch asks the class first, as newer ones do, what that goes on with is ours.
    calls = ngt.calls()["aten.mm"]
    assert (calls["ours"], calls["fallback"].get("a tensor of TwoTensor")) in ((0, 1), (2, None))


# Operators that are given no set of keys, with the first argument that is a tensor of whatever kind.
WITHOUT_KEYS: dict[str, Callable[[Callable[[Any], Any]], Any]] = {
    "convolution": lambda kind: F.conv2d(kind(rand(2, 3, 6, 6)), kind(rand(4, 3, 3, 3))),
    "convolution_backward": lambda kind: ATEN.convolution_backward(
        kind(rand(2, 4, 4, 4)), kind(rand(2, 3, 6, 6)), kind(rand(4, 3, 3, 3)), None, [1, 1], [0, 0], [1, 1], False,
        [0, 0], 1, [True, True, False],
    )[1],
    "max_pool2d_with_indices": lambda kind: F.max_pool2d(kind(rand(2, 3, 6, 6)), 2, return_indices=True)[0],
    "avg_pool2d": lambda kind: F.avg_pool2d(kind(rand(2, 3, 6, 6)), 2),
    "avg_pool2d_backward": lambda kind: ATEN.avg_pool2d_backward(
        kind(rand(2, 3, 3, 3)), kind(rand(2, 3, 6, 6)), [2, 2], [2, 2], [0, 0], False, True, None
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(WITHOUT_KEYS))
def test_kinds_of_tensors_without_a_set_of_keys(name: str) -> None:
    """Modes and subclasses see aten's operator; a subclass that has none of its own is memory like another."""
    from torch.testing._internal.two_tensor import TwoTensor
    from torch.utils._python_dispatch import TorchDispatchMode

    seen: list[str] = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func._opname)
            return func(*args, **(kwargs or {}))

    class Named(torch.Tensor):
        pass

    call = WITHOUT_KEYS[name]
    torch.manual_seed(3)
    want = call(lambda t: t)
    with ngt.use(), Watch():
        torch.manual_seed(3)
        got = call(lambda t: t)
    assert near(got, want, 2e-5) and seen.count(name) == 1
    assert ngt.calls()[f"aten.{name}"] == {"ours": 1, "fallback": {}}
    ngt.reset_calls()
    with ngt.use():
        torch.manual_seed(3)
        two = call(lambda t: TwoTensor(t, t.clone()))
        torch.manual_seed(3)
        named = call(lambda t: t.as_subclass(Named))
        assert call(lambda t: t.to("meta")).shape == want.shape
    assert isinstance(two, TwoTensor) and near(two.a, want, 2e-5) and near(two.b, want, 2e-5)
    assert near(named.as_subclass(torch.Tensor), want, 2e-5)
    counted = ngt.calls()[f"aten.{name}"]
    assert counted["fallback"].pop("a tensor on meta") == 1
    assert (counted["ours"], counted["fallback"].get("a tensor of TwoTensor")) in ((1, 1), (3, None))


@pytest.mark.filterwarnings("ignore")  # nested tensors are a prototype
@pytest.mark.parametrize("kind", ["sparse", "nested", "wrong"])
def test_errors_of_atens_gradients_are_its_own(kind: str) -> None:
    given = {
        "sparse": lambda t: t.to_sparse(),
        "nested": lambda t: torch.nested.nested_tensor([t[0], t[1]]),
        "wrong": lambda t: t.double() if t.size(0) == 4 else t,
    }[kind]
    with pytest.raises(Exception) as theirs:
        WITHOUT_KEYS["convolution_backward"](given)
    with ngt.use(), pytest.raises(type(theirs.value)) as found:
        WITHOUT_KEYS["convolution_backward"](given)
    assert str(found.value).splitlines()[0] == str(theirs.value).splitlines()[0]
    counted = ngt.calls()["aten.convolution_backward"]
    assert counted["ours"] == 0 and sum(counted["fallback"].values()) == 1


def test_errors_keep_their_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of what kernels hand on to Python, also through torch's engine of gradients."""
    from nervanagpu.torch import aten

    class Own(Exception):
        pass

    def fails(*args: Any) -> Any:
        raise kind("there is no more")

    x, w = rand(2, 3, 5, 5).requires_grad_(), rand(3, 4, 3, 3).requires_grad_()
    for kind in (torch.OutOfMemoryError, NotImplementedError, KeyboardInterrupt, Own):
        with ngt.use():
            loss = F.conv_transpose2d(x, w).sum()
            with monkeypatch.context() as patch, pytest.raises(kind) as found:
                patch.setattr(aten, "_transposed_backward", fails)
                loss.backward()
            assert str(found.value) == "there is no more" and type(found.value) is kind
            with monkeypatch.context() as patch, pytest.raises(kind) as found:
                patch.setattr(aten, "_each", fails)
                F.conv_transpose2d(x, w)
            assert str(found.value) == "there is no more" and type(found.value) is kind


def test_a_bias_that_is_no_tensor() -> None:
    x, w = rand(2, 3, 6, 6), rand(4, 3, 3, 3)
    with ngt.use():
        F.conv2d(x, w)
        F.conv2d(x, w, None)
        ATEN.convolution(x, w, None, [1], [0], [1], False, [0], 1)
    assert ngt.calls() == {"aten.convolution": {"ours": 3, "fallback": {}}}
    from nervanagpu.torch import override

    assert compiled("convolution") == (3 if override._compiled else 0)


def test_left_by_another_thread() -> None:
    entered, said = ngt.use("mm"), []

    def leave() -> None:
        try:
            entered.__exit__()
        except RuntimeError as error:
            said.append(str(error))

    with entered:
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
        torch.mm(rand(2, 2), rand(2, 2))
    assert len(said) == 1 and "needs the thread that entered it" in said[0] and ours() == 1


REFUSED: list[tuple[str, Any]] = [
    ("addmm", lambda: torch.addmm(rand(5), rand(3, 4), rand(4, 5), alpha=3j)),
    ("addmm", lambda: torch.addmm(rand(5), rand(3, 4), rand(4, 5), alpha=1e300)),
    ("addmm", lambda: torch.addmm(rand(5), rand(3, 4), rand(4, 5), beta=-1e39)),
    ("baddbmm", lambda: torch.baddbmm(rand(2, 3, 5), rand(2, 3, 4), rand(2, 4, 5), alpha=1e300)),
    ("baddbmm", lambda: torch.baddbmm(rand(2, 3, 5), rand(2, 3, 4).half(), rand(2, 4, 5).half())),
    ("baddbmm", lambda: torch.baddbmm(rand(2, 3, 5).double(), rand(2, 3, 4), rand(2, 4, 5))),
    ("convolution", lambda: F.conv2d(rand(2, 3, 5, 5), rand(0, 3, 3, 3))),
    ("convolution", lambda: F.conv_transpose2d(rand(2, 3, 5, 5), rand(3, 4, 3, 3), None, 1, 0, 1)),
    ("convolution", lambda: F.conv_transpose2d(rand(2, 3, 5, 5), rand(3, 4, 3, 3), rand(1))),
    ("convolution", lambda: F.conv_transpose2d(rand(2, 3, 5, 5), rand(3, 4, 3, 3), rand(4, 1))),
    ("max_pool2d_with_indices", lambda: F.max_pool2d(rand(2, 0, 4, 4), 2)),
    ("max_pool2d_with_indices", lambda: F.max_pool2d(rand(0, 4, 4), 2)),
    ("max_pool2d_with_indices", lambda: F.max_pool2d(rand(2, 3, 4, 4), 2, dilation=0)),
    ("max_pool2d_with_indices", lambda: F.max_pool2d(rand(2, 3, 4, 4), 2, dilation=-1)),
    ("max_pool2d_with_indices", lambda: F.max_pool2d(rand(2, 3, 4, 4), (1, 2), padding=1, ceil_mode=True)),
    ("max_pool2d_with_indices", lambda: F.max_pool2d(rand(2, 3, 9, 9), 2, padding=2, dilation=2)),
    ("avg_pool2d", lambda: F.avg_pool2d(rand(2, 0, 4, 4), 2)),
    ("avg_pool2d", lambda: F.avg_pool2d(rand(2, 3, 4, 4), 2, divisor_override=0)),
    ("avg_pool3d", lambda: F.avg_pool3d(rand(2, 3, 1, 4, 4), (3, 2, 2), 1, 1)),
    ("avg_pool3d", lambda: F.avg_pool3d(rand(2, 3, 4, 1, 4), (1, 2, 2), 1, (0, 1, 1), ceil_mode=True)),
]


def at_any_byte(*shape: int) -> Any:
    """A tensor whose elements begin where none may."""
    t = rand(*shape)
    raw = np.zeros(4 * t.numel() + 8, np.uint8)
    first = next(i for i in range(4) if (raw.ctypes.data + i) % 4 == 1)
    there = raw[first : first + 4 * t.numel()].view(np.float32).reshape(shape)
    there[...] = t
    return torch.from_numpy(there)


@pytest.mark.skipif(DEVICE != "cpu", reason="no CUDA tensor lies so")
def test_memory_at_any_byte_is_atens() -> None:
    """What is counted names no address: there would be one more reason for each tensor."""
    image, filters = (1, 2, 6, 6), (3, 2, 3, 3)
    calls: list[tuple[str, Any, Any, list[tuple[int, ...]]]] = [
        ("mm", torch.mm, ngt.mm, [(3, 4), (4, 5)]),
        ("bmm", torch.bmm, ngt.bmm, [(2, 3, 4), (2, 4, 5)]),
        ("addmm", torch.addmm, ngt.addmm, [(5,), (3, 4), (4, 5)]),
        ("convolution", F.conv2d, ngt.conv2d, [image, filters]),
        ("convolution", F.conv_transpose2d, ngt.conv_transpose2d, [image, (2, 3, 3, 3)]),
        ("max_pool2d_with_indices", lambda x: F.max_pool2d(x, 2, return_indices=True)[0], None, [image]),
        ("avg_pool2d", lambda x: F.avg_pool2d(x, 2), lambda x: ngt.avg_pool2d(x, 2), [image]),
    ]
    for name, theirs, ours_, shapes in calls:
        ngt.reset_calls()
        for _ in range(3):
            operands = [at_any_byte(*shape) for shape in shapes]
            with ngt.use():
                got = theirs(*operands)
            assert near(got, theirs(*[t.clone() for t in operands]), 1e-5)
        counted = ngt.calls()[f"aten.{name}"]
        assert counted == {"ours": 0, "fallback": {"memory at no multiple of 4 bytes, an element's": 3}}, counted
        if ours_ is not None:
            with pytest.raises(RuntimeError, match="no multiple of 4 bytes"):
                ours_(*operands)


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_aten_refuses_is_not_ours(number: int) -> None:
    name, call = REFUSED[number]
    with pytest.raises(RuntimeError) as theirs:
        call()
    with ngt.use(), pytest.raises(RuntimeError) as refused:
        call()
    assert str(refused.value) == str(theirs.value)  # aten's own words
    counted = ngt.calls()[f"aten.{name}"]
    assert counted["ours"] == 0 and sum(counted["fallback"].values()) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda x: F.max_pool2d(x, 2),
        lambda x: F.max_pool2d(x, 2, ceil_mode=True),
        lambda x: F.max_pool2d(x, 2, dilation=2, return_indices=True)[0],
        lambda x: F.avg_pool2d(x, 2, ceil_mode=True),
        lambda x: F.avg_pool2d(x, 2, divisor_override=3),
        lambda x: F.conv2d(x, x),
        lambda x: F.conv_transpose2d(x, x),
        lambda x: torch.baddbmm(x[0], x[0], x[1]),
        lambda x: torch.mv(x[0, 0], x[0, 0, 0]),
        lambda x: torch.dot(x[0, 0, 0], x[0, 0, 0]),
    ],
)
def test_doubles_are_atens(call: Callable[[Any], Any]) -> None:
    x = rand(3, 3, 5, 5).double().requires_grad_()
    want = call(x)
    with ngt.use():
        got = call(x)
        (grad,) = torch.autograd.grad(got.sum(), x)
    assert torch.equal(got, want) and torch.equal(grad, torch.autograd.grad(want.sum(), x)[0])
    assert all(c["ours"] == 0 and "dtype torch.float64" in str(c["fallback"]) for c in ngt.calls().values())


def _part(t: Any) -> Any:
    """Half of the channels of a tensor that lies channels last: so do they, with gaps."""
    return torch.cat((t, t), 1).to(memory_format=torch.channels_last)[:, : t.shape[1]]


FORMS: dict[str, Callable[[Any], Any]] = {
    "last": lambda t: t.to(memory_format=torch.channels_last),
    "first": lambda t: t.contiguous(),
    "part": _part,
    "rows": lambda t: torch.cat((t, t), 3)[..., : t.shape[3]],
    "across": lambda t: t.transpose(2, 3).contiguous().transpose(2, 3),
    "expanded": lambda t: t[:, :1].expand(t.shape),
}


@pytest.mark.parametrize(
    "shape", [(2, 4, 6, 5), (2, 1, 6, 5), (1, 4, 6, 5), (1, 1, 6, 5), (2, 4, 1, 5), (2, 4, 1, 1)], ids=str
)
@pytest.mark.parametrize("form", list(FORMS))
def test_results_lie_as_torchs(form: str, shape: tuple[int, ...]) -> None:
    x, w = FORMS[form](rand(*shape)), rand(3, shape[1], 1, 1)
    for call in (
        lambda: F.conv2d(x, w, padding=1),
        lambda: F.conv2d(x, FORMS[form](rand(4, shape[1], 3, 2)), padding=1),
        lambda: F.max_pool2d(x, (1, 2), 1, (0, 1), return_indices=True),
        lambda: F.max_pool2d(x, (1, 2), 1, (0, 1), (2, 1), return_indices=True),
        lambda: F.max_pool2d(x, (1, 2), 2, (0, 1), ceil_mode=True, return_indices=True),
        lambda: F.avg_pool2d(x, (1, 2), 1, (0, 1)),
        lambda: F.avg_pool2d(x, (1, 2), 2, (0, 1), ceil_mode=True),
    ):
        want = call()
        with ngt.use():
            got = call()
        both = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
        for g, t in both:
            strides = [(g.stride(i), t.stride(i)) for i, n in enumerate(t.shape) if n > 1]
            assert all(a == b for a, b in strides), (call, t.shape, strides)


@pytest.mark.parametrize("form", [torch.channels_last, torch.contiguous_format])
def test_gradients_of_pools_lie_as_torchs(form: Any) -> None:
    for pool in (
        lambda t: F.max_pool2d(t, 2, ceil_mode=True),
        lambda t: F.max_pool2d(t, 2, dilation=2),
        lambda t: F.avg_pool2d(t, 3, 2, 1, ceil_mode=True),
    ):
        x = rand(2, 3, 9, 8).to(memory_format=form).requires_grad_()
        want = torch.autograd.grad(pool(x).square().sum(), x)[0]
        with ngt.use():
            got = torch.autograd.grad(pool(x).square().sum(), x)[0]
        assert near(got, want, 2e-5) and got.stride() == want.stride()
    assert not any(c["fallback"] for c in ngt.calls().values())


# --- compiled (overrides.cpp) ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"ceil_mode": True}, {"divisor_override": 2}], ids=str)
@pytest.mark.parametrize("kind", ["max", "avg"])
def test_pools_of_volumes_lie_as_torchs(kind: str, options: dict[str, Any]) -> None:
    """aten's averages of volumes are contiguous whatever x is, and a view may follow."""
    if kind == "max" and "divisor_override" in options:
        pytest.skip("an average's")
    x = rand(2, 3, 5, 4, 5).to(memory_format=torch.channels_last_3d).requires_grad_()
    pool = getattr(F, f"{kind}_pool3d")
    want = pool(x, 2, 1, **options)
    by = rand(*want.shape)
    (wanted,) = torch.autograd.grad(want, x, by)
    with ngt.use():
        got = pool(x, 2, 1, **options)
        (found,) = torch.autograd.grad(got, x, by)
    assert near(got, want, 2e-5) and near(found, wanted, 2e-5)
    assert (got.stride(), found.stride()) == (want.stride(), wanted.stride())
    assert not any(c["fallback"] for c in ngt.calls().values())


def compiled(name: str) -> int:
    """How often aten's operator ran without Python."""
    from nervanagpu.torch import override

    return override._compiled.calls(name, False) if override._compiled else 0


def test_what_is_usual_does_not_come_to_python() -> None:
    from nervanagpu.torch import override
    from nervanagpu.torch.native import version_has_overrides

    if not version_has_overrides():
        pytest.skip("this torch gives its tensors to nobody but Python")
    x, w, bias, a, c = rand(2, 3, 6, 6), rand(4, 3, 3, 3), rand(4), rand(3, 4), rand(2, 3, 4)
    cube, f = rand(1, 2, 4, 4, 4), rand(3, 2, 2, 2, 2)
    leaves = [t.requires_grad_() for t in (x, w, bias, cube, f)]
    with ngt.use():
        y = F.max_pool2d(F.conv2d(x, w, bias, 1, 1), 2).square().sum() + F.avg_pool2d(x, 2).square().sum()
        z = F.max_pool3d(F.conv3d(cube, f), 2).square().sum() + F.avg_pool3d(cube, 2, 1, 1, False, False).square().sum()
        torch.autograd.grad(y + z, leaves)
        torch.mm(a, a.t())
        torch.bmm(c, c.mT)
        torch.addmm(a[:, 0], a, a.t(), beta=2, alpha=0.5)
        torch.addmm(a[:, :1], a, a.t(), alpha=3)
        F.conv1d(x[0], rand(4, 6, 3))
    usual = {
        "mm": 1, "bmm": 1, "addmm": 2, "convolution": 3, "convolution_backward": 2, "max_pool2d_with_indices": 1,
        "max_pool3d_with_indices": 1, "max_pool2d_with_indices_backward": 1, "max_pool3d_with_indices_backward": 1,
        "avg_pool2d": 1, "avg_pool3d": 1, "avg_pool2d_backward": 1, "avg_pool3d_backward": 1,
    }  # fmt: skip
    assert {o.operator._opname: compiled(o.operator._opname) for o in override._entered.values()} == {
        name: usual.get(name, 0) for name in (o.operator._opname for o in override._entered.values())
    }
    assert ngt.calls() == {f"aten.{name}": {"ours": n, "fallback": {}} for name, n in sorted(usual.items())}
    ngt.reset_calls()
    assert ngt.calls() == {} and compiled("mm") == 0


@pytest.mark.parametrize("mask", [(i, j, k) for i in (True, False) for j in (True, False) for k in (True, False)])
def test_gradients_that_are_asked_for(mask: tuple[bool, ...]) -> None:
    grad, x, w = rand(2, 4, 6, 6), rand(2, 3, 6, 6), rand(4, 3, 3, 3)
    more = ([4], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, list(mask))
    wanted = torch.ops.aten.convolution_backward(grad, x, w, *more)
    with ngt.use():
        found = torch.ops.aten.convolution_backward(grad, x, w, *more)
    assert [t is None for t in found] == [not m for m in mask]  # aten may make what nobody wants
    assert all(near(t, s, 2e-5) for t, s in zip(found, wanted, strict=True) if t is not None)
    assert ours("aten.convolution_backward") == 1


def test_default_arguments_are_atens() -> None:
    x = rand(2, 3, 6, 6)
    calls = [
        lambda: ATEN.max_pool2d_with_indices(x, [2, 2])[0],
        lambda: ATEN.max_pool2d_with_indices(x, [2])[1],
        lambda: ATEN.max_pool2d_with_indices(x, [3, 2], [], [1, 0])[0],
        lambda: ATEN.avg_pool2d(x, [2, 2]),
        lambda: ATEN.avg_pool2d(x, [3, 3], padding=[1, 1]),
        lambda: ATEN.avg_pool2d(x, [3, 3], [2, 1], [1, 1], count_include_pad=False),
        lambda: ATEN.addmm(x[0, 0], x[0, 1], x[0, 2]),
        lambda: ATEN.addmm(x[0, 0], x[0, 1], x[0, 2], alpha=2),
        lambda: ATEN.addmm(x[0, 0], x[0, 1], x[0, 2], beta=True),
    ]
    for call in calls:
        want = call()
        with ngt.use():
            got = call()
        assert near(got, want, 2e-5) and got.stride() == want.stride()
    assert not any(c["fallback"] for c in ngt.calls().values())
    assert sum(c["ours"] for c in ngt.calls().values()) == len(calls)


def test_threads_may_use_different_names() -> None:
    a, c = rand(3, 3), rand(2, 3, 3)
    inside, done = threading.Event(), threading.Event()

    def other() -> None:
        with ngt.use("bmm"):
            inside.set()
            torch.mm(a, a)
            torch.bmm(c, c)
            done.wait(60)

    thread = threading.Thread(target=other)
    with ngt.use("mm"):
        thread.start()
        inside.wait(60)
        for _ in range(3):
            torch.mm(a, a)
            torch.bmm(c, c)
        with ngt.use("bmm"):
            torch.bmm(c, c)
        done.set()
        thread.join()
        torch.mm(a, a)
        torch.bmm(c, c)
    torch.mm(a, a)
    assert ngt.calls() == {
        "aten.bmm": {"ours": 2, "fallback": {}},
        "aten.mm": {"ours": 4, "fallback": {}},
    }


def test_a_backwards_thread_may_use_more() -> None:
    """In a hook: what the thread that called backward() uses is not its to leave."""
    a, b, c = rand(3, 3).requires_grad_(), rand(3, 3), rand(2, 3, 3)

    def hook(grad: Any) -> None:
        torch.bmm(c, c)
        with ngt.use("bmm"):
            torch.bmm(c, c)
        torch.bmm(c, c)

    with ngt.use("mm"):
        y = torch.mm(a, b)
        y.register_hook(hook)
        y.sum().backward()
        torch.mm(b, b)
    assert ours("aten.bmm") == 1 and ours() == 3
    torch.mm(b, b)
    assert ours() == 3


def test_a_key_that_torch_uses_itself_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from nervanagpu.torch import override

    monkeypatch.setattr(override, "_libraries", [])
    monkeypatch.setattr(torch._C, "_dispatch_dump_table", lambda name: f"CPU: x\n{override._NAME}: torch's\n")
    with pytest.raises(RuntimeError, match="has kernels of its own under its dispatch key Fake"), ngt.use():
        pass
    assert not torch._C._dispatch_tls_is_dispatch_key_included(override._KEY)


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("mask", [(True, True), (True, False), (False, True)])
def test_gradients_of_convolutions_lie_as_torchs(axes: int, mask: tuple[bool, bool]) -> None:
    """Channels last where x or the weight is, however the result's gradient lies: a sum's has no strides."""
    forms = (torch.contiguous_format, {2: torch.channels_last, 3: torch.channels_last_3d}[axes])
    calls = {2: (F.conv2d, ngt.conv2d), 3: (F.conv3d, ngt.conv3d)}[axes]
    for of_x in forms:
        for of_weight in forms:
            x = rand(2, 3, *(5,) * axes).to(memory_format=of_x).requires_grad_(mask[0])
            w = rand(4, 3, *(3,) * axes).to(memory_format=of_weight).requires_grad_(mask[1])
            leaves = [t for t in (x, w) if t.requires_grad]
            want = torch.autograd.grad(calls[0](x, w, None, 1, 1).sum(), leaves)
            with ngt.use():
                got = torch.autograd.grad(calls[0](x, w, None, 1, 1).sum(), leaves)
            assert all(near(g, t, 2e-5) for g, t in zip(got, want, strict=True))
            assert [g.stride() for g in got] == [t.stride() for t in want]
            if all(mask) and ngt.entry() == "compiled":
                got = torch.autograd.grad(calls[1](x, w, None, 1, 1).sum(), leaves)
                assert [g.stride() for g in got] == [t.stride() for t in want]
    assert not any(c["fallback"] for c in ngt.calls().values())
