"""The C++ and C of the pages compiles as it stands, in a function if it has none. GIVEN: what it leaves out."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from source_tree import ROOT

BLOCKS = {
    f"{page.stem}, block {i}": (kind, text)
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    if page.stem != "adding"  # the library's own
    for i, (kind, text) in enumerate(re.findall(r"```(cpp|c)\n(.*?)```", page.read_text(encoding="utf-8"), re.S))
}

PLAN = "{0} problem; std::uint64_t x = 0, w = 0, y = 0, bias = 0, workspace = 0; ng::Stream stream;"
GIVEN = {
    "c_api, block 0": "uint64_t x = 0, w = 0, y = 0, my_workspace = 0; void* my_cuda_stream = 0;",
    "convolution, block 0": "using namespace ng;",
    "convolution, block 1": PLAN.format("ng::ConvProblem"),
    "expressions, block 0": "ng::Tensor x = ng::Tensor::ones({8});",
    "gemm, block 0": PLAN.format("ng::GemmProblem"),
    "layers, block 0": "std::vector<float> x; std::vector<std::int32_t> y;",
    "pooling, block 0": PLAN.format("ng::PoolProblem"),
}
COMPILERS = {"cpp": ("c++", "-std=c++20", "nervanagpu.hpp"), "c": ("cc", "-std=c11", "nervanagpu.h")}


def errors_of(kind: str, text: str, given: str) -> str:
    """What the compiler says; "": nothing."""
    name, standard, header = COMPILERS[kind]
    if shutil.which(name) is None:
        pytest.skip(f"there is no {name}")
    includes = "\n".join(line for line in text.splitlines() if line.startswith("#include"))
    body = "\n".join(line for line in text.splitlines() if not line.startswith("#include"))
    if "int main()" not in body:
        body = f"void example(void);\nvoid example(void) {{\n{given}\n{body}\n}}\n"
    source = f"#include <stdio.h>\n#include <nervanagpu/{header}>\n{includes}\n{body}"
    language = "c++" if kind == "cpp" else "c"
    done = subprocess.run(
        [name, standard, "-Wall", "-Wextra", "-Wno-unused", "-Wno-missing-field-initializers", "-Werror",
         "-fsyntax-only", f"-I{ROOT / 'include'}", "-x", language, "-"],
        input=source, capture_output=True, encoding="utf-8", errors="replace", timeout=300, check=False,
    )  # fmt: skip
    return done.stderr


@pytest.mark.parametrize("name", BLOCKS)
def test_source(name):
    kind, text = BLOCKS[name]
    assert errors_of(kind, text, GIVEN.get(name, "")) == ""


def test_what_is_given_is_wanted():
    assert set(GIVEN) <= set(BLOCKS)


def test_a_source_can_fail():
    assert "nothing" in errors_of("cpp", "ng::nothing();", "")
