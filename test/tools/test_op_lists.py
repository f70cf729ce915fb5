"""tools/op_lists.py sees each way to list mnemonics by hand, and passes what is no list."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import op_lists  # noqa: E402

LISTS = [
    "  switch (op) {\n    case Op::STS:\n    case Op::STSM: return true;\n  }\n",
    "  switch (op) {\n    case Op::STS: return 1;\n    case Op::STSM: return 2;\n  }\n",
    "  return op == Op::STS || op == Op::STSM;\n",
    "  if (inst.op != Op::STS &&\n      inst.op != Op::STSM) return;\n",
    '  return text.find("STS") != text.npos || text.starts_with("STSM.");\n',
    "  static const Op kStores[] = {Op::STS, Op::STSM};\n",
]


def function(body: str, name: str = "stores") -> str:
    return f"bool other(Op op) {{\n  return true;\n}}\n\nbool {name}(const Inst& inst) {{\n{body}}}\n"


@pytest.mark.parametrize("body", LISTS)
def test_lists_are_refused(body: str) -> None:
    problems = op_lists.problems_of("sass/asm/schedule/flow.cpp", function(body))
    assert len(problems) == 1
    assert "stores() lists mnemonics" in problems[0]


@pytest.mark.parametrize("body", LISTS)
def test_rows_and_bindings_may_list(body: str) -> None:
    assert op_lists.problems_of("sass/isa/rows/rows.cpp", function(body)) == []
    assert op_lists.problems_of("src/fuse/numeric/arith.cpp", function(body)) == []
    assert len(op_lists.problems_of("test/mutants/danger.cpp", function(body))) == 1
    assert op_lists.problems_of("sass/emulate/ops/memory/shared.cpp", function(body, "bind_shared")) == []
    assert len(op_lists.problems_of("sass/emulate/ops/memory/shared.cpp", function(body, "shared"))) == 1


@pytest.mark.parametrize(
    "body",
    [
        "  return inst.op == Op::LDGDEPBAR;\n",
        "  if (op == Op::BAR) return 1;\n  if (op == Op::DEPBAR) return 2;\n",
        "  switch (op) {\n    case Op::STS: return 1;\n    default: return 0;\n  }\n",
        '  return text.find("NAME") != text.npos;\n',
        "  return emit(Op::MOV, {}, {x}) && kind == Kind::kA;\n",
    ],
)
def test_single_mnemonics_are_no_list(body: str) -> None:
    assert op_lists.problems_of("sass/asm/schedule/flow.cpp", function(body)) == []


def test_an_exception_needs_its_list() -> None:
    problems = op_lists.problems_of("sass/asm/cubin/code_facts.cpp", function("  return true;\n", "fact_of"))
    assert len(problems) == 1
    assert "take it out" in problems[0]
