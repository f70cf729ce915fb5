"""Decompositions and transforms beside CuPy and PyTorch, in one run on one GPU; their results beside NumPy's.

    python benchmarks/linalg.py [--out FILE] [--sides 64,512,2048] [--repeats 11]

Milliseconds are medians of the host's clock from a call until the device has ended, ours and the peers' in turns:
these calls wait for the device to say whether they succeeded. `error` is that of what the results must satisfy (such
as |a x - b| over n |a| |x| and the machine epsilon); one above 30 fails the run. On the emulator the times mean
nothing; it only tries the script.
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
import nervanagpu.fft
import numpy as np
import numpy.typing as npt
from measure.report import commit, machine, save
from peers.libraries import cupy, torch

Array = npt.NDArray[Any]
LIMIT = 30.0


@dataclass(frozen=True)
class Case:
    """A function of one operand; how its operand is drawn; what its result may be off by, in epsilons."""

    name: str
    call: Callable[[Any, Any], Any]  # of a namespace with linalg and fft, and the operand
    operand: Callable[[np.random.Generator, tuple[int, ...]], Array]
    error: Callable[[Array, Any], float]


def general(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return rng.standard_normal(shape)


def positive(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    a = rng.standard_normal(shape)
    return a @ np.swapaxes(a, -1, -2) + shape[-1] * np.eye(shape[-1])


def size(a: Array) -> float:
    return float(np.abs(a).max())


def of_inverse(a: Array, x: Array) -> float:
    return size(a @ x - np.eye(a.shape[-1])) / (a.shape[-1] * size(a) * size(x))


def of_cholesky(a: Array, x: Array) -> float:
    return size(x @ np.swapaxes(x, -1, -2) - a) / (a.shape[-1] * size(a))


def of_qr(a: Array, x: Any) -> float:
    return size(x[0] @ x[1] - a) / (a.shape[-1] * size(a))


def of_svd(a: Array, x: Any) -> float:
    return size((x[0] * x[1][..., None, :]) @ x[2] - a) / (a.shape[-1] * size(a))


def of_eigh(a: Array, x: Any) -> float:
    return size(a @ x[1] - x[1] * x[0][..., None, :]) / (a.shape[-1] * size(a))


def of_irfft(a: Array, x: Array) -> float:
    return size(x - np.fft.irfft(a)) / size(a)


CASES = [
    Case("inv", lambda xp, a: xp.linalg.inv(a), positive, of_inverse),
    Case("solve", lambda xp, a: xp.linalg.solve(a, a), positive, lambda a, x: size(a @ x - a) / (len(a[-1]) * size(a))),
    Case("cholesky", lambda xp, a: xp.linalg.cholesky(a), positive, of_cholesky),
    Case("qr", lambda xp, a: xp.linalg.qr(a), general, of_qr),
    Case("svd", lambda xp, a: xp.linalg.svd(a, full_matrices=False), general, of_svd),
    Case("eigh", lambda xp, a: xp.linalg.eigh(a), positive, of_eigh),
    Case("irfft", lambda xp, a: xp.fft.irfft(a), general, of_irfft),
]


def on_host(result: Any) -> Any:
    """NumPy's arrays of ours, CuPy's or PyTorch's."""
    if isinstance(result, tuple | list):
        return tuple(on_host(r) for r in result)
    if hasattr(result, "get"):
        return result.get().astype(np.float64)
    return result.cpu().numpy().astype(np.float64)


def whose(a: Array) -> dict[str, tuple[Any, Any, Callable[[], object]]]:
    """Name, namespace, operand and what waits for the device."""
    found: dict[str, tuple[Any, Any, Callable[[], object]]] = {"ours": (ng, ng.array(a), ng.synchronize)}
    if ng.device().kind != "cuda":
        return found
    if cupy is not None:
        found["cupy"] = cupy, cupy.asarray(a), cupy.cuda.Device().synchronize
    if torch is not None and torch.cuda.is_available():
        found["torch"] = torch, torch.from_numpy(a).cuda(), torch.cuda.synchronize
    return found


def timed(case: Case, a: Array, repeats: int) -> dict[str, Any]:
    """Milliseconds and error of each."""
    entries = whose(a)
    times: dict[str, list[float]] = {name: [] for name in entries}
    errors = {}
    eps = float(np.finfo(a.dtype).eps)
    for i in range(repeats + 2):
        for name, (space, operand, wait) in entries.items():
            wait()
            begin = time.perf_counter()
            result = case.call(space, operand)
            wait()
            if i >= 2:
                times[name].append(1e3 * (time.perf_counter() - begin))
            else:
                errors[name] = case.error(a.astype(np.float64), on_host(result)) / eps
    return {name: {"ms": statistics.median(times[name]), "error": errors[name]} for name in entries}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--sides", default="64,512,2048")
    parser.add_argument("--repeats", type=int, default=11)
    args = parser.parse_args()
    rng = np.random.default_rng(1)
    rows = []
    for side in map(int, args.sides.split(",")):
        for stack in ((), (64,)) if side <= 128 else ((),):
            for dtype in (np.float32, np.float64):
                for case in CASES:
                    a = case.operand(rng, (*stack, side, side)).astype(dtype)
                    who = timed(case, a, args.repeats)
                    rows.append({"case": case.name, "shape": a.shape, "dtype": np.dtype(dtype).name, "who": who})
                    print(rows[-1], flush=True)
    if args.out:
        save(args.out, {"commit": commit(), "machine": machine(), "rows": rows})
    bad = [r for r in rows if not all(w["error"] <= LIMIT for w in r["who"].values())]
    for row in bad:
        print("error above", LIMIT, row, file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
