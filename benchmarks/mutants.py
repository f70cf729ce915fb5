"""The mutation test of the hazard proof on a GPU: draws mutants, runs build/bin/mutants on each kernel, counts.

    mutants.py --each 620 --out build/mutants.json [--seconds 600] [--workers 4] [--dangerous]

First verify judges all mutants on the host (--plan keeps that, or takes it from an earlier run). Then each kernel's run
in processes of their own: those whose possible errors stay in data, and with --dangerous, as long as there is time,
also the others, whose process may be lost to a device error, or to the watchdog when nothing has been written for
--patience seconds. A kill is a flagged mutant that changed a bit of the result; device errors and hangs are counted
apart. A mutant that verify does not flag must do none of it: else the exit status is 1. Without a GPU,
build/bin/mutants alone compares verify with the checked emulator.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import threading
import time
from collections import defaultdict, deque
from pathlib import Path
from typing import Any

from measure.report import commit

HERE = Path(__file__).resolve().parent
KINDS = ("mutants", "flagged", "flagged: run", "flagged: wrong", "flagged: right", "flagged: device error",
         "flagged: hung", "flagged: not run", "unflagged", "unflagged: run", "unflagged: wrong")  # fmt: skip
TRIES = 3  # of a process that cannot begin
Row = dict[str, Any]


def planned(plan: Path) -> dict[str, list[Row]]:
    """The plan's mutants by kernel."""
    out: dict[str, list[Row]] = defaultdict(list)
    for line in plan.read_text().splitlines():
        name, number, flagged, harmless = line.split("\t")
        out[name].append({"number": int(number), "flagged": flagged == "1", "harmless": harmless == "1"})
    return dict(out)


def results(log: Path) -> list[Row]:
    """What a log tells of each mutant that was begun: the line after its beginning, if there is one."""
    rows: list[Row] = []
    for line in log.read_text(errors="replace").splitlines() if log.exists() else []:
        if m := re.match(r"begin (\d+) (\{.*\})$", line):
            rows.append({**json.loads(m[2]), "number": int(m[1])})
        elif line.startswith("{") and line.endswith("}") and rows:
            rows[-1] = {**rows[-1], **json.loads(line)}
        elif line == "hung" and rows:
            rows[-1] = {**rows[-1], "run": True, "hung": True}
    return [r for r in rows if r.get("run")]


def outcome(row: Row) -> str:
    """wrong: a bit was another one in some run; whatever else happened."""
    if row.get("wrong"):
        return "wrong"
    return "device error" if "failed" in row else "hung" if row.get("hung") else "right"


def count(plan: list[Row], ran: list[Row]) -> dict[str, int]:
    """How many of each kind. Of mutants that are not flagged, device errors and hangs are wrong, too."""
    out = dict.fromkeys(KINDS, 0)
    for r in plan:
        out["mutants"] += 1
        out["flagged" if r["flagged"] else "unflagged"] += 1
    for r in ran:
        name, what = "flagged" if r["flagged"] else "unflagged", outcome(r)
        out[f"{name}: run"] += 1
        if r["flagged"]:
            out[f"flagged: {what}"] += 1
        elif what != "right":
            out["unflagged: wrong"] += 1
    out["flagged: not run"] = out["flagged"] - out["flagged: run"]
    return out


class Runner:
    """Runs the kernels' mutants, several processes at a time, until all are done or the time is over."""

    def __init__(self, args: argparse.Namespace, names: list[str], folder: Path) -> None:
        self.args, self.folder = args, folder
        self.logs = {name: folder / (re.sub(r"\W+", "_", name) + ".log") for name in names}
        self.end = time.monotonic() + args.seconds
        self.lock = threading.Lock()
        self.queue: deque[str] = deque()
        self.dangerous = False
        self.failures: dict[str, list[str]] = defaultdict(list)  # what processes said that could not begin

    def run(self, names: list[str], dangerous: bool) -> None:
        """All of these kernels' mutants; a kernel whose process was lost comes again after the others."""
        self.queue, self.dangerous = deque(names), dangerous
        workers = [threading.Thread(target=self.work) for _ in range(self.args.workers)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()

    def work(self) -> None:
        while time.monotonic() < self.end:
            with self.lock:
                if not self.queue:
                    return
                name = self.queue.popleft()
            again = self.once(name)
            with self.lock:
                if again:
                    self.queue.append(name)

    def once(self, name: str) -> bool:
        """One process; true if there may be mutants left."""
        log = self.logs[name]
        before = log.stat().st_size if log.exists() else 0
        command = [str(self.args.mutants), "--gpu", str(HERE / "measure/noise.sass"), "--plan", str(self.args.plan)]
        command += ["--subject", name, "--log", str(log), "--dangerous", "1" if self.dangerous else "0"]
        with log.with_suffix(".out").open("a") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output)
            size, since = before, time.monotonic()
            while process.poll() is None:
                time.sleep(0.05)
                now, size_now = time.monotonic(), log.stat().st_size if log.exists() else 0
                if size_now != size:
                    size, since = size_now, now
                patience = self.args.patience if size != before else 4 * self.args.patience  # it starts slowly
                if now < self.end and now - since < patience:
                    continue
                process.kill()
                process.wait()
                if now < self.end and size != before:
                    with log.open("a") as f:
                        f.write("\nhung\n")
                    return True
                return False
        if process.returncode in (0, 3):
            return process.returncode == 3
        said = log.with_suffix(".out").read_text(errors="replace").strip().splitlines()
        with self.lock:
            self.failures[name].append(f"status {process.returncode}: {said[-1] if said else ''}")
            return len(self.failures[name]) < TRIES


def summary(plan: dict[str, list[Row]], logs: dict[str, Path]) -> dict[str, Any]:
    """Totals, by field and by kernel."""
    ran = {name: results(log) for name, log in logs.items()}
    everything = [r for rows in ran.values() for r in rows]
    by_field = defaultdict(list)
    for r in everything:
        by_field[r["field"]].append(r)
    return {
        "runs of each mutant": "3 alone, 6 beside a kernel that keeps every pipe busy, on all or half of the chip",
        "total": count([r for rows in plan.values() for r in rows], everything),
        "by field": {k: count(v, v) for k, v in sorted(by_field.items())},
        "by kernel": {name: count(rows, ran[name]) for name, rows in plan.items()},
        "missed": [r for r in everything if not r["flagged"] and outcome(r) != "right"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=Path, default=Path("build/bin/mutants"))
    parser.add_argument("--each", type=int, default=620, help="mutants of each kernel")
    parser.add_argument("--plan", type=Path, help="made if it is not there; default: beside --out")
    parser.add_argument("--seconds", type=float, default=3600, help="of the runs on the GPU")
    parser.add_argument("--patience", type=float, default=10, help="seconds without a line in the log")
    parser.add_argument("--workers", type=int, default=4, help="processes at a time")
    parser.add_argument("--dangerous", action="store_true", help="also those that may go astray")
    parser.add_argument("--gpu", default="", help="name of the GPU and driver, for the result")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.plan = args.plan or args.out.with_suffix(".plan")
    if not args.plan.exists():
        subprocess.run([args.mutants, "--plan", args.plan, "--each", str(args.each)], check=True)
    plan = planned(args.plan)
    folder = args.out.with_suffix(".logs")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.log"):
        old.unlink()
    runner = Runner(args, list(plan), folder)
    runner.run(list(plan), dangerous=False)
    if args.dangerous:
        runner.run([n for n, rows in plan.items() if any(not r["harmless"] for r in rows)], dangerous=True)
    result = summary(plan, runner.logs)
    args.out.write_text(json.dumps({"gpu": args.gpu, "commit": commit(), **result}, indent=1) + "\n")
    for name, c in result["by kernel"].items():
        print(
            f"{name:56} {c['flagged: run']:5} of {c['flagged']:4} flagged ran, {c['flagged: wrong']:4} changed bits, "
            f"{c['flagged: device error']:3} errors, {c['flagged: hung']:3} hung; {c['unflagged: run']:4} others, "
            f"{c['unflagged: wrong']} wrong"
        )
    print(", ".join(f"{v} {k}" for k, v in result["total"].items()))
    for name, said in runner.failures.items():
        print(f"{name}: {'; '.join(said)}")
    given_up = any(len(said) >= TRIES for said in runner.failures.values())
    raise SystemExit(1 if result["total"]["unflagged: wrong"] or given_up else 0)


if __name__ == "__main__":
    main()
