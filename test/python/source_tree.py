"""Where the tests find the tree's files."""

from pathlib import Path

TESTS = Path(__file__).resolve().parent
DATA = TESTS.parent / "data"
ROOT = TESTS.parent.parent
