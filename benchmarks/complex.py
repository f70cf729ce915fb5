"""Complex expressions, reductions and products beside CuPy and PyTorch, in one run on one GPU; checked beside NumPy.

    python benchmarks/complex.py [--out FILE] [--elements N] [--side N] [--repeats N] [--calls N]

Operands are random. Milliseconds a call are medians over `repeats` of `calls` queued calls and one wait, ours and the
peers' in turns; `gb_s` counts every operand read once and every result written once. `error` is the largest difference
from NumPy's complex128 over the result's largest magnitude, in epsilons of the dtype; one above its case's limit fails
the run. On the emulator the times mean nothing; it only tries the script (--elements 5000 --side 40).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
from measure.report import commit, machine, save
from peers.libraries import cupy, torch

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Case:
    """What is computed of operands x, y, z, in the words of the module `m`; parts of 4 or 8 bytes read and written for
    each element; the largest error in epsilons."""

    name: str
    call: Callable[[Any, Any, Any, Any], Any]
    parts: int
    limit: float
    matrices: bool = False


CASES = [
    Case("x * y", lambda m, x, y, z: x * y, 6, 4),
    Case("x / y", lambda m, x, y, z: x / y, 6, 8),
    Case("x * y + z", lambda m, x, y, z: x * y + z, 8, 4),
    Case("(x * conj(y) + z) * 2j", lambda m, x, y, z: (x * m.conj(y) + z) * 2j, 8, 8),
    Case("abs(x)", lambda m, x, y, z: abs(x), 3, 4),
    Case("abs(x) ** 2 + abs(y) ** 2", lambda m, x, y, z: abs(x) ** 2 + abs(y) ** 2, 5, 8),
    Case("exp(x)", lambda m, x, y, z: m.exp(x), 4, 8),
    Case("log(x)", lambda m, x, y, z: m.log(x), 4, 8),
    Case("sqrt(x)", lambda m, x, y, z: m.sqrt(x), 4, 8),
    Case("sum(x)", lambda m, x, y, z: x.sum(), 2, 64),
    Case("a @ b", lambda m, x, y, z: x @ y, 6, 512, matrices=True),
]


def drawn(rng: np.random.Generator, shape: Any, dtype: str) -> Array:
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


def on_host(result: Any) -> Array:
    """NumPy's array of ours, CuPy's or PyTorch's."""
    if hasattr(result, "cpu"):
        return np.asarray(result.cpu().numpy())
    return np.asarray(result.get())


def whose(operands: list[Array]) -> dict[str, tuple[Any, list[Any], Callable[[], object]]]:
    """Name, module, operands and what waits for the device."""
    found: dict[str, tuple[Any, list[Any], Callable[[], object]]] = {
        "ours": (ng, [ng.array(a) for a in operands], ng.synchronize)
    }
    if ng.device().kind != "cuda":
        return found
    if cupy is not None:
        found["cupy"] = cupy, [cupy.asarray(a) for a in operands], cupy.cuda.Device().synchronize
    if torch is not None and torch.cuda.is_available():
        found["torch"] = torch, [torch.from_numpy(a).cuda() for a in operands], torch.cuda.synchronize
    return found


def computed(case: Case, space: Any, operands: list[Any]) -> Any:
    result = case.call(space, *operands)
    if space is ng:
        ng.evaluate(result)
    return result


def measured(case: Case, operands: list[Array], repeats: int, calls: int) -> dict[str, Any]:
    """Milliseconds, gigabytes a second and error of each."""
    exact = case.call(np, *(a.astype(np.complex128) for a in operands))
    entries = whose(operands)
    times: dict[str, list[float]] = {name: [] for name in entries}
    errors: dict[str, float] = {}
    eps, most = float(np.finfo(operands[0].dtype).eps), float(np.abs(exact).max())
    for name, (space, given, _) in entries.items():
        errors[name] = float(np.abs(on_host(computed(case, space, given)) - exact).max()) / (eps * most)
    for _ in range(repeats):
        for name, (space, given, wait) in entries.items():
            computed(case, space, given)
            wait()
            begin = time.perf_counter()
            for _ in range(calls):
                computed(case, space, given)
            wait()
            times[name].append(1e3 * (time.perf_counter() - begin) / calls)
    traffic = case.parts * operands[0].size * operands[0].real.itemsize / 1e6
    return {
        name: {"ms": (ms := statistics.median(times[name])), "gb_s": traffic / ms, "error": errors[name]}
        for name in entries
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--elements", type=int, default=1 << 25)
    parser.add_argument("--side", type=int, default=2048)
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--calls", type=int, default=10)
    args = parser.parse_args()
    rng = np.random.default_rng(1)
    rows = []
    for dtype in ("complex64", "complex128"):
        for case in CASES:
            shape = (args.side, args.side) if case.matrices else (args.elements,)
            operands = [drawn(rng, shape, dtype) for _ in range(3)]
            who = measured(case, operands, args.repeats, args.calls)
            rows.append({"case": case.name, "shape": shape, "dtype": dtype, "limit": case.limit, "who": who})
            print(rows[-1], flush=True)
    if args.out:
        save(args.out, {"commit": commit(), "machine": machine(), "rows": rows})
    bad = [r for r in rows if not r["who"]["ours"]["error"] <= r["limit"]]
    for row in bad:
        print("error above", row["limit"], row, file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
