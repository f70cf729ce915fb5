"""Sphinx configuration. `make doc` builds into build/doc."""

from pathlib import Path

project = "nervanagpu"
copyright = "the nervanagpu authors, Apache-2.0"
release = (Path(__file__).parent.parent / "VERSION").read_text(encoding="utf-8").strip()
version = release

extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"nervanagpu {release}"
exclude_patterns = ["_build"]
