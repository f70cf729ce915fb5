"""Statements of conversions, for ptx_corpus.py."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

Statement = tuple[str, str]
INTS = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"]
FLOATS = ["f16", "bf16", "f32", "f64"]
WHOLE = ("rni", "rzi", "rmi", "rpi")
ROUND = ("rn", "rz", "rm", "rp")
LETTER = {"16": "a", "32": "b", "64": "c"}


def place(t: str) -> str:
    """The size of the register that holds a value of the type."""
    return {"8": "16"}.get(t.lstrip("usbf"), t.lstrip("usbf"))


def integers() -> Iterator[Statement]:
    for d, s, sat in product(INTS, INTS, ("", ".sat")):
        if d != s:
            x = LETTER[place(s)]
            yield from ((place(d), "cvt%s.%s.%s d, %s" % (sat, d, s, v)) for v in (x + "0", "k" + x))
    for to in ("u8", "s8", "u16", "s16"):
        for s in ("u32", "s32"):
            yield "32", "cvt.pack.sat.%s.%s d, b0, b1" % (to, "s32") if s == "s32" else "cvt.%s.u32 d, b0" % "u64"
            if "8" in to:
                yield "32", "cvt.pack.sat.%s.s32.b32 d, b0, b1, b2" % to
    for t, at in product(("u32", "s32"), (0, 8, 16, 24)):
        yield "32", ".reg .b32 e; bfe.%s e, b0, %d, 8; cvt.rn.f32.%s d, e" % (t, at, t)
        yield "64", ".reg .b32 e; bfe.%s e, b0, %d, 16; cvt.rn.f64.%s d, e" % (t, at, t)
        yield "64", ".reg .b32 e; shr.%s e, b0, %d; cvt.u64.%s d, e" % (t, at, t)


def floats() -> Iterator[Statement]:
    for f, i in product(FLOATS, INTS):
        fx, ix = LETTER[place(f)], LETTER[place(i)]
        for r in ROUND:
            yield from ((place(f), "cvt.%s.%s.%s d, %s" % (r, f, i, v)) for v in (ix + "0", "k" + ix))
        for r, z, sat in product(WHOLE, ("", ".ftz"), ("", ".sat")):
            yield from ((place(i), "cvt.%s%s%s.%s.%s d, %s" % (r, z, sat, i, f, v)) for v in (fx + "0", "k" + fx))
            if r == "rzi":
                for g in ("neg", "abs"):
                    yield (
                        place(i),
                        ".reg .b%s e; %s.%s e, %s0; cvt.%s%s%s.%s.%s d, e" % (place(f), g, f, fx, r, z, sat, i, f),
                    )
    for d, s in product(FLOATS, FLOATS):
        x = LETTER[place(s)]
        for r, z, sat in product(("", *ROUND, *WHOLE), ("", ".ftz"), ("", ".sat", ".relu")):
            rnd = "." + r if r else ""
            yield from ((place(d), "cvt%s%s%s.%s.%s d, %s" % (rnd, z, sat, d, s, v)) for v in (x + "0", "k" + x))
    for g, r in product(("neg", "abs"), ("rn", "rni", "rzi")):
        yield "64", ".reg .b64 e; %s.f64 e, c0; cvt.%s.f64.f64 d, e" % (g, r)
        yield "32", ".reg .b64 e; %s.f64 e, c0; cvt.%s.f32.f64 d, e" % (g, r)
        yield "16", ".reg .b32 e; %s.f32 e, b0; cvt.%s.f16.f32 d, e" % (g, r)


def widened() -> Iterator[Statement]:
    """A float of a sum or product of halves: sm_75 has one instruction for both steps, if no rounding is asked for."""
    for f, rnd, more in product(("add", "sub", "mul"), ("", ".rn"), ("", ".sat", ".ftz")):
        for b in ("a1", "ka", "0x4200"):
            yield "32", ".reg .b16 e; %s%s%s.f16 e, a0, %s; cvt.f32.f16 d, e" % (f, rnd, more, b)
    for g, f in product(("neg", "abs"), ("add", "mul")):
        yield "32", ".reg .b16 e; %s.f16 e, a0; %s.f16 e, e, a1; cvt.f32.f16 d, e" % (g, f)
    for b in ("a1", "ka"):
        yield "32", ".reg .b16 e; mul.f16 e, a0, %s; add.f16 e, e, a2; cvt.f32.f16 d, e" % b


def packed() -> Iterator[Statement]:
    for t, r, relu in product(("f16x2", "bf16x2"), ("rn", "rz"), ("", ".relu")):
        for a, b in (("b0", "b1"), ("b0", "kb"), ("kb", "b1"), ("b0", "0f3F800000"), ("0f3F800000", "b0")):
            yield "32", "cvt.%s%s.%s.f32 d, %s, %s" % (r, relu, t, a, b)
        for g in ("neg", "abs"):
            yield "32", ".reg .b32 e; %s.f32 e, b0; cvt.%s%s.%s.f32 d, e, b1" % (g, r, relu, t)
    for r in ("rn", "rz", "rna"):
        for relu in ("", ".relu"):
            yield from (("32", "cvt.%s%s.tf32.f32 d, %s" % (r, relu, v)) for v in ("b0", "kb", "ub"))
    for t, relu in product(("e4m3x2", "e5m2x2"), ("", ".relu")):
        yield from (("16", "cvt.rn.satfinite%s.%s.f32 d, b0, %s" % (relu, t, v)) for v in ("b1", "kb", "0f3F800000"))
        yield "16", "cvt.rn.satfinite%s.%s.f16x2 d, b0" % (relu, t)
        yield "32", "cvt.rn%s.f16x2.%s d, a0" % (relu, t)
    for a, b in product(("rn", "rz"), repeat=2):
        yield (
            "32",
            ".reg .b16 e, f; cvt.%s.f16.f32 e, b0; cvt.%s.f16.f32 f, b1; mov.b32 d, {e, f}" % (a, b),
        )
    for t in ("u8", "s8", "u16", "s16"):
        yield (
            "32",
            ".reg .b16 e, f; cvt.rn.f16.%s e, a0; cvt.rn.f16.%s f, a1; mov.b32 d, {e, f}" % (t, t),
        )


FAMILIES = (integers, floats, widened, packed)
