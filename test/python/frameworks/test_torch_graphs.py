"""CUDA graphs of torch: our operators are captured as they are, and a replay computes from what lies there then."""

from __future__ import annotations

from typing import Any

import pytest
from torch_operands import DEVICE, OPS, F, close, ngt, rand, torch

pytestmark = [
    pytest.mark.usefixtures("fresh_torch"),
    pytest.mark.skipif(DEVICE != "cuda", reason="needs a GPU"),
]

DTYPES = pytest.mark.parametrize("dtype", ["float32", "bfloat16"])


def operands(dtype: str) -> list[Any]:
    """An image, filters, weights and a bias."""
    shapes = (4, 8, 12, 12), (16, 8, 3, 3), (32, 16 * 6 * 6), (32,)
    made = [rand(*shape).to(getattr(torch, dtype)) for shape in shapes]
    return [t.contiguous(memory_format=torch.channels_last) if t.dim() == 4 else t for t in made]


def ours(x: Any, w: Any, m: Any, b: Any) -> Any:
    h = ngt.max_pool2d(ngt.conv2d(x, w, padding=1, activation="relu"), 2)
    return OPS.mm(ngt.linear(h.flatten(1), m, b, activation="gelu"), m[:, :24])


def theirs(x: Any, w: Any, m: Any, b: Any) -> Any:
    h = F.max_pool2d(F.conv2d(x, w, padding=1).relu(), 2)
    return F.gelu(F.linear(h.flatten(1), m, b)) @ m[:, :24]


def with_gradients(f: Any, tensors: list[Any]) -> list[Any]:
    leaves = [t.detach().requires_grad_() for t in tensors]
    y = f(*leaves)
    return [y.detach(), *torch.autograd.grad(y.float().square().sum(), leaves)]


def recorded(step: Any) -> tuple[Any, list[Any]]:
    """The graph of a step that has run on a stream of its own before, as torch asks for it, and the step's results."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = step()
    return graph, results


@DTYPES
@pytest.mark.parametrize("way", ["ngt", "use"])
def test_a_step_is_recorded_and_replayed(dtype: str, way: str) -> None:
    tensors = operands(dtype)

    def step() -> list[Any]:
        if way == "ngt":
            return with_gradients(ours, tensors)
        with ngt.use():
            return with_gradients(theirs, tensors)

    graph, results = recorded(step)
    for _ in range(3):
        for t, new in zip(tensors, operands(dtype), strict=True):
            t.copy_(new)
        graph.replay()
        bound = 1e-4 if dtype == "float32" else 5e-2
        for got, want in zip(results, with_gradients(theirs, tensors), strict=True):
            close(got, want, bound)


@DTYPES
def test_compiled_with_graphs(dtype: str) -> None:
    """mode="reduce-overhead" records what it compiles, and leaves nothing of ours out."""
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    compiled = torch.compile(ours, fullgraph=True, mode="reduce-overhead")
    for _ in range(4):
        tensors = operands(dtype)
        torch.compiler.cudagraph_mark_step_begin()
        with torch.no_grad():
            close(compiled(*tensors).clone(), theirs(*tensors), 1e-4 if dtype == "float32" else 5e-2)
    assert not torch._dynamo.utils.counters["inductor"]["cudagraph_skips"]
