"""Classify handwritten digits with one fused GEMM: scores = images @ weights + bias.

The 1,797 images of 8 x 8 pixels ship with scikit-learn. Every fifth one is kept for the test; the weights are the
least-squares fit of one-hot labels to the others, computed by NumPy in float64. All scores of all images are then one
kernel on the device that is there: the GPU, or the emulator. Accuracy is that of the images kept for the test.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits

Array = npt.NDArray[Any]


def fit(images: Array, labels: Array) -> tuple[Array, Array]:
    """Least-squares weights (64, 10) and bias (10,) for one-hot labels, float64."""
    design = np.hstack([images, np.ones((len(images), 1))])
    solution = np.linalg.lstsq(design, np.eye(10)[labels], rcond=None)[0]
    return solution[:-1], solution[-1]


def timed(run: Callable[[], object], repeat: int) -> float:
    """Milliseconds of one run, the fastest of `repeat`."""
    best = float("inf")
    for _ in range(repeat):
        start, end = ng.Event(), ng.Event()
        start.record()
        run()
        end.record()
        best = min(best, end.ms_since(start))
    return best


def print_confusion(labels: Array, predicted: Array) -> None:
    """Rows: the digit it is. Columns: the digit it was taken for."""
    table = np.zeros((10, 10), dtype=int)
    np.add.at(table, (labels, predicted), 1)
    print("confusion   row: the digit, column: taken for")
    print("            " + "".join(f"{digit:4d}" for digit in range(10)))
    for digit, row in enumerate(table):
        print(f"          {digit:2d}" + "".join(f"{count:4d}" if count else "   ." for count in row))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=10, help="timed runs; the fastest counts (default 10)")
    repeat = max(1, parser.parse_args().repeat)

    images, labels = load_digits(return_X_y=True)
    images = images / 16.0  # pixels 0 .. 16 -> 0 .. 1
    test = np.arange(len(images)) % 5 == 0
    weights, bias = fit(images[~test], labels[~test])
    reference = images @ weights + bias

    x, w, b = (ng.array(v, dtype=np.float32) for v in (images, weights, bias))
    scores = ng.empty((len(images), 10))
    ms = timed(lambda: ng.dot(x, w, scores, bias=b), repeat)
    got = scores.get()
    predicted = got.argmax(axis=1)
    right = predicted == labels
    unlike = int((predicted != reference.argmax(axis=1)).sum())

    m, k = images.shape
    n = weights.shape[1]
    device = ng.device()
    print(f"device      {device.name}, kernels of {device.arch}")
    print(f"images      {m} of {k} pixels; weights from {int((~test).sum())}, {int(test.sum())} kept for the test")
    print(f"time        {ms:.3f} ms for {m} x {k} times {k} x {n}: {2e-6 * m * n * k / max(ms, 1e-6):.2f} GFLOP/s")
    print(f"max error   {np.abs(got - reference).max():.2e} against float64")
    print(f"unlike      {unlike} of {m} images are classified otherwise than by NumPy in float64")
    print_confusion(labels[test], predicted[test])
    print(f"all images  {100 * right.mean():.2f} %, those of the fit included")
    print(f"accuracy: {100 * right[test].mean():.2f} %")
    return 1 if unlike else 0


if __name__ == "__main__":
    raise SystemExit(main())
