"""The examples: the demo's last line, and the C++ twin of the network example, which gives the same file."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import _core
from source_tree import ROOT

TWIN = Path(str(_core.__file__)).resolve().parents[2] / "bin" / "digits_network"


@pytest.fixture
def digits() -> tuple[np.ndarray, np.ndarray]:
    datasets = pytest.importorskip("sklearn.datasets")
    return datasets.load_digits(return_X_y=True)


def test_cpp_twin(digits, tmp_path):
    """The same data, seed and options: the same file, bit for bit, and the same accuracy."""
    if not TWIN.exists():
        pytest.skip(f"{TWIN} is not built")
    images, labels = (part[:600] for part in digits)
    rows = np.column_stack([labels, images]).astype(int)
    np.savetxt(tmp_path / "digits.csv", rows, fmt="%d", delimiter=",")
    twin = subprocess.run(
        [TWIN, tmp_path / "digits.csv", tmp_path / "twin.safetensors", "3"],
        capture_output=True, text=True, timeout=120, check=True, env=os.environ,
    )  # fmt: skip

    test = np.arange(len(images)) % 5 == 0
    x, xt = (images[part].reshape(-1, 8, 8, 1) / 16 for part in (~test, test))
    y, yt = labels[~test], labels[test]
    net = ng.Network([ng.layers.Conv(16, 3, padding=1, relu=True), ng.layers.Pool(2), ng.layers.Full(10),
                      ng.layers.Softmax()], input_shape=(8, 8, 1), dtype="float32", seed=1)  # fmt: skip
    history = net.fit(x, y, epochs=3, batch=64, lr=0.05, momentum=0.9, validation=(xt, yt))
    net.save(tmp_path / "python.safetensors")
    assert (tmp_path / "twin.safetensors").read_bytes() == (tmp_path / "python.safetensors").read_bytes()
    lines = twin.stdout.splitlines()
    assert lines[-1] == f"test accuracy: {100 * history['val_accuracy'][-1]:.2f} %"
    assert history["val_accuracy"][-1] > 0.6
    missing = subprocess.run([TWIN, tmp_path / "none"], capture_output=True, text=True, timeout=60, check=False)
    assert missing.returncode == 2 and "FILE" in missing.stderr


def test_demo(digits, tmp_path, monkeypatch, capsys):
    """With fewer epochs than the demo takes: what it prints and writes."""
    del digits
    path = ROOT / "examples" / "digits_network.py"
    program = runpy.run_path(str(path), run_name="digits_network")
    program["main"].__globals__["PHASES"] = [(2, 0.05)]
    monkeypatch.setattr(sys, "argv", [str(path), "--out", str(tmp_path)])
    assert program["main"]() == 0
    output = capsys.readouterr()
    last = re.fullmatch(r"test accuracy: (\d+\.\d\d) %", output.out.splitlines()[-1])
    assert last and float(last[1]) > 85
    assert output.err == ""
    net = ng.Network.load(tmp_path / "digits.safetensors")
    assert net.output_shape == (10,)
    pictures = {f.name for f in tmp_path.iterdir()} - {"digits.safetensors"}
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        assert not pictures
    else:
        assert pictures == {"loss.png", "confusion.png"}
        assert all((tmp_path / p).read_bytes().startswith(b"\x89PNG") for p in pictures)
