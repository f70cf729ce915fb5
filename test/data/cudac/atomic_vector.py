"""Prints the PTX of atomic_vector.cubin: atomics of several numbers and of 128 bits.

    python3 atomic_vector.py > atomic_vector.ptx && ptxas -arch=sm_90a atomic_vector.ptx -o atomic_vector.cubin

ptxas 12.4 made atomic_vector.cubin, ptxas 13.0 atomic_vector.abi8.cubin. Every kernel takes (to, out, in, n); thread i
works on the 16 bytes i of each: it applies those of `in` to those of `to`, and writes what was there to `out`.
"""
# ruff: noqa: E501  lines of PTX

ENTRY = """
.visible .entry {name}(.param .u64 to, .param .u64 out, .param .u64 in, .param .u32 n)
{{
  .reg .u64 %to, %out, %in, %at;
  .reg .u32 %i, %n, %t, %c;
  .reg .pred %p;
  .reg .b32 %a, %b, %d, %e, %v0, %v1, %v2, %v3;
  .reg .b64 %l0, %l1, %l2, %l3, %l4, %l5;
  .reg .b16 %h0, %h1, %h2, %h3, %h4, %h5, %h6, %h7, %o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7;
  .reg .b128 %q0, %q1, %q2;
  .reg .f32 %f0, %f1, %f2, %f3, %g0, %g1, %g2, %g3;
  ld.param.u64 %to, [to];
  ld.param.u64 %out, [out];
  ld.param.u64 %in, [in];
  ld.param.u32 %n, [n];
  mov.u32 %t, %tid.x;
  mov.u32 %c, %ctaid.x;
  mov.u32 %i, %ntid.x;
  mad.lo.u32 %i, %c, %i, %t;
  setp.ge.u32 %p, %i, %n;
  @%p ret;
  mul.wide.u32 %at, %i, 16;
  add.u64 %in, %in, %at;
  add.u64 %out, %out, %at;
  add.u64 %to, %to, %at;
  ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%in];
{body}
  ret;
}}
"""

STORE = "  st.global.v4.b32 [%out], {%a, %b, %d, %e};"
ZEROS = "  mov.b32 %d, 0;\n  mov.b32 %e, 0;\n"
FLOATS = "".join(f"  mov.b32 %f{i}, %v{i};\n" for i in range(4))
OLD_FLOATS = "".join(f"  mov.b32 %{r}, %g{i};\n" for i, r in enumerate("abde"))
HALVES = "".join(f"  mov.b32 {{%h{2 * i}, %h{2 * i + 1}}}, %v{i};\n" for i in range(4))
WIDE = "  mov.b64 %l0, {%v0, %v1};\n  mov.b64 %l1, {%v2, %v3};\n  mov.b128 %q0, {%l0, %l1};\n"
OLD_WIDE = "  mov.b128 {%l2, %l3}, %q2;\n  mov.b64 {%a, %b}, %l2;\n  mov.b64 {%d, %e}, %l3;\n"


def emit(name: str, body: str) -> None:
    print(ENTRY.format(name=name, body=body))


def old_halves(count: int) -> str:
    words = [f"  mov.b32 %{r}, {{%o{2 * i}, %o{2 * i + 1}}};\n" for i, r in enumerate("abde") if 2 * i < count]
    return "".join(words) + "".join(f"  mov.b32 %{r}, 0;\n" for r in "abde"[len(words) :])


print(".version 8.4\n.target sm_90a\n.address_size 64")
emit("red_v4_f32", FLOATS + "  red.global.v4.f32.add [%to], {%f0, %f1, %f2, %f3};")
emit("red_v2_f32", FLOATS + "  red.global.v2.f32.add [%to], {%f0, %f1};")
emit(
    "atom_v4_f32",
    FLOATS + "  atom.global.v4.f32.add {%g0, %g1, %g2, %g3}, [%to], {%f0, %f1, %f2, %f3};\n" + OLD_FLOATS + STORE,
)
emit(
    "atom_v2_f32",
    FLOATS
    + "  atom.global.v2.f32.add {%g0, %g1}, [%to], {%f0, %f1};\n"
    + OLD_FLOATS.split("  mov.b32 %d")[0]
    + ZEROS
    + STORE,
)
for t in ("f16", "bf16"):
    for op in ("add", "min", "max"):
        emit(f"red_v4_{t}x2_{op}", f"  red.global.v4.{t}x2.{op}.noftz [%to], {{%v0, %v1, %v2, %v3}};")
        emit(f"red_v2_{t}x2_{op}", f"  red.global.v2.{t}x2.{op}.noftz [%to], {{%v0, %v1}};")
        emit(
            f"atom_v4_{t}x2_{op}",
            f"  atom.global.v4.{t}x2.{op}.noftz {{%a, %b, %d, %e}}, [%to], {{%v0, %v1, %v2, %v3}};\n" + STORE,
        )
        emit(
            f"atom_v2_{t}x2_{op}",
            f"  atom.global.v2.{t}x2.{op}.noftz {{%a, %b}}, [%to], {{%v0, %v1}};\n" + ZEROS + STORE,
        )
    for n in (2, 4, 8):
        old = ", ".join(f"%o{i}" for i in range(n))
        new = ", ".join(f"%h{i}" for i in range(n))
        emit(
            f"atom_v{n}_{t}_add",
            HALVES + f"  atom.global.v{n}.{t}.add.noftz {{{old}}}, [%to], {{{new}}};\n" + old_halves(n) + STORE,
        )
emit("exch_128", WIDE + "  atom.global.exch.b128 %q2, [%to], %q0;\n" + OLD_WIDE + STORE)
emit(
    "cas_128",
    WIDE
    + "  ld.global.v2.b64 {%l4, %l5}, [%out];\n  mov.b128 %q1, {%l4, %l5};\n  atom.global.cas.b128 %q2, [%to], %q1, %q0;\n"
    + OLD_WIDE
    + STORE,
)
emit(
    "shared_128",
    "  .shared .align 16 .b8 box[2048];\n  mov.u64 %at, box;\n  mul.wide.u32 %l4, %t, 16;\n  add.u64 %at, %at, %l4;\n"
    "  ld.global.v2.b64 {%l4, %l5}, [%to];\n  st.shared.v2.b64 [%at], {%l4, %l5};\n  mov.b128 %q1, {%l4, %l5};\n"
    + WIDE
    + "  atom.shared.cas.b128 %q2, [%at], %q1, %q0;\n  atom.shared.exch.b128 %q2, [%at], %q2;\n"
    + OLD_WIDE
    + STORE,
)
