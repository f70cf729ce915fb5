"""The end of the interpreter while daemon threads use the library: exit code 0, and nothing on stderr."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import nervanagpu as ng
import pytest
import tier

Run = Callable[..., "subprocess.CompletedProcess[str]"]

PROGRAM = """
import threading
import numpy as np
import nervanagpu as ng

a = ng.array(np.ones((48, 48), np.float32))
rows = ng.array(np.arange(48, dtype=np.int32))
x, y = np.ones((32, 8), np.float32), np.zeros(32, np.int32)
net = ng.Network([ng.layers.Full(4), ng.layers.Softmax()], input_shape=(8,))
graph = ng.Graph(lambda: ng.dot(a, a, ng.empty((48, 48))))


def expressions():
    (a * 2 + 1).get()


def unread():
    b = a + 1
    b += 2
    ng.evaluate(b)


def products():
    (a @ a).get()


def random_numbers():
    ng.rand(32, 32).get(), ng.randint(0, 5, (4, 4)).get()


def training():  # the callback is Python, called from C++
    net.fit(x, y, epochs=2, batch=16, progress=False, callback=lambda epoch, history: sum(range(300)))


def indexing():  # in Python, called from C++
    a[rows, rows[::-1]]


def recorded():
    ng.Graph(lambda: ng.dot(a, a)).launch()
    graph.launch()


def assembling():
    ng.disassemble(ng.assemble(".kernel k\\n.threads 32\\n  EXIT\\n"))


work = [globals()[name] for name in names]
begun = threading.Barrier(len(work) + 1)


def loop(f):
    f()
    begun.wait(60)
    while True:
        f()


for f in work:
    threading.Thread(target=loop, args=(f,), daemon=True).start()
begun.wait(60)
"""
# Those are the functions above.
KINDS = ["expressions", "unread", "products", "random_numbers", "training", "indexing", "recorded", "assembling"]


@pytest.mark.parametrize("names", [*([kind] for kind in KINDS), ["products", "training", "products"], KINDS], ids=str)
def test_daemon_threads(names: list[str], python: Run) -> None:
    for _ in range(tier.drawn(1, 3)):
        done = python(f"names = {names}{PROGRAM}", device=ng.device().kind)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


FIRST_USE = """
import threading, time
import nervanagpu as ng


def loop():
    while True:
        ng.softmax(ng.rand(4, 4)).get()


for _ in range(3):
    threading.Thread(target=loop, daemon=True).start()
time.sleep(delay)
"""


def test_daemon_threads_that_have_just_begun(python: Run) -> None:
    """What is prepared at the first use of something, such as NumPy's table of functions, is not left half done."""
    for delay in [0.002, 0.003, 0.004, 0.005] * tier.drawn(1, 3):
        done = python(f"delay = {delay}{FIRST_USE}", device=ng.device().kind)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), delay


def output_of(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def registering(code: Path) -> set[str]:
    """The functions in an object file that hand a destructor to __cxa_atexit."""
    function, found = "", set()
    for line in output_of("objdump", "-drC", "--no-show-raw-insn", code).splitlines():
        if heading := re.fullmatch(r"[0-9a-f]+ <(.*)>:", line):
            function = heading[1]
        elif re.search(r"\sR_\w+\s+__cxa_atexit\b", line):
            found.add(function)
    return found


def test_nothing_is_destroyed_at_exit() -> None:
    """Threads that live on may be anywhere in the library: no static object of its own has a destructor.

    Asked of the object files, since a compiler's own library may be a part of it; its headers' functions are its, too.
    """
    library = next(t.split()[-1] for t in Path("/proc/self/maps").read_text().splitlines() if "libnervanagpu" in t)
    build = Path(library).parents[1] / "CMakeFiles"
    objects = [o for folder in ["nervanagpu.dir", "ng_*.dir"] for o in build.glob(f"{folder}/**/*.o")]
    if not objects:
        pytest.skip(f"{library} was not built where it lies")
    assert len(objects) > 100
    undefined = output_of("nm", "-A", "-u", *objects)
    suspects = {line.split(":")[0] for line in undefined.splitlines() if re.search(r"\b__cxa_atexit\b", line)}
    own = {(s, f) for s in suspects for f in registering(Path(s)) if not f.startswith(("std::", "__gnu_cxx::"))}
    assert not own
