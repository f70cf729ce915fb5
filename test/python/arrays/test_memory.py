"""Memory by statement, and running out of it."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest


def held(text: str) -> ng.memory.Held:
    found = [h for h in ng.memory_report().held if text in h.statement]
    assert len(found) == 1, ng.memory_report()
    return found[0]


def test_memory_by_statement(rng):
    before = ng.zeros(1000)
    with ng.track_memory():
        kept = [ng.zeros((10, 25)) for _ in range(3)]  # three
        x = ng.array(rng.standard_normal((100, 100)))  # float64
        y = x * 2 + 1  # written
        assert not [h for h in ng.memory_report().held if "# written" in h.statement]
        y.get()  # computed
        z = ng.dot(kept[0].T, kept[1])
        z.get()  # a product
        report = ng.memory_report()
        assert held("# three").bytes == 3 * 1000 and held("# three").allocations == 3
        assert held("# float64").bytes == held("# computed").bytes == 80000
        assert held("# a product").bytes == 25 * 25 * 4
        assert held("# three").statement.startswith(f"{__file__}:")
        assert [h.bytes for h in report.held] == sorted((h.bytes for h in report.held), reverse=True)
        assert report.in_use >= before.nbytes + sum(h.bytes for h in report.held)
        assert "3,000       3 x  " in repr(report) and "bytes in use" in repr(report)
        del kept[1:], y
        assert held("# three").allocations == 1
        assert not [h for h in ng.memory_report().held if "# computed" in h.statement]
    assert ng.memory_report().held == [] and "not recorded" in repr(ng.memory_report())
    del x, z


PROGRAM = """
import gc, numpy as np, nervanagpu as ng
gc.disable()
MiB = 1 << 20

class Cycle:
    def __init__(self):
        self.self, self.tensor = self, ng.zeros(10 * MiB, "int8")

a = ng.ones(4 * MiB, "float32")            # 16 of 64
Cycle()                                    # 10 that wait for the garbage collector
b = ng.ones(40 * MiB, "int8", name="b")    # fits only without them
try:
    ng.zeros(32 * MiB, "int8")
except MemoryError as e:
    print("1", e)
ng.track_memory()
c = ng.zeros(MiB, "int8")                  # the holder
y = a * 2 + 1                              # needs 16
try:
    y.get()
except MemoryError as e:
    print("2", e)
try:
    ng.dot(ng.ones((2048, 1)), ng.ones((1, 2048))).get()
except MemoryError as e:
    print("3", str(e).splitlines()[0])
a *= 3                                     # y reads a, and has to be computed before
try:
    ng.synchronize()
except MemoryError as e:
    print("4", str(e).splitlines()[0])
del b
print(float(ng.max(a)), float(ng.min(a)), float(ng.max(y)), float(ng.min(y)), ng.memory_stats().in_use // MiB)
"""


def test_out_of_memory_leaves_everything_usable(python, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    run = python(f"import runpy; runpy.run_path({str(path)!r})", device="emulator", emulator_memory="64M")
    lines = run.stdout.splitlines()
    assert run.returncode == 0, run.stderr
    assert lines[0].startswith(f"1 out of memory: {32 << 20} bytes asked for, {8 << 20} free on the emulator, "), lines
    assert lines[1].startswith(f"2 out of memory: {16 << 20} bytes asked for, "), lines
    assert "1048576 bytes: " in lines[2] and lines[2].endswith("# the holder"), lines
    assert lines[3].startswith("3 out of memory: ") and lines[4].startswith("4 out of memory: "), lines
    assert lines[5:] == ["3.0 3.0 3.0 3.0 33"], lines  # no statement was lost


@pytest.mark.parametrize("value", ["0", "x", "12X", "-1", "999999999G", "1.5G"])
def test_sizes_that_mean_nothing(python, value):
    run = python("import nervanagpu as ng; ng.device()", device="emulator", emulator_memory=value)
    assert f"NERVANAGPU_EMULATOR_MEMORY is '{value}'; needs a number of bytes such as 64M or 2G" in run.stderr
    run = python("import nervanagpu as ng; print(ng.device().memory)", device="emulator", emulator_memory="3M")
    assert int(run.stdout) == 3 << 20


def test_every_allocation_may_fail(python, tmp_path):
    """A step of training in ever more memory: each failure is a MemoryError, after which the next try starts clean."""
    path = tmp_path / "program.py"
    path.write_text("""
import numpy as np, nervanagpu as ng
w0 = np.random.default_rng(0).standard_normal((256, 256)).astype(np.float32)
w, x = ng.array(w0), ng.array(w0.T)
size, filler, failures = 64 << 20, None, 0
while filler is None:  # all that there is
    try:
        filler = ng.empty(size, "int8")
    except MemoryError:
        size -= 1 << 16
for free in range(0, 40):
    del filler
    filler = ng.empty(size - (free << 16), "int8")
    used = ng.memory_stats().in_use
    try:
        h = ng.tanh(ng.dot(w, x) * 0.1 + 1)
        p = ng.softmax(h, 1)
        g = ng.dot(p.T, h)
        s = float(ng.sum(g * p))
    except MemoryError:
        failures += 1
        h = p = g = None
    else:
        break
    # The error is gone, and with it its traceback, whose frames held operands.
    assert ng.memory_stats().in_use == used, (ng.memory_stats().in_use, used)
h = np.tanh(w0 @ w0.T * 0.1 + 1); e = np.exp(h - h.max(1, keepdims=True)); p = e / e.sum(1, keepdims=True)
print(failures, abs(s / float(((p.T @ h) * p).sum()) - 1) < 1e-3)
""")
    run = python(f"import runpy; runpy.run_path({str(path)!r})", device="emulator", emulator_memory="64M")
    assert run.returncode == 0, run.stderr
    failures, right = run.stdout.split()
    assert int(failures) >= 4 and right == "True"


def test_pinned_memory(rng):
    host = ng.pinned((100, 30), "float64")
    assert host.shape == (100, 30) and host.dtype == np.float64 and host.flags.c_contiguous and host.flags.writeable
    host[...] = rng.standard_normal((100, 30))
    part = host[10:20]
    np.testing.assert_array_equal(ng.array(host).get(), host)
    kept = part.copy()
    del host  # its memory lives as long as a view of it
    np.testing.assert_array_equal(part, kept)
    assert ng.pinned(0).size == 0 and ng.pinned(5).dtype == np.float32
    with pytest.raises(ValueError, match="shape has a length of -1"):
        ng.pinned(-1)
    with pytest.raises(ValueError, match="bytes"):
        ng.pinned((2**40, 2**40))
