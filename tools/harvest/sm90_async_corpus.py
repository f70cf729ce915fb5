"""Writes PTX that makes ptxas emit the asynchronous engines, barriers and clusters of sm_90a, and the products of one
warp: sm90_async_corpus.py > async.ptx, then ptxas -arch=sm_90a async.ptx -o async.cubin.

Each statement stands in a kernel of its own; its operands come from memory, parameters or immediates, and what it
returns is stored.
"""

from itertools import product

HEADER = ".version 8.4\n.target sm_90a\n.address_size 64\n"
KERNEL = """.visible .entry a%d(.param .u64 p, .param .align 64 .b8 map[128], .param .u32 s)%s
{ .reg .b32 r<40>; .reg .f32 f<16>; .reg .b64 rd<20>; .reg .b16 h<8>; .reg .f64 d<24>; .reg .pred p0, p1, p2; .reg .b32 q<16>; .reg .b64 qd<8>;
  .shared .align 128 .b8 tile[8192]; .shared .align 8 .b64 bar;
  ld.param.u64 rd0, [p]; mov.b64 rd5, map; ld.param.u32 r31, [s]; setp.ne.b32 p0, r31, 0; mov.u32 r30, %%tid.x; mul.wide.u32 rd1, r30, 1024;
  add.s64 rd0, rd0, rd1; mov.u32 r20, bar; mov.u32 r21, tile; shl.b32 r29, r30, 4; add.u32 r22, r21, r29;
  ld.global.v4.b32 {r0,r1,r2,r3}, [rd0]; ld.global.v4.b32 {r4,r5,r6,r7}, [rd0+16]; ld.global.v4.b32 {r8,r9,r10,r11}, [rd0+32];
  ld.global.v4.f32 {f0,f1,f2,f3}, [rd0+48]; ld.global.v4.f32 {f4,f5,f6,f7}, [rd0+64]; ld.global.v2.b64 {rd2,rd3}, [rd0+80];
  ld.global.v4.b16 {h0,h1,h2,h3}, [rd0+96]; setp.gt.s32 p1, r0, 7;
%s
  ret; }"""
STORES = {
    "b32": "st.global.b32 [rd0+512], q0;",
    "pred": "selp.b32 q0, 1, 0, p2; st.global.b32 [rd0+512], q0;",
    "b64": "st.global.b64 [rd0+512], qd0;",
    "v4": "st.global.v4.b32 [rd0+512], {q0,q1,q2,q3};",
    "v2": "st.global.v2.b32 [rd0+512], {q0,q1};",
    "f4": "st.global.v4.f32 [rd0+512], {f8,f9,f10,f11};",
}
CLUSTER = " .explicitcluster .reqnctapercluster 2,1,1"
THREADS = " .reqntid 384,1,1 .minnctapersm 1"


def barriers():
    for b in ("r20", "r20+64"):
        for count in ("1", "r0", "128"):
            yield "mbarrier.init.shared.b64 [%s], %s" % (b, count)
        yield "mbarrier.inval.shared.b64 [%s]" % b
        for sem in ("", ".release.cta"):
            yield "mbarrier.arrive%s.shared::cta.b64 qd0, [%s]" % (sem, b), "b64"
            for count in ("r0", "3", "1"):
                yield "mbarrier.arrive%s.shared::cta.b64 qd0, [%s], %s" % (sem, b, count), "b64"
            for tx in ("r0", "8192"):
                yield "mbarrier.arrive.expect_tx%s.shared::cta.b64 qd0, [%s], %s" % (sem, b, tx), "b64"
                yield "mbarrier.arrive.expect_tx%s.shared::cta.b64 _, [%s], %s" % (sem, b, tx)
        for scope in (".release.cta", ".release.cluster"):
            yield "mbarrier.arrive%s.shared::cta.b64 _, [%s]" % (scope, b)
            yield "mbarrier.arrive%s.shared::cluster.b64 _, [%s]" % (scope.replace("cta", "cluster"), b)
            yield "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%s], r1" % b
            yield "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%s], 4" % b
            yield "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%s], r1" % b
            yield "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%s], 4096" % b
        for noc in ("qd0", ):
            yield "mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %s, [%s], r0" % (noc, b), "b64"
            yield "mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %s, [%s], 5" % (noc, b), "b64"
            yield "mbarrier.arrive_drop.shared::cta.b64 %s, [%s]" % (noc, b), "b64"
            yield "mbarrier.arrive_drop.shared::cta.b64 %s, [%s], r0" % (noc, b), "b64"
            yield "mbarrier.arrive_drop.expect_tx.shared::cta.b64 %s, [%s], r0" % (noc, b), "b64"
            yield "mbarrier.arrive_drop.noComplete.release.cta.shared::cta.b64 %s, [%s], r0" % (noc, b), "b64"
            yield "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%s]" % b
            yield "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%s], r1" % b
            yield "mbarrier.arrive_drop.expect_tx.release.cluster.shared::cluster.b64 _, [%s], r1" % b
        for tx in ("r0", "1024"):
            for space in ("cta", "cluster"):
                yield "mbarrier.expect_tx.relaxed.%s.shared::cta.b64 [%s], %s" % (space, b, tx)
                yield "mbarrier.complete_tx.relaxed.%s.shared::cta.b64 [%s], %s" % (space, b, tx)
                yield "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%s], %s" % (b, tx)
                yield "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%s], %s" % (b, tx)
        for wait in ("test_wait", "try_wait"):
            for sem in ("", ".acquire.cta", ".acquire.cluster"):
                yield "mbarrier.%s%s.shared::cta.b64 p2, [%s], rd2" % (wait, sem, b), "pred"
                for parity in ("r0", "0", "1"):
                    yield "mbarrier.%s.parity%s.shared::cta.b64 p2, [%s], %s" % (wait, sem, b, parity), "pred"
            if wait == "try_wait":
                yield "mbarrier.try_wait.shared::cta.b64 p2, [%s], rd2, r1" % b, "pred"
                yield "mbarrier.try_wait.parity.shared::cta.b64 p2, [%s], r0, r1" % b, "pred"
                yield "mbarrier.try_wait.parity.shared::cta.b64 p2, [%s], r0, 1000" % b, "pred"
        yield "cp.async.mbarrier.arrive.shared.b64 [%s]" % b
        yield "cp.async.mbarrier.arrive.noinc.shared.b64 [%s]" % b
    yield "mbarrier.pending_count.b64 q0, rd2", "b32"
    yield "mbarrier.init.b64 [rd2], 3"
    yield "mbarrier.arrive.b64 qd0, [rd2]", "b64"
    yield "mbarrier.try_wait.b64 p2, [rd2], rd3", "pred"


def tensors():
    coordinates = ["{r0}", "{r0,r1}", "{r0,r1,r2}", "{r0,r1,r2,r3}", "{r0,r1,r2,r3,r4}"]
    for base in ("rd5", "rd2"):
        for n, c in enumerate(coordinates, 1):
            for multicast, hint in product(("", ".multicast::cluster"), ("", ".L2::cache_hint")):
                tail = (", h0" if multicast else "") + (", rd3" if hint else "")
                yield "cp.async.bulk.tensor.%dd.shared::cluster.global.mbarrier::complete_tx::bytes%s%s [r21], [%s, %s], [r20]%s" % (n, multicast, hint, base, c, tail)
                if n >= 3:
                    offsets = "{" + ",".join("h%d" % (i + 1) for i in range(n - 2)) + "}"
                    yield "cp.async.bulk.tensor.%dd.shared::cluster.global.im2col.mbarrier::complete_tx::bytes%s%s [r21], [%s, %s], [r20], %s%s" % (n, multicast, hint, base, c, offsets, tail)
            for hint in ("", ".L2::cache_hint"):
                tail = ", rd3" if hint else ""
                yield "cp.async.bulk.tensor.%dd.global.shared::cta.bulk_group%s [%s, %s], [r21]%s" % (n, hint, base, c, tail)
                if n >= 3:
                    yield "cp.async.bulk.tensor.%dd.global.shared::cta.im2col_no_offs.bulk_group%s [%s, %s], [r21]%s" % (n, hint, base, c, tail)
                for op in "add min max inc dec and or xor".split() if n in (1, 2) or base == "rd2" else ["add"]:
                    yield "cp.reduce.async.bulk.tensor.%dd.global.shared::cta.%s.tile.bulk_group%s [%s, %s], [r21]%s" % (n, op, hint, base, c, tail)
                if n >= 3:
                    yield "cp.reduce.async.bulk.tensor.%dd.global.shared::cta.add.im2col_no_offs.bulk_group%s [%s, %s], [r21]%s" % (n, hint, base, c, tail)
                yield "cp.async.bulk.prefetch.tensor.%dd.L2.global%s [%s, %s]%s" % (n, hint, base, c, tail)
                if n >= 3:
                    yield "cp.async.bulk.prefetch.tensor.%dd.L2.global.im2col%s [%s, %s], %s%s" % (n, hint, base, c, offsets, tail)
        yield "prefetch.tensormap [%s]" % base
        yield "fence.proxy.tensormap::generic.acquire.gpu [%s], 128" % base
        yield "fence.proxy.tensormap::generic.acquire.cta [%s], 128" % base
        yield "fence.proxy.tensormap::generic.acquire.cluster [%s], 128" % base
        yield "fence.proxy.tensormap::generic.acquire.sys [%s], 128" % base
    for scope in "cta cluster gpu sys".split():
        yield "fence.proxy.tensormap::generic.release.%s" % scope


def bulk():
    for size in ("r0", "1024", "16"):
        for hint in ("", ".L2::cache_hint"):
            tail = ", rd3" if hint else ""
            yield "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes%s [r21], [rd2], %s, [r20]%s" % (hint, size, tail)
            yield "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster%s [r21], [rd2], %s, [r20], h0%s" % (hint, size, tail)
            yield "cp.async.bulk.global.shared::cta.bulk_group%s [rd2], [r21], %s%s" % (hint, size, tail)
            yield "cp.async.bulk.prefetch.L2.global%s [rd2], %s%s" % (hint, size, tail)
        yield "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [r21], [r22], %s, [r20]" % size
    for op, types in {"add": "u32 s32 u64 f16 bf16 f32 f64", "min": "u32 s32 u64 s64 f16 bf16", "max": "u32 s32 u64 s64 f16 bf16",
                      "inc": "u32", "dec": "u32", "and": "b32 b64", "or": "b32 b64", "xor": "b32 b64"}.items():
        for t in types.split():
            noftz = ".noftz" if t in ("f16", "bf16") and op == "add" else ""
            for hint in ("", ".L2::cache_hint"):
                yield "cp.reduce.async.bulk.global.shared::cta.bulk_group%s.%s%s.%s [rd2], [r21], r0%s" % (hint, op, noftz, t, ", rd3" if hint else "")
    for op, t in product("add min max inc dec and or xor".split(), ("u32", "s32", "u64", "b32")):
        if (t == "b32") == (op in ("and", "or", "xor")) and not (t == "u64" and op != "add") and not (op in ("inc", "dec") and t != "u32"):
            yield "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.%s.%s [r21], [r22], r0, [r20]" % (op, t)
    yield "cp.async.bulk.commit_group"
    for n in range(8):
        yield "cp.async.bulk.wait_group %d" % n
        yield "cp.async.bulk.wait_group.read %d" % n


def clusters():
    for arrive in ("", ".release", ".relaxed"):
        for aligned in ("", ".aligned"):
            yield "barrier.cluster.arrive%s%s; barrier.cluster.wait%s%s" % (arrive, aligned, "" if arrive != ".release" else ".acquire", aligned)
    yield "barrier.cluster.arrive; @p0 barrier.cluster.wait"
    yield "mapa.shared::cluster.u32 q0, r21, r0", "b32"
    yield "mapa.shared::cluster.u32 q0, r21, 1", "b32"
    yield "mapa.u64 qd0, rd2, r0", "b64"
    yield "getctarank.shared::cluster.u32 q0, r21", "b32"
    yield "getctarank.u64 q0, rd2", "b32"
    yield "isspacep.shared::cluster p2, rd2", "pred"
    yield "isspacep.shared::cta p2, rd2", "pred"
    yield "cvta.shared::cluster.u64 qd0, rd2", "b64"
    for t, v in (("b8", "r0"), ("b16", "h0"), ("b32", "r0"), ("b64", "rd2"), ("v4.b32", "{r0,r1,r2,r3}"), ("v2.b32", "{r0,r1}"), ("v2.b64", "{rd2,rd3}")):
        yield "mapa.shared::cluster.u32 r25, r22, 1; st.shared::cluster.%s [r25+16], %s" % (t, v)
        yield "mapa.shared::cluster.u32 r25, r22, r1; st.shared::cluster.%s [r25], %s" % (t, v)
    for t, v, s in (("b32", "q0", "b32"), ("b64", "qd0", "b64"), ("v4.b32", "{q0,q1,q2,q3}", "v4"), ("v2.b32", "{q0,q1}", "v2"), ("u8", "q0", "b32"), ("s16", "q0", "b32")):
        yield "mapa.shared::cluster.u32 r25, r22, 1; ld.shared::cluster.%s %s, [r25+16]" % (t, v), s
        yield "ld.shared::cluster.%s %s, [r0+16]" % (t, v), s
        yield "ld.acquire.cluster.shared::cluster.%s %s, [r0]" % (t, v), s if "v" not in t else None
    for op in "add min max inc dec and or xor exch".split():
        t = "b32" if op in ("and", "or", "xor", "exch") else "u32"
        yield "atom.shared::cluster.%s.%s q0, [r0], r1" % (op, t), "b32"
        if op != "exch":
            yield "red.shared::cluster.%s.%s [r0], r1" % (op, t)
    yield "atom.shared::cluster.cas.b32 q0, [r0], r1, r2", "b32"
    yield "atom.shared::cluster.add.u64 qd0, [r0], rd2", "b64"
    for t, v in (("b32", "r0"), ("b64", "rd2"), ("v2.b32", "{r0,r1}"), ("v4.b32", "{r0,r1,r2,r3}"), ("f32", "f0"), ("v2.b64", "{rd2,rd3}")):
        for address in ("r22", "r22+64", "r3"):
            yield "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.%s [%s], %s, [r20]" % (t, address, v)
            yield "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.%s [%s], %s, [r9]" % (t, address, v)
    for op, t, v in (("add", "u32", "r0"), ("add", "s32", "r0"), ("add", "u64", "rd2"), ("min", "u32", "r0"), ("max", "s32", "r0"), ("inc", "u32", "r0"), ("dec", "u32", "r0"), ("and", "b32", "r0"), ("or", "b32", "r0"), ("xor", "b32", "r0")):
        yield "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.%s.%s [r22], %s, [r20]" % (op, t, v)
    for sr in "cluster_ctarank cluster_nctarank clusterid.x clusterid.y clusterid.z nclusterid.x nclusterid.y cluster_ctaid.x cluster_ctaid.y cluster_nctaid.x cluster_nctaid.y is_explicit_cluster total_smem_size dynamic_smem_size aggr_smem_size warpid nwarpid smid nsmid gridid reserved_smem_offset_begin".split():
        if sr == "is_explicit_cluster":
            yield "mov.pred p2, %is_explicit_cluster", "pred"
        elif sr == "gridid":
            yield "mov.u64 qd0, %gridid", "b64"
        else:
            yield "mov.u32 q0, %%%s" % sr, "b32"


def fences():
    for scope in "cta cluster gpu sys".split():
        yield "fence.acq_rel.%s" % scope
        yield "fence.sc.%s" % scope
        yield "fence.proxy.tensormap::generic.release.%s" % scope
    for space in ("", ".global", ".shared::cta", ".shared::cluster"):
        yield "fence.proxy.async%s" % space
    yield "fence.proxy.alias"
    yield "fence.mbarrier_init.release.cluster"
    yield "membar.proxy.alias" if False else "membar.gl"
    yield "membar.cta"
    yield "membar.sys"
    yield "griddepcontrol.launch_dependents"
    yield "griddepcontrol.wait"
    yield "elect.sync q0|p2, 0xffffffff", "b32"
    yield "elect.sync _|p2, 0xffffffff", "pred"
    yield "elect.sync q0|p2, r0", "b32"
    yield "elect.sync _|p2, r0; @!p2 ret", "pred"
    for n in (24, 40, 128, 232, 240):
        yield "setmaxnreg.inc.sync.aligned.u32 %d" % n
        if n <= 168:  # not above what 384 threads start with
            yield "setmaxnreg.dec.sync.aligned.u32 %d" % n


def copies():
    for size, cache in (("4", "ca"), ("8", "ca"), ("16", "ca"), ("16", "cg")):
        for hint, prefetch, ignore in product(("", ".L2::cache_hint"), ("", ".L2::64B", ".L2::128B", ".L2::256B"), ("", ", p0", ", r1")):
            if hint and ignore == ", p0":
                continue
            yield "cp.async.%s.shared.global%s%s [r22], [rd2], %s%s%s" % (cache, hint, prefetch, size, ignore, ", rd3" if hint else "")
        yield "cp.async.%s.shared.global [r22+32], [rd2+128], %s" % (cache, size)
    yield "cp.async.commit_group"
    for n in range(5):
        yield "cp.async.wait_group %d" % n
    yield "cp.async.wait_all"


def matrices():
    for n, out in ((1, "{q0}"), (2, "{q0,q1}"), (4, "{q0,q1,q2,q3}")):
        for trans, address in product(("", ".trans"), ("r22", "r22+64", "r0", "tile", "tile+128")):
            yield "ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 %s, [%s]" % (n, trans, out, address), {1: "b32", 2: "v2", 4: "v4"}[n]
            yield "stmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%s], %s" % (n, trans, address, out.replace("q", "r"))
    yield "movmatrix.sync.aligned.m8n8.trans.b16 q0, r0", "b32"


def products():
    """mma.sync: every shape and type."""
    f4d, f4c = "{f8,f9,f10,f11}", "{f0,f1,f2,f3}"
    i4d, i4c = "{q0,q1,q2,q3}", "{r8,r9,r10,r11}"
    a4, a2, b2, b1 = "{r0,r1,r2,r3}", "{r0,r1}", "{r4,r5}", "{r4}"
    zero4 = "{0f00000000,0f00000000,0f00000000,0f00000000}"
    for k, a, b in (("8", a2, b1), ("16", a4, b2)):
        for c in (f4c, zero4):
            yield "mma.sync.aligned.m16n8k%s.row.col.f32.f16.f16.f32 %s, %s, %s, %s" % (k, f4d, a, b, c), "f4"
            yield "mma.sync.aligned.m16n8k%s.row.col.f32.bf16.bf16.f32 %s, %s, %s, %s" % (k, f4d, a, b, c), "f4"
        yield "mma.sync.aligned.m16n8k%s.row.col.f16.f16.f16.f16 {q0,q1}, %s, %s, {r8,r9}" % (k, a, b), "v2"
        yield "mma.sync.aligned.m16n8k%s.row.col.f32.f16.f16.f16 %s, %s, %s, {r8,r9}" % (k, f4d, a, b) if False else "membar.cta"
    for k, a, b in (("4", a2, b1), ("8", a4, b2)):
        yield "mma.sync.aligned.m16n8k%s.row.col.f32.tf32.tf32.f32 %s, %s, %s, %s" % (k, f4d, a, b, f4c), "f4"
    for sat, s, t in product(("", ".satfinite"), ("s8", "u8"), ("s8", "u8")):
        yield "mma.sync.aligned.m8n8k16.row.col%s.s32.%s.%s.s32 {q0,q1}, {r0}, {r4}, {r8,r9}" % (sat, s, t), "v2"
        yield "mma.sync.aligned.m16n8k16.row.col%s.s32.%s.%s.s32 %s, %s, %s, %s" % (sat, s, t, i4d, a2, b1, i4c), "v4"
        yield "mma.sync.aligned.m16n8k32.row.col%s.s32.%s.%s.s32 %s, %s, %s, %s" % (sat, s, t, i4d, a4, b2, i4c), "v4"
        yield "mma.sp.sync.aligned.m16n8k32.row.col%s.s32.%s.%s.s32 %s, %s, %s, %s, r6, 0x0" % (sat, s, t, i4d, a2, b2, i4c), "v4"
        yield "mma.sp.sync.aligned.m16n8k64.row.col%s.s32.%s.%s.s32 %s, %s, {r4,r5,r6,r7}, %s, r6, 0x0" % (sat, s, t, i4d, a4, i4c), "v4"
    for sat, s, t in product(("", ".satfinite"), ("s4", "u4"), ("s4", "u4")):
        yield "mma.sync.aligned.m8n8k32.row.col%s.s32.%s.%s.s32 {q0,q1}, {r0}, {r4}, {r8,r9}" % (sat, s, t), "v2"
        yield "mma.sync.aligned.m16n8k32.row.col%s.s32.%s.%s.s32 %s, %s, %s, %s" % (sat, s, t, i4d, a2, b1, i4c), "v4"
        yield "mma.sync.aligned.m16n8k64.row.col%s.s32.%s.%s.s32 %s, %s, %s, %s" % (sat, s, t, i4d, a4, b2, i4c), "v4"
    for op in ("xor", "and"):
        yield "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.%s.popc {q0,q1}, {r0}, {r4}, {r8,r9}" % op, "v2"
        yield "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.%s.popc %s, %s, %s, %s" % (op, i4d, a2, b1, i4c), "v4"
        yield "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.%s.popc %s, %s, %s, %s" % (op, i4d, a4, b2, i4c), "v4"
    for t, s in product(("f16", "bf16"), ("0x0", "0x1")):
        yield "mma.sp.sync.aligned.m16n8k16.row.col.f32.%s.%s.f32 %s, %s, %s, %s, r6, %s" % (t, t, f4d, a2, b2, f4c, s), "f4"
        yield "mma.sp.sync.aligned.m16n8k32.row.col.f32.%s.%s.f32 %s, %s, {r4,r5,r6,r7}, %s, r6, %s" % (t, t, f4d, a4, f4c, s), "f4"
    yield "mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {q0,q1}, %s, {r4,r5,r6,r7}, {r8,r9}, r6, 0x1" % a4, "v2"
    yield "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {q0,q1}, %s, {r4,r5}, {r8,r9}, r6, 0x1" % a2, "v2"
    for s in ("0x0", "0x1"):
        yield "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 %s, %s, %s, %s, r6, %s" % (f4d, a2, b2, f4c, s), "f4"
        yield "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 %s, %s, {r4,r5,r6,r7}, %s, r6, %s" % (f4d, a4, f4c, s), "f4"
    for a, b in product(("e4m3", "e5m2"), ("e4m3", "e5m2")):
        yield "mma.sync.aligned.m16n8k32.row.col.f32.%s.%s.f32 %s, %s, %s, %s" % (a, b, f4d, a4, b2, f4c), "f4"
    load = "ld.global.v2.f64 {d0,d1},[rd0+128]; ld.global.v2.f64 {d2,d3},[rd0+144]; ld.global.v2.f64 {d4,d5},[rd0+160]; ld.global.v2.f64 {d6,d7},[rd0+176]; ld.global.v2.f64 {d8,d9},[rd0+192]; ld.global.v2.f64 {d10,d11},[rd0+208]; ld.global.v2.f64 {d12,d13},[rd0+224]; ld.global.v2.f64 {d14,d15},[rd0+240]; "
    store = "; st.global.v2.f64 [rd0+512], {d16,d17}; st.global.v2.f64 [rd0+528], {d18,d19}"
    for rnd in ("", ".rz", ".rm", ".rp", ".rn"):
        yield load + "mma.sync.aligned.m8n8k4.row.col%s.f64.f64.f64.f64 {d16,d17}, {d0}, {d1}, {d2,d3}; mov.f64 d18, d16; mov.f64 d19, d17" % ("" if not rnd else "" if rnd == ".rn" else "") .strip() + store
    yield load + "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {d16,d17,d18,d19}, {d0,d1}, {d8}, {d12,d13,d14,d15}" + store
    yield load + "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {d16,d17,d18,d19}, {d0,d1,d2,d3}, {d8,d9}, {d12,d13,d14,d15}" + store
    yield load + "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {d16,d17,d18,d19}, {d0,d1,d2,d3,d4,d5,d6,d7}, {d8,d9,d10,d11}, {d12,d13,d14,d15}" + store
    for la, lb in product(("row", "col"), ("row", "col")):
        yield "mma.sync.aligned.m8n8k4.%s.%s.f16.f16.f16.f16 {q0,q1,q2,q3}, {r0,r1}, {r4,r5}, {r8,r9,r10,r11}" % (la, lb), "v4"


def scalars():
    for op, t in product("add min max and or xor".split(), ("u32", "s32", "b32")):
        if (t == "b32") == (op in ("and", "or", "xor")):
            yield "redux.sync.%s.%s q0, r0, 0xffffffff" % (op, t), "b32"
    yield "activemask.b32 q0", "b32"
    yield "createpolicy.fractional.L2::evict_first.b64 qd0, 1.0", "b64"
    yield "discard.global.L2 [rd0], 128"
    yield "applypriority.global.L2::evict_normal [rd0], 128"
    yield "prefetch.global.L2::evict_last [rd0]"
    yield "prefetchu.L1 [rd0]"


def main():
    number = 0
    print(HEADER)
    for family in (barriers, tensors, bulk, clusters, fences, copies, matrices, products, scalars):
        for item in family():
            statement, store = item if isinstance(item, tuple) else (item, None)
            number += 1
            directive = CLUSTER if family is clusters and number % 2 else THREADS if "setmaxnreg" in statement else ""
            print("// %s\n" % family.__name__ + KERNEL % (number, directive, "  %s; %s" % (statement, STORES.get(store, ""))))


if __name__ == "__main__":
    main()
