"""Statements of arithmetic, logic, comparisons and video instructions, for ptx_corpus.py."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

Statement = tuple[str, str]
INTS16, INTS32, INTS64 = ("u16", "s16"), ("u32", "s32"), ("u64", "s64")
COMPARE = ["eq", "ne", "lt", "le", "gt", "ge"]
COMPARE_FLOAT = [*COMPARE, *["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]]
ROUND = ("rn", "rz", "rm", "rp")
LETTER = {"16": "a", "32": "b", "64": "c"}
# Numbers that fit short immediates, that do not, and that are of each sign.
NUMBERS = {
    "u16": ("7", "0xfff0"),
    "s16": ("-5", "3000"),
    "u32": ("7", "0x12345678"),
    "s32": ("-5", "0x7654321"),
    "u64": ("7", "0x123456789abcdef"),
    "s64": ("-5", "0x7654321000"),
    "b16": ("0x55", "0xff0f"),
    "b32": ("0x55", "0xffffff00"),
    "b64": ("0x55", "0xff00ff00ff00ff00"),
    "f32": ("0f3F800000", "0f40490FDB"),
    "f64": ("0d4000000000000000", "0d400921FB54442D18"),
}
LETTERS = {"f16x2": "32", "bf16x2": "32", "u16x2": "32", "s16x2": "32", "f16": "16", "bf16": "16"}


def size_of(t: str) -> str:
    return LETTERS.get(t) or t[-2:]


def operands(t: str, count: int) -> Iterator[list[str]]:
    """Registers, then each operand in turn a parameter, a number and one that is the same in all threads."""
    size = size_of(t)
    letter = LETTER[size]
    plain = ["%s%d" % (letter, i) for i in range(count)]
    yield plain
    others = ["k" + letter, *NUMBERS.get(t, ())]
    if size != "16":
        others.append("u" + letter)
    for i, other in product(range(count), others):
        yield [*plain[:i], other, *plain[i + 1 :]]
    if size != "16" and count > 1:
        yield ["k" + letter, "u" + letter, *plain[2:]]


def each(op: str, t: str, count: int, kind: str | None = None) -> Iterator[Statement]:
    for some in operands(t, count):
        yield kind or size_of(t), "%s.%s d, %s" % (op, t, ", ".join(some))


def signed(op: str, t: str, count: int, functions: tuple[str, ...] = ("neg", "abs")) -> Iterator[Statement]:
    """With one operand negated, or its magnitude."""
    size = size_of(t)
    plain = ["%s%d" % (LETTER[size], i) for i in range(count)]
    for f, i in product(functions, range(count)):
        some = [*plain[:i], "e", *plain[i + 1 :]]
        yield size, ".reg .b%s e; %s.%s e, %s; %s.%s d, %s" % (size, f, t, plain[i], op, t, ", ".join(some))


def integers() -> Iterator[Statement]:
    for t in (*INTS16, *INTS32, *INTS64):
        for op in ("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"):
            yield from each(op, t, 2)
        for op in ("mad.lo", "mad.hi"):
            yield from each(op, t, 3)
        if t[0] == "s":
            yield from (s for op in ("abs", "neg") for s in each(op, t, 1))
    for t, wide in (("u16", "32"), ("s16", "32"), ("u32", "64"), ("s32", "64")):
        yield from each("mul.wide", t, 2, wide)
        x = LETTER[t[1:]]
        for add in (LETTER[wide] + "3", "k" + LETTER[wide], "9"):
            yield wide, "mad.wide.%s d, %s0, %s1, %s" % (t, x, x, add)
            yield wide, "mad.wide.%s d, %s0, 7, %s" % (t, x, add)
    for t in INTS32:
        for op in ("mul24.lo", "mul24.hi"):
            yield from each(op, t, 2)
        for op in ("mad24.lo", "mad24.hi", "sad"):
            yield from each(op, t, 3)
    yield from each("add.sat", "s32", 2)
    yield from each("sub.sat", "s32", 2)
    yield from each("mad.hi.sat", "s32", 3)
    yield from each("mad24.hi.sat", "s32", 3)
    for t in ("u16", "s16", "u64", "s64"):
        yield from each("sad", t, 3)
    for t in ("u16x2", "s16x2"):
        for op in ("add", "min", "max"):
            yield from each(op, t, 2)
    for op, t in product(("min.relu", "max.relu"), ("s16x2", "s32")):
        yield from each(op, t, 2)
    yield from signed("add", "s32", 2, ("neg",))
    yield from signed("max", "s32", 2, ("neg", "abs"))
    for t in ("u32", "s32"):
        for op in ("min", "max"):
            other = "max" if op == "min" else "min"
            yield "32", ".reg .b32 e; %s.%s e, b0, b1; %s.%s d, e, b2" % (op, t, op, t)
            yield "32", ".reg .b32 e; %s.%s e, b0, b1; %s.%s d, e, b2" % (op, t, other, t)
            yield "32", ".reg .b32 e; add.%s e, b0, b1; %s.%s d, e, b2" % (t, op, t)
            yield "32", ".reg .b32 e; add.%s e, b0, 9; %s.%s d, e, 100" % (t, op, t)
            yield "32", ".reg .b32 e; shl.b32 e, b0, 3; add.%s d, e, b1" % t
        for a, b in product(("4a", "2a.lo", "2a.hi"), product("us", repeat=2)):
            for x in ("b1", "kb", "0x01020304"):
                yield "32", "dp%s.%s32.%s32 d, b0, %s, b2" % (a, *b, x)


def carries() -> Iterator[Statement]:
    for t, x, n in (("u32", "b", "32"), ("s32", "b", "32"), ("u64", "c", "64"), ("s64", "c", "64")):
        for other in (x + "1", "k" + x, "77", "u" + x):
            yield (
                "2x" + n,
                "add.cc.%s d0, %s0, %s; addc.%s d1, %s2, %s" % (t, x, other, t, x, other),
            )
            yield "2x" + n, "sub.cc.%s d0, %s0, %s; subc.%s d1, %s2, %s" % (t, x, other, t, x, other)
            yield "2x" + n, "sub.cc.%s d0, %s, %s0; subc.cc.%s d1, %s, %s2" % (t, other, x, t, other, x)
            for hi in ("lo", "hi"):
                yield (
                    "2x" + n,
                    "mad.%s.cc.%s d0, %s0, %s, %s2; madc.%s.%s d1, %s0, %s, %s3"
                    % (hi, t, x, other, x, hi, t, x, other, x),
                )
                yield (
                    "2x" + n,
                    "mad.%s.cc.%s d0, %s0, %s1, %s; madc.%s.cc.%s d1, %s0, %s1, 0" % (hi, t, x, x, other, hi, t, x, x),
                )


def bits() -> Iterator[Statement]:
    for size, x in (("16", "a"), ("32", "b"), ("64", "c")):
        t = "b" + size
        for op in ("and", "or", "xor"):
            yield from each(op, t, 2)
            yield size, ".reg .b%s e; not.%s e, %s0; %s.%s d, e, %s1" % (size, t, x, op, t, x)
            yield size, ".reg .b%s e; %s.%s e, %s0, %s1; not.%s d, e" % (size, op, t, x, x, t)
        yield from (s for op in ("not", "cnot") for s in each(op, t, 1))
        for op, u in (("shl", t), ("shr", t), ("shr", "u" + size), ("shr", "s" + size)):
            for a, by in product((x + "0", "k" + x, "1"), ("b1", "kb", "ub", "3", "31")):
                yield size, "%s.%s d, %s, %s" % (op, u, a, by)
    for op in ("popc", "clz"):
        for t, some in (("b32", ("b0", "kb", "ub")), ("b64", ("c0", "kc", "uc"))):
            yield from (("32", "%s.%s d, %s" % (op, t, x)) for x in some)
    for t, some in (*((t, ("b0", "kb", "ub")) for t in INTS32), *((t, ("c0", "kc", "uc")) for t in INTS64)):
        yield from (("32", "bfind%s.%s d, %s" % (shift, t, x)) for x in some for shift in ("", ".shiftamt"))
    for t in ("b32", "b64"):
        yield from each("brev", t, 1)
    for t in (*INTS32, *INTS64):
        x = LETTER[t[1:]]
        for at, n in product(("b1", "kb", "5"), ("b2", "ub", "9")):
            yield t[1:], "bfe.%s d, %s0, %s, %s" % (t, x, at, n)
    for t, x in (("b32", "b"), ("b64", "c")):
        for at, n in product(("b4", "kb", "5"), ("b5", "ub", "9")):
            yield t[1:], "bfi.%s d, %s0, %s1, %s, %s" % (t, x, x, at, n)
            yield t[1:], "bfi.%s d, 0x55, k%s, %s, %s" % (t, x, at, n)
    for some in operands("b32", 3):
        for lut in (0x96, 0xE8, 0x1B, 0x40):
            yield "32", "lop3.b32 d, %s, 0x%x" % (", ".join(some), lut)
        yield "32p", "lop3.or.b32 d|d1, %s, 0xe8, p0" % ", ".join(some)
        yield "pred", "lop3.and.b32 _|d, %s, 0xe8, !p0" % ", ".join(some)
        for m in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
            yield "32", "prmt.b32%s d, %s" % (m, ", ".join(some))
        for lr, wrap in product("lr", ("clamp", "wrap")):
            yield "32", "shf.%s.%s.b32 d, %s" % (lr, wrap, ", ".join(some))
    for mode, t in product(("clamp", "wrap"), ("u32", "s32")):
        for by in ("b1", "5", "kb"):
            yield "32", "szext.%s.%s d, b0, %s" % (mode, t, by)
        for a, b in (("b0", "b1"), ("3", "b1"), ("b0", "7"), ("kb", "ub")):
            yield "32", "bmsk.%s.b32 d, %s, %s" % (mode, a, b)
    yield "32", "fns.b32 d, b0, b1, b2"
    yield "64", "mov.b64 d, {b0, b1}"
    yield "32", "mov.b32 d, {a0, a1}"
    yield "2x32", "mov.b64 {d0, d1}, c0"
    yield "2x16", "mov.b32 {d0, d1}, b0"
    yield "2x16", "mov.b32 {d1, d0}, kb"


def selections() -> Iterator[Statement]:
    for t in (*INTS16, *INTS32, *INTS64):
        for some, c in product(operands(t, 2), COMPARE):
            yield "pred", "setp.%s.%s d, %s" % (c, t, ", ".join(some))
        x = LETTER[t[1:]]
        for c, b in product((*COMPARE, *(("lo", "ls", "hi", "hs") if t[0] == "u" else ())), ("and", "or", "xor")):
            yield "2p", "setp.%s.%s.%s d|d1, %s0, %s1, p0" % (c, b, t, x, x)
            yield "pred", "setp.%s.%s.%s d, %s0, 9, !p1" % (c, b, t, x)
            for to in ("u32", "s32", "f32"):
                yield "32", "set.%s.%s.%s.%s d, %s0, k%s, p0" % (c, b, to, t, x, x)
    for t in ("b16", "b32", "b64", "f32", "f64"):
        x = LETTER[t[1:]]
        for some in operands(t, 2):
            yield t[1:], "selp.%s d, %s, p0" % (t, ", ".join(some))
        yield from (
            (t[1:], "slct.%s.%s d, %s0, %s1, b2" % (t, c, x, x)) for c in ("s32", "f32", "ftz.f32") if c != "ftz.f32"
        )
        yield t[1:], "slct.ftz.%s.f32 d, %s0, %s1, b2" % (t, x, x)
    for t, z in (("f32", ""), ("f32", ".ftz"), ("f64", "")):
        x = LETTER[t[1:]]
        for some, c in product(operands(t, 2), COMPARE_FLOAT):
            yield "pred", "setp.%s%s.%s d, %s" % (c, z, t, ", ".join(some))
        for c, b in product(COMPARE_FLOAT, ("and", "or", "xor")):
            yield "2p", "setp.%s.%s%s.%s d|d1, %s0, %s1, p0" % (c, b, z, t, x, x)
            for to in ("u32", "f32"):
                yield "32", "set.%s.%s%s.%s.%s d, %s0, k%s, !p0" % (c, b, z, to, t, x, x)
        for q in ["finite", "infinite", "number", "notanumber", "normal", "subnormal"]:
            yield "pred", "testp.%s.%s d, %s0" % (q, t, x)
    for a, b in product(("and", "or", "xor"), repeat=2):
        yield "pred", ".reg .pred q; setp.lt.u32 q, b2, b3; %s.pred q, q, p0; not.pred d, p1; %s.pred d, d, q" % (a, b)


def floats() -> Iterator[Statement]:
    for r, z, s in product(("", *("." + x for x in ROUND)), ("", ".ftz"), ("", ".sat")):
        for op, n in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3), ("mad", 3)):
            if r or n == 2:
                yield from each(op + r + z + s, "f32", n)
    for op, n in (("add", 2), ("sub", 2), ("mul", 2), ("fma.rn", 3)):
        yield from signed(op, "f32", n)
        yield from signed(op, "f64", n)
    for r in ROUND:
        for op, n in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)):
            yield from each("%s.%s" % (op, r), "f64", n)
        for op, t in product(("rcp", "sqrt", "div"), ("f32", "ftz.f32", "f64")):
            x = LETTER[t[-2:]]
            yield t[-2:], "%s.%s.%s d, %s" % (op, r, t, ", ".join([x + "0", x + "1"][: 2 if op == "div" else 1]))
    for z in ("", ".ftz"):
        for op in ("div.approx", "div.full"):
            yield from each(op + z, "f32", 2)
        for op in ["rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"]:
            for x in operands("f32", 1):
                yield "32", "%s.approx%s.f32 d, %s" % (op, z if op != "tanh" else "", x[0])
            for f in ("neg", "abs"):
                yield "32", ".reg .b32 e; %s.f32 e, b0; %s.approx%s.f32 d, e" % (f, op, z if op != "tanh" else "")
        for op, nan, sign in product(("min", "max"), ("", ".NaN"), ("", ".xorsign.abs")):
            yield from each(op + z + nan + sign, "f32", 2)
            yield from signed(op + z + nan + sign, "f32", 2)
        for op in ("abs", "neg"):
            yield from each(op + z, "f32", 1)
    for op in ("min", "max"):
        yield from each(op, "f64", 2)
        yield from signed(op, "f64", 2)
    for op in ("abs", "neg", "rcp.approx.ftz", "rsqrt.approx", "rsqrt.approx.ftz"):
        yield from each(op, "f64", 1)
    for t in ("f32", "f64"):
        yield from each("copysign", t, 2)


def halves() -> Iterator[Statement]:
    for t, n in (("f16", "16"), ("f16x2", "32"), ("bf16", "16"), ("bf16x2", "32")):
        x = LETTER[n]
        half = t[0] == "f"
        for r, z, s in product(("", ".rn"), ("", ".ftz") if half else ("",), ("", ".sat") if half else ("",)):
            for op in ("add", "sub", "mul"):
                yield from each(op + r + z + s, t, 2)
        for z, s in product(("", ".ftz") if half else ("",), ("", ".sat", ".relu", ".oob", ".oob.relu")):
            yield from each("fma.rn" + z + s, t, 3)
        for op, z, nan, sign in product(
            ("min", "max"), ("", ".ftz") if half else ("",), ("", ".NaN"), ("", ".xorsign.abs")
        ):
            yield from each(op + z + nan + sign, t, 2)
            yield from signed(op + z + nan + sign, t, 2, ("neg",))
        for op, m in (("add", 2), ("mul", 2), ("fma.rn", 3)):
            yield from signed(op, t, m)
        for op in ("neg", "abs", "tanh.approx", "ex2.approx", "ex2.approx.ftz", "neg.ftz", "abs.ftz"):
            yield n, "%s.%s d, %s0" % (op, t, x)
        for c, z in product(COMPARE_FLOAT, ("", ".ftz") if half else ("",)):
            p = "2p" if "x2" in t else "pred"
            d = "d|d1" if "x2" in t else "d"
            yield p, "setp.%s%s.%s %s, %s0, %s1" % (c, z, t, d, x, x)
            yield p, "setp.%s%s.%s %s, %s0, k%s" % (c, z, t, d, x, x)
            yield p, "setp.%s.and%s.%s %s, %s0, %s1, p0" % (c, z, t, d, x, x)
            for to in ("u32", "s32", t, "u16", "s16"):
                yield (
                    "16" if to in ("f16", "bf16", "u16", "s16") else "32",
                    "set.%s%s.%s.%s d, %s0, %s1" % (c, z, to, t, x, x),
                )
                yield "32", "set.%s.xor%s.%s.%s d, %s0, %s1, !p0" % (c, z, to, t, x, x)
        # Halves of registers, and numbers.
        if "x2" in t:
            one = "0x3c003c00" if half else "0x3f803f80"
            odd = "0x3c004200" if half else "0x3f804020"
            for number in (one, odd):
                yield "32", ".reg .b32 e; mov.b32 e, %s; fma.rn.%s d, b0, e, b2" % (number, t)
                yield "32", ".reg .b32 e; mov.b32 e, %s; fma.rn.%s d, b0, b1, e" % (number, t)
                yield "32", ".reg .b32 e; mov.b32 e, %s; add.%s d, b0, e" % (number, t)
                yield "32", ".reg .b32 e; mov.b32 e, %s; mul.%s d, b0, e" % (number, t)
                yield "2p", ".reg .b32 e; mov.b32 e, %s; setp.lt.%s d|d1, b0, e" % (number, t)
                yield "32", ".reg .b32 e; mov.b32 e, %s; set.gt.%s.%s d, b0, e" % (number, t, t)
            for op, some in product(("add", "mul", "fma.rn"), (("h0", "h0"), ("h1", "h1"), ("h1", "h0"))):
                tail = ", b2" if op == "fma.rn" else ""
                yield (
                    "32",
                    ".reg .b16 h<2>; .reg .b32 e; mov.b32 {h0, h1}, b1; mov.b32 e, {%s, %s}; %s.%s d, b0, e%s"
                    % (*some, op, t, tail),
                )
        else:
            for op, i, j in product(("add", "mul", "fma.rn"), range(2), range(2)):
                tail = ", k0" if op == "fma.rn" else ""
                yield (
                    "32",
                    ".reg .b16 h<2>, k<2>, r; mov.b32 {h0, h1}, b0; mov.b32 {k0, k1}, b1; "
                    "%s.%s r, h%d, k%d%s; mov.b32 d, {h0, r}" % (op, t, i, j, tail),
                )
                yield (
                    "32",
                    ".reg .b16 h<2>, k<2>, r; mov.b32 {h0, h1}, b0; mov.b32 {k0, k1}, b1; "
                    "%s.%s r, h%d, k%d%s; mov.b32 d, {r, h1}" % (op, t, i, j, tail),
                )


PARTS = ("", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1")


def video() -> Iterator[Statement]:
    """The scalar ones, with parts of registers, saturation and what is done with the result; then those of 2 and 4."""
    kinds = [*product("us", repeat=3)]
    for op, (d, a, b) in product(("vadd", "vsub", "vabsdiff", "vmin", "vmax"), kinds):
        t = "%s.%s32.%s32.%s32" % (op, d, a, b)
        yield from (("32", "%s%s d, b0, b1" % (t, sat)) for sat in ("", ".sat"))
        for pa, pb in product(PARTS, PARTS):
            if (pa, pb) in (("", ""), (".h0", ".b2"), (".b3", ".b1"), (".h1", ".h1"), ("", ".h0"), (".b0", "")):
                yield "32", "%s d, b0%s, b1%s" % (t, pa, pb)
                yield "32", "%s.sat d, b0%s, b1%s" % (t, pa, pb)
        for second in ("add", "min", "max"):
            yield "32", "%s.%s d, b0.b1, b1, b2" % (t, second)
            yield "32", "%s.sat.%s d, b0, b1.h1, b2" % (t, second)
        for into in (".b0", ".b2", ".h0", ".h1"):
            yield "32", "%s d%s, b0, b1, b2" % (t, into)
            yield "32", "%s.sat d%s, b0.b0, b1.b3, b2" % (t, into)
        yield "32", "%s d, b0, 0x37" % t
        yield "32", "%s d, b0, -9" % t
        yield "32", "%s d, b0, kb" % t
    for op, (d, a, _), mode in product(("vshl", "vshr"), kinds, ("clamp", "wrap")):
        t = "%s.%s32.%s32.u32" % (op, d, a)
        yield "32", "%s.%s d, b0, b1" % (t, mode)
        yield "32", "%s.sat.%s d, b0, b1" % (t, mode)
        yield "32", "%s.%s.add d, b0.h1, b1.b2, b2" % (t, mode)
        yield "32", "%s.%s.max d, b0, 7, b2" % (t, mode)
        yield "32", "%s.%s d.h1, b0, b1, b2" % (t, mode)
    for (d, a, b), scale, po in product(kinds, ("", ".shr7", ".shr15"), ("", ".po", "-a", "-b", "-c")):
        t = "vmad.%s32.%s32.%s32%s" % (d, a, b, po if po == ".po" else "")
        x = [("-" if po == "-" + "abc"[i] else "") + "b%d" % i for i in range(3)]
        for sat, pa, pb in (
            ("", "", ""),
            ("", ".h0", ".h1"),
            ("", ".b1", ".b2"),
            (".sat", ".h1", ""),
            (".sat", ".b0", ".h0"),
        ):
            yield "32", "%s%s%s d, %s%s, %s%s, %s" % (t, sat, scale, x[0], pa, x[1], pb, x[2])
        yield "32", "%s%s d, b0.h0, 17, b2" % (t, scale)
    for a, b, c in product("us", "us", COMPARE):
        t = "vset.%s32.%s32.%s" % (a, b, c)
        yield from (("32", "%s d, b0%s, b1%s" % (t, pa, pb)) for pa, pb in (("", ""), (".b1", ".h0"), (".h1", ".b3")))
        yield from (("32", "%s.%s d, b0, b1, b2" % (t, s)) for s in ("add", "min", "max"))
        yield "32", "%s d.b2, b0, b1, b2" % t
        # No number: ptxas 12.4 makes another instruction of it, a store of no size.
    for op, n in product(("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"), "24"):
        for d, a, b in kinds:
            t = "%s%s.%s32.%s32.%s32" % (op, n, d, a, b)
            yield from (("32", "%s%s d, b0, b1, b2" % (t, m)) for m in ("", ".sat", ".add"))
            mask = {"2": ".h0", "4": ".b20"}[n]
            yield "32", "%s d%s, b0, b1, b2" % (t, mask)
            lanes = {"2": (".h10", ".h32"), "4": (".b3210", ".b7654")}[n]
            yield "32", "%s d, b0%s, b1%s, b2" % (t, *lanes)
            other = {"2": (".h31", ".h02"), "4": (".b0246", ".b1357")}[n]
            yield "32", "%s d, b0%s, b1%s, b2" % (t, *other)
    for n, a, b, c in product("24", "us", "us", COMPARE):
        yield "32", "vset%s.%s32.%s32.%s d, b0, b1, b2" % (n, a, b, c)
        yield "32", "vset%s.%s32.%s32.%s.add d, b0, b1, b2" % (n, a, b, c)


FAMILIES = (integers, carries, bits, selections, floats, halves, video)
