"""aten's operators by ours on PyTorch's own samples (OpInfo): nearly all run here and agree, as do gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from torch_operands import DEVICE, near, ngt, torch

pytest.importorskip("expecttest", reason="needs expecttest, as PyTorch's samples do (make test-torch installs it)")

F = "nn.functional."
NAMES = [
    "mm", "addmm", "bmm", "baddbmm", "matmul", f"{F}linear",
    *(f"{F}{kind}{axes}d" for kind in ("conv", "conv_transpose", "max_pool", "avg_pool") for axes in (1, 2, 3)),
]  # fmt: skip
BOUND = {"float32": 1e-5, "bfloat16": 2e-2, "float16": 4e-3}
MOST = 150  # samples of an operator: the pools have a thousand and more


def samples(name: str, dtype: Any) -> Iterator[tuple[Any, Any]]:
    """(operator, sample); a fixed selection where there are many."""
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        if op.name == name and dtype in op.supported_dtypes(DEVICE):
            # Of a CPU tensor that wants no gradient torch's max_pool1d calls none of aten's operators.
            wanted = dtype is torch.float32 or name == f"{F}max_pool1d"
            every = list(op.sample_inputs(DEVICE, dtype, requires_grad=wanted))
            step = -(-len(every) // MOST)
            yield from ((op, s) for s in every[:: step + (step > 1 and step % 2 == 0)])


def run(op: Any, sample: Any, convert: Any = lambda t: t) -> tuple[list[Any], list[Any]]:
    """Results, and the gradients of their sum of squares (linear in the result, so not blind to places)."""
    args = torch.utils._pytree.tree_map_only(torch.Tensor, convert, (sample.input, *sample.args))
    leaves = [t for t in torch.utils._pytree.tree_leaves(args) if isinstance(t, torch.Tensor)]
    out = op(*args, **sample.kwargs)
    results = [t for t in (out if isinstance(out, tuple) else (out,)) if t.is_floating_point()]
    if not any(t.requires_grad for t in results):
        return results, []
    loss = sum((t * t).sum() for t in results)
    wanted = [t for t in leaves if t.requires_grad]
    return results, list(torch.autograd.grad(loss, wanted, allow_unused=True))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", list(BOUND))
@pytest.mark.parametrize("name", NAMES)
def test_samples(name: str, dtype: str) -> None:
    torch.manual_seed(7)
    count, ours, wrong = 0, 0, []
    for op, sample in samples(name, getattr(torch, dtype)):
        # 16-bit floats beside float32's arithmetic, which theirs on the CPU do not always have.
        want = run(op, sample, lambda t: t.float() if t.is_floating_point() and dtype != "float32" else t)
        ngt.reset_calls()
        with ngt.use():
            got = run(op, sample)
        calls = ngt.calls().values()
        count += 1
        ours += bool(calls) and not any(c["fallback"] for c in calls)
        if not all(
            (g is w if g is None or w is None else near(g, w, BOUND[dtype]))
            for gs, ws in zip(got, want, strict=True)
            for g, w in zip(gs, ws, strict=True)
        ):
            wrong.append(f"{tuple(sample.input.shape)} {sample.args} {sample.kwargs}"[:300])
    if not count:
        pytest.skip(f"PyTorch has no samples of {name} in {dtype}")
    assert not wrong, "\n".join(wrong)
    assert ours >= 0.95 * count, f"{ours} of {count} ran here: {ngt.calls()}"
