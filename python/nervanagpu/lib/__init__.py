"""numpy.lib's corner that programs use: stride_tricks."""

from __future__ import annotations

from nervanagpu.lib import stride_tricks as stride_tricks
