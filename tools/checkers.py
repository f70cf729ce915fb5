#!/usr/bin/env python3
"""NVIDIA's checkers over a small set of problems that launches kernels of every operation, and generated ones.

    tools/checkers.py --out build/checkers [--seconds 300] [--each 8] [--statements 800]
                      [--tools memcheck,initcheck,racecheck,synccheck]

Runs compute-sanitizer with each tool, all at a time, on `build/bin/variants --each N` and, for kernels that are
generated, on random programs of Python (test/python/stateful). Writes their logs and summary.json into the folder. A
tool that ends `variants` (synccheck does at an error) is run again for each operation by itself. What a tool says must
be in tools/checkers.json, the list of exceptions: tool, kernel (a pattern of the shell), the message (a regular
expression) and the reason. Exits 1 if there is a finding without an exception or an
exception without a finding, 2 if something did not run to its end.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "test/python/stateful/check.py"
TOOLS = ("memcheck", "initcheck", "racecheck", "synccheck")
# Each pair of instructions that races once, not each byte.
OPTIONS = {"racecheck": ["--racecheck-report", "analysis"]}
MOST = 1 << 24  # bytes of a log that are read
# Headings that are no findings.
QUIET = re.compile(
    r"COMPUTE-SANITIZER|\w+ SUMMARY:|No attachable process|Internal Sanitizer|Target application|Process"
)


@dataclass(frozen=True)
class Finding:
    """What a tool said once: its first line, the kernel that this or a line below it names, and all lines."""

    tool: str
    kernel: str  # "": none is named
    message: str
    text: str


@dataclass(frozen=True)
class Excuse:
    """A finding that is known: why it is no error."""

    tool: str
    kernel: str
    message: str
    reason: str

    def covers(self, finding: Finding) -> bool:
        """The finding is this one."""
        return (
            self.tool == finding.tool
            and fnmatch.fnmatchcase(finding.kernel, self.kernel)
            and re.search(self.message, finding.message) is not None
        )


def findings(tool: str, log: str, kernels: Iterable[str]) -> list[Finding]:
    """The blocks of a log: a line at the left margin and the indented ones below it."""
    names = sorted(kernels, key=len, reverse=True)
    blocks: list[list[str]] = []
    for line in log.splitlines():
        if not line.startswith("========="):
            continue
        rest = line.removeprefix("=========")
        if not rest.strip():
            continue
        if rest.startswith("     ") and blocks:
            blocks[-1].append(rest.strip())
        elif not rest.startswith("     "):
            blocks.append([rest.strip()])
    out = []
    for block in blocks:
        if QUIET.match(block[0]):
            continue
        words = set(re.findall(r"\w+", "\n".join(block)))
        kernel = next((n for n in names if n in words), "")
        out.append(Finding(tool, kernel, block[0], "\n".join(block)))
    return out


def finished(log: str) -> bool:
    """The tool came to its end: it says how many errors there were."""
    return re.search(r"=========\s+\w+ SUMMARY:", log) is not None


def excuses(path: Path) -> list[Excuse]:
    """The list of exceptions; each has all four fields, and a reason of some words."""
    out = [Excuse(**row) for row in json.loads(path.read_text())["exceptions"]]
    for e in out:
        if e.tool not in TOOLS or len(e.reason.split()) < 5:
            raise SystemExit(f"checkers: exception {e} needs a tool of {', '.join(TOOLS)} and a reason")
        re.compile(e.message)
    return out


def judge(found: list[Finding], known: list[Excuse], ran: Iterable[str]) -> tuple[list[Finding], list[Excuse]]:
    """Findings without an exception; exceptions of the tools that ran without a finding."""
    new = [f for f in found if not any(e.covers(f) for e in known)]
    stale = [e for e in known if e.tool in set(ran) and not any(e.covers(f) for f in found)]
    return new, stale


class Runner:
    """Runs compute-sanitizer until the time is over."""

    def __init__(self, variants: list[str], sanitizer: str, out: Path, seconds: float) -> None:
        self.variants, self.sanitizer, self.out = variants, sanitizer, out
        self.end = time.monotonic() + seconds
        self.problems: list[str] = []  # what did not run to its end

    def once(self, tool: str, name: str, program: list[str]) -> tuple[str, str]:
        """The tool's log and the program's output; the log is empty if the time was over."""
        log = self.out / f"{name}.log"
        left = self.end - time.monotonic()
        if left <= 1:
            self.problems.append(f"{name}: no time was left")
            return "", ""
        command = [
            self.sanitizer,
            "--tool",
            tool,
            "--show-backtrace",
            "no",
            "--print-limit",
            "200",
            *OPTIONS.get(tool, []),
        ]
        command += ["--log-file", str(log), *program]
        environment = {**os.environ, "NERVANAGPU_DEVICE": "cuda"}
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=left, check=False, env=environment)
            output = done.stdout + done.stderr
        except subprocess.TimeoutExpired as late:
            self.problems.append(f"{name}: ended by the time limit")
            output = (late.stdout or b"").decode(errors="replace")
        (self.out / f"{name}.out").write_text(output)
        if not log.exists():
            return "", output
        with log.open("rb") as file:
            return file.read(MOST).decode(errors="replace"), output

    def run(self, tool: str) -> str:
        """The logs of a tool: of one run, or where it ended the program early of one for each operation."""
        log, output = self.once(tool, tool, self.variants)
        if re.search(r"\d+ problems on ", output):
            if not finished(log):
                self.problems.append(f"{tool}: the log has no summary")
            if " 0 wrong," not in output:
                self.problems.append(f"{tool}: results are wrong, see {tool}.out")
            return log
        done = [line.split(":")[0] for line in output.splitlines() if re.match(r"\w+: \w+$", line)]
        print(f"{tool} ended the program in {done[-1] if done else 'its beginning'}; each operation by itself")

        def alone(op: str) -> str:
            part, _ = self.once(tool, f"{tool}.{op}", [*self.variants, "--only", op])
            if part and not finished(part):
                self.problems.append(f"{tool}.{op}: the log has no summary")
            return part

        with ThreadPoolExecutor(8) as pool:
            return "\n".join(pool.map(alone, operations()))

    def run_programs(self, tool: str, statements: int) -> str:
        """The tool's log of random programs of so many statements."""
        name = f"{tool}.programs"
        log, output = self.once(tool, name, [sys.executable, str(PROGRAMS), "--statements", str(statements)])
        if not finished(log):
            self.problems.append(f"{name}: the log has no summary")
        elif not re.search(r"\d+ statements, 0 programs differ", output):
            self.problems.append(f"{name}: results are wrong, see {name}.out")
        return log


def operations() -> list[str]:
    """The templates that are assembled for sm_90a."""
    lines = (ROOT / "kernels/kernels.cmake").read_text().splitlines()
    return [m[1] for line in lines if (m := re.match(r"ng_kernel\((?:\w+/)+(\w+) .*sm_90a", line))]


def kernel_names(program: Path) -> list[str]:
    """The names of all kernels, as the program lists them."""
    listed = subprocess.run([program, "--list", "1"], capture_output=True, text=True, check=True,
                            env={**os.environ, "NERVANAGPU_DEVICE": "emulator"})  # fmt: skip
    return listed.stdout.split()


def find_sanitizer() -> str | None:
    """compute-sanitizer on the path or in CUDA's folder."""
    return shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")


def main() -> int:
    """Parse the command line, run the tools, print what they say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/checkers"))
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--each", type=int, default=8, help="kernels of each operation")
    parser.add_argument("--statements", type=int, default=800, help="of random programs")
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--program", type=Path, default=Path("build/bin/variants"))
    parser.add_argument("--exceptions", type=Path, default=ROOT / "tools/checkers.json")
    args = parser.parse_args()
    tools = args.tools.split(",")
    known = excuses(args.exceptions)
    sanitizer = find_sanitizer()
    if sanitizer is None:
        print("checkers: compute-sanitizer is missing (it is part of the CUDA toolkit)", file=sys.stderr)
        return 2
    args.out.mkdir(parents=True, exist_ok=True)
    names = kernel_names(args.program)
    variants = [str(args.program), "--threads", "1", "--each", str(args.each)]
    runner = Runner(variants, sanitizer, args.out, args.seconds)
    found: list[Finding] = []
    start = time.monotonic()
    with ThreadPoolExecutor(2 * len(tools)) as pool:
        programs = [pool.submit(runner.run_programs, t, args.statements) for t in tools if args.statements > 0]
        logs = list(pool.map(runner.run, tools))
        parts = [part.result() for part in programs] or [""] * len(tools)
    print(f"{time.monotonic() - start:.0f} s")
    for tool, log, part in zip(tools, logs, parts, strict=True):
        mine = findings(tool, f"{log}\n{part}", names)
        found += mine
        kinds = Counter((f.kernel or "?", f.message) for f in mine)
        print(f"{tool}: {len(mine)} findings")
        for (kernel, message), count in kinds.most_common(20):
            print(f"  {count} x {kernel}: {message[:160]}")
    new, stale = judge(found, known, tools)
    summary = {
        "findings": [{"tool": f.tool, "kernel": f.kernel, "text": f.text} for f in found[:500]],
        "new": len(new),
        "exceptions without a finding": [e.__dict__ for e in stale],
        "did not end": runner.problems,
    }
    (args.out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    for problem in runner.problems:
        print(f"not finished: {problem}")
    for e in stale:
        print(f"no longer found: {e.tool}, {e.kernel}, {e.message}: remove it from {args.exceptions.name}")
    print(f"{len(new)} findings without an exception; logs in {args.out}")
    return 2 if runner.problems else 1 if new or stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
