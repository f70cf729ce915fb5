"""The Python of the pages and of docstrings runs: each page's ```python blocks one after the other, and every example
of a docstring, which is an indented block that is Python.

What an example leaves to the reader (its operands, a file, another library) stands in GIVEN: by page or module, and
before which of its blocks.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import nervanagpu
import pytest
from source_tree import ROOT

PAGES = {
    page.relative_to(ROOT).as_posix(): re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
}

START = "import numpy\nimport numpy as np\nimport nervanagpu as ng\n"
# Those that another test runs, or that no emulator ends in time.
ELSEWHERE = {
    "docs/first-kernel.md": "test/python/toolchain/test_first_kernel.py",
}
SLOW = {("docs/debugging.md", 0)}  # a hundred products of 1000 cubed
RAISES = {("docs/debugging.md", 1): FloatingPointError}
NVCC = ("SourceModule(", "ElementwiseKernel(", "ReductionKernel(", "RawKernel(")  # these compile CUDA C

GIVEN: dict[tuple[str, int], str] = {
    ("docs/convolution.md", 0): """
n, h, c, k = 2, 6, 8, 8
x, w, bias = ng.rand(n, h, 6, c), ng.rand(k, 3, 3, c), ng.rand(k)
""",
    ("docs/convolution.md", 1): """
w = 6
x8, w8, s = ng.ones((n, h, w, c), "int8"), ng.ones((k, 3, 3, c), "int8"), ng.rand(k)
""",
    ("docs/convolution.md", 2): """
x, w = ng.rand(n, h, 6, c), ng.rand(k, 3, 3, c)
dy, dx = ng.rand(n, 3, 3, k), ng.empty((n, h, 6, k))
""",
    ("docs/convolution.md", 3): """
y = ng.empty((n, h, 6, k))
batches = [(x, y), (x, y)]
""",
    ("docs/convolution.md", 4): """
p = q = 6
x, w1 = ng.zeros((n, p, q, 32), "float16"), ng.zeros((64, 1, 1, 32), "float16")
z, w2 = ng.zeros((n, p, q, 32), "float16"), ng.zeros((128, 3, 3, 32), "float16")
error = ng.zeros((n, p, q, 256), "float16")
""",
    ("docs/convolution.md", 5): """
x, w = ng.rand(n, p, q, c), ng.rand(k, 1, 1, c)
dz, w2 = ng.rand(n, p, q, 16), ng.rand(16, 3, 3, k)
""",
    ("docs/convolution.md", 6): "x, w, dy = ng.rand(n, p, q, c), ng.rand(k, 3, 3, c), ng.rand(n, p, q, k)",
    ("docs/convolution.md", 7): """
c = k = 64
x, w = ng.rand(n, p, q, c), ng.rand(k, 3, 3, c)
dz, w2, bits = ng.rand(n, p, q, 16), ng.rand(16, 3, 3, k), ng.zeros((n, p, q, 2), "uint32")
""",
    ("docs/debugging.md", 1): "x = ng.ones(8)",
    ("docs/debugging.md", 3): """
s = ng.ones(8)

def step():
    s[:] = s * 0.5
""",
    ("docs/expressions.md", 1): "x.get()",  # the statement in place that waits
    ("docs/gemm.md", 0): """
n = 40
x, w, b, bits = ng.rand(8, 16), ng.rand(16, n), ng.rand(n), ng.empty((8, 2), "uint32")
dz, w2, dy = ng.rand(8, 24), ng.rand(n, 24), ng.empty((8, n))
""",
    ("docs/gemm.md", 1): "db, scales = ng.empty(n), ng.empty(8)",
    ("docs/gemm.md", 2): "weights = ng.rand(16, n)",
    ("docs/gemm.md", 3): """
w, y = weights, ng.empty((8, n))
batches = [(x, y), (x, y)]
""",
    ("docs/layers.md", 0): """
x, xt = np.random.rand(64, 8, 8, 1).astype(np.float32), np.random.rand(16, 8, 8, 1).astype(np.float32)
y, yt = np.arange(64) % 10, np.arange(16) % 10
""",
    ("docs/modules.md", 2): """
text = 'extern "C" __global__ void scale(float* x) { x[threadIdx.x] *= 2; }'
""",
    ("docs/pooling.md", 0): """
x, dy = ng.rand(2, 8, 8, 8), ng.rand(2, 4, 4, 8)
v = ng.rand(4, 4, 6, 6, 4)
""",
    ("docs/pooling.md", 1): "dx = ng.empty(x.shape)",
    ("docs/pooling.md", 2): """
n, h, w = 1, 4, 4
gradient, dy = ng.empty((n, h, w, 640), "float16"), ng.zeros((n, h, w, 480), "float16")
codes = ng.max_pool_argmax(dy, 3, 1, 1)
""",
    ("docs/pooling.md", 3): """
x, y = ng.rand(2, 8, 8, 8), ng.empty((2, 4, 4, 8))
dy, dx, codes = ng.rand(2, 4, 4, 8), ng.empty((2, 8, 8, 8)), ng.max_pool_argmax(x, 2)
batches = [(x, y), (x, y)]
""",
    ("docs/textures.md", 0): """
pixels = np.zeros((8, 8), np.float32)
grid = block = 1
kernel, out, n = {(grid, block): print}, ng.empty(8), 8
""",
    ("python/nervanagpu/jax/__init__.py", 0): """
import jax
w, x = jax.numpy.ones((4, 3)), jax.numpy.ones((2, 4))
""",
    ("python/nervanagpu/nan_trap.py", 0): "train = ng.device",
    ("python/nervanagpu/calls/precision_setting.py", 0): """
a, b, x, w = ng.rand(4, 4), ng.rand(4, 4), ng.rand(1, 4, 4, 4), ng.rand(4, 3, 3, 4)
""",
    ("python/nervanagpu/pycuda/reduction.py", 0): "from nervanagpu.pycuda.reduction import ReductionKernel",
    ("python/nervanagpu/torch/__init__.py", 0): """
import torch
x, w, b = torch.ones(2, 4), torch.ones(3, 4), torch.ones(3)
model = torch.nn.Linear(4, 3)
""",
    ("python/nervanagpu/torch/override.py", 0): """
import torch
import nervanagpu.torch as ngt
x, model = torch.ones(2, 4), torch.nn.Linear(4, 3)
""",
}

_INDENTED = re.compile(r"(?:^|\n\n)((?: {4}.*\n?|\n)+)")


def is_program(block: str) -> bool:
    """Python that does something; not a table, nor a command."""
    try:
        body = ast.parse(block).body
    except SyntaxError:
        return False
    kinds = (ast.Import, ast.ImportFrom, ast.With, ast.Assign)
    values = [node.value for node in body if isinstance(node, ast.Expr)]
    calls = any(isinstance(v, ast.Call) and not isinstance(v.func, ast.Constant) for v in values)
    return bool(body) and (isinstance(body[0], kinds) or calls)


def examples(path: Path) -> list[str]:
    """Of all docstrings of a file."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            blocks = _INDENTED.findall(ast.get_docstring(node) or "")
            found += [b for b in map(textwrap.dedent, blocks) if is_program(b)]
    return found


MODULES = {
    path.relative_to(ROOT).as_posix(): found
    for path in sorted((ROOT / "python/nervanagpu").rglob("*.py"))
    if (found := examples(path))
}
PROGRAMS = {name: blocks for name, blocks in {**PAGES, **MODULES}.items() if blocks and name not in ELSEWHERE}
FRAMEWORKS = {"torch": "nervanagpu.torch", "jax": "nervanagpu.jax"}


@pytest.fixture
def settings() -> Iterator[None]:
    """What examples set for good is as before."""
    before = nervanagpu.precision("strict")._before
    yield
    nervanagpu.precision(before)
    nervanagpu.track_memory(False)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path, monkeypatch, settings, request):
    text = "\n".join([*PROGRAMS[name], *(GIVEN.get((name, i), "") for i in range(len(PROGRAMS[name])))])
    for library, module in FRAMEWORKS.items():
        if module in text:
            pytest.importorskip(library)
    if any(word in text for word in NVCC):
        request.getfixturevalue("compiler")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(START, names)
    for i, block in enumerate(PROGRAMS[name]):
        exec(GIVEN.get((name, i), ""), names)
        program = compile(block, f"{name}, block {i}", "exec")
        if (name, i) in SLOW:
            continue
        with pytest.raises(RAISES[name, i]) if (name, i) in RAISES else nullcontext():
            exec(program, names)


def test_what_is_given_is_wanted():
    assert [key for key in [*GIVEN, *SLOW, *RAISES] if key[1] >= len(PROGRAMS.get(key[0], []))] == []
    assert all((ROOT / page).exists() and (ROOT / test).exists() for page, test in ELSEWHERE.items())


def test_what_a_program_is():
    assert is_program("import nervanagpu\n") and is_program("y = f(x)\n") and is_program("f(x)\n")
    assert not is_program('"NHWC"   (N, H, W, C)\n') and not is_program("python -m x y.py\n") and not is_program("")
