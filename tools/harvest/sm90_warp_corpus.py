"""Writes PTX that makes ptxas emit the matrix products of one warp, their loads and stores, and warp-wide scalars:
sm90_warp_corpus.py > warp.ptx, then ptxas -arch=sm_90a warp.ptx -o warp.cubin.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ptx_kernel import HEADER, Statement, kernels

# Operands of mma.sync: d and c of four, a of four or two, b of four, two or one.
F4D, F4C = "{f8,f9,f10,f11}", "{f0,f1,f2,f3}"
I4D, I4C = "{q0,q1,q2,q3}", "{r8,r9,r10,r11}"
A4, A2, B4, B2, B1 = "{r0,r1,r2,r3}", "{r0,r1}", "{r4,r5,r6,r7}", "{r4,r5}", "{r4}"
I2 = "{q0,q1}, {r0}, {r4}, {r8,r9}"
ZERO4 = "{0f00000000,0f00000000,0f00000000,0f00000000}"
MMA, SPARSE = "mma.sync.aligned", "mma.sp.sync.aligned"


def matrices() -> Iterator[Statement]:
    for n, out, store in ((1, "{q0}", "b32"), (2, "{q0,q1}", "v2"), (4, I4D, "v4")):
        for trans, address in product(("", ".trans"), ("r22", "r22+64", "r0", "tile", "tile+128")):
            shape = f"sync.aligned.m8n8.x{n}{trans}.shared.b16"
            yield f"ldmatrix.{shape} {out}, [{address}]", store
            yield f"stmatrix.{shape} [{address}], {out.replace('q', 'r')}"
    yield "movmatrix.sync.aligned.m8n8.trans.b16 q0, r0", "b32"


def halves() -> Iterator[Statement]:
    for k, a, b in ((8, A2, B1), (16, A4, B2)):
        for t, c in product(("f16", "bf16"), (F4C, ZERO4)):
            yield f"{MMA}.m16n8k{k}.row.col.f32.{t}.{t}.f32 {F4D}, {a}, {b}, {c}", "f4"
        yield f"{MMA}.m16n8k{k}.row.col.f16.f16.f16.f16 {{q0,q1}}, {a}, {b}, {{r8,r9}}", "v2"
    for k, a, b in ((4, A2, B1), (8, A4, B2)):
        yield f"{MMA}.m16n8k{k}.row.col.f32.tf32.tf32.f32 {F4D}, {a}, {b}, {F4C}", "f4"
    for a, b in product(("e4m3", "e5m2"), repeat=2):
        yield f"{MMA}.m16n8k32.row.col.f32.{a}.{b}.f32 {F4D}, {A4}, {B2}, {F4C}", "f4"
    for la, lb in product(("row", "col"), repeat=2):
        yield f"{MMA}.m8n8k4.{la}.{lb}.f16.f16.f16.f16 {I4D}, {A2}, {B2}, {I4C}", "v4"


def sparse_halves() -> Iterator[Statement]:
    for t, select in product(("f16", "bf16"), ("0x0", "0x1")):
        yield f"{SPARSE}.m16n8k16.row.col.f32.{t}.{t}.f32 {F4D}, {A2}, {B2}, {F4C}, r6, {select}", "f4"
        yield f"{SPARSE}.m16n8k32.row.col.f32.{t}.{t}.f32 {F4D}, {A4}, {B4}, {F4C}, r6, {select}", "f4"
    yield f"{SPARSE}.m16n8k32.row.col.f16.f16.f16.f16 {{q0,q1}}, {A4}, {B4}, {{r8,r9}}, r6, 0x1", "v2"
    yield f"{SPARSE}.m16n8k16.row.col.f16.f16.f16.f16 {{q0,q1}}, {A2}, {B2}, {{r8,r9}}, r6, 0x1", "v2"
    for select in ("0x0", "0x1"):
        yield f"{SPARSE}.m16n8k8.row.col.f32.tf32.tf32.f32 {F4D}, {A2}, {B2}, {F4C}, r6, {select}", "f4"
        yield f"{SPARSE}.m16n8k16.row.col.f32.tf32.tf32.f32 {F4D}, {A4}, {B4}, {F4C}, r6, {select}", "f4"


def integers() -> Iterator[Statement]:
    for sat, s, t in product(("", ".satfinite"), ("s8", "u8"), ("s8", "u8")):
        types = f"row.col{sat}.s32.{s}.{t}.s32"
        yield f"{MMA}.m8n8k16.{types} {I2}", "v2"
        yield f"{MMA}.m16n8k16.{types} {I4D}, {A2}, {B1}, {I4C}", "v4"
        yield f"{MMA}.m16n8k32.{types} {I4D}, {A4}, {B2}, {I4C}", "v4"
        yield f"{SPARSE}.m16n8k32.{types} {I4D}, {A2}, {B2}, {I4C}, r6, 0x0", "v4"
        yield f"{SPARSE}.m16n8k64.{types} {I4D}, {A4}, {B4}, {I4C}, r6, 0x0", "v4"
    for sat, s, t in product(("", ".satfinite"), ("s4", "u4"), ("s4", "u4")):
        types = f"row.col{sat}.s32.{s}.{t}.s32"
        yield f"{MMA}.m8n8k32.{types} {I2}", "v2"
        yield f"{MMA}.m16n8k32.{types} {I4D}, {A2}, {B1}, {I4C}", "v4"
        yield f"{MMA}.m16n8k64.{types} {I4D}, {A4}, {B2}, {I4C}", "v4"
    for op in ("xor", "and"):
        types = f"row.col.s32.b1.b1.s32.{op}.popc"
        yield f"{MMA}.m8n8k128.{types} {I2}", "v2"
        yield f"{MMA}.m16n8k128.{types} {I4D}, {A2}, {B1}, {I4C}", "v4"
        yield f"{MMA}.m16n8k256.{types} {I4D}, {A4}, {B2}, {I4C}", "v4"


def doubles() -> Iterator[Statement]:
    load = "".join(f"ld.global.v2.f64 {{d{i},d{i + 1}}},[rd0+{128 + 8 * i}]; " for i in range(0, 16, 2))
    types = "row.col.f64.f64.f64.f64"
    d, c = "{d16,d17,d18,d19}", "{d12,d13,d14,d15}"
    yield f"{load}{MMA}.m8n8k4.{types} {{d16,d17}}, {{d0}}, {{d1}}, {{d2,d3}}; mov.f64 d18, d16; mov.f64 d19, d17", "d4"
    yield f"{load}{MMA}.m16n8k4.{types} {d}, {{d0,d1}}, {{d8}}, {c}", "d4"
    yield f"{load}{MMA}.m16n8k8.{types} {d}, {{d0,d1,d2,d3}}, {{d8,d9}}, {c}", "d4"
    yield f"{load}{MMA}.m16n8k16.{types} {d}, {{d0,d1,d2,d3,d4,d5,d6,d7}}, {{d8,d9,d10,d11}}, {c}", "d4"


def scalars() -> Iterator[Statement]:
    for kind in "add.u32 add.s32 min.u32 min.s32 max.u32 max.s32 and.b32 or.b32 xor.b32".split():
        yield f"redux.sync.{kind} q0, r0, 0xffffffff", "b32"
    yield "activemask.b32 q0", "b32"
    yield "createpolicy.fractional.L2::evict_first.b64 qd0, 1.0", "b64"
    yield "discard.global.L2 [rd0], 128"
    yield "applypriority.global.L2::evict_normal [rd0], 128"
    yield "prefetch.global.L2::evict_last [rd0]"
    yield "prefetchu.L1 [rd0]"


def main() -> None:
    print(HEADER)
    number = 1
    for family in (matrices, halves, sparse_halves, integers, doubles, scalars):
        for text in kernels(family(), number):
            print(text)
            number += 1


if __name__ == "__main__":
    main()
