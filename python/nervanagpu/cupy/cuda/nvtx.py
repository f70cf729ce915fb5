"""Marks for NVIDIA's profilers: taken, and without effect."""

from __future__ import annotations


def Mark(message: str, id_color: int = -1) -> None:
    """Nothing."""


def MarkC(message: str, color: int = 0) -> None:
    """Nothing."""


RangePush, RangePushC = Mark, MarkC


def RangePop() -> None:
    """Nothing."""
