"""Statements of warps, barriers, textures, matrix products, special registers and control flow, for ptx_corpus.py."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

Statement = tuple[str, str]
ALL = "0xffffffff"
I4, F4 = "{d0, d1, d2, d3}", "{b4, b5, b6, b7}"


def warps() -> Iterator[Statement]:
    for mode, lane, mask in product(
        ("up", "down", "bfly", "idx"), ("b1", "3", "kb", "ub"), ("b2", "0x1c1f", "31", "0")
    ):
        yield "32p", "shfl.sync.%s.b32 d|d1, b0, %s, %s, %s" % (mode, lane, mask, ALL)
        yield "32", "shfl.sync.%s.b32 d, b0, %s, %s, b3" % (mode, lane, mask)
        yield "32p", "shfl.%s.b32 d|d1, b0, %s, %s" % (mode, lane, mask)
        yield "32", "shfl.%s.b32 d, kb, %s, %s" % (mode, lane, mask)
    for members in (ALL, "b3", "kb"):
        for m, p in product(("all", "any", "uni"), ("p0", "!p1")):
            yield "pred", "vote.sync.%s.pred d, %s, %s" % (m, p, members)
        yield "32", "vote.sync.ballot.b32 d, p0, %s" % members
        yield "32", "match.any.sync.b32 d, b0, %s" % members
        yield "32", "match.any.sync.b64 d, c0, %s" % members
        yield "32p", "match.all.sync.b32 d|d1, b0, %s" % members
        yield "32p", "match.all.sync.b64 d|d1, c0, %s" % members
        for op, t in (*product(("add", "min", "max"), ("u32", "s32")), *product(("and", "or", "xor"), ("b32",))):
            yield "32", "redux.sync.%s.%s d, b0, %s" % (op, t, members)
            yield "32", "redux.sync.%s.%s d, kb, %s" % (op, t, members)
        yield "", "bar.warp.sync %s" % members
        yield "32p", "elect.sync d|d1, %s" % members
    for m, p in product(("all", "any", "uni"), ("p0", "!p1")):
        yield "pred", "vote.%s.pred d, %s" % (m, p)
    yield "32", "vote.ballot.b32 d, !p0"
    yield "32", "activemask.b32 d"


def barriers() -> Iterator[Statement]:
    for a, n in product(("0", "3", "b0", "kb"), ("", ", 64", ", b1", ", kb")):
        for word in ("bar", "barrier", "barrier"):
            yield "", "%s.sync %s%s" % (word, a, n)
            if n:
                yield "", "%s.arrive %s%s" % (word, a, n)
        for op in ("and", "or"):
            yield "pred", "bar.red.%s.pred d, %s%s, p0" % (op, a, n)
        yield "32", "bar.red.popc.u32 d, %s%s, !p1" % (a, n)
        yield "", "barrier.sync.aligned %s%s" % (a, n)
        yield "32", "barrier.red.popc.aligned.u32 d, %s%s, p0" % (a, n)
    for m in (".arrive", ".arrive.release", ".arrive.relaxed", ".wait", ".wait.acquire"):
        yield from (("", "barrier.cluster%s%s" % (m, aligned)) for aligned in ("", ".aligned"))
    for at in ("[bar]", "[c0]", "[b0]"):
        space = "" if at == "[c0]" else ".shared"
        yield "", "mbarrier.init%s.b64 %s, 5" % (space, at)
        yield "", "mbarrier.inval%s.b64 %s" % (space, at)
        for n in ("", ", 3", ", b1"):
            yield "64", "mbarrier.arrive%s.b64 d, %s%s" % (space, at, n)
            yield "64", "mbarrier.arrive_drop%s.b64 d, %s%s" % (space, at, n)
            if n:
                yield "64", "mbarrier.arrive.noComplete%s.b64 d, %s%s" % (space, at, n)
                yield "64", "mbarrier.arrive.expect_tx%s.b64 d, %s%s" % (space, at, n)
                yield "", "mbarrier.expect_tx.relaxed.cta%s.b64 %s%s" % (space or ".shared", at, n)
        for kind in ("test_wait", "try_wait"):
            yield "pred", "mbarrier.%s%s.b64 d, %s, c1" % (kind, space, at)
            yield "pred", "mbarrier.%s.parity%s.b64 d, %s, b1" % (kind, space, at)
            yield "pred", "mbarrier.%s.parity.acquire.cluster%s.b64 d, %s, b1" % (kind, space, at)
        yield "pred", "mbarrier.try_wait.parity%s.b64 d, %s, 1, 1000" % (space, at)
    yield "32", "mbarrier.pending_count.b64 d, c0"
    for scope in ("cluster", "cta"):
        yield "", "mbarrier.arrive.release.%s.shared::cluster.b64 _, [b0]" % scope
        yield "", "mbarrier.arrive.expect_tx.release.%s.shared::cluster.b64 _, [b0], 16" % scope
    yield "32", "mapa.shared::cluster.u32 d, s, b0"
    yield "32", "mapa.shared::cluster.u32 d, tile, 1"
    yield "64", "mapa.u64 d, c0, b0"
    yield "32", "getctarank.shared::cluster.u32 d, b0"
    yield "32", "getctarank.u32 d, c0"
    for t, x in (("b32", "b1"), ("b64", "c1"), ("u32", "b1")):
        yield "", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.%s [b0], %s, [b2]" % (t, x)
    yield "", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [b0], {b4, b5, b6, b7}, [b2]"
    for op, t in (
        *product(("inc", "dec", "min", "max", "add"), ("u32", "s32")),
        ("add", "u64"),
        *product(("and", "or", "xor"), ("b32",)),
    ):
        x = "c1" if t == "u64" else "b1"
        yield (
            "",
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.%s.%s [b0], %s, [b2]" % (op, t, x),
        )
    yield "", "griddepcontrol.launch_dependents"
    yield "", "griddepcontrol.wait"
    yield from (("", "setmaxnreg.%s.sync.aligned.u32 40" % m) for m in ("inc", "dec"))
    yield from (("", "nanosleep.u32 %s" % n) for n in ("100", "b0", "kb", "ub"))
    yield from (("", "pmevent %d" % n) for n in (0, 7))
    yield "", "pmevent.mask 0xff"
    yield "", "@p0 trap"
    yield "", "@p1 brkpt"
    yield "", "@p0 exit"


GEOMETRY = {
    "1d": ("{b0}", "{b1}", "{b2}"),
    "2d": ("{b0, b1}", "{b2, b3}", "{b4, b5}"),
    "3d": ("{b0, b1, b2, b2}", "{b3, b4, b5, b5}", "{b6, b7, b8, b8}"),
    "a1d": ("{b0, b1}", "{b2}", "{b3}"),
    "a2d": ("{b0, b1, b2, b2}", "{b3, b4}", "{b5, b6}"),
    "cube": ("{b0, b1, b2, b2}", "{b3, b4, b5, b5}", "{b6, b7, b8, b8}"),
    "acube": ("{b0, b1, b2, b3}", "{b4, b5, b6, b6}", "{b7, b8, b9, b9}"),
    "2dms": ("{b0, b1, b2, b2}", "", ""),
    "a2dms": ("{b0, b1, b2, b3}", "", ""),
}
WITH_OFFSET = {"1d": "{b7}", "2d": "{b7, b8}", "3d": "{b7, b8, b9, b9}", "a1d": "{b7}", "a2d": "{b7, b8}"}


def textures() -> Iterator[Statement]:
    """By object, by name, and of an object that is the same in all threads or not."""
    for handle in ("tx", "tex0", "c0"):
        for g, (at, dx, dy) in GEOMETRY.items():
            for d, c in product(("s32", "f32", "u32"), ("s32", "f32")):
                head = "%s.v4.%s.%s %s, [%s, %s]" % (g, d, c, I4, handle, at)
                yield "4x32", "tex." + head
                if d != "f32":
                    continue
                if g in WITH_OFFSET:
                    yield "4x32", "tex.%s, %s" % (head, WITH_OFFSET[g])
                yield "4x32", "tex.%s, b9" % head
                if g in WITH_OFFSET and c == "f32":
                    yield "4x32", "tex.%s, %s, b6" % (head, WITH_OFFSET[g])
                if c == "f32":
                    yield "4x32", "tex.level.%s, b9" % head
                    yield "4x32", "tex.level.%s, 0f00000000" % head
                    yield "4x32", "tex.level.%s, b9, b8" % head
                    if dx:
                        yield "4x32", "tex.grad.%s, %s, %s" % (head, dx, dy)
                    if g in WITH_OFFSET:
                        yield "4x32", "tex.level.%s, b9, %s" % (head, WITH_OFFSET[g])
                        yield "4x32", "tex.grad.%s, %s, %s, %s" % (head, dx, dy, WITH_OFFSET[g])
                    yield "4xp", "tex.%s" % head.replace(I4, I4 + "|d")
                elif "ms" in g or g in WITH_OFFSET:
                    yield "4x32", "tex.level.%s, b9" % head
                    yield "4x32", "tex.base.%s" % head
            yield "32", ".reg .b32 d0, d1, d2; tex.%s.v4.f32.f32 {d0, d, d1, d2}, [%s, %s]" % (g, handle, at)
            yield "2x32", ".reg .b32 e, f; tex.%s.v4.f32.f32 {d0, e, f, d1}, [%s, %s]" % (g, handle, at)
            yield "2x32", "tex.%s.v2.f16x2.f32 {d0, d1}, [%s, %s]" % (g, handle, at)
        for k, g in product("rgba", ("2d", "a2d", "cube", "acube")):
            at = GEOMETRY[g][0]
            yield "4x32", "tld4.%s.%s.v4.f32.f32 %s, [%s, %s]" % (k, g, I4, handle, at)
            yield "4x32", "tld4.%s.%s.v4.u32.f32 %s, [%s, %s], b9" % (k, g, I4, handle, at)
            yield "4xp", "tld4.%s.%s.v4.f32.f32 %s|d, [%s, %s]" % (k, g, I4, handle, at)
            if g in WITH_OFFSET:
                yield "4x32", "tld4.%s.%s.v4.f32.f32 %s, [%s, %s], %s" % (k, g, I4, handle, at, WITH_OFFSET[g])
                yield "4x32", "tld4.%s.%s.v4.f32.f32 %s, [%s, %s], %s, b6" % (k, g, I4, handle, at, WITH_OFFSET[g])
        for q in [
            "width",
            "height",
            "depth",
            "channel_data_type",
            "channel_order",
            "normalized_coords",
            "array_size",
            "num_mipmap_levels",
            "num_samples",
        ]:
            yield "32", "txq.%s.b32 d, [%s]" % (q, handle)
        for q in ("width", "height", "depth"):
            yield "32", "txq.level.%s.b32 d, [%s], b0" % (q, handle)
            yield "32", "txq.level.%s.b32 d, [%s], 2" % (q, handle)
    for q in ["filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2", "force_unnormalized_coords"]:
        yield "32", "txq.%s.b32 d, [tx]" % q
    for t in ("texref", "samplerref", "surfref"):
        yield "pred", "istypep.%s d, tx" % t
        yield "pred", "istypep.%s d, c0" % t


SURFACE = {"1d": "{b0}", "2d": "{b0, b1}", "3d": "{b0, b1, b2, b2}", "a1d": "{b0, b1}", "a2d": "{b0, b1, b2, b2}"}


def surfaces() -> Iterator[Statement]:
    for handle, (g, at) in product(("tx", "surf0", "c0"), SURFACE.items()):
        for clamp, t in product(("trap", "clamp", "zero"), ("b8", "b16", "b32", "b64")):
            n = {"b8": "16"}.get(t, t[1:])
            x = {"16": "a", "32": "b", "64": "c"}[n]
            yield n, "suld.b.%s.%s.%s d, [%s, %s]" % (g, t, clamp, handle, at)
            yield "", "sust.b.%s.%s.%s [%s, %s], %s4" % (g, t, clamp, handle, at, x)
            kind = "2x" + n
            if t != "b8":
                yield kind, "suld.b.%s.v2.%s.%s {d0, d1}, [%s, %s]" % (g, t, clamp, handle, at)
            yield "", "sust.b.%s.v2.%s.%s [%s, %s], {%s4, %s5}" % (g, t, clamp, handle, at, x, x)
            if t != "b64":
                yield "4x" + n, "suld.b.%s.v4.%s.%s {d0, d1, d2, d3}, [%s, %s]" % (g, t, clamp, handle, at)
                yield "", "sust.b.%s.v4.%s.%s [%s, %s], {%s4, %s5, %s6, %s7}" % (g, t, clamp, handle, at, *x * 4)
        for clamp in ("trap", "clamp", "zero"):
            yield "", "sust.p.%s.b32.%s [%s, %s], b4" % (g, clamp, handle, at)
            yield "", "sust.p.%s.v2.b32.%s [%s, %s], {b4, b5}" % (g, clamp, handle, at)
            yield "", "sust.p.%s.v4.b32.%s [%s, %s], {b4, b5, b6, b7}" % (g, clamp, handle, at)
            for op, t in (
                ("add", "u32"),
                ("add", "s32"),
                ("add", "u64"),
                ("min", "u32"),
                ("min", "s32"),
                ("max", "u32"),
                ("max", "s32"),
                ("and", "b32"),
                ("or", "b32"),
                ("min", "u64"),
                ("max", "s64"),
                ("and", "b64"),
                ("or", "b64"),
            ):
                x = "c4" if "64" in t else "b4"
                for how in ("b", "p"):
                    yield "", "sured.%s.%s.%s.%s.%s [%s, %s], %s" % (how, op, g, t, clamp, handle, at, x)
        for cache in ("ca", "cg", "cs", "cv"):
            yield "32", "suld.b.%s.%s.b32.trap d, [%s, %s]" % (g, cache, handle, at)
        for cache in ("wb", "cg", "cs", "wt"):
            yield "", "sust.b.%s.%s.b32.trap [%s, %s], b4" % (g, cache, handle, at)
    for handle in ("tx", "surf0", "c0"):
        for q in ["width", "height", "depth", "channel_data_type", "channel_order", "array_size", "memory_layout"]:
            yield "32", "suq.%s.b32 d, [%s]" % (q, handle)


def products() -> Iterator[Statement]:
    """mma.sync and wmma of types and shapes that the generators of sm_90a leave out."""
    a4, a2, b2, b1, c4, c2, a1 = "{b0, b1, b2, b3}", "{b0, b1}", "{b4, b5}", "{b4}", F4, "{b6, b7}", "{b0}"
    a8 = "{b0, b1, b2, b3, b4, b5, b6, b7}"
    mma = "mma.sync.aligned"
    for la, lb in product(("row", "col"), repeat=2):
        yield "4x32", "%s.m8n8k4.%s.%s.f16.f16.f16.f16 %s, %s, %s, %s" % (mma, la, lb, I4, a2, b2, c4)
        yield (
            "8x32",
            "%s.m8n8k4.%s.%s.f32.f16.f16.f32 {d0, d1, d2, d3, d4, d5, d6, d7}, %s, %s, %s" % (mma, la, lb, a2, b2, a8),
        )
    for k, a, b in ((8, a2, b1), (16, a4, b2)):
        yield "2x32", "%s.m16n8k%d.row.col.f16.f16.f16.f16 {d0, d1}, %s, %s, %s" % (mma, k, a, b, c2)
        for t in ("f16", "bf16"):
            yield "4x32", "%s.m16n8k%d.row.col.f32.%s.%s.f32 %s, %s, %s, %s" % (mma, k, t, t, I4, a, b, c4)
    for k, a, b in ((4, a2, b1), (8, a4, b2)):
        yield "4x32", "%s.m16n8k%d.row.col.f32.tf32.tf32.f32 %s, %s, %s, %s" % (mma, k, I4, a, b, c4)
    for x, y in product(("e4m3", "e5m2"), repeat=2):
        yield "4x32", "%s.m16n8k32.row.col.f32.%s.%s.f32 %s, %s, %s, %s" % (mma, x, y, I4, a4, b2, c4)
    for sat, x, y in product(("", ".satfinite"), "us", "us"):
        for bits, ks in ((8, (16, 16, 32)), (4, (32, 32, 64))):
            t = "row.col%s.s32.%s%d.%s%d.s32" % (sat, x, bits, y, bits)
            yield "2x32", "%s.m8n8k%d.%s {d0, d1}, %s, %s, %s" % (mma, ks[0], t, a1, b1, c2)
            yield "4x32", "%s.m16n8k%d.%s %s, %s, %s, %s" % (mma, ks[1], t, I4, a2, b1, c4)
            yield "4x32", "%s.m16n8k%d.%s %s, %s, %s, %s" % (mma, ks[2], t, I4, a4, b2, c4)
            sp = "mma.sp.sync.aligned"
            yield "4x32", "%s.m16n8k%d.%s %s, %s, %s, %s, b9, 0x0" % (sp, 2 * ks[1], t, I4, a2, b2, c4)
            yield "4x32", "%s.m16n8k%d.%s %s, %s, %s, %s, b9, 0x0" % (sp, 2 * ks[2], t, I4, a4, "{b4, b5, b6, b7}", c4)
    for op in ("xor", "and"):
        t = "row.col.s32.b1.b1.s32.%s.popc" % op
        yield "2x32", "%s.m8n8k128.%s {d0, d1}, %s, %s, %s" % (mma, t, a1, b1, c2)
        yield "4x32", "%s.m16n8k128.%s %s, %s, %s, %s" % (mma, t, I4, a2, b1, c4)
        yield "4x32", "%s.m16n8k256.%s %s, %s, %s, %s" % (mma, t, I4, a4, b2, c4)
    yield "2x64", "%s.m8n8k4.row.col.f64.f64.f64.f64 {d0, d1}, {c0}, {c1}, {c2, c3}" % mma
    for r in ("", ".rn", ".rz", ".rm", ".rp"):
        yield "2x64", "%s.m8n8k4.row.col%s.f64.f64.f64.f64 {d0, d1}, {c0}, {c1}, {c2, c3}" % (mma, r)
    for k, a, b in ((4, "{c0, c1}", "{c2}"), (8, "{c0, c1, c2, c3}", "{c4, c5}")):
        yield (
            "2x64",
            ".reg .b64 e, f; %s.m16n8k%d.row.col.f64.f64.f64.f64 {d0, d1, e, f}, %s, %s, {c4, c5, c6, c7}"
            % (mma, k, a, b),
        )
    for shape in ("m16n16k16", "m32n8k16", "m8n32k16"):
        for t, la in product(("f16", "f32"), ("row", "col")):
            n = 4 if t == "f16" else 8
            regs = ", ".join("d%d" % i for i in range(n))
            kind = "%dx32" % n
            at = "g" if la == "row" else "kc"
            yield kind, "wmma.load.c.sync.aligned.%s.%s.global.%s {%s}, [%s], 32" % (la, shape, t, regs, at)
            some = ", ".join("b%d" % i for i in range(n))
            yield "", "wmma.store.d.sync.aligned.%s.%s.shared.%s [s], {%s}, b9" % (la, shape, t, some)
        for ab, la, space in product("ab", ("row", "col"), (".global", ".shared")):
            regs = ", ".join("d%d" % i for i in range(8))
            yield (
                "8x32",
                "wmma.load.%s.sync.aligned.%s.%s%s.f16 {%s}, [%s], b9"
                % (ab, la, shape, space, regs, "g" if space == ".global" else "s"),
            )
        for d, c, la, lb, sat in product(
            ("f16", "f32"), ("f16", "f32"), ("row", "col"), ("row", "col"), ("", ".satfinite")
        ):
            n = 4 if d == "f16" else 8
            regs = ", ".join("d%d" % i for i in range(n))
            cs = ", ".join("b%d" % i for i in range(4 if c == "f16" else 8))
            yield (
                "%dx32" % n,
                "wmma.mma.sync.aligned.%s.%s.%s.%s.%s%s {%s}, %s, %s, {%s}"
                % (la, lb, shape, d, c, sat, regs, a8, a8, cs),
            )


SPECIAL = [
    "tid.x",
    "tid.y",
    "tid.z",
    "ntid.x",
    "ntid.y",
    "ntid.z",
    "laneid",
    "warpid",
    "nwarpid",
    "ctaid.x",
    "ctaid.y",
    "ctaid.z",
    "nctaid.x",
    "nctaid.y",
    "nctaid.z",
    "smid",
    "nsmid",
    "lanemask_eq",
    "lanemask_le",
    "lanemask_lt",
    "lanemask_ge",
    "lanemask_gt",
    "clock",
    "clock_hi",
    "pm0",
    "pm1",
    "pm2",
    "pm3",
    "pm4",
    "pm5",
    "pm6",
    "pm7",
    "envreg0",
    "envreg1",
    "envreg31",
    "globaltimer_lo",
    "globaltimer_hi",
    "total_smem_size",
    "aggr_smem_size",
    "dynamic_smem_size",
    "is_explicit_cluster",
    "clusterid.x",
    "clusterid.y",
    "clusterid.z",
    "nclusterid.x",
    "nclusterid.y",
    "nclusterid.z",
    "cluster_ctaid.x",
    "cluster_ctaid.y",
    "cluster_ctaid.z",
    "cluster_nctaid.x",
    "cluster_nctaid.y",
    "cluster_nctaid.z",
    "cluster_ctarank",
    "cluster_nctarank",
    "reserved_smem_offset_begin",
    "reserved_smem_offset_end",
    "reserved_smem_offset_cap",
    "reserved_smem_offset_0",
    "reserved_smem_offset_1",
]


def specials() -> Iterator[Statement]:
    for name in SPECIAL:
        yield (
            ("pred" if name.startswith("is_") else "32"),
            "mov.%s d, %%%s" % ("pred" if name.startswith("is_") else "b32", name),
        )
    for name in ("clock64", "globaltimer", "gridid", "current_graph_exec", "pm0_64", "pm7_64"):
        yield "64", "mov.b64 d, %%%s" % name


def control() -> Iterator[Statement]:
    yield "32", "mov.b32 d, b0; @p0 bra L1; mul.lo.u32 d, b1, b2; bar.sync 0; L1: add.u32 d, d, 1"
    yield "32", "mov.b32 d, b0; @p0 bra.uni L2; mul.lo.u32 d, b1, b2; bar.sync 0; L2: add.u32 d, d, 1"
    yield (
        "32",
        ".reg .pred q; mov.b32 d, b0; L3: mad.lo.u32 d, d, b1, b2; st.volatile.global.b32 [g], d; "
        "setp.ne.u32 q, d, b3; @q bra L3",
    )
    yield (
        "32",
        "mov.b32 d, b0; T4: .branchtargets L4, L5, L6; brx.idx b1, T4; L4: bar.sync 0; mul.lo.u32 d, b1, b1; bra L7; "
        "L5: bar.sync 1; mul.lo.u32 d, b2, b2; bra L7; L6: bar.sync 2; mul.lo.u32 d, b3, b3; L7: add.u32 d, d, 1",
    )
    yield "64", ".reg .b64 e; alloca.u64 e, c0; cvta.local.u64 d, e"
    yield "64", "stacksave.u64 d"
    yield "", "stackrestore.u64 c0"


FAMILIES = (warps, barriers, textures, surfaces, products, specials, control)
