"""Train a small convolutional network on handwritten digits, on the GPU or on the emulator.

The 1,797 images of 8 x 8 pixels ship with scikit-learn. Every fifth one is kept for the test and seen by nothing but
that; the network learns from the others. The same seed gives the same bits on every device. Writes pictures of the loss
and of the confusion matrix.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits

Array = npt.NDArray[Any]
# Epochs and step lengths: the last ones settle what the first ones found.
PHASES = [(12, 0.05), (4, 0.01), (2, 0.002)]


def network(dtype: str, seed: int) -> ng.Network:
    """Two convolutions on 8 x 8, one on 4 x 4, and two full layers."""
    return ng.Network(
        [
            ng.layers.Conv(16, 3, padding=1, relu=True),
            ng.layers.Conv(32, 3, padding=1, relu=True),
            ng.layers.Pool(2),
            ng.layers.Conv(32, 3, padding=1, relu=True),
            ng.layers.Pool(2),
            ng.layers.Dropout(0.3),
            ng.layers.Full(10),
            ng.layers.Softmax(),
        ],
        input_shape=(8, 8, 1),
        dtype=dtype,
        seed=seed,
    )


def confusion_of(labels: Array, predicted: Array) -> Array:
    """Rows: the digit it is. Columns: the digit it was taken for."""
    table = np.zeros((10, 10), dtype=int)
    np.add.at(table, (labels, predicted), 1)
    return table


def print_confusion(table: Array) -> None:
    print("confusion   row: the digit, column: taken for")
    print("            " + "".join(f"{digit:4d}" for digit in range(10)))
    for digit, row in enumerate(table):
        print(f"          {digit:2d}" + "".join(f"{count:4d}" if count else "   ." for count in row))


def pyplot() -> Any:
    """matplotlib, drawing into files; None where it is not installed."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def draw_loss(plt: Any, history: dict[str, list[float]], path: Path) -> None:
    epochs = np.arange(1, len(history["loss"]) + 1)
    figure, axes = plt.subplots(figsize=(7, 4), constrained_layout=True)
    axes.semilogy(epochs, history["loss"], label="training (with dropout)")
    axes.semilogy(epochs, history["val_loss"], label="test")
    axes.set(xlabel="epoch", ylabel="cross-entropy", title="Handwritten digits: loss")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def draw_confusion(plt: Any, table: Array, path: Path) -> None:
    figure, axes = plt.subplots(figsize=(5, 5), constrained_layout=True)
    axes.imshow(np.sqrt(table), cmap="Blues")
    for (row, column), count in np.ndenumerate(table):
        if count:
            shade = "white" if row == column else "black"
            axes.text(column, row, str(count), ha="center", va="center", color=shade)
    axes.set(xlabel="taken for", ylabel="digit", xticks=range(10), yticks=range(10), title="Test images")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dtype", choices=["float32", "float16"], default="float32")
    parser.add_argument("--out", type=Path, default=Path("build/demo"), help="folder of the pictures and the network")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    images, labels = load_digits(return_X_y=True)
    x = (images / 16.0).reshape(-1, 8, 8, 1)  # pixels 0 .. 16 -> 0 .. 1
    test = np.arange(len(x)) % 5 == 0
    device = ng.device()
    print(f"device      {device.name}, kernels of {device.arch}")
    print(f"images      {int((~test).sum())} to learn from, {int(test.sum())} for the test")
    net = network(options.dtype, options.seed)
    net.summary()

    begun = time.perf_counter()
    history: dict[str, list[float]] = {}
    for epochs, lr in PHASES:
        part = net.fit(
            x[~test], labels[~test], epochs, batch=64, lr=lr, momentum=0.9, validation=(x[test], labels[test])
        )
        for name, values in part.items():
            history.setdefault(name, []).extend(values)
    print(f"time        {time.perf_counter() - begun:.1f} s for {len(history['loss'])} epochs")
    print(f"loss        {history['loss'][0]:.4f} in the first epoch, {history['loss'][-1]:.4f} in the last")

    table = confusion_of(labels[test], net.predict(x[test]).argmax(axis=1))
    print_confusion(table)
    net.save(options.out / "digits.safetensors")
    print(f"written     {options.out}/digits.safetensors")
    plt = pyplot()
    if plt is None:
        print("pictures    none: matplotlib is not installed")
    else:
        draw_loss(plt, history, options.out / "loss.png")
        draw_confusion(plt, table, options.out / "confusion.png")
        print(f"pictures    {options.out}/loss.png, {options.out}/confusion.png")
    print(f"test accuracy: {100 * table.trace() / table.sum():.2f} %")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
