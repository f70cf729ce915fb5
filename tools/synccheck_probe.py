#!/usr/bin/env python3
"""Which ways to address an mbarrier synccheck of compute-sanitizer follows: right kernels of a few lines each.

    tools/synccheck_probe.py [--out FILE]         runs each case under synccheck and prints what it said
    tools/synccheck_probe.py --case NAME          runs one case, on the device that is there

A case is FORM-RANK-SYNC. FORM: the address of the arrival and the wait is u [UR], ui [UR+8], r [R+URZ], ru [R+UR],
rui [R+UR+8]. RANK: none, or the CTA's number in a cluster of 2 << 24, as engines know the address. SYNC: bar between
the initialisation and its use, or warp: only a BSYNC, in the warp that made it. ptxas: what it makes of
test/data/cubin/synccheck.ptx, to compare with.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from checkers import find_sanitizer, findings, finished

FORMS = {"u": "[UR9]", "ui": "[UR8+0x8]", "r": "[R9+URZ]", "ru": "[R8+UR8]", "rui": "[R7+UR8+0x8]"}
CONTROL = "ptxas"
CUBIN = Path(__file__).resolve().parent.parent / "test/data/cubin/synccheck.sm_90a.cubin"
CASES = [CONTROL, *("-".join(c) for c in itertools.product(FORMS, ("none", "rank"), ("bar", "warp")))]

TEXT = """
.kernel probe
.arch sm_90a
.param ptr out
.threads 32
.shared 64
{cluster}
  S2R R0, SR_TID.X
  S2R R1, SR_CTAID.X
  ULDC.64 UR4, sys[descriptor]
  {shift}
  R2UR UR6, R2
  UIADD3 UR8, UR6, {{SHARED_BASE:x}}, URZ
  UIADD3 UR9, UR8, 0x8, URZ
  MOV R9, UR9
  MOV R8, 0x8
  MOV R7, RZ
  ISETP.EQ.AND P0, PT, R0, RZ, PT
  BSSY B0, `(made)
  @!P0 BRA `(started)
  UMOV UR12, {{(1 << 21) - 2:x}}
  UMOV UR13, {{(1 << 31) - (1 << 11):x}}
  SYNCS.EXCH.64 URZ, [UR8+0x8], UR12
??:4:?:?:? MEMBAR.ALL.CTA
10:?:5:?:? FENCE.VIEW.ASYNC.S
20:?:?:?:? MOV R2, RZ
started:
  BSYNC B0
made:
  {bar}
  @P0 SYNCS.ARRIVE.TRANS64.A1T0 RZ, {at}, RZ
again:
  SYNCS.PHASECHK.TRANS64.TRYWAIT P1, {at}, RZ
  @!P1 BRA again
  MOV R2, param[out]
  MOV R3, param[out+4]
  IMAD R1, R1, 0x20, R0
  IMAD.WIDE.U32 R2, R1, 0x4, R2
  STG.E desc[UR4][R2.64], R1
  EXIT
"""


def text_of(case: str) -> str:
    """The template of a case."""
    form, rank, sync = case.split("-")
    return TEXT.format(
        at=FORMS[form],
        cluster=".cluster 2" if rank == "rank" else "",
        shift="SHF.L.U32 R2, R1, 0x18, RZ" if rank == "rank" else "MOV R2, RZ",
        bar="WARPSYNC.ALL\n  BAR.SYNC.DEFER_BLOCKING 0x0" if sync == "bar" else "",
    )


def run(case: str) -> None:
    """Launch it and look at what it wrote."""
    import nervanagpu as ng

    if case == CONTROL:
        out = ng.zeros((32,), dtype="int32")
        ng.load(CUBIN.read_bytes()).probe[1, 32](out)
    else:
        out = ng.zeros((64,), dtype="int32")
        ng.SassModule(text_of(case)).probe[2](out)
    assert out.get().tolist() == list(range(out.size)), case


def main() -> int:
    """Parse the command line, run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--out", type=Path, default=Path("build/synccheck_probe.json"))
    args = parser.parse_args()
    if args.case:
        run(args.case)
        return 0
    sanitizer = find_sanitizer()
    if sanitizer is None:
        print("synccheck_probe: compute-sanitizer is missing (it is part of the CUDA toolkit)", file=sys.stderr)
        return 2
    rows = {}
    for case in CASES:
        command = [sanitizer, "--tool", "synccheck", sys.executable, __file__, "--case", case]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=40, check=False,
                                  env={**os.environ, "NERVANAGPU_DEVICE": "cuda"})  # fmt: skip
            log = done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            log = ""
        said = sorted({f.message for f in findings("synccheck", log, ["probe"])})
        rows[case] = {"ended": finished(log), "said": said}
        print(f"{case:16} {'' if finished(log) else 'did not end; '}{'; '.join(said) or 'nothing'}", flush=True)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
