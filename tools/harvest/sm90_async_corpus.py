"""Writes PTX that makes ptxas emit the asynchronous engines, barriers and clusters of sm_90a:
sm90_async_corpus.py > async.ptx, then ptxas -arch=sm_90a async.ptx -o async.cubin.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ptx_kernel import HEADER, Statement, kernels

CLUSTER = " .explicitcluster .reqnctapercluster 2,1,1"
THREADS = " .reqntid 384,1,1 .minnctapersm 1"
BULK = "cp.async.bulk"
REDUCE = "cp.reduce.async.bulk"
TO_CLUSTER = "shared::cluster.global"
TO_GLOBAL = "global.shared::cta"
DONE = "mbarrier::complete_tx::bytes"
HINTS = (("", ""), (".L2::cache_hint", ", rd3"))  # of an instruction, and its operand
REDUCTIONS = "add min max inc dec and or xor".split()
BITWISE = ("and", "or", "xor")
SCOPES = "cta cluster gpu sys".split()


def barriers() -> Iterator[Statement]:
    for b in ("r20", "r20+64"):
        yield from (f"mbarrier.init.shared.b64 [{b}], {count}" for count in ("1", "r0", "128"))
        yield f"mbarrier.inval.shared.b64 [{b}]"
        yield from arrivals(b)
        for tx, act in product(("r0", "1024"), ("expect_tx", "complete_tx")):
            for space in ("cta.shared::cta", "cluster.shared::cta", "cluster.shared::cluster"):
                yield f"mbarrier.{act}.relaxed.{space}.b64 [{b}], {tx}"
        yield from waits(b)
        yield f"cp.async.mbarrier.arrive.shared.b64 [{b}]"
        yield f"cp.async.mbarrier.arrive.noinc.shared.b64 [{b}]"
    yield "mbarrier.pending_count.b64 q0, rd2", "b32"
    yield "mbarrier.init.b64 [rd2], 3"
    yield "mbarrier.arrive.b64 qd0, [rd2]", "b64"
    yield "mbarrier.try_wait.b64 p2, [rd2], rd3", "pred"


def arrivals(b: str) -> Iterator[Statement]:
    own, others = "shared::cta.b64", "shared::cluster.b64"
    for sem in ("", ".release.cta"):
        yield f"mbarrier.arrive{sem}.{own} qd0, [{b}]", "b64"
        for count in ("r0", "3", "1"):
            yield f"mbarrier.arrive{sem}.{own} qd0, [{b}], {count}", "b64"
        for tx in ("r0", "8192"):
            yield f"mbarrier.arrive.expect_tx{sem}.{own} qd0, [{b}], {tx}", "b64"
            yield f"mbarrier.arrive.expect_tx{sem}.{own} _, [{b}], {tx}"
    yield f"mbarrier.arrive.release.cta.{own} _, [{b}]"
    yield f"mbarrier.arrive.release.cluster.{own} _, [{b}]"
    for tail in ("", ", r1", ", 4"):
        yield f"mbarrier.arrive.release.cluster.{others} _, [{b}]{tail}"
    for tail in ("r1", "4096"):
        yield f"mbarrier.arrive.expect_tx.release.cluster.{others} _, [{b}], {tail}"
    for count in ("r0", "5"):
        yield f"mbarrier.arrive.noComplete.release.cta.{own} qd0, [{b}], {count}", "b64"
    yield f"mbarrier.arrive_drop.{own} qd0, [{b}]", "b64"
    for kind in ("", ".expect_tx", ".noComplete.release.cta"):
        yield f"mbarrier.arrive_drop{kind}.{own} qd0, [{b}], r0", "b64"
    for kind, tail in (("", ""), ("", ", r1"), (".expect_tx", ", r1")):
        yield f"mbarrier.arrive_drop{kind}.release.cluster.{others} _, [{b}]{tail}"


def waits(b: str) -> Iterator[Statement]:
    for wait, sem in product(("test_wait", "try_wait"), ("", ".acquire.cta", ".acquire.cluster")):
        yield f"mbarrier.{wait}{sem}.shared::cta.b64 p2, [{b}], rd2", "pred"
        for parity in ("r0", "0", "1"):
            yield f"mbarrier.{wait}.parity{sem}.shared::cta.b64 p2, [{b}], {parity}", "pred"
    yield f"mbarrier.try_wait.shared::cta.b64 p2, [{b}], rd2, r1", "pred"
    for time in ("r1", "1000"):
        yield f"mbarrier.try_wait.parity.shared::cta.b64 p2, [{b}], r0, {time}", "pred"


def tensors() -> Iterator[Statement]:
    for base in ("rd5", "rd2"):  # a parameter, an address
        for n in range(1, 6):
            at = f"[{base}, {{" + ",".join(f"r{i}" for i in range(n)) + "}]"
            offsets = "{" + ",".join(f"h{i + 1}" for i in range(n - 2)) + "}" if n >= 3 else ""
            for hint, policy in HINTS:
                yield from boxes(n, at, offsets, hint, policy, REDUCTIONS if n < 3 or base == "rd2" else ["add"])
        yield f"prefetch.tensormap [{base}]"
        yield from (f"fence.proxy.tensormap::generic.acquire.{scope} [{base}], 128" for scope in SCOPES)
    yield from (f"fence.proxy.tensormap::generic.release.{scope}" for scope in SCOPES)


def boxes(n: int, at: str, offsets: str, hint: str, policy: str, reductions: list[str]) -> Iterator[Statement]:
    """Loads, stores, reductions and prefetches of a box of rank n; offsets: those of im2col, if it has that."""
    tensor = f"{BULK}.tensor.{n}d"
    for cast, mask in (("", ""), (".multicast::cluster", ", h0")):
        tail = mask + policy
        yield f"{tensor}.{TO_CLUSTER}.{DONE}{cast}{hint} [r21], {at}, [r20]{tail}"
        if offsets:
            yield f"{tensor}.{TO_CLUSTER}.im2col.{DONE}{cast}{hint} [r21], {at}, [r20], {offsets}{tail}"
    yield f"{tensor}.{TO_GLOBAL}.bulk_group{hint} {at}, [r21]{policy}"
    for op in reductions:
        yield f"{REDUCE}.tensor.{n}d.{TO_GLOBAL}.{op}.tile.bulk_group{hint} {at}, [r21]{policy}"
    yield f"{BULK}.prefetch.tensor.{n}d.L2.global{hint} {at}{policy}"
    if offsets:
        yield f"{tensor}.{TO_GLOBAL}.im2col_no_offs.bulk_group{hint} {at}, [r21]{policy}"
        yield f"{REDUCE}.tensor.{n}d.{TO_GLOBAL}.add.im2col_no_offs.bulk_group{hint} {at}, [r21]{policy}"
        yield f"{BULK}.prefetch.tensor.{n}d.L2.global.im2col{hint} {at}, {offsets}{policy}"


def bulk() -> Iterator[Statement]:
    for size in ("r0", "1024", "16"):
        for hint, policy in HINTS:
            yield f"{BULK}.{TO_CLUSTER}.{DONE}{hint} [r21], [rd2], {size}, [r20]{policy}"
            yield f"{BULK}.{TO_CLUSTER}.{DONE}.multicast::cluster{hint} [r21], [rd2], {size}, [r20], h0{policy}"
            yield f"{BULK}.{TO_GLOBAL}.bulk_group{hint} [rd2], [r21], {size}{policy}"
            yield f"{BULK}.prefetch.L2.global{hint} [rd2], {size}{policy}"
        yield f"{BULK}.shared::cluster.shared::cta.{DONE} [r21], [r22], {size}, [r20]"
    ordered = "u32 s32 u64 s64 f16 bf16"
    types = {"add": "u32 s32 u64 f16 bf16 f32 f64", "min": ordered, "max": ordered, "inc": "u32", "dec": "u32"}
    for op in REDUCTIONS:
        for t in types.get(op, "b32 b64").split():
            noftz = ".noftz" if t in ("f16", "bf16") and op == "add" else ""
            for hint, policy in HINTS:
                yield f"{REDUCE}.{TO_GLOBAL}.bulk_group{hint}.{op}{noftz}.{t} [rd2], [r21], r0{policy}"
    types = {"add": "u32 s32 u64", "min": "u32 s32", "max": "u32 s32", "inc": "u32", "dec": "u32"}
    for op in REDUCTIONS:
        for t in types.get(op, "b32").split():
            yield f"{REDUCE}.shared::cluster.shared::cta.{DONE}.{op}.{t} [r21], [r22], r0, [r20]"
    yield f"{BULK}.commit_group"
    for n in range(8):
        yield f"{BULK}.wait_group {n}"
        yield f"{BULK}.wait_group.read {n}"


def clusters() -> Iterator[Statement]:
    for arrive, aligned in product(("", ".release", ".relaxed"), ("", ".aligned")):
        acquire = ".acquire" if arrive == ".release" else ""
        yield f"barrier.cluster.arrive{arrive}{aligned}; barrier.cluster.wait{acquire}{aligned}"
    yield "barrier.cluster.arrive; @p0 barrier.cluster.wait"
    yield "mapa.shared::cluster.u32 q0, r21, r0", "b32"
    yield "mapa.shared::cluster.u32 q0, r21, 1", "b32"
    yield "mapa.u64 qd0, rd2, r0", "b64"
    yield "getctarank.shared::cluster.u32 q0, r21", "b32"
    yield "getctarank.u64 q0, rd2", "b32"
    yield "isspacep.shared::cluster p2, rd2", "pred"
    yield "isspacep.shared::cta p2, rd2", "pred"
    yield "cvta.shared::cluster.u64 qd0, rd2", "b64"
    yield from others_memory()
    yield from others_atomics()
    yield from special_registers()


def others_memory() -> Iterator[Statement]:
    """Loads and stores of shared memory across the cluster, st.async."""
    four, two = "{r0,r1,r2,r3}", "{r0,r1}"
    stored = {"b8": "r0", "b16": "h0", "b32": "r0", "b64": "rd2", "v4.b32": four, "v2.b32": two, "v2.b64": "{rd2,rd3}"}
    for t, v in stored.items():
        yield f"mapa.shared::cluster.u32 r25, r22, 1; st.shared::cluster.{t} [r25+16], {v}"
        yield f"mapa.shared::cluster.u32 r25, r22, r1; st.shared::cluster.{t} [r25], {v}"
    for t, v, s in (
        ("b32", "q0", "b32"),
        ("b64", "qd0", "b64"),
        ("v4.b32", "{q0,q1,q2,q3}", "v4"),
        ("v2.b32", "{q0,q1}", "v2"),
        ("u8", "q0", "b32"),
        ("s16", "q0", "b32"),
    ):
        yield f"mapa.shared::cluster.u32 r25, r22, 1; ld.shared::cluster.{t} {v}, [r25+16]", s
        yield f"ld.shared::cluster.{t} {v}, [r0+16]", s
        yield f"ld.acquire.cluster.shared::cluster.{t} {v}, [r0]", s
    sent = {"b32": "r0", "b64": "rd2", "v2.b32": two, "v4.b32": four, "f32": "f0", "v2.b64": "{rd2,rd3}"}
    for (t, v), at, bar in product(sent.items(), ("r22", "r22+64", "r3"), ("r20", "r9")):
        yield f"st.async.weak.shared::cluster.{DONE}.{t} [{at}], {v}, [{bar}]"


def others_atomics() -> Iterator[Statement]:
    for op in [*REDUCTIONS, "exch"]:
        t = "b32" if op in (*BITWISE, "exch") else "u32"
        yield f"atom.shared::cluster.{op}.{t} q0, [r0], r1", "b32"
        if op != "exch":
            yield f"red.shared::cluster.{op}.{t} [r0], r1"
    yield "atom.shared::cluster.cas.b32 q0, [r0], r1, r2", "b32"
    yield "atom.shared::cluster.add.u64 qd0, [r0], rd2", "b64"
    kinds = "add.u32 add.s32 add.u64 min.u32 max.s32 inc.u32 dec.u32 and.b32 or.b32 xor.b32"
    for kind in kinds.split():
        v = "rd2" if kind.endswith("64") else "r0"
        yield f"red.async.relaxed.cluster.shared::cluster.{DONE}.{kind} [r22], {v}, [r20]"


def special_registers() -> Iterator[Statement]:
    names = (
        "cluster_ctarank cluster_nctarank clusterid.x clusterid.y clusterid.z nclusterid.x nclusterid.y cluster_ctaid.x"
        " cluster_ctaid.y cluster_nctaid.x cluster_nctaid.y total_smem_size dynamic_smem_size aggr_smem_size warpid"
        " nwarpid smid nsmid reserved_smem_offset_begin"
    )
    yield from ((f"mov.u32 q0, %{name}", "b32") for name in names.split())
    yield "mov.pred p2, %is_explicit_cluster", "pred"
    yield "mov.u64 qd0, %gridid", "b64"


def fences() -> Iterator[Statement]:
    for scope in SCOPES:
        yield f"fence.acq_rel.{scope}"
        yield f"fence.sc.{scope}"
        yield f"fence.proxy.tensormap::generic.release.{scope}"
    yield from (f"fence.proxy.async{space}" for space in ("", ".global", ".shared::cta", ".shared::cluster"))
    yield from ("fence.proxy.alias", "fence.mbarrier_init.release.cluster", "membar.gl", "membar.cta", "membar.sys")
    yield "griddepcontrol.launch_dependents"
    yield "griddepcontrol.wait"
    yield "elect.sync q0|p2, 0xffffffff", "b32"
    yield "elect.sync _|p2, 0xffffffff", "pred"
    yield "elect.sync q0|p2, r0", "b32"
    yield "elect.sync _|p2, r0; @!p2 ret", "pred"


def register_limits() -> Iterator[Statement]:
    for n in (24, 40, 128, 232, 240):
        yield f"setmaxnreg.inc.sync.aligned.u32 {n}"
        if n <= 168:  # not above what 384 threads start with
            yield f"setmaxnreg.dec.sync.aligned.u32 {n}"


def copies() -> Iterator[Statement]:
    prefetches = ("", ".L2::64B", ".L2::128B", ".L2::256B")
    for size, cache in (("4", "ca"), ("8", "ca"), ("16", "ca"), ("16", "cg")):
        for (hint, policy), prefetch, ignore in product(HINTS, prefetches, ("", ", p0", ", r1")):
            if not (hint and ignore == ", p0"):
                yield f"cp.async.{cache}.shared.global{hint}{prefetch} [r22], [rd2], {size}{ignore}{policy}"
        yield f"cp.async.{cache}.shared.global [r22+32], [rd2+128], {size}"
    yield "cp.async.commit_group"
    yield from (f"cp.async.wait_group {n}" for n in range(5))
    yield "cp.async.wait_all"


def main() -> None:
    print(HEADER)
    number = 1
    for family in (barriers, tensors, bulk, clusters, fences, register_limits, copies):
        everywhere = THREADS if family is register_limits else ""
        for statement in family():
            # Every other kernel of the cluster's family has the size of its cluster in its header.
            directive = CLUSTER if family is clusters and number % 2 else everywhere
            print(*kernels(iter([statement]), number, directive))
            number += 1


if __name__ == "__main__":
    main()
