"""docs/adding.md shows rows, golden lines and files as they stand, and an activation is a row and a macro.

`ngasm COMMAND --help` knows every option.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import activation_reference
import nervanagpu as ng
import numpy as np
import pytest
from activation_reference import activations
from source_tree import ROOT

NGASM = ROOT / "build/bin/ngasm"
PAGE = (ROOT / "docs/adding.md").read_text(encoding="utf-8")
COMMANDS = sorted(path.stem.removeprefix("cmd_") for path in (ROOT / "sass/tools").glob("cmd_*.cpp"))


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_the_row_and_its_golden_lines_are_in_the_tree():
    rows = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "sass/isa").glob("words*/*.cpp")))
    golden = (ROOT / "test/sass/isa/sm90a.golden").read_text(encoding="utf-8")
    code = re.findall(r"```cpp\n(.*?)```", PAGE, re.S)
    lines = [line for block in re.findall(r"```text\n(.*?)```", PAGE, re.S) for line in block.splitlines()]
    assert code and lines
    for line in "".join(code).splitlines():
        assert squeezed(line) in squeezed(rows), line
    for line in lines:
        assert line in golden.splitlines(), line


def test_the_files_named_are_there():
    for name in re.findall(r"`((?:sass|kernels|test|tools|docs)/[\w./]+)`", PAGE):
        assert (ROOT / name).exists(), name


def test_what_follows_from_activations_is_written():
    for path, text in activations.written().items():
        assert path.read_text(encoding="utf-8") == text, f"{path}: run tools/activations.py"


# Their numbers in C and C++ meet in c_api_gemm.cpp; the references of the C++ tests are instantiated.
BOTH_NUMBERS = """
#include "src/c_api/c_api_gemm.cpp"
#include "test/gpu/activation_reference.h"
static_assert(nervanagpu::activation_row("tamed")->activation == nervanagpu::GemmActivation{9});
double tamed(double x) { return nervanagpu::gpu_test::exact_activation(nervanagpu::GemmActivation::tamed, x).value; }
"""

# y[i] = activate(x[i]), its number in `flags`.
ACTIVATED = """
.kernel activated
.arch   sm_90a, sm_80, sm_52
.param  ptr x
.param  ptr y
.param  u32 flags
.threads 32
.include "lib/ops.sass"
.include "lib/functions.sass"
.include "lib/activation.sass"
.reg from[2] align 2, to[2] align 2
.reg i, v[1], flags, bound
  begin()
  S2R i, SR_TID.X
  mov(from[0], param[x])
  mov(from[1], param[x+4])
  mov(to[0], param[y])
  mov(to[1], param[y+4])
  addr(from, from, i, 4)
  addr(to, to, i, 4)
  ldg(v[0], from)
  mov(flags, param[flags])
  mov(bound, 0)
  activate(v, flags, bound, bound, 1)
  stg(to, v[0])
  EXIT
"""


def test_an_activation_is_a_row_and_a_macro(tmp_path: Path) -> None:
    """With a tenth activation, x / 4 between -1 and 1, C, C++, the kernels' choice, references and the page have it."""
    shutil.copytree(ROOT / "include", tmp_path / "include")
    shutil.copytree(ROOT / "kernels/lib", tmp_path / "kernels/lib")
    for name in ("docs/gemm.md", "python/nervanagpu/nn.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / name, tmp_path / name)
    with (tmp_path / "include/nervanagpu/activations.inc").open("a") as file:
        file.write("NG_ACTIVATION(tamed, NG_TAMED, sum, max(min(x / 4, 1), -1), 0)\n")
    with (tmp_path / "kernels/lib/activation.sass").open("a") as file:
        file.write(
            ".macro tamed(d, a, n=1)\n.for j in 0..n\n  FMUL d[j], a[j], 0.25\n.end\n"
            "  clamp(d, d, 0xbf800000, LT, n)\n  clamp(d, d, 0x3f800000, GT, n)\n.end\n"
        )

    for path, text in activations.written(tmp_path).items():
        path.write_text(text, encoding="utf-8")

    row = activations.rows(tmp_path)[9]
    x = np.linspace(-8, 8, 32, dtype=np.float32)
    y = ng.zeros(32)
    ng.SassModule(ACTIVATED, include_dirs=[tmp_path / "kernels"]).activated[1, 32](ng.array(x), y, 9 << 8)
    assert np.array_equal(y.get(), activation_reference.value(row.value, x=x))
    assert "| `tamed` | `max(min(x / 4, 1), -1)` | none |" in (tmp_path / "docs/gemm.md").read_text(encoding="utf-8")
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no c++")
    folders = [f"-I{folder}" for folder in (tmp_path / "include", ROOT / "include", ROOT)]
    done = subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", *folders, "-x", "c++", "-"],
        input=BOTH_NUMBERS,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not NGASM.exists(), reason="build/bin/ngasm is not built")
@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_every_option(command):
    source = (ROOT / f"sass/tools/cmd_{command}.cpp").read_text(encoding="utf-8")
    accepted = [
        option
        for lists in re.findall(r"parse_options\((.*?)\);", source, re.S)
        for option in re.findall(r'"(--?\w[\w-]*)"', lists)
    ]
    text = subprocess.run([NGASM, command, "--help"], capture_output=True, text=True, timeout=60).stdout
    assert text.startswith(f"usage: ngasm {command}")
    for option in accepted:
        assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text), option
    for option in re.findall(r"(?<![\w-])(--[a-z][a-z-]*)", text):
        assert option in accepted, option
