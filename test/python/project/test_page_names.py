"""Every name of Python that the pages speak of is there."""

from __future__ import annotations

import importlib
import re

import nervanagpu
import pytest
from source_tree import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def is_there(name: str) -> bool:
    """nn.softmax: an attribute of the package, or of a module of it."""
    found: object = nervanagpu
    module = "nervanagpu"
    for part in name.split("."):
        module = f"{module}.{part}"
        if not hasattr(found, part):
            try:
                found = importlib.import_module(module)
            except ImportError:
                return False
        else:
            found = getattr(found, part)
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_names_are_there(page):
    names = {name.rstrip(".") for name in re.findall(r"\bng\.([A-Za-z_][\w.]*)", page.read_text(encoding="utf-8"))}
    assert [name for name in sorted(names) if not is_there(name)] == []


def test_others_are_not():
    assert is_there("nn.activation_bprop") and not is_there("activation_bprop")
