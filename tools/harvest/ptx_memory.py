"""Statements of loads, stores, atomics and what goes with memory, for ptx_corpus.py."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

Statement = tuple[str, str]
SIZES = {"u8": "16", "s8": "16", "u16": "16", "s16": "16", "b32": "32", "b64": "64"}
LETTER = {"16": "a", "32": "b", "64": "c"}
SCOPES = ("cta", "cluster", "gpu", "sys")
LEVEL1 = tuple("L1::" + x for x in ["evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate"])
PREFETCH = ("L2::64B", "L2::128B", "L2::256B")
ADDRESS = {
    ".global": ("g+128", "kc+64", "uc", "buffer+16", "n+4"),
    ".shared": ("s", "tile+64", "s+1024", "b0", "ub", "kb+8"),
    ".local": ("l", "own+16", "l+64"),
    ".const": ("table+64", "t+32", "t"),
    "": ("c0", "kc", "n", "uc"),
    ".shared::cluster": ("b0", "kb"),
}


def loads() -> Iterator[Statement]:
    for space, places in ADDRESS.items():
        for t, at in product(SIZES, places):
            yield SIZES[t], "ld%s.%s d, [%s]" % (space, t, at)
            if space != ".const":
                yield SIZES[t], "ld.volatile%s.%s d, [%s]" % (space, t, at)
        for at in places:
            yield "2x16", "ld%s.v2.b16 {d0, d1}, [%s]" % (space, at)
            yield "4x16", "ld%s.v4.b16 {d0, d1, d2, d3}, [%s]" % (space, at)
            yield "2x32", "ld%s.v2.b32 {d0, d1}, [%s]" % (space, at)
            yield "4x32", "ld%s.v4.b32 {d0, d1, d2, d3}, [%s]" % (space, at)
            yield "2x64", "ld%s.v2.b64 {d0, d1}, [%s]" % (space, at)
    for cache, space in product(("ca", "cg", "cs", "lu", "cv"), ("", ".global", ".local")):
        for t in SIZES:
            yield SIZES[t], "ld%s.%s.%s d, [%s]" % (space, cache, t, {"": "c0", ".global": "g+8", ".local": "l"}[space])
        yield (
            "4x32",
            "ld%s.%s.v4.b32 {d0, d1, d2, d3}, [%s]"
            % (
                space,
                cache,
                {"": "c0", ".global": "g+16", ".local": "l"}[space],
            ),
        )
    for nc, cache in product((".nc", ""), ("", ".ca", ".cg", ".cs", *("." + x for x in LEVEL1))):
        for prefetch, hint in product(("", *("." + x for x in PREFETCH)), ("", ".L2::cache_hint")):
            m = cache + nc if not cache.startswith(".L1") else nc + cache
            policy = ", c1" if hint else ""
            yield "32", "ld.global%s%s%s.b32 d, [g+4]%s" % (m, hint, prefetch, policy)
            yield "4x32", "ld.global%s%s%s.v4.b32 {d0, d1, d2, d3}, [g+32]%s" % (m, hint, prefetch, policy)
    for order, scope, space in product(("relaxed", "acquire", "mmio.relaxed"), SCOPES, ("", ".global", ".shared")):
        for t, at in product(("u8", "b32", "b64"), ADDRESS[space][:2]):
            yield SIZES[t], "ld.%s.%s%s.%s d, [%s]" % (order, scope, space, t, at)
    for t in SIZES:
        yield SIZES[t], "ldu.global.%s d, [g+8]" % t
    yield "4x32", "ldu.global.v4.b32 {d0, d1, d2, d3}, [g+64]"
    for t in SIZES:
        yield SIZES[t], "@p0 ld.global.%s d, [g+8]" % t


def stores() -> Iterator[Statement]:
    for space, places in ADDRESS.items():
        if space == ".const":
            continue
        for t, at in product(SIZES, places):
            x = LETTER[SIZES[t]]
            for value in (x + "1", "k" + x):
                yield "", "st%s.%s [%s], %s" % (space, t, at, value)
            yield "", "st.volatile%s.%s [%s], %s1" % (space, t, at, x)
        for at in places:
            yield "", "st%s.v2.b16 [%s], {a0, a1}" % (space, at)
            yield "", "st%s.v2.b32 [%s], {b0, b1}" % (space, at)
            yield "", "st%s.v4.b32 [%s], {b0, b1, b2, b3}" % (space, at)
            yield "", "st%s.v4.b32 [%s], {0, 0, 0, 0}" % (space, at)
            yield "", "st%s.v2.b64 [%s], {c0, c1}" % (space, at)
    for cache, space in product(("wb", "cg", "cs", "wt"), ("", ".global", ".local")):
        for t in SIZES:
            at = {"": "c0", ".global": "g+8", ".local": "l"}[space]
            yield "", "st%s.%s.%s [%s], %s1" % (space, cache, t, at, LETTER[SIZES[t]])
    for level, hint in product(("", *("." + x for x in LEVEL1)), ("", ".L2::cache_hint")):
        policy = ", c1" if hint else ""
        yield "", "st.global%s%s.b32 [g+4], b1%s" % (level, hint, policy)
        yield "", "st.global%s%s.v4.b32 [g+32], {b0, b1, b2, b3}%s" % (level, hint, policy)
    for order, scope, space in product(("relaxed", "release", "mmio.relaxed"), SCOPES, ("", ".global", ".shared")):
        for t, at in product(("u8", "b32", "b64"), ADDRESS[space][:2]):
            yield "", "st.%s.%s%s.%s [%s], %s1" % (order, scope, space, t, at, LETTER[SIZES[t]])


ATOMICS = {
    "add": "u32 s32 u64 f32 f64 noftz.f16 noftz.f16x2 noftz.bf16 noftz.bf16x2",
    "min": "u32 s32 u64 s64 noftz.f16x2",
    "max": "u32 s32 u64 s64 noftz.bf16x2",
    "inc": "u32",
    "dec": "u32",
    "and": "b32 b64",
    "or": "b32 b64",
    "xor": "b32 b64",
    "exch": "b32 b64 b128",
}


def size_of(t: str) -> str:
    return "32" if t.endswith("x2") else t[-2:]


def atomics() -> Iterator[Statement]:
    for op, types in ATOMICS.items():
        for t, space in product(types.split(), ("", ".global", ".shared")):
            n = size_of(t)
            if t == "b128":
                continue
            x = LETTER[n]
            for at in ADDRESS[space][:4]:
                yield n, "atom%s.%s.%s d, [%s], %s1" % (space, op, t, at, x)
                yield n, "atom%s.%s.%s d, [%s], k%s" % (space, op, t, at, x)
                if op != "exch":
                    yield "", "red%s.%s.%s [%s], %s1" % (space, op, t, at, x)
            for order, scope in product(("relaxed", "acquire", "release", "acq_rel"), SCOPES):
                at = ADDRESS[space][0]
                yield n, "atom.%s.%s%s.%s.%s d, [%s], %s1" % (order, scope, space, op, t, at, x)
                if op != "exch" and order in ("relaxed", "release"):
                    yield "", "red.%s.%s%s.%s.%s [%s], %s1" % (order, scope, space, op, t, at, x)
            if space == ".global":
                yield n, "atom.global.%s.L2::cache_hint.%s d, [g], %s1, c1" % (op, t, x)
                if op != "exch":
                    yield "", "red.global.%s.L2::cache_hint.%s [g], %s1, c1" % (op, t, x)
    for t, space in product(("b16", "b32", "b64"), ("", ".global", ".shared")):
        x = LETTER[t[1:]]
        for at in ADDRESS[space][:4]:
            yield t[1:], "atom%s.cas.%s d, [%s], %s0, %s1" % (space, t, at, x, x)
            yield t[1:], "atom%s.cas.%s d, [%s], 0, k%s" % (space, t, at, x)
        for order, scope in product(("relaxed", "acquire", "release", "acq_rel"), SCOPES):
            yield t[1:], "atom.%s.%s%s.cas.%s d, [%s], %s0, %s1" % (order, scope, space, t, ADDRESS[space][0], x, x)
    yield "32", "atom.shared.add.u32 d, [s], 1"
    yield "32", "atom.global.add.u32 d, [g], 1"
    for vec, t in product(("v2", "v4"), ("f32", "f16", "bf16", "f16x2", "bf16x2")):
        count = int(vec[1])
        x = LETTER[size_of(t)]
        names = ", ".join("%s%d" % (x, i) for i in range(count))
        outs = ", ".join("d%d" % i for i in range(count))
        noftz = "" if t == "f32" else ".noftz"
        kind = "%dx%s" % (count, size_of(t))
        yield kind, "atom.global.%s.%s.add%s {%s}, [g], {%s}" % (vec, t, noftz, outs, names)
        yield "", "red.global.%s.%s.add%s [g], {%s}" % (vec, t, noftz, names)
        yield "", "red.global.add%s.%s.%s [g], {%s}" % (noftz, vec, t, names)
        yield kind, "atom.global.add%s.%s.%s {%s}, [g], {%s}" % (noftz, vec, t, outs, names)


def copies() -> Iterator[Statement]:
    for n, at in product((4, 8, 16), ("s", "tile+64", "b0+32")):
        for prefetch in ("", *("." + x for x in PREFETCH)):
            yield "", "cp.async.ca.shared.global%s [%s], [g], %d" % (prefetch, at, n)
            yield "", "cp.async.ca.shared.global%s [%s], [g+64], %d, b1" % (prefetch, at, n)
            yield "", "cp.async.ca.shared.global%s [%s], [g], %d, p0" % (prefetch, at, n)
            if n == 16:
                yield "", "cp.async.cg.shared.global%s [%s], [g], 16" % (prefetch, at)
                yield "", "cp.async.cg.shared.global.L2::cache_hint%s [%s], [kc+16], 16, c1" % (prefetch, at)
    yield "", "cp.async.commit_group"
    yield from (("", "cp.async.wait_group %d" % n) for n in (0, 1, 3, 7))
    yield "", "cp.async.wait_all"
    for m in ("", ".noinc"):
        yield "", "cp.async.mbarrier.arrive%s.shared.b64 [bar]" % m
        yield "", "cp.async.mbarrier.arrive%s.b64 [c0]" % m
    for x in ("x1", "x2", "x4"):
        for trans, at in product(("", ".trans"), ("s", "tile+64", "b0+32")):
            names, kind = {"x1": ("d", "32"), "x2": ("d0, d1", "2x32"), "x4": ("d0, d1, d2, d3", "4x32")}[x]
            yield kind, "ldmatrix.sync.aligned.m8n8.%s%s.shared.b16 {%s}, [%s]" % (x, trans, names, at)
            yield (
                "",
                "stmatrix.sync.aligned.m8n8.%s%s.shared.b16 [%s], {%s}"
                % (x, trans, at, names.replace("d", "b") if x != "x1" else "b0"),
            )
    yield "32", "movmatrix.sync.aligned.m8n8.trans.b16 d, b0"


def caches() -> Iterator[Statement]:
    for level, (space, at) in product(
        ("L1", "L2"), (("", "c0"), (".global", "g"), (".local", "l"), (".global", "kc+64"))
    ):
        yield "", "prefetch%s.%s [%s]" % (space, level, at)
    for p in ("evict_last", "evict_normal"):
        yield "", "prefetch.global.L2::%s [g]" % p
    yield "", "prefetchu.L1 [c0]"
    yield "", "prefetch.tensormap [tm]"
    yield "", "applypriority.global.L2::evict_normal [g], 128"
    yield "", "applypriority.L2::evict_normal [c0], 128"
    yield "", "discard.global.L2 [g], 128"
    yield "", "discard.L2 [c0], 128"
    for first, second, some in product(
        ("evict_last", "evict_normal", "evict_first", "evict_unchanged"),
        ("", "evict_first", "evict_unchanged"),
        ("1.0", "0.5", "b0"),
    ):
        m = "L2::" + first + (".L2::" + second if second else "")
        yield "64", "createpolicy.fractional.%s.b64 d, %s" % (m, some)
        for size, total in (("4096", "8192"), ("b0", "b1")):
            yield "64", "createpolicy.range.global.%s.b64 d, [g], %s, %s" % (m, size, total)
    yield "64", "createpolicy.cvt.L2.b64 d, c0"
    for space in ("const", "global", "local", "shared", "shared::cta", "shared::cluster", "param"):
        yield "pred", "isspacep.%s d, c0" % space
        yield "pred", "isspacep.%s d, kc" % space
    for space in ("const", "global", "local", "shared", "shared::cta", "shared::cluster"):
        yield "64", "cvta.%s.u64 d, c0" % space
        yield "64", "cvta.to.%s.u64 d, c0" % space
        yield "64", "cvta.%s.u64 d, kc" % space
    for scope in ("cta", "gl", "sys"):
        yield "", "membar.%s" % scope
    for order, scope in product(("sc", "acq_rel"), SCOPES):
        yield "", "fence.%s.%s" % (order, scope)
        yield "", "fence.%s.%s; st.global.b32 [g], b0; fence.%s.%s" % (order, scope, order, scope)
    for proxy in ["alias", "async", "async.global", "async.shared::cta", "async.shared::cluster"]:
        yield "", "fence.proxy.%s" % proxy
    for order, scope in product(("release", "acquire"), SCOPES):
        tail = " [tm], 128" if order == "acquire" else ""
        yield "", "fence.proxy.tensormap::generic.%s.%s%s" % (order, scope, tail)
    yield "", "fence.mbarrier_init.release.cluster"
    for m in ("add", "min", "max", "and", "or", "xor"):
        for t in ("u32", "s32", "u64", "s64", "b32", "b64", "f16x2", "bf16x2", "f32", "f64"):
            n = size_of(t)
            yield n, "multimem.ld_reduce.relaxed.gpu.global.%s.%s d, [g]" % (m, t)
            yield "", "multimem.red.relaxed.gpu.global.%s.%s [g], %s0" % (m, t, LETTER[n])
            yield "", "multimem.st.relaxed.gpu.global.%s [g], %s0" % (t, LETTER[n])
    for t in ("f32", "f16x2", "bf16x2"):
        for v, kind, outs, ins in (
            ("v2", "2x32", "{d0, d1}", "{b0, b1}"),
            ("v4", "4x32", "{d0, d1, d2, d3}", "{b0, b1, b2, b3}"),
        ):
            yield kind, "multimem.ld_reduce.relaxed.sys.global.add.%s.%s %s, [g]" % (v, t, outs)
            yield "", "multimem.red.release.sys.global.add.%s.%s [g], %s" % (v, t, ins)
            yield "", "multimem.st.weak.global.%s.%s [g], %s" % (v, t, ins)


FAMILIES = (loads, stores, atomics, copies, caches)
