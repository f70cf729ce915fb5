"""Runs programs beside NumPy, and shrinks those that differ.

python check.py --statements 20000 --seed 1      prints the shortest program found that differs, and fails
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

import nervanagpu as ng
from libraries import numpy_namespace, our_namespace
from programs import arrays, compiled, differs, program_of, run_on_numpy

LENGTH = 40


@dataclass(frozen=True)
class Failure:
    """What goes wrong: a statement that is refused, with what error, or an array that differs ("")."""

    kind: str
    text: str


def failure(program: Sequence[str]) -> Failure | None:
    """The first thing that goes wrong. None too where NumPy refuses the program."""
    host, device = numpy_namespace(), our_namespace()
    for text in program:
        if not run_on_numpy(host, text):
            return None
        try:
            exec(compiled(text), device)
        except Exception as e:  # any refusal is a difference
            return Failure(f"{text}{type(e).__name__}", f"{text}: {type(e).__name__}: {e}")
        if text.startswith("read("):
            name = text[5:-1]
            if (what := differs(device[name].get(), host[name])) is not None:
                return Failure("", f"{name} is {what}")
    for name, want in arrays(host).items():
        try:
            what = differs(device[name].get(), want)
        except Exception as e:
            return Failure(f"get {type(e).__name__}", f"{name}.get(): {type(e).__name__}: {e}")
        if what is not None:
            return Failure("", f"{name} is {what}")
    return None


def shrunk(program: Sequence[str]) -> list[str]:
    """Fewer statements that fail in the same way: halves, quarters, ... and at last single ones are left out."""
    best = list(program)
    first = failure(best)
    assert first is not None
    size = max(len(best) // 2, 1)
    while True:
        at, fewer = 0, False
        while at < len(best):
            trial = best[:at] + best[at + size :]
            now = failure(trial)
            if now is not None and now.kind == first.kind:
                best, fewer = trial, True
            else:
                at += size
        if size == 1 and not fewer:
            return best
        size = max(size // 2, 1)


def report(program: Sequence[str], seed: int) -> str:
    short = shrunk(program)
    what = failure(short)
    assert what is not None
    return "\n".join([f"seed {seed}:", *(f"    {line}" for line in short), f"  {what.text}"])


def check(statements: int, seed: int) -> list[str]:
    """Reports of the programs that differ; every program has a seed of its own, counted from `seed`."""
    out = []
    for i in range(-(-statements // LENGTH)):
        program = program_of(seed + i, LENGTH)
        if failure(program) is not None:
            out.append(report(program, seed + i))
    return out


def check_in_threads(threads: int, statements: int, seed: int) -> list[str]:
    """The same in several threads at once, whose expressions, pending writes and caches meet."""
    out: list[str] = []

    def work(first: int) -> None:
        for i in range(-(-statements // threads // LENGTH)):
            program = program_of(first + i, LENGTH)
            if ng.device().kind == "cuda":  # no stream records while other threads use the default one
                program = [text for text in program if not text.startswith("launch(")]
            if (what := failure(program)) is not None:
                out.append("\n".join([f"seed {first + i} in threads:", *program, what.text]))

    all_threads = [threading.Thread(target=work, args=(seed + 100_000 * t,)) for t in range(threads)]
    for t in all_threads:
        t.start()
    for t in all_threads:
        t.join()
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--statements", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after about that many")
    parser.add_argument("--most", type=int, default=5, help="stop after that many failures")
    args = parser.parse_args()
    end = time.monotonic() + args.seconds
    done, failed, step = 0, 0, 10 * LENGTH * args.threads
    while done < args.statements and time.monotonic() < end and failed < args.most:
        seed = args.seed + done // LENGTH
        found = check(step, seed) if args.threads == 1 else check_in_threads(args.threads, step, seed)
        for text in found:
            print(text, flush=True)
        failed += len(found)
        done += step
    print(f"{done} statements, {failed} programs differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
