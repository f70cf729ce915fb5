"""Scripts that people wrote about other libraries, executed with other import lines (seeds.py says what changes)."""

from __future__ import annotations

import re
import warnings

import nervanagpu as ng
import numpy as np
import pytest
import seeds
from nervanagpu.pycuda.function import ArgumentSizeWarning

FULL = seeds.FULL_SIZE


def test_only_what_is_said_is_changed():
    for path in seeds.FOLDER.glob("*.txt"):
        before = path.read_text(encoding="utf-8").splitlines()
        after = seeds.script(path.stem, full_size=True).splitlines()
        assert len(before) == len(after)
        changed = [b for b, a in zip(before, after, strict=True) if b != a]
        assert all(re.match(r"(import|from) (pycuda|cudamat|cupy)\b|%timeit ", line) for line in changed), changed


def test_000_cudamat():
    v = seeds.execute("000_cudamat")
    n, p = (2000, 40000) if FULL else (200, 4000)
    a, b = v["A_cm"].asarray(), v["B_cm"].asarray()
    assert (a.shape, b.shape, v["A"].shape) == ((n, p), (p, n), (n, p))
    assert abs(a.mean()) < 0.01 and abs(a.std() - 1) < 0.01 and not np.array_equal(a, b.T)
    product = v["A_cm"].dot(v["B_cm"]).asarray()
    exact = a.astype(np.float64) @ b.astype(np.float64)
    bound = p * 2.0**-24 * (np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)) / 8
    assert (np.abs(product - exact) <= bound).all()


def test_001_weights_column_sigmoid_and_random():
    """Seed 001 is a description: "a matrix product, then adding a column vector to the result, then applying an
    elementwise logistic sigmoid function and potentially generating a matrix of pseudorandom numbers the same shape".
    """
    rng = np.random.default_rng(1)
    hidden, visible, batch = (4096, 2048, 256) if FULL else (512, 784, 256)
    w = (rng.standard_normal((hidden, visible)) * 0.02).astype(np.float32)
    x = rng.random((visible, batch)).astype(np.float32)
    b = rng.standard_normal((hidden, 1)).astype(np.float32)
    weights, inputs, bias = ng.array(w), ng.array(x), ng.array(b)
    ng.seed(3)
    before = ng.launch_count()
    probability = ng.sig(weights @ inputs + bias)
    sample = ng.rand(hidden, batch) < probability
    ng.evaluate(probability, sample)
    assert ng.launch_count() == before + 2  # the product with all that follows, and the comparison
    exact = 1 / (1 + np.exp(-(w.astype(np.float64) @ x + b)))
    assert (np.abs(probability.get() - exact) <= 1e-5).all()
    ng.seed(3)
    np.testing.assert_array_equal(sample.get(), ng.rand(hidden, batch).get() < probability.get())
    fused = ng.dot(weights, inputs, bias=bias, activation="sigmoid")  # all but the sample in the product's kernel
    assert (np.abs(fused.get() - exact) <= 1e-5).all()


def test_002_cupy():
    v = seeds.execute("002_cupy")
    n = 1000 if FULL else 100
    assert v["x_gpu"].shape == v["x_cpu"].shape == (n, n, n)
    # ones, times 5, times 5, squared, doubled: exact in float32
    assert v["x_cpu"].flat[0] == v["x_cpu"].flat[-1] == 1250
    assert float(ng.min(v["x_gpu"])) == float(ng.max(v["x_gpu"])) == 1250


@pytest.mark.filterwarnings("always")
def test_003_pycuda(compiler):
    if ng.device().checked:
        pytest.skip("checked mode refuses the script: the next test")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        v = seeds.execute("003_pycuda")
    said = [str(w.message) for w in caught if w.category is ArgumentSizeWarning]
    wanted = "argument 3 is a numpy.int32, 4 bytes; the kernel declares u64, 8 bytes: converted"
    assert said == [f"kernel Text_GPU: {wanted}"]
    # What the kernel computes is not what its author wanted (rows are 20 long, and it steps by 2), but it is this:
    d = (v["A"] - v["B"]).ravel()
    rows = np.stack([d[2 * i : 2 * i + 20] for i in range(1000)]).astype(np.float64)
    np.testing.assert_allclose(v["K"], np.exp(-(rows**2).sum(1)), rtol=1e-5)


def test_003_what_checked_mode_says(compiler, python):
    """The script keeps 20 numbers in a shared array of 2: its ninth line, and the sixteenth reads them."""
    program = (
        "import sys, warnings; sys.path.insert(0, 'test/python'); warnings.simplefilter('ignore')\n"
        "import nervanagpu as ng, seeds\n"
        "try:\n    seeds.execute('003_pycuda')\n"
        "except ng.CheckError as e:\n"
        "    f = e.findings[0]\n    print(e)\n    print(f.what, f.cta, f.warp, f.lane, f.count)\n"
    )
    run = python(program, device="emulator", emulator="checked")
    first = (
        r"Text_GPU, kernel\.cu:9, CTA .0,0,0., warp 0, lane 2: out of bounds: 4-byte store at shared address 0x408; "
    )
    assert re.search(rf"kernel {first}the CTA has \[0x400, 0x408\)", run.stdout), run.stdout + run.stderr
    assert run.stdout.endswith("out of bounds [0, 0, 0] 0 2 18000\n"), run.stdout


def test_003_numpy_and_ours_in_one_kernel():
    v = seeds.execute("003_numpy")
    loops = seeds.execute("003_numpy_loops")["Phi_x"]
    a, b = ng.array(v["A"]), ng.array(v["B"])
    before = ng.launch_count()
    ours = ng.exp(-ng.sum(ng.square(a - b), axis=1)).get()  # what the author wanted
    assert ng.launch_count() == before + 1
    np.testing.assert_allclose(ours, v["K1"], rtol=1e-5)
    assert len(loops) == 1000 and 0 < min(loops) < max(loops) < 1


def test_003_multiply_them(compiler):
    """The example of its notes is a kernel alone."""
    from nervanagpu.pycuda import driver as drv
    from nervanagpu.pycuda.compiler import SourceModule

    variables = {"SourceModule": SourceModule}
    exec(seeds.script("003_multiply_them"), variables)
    add = variables["mod"].get_function("multiply_them")  # type: ignore[attr-defined]
    a, b = (np.random.default_rng(s).standard_normal(400).astype(np.float32) for s in (1, 2))
    dest = np.zeros_like(a)
    add(drv.Out(dest), drv.In(a), drv.In(b), block=(400, 1, 1), grid=(1, 1))
    np.testing.assert_array_equal(dest, a + b)


def test_004_gemm():
    v = seeds.execute("004_gemm")
    exact = v["devA"].get().astype(np.float64).T @ v["devB"].get().astype(np.float64)
    assert v["cpuC"].dtype == np.float16
    assert (np.abs(v["cpuC"] - exact) <= 2.0**-11 * np.abs(exact) + 2.0**-20).all()


def test_004_variance():
    v = seeds.execute("004_gemm", "004_variance")
    want = np.broadcast_to(v["devA"].get().astype(np.float64).var(1, keepdims=True), (10, 20))
    assert (np.abs(v["devC"].get() - want) <= 2.0**-10 * want).all()


def test_004_batch_norm():
    before = ng.launch_count()
    v = seeds.execute("004_gemm", "004_batch_norm")
    normal = v["A"].get().astype(np.float64)
    assert ng.launch_count() <= before + 2  # the product is none of them: random numbers, and the normalisation
    assert normal.shape == (128, 32)
    assert (np.abs(normal.mean(1)) <= 1e-2).all() and (np.abs(normal.std(1) - 1) <= 2e-2).all()
