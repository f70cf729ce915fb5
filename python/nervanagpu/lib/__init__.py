"""numpy.lib's corners that programs use: stride_tricks, scimath (emath)."""

from __future__ import annotations

from nervanagpu.lib import scimath as scimath
from nervanagpu.lib import stride_tricks as stride_tricks
