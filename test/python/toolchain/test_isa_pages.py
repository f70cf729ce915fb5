"""The reference of instructions: `ngasm isa` says what the table says, and the pages show it."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys

import pytest
from source_tree import ROOT

NGASM = ROOT / "build/bin/ngasm"
pytestmark = pytest.mark.skipif(not NGASM.exists(), reason="build/bin/ngasm is not built")
spec = importlib.util.spec_from_file_location("isa_pages", ROOT / "tools/isa_pages.py")
assert spec is not None and spec.loader is not None
isa_pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(isa_pages)


def rows(arch: str) -> list[dict]:
    done = subprocess.run([NGASM, "isa", "--arch", arch], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


@pytest.mark.parametrize("arch", ["sm_90a", "sm_52"])
def test_every_bit_has_one_owner(arch):
    """As the compiler proves of the rows; here of what is printed."""
    for row in rows(arch):
        owned = int(row["fixed_mask"], 16)
        fields = [f for o in row["operands"] for f in o["fields"].values()] + [m["field"] for m in row["modifiers"]]
        for at, width in [piece for field in [*fields, row["guard"]] for piece in field]:
            bits = ((1 << width) - 1) << at
            assert not owned & bits, row["form"]
            owned |= bits
        assert int(row["fixed"], 16) & ~int(row["fixed_mask"], 16) == 0


def test_popc():
    found = [row for row in rows("sm_90a") if row["op"] == "POPC"]
    assert len(found) == 5  # register, number, constant, bindless constant, uniform register
    register = next(row for row in found if row["form"] == "POPC R, {~}R")
    assert register["latency"] == "scoreboard" and int(register["fixed"], 16) & 0xFFF == 0x309
    assert register["operands"][0]["fields"]["value"] == [[16, 8]] and register["operands"][0]["role"] == "written"


def test_cycles():
    """As sass/isa/latency.inc has them, and nothing for what a scoreboard announces."""
    ffma = next(row for row in rows("sm_90a") if row["op"] == "FFMA")
    assert {"result": "register", "reader": "FMA", "need": 4, "safe": 4, "source": "measured"} in ffma["cycles"]
    isetp = next(row for row in rows("sm_90a") if row["op"] == "ISETP")
    assert [time["need"] for time in isetp["cycles"] if time["reader"] == "guard"] == [13]
    for arch in ("sm_90a", "sm_52"):
        for row in rows(arch):
            assert row["latency"] == "fixed" or not row["cycles"], row["form"]
            for time in row["cycles"]:
                assert 0 < time["need"] <= time["safe"], (row["form"], time)
                assert time["source"] in {"measured", "mined", "chip", "bound"}, (row["form"], time)


def test_pages(tmp_path):
    hopper, maxwell = isa_pages.write(NGASM, tmp_path)
    text = hopper.read_text(encoding="utf-8")
    for part in (
        "### FFMA",
        "- register: ALU 5, FMA 4, half 5,",
        "| 23:16 | operand 1, register |",
        "rounding: 0 (nothing)",
    ):
        assert part in text, part
    assert re.search(r"### POPC\n\n```text\nPOPC R\d+, \S+\n", text)  # an example of the golden vectors
    assert "### XMAD" in maxwell.read_text(encoding="utf-8")


def test_the_page_of_latencies_is_up_to_date():
    done = subprocess.run([sys.executable, ROOT / "tools/latency_table.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr or done.stdout


def test_bits():
    assert isa_pages.bit_text([[16, 8]]) == "23:16"
    assert isa_pages.bit_text([[40, 1], [72, 3]]) == "74:72 40"
