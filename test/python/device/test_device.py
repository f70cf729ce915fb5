"""Which device is chosen, what is said about it, and what checked mode finds."""

from __future__ import annotations

import re

import nervanagpu as ng
import numpy as np
import pytest

EXACT = """
import numpy as np, nervanagpu as ng
rng = np.random.default_rng(0)
for m, n, k in [(1, 1, 0), (1, 1, 1), (65, 33, 19), (129, 127, 9), (64, 64, 32)]:
    for ta in (False, True):
        for tb in (False, True):
            a = rng.integers(-8, 9, (m, k)).astype(np.float32)
            b = rng.integers(-8, 9, (k, n)).astype(np.float32)
            x = ng.array(np.ascontiguousarray(a.T)).T if ta else ng.array(a)
            y = ng.array(np.ascontiguousarray(b.T)).T if tb else ng.array(b)
            for tile in ("128x128", "64x64"):
                assert np.array_equal(ng.dot(x, y, tile=tile).get(), a @ b)
for dtype, (m, n, k) in [("float16", (40, 72, 64)), ("float32", (33, 35, 17))]:
    x, y = (ng.array(rng.integers(-3, 4, s).astype(dtype)) for s in ((m, k), (k, n)))
    mask = ng.zeros((m, -(-n // 32)), np.uint32)
    out = ng.dot(x, y, relu=True, mask=mask).get()
    assert np.array_equal(ng.dot(x, y, activation="drelu", mask=mask).get(), out)
print(ng.device().checked)
"""


def test_version_and_doctor():
    assert ng.__version__ == ng.version()
    text = ng.doctor()
    lines = dict(line.split(maxsplit=1) for line in text.splitlines() if line[0] != " ")
    assert lines["nervanagpu"] == ng.__version__
    assert ng.device().name in lines["device"]
    assert re.search(r"^kernels +sm_90a, \d+ cubins of \d+ bytes", text, re.M), text


def test_device_is_the_same_each_time():
    assert ng.device() == ng.device() and hash(ng.device()) == hash(ng.device())
    assert ng.device() in [ng.device()]
    assert ng.device() != "emulator"


def test_checked_mode_finds_nothing_in_our_kernels(python):
    run = python(EXACT, device="emulator", emulator="checked")
    assert run.returncode == 0, run.stderr
    assert run.stdout == "True\n"
    assert run.stderr == ""


def test_a_fault_is_a_check_error_with_its_place(python):
    # c is one row short: the kernel writes after the allocation.
    run = python(
        "import nervanagpu as ng\n"
        "a = ng.ones((32, 8)); c = ng.empty((31, 8))\n"
        "alias = ng.wrap(c.ptr, (32, 8), 'float32')\n"
        "try:\n"
        "    ng.dot(a, ng.ones((8, 8)), alias)\n"
        "except ng.CheckError as e:\n"
        "    f = e.findings[0]\n"
        "    print(f.kernel.startswith('gemm_nn_'), f.file.endswith('.sass'), f.line > 0, f.kernel in str(e))\n",
        device="emulator",
        emulator="checked",
    )
    assert run.stdout == "True True True True\n", run.stdout + run.stderr


def test_without_a_gpu_there_is_one_line_of_notice(python):
    run = python("import nervanagpu as ng; print(ng.device().kind)")
    if run.stdout == "cuda\n":
        pytest.skip("this machine has a GPU")
    assert run.stdout == "emulator\n"
    assert run.stderr.startswith("nervanagpu: running on the emulator: ")
    assert run.stderr.count("\n") == 1


def test_naming_the_emulator_is_silent(python):
    run = python("import nervanagpu as ng; print(ng.device().kind)", device="emulator")
    assert (run.stdout, run.stderr) == ("emulator\n", "")


def test_asking_for_a_gpu_that_is_not_there_raises(python):
    program = "import nervanagpu as ng\ntry:\n    print(ng.device().kind)\nexcept ng.Error as e:\n    print(e)"
    run = python(program, device="cuda")
    if run.stdout == "cuda\n":
        pytest.skip("this machine has a GPU")
    assert run.stdout.startswith("NERVANAGPU_DEVICE is cuda, but the GPU cannot be used: ")


def test_settings_that_mean_nothing_are_refused(python):
    run = python("import nervanagpu as ng; ng.device()", device="gpu")
    assert "ValueError: NERVANAGPU_DEVICE is 'gpu'; needs cuda or emulator, or to be unset" in run.stderr


def test_importing_opens_no_device(python):
    run = python("import nervanagpu", device="gpu")
    assert (run.returncode, run.stderr) == (0, "")


def test_events_measure_the_work(rng):
    a = ng.array(rng.standard_normal((200, 200)).astype(np.float32))
    start, end = ng.Event(), ng.Event()
    with pytest.raises((ValueError, ng.Error)):
        end.ms_since(start)
    start.record()
    a @ a
    end.record()
    assert end.ms_since(start) > 0


def test_threads_may_compute_at_once(rng):
    from concurrent.futures import ThreadPoolExecutor

    def work(seed):
        local = np.random.default_rng(seed)
        a = local.integers(-8, 9, (40, 30)).astype(np.float32)
        b = local.integers(-8, 9, (30, 50)).astype(np.float32)
        return np.array_equal((ng.array(a) @ ng.array(b)).get(), a @ b)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(64)))
