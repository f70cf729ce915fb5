"""docs/names.md and the counts it is made of (tools/count_names.py)."""

import json
import sys

import nervanagpu as ng
from source_tree import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import count_names

SECTIONS = count_names.read_lists()
RESULT = json.loads(count_names.RESULT.read_text(encoding="utf-8"))


def test_lists_have_each_name_once():
    assert {s.package for s in SECTIONS} == set(count_names.PACKAGES)
    assert len({s.theirs for s in SECTIONS}) == len(SECTIONS)
    for s in SECTIONS:
        assert len(set(s.names)) == len(s.names) > 0, s.theirs
    tables = [theirs for _, of in count_names.TABLES.values() for theirs in of]
    assert set(tables) <= {s.theirs for s in SECTIONS}


def test_standard_has_its_counts():
    sizes = {s.theirs: len(s.names) for s in SECTIONS if s.package == "array_api"}
    assert [sizes[k] for k in ("array_api", "array_api.array", "array_api.linalg", "array_api.fft")] == [
        133,
        41,
        23,
        14,
    ]


def test_a_name_is_missing_where_it_is_not():
    def missing(ours, *names):
        return count_names.missing_of(count_names.Section("numpy", "theirs", ours, names))

    assert missing("nervanagpu", "sum", "no_such_function") == ["no_such_function"]
    assert missing("nervanagpu", "load") == ["load"]  # ours loads kernels
    assert missing("nervanagpu.no_such_module", "sum") == ["sum"]
    assert missing("nervanagpu.GPUTensor", "reshape", "no_such_member") == ["no_such_member"]
    assert missing("nervanagpu.device()", "kind", "no_such_fact") == ["no_such_fact"]


def test_members_that_instances_get_count():
    class Matrix:
        def __init__(self):
            self.rows = 1

    assert count_names.offers(Matrix, "rows")
    assert not count_names.offers(Matrix, "columns")


def test_nothing_that_was_here_is_gone():
    assert count_names.lost(RESULT, SECTIONS) == []


def test_a_lost_name_is_found(monkeypatch):
    count_names.lost(RESULT, SECTIONS)  # imports what needs the name
    monkeypatch.delattr(ng, "tanh")
    assert "nervanagpu.tanh" in count_names.lost(RESULT, SECTIONS)


def test_page_is_that_of_the_counts():
    text = count_names.PAGE.read_text(encoding="utf-8")
    assert count_names.updated(text, count_names.page_of(RESULT, SECTIONS)) == text
    fewer = RESULT | {"rows": [r | {"missing": "sum", "now": 0} for r in RESULT["rows"]]}
    assert count_names.updated(text, count_names.page_of(fewer, SECTIONS)) != text


def test_counts_add_up():
    for row, section in zip(RESULT["rows"], SECTIONS, strict=True):
        assert row["theirs"] == section.theirs
        assert row["now"] == row["of"] - len(count_names.missing_in(row)) and row["of"] == len(section.names)
