"""Compiled operators of nervanagpu.torch: one file without torch, the bits of Python's entry, when which is called."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nervanagpu as ng
import pytest
from nervanagpu import _core
from source_tree import ROOT

FILE = Path(str(_core.__file__)).with_name("libnervanagpu_torch.so")
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch (make test-torch)")


def test_the_file_needs_no_torch(python: Callable[..., Any]) -> None:
    """It is built, loads where nobody has imported torch, and says so."""
    done = python(
        "import ctypes, nervanagpu\n"
        f"library = ctypes.PyDLL({str(FILE)!r})\n"
        "library.ng_torch_register.restype = ctypes.c_char_p\n"
        "print(library.ng_torch_register().decode())\n"
        "make = library.ng_torch_override\n"
        "make.restype = ctypes.py_object\n"
        "make.argtypes = (ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.py_object)\n"
        "print(library.ng_torch_has_overrides(), make(b'mm', 1, 0, print))",
        device="emulator",
    )
    assert done.stdout == "libtorch_cpu.so, which `import torch` loads\n0 None\n", done.stderr


NAMES = ("register", "direct", "has_overrides", "override", "override_calls", "use", "entries", "entry")
EXPORTED = {f"ng_torch_{name}" for name in NAMES}
STABLE = {"_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct", "_Py_Dealloc"}  # of Python's stable interface


def test_it_exports_few_functions_and_asks_for_nothing_of_torchs() -> None:
    shown = subprocess.run(["nm", "-D", FILE], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1] for line in shown.splitlines() if " T " in line}
    assert exported == EXPORTED
    needed = {line.split()[-1] for line in shown.splitlines() if " U " in line}
    assert not [name for name in needed if "torch" in name]
    assert not [name for name in needed if name.startswith("_Py") and name not in STABLE]  # of one Python alone


# A battery whose bits are printed.
DIGESTS = """
import hashlib, torch
import nervanagpu.torch as ngt
torch.manual_seed(7)
device = "cuda" if torch.cuda.is_available() else "cpu"
r = lambda *s: torch.randn(*s).to(device)
def show(name, *tensors):
    text = b"".join(t.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes() for t in tensors)
    print(name, [tuple(t.shape) for t in tensors], [t.stride() for t in tensors], hashlib.sha256(text).hexdigest())
for dtype in (torch.float32, torch.float16, torch.bfloat16):
    a, b, x, y = (t.to(dtype) for t in (r(33, 70), r(70, 40), r(3, 9, 16), r(3, 16, 5)))
    show("mm", ngt.mm(a, b), ngt.mm(b.t(), a.t()), ngt.mm(a[:, ::2], b[1::2]))
    show("tensor", ngt.mm(a, b, precision="tensor"), ngt.mm(a, b, precision="strict"))
    show("bmm", ngt.bmm(x, y), ngt.bmm(y.mT, x.mT), ngt.bmm(x[:1].expand(3, 9, 16), y))
    for bias in (r(40), r(33, 40), r(33, 1), r(1), r(1, 40)):
        show("addmm", *(ngt.addmm(bias.to(dtype), a, b, beta=s, alpha=t) for s, t in ((1, 1), (2, 0.5), (0, 3))))
    for act in ("none", "relu", "tanh", "sigmoid", "gelu", "gelu_tanh", "silu"):
        show("linear " + act, ngt.linear(x, b[:16, :7].t(), r(7).to(dtype), activation=act))
    w = y[0].t()
    show("linear rows", *(ngt.linear(t, w) for t in (x.transpose(0, 1), x[:, ::2], x[0, 0], x.mT.mT, x[:, :0])))
    show("grouped", *ngt.grouped_mm([a, x[0], b.t(), a[:0], a[:, :0]], [b, y[0], a.t(), b, b[:0]]))
    for form in (torch.contiguous_format, torch.channels_last):
        i, f, c = r(2, 6, 9, 8).to(dtype).contiguous(memory_format=form), r(4, 3, 3, 2).to(dtype), r(4).to(dtype)
        z = ngt.conv2d(i, f, c, (2, 1), (1, 0), (1, 2), 2)
        show("conv2d", z, ngt.conv2d(i[..., ::2], f, None, 1, 1, 1, 2), ngt.conv_transpose2d(z, f, None, 2, 1, 1, 2))
        show("weight", torch.ops.nervanagpu.convolution_weight(z, i, f.shape, [2, 1], [1, 0], [1, 2], 2))
        show("pools", ngt.max_pool2d(i, 3, 2, 1), ngt.avg_pool2d(i, 3, 2, 1), ngt.avg_pool2d(i, 2, 1, 1, False, False))
        i = i.requires_grad_()
        for pool in (ngt.max_pool2d, ngt.avg_pool2d):
            show("pools back", torch.autograd.grad(pool(i, 3, 2, 1).float().square().sum(), i)[0])
    line, cube = r(2, 3, 9).to(dtype), r(1, 2, 5, 6, 4).to(dtype)
    show("1d", ngt.conv1d(line, r(4, 3, 3).to(dtype), None, 2, 1), ngt.max_pool1d(line, 2))
    show("3d", ngt.conv3d(cube, r(3, 2, 2, 3, 2).to(dtype)), ngt.avg_pool3d(cube, 2))
    for to in (torch.float16, torch.bfloat16, torch.float32):
        show("round", ngt.stochastic_round(a, to, 5, 3, 4), ngt.stochastic_round(x.mT, to, 5))
print(ngt.entry())
"""


@needs_torch
def test_both_entries_give_the_same_bits(python: Callable[..., Any]) -> None:
    device = ng.device().kind
    compiled, in_python = (python(DIGESTS, device=device, torch=entry) for entry in ("", "python"))
    assert compiled.stdout.endswith("compiled\n"), compiled.stdout + compiled.stderr
    assert in_python.stdout.endswith("python: NERVANAGPU_TORCH=python\n"), in_python.stderr
    ours, theirs = (done.stdout.splitlines()[:-1] for done in (compiled, in_python))
    assert len(ours) == len(theirs) > 80
    assert [a for a, b in zip(ours, theirs, strict=True) if a != b] == []


@needs_torch
def test_the_shortest_way_of_a_call() -> None:
    import torch
    from nervanagpu.torch.native import DISPATCHER, GRADIENT, KERNEL, RECORDED, way
    from torch.autograd import forward_ad
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils._python_dispatch import TorchDispatchMode

    device = "cuda" if ng.device().kind == "cuda" else "cpu"
    x, wants = torch.ones(2, 2, device=device), torch.ones(2, 2, device=device, requires_grad=True)
    assert way(x, x) == way(x, None) == way(torch.nn.Parameter(x, requires_grad=False)) == KERNEL
    assert way(x, wants) == way(torch.nn.Parameter(x), None) == RECORDED
    for quiet in (torch.no_grad, torch.inference_mode):
        with quiet():
            assert way(x, wants) == KERNEL
    own: Any = type("Own", (torch.Tensor,), {})
    assert way(x.to("meta")) == way(x, x.as_subclass(own)) == DISPATCHER
    with torch.autocast(device, dtype=torch.bfloat16):
        assert way(x) == DISPATCHER
    with TorchDispatchMode():
        assert way(x) == DISPATCHER
    with torch.overrides.BaseTorchFunctionMode():
        assert way(x) == DISPATCHER
    with forward_ad.dual_level():
        assert way(x) == GRADIENT
    seen: list[int] = []
    torch.func.vmap(lambda t: (seen.append(way(t)), t)[1])(x)
    torch.func.grad(lambda t: (seen.append(way(t)), t.sum())[1])(x)
    assert seen == [GRADIENT, GRADIENT]
    torch.jit.trace(lambda t: (seen.append(way(t)), t + 1)[1], x, check_trace=False)
    make_fx(lambda t: (seen.append(way(t)), t + 1)[1])(x)
    assert len(seen) >= 4 and set(seen[2:]) == {DISPATCHER}
    assert way(x) == KERNEL


@needs_torch
def test_wrong_numbers_are_refused() -> None:
    """What nobody but nervanagpu.torch should call does not break, either."""
    import nervanagpu.torch  # noqa: F401: makes torch know the operators
    import torch

    native = torch.ops.nervanagpu_native
    device = "cuda" if ng.device().kind == "cuda" else "cpu"
    a, image, filters = (torch.ones(*s, device=device) for s in ((3, 3), (1, 2, 5, 5), (2, 2, 3, 3)))
    notes, one = torch.zeros(1, 12, dtype=torch.int64), 1 << 21 | 1
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: native.mm(a, a, 7), "precision"),
        (lambda: native.linear(a, a, None, 7, -1), "activation"),
        (lambda: native.linear(a, a, None, -1, -1), "activation"),
        (lambda: native.grouped_mm_note(notes, 1, a, a), "index"),
        (lambda: native.grouped_mm_note(notes, -1, a, a), "index"),
        (lambda: native.grouped_mm_note(notes.int(), 0, a, a), "notes"),
        (lambda: native.grouped_mm_note(notes[:, :11], 0, a, a), "notes"),
        (lambda: native.grouped_mm_run(notes, a, -1), "dtypes"),  # nothing was noted
        (
            lambda: native.convolution(image, filters, None, 1 << 21 | 1, 1 << 42, 1 << 21 | 1, 1, 0),
            "more numbers|padding",
        ),
        (lambda: native.convolution(image, filters, None, 1, 0, 1 << 21 | 1, 1, 0), "stride"),
        (lambda: native.convolution(image, filters, None, -1, 0, 1 << 21 | 1, 1, 0), "stride"),
        (lambda: native.convolution(a, filters, None, 1, 0, 1, 1, 0), "axes"),
        (lambda: native.convolution(image, a, None, 1, 0, 1, 1, 0), "axes"),
        (lambda: native.convolution(image, filters, None, one, 0, one, 1, 7), "activation"),
        (lambda: native.convolution(image, filters, None, one, 0, one, 1, -1), "activation"),
        (lambda: native.convolution_gradients(a, image, filters, one, 0, one, 1), "gradient"),
        (lambda: native.convolution_gradients(image, a, filters, one, 0, one, 1), "axes"),
        (lambda: native.convolution_gradients(image, image, filters.half(), one, 0, one, 1), "several dtypes"),
        (lambda: native.max_pool(a, 1, 1, 0), "axes"),
        (lambda: native.stochastic_round(a, 3, 0, 0, 0), "dtype"),
        (lambda: native.stochastic_round(a, 0, 0, -1, 0), "offset"),
    ]
    for number, (call, text) in enumerate(calls):
        with pytest.raises(RuntimeError, match=text):
            call()
            pytest.fail(f"call {number} was let pass")


@needs_torch
@pytest.mark.long
@pytest.mark.parametrize("test", ["test_torch.py", "test_torch_hostile.py"])
def test_the_python_entry_passes_as_well(test: str) -> None:
    env = {**os.environ, "NERVANAGPU_TORCH": "python"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", ROOT / "test/python/frameworks" / test]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.long
@pytest.mark.skipif(not os.environ.get("NERVANAGPU_TORCHES"), reason="NERVANAGPU_TORCHES names interpreters with torch")
def test_one_file_for_every_torch() -> None:
    """NERVANAGPU_TORCHES: interpreters of this Python, each with another torch, pytest and expecttest; by colons."""
    before = hashlib.sha256(FILE.read_bytes()).hexdigest()
    pythons = [word for p in os.environ["NERVANAGPU_TORCHES"].split(":") for word in ("--python", p)]
    done = subprocess.run(
        [sys.executable, ROOT / "tools/try_torches.py", *pythons], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert before in done.stdout and done.stdout.count("passed: torch") == len(pythons) // 2
