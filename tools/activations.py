"""Reads the rows of activations, and writes what follows from them and no compiler can make.

python tools/activations.py            # the files of WRITTEN
python tools/activations.py --check    # fails where one of them is out of date
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Row(NamedTuple):
    """Of include/nervanagpu/activations.inc, which says what each is."""

    name: str
    c_name: str
    reads: str
    value: str
    ulps: str


class LayerRow(NamedTuple):
    """Of include/nervanagpu/nn_activations.inc."""

    name: str
    value: str
    gradient: str


def _arguments(text: str, macro: str) -> list[list[str]]:
    """Of each call of a macro that begins a line; commas in parentheses separate nothing."""
    found = []
    for call in re.findall(rf"^{macro}\((.*)\)", text, re.M):
        parts, depth = [""], 0
        for letter in call:
            depth += (letter == "(") - (letter == ")")
            if letter == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += letter
        found.append([part.strip() for part in parts])
    return found


def rows(root: Path = ROOT) -> list[Row]:
    text = (root / "include/nervanagpu/activations.inc").read_text(encoding="utf-8")
    return [Row(*arguments[:5]) for arguments in _arguments(text, "NG_ACTIVATION")]


def layer_rows(root: Path = ROOT) -> list[LayerRow]:
    text = (root / "include/nervanagpu/nn_activations.inc").read_text(encoding="utf-8")
    return [LayerRow(*arguments) for arguments in _arguments(text, "NG_NN_ACTIVATION")]


def _replaced(text: str, pattern: str, inner: str) -> str:
    """`text` with the second of the pattern's three groups changed."""
    found, count = re.subn(pattern, lambda m: m.group(1) + inner + m.group(3), text, flags=re.S)
    if count != 1:
        raise SystemExit(f"{pattern!r} stands {count} times; needs once")
    return found


def header(text: str, root: Path) -> str:
    """The numbers of ng_gemm_activation."""
    lines = [f"  {row.c_name} = {number}" for number, row in enumerate(rows(root))]
    return _replaced(text, r"(enum ng_gemm_activation \{\n)(.*?)(\n\};)", ",\n".join(lines))


def branches(text: str, root: Path) -> str:
    """The numbers, and the choice of each macro but those that the line `begin` names: they share code below it."""
    pattern = r"(  // begin: [^\n]*but ([\w, ]+)\n).*?(  // end\n)"
    match = re.search(pattern, text, re.S)
    if match is None:
        raise SystemExit("activation.sass: no line says where the branches begin")
    shared = re.split(r", | and ", match.group(2))
    known = [(number, row) for number, row in enumerate(rows(root)) if number > 1 and row.reads != "mask"]
    lines = [f"  .let {row.name.upper()} = {number}" for number, row in known]
    for _, row in known:
        if row.name not in shared:
            lines += [
                f"  ISETP.NE.U32.AND other, PT, number, {{{row.name.upper()}}}, PT",
                f"  @other BRA `(not_{row.name}$)",
                f"  {row.name}(y, y, n)",
                "  BRA `(activated$)",
                f"not_{row.name}$:",
            ]
    return text[: match.end(1)] + "".join(line + "\n" for line in lines) + text[match.start(3) :]


def page(text: str, root: Path) -> str:
    """The table of docs/gemm.md."""
    lines = []
    for row in rows(root)[1:]:
        error = "none" if row.ulps == "0" else f"{row.ulps} ULP" if row.ulps.isdigit() else f"`{row.ulps}` ULP"
        lines.append(f"| `{row.name}` | `{row.value}` | {error} |\n")
    return _replaced(text, r"(\| `activation` \|[^\n]*\n[^\n]*\n)(.*?)(\n\n)", "".join(lines)[:-1])


def names(text: str, root: Path) -> str:
    """Of layers, as a type."""
    quoted = ", ".join(f'"{row.name}"' for row in layer_rows(root))
    return _replaced(text, r"(\nActivationName = Literal\[)(.*?)(\]\n)", quoted)


WRITTEN: dict[str, Callable[[str, Path], str]] = {
    "include/nervanagpu/nervanagpu.h": header,
    "kernels/lib/activation.sass": branches,
    "docs/gemm.md": page,
    "python/nervanagpu/nn.py": names,
}


def written(root: Path = ROOT) -> dict[Path, str]:
    """What the files of WRITTEN are to hold."""
    return {root / name: write((root / name).read_text(encoding="utf-8"), root) for name, write in WRITTEN.items()}


def main(arguments: list[str]) -> int:
    old = {path: text for path, text in written().items() if path.read_text(encoding="utf-8") != text}
    for path, text in old.items():
        if "--check" in arguments:
            print(f"{path.relative_to(ROOT)} is not what the rows say: run tools/activations.py", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8")
    return 1 if old and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
