"""PyTorch's work, captured in a CUDA graph and timed."""

from __future__ import annotations

from collections.abc import Callable


def torch_replay(body: Callable[[], object], runs: int) -> Callable[[], float]:
    """Milliseconds of one of the runs in `body`."""
    import torch

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        body()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        body()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def run(keep: object = body) -> float:  # the graph reads what `body` holds
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / runs

    return run
