"""What every part of the factory needs: its stream, stochastic rounding, and timing."""

from __future__ import annotations

from collections.abc import Callable

from nervanagpu import _core
from nervanagpu._core import Event, GPUTensor, Stream
from nervanagpu.calls.arguments import integer
from nervanagpu.calls.options import Rounding

_FLOATS = ("float16", "bfloat16", "float32", "float64")


class FactoryBase:
    """State of NervanaGPU: see there."""

    def __init__(self, bench: bool | int = False, seed: int = 0) -> None:
        self.bench = int(bench)
        self.seed = seed
        self.stream: Stream | None = None
        self._random_offset = 0

    def _rounding(self, out: GPUTensor) -> Rounding:
        """How a result is rounded into `out`: keyword arguments of the operations; takes the random numbers for it."""
        if not out.rounding or str(out.dtype) not in _FLOATS:
            return {}
        bits = min(out.rounding, _core.most_bits(out.dtype))
        offset = self._random_offset
        self._random_offset += (out.size + 3) // 4
        return {"rounding": "stochastic", "seed": self.seed, "offset": offset, "bits": bits}

    def _timed(self, what: str, flops: float, repeat: int, run: Callable[[], object]) -> tuple[float, float]:
        """Runs it `repeat` times. When benchmarking, or more than once, it prints and returns the milliseconds of one
        run and its GFLOP/s. A tenth as many runs come before, to warm up.
        """
        repeat = integer(what.split()[0], "repeat", repeat, 1)
        if not self.bench and repeat == 1:
            run()
            return 0.0, 0.0
        for _ in range(max(repeat // 10, 1) if repeat > 1 else 0):
            run()
        start, end = Event(), Event()
        start.record(self.stream)
        for _ in range(repeat):
            run()
        end.record(self.stream)
        ms = max(end.ms_since(start) / repeat, 1e-9)
        gflops = 1e-6 * flops / ms
        print(f"{what}: {ms:.4f} ms" + (f", {gflops:.1f} GFLOP/s" if flops else ""))
        return ms, gflops
