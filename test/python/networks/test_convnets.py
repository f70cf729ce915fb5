"""The networks of the benchmarks: their FLOPs, and a step of each against float64.

The whole topology at full image size, with one eighth of the feature maps: fprop, all weight gradients, and the
gradient of the first layer's output, which every data gradient has gone through.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from source_tree import ROOT

BENCHMARKS = ROOT / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import nervanagpu as ng  # noqa: E402
from convnet_reference import Reference, Value  # noqa: E402
from convnets.networks import NETWORKS, Conv, Full, Network, Pool, Work, flops, inception, scaled, work  # noqa: E402
from convnets.replay import Replay  # noqa: E402
from convnets.step import Step  # noqa: E402

NAMES = list(NETWORKS)
PUBLISHED = {"alexnet": 182.8, "overfeat": 717.2, "vgg_a": 974.0, "vgg_e": 2512.9, "googlenet": 405.2}
FIRST = {"alexnet": 17.991, "overfeat": 27.977, "vgg_a": 11.098, "vgg_e": 11.098, "googlenet": 30.212}
INPUTS = {"alexnet": 9216, "overfeat": 36864, "vgg_a": 25088, "vgg_e": 25088, "googlenet": 1024}  # of the first fc
Array = npt.NDArray[Any]


@pytest.mark.parametrize("name", NAMES)
def test_flops_are_the_published_ones(name: str) -> None:
    fprop, bprop = flops(NETWORKS[name])
    assert round(fprop / 1e9, 1) == PUBLISHED[name]
    assert round((2 * fprop - bprop) / 1e9, 3) == FIRST[name]  # the first layer's data gradient, which is not run


@pytest.mark.parametrize("name", NAMES)
def test_widths(name: str) -> None:
    first = next(w for w in work(NETWORKS[name]) if w.name == "fc1")
    assert first.c * first.side_in**2 == INPUTS[name]
    assert work(NETWORKS[name])[-1].k == 1000


def test_inceptions_are_the_published_ones() -> None:
    """GFLOP of each, N = 128."""
    sums = dict.fromkeys(range(1, 10), 0.0)
    for w in work(NETWORKS["googlenet"]):
        if w.name.startswith("inc"):
            sums[int(w.name[3])] += w.fprop / 1e9
    published = [32.781, 77.892, 18.844, 22.505, 25.562, 30.340, 43.519, 13.076, 18.099]
    assert [round(s, 3) for s in sums.values()] == published


def filter_shape(w: Work) -> tuple[int, ...]:
    return (w.k, w.c, w.layer.size, w.layer.size) if isinstance(w.layer, Conv) else (w.k, w.c * w.side_in**2)


def small_integers(net: Network, rng: np.random.Generator) -> tuple[dict[str, Array], Array, Array]:
    """Weights of five +-1 for each output, images of 0, 1, 2: every sum of a step is a small integer."""
    weights = {}
    for w in work(net):
        shape = filter_shape(w)
        flat = np.zeros((w.k, int(np.prod(shape[1:]))))
        for row in flat:
            at = rng.choice(flat.shape[1], min(5, flat.shape[1]), replace=False)
            row[at] = rng.choice([-1.0, 1.0], len(at))
        weights[w.name] = flat.reshape(shape)
    x = rng.integers(0, 3, (net.n, 3, net.image, net.image)).astype(np.float64)
    error = rng.integers(-2, 3, (net.n, work(net)[-1].k)).astype(np.float64)
    return weights, x, error


def random_floats(
    net: Network, dtype: npt.DTypeLike, rng: np.random.Generator
) -> tuple[dict[str, Array], Array, Array]:
    """Weights that keep the size of activations, rounded to dtype."""

    def rounded(values: Array) -> Array:
        return values.astype(dtype).astype(np.float64)

    weights = {}
    for w in work(net):
        shape = filter_shape(w)
        weights[w.name] = rounded(rng.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:])))
    x = rounded(rng.random((net.n, 3, net.image, net.image)))
    return weights, x, rounded(rng.standard_normal((net.n, work(net)[-1].k)))


def forget(step: Step) -> None:
    """NaN wherever a step writes."""
    for tensor in (*step.y.values(), *step.dw.values(), *step.buffers.free, step.dy1):
        tensor.fill(np.nan)


def run(
    net: Network, dtype: npt.DTypeLike, data: tuple[dict[str, Array], Array, Array], layout: Any, **options: Any
) -> tuple[Step, Reference]:
    step = Step(net, dtype, *data, layout=layout, **options)
    forget(step)
    step.fprop()
    step.bprop()
    return step, Reference(net, *data, step.host_y)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("layout", ["CHWN", "NHWC"])
def test_step_of_integers_is_exact(name: str, layout: str, rng: np.random.Generator) -> None:
    """Bit for bit; equal values abound, so this is also the order in which windows and ReLUs decide."""
    net = scaled(NETWORKS[name], n=1 if layout == "CHWN" or "vgg" in name else 2, divisor=8)
    # A mean of 49 is no integer: the largest instead.
    net = replace(net, layers=tuple(replace(x, op="max") if isinstance(x, Pool) else x for x in net.layers))
    step, exact = run(net, np.float32, small_integers(net, rng), layout)
    for found in (*exact.y.values(), *exact.dw.values()):
        assert found.magnitude.max() < 2**24  # so that float32 is exact in any order
    for layer, found in exact.y.items():
        np.testing.assert_array_equal(step.host_y(layer), found.value, layer)
    for layer, found in exact.dw.items():
        np.testing.assert_array_equal(step.host_dw(layer), found.value, layer)
    # Thin branches may die under so few weights; most must not.
    assert np.mean([bool(found.value.any()) for found in exact.dw.values()]) > 0.75
    assert exact.dy1 is not None and np.count_nonzero(exact.dy1) > 0
    np.testing.assert_array_equal(step.host_dy1(), exact.dy1)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_inceptions_whose_branches_begin_at_words_are_exact(dtype: str, rng: np.random.Generator) -> None:
    """Bits of ReLUs pass from one inception to the next, and from the common 1x1 convolution to each branch."""
    layers = (
        Conv(8, 3, pad=1), inception(32, 32, 32, 8, 32, 16), inception(32, 64, 32, 16, 32, 32), Pool(3, 2, 1),
        inception(32, 20, 32, 8, 32, 16), inception(8, 32, 32, 8, 24, 16), Pool(4, 1), Full(5, relu=False),
    )  # fmt: skip
    net = Network("tiny", "Tiny", 2, 7, layers)
    step, exact = run(net, dtype, small_integers(net, rng), "NHWC")
    for layer, found in (*exact.y.items(), *exact.dw.items()):
        assert found.magnitude.max() < 2**11, layer  # float16's integers
    for layer, found in exact.y.items():
        np.testing.assert_array_equal(step.host_y(layer), found.value, layer)
    for layer, found in exact.dw.items():
        np.testing.assert_array_equal(step.host_dw(layer), found.value, layer)
    assert exact.dy1 is not None and np.count_nonzero(exact.dy1) > 0
    np.testing.assert_array_equal(step.host_dy1(), exact.dy1)
    relus = [op.layer for op in step.bprop_ops if op.pass_ == "relu"]
    assert relus == []  # c1 of the third begins at a word, too: channels without filters lie in front of it


# An inception's output is a part of a wider tensor, for whatever stands after it but a fully connected layer.
PLACES = {
    "odd, behind and before a pool": (
        Conv(9, 3, pad=1), Pool(3, 2, 1), inception(5, 7, 9, 3, 6, 4), Pool(3, 2, 1), Full(5, relu=False),
    ),
    "first": (inception(8, 6, 8, 4, 8, 8), inception(7, 40, 8, 33, 8, 9), Pool(7, 1, op="max"), Full(5, relu=False)),
    "in front of a fully connected layer": (
        Conv(8, 3, pad=1), inception(16, 40, 8, 5, 8, 8), inception(11, 3, 8, 1, 8, 8), Full(5, relu=False),
    ),
    "in front of a convolution": (
        Conv(8, 3, pad=1), inception(32, 20, 32, 8, 32, 32), Conv(12, 3, 2, 1), inception(1, 1, 1, 1, 1, 1),
        Conv(12, 1), Full(5, relu=False),
    ),
    "words and gaps": (
        Conv(8, 3, pad=1), inception(32, 48, 32, 24, 32, 32), inception(64, 40, 32, 40, 32, 16), Pool(2, 2),
        inception(48, 32, 16, 8, 16, 16), Conv(8, 1), Full(5, relu=False),
    ),
    "a mean of one": (Conv(8, 3, pad=1), inception(8, 8, 8, 8, 8, 8), Pool(1, 1, op="avg"), Full(5, relu=False)),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("dtype", "precision"), [("float32", "strict"), ("float32", "tensor"), ("float16", "strict")])
@pytest.mark.parametrize("beside", [False, True])
def test_inceptions_stand_anywhere(
    place: str, dtype: str, precision: str, beside: bool, rng: np.random.Generator
) -> None:
    """Exact, whatever was in memory before; also where gradients share none and branches have streams of their own."""
    net = Network("tiny", "Tiny", 2, 7, PLACES[place])
    with ng.precision(precision):
        step, exact = run(net, dtype, small_integers(net, rng), "NHWC", beside=beside, lanes=beside)
    for layer, found in (*exact.y.items(), *exact.dw.items()):
        assert found.magnitude.max() < (2**11 if dtype == "float16" else 2**24), layer
    for layer, found in exact.y.items():
        np.testing.assert_array_equal(step.host_y(layer), found.value, layer)
    for layer, found in exact.dw.items():
        np.testing.assert_array_equal(step.host_dw(layer), found.value, layer)
    if exact.dy1 is not None:
        np.testing.assert_array_equal(step.host_dy1(), exact.dy1)


def test_one_product_reads_the_input_of_an_inception() -> None:
    """Nothing of an output or its gradient is copied: of the latter, channels without filters are cleared."""
    net = scaled(NETWORKS["googlenet"], n=1, image=32)
    net = replace(net, layers=(*net.layers[:-2], Pool(1, 1, op="avg"), net.layers[-1]))
    weights = {w.name: np.zeros(filter_shape(w), np.float32) for w in work(net)}
    step = Step(net, "float16", weights, np.zeros((1, 3, 32, 32)), np.zeros((1, 1000)), layout="NHWC")
    first = [op.layer for op in step.fprop_ops if op.layer.endswith("+c1")]
    assert first == [f"inc{i}.a1+b1+c1" for i in range(1, 10)]
    assert not [op for op in step.fprop_ops if op.pass_ == "join" or op.layer.endswith(".a1")]
    assert [op.layer for op in step.bprop_ops if op.pass_ == "join"] == ["inc6", "inc5", "inc4", "inc1"]
    assert [op.layer for op in step.bprop_ops if op.pass_ == "update" and "+" in op.layer] == first[::-1]
    assert sum(op.flops for op in step.fprop_ops) == flops(net)[0]
    assert sum(op.flops for op in step.bprop_ops) == flops(net)[1]


def worst(got: Array, found: Value) -> float:
    """The largest error over the magnitude of its sum; where that is small, over the tensor's mean magnitude."""
    error = np.abs(got - found.value) / (found.magnitude + found.magnitude.mean())
    return float(error.max()) if np.isfinite(got).all() else np.inf


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("dtype", "of_y", "of_gradients"), [("float32", 5e-6, 1e-4), ("float16", 1e-2, 7e-2)])
def test_step_of_floats_is_near(
    name: str, dtype: str, of_y: float, of_gradients: float, rng: np.random.Generator
) -> None:
    """A value carries the rounding of every layer before it, so the bounds are some ten units in the last place of
    outputs, and of gradients, which went through the network twice, some hundred."""
    net = scaled(NETWORKS[name], n=1, divisor=8)
    step, exact = run(net, dtype, random_floats(net, dtype, rng), "CHWN")
    joined = {f"inc{i}" for i in range(1, 10)} if name == "googlenet" else set()
    assert set(exact.y) | joined == set(step.y)
    assert set(exact.dw) == set(step.dw)
    for layer, found in exact.y.items():
        assert worst(step.host_y(layer), found) <= of_y, layer
    for layer, found in exact.dw.items():
        assert worst(step.host_dw(layer), found) <= of_gradients, layer
    assert exact.dy1 is not None
    assert worst(step.host_dy1(), Value(exact.dy1, np.abs(exact.dy1))) <= of_gradients


def everything(step: Step) -> dict[str, Array]:
    """All that a step writes, as it lies in memory."""
    found = {**{f"y {name}": t for name, t in step.y.items()}, **{f"dw {name}": t for name, t in step.dw.items()}}
    return {name: step.host(t) for name, t in (*found.items(), ("dy1", step.dy1))}


@pytest.mark.parametrize("name", ["alexnet", "googlenet"])
@pytest.mark.parametrize(("dtype", "layout"), [("float32", "CHWN"), ("float16", "NHWC"), ("bfloat16", "NHWC")])
@pytest.mark.parametrize("beside", [False, True])
def test_replay_has_the_bits_of_the_calls(
    name: str, dtype: str, layout: Any, beside: bool, rng: np.random.Generator
) -> None:
    """Also of other images than those of the recording; fprop's graph leaves the gradients alone."""
    net = scaled(NETWORKS[name], n=1, divisor=16)
    data = random_floats(net, np.float32, rng)
    step = Step(net, dtype, *data, layout=layout)
    step.x[:] = step.x * 0.5
    step.fprop()
    step.bprop()
    expected = everything(step)
    step = Step(net, dtype, *data, layout=layout, beside=beside, lanes=beside)
    replay = Replay(step)
    step.x[:] = step.x * 0.5
    forget(step)
    replay.fprop.launch()
    found = everything(step)
    assert all(np.isnan(found[key]).all() == (key[:2] != "y ") for key in found)
    forget(step)
    replay.whole.launch()
    found = everything(step)
    for key, value in expected.items():
        np.testing.assert_array_equal(found[key], value, key)
        assert np.isfinite(value).all(), key


def test_report_chart_and_json(tmp_path: Path) -> None:
    """The benchmark's print is that of the 2015 library, to the column; its JSON makes a picture."""
    out, picture = tmp_path / "convnets.json", tmp_path / "convnets.svg"
    command = [sys.executable, str(BENCHMARKS / "convnet-benchmarks.py"), "--net", "alexnet", "--n", "1"]
    command += ["--divisor", "32", "--iterations", "2", "--warmup", "1", "--no-compile", "--out", str(out)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert run.returncode == 0, run.stderr
    line = r"Avg\(2\) %s: (?=.{8} msecs) *\d+\.\d{3} msecs (?=.{8} gflops) *\d+\.\d{3} gflops\n"
    passes = "".join(line % p for p in ("fprop", "bprop", "total"))
    # Beside PyTorch on a GPU.
    peer = r"(PyTorch .*; ours takes \d+\.\d\d x\ntotal: .*\nseconds to set up: .*\nresults differ by .*\n)?"
    blocks = [
        rf"-{{45}}\nAlexnet \(dtype={d}, N=1\)  Results:\n-{{45}}\n{passes}{peer}" for d in ("float16", "float32")
    ]
    assert re.match("".join(blocks) + r"\nwrote ", run.stdout), run.stdout
    rows = json.loads(out.read_text())["rows"]
    assert [(r["layout"], r["graph"]) for r in rows[::3]] == [("NHWC", True), ("CHWN", True)]
    assert [(r["dtype"], r["pass"]) for r in rows[3:]] == [("float32", p) for p in ("fprop", "bprop", "total")]
    forward, backward = flops(scaled(NETWORKS["alexnet"], 1, 32))
    assert rows[2]["gflop"] == round((forward + backward) / 1e9, 3)
    chart = [sys.executable, str(BENCHMARKS / "convnet_chart.py"), str(out), str(picture)]
    assert subprocess.run(chart, capture_output=True, check=False).returncode == 0
    beside = 2 if "PyTorch" in run.stdout else 1  # bars of a group; each library has its colour in the legend
    assert picture.read_text().count("<rect") == 1 + beside * (1 + len(rows) // 3)


def test_unknown_network_is_refused() -> None:
    command = [sys.executable, str(BENCHMARKS / "convnet-benchmarks.py"), "--net", "lenet"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 2
    assert "'lenet' is not one of alexnet, overfeat, vgg_a, vgg_e, googlenet" in run.stderr
