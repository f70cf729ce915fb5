"""Finds lists of mnemonics outside of sass/isa, where facts of instructions stand in their rows.

A list is a switch with several `case Op::`, several compared in one condition, several between braces, or a search for
one in an instruction's text. What an instruction computes is no fact of a row: the functions that say so are
exceptions, each with its reason.
"""

from __future__ import annotations

import re
from pathlib import Path

# Files of sass/emulate have `bind_*`, which choose the function that executes a mnemonic; these help them to.
COMPUTES = "what the mnemonic computes"
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("sass/asm/cubin/code_facts.cpp", "fact_of"): "what ptxas writes into .nv.info, by mnemonic",
    ("sass/asm/builder/lowering.cpp", "written_by"): "requests have no row yet",
    ("sass/asm/builder/lowering_ampere.cpp", "ampere_rule"): "one function writes each mnemonic anew",
    ("sass/emulate/checked/check_op.cpp", "matters_in"): COMPUTES,
    ("sass/verify/address.cpp", "computed"): COMPUTES,
    ("sass/verify/address.cpp", "step"): "how compilers fetch the stack pointer",
    ("sass/verify/cfg.cpp", "least_of"): COMPUTES,
}

OPS = (Path(__file__).resolve().parents[1] / "sass" / "isa" / "op.inc").read_text()
MNEMONICS = re.findall(r'^\w*OP\(\w+, *"([A-Z][A-Z0-9_.]+)"', OPS, re.M)
LIST = re.compile(
    r"[=!]= Op::[A-Z]\w*\s*(?:\|\||&&)[^;{}]*?[=!]= Op::[A-Z]\w*"
    r"|\{\s*Op::[A-Z]\w*\s*,\s*Op::[A-Z]"
    r"|\bcase Op::[A-Z]\w*:"
    r'|text\S*\.(?:find|starts_with|contains)\("([A-Z][A-Z0-9]{2,})[".]'
)
FUNCTION = re.compile(
    r"^(?:  )?(?!return|if|for|switch|while|case|else)\S[\w:<>*&,\[\] ]*?[ *&](?:\w+::)?(\w+)\([^;\n]*$", re.M
)


def lists_of(path: str, text: str) -> list[tuple[int, str]]:
    """The line and the function of each list of mnemonics in `text`, but one of each function."""
    functions = [(match.start(), match.group(1)) for match in FUNCTION.finditer(text)]
    cases: dict[str, int] = {}
    found: dict[str, int] = {}
    for match in LIST.finditer(text):
        if match.group(1) and not any(name.startswith(match.group(1)) for name in MNEMONICS):
            continue
        function = next((name for start, name in reversed(functions) if start < match.start()), "")
        line = text.count("\n", 0, match.start()) + 1
        if match.group(0).startswith("case"):
            cases[function] = cases.get(function, 0) + 1
            if cases[function] < 2:
                continue
        found.setdefault(function, line)
    return [(line, function) for function, line in found.items()]


def problems_of(path: str, text: str) -> list[str]:
    """A sentence for each list that is no exception, and for each exception without a list."""
    if not path.startswith(("sass/", "test/mutants/")) or path.startswith("sass/isa/"):
        return []
    lists = lists_of(path, text)
    found = []
    for line, function in lists:
        if (path, function) in EXCEPTIONS or (path.startswith("sass/emulate/") and function.startswith("bind_")):
            continue
        found.append(
            f"{path}:{line}: {function}() lists mnemonics: a fact of theirs belongs into their rows (docs/adding.md), "
            "or give the function a reason in tools/op_lists.py"
        )
    for name, function in EXCEPTIONS:
        if name == path and function not in {function for _, function in lists}:
            found.append(f"{path}:1: {function}() lists no mnemonics: take it out of tools/op_lists.py")
    return found
