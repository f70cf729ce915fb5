"""Writes PTX that makes ptxas emit the instructions of sm_52 in their forms: sm52_corpus.py > sm52.ptx

Each line is one PTX statement whose operands come from memory, parameters (constant bank 0), a constant table or
immediates, and whose result is stored, so that ptxas keeps it. Then: ptxas -arch=sm_52 sm52.ptx -o sm52.cubin.
"""

from itertools import product

KIND = {"b32": "q", "b64": "qd", "pred": "qp", "b16": "qh"}
HEADER = """.version 8.4
.target sm_52
.address_size 64
.const .align 16 .b8 table[8192];
.global .align 16 .b8 global_buffer[4096];
"""
PROLOGUE = """.visible .entry k%d(.param .u64 out, .param .u64 in, .param .u32 a0, .param .f32 a1, .param .f64 a2,
                    .param .u64 a3)
{
  .reg .pred p<8>; .reg .b16 h<16>; .reg .b32 r<64>; .reg .f32 f<64>; .reg .b64 rd<64>; .reg .f64 d<16>;
  .reg .b32 q<40>; .reg .b64 qd<40>; .reg .pred qp<40>; .reg .b16 qh<40>;
  .shared .align 16 .b8 shared_buffer[8192]; .local .align 16 .b8 local_buffer[512];
  ld.param.u64 rd0, [out]; ld.param.u64 rd1, [in]; ld.param.u32 r8, [a0]; ld.param.f32 f8, [a1];
  ld.param.f64 d8, [a2]; ld.param.u64 rd8, [a3];
  mov.u32 r9, %%tid.x; mul.wide.u32 rd2, r9, 256; add.s64 rd1, rd1, rd2; add.s64 rd0, rd0, rd2;
  ld.const.u32 r12, [table+16]; ld.const.f32 f12, [table+32];
  mov.u32 r13, shared_buffer; shl.b32 r14, r9, 4; add.u32 r13, r13, r14;
"""
FLOATS = "3F800000 40490FDB BF000000 3EAAAAAB 447A0000 501502F9 00400000 7F800000 FF800000 3FC00000".split()
FLOAT_CMP = "eq ne lt le gt ge equ neu ltu leu gtu geu num nan".split()
INTS = "u8 s8 u16 s16 u32 s32 u64 s64".split()
INT_REG = dict(zip(INTS, "h0 h1 h2 h3 r0 r1 rd3 rd4".split(), strict=False))
SHIFTS = ("r1", "r8", "5", "31", "r12")


def kind_of(t):
    return "b64" if "64" in t else "b16" if t in ("u8", "s8", "u16", "s16", "f16") else "b32"


def floats():
    for sat, ftz, rnd in product(("", ".sat"), ("", ".ftz"), (".rn", ".rz", ".rm", ".rp")):
        m = rnd + ftz + sat
        yield from (
            ("b32", s % m)
            for s in (
                "add%s.f32 {d}, f0, f1",
                "mul%s.f32 {d}, f0, f8",
                "fma%s.f32 {d}, f0, f1, f2",
                "fma%s.f32 {d}, f0, f8, f2",
            )
        )
    for c in ("0f" + x for x in FLOATS):
        for s in (
            "add.f32 {d}, f0, %s",
            "mul.f32 {d}, f1, %s",
            "fma.rn.f32 {d}, f0, %s, f2",
            "fma.rn.f32 {d}, f0, f1, %s",
            "min.f32 {d}, f0, %s",
        ):
            yield "b32", s % c
    for op, a in product(("neg", "abs"), ("f0", "f1", "f8")):
        x = "%s.f32 f4, %s; " % (op, a)
        for s in (
            "add.f32 {d}, f4, f2",
            "mul.f32 {d}, f2, f4",
            "fma.rn.f32 {d}, f0, f4, f2",
            "fma.rn.f32 {d}, f0, f1, f4",
            "max.ftz.f32 {d}, f4, f2",
        ):
            yield "b32", x + s
    for f, z in product("rcp rsqrt sqrt sin cos lg2 ex2".split(), ("", ".ftz")):
        for a in ("", "neg.f32 f1, f1; ", "abs.f32 f1, f1; "):
            yield "b32", a + "%s.approx%s.f32 {d}, f1" % (f, z)
    for s in (
        "rcp.rn.f32 {d}, f0",
        "sqrt.rn.f32 {d}, f1",
        "div.rn.f32 {d}, f0, f1",
        "div.full.f32 {d}, f0, f1",
        "mul.f32 f4, f0, 0f3F000000; mul.f32 {d}, f4, f1",
    ):
        yield "b32", s
    for c in FLOAT_CMP:
        for s in (
            "setp.%s.f32 {d}, f0, f1",
            "setp.%s.ftz.f32 {d}, f0, f8",
            "setp.%s.and.f32 {d}, f0, 0f3F800000, p1",
            "setp.%s.or.f32 {d}, f0, f1, !p1",
            "setp.%s.xor.f32 {d}, f0, f1, p1",
            "setp.%s.f64 {d}, d0, d1",
            "setp.%s.and.f64 {d}, d0, d8, p1",
        ):
            yield "pred", s % c
        for s in (
            "set.%s.u32.f32 {d}, f0, f1",
            "set.%s.f32.f32 {d}, f0, f8",
            "set.%s.and.ftz.f32.f32 {d}, f0, 0f3F800000, p1",
            "set.%s.or.u32.f32 {d}, f0, f1, p2",
        ):
            yield "b32", s % c
    for r in (".rn", ".rz", ".rm", ".rp"):
        for s in (
            "add%s.f64 {d}, d0, d1",
            "mul%s.f64 {d}, d0, d8",
            "fma%s.f64 {d}, d0, d1, d2",
            "fma%s.f64 {d}, d0, d8, d2",
            "fma%s.f64 {d}, d0, d1, d8",
        ):
            yield "b64", s % r
    for s in (
        "add.f64 {d}, d0, 0d3FF0000000000000",
        "fma.rn.f64 {d}, d0, 0d4000000000000000, d1",
        "neg.f64 d4, d0; fma.rn.f64 {d}, d4, d1, d2",
        "abs.f64 d4, d0; add.f64 {d}, d4, d1",
        "min.f64 {d}, d0, d1",
        "max.f64 {d}, d0, d8",
        "div.rn.f64 {d}, d0, d1",
        "sqrt.rn.f64 {d}, d0",
    ):
        yield "b64", s


def integers():
    for t, o in product(("u32", "s32"), ("r1", "r8", "7", "-5", "100000", "0x12345678", "r12")):
        for s in ("add", "sub", "mul.lo", "mul.hi", "min", "max"):
            yield "b32", "%s.%s {d}, r0, %s" % (s, t, o)
        yield "b32", "mad.lo.%s {d}, r0, %s, r2" % (t, o)
        yield "b64", "mad.wide.%s {d}, r0, %s, rd3" % (t, o)
    for s in (
        "add.cc.u32 r4, r0, r1; addc.cc.u32 r5, r2, 3; addc.u32 {d}, r1, r8; st.global.v2.u32 [rd0+1024], {r4, r5}",
        "sub.cc.u32 r4, r0, r1; subc.cc.u32 r5, r2, r3; subc.u32 {d}, r8, r1; st.global.v2.u32 [rd0+1024], {r4, r5}",
        "mad.lo.cc.u32 r4, r0, r8, r2; madc.hi.u32 {d}, r0, r8, r3; st.global.u32 [rd0+1024], r4",
        "add.u32 r4, r0, r1; add.u32 {d}, r4, r2",
        "sub.u32 r4, r0, r1; sub.u32 {d}, r4, r2",
        "add.u32 r4, r0, 77; add.u32 {d}, r4, r2",
        "shl.b32 r4, r0, 5; add.u32 {d}, r4, r8",
        "shl.b32 r4, r0, 7; sub.u32 {d}, r1, r4",
        "shl.b32 r4, r0, 2; add.u32 {d}, r4, 100",
        "shr.u32 r4, r0, 16; and.b32 r5, r1, 65535; mad.lo.u32 {d}, r4, r5, r2",
        "mad.wide.s16 {d}, h0, 1234, r2",
        "mad.wide.u16 {d}, h0, h1, r2",
        "add.sat.s32 {d}, r0, r1",
        "neg.s32 {d}, r0",
        "abs.s32 {d}, r0",
        "div.s32 {d}, r0, r1",
        "rem.u32 {d}, r0, r1",
        "sad.s32 {d}, r0, r1, r2",
    ):
        yield "b32", s
    for s in (
        "mul.lo.u64 {d}, rd3, rd4",
        "mul.hi.u64 {d}, rd3, rd4",
        "mad.lo.s64 {d}, rd3, rd4, rd5",
        "sub.s64 {d}, rd3, rd8",
        "div.u64 {d}, rd3, rd4",
        "min.s64 {d}, rd3, rd4",
        "selp.b64 {d}, rd3, rd4, p2",
        "bfe.u64 {d}, rd3, 8, 13",
    ):
        yield "b64", s
    for o, op in product(("r1", "r8", "255", "0xff00ff00", "0x12345678"), ("and", "or", "xor")):
        yield "b32", "%s.b32 {d}, r0, %s" % (op, o)
        yield "b32", "not.b32 r4, r0; %s.b32 {d}, r4, %s" % (op, o)
        yield "b32", "and.b32 r4, r0, %s; %s.b32 {d}, r4, r2" % (o, op)
    for o, lut in product(("r1", "r8", "255", "0x12345678"), (0xE8, 0x96, 0x1B)):
        yield "b32", "lop3.b32 {d}, r0, %s, r2, 0x%x" % (o, lut)
    for o in SHIFTS:
        for s in (
            "shl.b32 {d}, r0, %s",
            "shr.u32 {d}, r0, %s",
            "shr.s32 {d}, r0, %s",
            "shf.l.wrap.b32 {d}, r0, r1, %s",
            "shf.r.clamp.b32 {d}, r0, r1, %s",
            "bfe.u32 {d}, r0, %s, 7",
            "bfe.s32 {d}, r0, %s, r2",
            "bfi.b32 {d}, r0, r1, %s, 4",
            "bfi.b32 {d}, r0, r1, r2, %s",
            "prmt.b32 {d}, r0, r1, %s",
        ):
            yield "b32", s % o
        yield from (("b64", s % o) for s in ("shl.b64 {d}, rd3, %s", "shr.u64 {d}, rd3, %s", "shr.s64 {d}, rd3, %s"))
        yield from (("b32", "prmt.b32.%s {d}, r0, r1, %s" % (m, o)) for m in "f4e b4e rc8 ecl ecr rc16".split())
    for s in (
        "brev.b32 {d}, r0",
        "popc.b32 {d}, r0",
        "clz.b32 {d}, r0",
        "bfind.s32 {d}, r0",
        "bfind.shiftamt.u32 {d}, r8",
        "selp.b32 {d}, r0, 5, p2",
        "slct.s32.s32 {d}, r0, r1, r2",
        "slct.f32.f32 {d}, f0, f1, f2",
        "slct.u32.s32 {d}, r0, r1, r8",
        "mov.u32 {d}, 0x12345678",
        "mov.b32 {d}, r8",
    ):
        yield "b32", s
    for c, t in product("eq ne lt le gt ge".split(), ("u32", "s32")):
        for s in (
            "setp.%s.%s {d}, r0, r1",
            "setp.%s.%s {d}, r0, r8",
            "setp.%s.and.%s {d}, r0, 77, p1",
            "setp.%s.or.%s {d}, r0, r1, !p1",
        ):
            yield "pred", s % (c, t)
        yield "b32", "set.%s.u32.%s {d}, r0, r1" % (c, t)
        yield "b32", "set.%s.and.f32.%s {d}, r0, r8, p1" % (c, t)
        yield "pred", "setp.%s.%s {d}, rd3, rd4" % (c, t.replace("32", "64"))
    for a, b in product(("and", "or", "xor"), repeat=2):
        yield "pred", "%s.pred p4, p1, p2; not.pred p5, p2; %s.pred {d}, p4, p5" % (a, b)


def conversions():
    for s, r in product(INTS, (".rn", ".rz", ".rm", ".rp")):
        yield "b32", "cvt%s.f32.%s {d}, %s" % (r, s, INT_REG[s])
        yield "b64", "cvt%s.f64.%s {d}, %s" % (r, s, INT_REG[s])
    for s, d in product(INTS, INTS):
        if s != d:
            yield kind_of(d), "cvt.%s.%s {d}, %s" % (d, s, INT_REG[s])
    for d, r in product(INTS, (".rni", ".rzi", ".rmi", ".rpi")):
        yield kind_of(d), "cvt%s.%s.f32 {d}, f0" % (r, d)
        yield kind_of(d), "cvt%s.ftz.%s.f32 {d}, f8" % (r, d)
        yield kind_of(d), "cvt%s.%s.f64 {d}, d0" % (r, d)
    for r in (".rni", ".rzi", ".rmi", ".rpi"):
        yield "b32", "cvt%s.f32.f32 {d}, f0" % r
        yield "b32", "cvt%s.ftz.sat.f32.f32 {d}, f0" % r
        yield "b64", "cvt%s.f64.f64 {d}, d0" % r
    for r in (".rn", ".rz", ".rm", ".rp"):
        yield "b32", "cvt%s.f32.f64 {d}, d0" % r
    yield from (("b16", "cvt%s.f16.f32 {d}, f0" % r) for r in (".rn", ".rz"))
    yield from (("b32", s) for s in ("cvt.f32.f16 {d}, h0", "cvt.sat.f32.f32 {d}, f0"))
    yield "b64", "cvt.f64.f32 {d}, f0"
    for at in (0, 8, 16, 24):
        yield "b32", "bfe.u32 r4, r0, %d, 8; cvt.rn.f32.u32 {d}, r4" % at
        yield "b32", "bfe.s32 r4, r0, %d, 8; cvt.rn.f32.s32 {d}, r4" % at


def memory():
    """Whole kernels: lists of statements."""
    sizes = {"u8": "r20", "s8": "r21", "u16": "r22", "s16": "r23", "u32": "r24", "u64": "rd25"}
    places = [("global" + c, "rd1") for c in ("", ".ca", ".cg", ".cs", ".cv", ".nc")] + [("shared", "r13")]
    for space, base in places:
        lines = []
        for i, (t, reg) in enumerate(sizes.items()):
            lines += [
                "ld.%s.%s %s, [%s+%d]" % (space, t, reg, base, 16 * i),
                "st.global.%s [rd0+%d], %s" % (kind_of(t if t == "u64" else "u32"), 8 * i, reg),
            ]
        lines += [
            "ld.%s.v4.f32 {f20, f21, f22, f23}, [%s+256]" % (space, base),
            "st.global.v4.f32 [rd0+256], {f23, f21, f22, f20}",
        ]
        yield lines
    for op in ("", ".cg", ".cs", ".wt"):
        yield [
            "st.global%s.%s [rd0+%d], %s" % (op, t, 8 * i, r)
            for i, (t, r) in enumerate((("u8", "r0"), ("u16", "r1"), ("u32", "r2"), ("u64", "rd3")))
        ]
    yield [
        "st.shared.u8 [r13], r0",
        "st.shared.u16 [r13+2], r1",
        "st.shared.u32 [shared_buffer+4], r2",
        "st.shared.u64 [r13+8], rd3",
        "st.shared.v4.u32 [r13+16], {r0, r1, r2, r3}",
        "bar.sync 0",
        "ld.shared.v2.u32 {r20, r21}, [r13+4096]",
        "st.global.v2.u32 [rd0], {r20, r21}",
    ]
    yield [
        "and.b32 r15, r0, 1020",
        "mov.u32 r16, local_buffer",
        "add.u32 r16, r16, r15",
        "st.local.v4.u32 [r16], {r0, r1, r2, r3}",
        "st.local.u8 [r16+3], r1",
        "ld.local.s8 r20, [r16+9]",
        "ld.local.u16 r21, [r16+12]",
        "ld.local.v2.u32 {r22, r23}, [r16+16]",
        "st.global.v4.u32 [rd0], {r20, r21, r22, r23}",
    ]
    yield [
        "and.b32 r15, r0, 1020",
        "cvt.u64.u32 rd15, r15",
        "mov.u64 rd16, table",
        "add.u64 rd17, rd16, rd15",
        "ld.const.u32 r20, [rd17]",
        "ld.const.u8 r21, [rd17+1]",
        "ld.const.s16 r22, [rd17+6]",
        "ld.const.u64 rd20, [rd17+8]",
        "st.global.v2.u32 [rd0], {r20, r21}",
        "st.global.u32 [rd0+8], r22",
        "st.global.u64 [rd0+16], rd20",
    ]
    types = {
        "add": "u32 s32 u64 f32",
        "min": "u32 s32 u64 s64",
        "max": "u32 s32 u64 s64",
        "inc": "u32",
        "dec": "u32",
        "and": "b32 b64",
        "or": "b32 b64",
        "xor": "b32 b64",
        "exch": "b32 b64",
    }
    for space, base in (("global", "rd1"), ("shared", "r13")):
        for op, names in types.items():
            lines = []
            for i, t in enumerate(names.split()):
                value, old = ("rd3", "rd20") if "64" in t else ("f0", "f20") if t == "f32" else ("r0", "r20")
                lines += [
                    "atom.%s.%s.%s %s, [%s+%d], %s" % (space, op, t, old, base, 128 + 8 * i, value),
                    "st.global.%s [rd0+%d], %s" % (kind_of(t), 8 * i, old),
                ]
                if op != "exch":
                    lines.append("red.%s.%s.%s [%s+%d], %s" % (space, op, t, base, 256 + 8 * i, value))
            yield lines
        yield [
            "atom.%s.cas.b32 r20, [%s+64], r0, r1" % (space, base),
            "st.global.u32 [rd0], r20",
            "atom.%s.cas.b64 rd20, [%s+72], rd3, rd4" % (space, base),
            "st.global.u64 [rd0+8], rd20",
        ]
    for mode, lane in product("idx up down bfly".split(), ("r1", "3", "31")):
        lines = []
        for i, mask in enumerate(("r2", "0x1c1f", "31", "0")):
            lines += [
                "shfl.%s.b32 r20|p4, r0, %s, %s" % (mode, lane, mask),
                "selp.u32 r21, 1, 0, p4",
                "st.global.v2.u32 [rd0+%d], {r20, r21}" % (8 * i),
            ]
        yield lines
    yield [
        "vote.all.pred p3, p1",
        "vote.any.pred p4, p1",
        "vote.uni.pred p5, !p2",
        "vote.ballot.b32 r20, p1",
        "selp.u32 r21, 1, 2, p3",
        "selp.u32 r22, 3, 4, p4",
        "selp.u32 r23, 5, 6, p5",
        "st.global.v4.u32 [rd0], {r20, r21, r22, r23}",
    ]
    yield [
        "bar.sync 3, 64",
        "bar.arrive 2, 128",
        "bar.sync r8",
        "bar.sync r8, r0",
        "bar.sync 5, r0",
        "bar.red.popc.u32 r20, 0, p1",
        "bar.red.and.pred p3, 3, 64, p1",
        "bar.red.or.pred p4, r8, r0, !p2",
        "selp.u32 r21, 1, 2, p3",
        "selp.u32 r22, 1, 2, p4",
        "membar.cta",
        "st.global.v2.u32 [rd0], {r20, r21}",
        "membar.gl",
        "st.global.u32 [rd0+8], r22",
        "membar.sys",
        "st.global.u32 [rd0+12], r0",
        "bar.arrive r8, r0",
    ]
    names = """tid.x tid.y tid.z ctaid.x ctaid.y ctaid.z laneid warpid nwarpid smid nsmid
        lanemask_eq lanemask_lt clock clock_hi pm0 globaltimer_lo""".split()
    yield [s for i, n in enumerate(names) for s in ("mov.u32 r20, %%%s" % n, "st.global.u32 [rd0+%d], r20" % (4 * i))]


def main():
    print(HEADER)
    number = 0
    lines = [*floats(), *integers(), *conversions()]
    for at in range(0, len(lines), 24):
        print(PROLOGUE % number)
        number += 1
        loads()
        for i, (kind, text) in enumerate(lines[at : at + 24]):
            reg = KIND[kind] + str(i)
            print("  " + text.replace("{d}", reg) + ";")
            if kind == "pred":
                print("  selp.u32 q%d, 1, 0, %s;" % (i, reg))
            store = ("b32", "q%d" % i) if kind == "pred" else (kind, reg)
            print("  st.global.%s [rd0+%d], %s;" % (store[0], 8 * i, store[1]))
        print("  ret;\n}")
    for body in memory():
        print(PROLOGUE % number)
        number += 1
        loads()
        print("".join("  %s;\n" % s for s in body) + "  ret;\n}")


def loads():
    for i in range(4):
        print("  ld.global.b32 r%d, [rd1+%d]; ld.global.f32 f%d, [rd1+%d];" % (i, 4 * i, i, 32 + 4 * i))
        print(
            "  ld.global.b64 rd%d, [rd1+%d]; ld.global.f64 d%d, [rd1+%d]; ld.global.u16 h%d, [rd1+%d];"
            % (i + 3, 64 + 8 * i, i, 128 + 8 * i, i, 200 + 2 * i)
        )
    print("  setp.lt.u32 p1, r0, 17; setp.gt.f32 p2, f0, 0f40000000;")


if __name__ == "__main__":
    main()
