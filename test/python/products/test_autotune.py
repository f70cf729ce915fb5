"""Measured choices of kernels. On the emulator nothing is measured, but what a file says is taken."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import nervanagpu as ng
import pytest

PROGRAM = """
import sys
import nervanagpu as ng
import numpy as np

rng = np.random.default_rng(3)
a = ng.array(rng.standard_normal((72, 160)).astype(np.float32))
b = ng.array(rng.standard_normal((160, 88)).astype(np.float32))
for on in (False, True):
    ng.autotune(on)
    print(ng.GemmPlan(a, b, ng.empty((72, 88))).kernel, ng.dot(a, b).get().tobytes().hex()[:4000])
"""
FORM = "float32 float32 float32 nn mnk 72 88 160 ld 160 88 88 at 16 16 16 0 0 flags 0 0"


def run(folder, entries, program=PROGRAM, **variables):
    d = ng.device()
    name = f"gemm-{d.name}-{d.arch}-{d.driver}-{ng.version()}.json"
    (folder / "nervanagpu").mkdir(mode=0o700, exist_ok=True)
    path = folder / "nervanagpu" / name
    head = {
        "file": "nervanagpu gemm choices 1",
        "gpu": f"{d.name}, {d.arch}",
        "driver": str(d.driver),
        "library": ng.version(),
    }
    path.write_text(json.dumps(head | entries))
    path.chmod(0o600)
    environment = {**os.environ, "NERVANAGPU_DEVICE": "emulator", "XDG_CACHE_HOME": str(folder), **variables}
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)


def test_a_known_choice_is_taken_with_the_same_bits(tmp_path):
    if ng.device().kind != "emulator" or ng.device().arch != "sm_90a":
        pytest.skip("the entry is the emulator's, its kernels those of sm_90a")
    for chosen, taken in (("sgemm_ring_nn_44_32x64", True), ("sgemm_ring_nn_44_16x128", True), ("no kernel", False)):
        done = run(tmp_path, {FORM: chosen})
        assert done.returncode == 0, done.stderr
        (model, plain), (tuned, bits) = (line.split() for line in done.stdout.splitlines())
        assert bits == plain
        assert tuned == (chosen if taken else model)


LARGER = """
import nervanagpu as ng
import numpy as np

a, b = ng.ones((8440, 188)), ng.ones((188, 200))
plain = ng.dot(a, b, precision="tensor").get()
ng.autotune(True)
print(np.array_equal(ng.dot(a, b, precision="tensor").get(), plain))
"""


def test_a_choice_that_wants_a_larger_workspace_is_not_taken(tmp_path):
    """The caller has made room for the library's own choice, which splits a on its way."""
    if ng.device().kind != "emulator" or ng.device().arch != "sm_90a":
        pytest.skip("the entry is the emulator's, its kernels those of sm_90a")
    form = "float32 float32 float32 nn mnk 8440 200 188 ld 188 200 200 at 16 16 16 0 0 flags 0 0 workspace tensor"
    done = run(tmp_path, {form: "bf16x6_32_nn_128x128"}, LARGER)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True"]


def test_the_switch_and_its_variable(tmp_path):
    before = ng.autotune(True)
    assert ng.autotune(False) is True
    assert ng.autotune(before) is False
    say = "import nervanagpu as ng; print(ng.autotune())"
    assert run(tmp_path, {}, say, NERVANAGPU_AUTOTUNE="1").stdout == "True\n"
    assert run(tmp_path, {}, say, NERVANAGPU_AUTOTUNE="0").stdout == "False\n"
    done = run(tmp_path, {}, say, NERVANAGPU_AUTOTUNE="yes")
    assert "ValueError: NERVANAGPU_AUTOTUNE is 'yes'; needs 0 or 1, or to be unset" in done.stderr
