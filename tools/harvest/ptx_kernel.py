"""One PTX statement, one kernel: what ptxas must turn into the instructions that a row is derived from."""

from __future__ import annotations

from collections.abc import Iterator

# A statement, and where its result is stored: a key of STORES, or None if it has none.
Statement = str | tuple[str, str | None]

HEADER = ".version 8.4\n.target sm_90a\n.address_size 64\n"
# Operands: r0-r11, f0-f7, rd2, rd3 and h0-h3 from memory; r20 an mbarrier, r21 a tile, r22 this thread's 16 bytes of
# it; rd5 the address of a tensor map among the parameters; p0, p1 predicates. Results: q0-q3, qd0, f8-f11, d16-d19, p2.
KERNEL = """.visible .entry a{number}(.param .u64 p, .param .align 64 .b8 map[128], .param .u32 s){directive}
{{ .reg .b32 r<40>; .reg .f32 f<16>; .reg .b64 rd<20>; .reg .b16 h<8>; .reg .f64 d<24>;
  .reg .pred p0, p1, p2; .reg .b32 q<16>; .reg .b64 qd<8>;
  .shared .align 128 .b8 tile[8192]; .shared .align 8 .b64 bar;
  ld.param.u64 rd0, [p]; mov.b64 rd5, map; ld.param.u32 r31, [s]; setp.ne.b32 p0, r31, 0;
  mov.u32 r30, %tid.x; mul.wide.u32 rd1, r30, 1024; add.s64 rd0, rd0, rd1;
  mov.u32 r20, bar; mov.u32 r21, tile; shl.b32 r29, r30, 4; add.u32 r22, r21, r29;
  ld.global.v4.b32 {{r0,r1,r2,r3}}, [rd0]; ld.global.v4.b32 {{r4,r5,r6,r7}}, [rd0+16];
  ld.global.v4.b32 {{r8,r9,r10,r11}}, [rd0+32]; ld.global.v4.f32 {{f0,f1,f2,f3}}, [rd0+48];
  ld.global.v4.f32 {{f4,f5,f6,f7}}, [rd0+64]; ld.global.v2.b64 {{rd2,rd3}}, [rd0+80];
  ld.global.v4.b16 {{h0,h1,h2,h3}}, [rd0+96]; setp.gt.s32 p1, r0, 7;
  {statement}; {store}
  ret; }}"""
STORES = {
    None: "",
    "b32": "st.global.b32 [rd0+512], q0;",
    "pred": "selp.b32 q0, 1, 0, p2; st.global.b32 [rd0+512], q0;",
    "b64": "st.global.b64 [rd0+512], qd0;",
    "v4": "st.global.v4.b32 [rd0+512], {q0,q1,q2,q3};",
    "v2": "st.global.v2.b32 [rd0+512], {q0,q1};",
    "f4": "st.global.v4.f32 [rd0+512], {f8,f9,f10,f11};",
    "d4": "st.global.v2.f64 [rd0+512], {d16,d17}; st.global.v2.f64 [rd0+528], {d18,d19};",
}


def kernels(family: Iterator[Statement], first: int = 1, directive: str = "") -> Iterator[str]:
    """The family's kernels, numbered from `first`."""
    for number, item in enumerate(family, first):
        statement, store = item if isinstance(item, tuple) else (item, None)
        yield KERNEL.format(number=number, directive=directive, statement=statement, store=STORES[store])
