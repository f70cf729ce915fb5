"""Writes PTX with every family of instructions of PTX 8.4 in its types and modifiers: ptx_corpus.py > ptx.ptx

A statement stands in one line and in braces, with the store of its result: corpus.py leaves out by themselves the lines
that an architecture refuses. Operands are registers from memory (a0-a7 of 16 bits, b0-b9 of 32, c0-c7 of 64, p0, p1),
parameters (ka, kb, kc), numbers that are the same in all threads (ub, uc), and addresses (g, s, l, t: global, shared,
local, constant memory, n: generic).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import ptx_arithmetic
import ptx_conversions
import ptx_memory
import ptx_rare

HEADER = """.version 8.4
.target sm_90a
.address_size 64
.const .align 16 .b8 table[4096];
.global .align 16 .b8 buffer[4096];
.global .texref tex0; .global .surfref surf0;
"""
PROLOGUE = """.visible .entry k{number}(.param .u64 out, .param .u64 in, .param .u16 pa, .param .u32 pb, .param .u64 pc,
                    .param .u64 object, .param .align 64 .b8 map[128])
{{
  .reg .pred p<2>; .reg .b16 a<8>, ka; .reg .b32 b<10>, kb, ub, s, l; .reg .b64 o, c<8>, kc, uc, g, t, n, tx, tm;
  .shared .align 128 .b8 tile[4096]; .shared .align 8 .b64 bar; .local .align 16 .b8 own[256];
  ld.param.u64 o, [out]; ld.param.u64 g, [in]; ld.param.u16 ka, [pa]; ld.param.u32 kb, [pb]; ld.param.u64 kc, [pc];
  ld.param.u64 tx, [object]; mov.b64 tm, map;
  mov.u32 s, %tid.x; mul.wide.u32 c0, s, 8192; add.s64 o, o, c0; add.s64 g, g, c0; mov.u64 t, table; add.s64 t, t, c0;
  mul.lo.u32 s, s, 16; mov.u32 l, own; add.u32 l, l, s; mov.u32 b0, tile; add.u32 s, s, b0;
  mad.lo.u32 ub, kb, 3, 5; mad.lo.u64 uc, kc, 3, 5; cvta.to.global.u64 n, kc; add.s64 n, n, c0;
  ld.global.v4.b32 {{b0, b1, b2, b3}}, [g]; ld.global.v4.b32 {{b4, b5, b6, b7}}, [g+16];
  ld.global.v2.b32 {{b8, b9}}, [g+32];
  ld.global.v2.b64 {{c0, c1}}, [g+48]; ld.global.v2.b64 {{c2, c3}}, [g+64]; ld.global.v2.b64 {{c4, c5}}, [g+80];
  ld.global.v2.b64 {{c6, c7}}, [g+96];
  ld.global.v4.b16 {{a0, a1, a2, a3}}, [g+112]; ld.global.v4.b16 {{a4, a5, a6, a7}}, [g+120];
  setp.gt.s32 p0, b0, 7; setp.gt.s32 p1, b1, 9;
"""
# What a statement writes: declarations, and the store.
RESULTS = {
    "": ("", ""),
    "16": (".reg .b16 d;", "st.global.b16 [o+{at}], d;"),
    "32": (".reg .b32 d;", "st.global.b32 [o+{at}], d;"),
    "64": (".reg .b64 d;", "st.global.b64 [o+{at}], d;"),
    "pred": (".reg .pred d; .reg .b32 e;", "selp.b32 e, 1, 0, d; st.global.b32 [o+{at}], e;"),
    "2p": (
        ".reg .pred d, d1; .reg .b32 e, f;",
        "selp.b32 e, 1, 0, d; selp.b32 f, 3, 2, d1; st.global.v2.b32 [o+{at}], {{e, f}};",
    ),
    "32p": (
        ".reg .pred d1; .reg .b32 d, e;",
        "selp.b32 e, 1, 0, d1; st.global.v2.b32 [o+{at}], {{d, e}};",
    ),
    "2x16": (".reg .b16 d<2>;", "st.global.v2.b16 [o+{at}], {{d0, d1}};"),
    "4x16": (".reg .b16 d<4>;", "st.global.v4.b16 [o+{at}], {{d0, d1, d2, d3}};"),
    "2x32": (".reg .b32 d<2>;", "st.global.v2.b32 [o+{at}], {{d0, d1}};"),
    "4x32": (".reg .b32 d<4>;", "st.global.v4.b32 [o+{at}], {{d0, d1, d2, d3}};"),
    "2x64": (".reg .b64 d<2>;", "st.global.v2.b64 [o+{at}], {{d0, d1}};"),
    "4xp": (
        ".reg .pred d; .reg .b32 e, d<4>;",
        "selp.b32 e, 1, 0, d; st.global.v4.b32 [o+{at}], {{d0, d1, d2, d3}}; st.global.b32 [o+{at}+16], e;",
    ),
    "8x32": (
        ".reg .b32 d<8>;",
        "st.global.v4.b32 [o+{at}], {{d0, d1, d2, d3}}; st.global.v4.b32 [o+{at}+16], {{d4, d5, d6, d7}};",
    ),
}
PER_KERNEL = 24


def kernels(statements: Iterable[tuple[str, str]], first: int) -> Iterator[str]:
    """The statements, some to a kernel, and each in braces in a line of its own."""
    lines = []
    for i, (kind, text) in enumerate(statements):
        declared, stored = RESULTS[kind]
        lines.append("{ %s %s; %s }" % (declared, text, stored.format(at=32 * (i % PER_KERNEL) + 4096)))
    for k, at in enumerate(range(0, len(lines), PER_KERNEL)):
        yield PROLOGUE.format(number=first + k) + "\n".join(lines[at : at + PER_KERNEL]) + "\nret;\n}"


def main() -> None:
    print(HEADER)
    number = 0
    for module in (ptx_arithmetic, ptx_conversions, ptx_memory, ptx_rare):
        for family in module.FAMILIES:
            for text in kernels(dict.fromkeys(family()), number):
                print(text)
                number += 1


if __name__ == "__main__":
    main()
