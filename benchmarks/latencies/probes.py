"""Kernels that measure how many cycles must lie between two instructions.

A probe runs two instructions with a chosen gap between them and compares what comes out with what comes out of a gap
that is certainly long enough. For each gap from 1 on it does so in a loop and counts wrong results. Straight-line code
on addresses of its own, so that a wrong value does no harm. Three kinds:

  RAW  write the target, read it      wrong: the reader saw the old value
  WAW  write the target twice         wrong: the first write landed last
  WAR  read the target, overwrite it  wrong: the reader saw the new value

Results, u32 each, summed over all threads: [0 .. 63] wrong results at that gap, [64] results that depended on the
target at all (else it shows nothing), [65] threads, [66] turns.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from latencies import ops
from latencies.ops import Op

TURNS = 100
GAPS = 64
RESULTS = GAPS + 3
SETTLED = 90  # cycles after which everything has arrived

LOADS = {"LDS", "LDG", "LDC", "MUFU", "I2F", "F2I", "POPC", "FLO", "BREV", "SHFL", "ATOMS", "S2R", "S2UR", "REDUX"}
LOADS |= {"LDL", "LDSM", "MATCH", "ATOMG", "FCHK", "F2F", "FRND"}
STORES = {"STS", "STG", "REDG", "STL", "STSM", "LDGSTS"}


def mnemonic(text: str) -> str:
    return re.sub(r"^@!?U?P\d ", "", text).split()[0].split(".")[0]


def line(text: str, stall: int = 15, wait: str = "3f", board: int = 0) -> str:
    """`text` with its control codes; the scoreboards of loads and stores are `board` and the one after it."""
    op = mnemonic(text)
    reads = str(board + 1) if op in LOADS - {"S2R", "S2UR"} or op in STORES else "-"
    writes = str(board) if op in LOADS else "-"
    yields = "Y" if stall >= 12 else "-"
    return f"  {wait}:{reads}:{writes}:{yields}:{stall} {text}\n"


def settle() -> str:
    return "".join(line("NOP") for _ in range(SETTLED // 15))


def plain(text: str) -> str:
    """Lines that follow, each with all the time it may need; labels as they are."""
    out = ""
    for one in filter(None, (t.strip() for t in text.split("\n"))):
        out += one + "\n" if one.endswith(":") else line(one)
    return out


@dataclass(frozen=True)
class Probe:
    """Two instructions and what surrounds them."""

    kind: str  # RAW, WAW, WAR
    first: Op
    second: Op
    part: str  # lo or hi: the register of the pair that both touch
    name: str
    before: str  # lines that put the old value into the target
    first_text: str
    second_text: str
    after: str  # lines that make R40 and R41 of what came out
    without: str  # the run that must give something else
    longest: int = 15

    def run(self, gap: int, unique: str) -> str:
        """Both instructions `gap` cycles apart, all settled before and after."""
        body = "".join(line(f"MOV R4{k}, RZ") for k in (0, 1)) + plain(self.before) + settle()
        left = gap
        if self.name.startswith("spread_"):  # the same sum of stalls over several instructions
            body += line(self.first_text, 1, "--") + (gap - 1) * line("NOP", 1, "--")
            left = 0
        elif self.first_text.startswith("="):
            body += "".join(f"  {one[1:]}\n" for one in self.first_text.split("\n"))
        else:
            body += line(self.first_text.replace("{u}", unique), min(gap, 15), "--")
            left -= 15
        while left > 0:
            body += line("NOP", min(left, 15), "--")
            left -= 15
        body += line(self.second_text.replace("{u}", unique), 15, "--", board=2)
        return body + settle_label(self.after.replace("{u}", unique))

    def template(self) -> str:
        text = HEAD.format(name=self.name)
        text += self.run(SETTLED, "ref") + plain("MOV R44, R40\nMOV R45, R41")
        text += "".join(line(f"MOV R4{k}, RZ") for k in (0, 1)) + plain(self.before) + settle()
        text += plain(self.without.replace("{u}", "sens")) + settle_label(self.after.replace("{u}", "sens"))
        text += COMPARE.replace("R7", "R8")
        for gap in range(1, self.longest + 1):
            text += plain(f"MOV R7, RZ\nMOV R6, {TURNS:#x}") + f"turn_{gap}:\n" + self.run(gap, f"go_{gap}") + COMPARE
            text += plain(f"IADD3 R6, R6, -0x1, RZ\nISETP.NE.AND P0, PT, R6, RZ, PT\n@P0 BRA `(turn_{gap})")
            text += line(f"REDG.E.ADD.STRONG.GPU desc[UR4][R4.64+{4 * gap:#x}], R7")
        return text + TAIL


def settle_label(after: str) -> str:
    """Waits; but what a branch jumps over follows it at once."""
    head, colon, rest = after.partition(":")
    if colon and "\n" in head:
        return plain(head[: head.rindex("\n")]) + plain(head[head.rindex("\n") + 1 :] + ":") + settle() + plain(rest)
    return settle() + plain(after)


HEAD = """.kernel {name}
.arch sm_90a
.param u64 results
.param u32 zero
.param u32 uniform
.param u64 data
.threads 256
.shared 8192
"""
HEAD += "".join(
    line(t)
    for t in """S2R R0, SR_TID.X
S2R R1, SR_CTAID.X
ULDC.64 UR4, sys[descriptor]
MOV R4, param[results]
MOV R5, param[results+4]
IMAD R1, R1, 0x100, R0
MOV R2, param[data]
MOV R3, param[data+4]
IMAD.WIDE.U32 R2, R1, 0x4, R2
LEA R10, R0, 0x440, 0x2
LEA R13, R0, 0xa80, 0x2
LEA R23, R0, 0x1440, 0x3
SHF.R.U32.HI R14, RZ, 0x2, R10
MOV R15, 0x44
MOV R16, 0x3f800000
MOV R17, 0x3c003c00
MOV R18, 0x1
MOV R19, 0x4
MOV R20, RZ
MOV R21, 0x3ff00000
MOV R22, 0x38880000
MOV R24, R10
MOV R25, 0x40100000
MOV R26, 0x10000
MOV R27, 0x4400000
MOV R28, 0x44880000
MOV R29, 0x440
MOV R46, 0x1234567
MOV R47, 0x7654321
MOV R51, 0x90000000
MOV R52, 0x0
MOV R53, 0xf0000000
UMOV UR20, 0x440
UMOV UR21, 0x110
UMOV UR22, 0x1
UMOV UR23, 0x90000000
UISETP.EQ.U32.AND UP3, UPT, URZ, URZ, UPT
ISETP.EQ.U32.AND P3, PT, RZ, RZ, PT
ISETP.NE.U32.AND P2, PT, RZ, RZ, PT
ISETP.NE.U32.AND P4, PT, RZ, RZ, PT
ISETP.NE.U32.AND P5, PT, RZ, RZ, PT
ISETP.NE.U32.AND P6, PT, RZ, RZ, PT
UISETP.NE.U32.AND UP0, UPT, URZ, URZ, UPT
STS [R10], R46
STS [R13], R47
STS.64 [R23], R46
STS [R29+0x1800], R46
STG.E desc[UR4][R2.64], R46
BAR.SYNC.DEFER_BLOCKING 0x0
MOV R8, RZ
MOV R30, RZ
MOV R31, RZ""".splitlines()
)
COMPARE = plain("""ISETP.NE.U32.AND P1, PT, R40, R44, PT
ISETP.NE.U32.OR P1, PT, R41, R45, P1
@P1 IADD3 R7, R7, 0x1, RZ""")
TAIL = plain(f"""MOV R9, {TURNS:#x}
REDG.E.ADD.STRONG.GPU desc[UR4][R4.64+0x100], R8
REDG.E.ADD.STRONG.GPU desc[UR4][R4.64+0x104], R18
REDG.E.ADD.STRONG.GPU desc[UR4][R4.64+0x108], R9
EXIT""")

OLD_PAIR = "MOV R30, R13\nMOV R31, R13"
OLD_HIGH = "MOV R30, R13\nMOV R31, R21"  # the upper half of a double that is finite
CLEAR = "ISETP.NE.U32.AND P4, PT, RZ, RZ, PT\nISETP.NE.U32.AND P6, PT, RZ, RZ, PT\nUMOV UR12, URZ"


SLOW = ("Xu", "Shared", "Const", "Special")
SLOW_CONSUMERS = ("FFMA_C", "FADD", "IADD3_A", "MOV")
NO_ADDRESS = (
    "HSET2",
    "HADD2F32",
    "FSET",
    "IDP",
    "LEAHI",
    "I2FP",
    "BMSK",
    "VOTE",
    "P2R",
    "CS2R",
    "CS2R32",
    "S2UR",
    "VOTEU",
    "UPOPC",
    "UFLO",
)  # what they make is none


def _raw_gpr(producers: list[Op]) -> Iterator[Probe]:
    for p in producers:
        for c in ops.GPR_CONSUMERS:
            whole = "{s}" not in c.text  # reads the pair R30:R31
            for part in ("lo", "hi"):
                if part == "hi" and not (p.wide or whole):
                    continue
                if p.cls in SLOW and c.name not in SLOW_CONSUMERS:
                    continue
                if c.cls == "Address" and (p.name in NO_ADDRESS or part == "hi"):
                    continue
                s = f"R3{'01'[part == 'hi']}"
                before = "MOV R30, R13\nMOV R31, R13"
                if whole:  # only the half in question differs
                    low, high = {"Wide": ("R10", "RZ"), "Clock": ("RZ", "RZ")}.get(p.cls, ("R10", "R25"))
                    if not p.wide:
                        low, high = "R13", "R25"
                    before = f"MOV R30, R13\nMOV R31, {high}" if part == "lo" else f"MOV R30, {low}\nMOV R31, R51"
                text = c.text.format(s=s, u="{u}")
                yield Probe("RAW", p, c, part, f"raw_{p.name}_{part}_{c.name}", f"{before}\n{CLEAR}",
                            p.text.format(d="R30" if p.wide else s), text, c.after, text, p.longest)  # fmt: skip


def _spread() -> Iterator[Probe]:
    """Some pairs again, with other instructions between them: only the sum of the stalls should count."""
    for p in [*_raw_gpr(ops.GPR_PRODUCERS), *_raw_other("u", ops.UGPR_PRODUCERS, ops.UGPR_CONSUMERS, *UNIFORM)]:
        name = p.name.split("_", 1)[1]
        if p.first.name in ("FFMA", "WIDE", "IADD3", "DADD", "UMOV", "ULDC", "UIADD3") and p.second.name in (
            "FADD", "IMAD_B", "IADD3_A", "MOV", "LDS", "STS_D", "UIADD3", "UMOV", "I2F"
        ):  # fmt: skip
            yield replace(p, name=f"spread_{name}")


UNIFORM = ("UMOV UR10, 0xa80\nUMOV UR11, 0xa80", ("UR10", "UR11"))


def _raw_other(
    kind: str, producers: list[Op], consumers: list[Op], before: str, regs: tuple[str, str]
) -> Iterator[Probe]:
    for p in producers:
        for c in consumers:
            for part, s in zip(("lo", "hi"), regs, strict=True):
                if part == "hi" and (not p.wide or c.cls == "Descriptor" or c.name == "DADD"):
                    continue
                if c.cls == "Descriptor" and p.name in NO_ADDRESS:
                    continue
                text = c.text.replace("{s}", s)
                yield Probe("RAW", p, c, part, f"raw{kind}_{p.name}_{part}_{c.name}", f"{before}\n{CLEAR}",
                            p.text.replace("{d}", regs[0]), text, c.after, text, p.longest)  # fmt: skip


WAW_SECONDS = ("FFMA", "IMAD", "WIDE", "IADD3", "MOV", "HFMA2", "HFMA2MMA", "DADD", "P2R", "CS2R", "CS2R32")


def _waw() -> Iterator[Probe]:
    seconds = [p for p in ops.GPR_PRODUCERS if p.name in WAW_SECONDS]
    for a in ops.GPR_PRODUCERS:
        for b in seconds:
            for part in ("lo", "hi"):
                if part == "hi" and not (a.wide and b.wide):
                    continue
                s = f"R3{'01'[part == 'hi']}"
                swapped = b.text.replace("R10", "R13").replace("R24", "R32").replace("0x8", "0x28")
                if b.name.startswith("CS2R") and a.name.startswith("CS2R"):
                    continue
                yield Probe(
                    "WAW", a, b, part, f"waw_{a.name}_{part}_{b.name}", OLD_PAIR + "\nMOV R32, R13\nMOV R33, R21",
                    a.text.format(d="R30" if a.wide else s), swapped.format(d="R30" if b.wide else s),
                    f"MOV R40, {s}", a.text.format(d="R30" if a.wide else s), a.longest,
                )  # fmt: skip
    false = "ISETP.NE.AND P2, PT, RZ, RZ, PT"
    second_preds = (
        Op("ISETP", "Pred", false),
        Op("PLOP3", "Pred", "PLOP3.LUT P2, PT, PT, PT, PT, 0x8, 0x0"),
        Op("R2P", "PredFile", "R2P PR, RZ, 0x4"),
    )
    for a, c in product(ops.PRED_PRODUCERS, second_preds):
        name = f"wawp_{a.name}_{c.name}"
        yield Probe("WAW", a, c, "lo", name, false, a.text, c.text, "@P2 MOV R40, R18", a.text, a.longest)
    second_uniforms = (
        Op("UMOV", "UniformMove", "UMOV UR10, 0x998"),
        Op("UIADD3", "Uniform", "UIADD3 UR10, UR22, URZ, URZ"),
        Op("ULDC", "UniformLoad", "ULDC UR10, c[0x0][0x0]"),
        Op("R2UR", "VectorToUniform", "R2UR UR10, R18"),
    )
    for a, c in product(ops.UGPR_PRODUCERS, second_uniforms):
        first, name = a.text.format(d="UR10"), f"wawu_{a.name}_{c.name}"
        yield Probe("WAW", a, c, "lo", name, "UMOV UR10, 0x7", first, c.text, "MOV R40, UR10", first, a.longest)


def _war() -> Iterator[Probe]:
    writers = [p for p in ops.GPR_PRODUCERS if p.name in ("MOV", "FADD", "IMAD", "IADD3", "CS2R32", "WIDE", "HFMA2")]
    for c in ops.GPR_CONSUMERS:
        for w in writers:
            for part in ("lo", "hi"):
                whole = "{s}" not in c.text
                if (part == "hi" and not whole) or (w.wide and whole) or (c.cls == "Address" and w.name in NO_ADDRESS):
                    continue
                s = f"R3{'01'[part == 'hi']}"
                reader = c.text.format(s=s, u="{u}")
                writer = w.text.format(d="R30" if w.wide else s)
                yield Probe(
                    "WAR", c, w, part, f"war_{c.name}_{part}_{w.name}", OLD_HIGH + "\n" + CLEAR, reader, writer,
                    c.after, writer + "\n" + "NOP\n" * 6 + reader,
                    24 if c.cls in ("Address", "Data", "Xu", "ToUniform") else 8,
                )  # fmt: skip
    for c in ops.UGPR_CONSUMERS:
        if c.name == "DADD":
            continue
        for w in (p for p in ops.UGPR_PRODUCERS if p.name in ("UMOV", "UIADD3", "ULDC")):
            reader, writer = c.text.format(s="UR10"), w.text.format(d="UR10")
            yield Probe("WAR", c, w, "lo", f"waru_{c.name}_{w.name}", "UMOV UR10, 0xa80\n" + CLEAR, reader, writer,
                        c.after, writer + "\n" + "NOP\n" * 6 + reader, 16)  # fmt: skip
    for c in ops.PRED_CONSUMERS:
        if c.cls == "Branch":
            continue
        for w in (p for p in ops.PRED_PRODUCERS if p.name in ("ISETP", "R2P", "PLOP3")):
            yield Probe("WAR", c, w, "lo", f"warp_{c.name}_{w.name}", "ISETP.NE.U32.AND P2, PT, RZ, RZ, PT\n" + CLEAR,
                        c.text, w.text, c.after, w.text + "\n" + "NOP\n" * 6 + c.text, 8)  # fmt: skip


# Older and younger operations of the memory queue: does the younger one's scoreboard speak for the older one?
QUEUE = {
    "STG": "STG.E desc[UR4][R2.64], {r}",
    "STS": "STS [R23], {r}",
    "SHFL": "SHFL.IDX PT, R40, {r}, RZ, 0x1c1f",
    "ATOMS": "ATOMS.EXCH R41, [R23], {r}",
    "LDS": "LDS R40, [{r}]",
    "REDG": "REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], {r}",
}
SEEN = {"STG": "LDG.E.STRONG.GPU R40, desc[UR4][R2.64]", "STS": "LDS R40, [R23]", "ATOMS": "LDS R40, [R23]",
        "REDG": "LDG.E.STRONG.GPU R40, desc[UR4][R2.64]\nSTG.E desc[UR4][R2.64], R46"}  # fmt: skip


def _queues() -> Iterator[Probe]:
    """In-order queues: the older operation has no scoreboard; the younger's is awaited; then the older one's result is
    read (WAIT) or its source overwritten (FREE). `off`: the younger one's guard is false."""
    nop = Op("NOP", "None", "NOP")
    for off in ("", "@P5 "):
        tag = "off" if off else "on"
        old = "MOV R30, R13\nMOV R55, R23"
        for name, young in (
            ("LDS", "LDS R50, [R13]"),
            ("SHFL", "SHFL.IDX PT, R50, R10, RZ, 0x1f"),
            ("ATOMS", "ATOMS.ADD R50, [R13], RZ"),
        ):
            for older, text in (
                ("LDS", "LDS R30, [R10]"),
                ("SHFL", "SHFL.IDX PT, R30, R10, RZ, 0x1f"),
                ("ATOMS", "ATOMS.ADD R30, [R10], RZ"),
            ):
                first = f"=--:-:-:-:2 {text}\n=--:-:0:-:2 {off}{young}\n=01:-:-:-:1 NOP"
                yield Probe("RAW", Op(older, "Shared", text), nop, "lo", f"queue_wait_{older}_{name}_{tag}", old, first,
                            "MOV R40, R30", "", "MOV R40, R30", 4)  # fmt: skip
        for name, young in (("MUFU", "MUFU.RCP R50, R16"), ("POPC", "POPC R50, R16")):
            for older, text in (
                ("MUFU", "MUFU.RCP R30, R16"),
                ("I2F", "I2F.F64.U32 R30, R10"),
                ("FLO", "FLO.U32 R30, R10"),
            ):
                first = f"=--:-:-:-:2 {text}\n=--:-:0:-:2 {off}{young}\n=01:-:-:-:1 NOP"
                yield Probe("RAW", Op(older, "Xu", text), nop, "lo", f"queue_wait_{older}_{name}_{tag}", old, first,
                            "MOV R40, R30", "", "MOV R40, R30", 4)  # fmt: skip
        for older, text in QUEUE.items():
            for name, young in QUEUE.items():
                y = young.format(r="R10").replace("R40", "R50").replace("R41", "R51").replace("[R23]", "[R23+0x4]")
                y = y.replace("[R2.64]", "[R56.64]")
                board = "3" if name in ("SHFL", "ATOMS", "LDS") else "-"
                o = "1" if older in ("SHFL", "ATOMS", "LDS") else "-"
                first = f"=--:-:{o}:-:2 {text.format(r='R30')}\n=--:0:{board}:-:2 {off}{y}\n=01:-:-:-:1 NOP"
                writer = "MOV R30, R10"
                yield Probe("WAR", Op(older, "Memory", text), nop, "lo", f"queue_free_{older}_{name}_{tag}",
                            "MOV R30, R13\nSTS.64 [R23], R46\nIADD3 R56, R2, 0x200000, RZ\nMOV R57, R3", first, writer,
                            SEEN.get(older, ""), writer + "\n" + "NOP\n" * 6 + text.format(r="R30"), 4)  # fmt: skip


def probes() -> list[Probe]:
    """All of them, by name."""
    made = [
        *_raw_gpr(ops.GPR_PRODUCERS + ops.GPR_SLOW),
        *_raw_other("p", ops.PRED_PRODUCERS, ops.PRED_CONSUMERS, "ISETP.NE.U32.AND P2, PT, RZ, RZ, PT", ("P2", "P2")),
        *_raw_other("u", ops.UGPR_PRODUCERS, ops.UGPR_CONSUMERS, *UNIFORM),
        *_raw_other(
            "up", ops.UPRED_PRODUCERS, ops.UPRED_CONSUMERS, "UISETP.NE.U32.AND UP0, UPT, URZ, URZ, UPT", ("UP0", "UP0")
        ),
        *_spread(),
        *_waw(),
        *_war(),
        *_queues(),
    ]
    names = [p.name for p in made]
    assert len(set(names)) == len(names), sorted(n for n in set(names) if names.count(n) > 1)[:5]
    return made


def build(ngasm: Path, folder: Path, only: str = "") -> list[Probe]:
    """Writes NAME.cubin of every probe whose name has `only` in it; those that assemble."""
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [p for p in probes() if re.search(only, p.name)]

    def one(p: Probe) -> str:
        source = folder / f"{p.name}.sass"
        source.write_text(p.template())
        done = subprocess.run(
            [ngasm, "as", source, "--unproven", "-o", folder / f"{p.name}.cubin"],
            capture_output=True,
            text=True,
            check=False,
        )
        return "" if done.returncode == 0 else f"{p.name}: {done.stderr.strip().splitlines()[0]}"

    with ThreadPoolExecutor() as pool:
        errors = list(filter(None, pool.map(one, chosen)))
    for e in errors:
        print(e, file=sys.stderr)
    print(f"{len(chosen)} probes, {len(errors)} that do not assemble")
    return chosen


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "")
