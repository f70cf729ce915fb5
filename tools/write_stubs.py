"""Writes what follows from the table of functions (nervanagpu.function_table): the stubs and docs/functions.md.

python tools/write_stubs.py            # python/nervanagpu/__init__.pyi, _methods.pyi, docs/functions.md
python tools/write_stubs.py --check    # fails where one is out of date
"""

from __future__ import annotations

import inspect
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import nervanagpu
import nervanagpu.fft  # enters its functions in the table
from nervanagpu import function_table

ROOT = Path(__file__).parent.parent
KNOWN = re.compile(
    r"(GPUTensor|Pieces|Stream|Operand|Axis|Any|object|None|bool|int|float|str|bytes|npt\.DTypeLike|tuple|list|Sequence"
    r"|SupportsIndex|[\[\], |.])+"
)
TITLES = {
    "elementwise": "Elementwise",
    "functions": "Made of elementwise functions",
    "reductions": "Reductions",
    "scans": "Along an axis",
    "creation": "Making tensors",
    "manipulation": "Shapes and order",
    "padding": "Padding",
    "composed": "Joining, extremes, normalisations",
    "indexing": "Indices",
    "selection": "Choosing elements",
    "sorting": "Sorting, searching, counting",
    "quantiles": "Quantiles",
    "nan_functions": "Reductions without NaN",
    "linalg": "Products of matrices",
    "gufuncs": "Products of vectors and matrices",
    "algebra": "Products along axes, parts of matrices",
    "dtypes": "Dtypes",
    "fft": "Fourier transforms",
    "floats": "Parts of floats, angles",
    "integers": "Integers and bits",
    "array_checks": "Properties of arrays",
    "index_tricks": "Indices of elements",
    "signals": "Convolutions, covariances, histograms",
    "polynomials": "Polynomials",
    "polynomial_fit": "Polynomials, fitted to points",
    "windows": "Windows",
    "slices": "Functions along axes, blocks",
    "files": "Text",
}


def module_of(row: function_table.Row) -> str:
    """The file that a function is written in; of those of nervanagpu.linalg and nervanagpu.fft the package."""
    made = row.function.__module__.split(".")[1:]
    return made[0] if made[0] in TITLES else made[-1]


def stub_of_package() -> str:
    """Every public name, and where type checkers find it."""
    lines = [
        '"""Written by tools/write_stubs.py from nervanagpu.function_table and __init__.py."""',
        "",
        "from typing import Any",
        "",
    ]
    table = function_table.of_space()
    for row in sorted((r for r in function_table.TABLE if not r.space), key=lambda r: r.name):
        home = row.function.__module__
        lines += [f"from {home} import {row.function.__name__} as {name}" for name in sorted(row.names)]
    source = (ROOT / "python/nervanagpu/__init__.py").read_text(encoding="utf-8")
    for module, listed in re.findall(r"^from (nervanagpu[\w.]*) import (\([^)]*\)|[^\n]*)$", source, re.M):
        for name in re.findall(r"\w+", listed):
            if name not in table:
                lines.append(f"from {module} import {name} as {name}")
    for name, module in nervanagpu._HOMES.items():
        lines.append(f"from {module} import {name} as {name}")
    for name, module in {**nervanagpu._PUBLIC_MODULES, "lib": "nervanagpu.lib"}.items():
        line = f"from {module.rpartition('.')[0]} import {name} as {name}"
        if line not in lines:
            lines.append(line)
    given = {n for line in lines for n in re.findall(r" as (\w+)$", line)}
    for name in nervanagpu.__all__:
        value = getattr(nervanagpu, name)
        if name not in given and not isinstance(value, types.ModuleType):
            lines.append(
                "newaxis: None" if value is None else f"{name}: {'float' if isinstance(value, float) else 'Any'}"
            )
    lines += ["__version__: str", "__all__: list[str]"]
    return "\n".join(lines) + "\n"


def _typed(annotation: str) -> str:
    return annotation if KNOWN.fullmatch(annotation) else "Any"


def member(name: str, row: function_table.Row) -> str:
    """A method's line in the stub of GPUTensor."""
    signature = inspect.signature(row.function)
    parts, only = ["self"], False
    for p in list(signature.parameters.values())[1:]:
        if p.kind is p.KEYWORD_ONLY and not only:
            parts.append("*")
            only = True
        text = f"{p.name}: {_typed(str(p.annotation))}"
        parts.append(text if p.default is p.empty else f"{text} = ...")
    returned = _typed(str(signature.return_annotation))
    return f"    def {name}({', '.join(parts)}) -> {returned}: ..."


def stub_of_members() -> str:
    """The base class of GPUTensor in the stubs: the methods of the table, and other members that members.py gives."""
    lines = [
        '"""Written by tools/write_stubs.py: the methods in the table of functions."""',
        "",
        "from collections.abc import Iterator, Sequence",
        "from typing import Any, SupportsIndex",
        "",
        "import numpy.typing as npt",
        "",
        "from nervanagpu._core import GPUTensor, Pieces, Stream",
        "from nervanagpu.math.elementwise import Operand",
        "from nervanagpu.math.reductions import Axis",
        "",
        "class Methods:",
        *sorted(member(name, row) for row in function_table.TABLE for name in row.methods),
    ]
    return "\n".join(lines) + "\n"


def signature_of(row: function_table.Row) -> str:
    """The parameters without their types."""
    parts = []
    only = False
    for p in inspect.signature(row.function).parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            parts.append(f"*{p.name}")
            only = True
            continue
        if p.kind is p.KEYWORD_ONLY and not only:
            parts.append("*")
            only = True
        default = "..." if repr(p.default).startswith("<") else repr(p.default)
        parts.append(p.name if p.default is p.empty else f"{p.name}={default}")
    return ", ".join(parts)


def page() -> Iterator[str]:
    """docs/functions.md."""
    yield "# Functions"
    yield ""
    yield "Every function of `nervanagpu.function_table`, by the file that it is written in. Names after a dot are"
    yield "methods of tensors, too. NumPy's functions of the same names take tensors and call these; help() tells more."
    yield ""
    yield "<!-- written by tools/write_stubs.py -->"
    homes = sorted({module_of(r) for r in function_table.TABLE}, key=lambda m: [*TITLES, m].index(m))
    for home in homes:
        yield ""
        yield f"## {TITLES.get(home, home)}"
        yield ""
        for row in function_table.TABLE:
            if module_of(row) != home or (row.space and row.name in function_table.of_space()):
                continue
            prefix = f"{row.space}." if row.space else ""
            also = [f"`{prefix}{n}`" for n in row.aliases] + [f"`.{n}`" for n in row.methods]
            doc = (row.function.__doc__ or "").strip().split("\n\n")[0]
            text = " ".join(doc.split())
            yield f"- `{prefix}{row.name}({signature_of(row)})`{', ' + ', '.join(also) if also else ''}: {text}"


def main() -> int:
    """Write or check the files."""
    wanted = {
        ROOT / "python/nervanagpu/__init__.pyi": stub_of_package(),
        ROOT / "python/nervanagpu/_methods.pyi": stub_of_members(),
        ROOT / "docs/functions.md": "\n".join(page()) + "\n",
    }
    failed = 0
    for path, text in wanted.items():
        there = path.read_text(encoding="utf-8") if path.exists() else ""
        if "--check" in sys.argv:
            if text != there:
                print(f"{path.relative_to(ROOT)} is not what the table says; run tools/write_stubs.py")
                failed = 1
        else:
            path.write_text(text, encoding="utf-8")
    return failed


if __name__ == "__main__":
    sys.exit(main())
