"""tools/check_tree.py sees each kind of break, and passes what is allowed."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("check_tree", ROOT / "tools" / "check_tree.py")
assert spec is not None and spec.loader is not None
check_tree = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_tree)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("sass/isa/op.cpp", '#include "sass/result.h"'),
        ("sass/asm/cubin/link.cpp", '#include "sass/isa/word.h"'),
        ("sass/asm/cubin/link.cpp", "#include <vector>"),
        ("src/device/device.cpp", '#include "nervanagpu/tensor.hpp"'),
        ("kernels/gemm/gemm.cpp", '#include "src/device/device.h"'),
        ("python/module.cpp", "#include <pybind11/pybind11.h>"),
        ("test/src/x_test.cpp", '#include "anything.h"'),
        ("src/launch/gate.cpp", "  expr::before_work();"),
    ],
)
def test_allowed(path: str, line: str) -> None:
    assert check_tree.problems_of(path, "// one\n" + line + "\n") == []


@pytest.mark.parametrize(
    ("path", "line", "message"),
    [
        ("sass/isa/op.cpp", '#include "sass/asm/parse.h"', '"sass/asm/parse.h" is out of reach'),
        ("sass/dis/print.cpp", '#include "src/device/device.h"', '"src/device/device.h" is out of reach'),
        ("sass/verify/verify.cpp", '#include "sass/asm/schedule/schedule.h"', "independent of the scheduler"),
        ("include/nervanagpu/x.hpp", '#include "sass/cubin.h"', '"sass/cubin.h" is out of reach'),
        ("src/device/driver.cpp", "#include <cuda.h>", "<cuda.h> may not be included here"),
        ("layers/pool.cpp", '  # include "src/device/device.h"', '"src/device/device.h" is out of reach'),
        ("kernels/sort/sort.cpp", "  expr::before_work();", "is the gates' alone"),
    ],
)
def test_refused(path: str, line: str, message: str) -> None:
    problems = check_tree.problems_of(path, "// one\n" + line + "\n")
    assert len(problems) == 1
    assert problems[0].startswith(f"{path}:2: ")
    assert message in problems[0]


def test_long_cells_are_refused() -> None:
    allowed = ["| a | " + "b" * 80 + " |", f"| [{'c' * 78}](functions.md#far-away) |", "|" + "---|" * 40]
    assert check_tree.long_cells("docs/a.md", "\n".join(allowed)) == []
    assert check_tree.long_cells("docs/a.md", f"```text\n| {'b' * 81} |\n```\n") == []
    for cell in ("b" * 81, f"[{'c' * 79}](x.md)", "d" * 40 + r" \| " + "e" * 40):
        problems = check_tree.long_cells("docs/a.md", f"| |\n|---|\n| a | {cell} |\n")
        assert len(problems) == 1 and problems[0].startswith("docs/a.md:3: a table cell of ")
    assert check_tree.long_cells("docs/a.md", f"```\n```\n| {'b' * 81} |\n")[0].startswith("docs/a.md:3: ")


def test_long_files_are_refused() -> None:
    assert check_tree.problems_of("src/a.cpp", "//" + "\n" * 800) == []
    assert "801 lines" in check_tree.problems_of("src/a.cpp", "//" + "\n" * 801)[0]


def test_files_without_a_header_say_what_they_are_for() -> None:
    assert "open it with a comment" in check_tree.problems_of("src/a.cpp", "#include <vector>\n")[0]
    assert check_tree.problems_of("src/device/device.cpp", "#include <vector>\n") == [], "src/device/device.h says it"


WORDS = " ".join(["word"] * 25)


@pytest.mark.parametrize(
    "text",
    [
        f"{WORDS}.\n\n{WORDS}",
        f"- {WORDS}\n- {WORDS}",
        f"One. {WORDS}? Two! {WORDS}.",
        f"## {WORDS} {WORDS}",
        f"```text\n{WORDS} {WORDS}\n```",
        f"| {WORDS} {WORDS} |",
        f"<!-- {WORDS} {WORDS} -->",
        f"Text:\n\n    {WORDS} {WORDS}",
        f"{WORDS[5:]} `a b c`, `d`, `e f`.",
        f"{WORDS[5:]} $a + b = c$.",
        f"{WORDS[5:]} [link](of/a/longer/target).",
        f"{WORDS} -> + =.",
    ],
)
def test_sentences_that_are_short_enough(text: str) -> None:
    assert check_tree.long_sentences("docs/a.md", text) == []


@pytest.mark.parametrize(
    "text, line",
    [
        (f"{WORDS} more.", 1),
        (f"Short.\n\n{WORDS}\nmore.", 3),
        (f"Short. {WORDS}\nmore. Short.", 1),
        (f"- short\n- {WORDS}\n  more", 2),
        (f"1. {WORDS}; more", 1),
        (f"{WORDS[5:]}, e.g. more", 1),
        (f"{WORDS} `more`", 1),
        (f"{WORDS} [more](x)", 1),
        (f"```text\n```\n\n{WORDS} more", 4),
        (f"<!-- a\nb -->\n{WORDS} more", 3),
        (f"A list:\n\n    - {WORDS} more", 3),
    ],
)
def test_sentences_that_are_too_long(text: str, line: int) -> None:
    problems = check_tree.long_sentences("docs/a.md", text)
    assert [p.split(" ")[0] for p in problems] == [f"docs/a.md:{line}:"]
    assert "a sentence of 26 words; at most 25" in problems[0]


def test_sentences_of_docstrings() -> None:
    long = " ".join(["word"] * 26)
    text = f'"""A module.\n\n{long}.\n"""\n\n\ndef one():\n    """Short. {long}."""\n    return "{long}"\n'
    found = check_tree.long_docstrings("python/nervanagpu/a.py", text)
    assert [problem.split(":")[1] for problem in found] == ["3", "8"]
    assert check_tree.long_docstrings("test/a.py", text) == []
