"""Prints the PTX of the kernels in programs.cubin: one for each way to read or write a texture or a surface.

    python3 make.py > programs.ptx && ptxas -arch=sm_90a programs.ptx -o programs.cubin
    python3 make.py fetches > fetches.ptx && ptxas -arch=sm_90a -O0 fetches.ptx -o fetches_unoptimized.cubin

Without optimization the handles stay in registers: TEX.B and its like.

Every kernel takes (u64 handle, u64 out, u64 in, u32 n); thread i reads 16 bytes of `in` (its coordinates: x, y, z, and
the layer or the level of detail) and 16 bytes past n * 16 (values, or slopes), and writes 16 bytes of `out`.
"""
# ruff: noqa: E501  lines of PTX

import sys

HEAD = """.version 8.4
.target sm_90a
.address_size 64
"""

ENTRY = """
.visible .entry {name}(.param .u64 handle, .param .u64 out, .param .u64 in, .param .u32 n)
{{
  .reg .u64 %h, %out, %in, %v, %at;
  .reg .u32 %i, %n, %t, %c;
  .reg .pred %p;
  .reg .f32 %x, %y, %z, %w, %s0, %s1, %s2, %s3;
  .reg .b32 %ix, %iy, %iz, %iw, %a, %b, %d, %e, %v0, %v1, %v2, %v3;
  .reg .b64 %l0, %l1;
  .reg .b16 %q0, %q1, %q2, %q3;
  ld.param.u64 %h, [handle];
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
  mul.wide.u32 %at, %n, 16;
  add.u64 %v, %in, %at;
  ld.global.v4.f32 {{%x, %y, %z, %w}}, [%in];
  mov.b32 %ix, %x;
  mov.b32 %iy, %y;
  mov.b32 %iz, %z;
  mov.b32 %iw, %w;
{body}
  ret;
}}
"""

LOAD = "  ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%v];\n"
STORE = "  st.global.v4.b32 [%out], {%a, %b, %d, %e};"
RESULT = "{%a, %b, %d, %e}"

# Coordinates as floats and as integers; layers and levels come from w.
PLACES = {
    "1d": ("{%x}", "{%ix}"),
    "2d": ("{%x, %y}", "{%ix, %iy}"),
    "3d": ("{%x, %y, %z, %z}", "{%ix, %iy, %iz, %iz}"),
    "a1d": ("{%iw, %x}", "{%iw, %ix}"),
    "a2d": ("{%iw, %x, %y, %y}", "{%iw, %ix, %iy, %iy}"),
    "cube": ("{%x, %y, %z, %z}", None),
    "acube": ("{%iw, %x, %y, %z}", None),
}


def emit(name: str, body: str) -> None:
    print(ENTRY.format(name=name, body=body))


def fetches() -> None:
    for geometry, (real, whole) in PLACES.items():
        for kind, dtype in (("f", "f32"), ("u", "u32"), ("s", "s32")):
            emit(f"tex_{geometry}_{kind}", f"  tex.{geometry}.v4.{dtype}.f32 {RESULT}, [%h, {real}];\n{STORE}")
            if whole is not None:
                emit(f"tld_{geometry}_{kind}", f"  tex.{geometry}.v4.{dtype}.s32 {RESULT}, [%h, {whole}];\n{STORE}")
    for geometry in ("1d", "2d", "3d"):
        real, whole = PLACES[geometry]
        emit(f"level_{geometry}", f"  tex.level.{geometry}.v4.f32.f32 {RESULT}, [%h, {real}], %w;\n{STORE}")
        emit(f"level_tld_{geometry}", f"  tex.level.{geometry}.v4.f32.s32 {RESULT}, [%h, {whole}], %iw;\n{STORE}")
    slopes = LOAD + "".join(f"  mov.b32 %s{i}, %v{i};\n" for i in range(4))
    emit("grad_1d", slopes + f"  tex.grad.1d.v4.f32.f32 {RESULT}, [%h, {{%x}}], {{%s0}}, {{%s2}};\n{STORE}")
    emit(
        "grad_2d", slopes + f"  tex.grad.2d.v4.f32.f32 {RESULT}, [%h, {{%x, %y}}], {{%s0, %s1}}, {{%s2, %s3}};\n{STORE}"
    )
    for geometry in ("2d", "a2d", "cube", "acube"):
        for component in "rgba" if geometry == "2d" else "g":
            emit(
                f"gather_{geometry}_{component}",
                f"  tld4.{component}.{geometry}.v4.f32.f32 {RESULT}, [%h, {PLACES[geometry][0]}];\n{STORE}",
            )
    emit("gather_2d_u", f"  tld4.r.2d.v4.u32.f32 {RESULT}, [%h, {{%x, %y}}];\n{STORE}")
    # One component of the four.
    emit("tex_2d_one", f"  tex.2d.v4.f32.f32 {RESULT}, [%h, {{%x, %y}}];\n  st.global.b32 [%out+4], %b;")
    emit(
        "tex_2d_three",
        f"  tex.2d.v4.f32.f32 {RESULT}, [%h, {{%x, %y}}];\n"
        "  st.global.b32 [%out], %a;\n  st.global.b32 [%out+8], %d;\n  st.global.b32 [%out+12], %e;",
    )
    query = "".join(
        f"  txq.{what}.b32 {at}, [%h];\n" for what, at in (("width", "%a"), ("height", "%b"), ("depth", "%d"))
    )
    emit("query", "  mov.b32 %e, 0;\n" + query + STORE)


SIZES = {"b8": ("%q0", 1), "b16": ("%q0", 2), "b32": ("%a", 4), "b64": ("%l0", 8)}


def surfaces() -> None:
    zero = "".join(f"  mov.b32 {r}, 0;\n" for r in ("%a", "%b", "%d", "%e"))
    for geometry in ("1d", "2d", "3d", "a1d", "a2d"):
        place = PLACES[geometry][1]
        for mode in ("trap", "clamp", "zero"):
            emit(
                f"suld_{geometry}_{mode}", zero + f"  suld.b.{geometry}.v4.b32.{mode} {RESULT}, [%h, {place}];\n{STORE}"
            )
            emit(
                f"sust_{geometry}_{mode}",
                LOAD + f"  sust.b.{geometry}.v4.b32.{mode} [%h, {place}], {{%v0, %v1, %v2, %v3}};",
            )
            if geometry[0] != "a":
                emit(f"sured_{geometry}_{mode}", LOAD + f"  sured.b.add.{geometry}.u32.{mode} [%h, {place}], %v0;")
    place = PLACES["2d"][1]
    widen = "  cvt.u32.u16 %a, %q0;\n"
    for size in ("b8", "b16"):
        emit(f"suld_{size}", zero + f"  suld.b.2d.{size}.zero %q0, [%h, {place}];\n{widen}{STORE}")
        emit(f"sust_{size}", LOAD + f"  cvt.u16.u32 %q0, %v0;\n  sust.b.2d.{size}.zero [%h, {place}], %q0;")
        emit(
            f"suld_v2_{size}",
            zero + f"  suld.b.2d.v2.{size}.zero {{%q0, %q1}}, [%h, {place}];\n{widen}  cvt.u32.u16 %b, %q1;\n{STORE}",
        )
        emit(
            f"suld_v4_{size}",
            zero + f"  suld.b.2d.v4.{size}.zero {{%q0, %q1, %q2, %q3}}, [%h, {place}];\n{widen}  cvt.u32.u16 %b, %q1;\n"
            f"  cvt.u32.u16 %d, %q2;\n  cvt.u32.u16 %e, %q3;\n{STORE}",
        )
    emit("suld_b32", zero + f"  suld.b.2d.b32.zero %a, [%h, {place}];\n{STORE}")
    emit("suld_v2_b32", zero + f"  suld.b.2d.v2.b32.zero {{%a, %b}}, [%h, {place}];\n{STORE}")
    emit("suld_b64", zero + f"  suld.b.2d.b64.zero %l0, [%h, {place}];\n  mov.b64 {{%a, %b}}, %l0;\n{STORE}")
    emit(
        "suld_v2_b64",
        zero
        + f"  suld.b.2d.v2.b64.zero {{%l0, %l1}}, [%h, {place}];\n  mov.b64 {{%a, %b}}, %l0;\n  mov.b64 {{%d, %e}}, %l1;\n{STORE}",
    )
    emit("sust_b32", LOAD + f"  sust.b.2d.b32.zero [%h, {place}], %v0;")
    emit("sust_v2_b32", LOAD + f"  sust.b.2d.v2.b32.zero [%h, {place}], {{%v0, %v1}};")
    emit(
        "sust_v2_b64",
        LOAD
        + f"  mov.b64 %l0, {{%v0, %v1}};\n  mov.b64 %l1, {{%v2, %v3}};\n  sust.b.2d.v2.b64.zero [%h, {place}], {{%l0, %l1}};",
    )
    # Formatted stores: of floats or integers, by the surface's type.
    emit("sust_p_1d", LOAD + "  sust.p.1d.v4.b32.zero [%h, {%ix}], {%v0, %v1, %v2, %v3};")
    emit("sust_p_2d", LOAD + f"  sust.p.2d.v4.b32.zero [%h, {place}], {{%v0, %v1, %v2, %v3}};")
    emit("sust_p_v2_2d", LOAD + f"  sust.p.2d.v2.b32.zero [%h, {place}], {{%v0, %v1}};")
    emit("sust_p_v1_2d", LOAD + f"  sust.p.2d.b32.zero [%h, {place}], %v0;")
    emit("sured_p_2d", LOAD + f"  sured.p.add.2d.b32.zero [%h, {place}], %v0;")
    for op, types in {
        "add": ("u32", "s32", "u64"),
        "min": ("u32", "s32"),
        "max": ("u32", "s32"),
        "and": ("b32",),
        "or": ("b32",),
    }.items():
        for t in types:
            value = "%l0" if t == "u64" else "%v0"
            pack = "  mov.b64 %l0, {%v0, %v1};\n" if t == "u64" else ""
            emit(f"sured_{op}_{t}", LOAD + pack + f"  sured.b.{op}.2d.{t}.zero [%h, {place}], {value};")


print(HEAD)
fetches()
if sys.argv[1:] != ["fetches"]:
    surfaces()
