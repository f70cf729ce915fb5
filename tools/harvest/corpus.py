"""Compiles the corpus and compares our table with nvdisasm on every distinct instruction: the engine of `make corpus`.

corpus.py --nvtools DIR --ngasm PATH --build DIR [--arch sm_90a ...] [--json FILE] [SOURCE ...]

Sources are the .cu and .ptx files of test/corpus and the PTX that the generators print, or else those named. CUDA C++
becomes PTX by the nvcc that is installed (only its front end is used), whose version line is then set back so that
ptxas 12.4 takes it, also for architectures that newer front ends do not target. An instruction is distinct by its bits
without the control code, reuse flags kept.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GENERATORS = ("sm52_corpus.py", "ptx_corpus.py")
# Front end target, then the PTX target is rewritten.
FRONT_END = {"sm_90a": "compute_90a", "sm_89": "compute_80", "sm_86": "compute_80", "sm_80": "compute_80"}
CONTROL = ((1 << 21) - 1) << 105
NEUTRAL = 0x7F1 << 105  # stall 1, no yield, no scoreboards
REUSE = 0xF << 122


def run(command, output, inputs, log):
    """Runs unless `output` is newer than `inputs`; a failure is kept as an empty file."""
    newest = max(Path(p).stat().st_mtime for p in inputs)
    if output.exists() and output.stat().st_mtime >= newest:
        return output.stat().st_size > 0
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        log.write("%s\n%s\n" % (" ".join(map(str, command)), (done.stdout + done.stderr)[:2000]))
        output.write_bytes(b"")
        return False
    return True


def front_end(source, arch, build, args, log):
    """The PTX of `source` for `arch`, or None."""
    target = FRONT_END.get(arch, "compute_75")
    ptx = build / ("%s.%s.ptx" % (source.stem, target))
    if source.suffix == ".ptx":
        text = source.read_text()
    else:
        flags = ["-ptx", "-arch=" + target, "-std=c++17", "-w", "--extended-lambda", "-O3"]
        if not run([args.nvcc, *flags, source, "-o", ptx], ptx, [source], log):
            return None
        text = ptx.read_text()
    text = re.sub(r"^\.version .*$", ".version 8.4", text, count=1, flags=re.M)
    text = re.sub(r"^\.target .*$", ".target " + arch, text, count=1, flags=re.M)
    out = build / ("%s.%s.ptx" % (source.stem, arch))
    if not out.exists() or out.read_text() != text:
        out.write_text(text)
    return out


def generated(name, build):
    out = build / (Path(name).stem + ".gen.ptx")
    text = subprocess.run([sys.executable, Path(__file__).parent / name], capture_output=True, text=True, check=True)
    if not out.exists() or out.read_text() != text.stdout:
        out.write_text(text.stdout)
    return out


def split(ptx):
    """Kernels of a PTX file one by one, each with the declarations before the first: one that an architecture lacks
    must not take the others with it."""
    text = ptx.read_text()
    parts = re.split(r"(?m)^(?=\.visible \.entry|\.entry)", text)
    return [parts[0] + p for p in parts[1:]] if len(parts) > 2 and ".func" not in text else []


def without(text, lines):
    """PTX without what stands in `lines`: the line, if it is a statement in braces, else its kernel.

    None: there is neither.
    """
    rows = text.split("\n")
    alone = {n for n in lines if re.match(r"\{ .*\}$", rows[n - 1])}
    starts = [i for i, row in enumerate(rows) if re.match(r"(\.visible )?\.entry ", row)]
    kernels = {max((s for s in starts if s < n), default=None) for n in lines - alone}
    if None in kernels or (".func" in text and kernels):
        return None
    ends = dict(zip(starts, [*starts[1:], len(rows)], strict=True))
    gone = {i for s in kernels for i in range(s, ends[s])} | {n - 1 for n in alone}
    return "\n".join(row for i, row in enumerate(rows) if i not in gone)


def cubins(ptx, arch, opt, build, args, log):
    whole = ptx.with_suffix(".cubin")
    command = [args.nvtools / "ptxas", "-arch=" + arch, "-O" + opt]
    if whole.exists() and whole.stat().st_mtime >= ptx.stat().st_mtime and whole.stat().st_size > 0:
        return [whole]
    # What the architecture refuses is left out, until it takes the rest.
    text, rest = ptx.read_text(), ptx.with_suffix(".rest.ptx")
    for _ in range(12):
        rest.write_text(text)
        done = subprocess.run([*command, rest, "-o", whole], capture_output=True, text=True)
        if done.returncode == 0:
            return [whole]
        said = done.stdout + done.stderr
        log.write("%s\n%s\n" % (" ".join(map(str, command)), said[:200000]))
        lines = {int(n) for n in re.findall(r", line (\d+); (?:error|fatal)", said)}
        text = without(text, lines) if lines else None
        if text is None:
            break
    return parts(ptx, command, log)


def parts(ptx, command, log):
    found = []
    for i, part in enumerate(split(ptx)):
        p = ptx.with_suffix(".%d.part.ptx" % i)
        if not p.exists() or p.read_text() != part:
            p.write_text(part)
        out = p.with_suffix(".cubin")
        if run([*command, p, "-o", out], out, [p], log):
            found.append(out)
    return found


def is_wide(arch):
    return arch not in ("sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62")


def distinct(paths, arch):
    """(number of words, distinct words with a neutral control code)."""
    import cubin
    import oracle64

    seen, total = {}, 0
    for path in paths:
        if is_wide(arch):
            for _, word in cubin.words(path):
                total += 1
                seen.setdefault(word & ~CONTROL | NEUTRAL | (word & REUSE), None)
        else:
            for word, _, _ in oracle64.instructions(path):
                total += 1
                seen.setdefault(word, None)
    return total, list(seen)


def texts(words, arch, build):
    """nvdisasm's texts, kept between runs."""
    import oracle
    import oracle64

    store = build / ("%s.texts" % arch)
    known = {}
    if store.exists():
        for line in store.read_text().splitlines():
            h, _, t = line.partition("\t")
            known[int(h, 16)] = t
    new = [w for w in words if w not in known]
    name = "SM" + arch[3:]
    for at in range(0, len(new), 20000):
        batch = new[at : at + 20000]
        out = oracle.disassemble(batch, name) if is_wide(arch) else oracle64.disassemble(batch, name)
        known.update((w, t or "") for w, t in zip(batch, out, strict=True))
    digits = 32 if is_wide(arch) else 16
    store.write_text("".join("%0*x\t%s\n" % (digits, w, t) for w, t in sorted(known.items())))
    return {w: known[w] for w in words}


def proofs(paths, args):
    """How many kernels `ngasm verify` proves; findings only where every instruction has a row."""
    row = {"kernels": 0, "proven": 0, "not_decoded": 0, "findings": 0}
    for path in paths:
        found, unknown = 0, False
        for line in subprocess.run([args.ngasm, "verify", path], capture_output=True, text=True).stdout.splitlines():
            end = re.search(r": \d+ instructions, (proven|\d+ hazards)$", line)
            if not end:
                found += 1
                unknown = unknown or "cannot be decoded" in line
                continue
            row["kernels"] += 1
            row["proven"] += end.group(1) == "proven"
            row["not_decoded"] += unknown
            row["findings"] += 0 if unknown else found
            found, unknown = 0, False
    return row


def check(arch, opt, args):
    build = args.build / (arch if opt == "3" else arch + "-O" + opt)
    build.mkdir(parents=True, exist_ok=True)
    sources = [Path(s) for s in args.sources] or sorted((ROOT / "test/corpus").glob("*.cu"))
    if not args.sources:
        sources += sorted((ROOT / "test/corpus").glob("*.ptx"))
        sources += [generated(g, build) for g in GENERATORS if (Path(__file__).parent / g).exists()]
    with (build / "failures.log").open("w") as log, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        ptx = [p for p in pool.map(lambda s: front_end(s, arch, build, args, log), sources) if p]
        paths = [c for part in pool.map(lambda p: cubins(p, arch, opt, build, args, log), ptx) for c in part]
    total, words = distinct(paths, arch)
    known = texts(words, arch, build)
    digits = 32 if is_wide(arch) else 16
    table = build / "words.txt"
    table.write_text("".join("%0*x\t%s\n" % (digits, w, known[w]) for w in words if known[w]))
    command = [args.ngasm, "roundtrip", "--arch", arch, "--words", table, *(["--verbose"] if args.verbose else [])]
    done = subprocess.run(command, capture_output=True, text=True)
    if args.verbose:
        (build / "roundtrip.log").write_text(done.stderr)
    m = re.search(r"(\d+) distinct, (\d+) exact, (\d+) unknown, (\d+) broken, (\d+) with another text", done.stdout)
    if not m:
        sys.exit("ngasm: " + done.stdout + done.stderr[-2000:])
    count, exact, unknown, broken, other = map(int, m.groups())
    row = {"sources": len(ptx), "cubins": len(paths), "words": total, "distinct": count, "exact": exact}
    row |= {"unknown": unknown, "broken": broken, "other_text": other}
    row["exact_percent"] = round(100 * exact / max(1, count), 3)
    row["refused_by_nvdisasm"] = sum(1 for w in words if not known[w])
    row |= proofs(paths, args)
    row["digest"] = hashlib.sha256(b"".join(w.to_bytes(16, "little") for w in sorted(words))).hexdigest()[:16]
    return row


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--nvtools", type=Path, required=True, help="folder with ptxas and nvdisasm 12.4")
    p.add_argument("--nvcc", default="nvcc")
    p.add_argument("--ngasm", type=Path, required=True)
    p.add_argument("--build", type=Path, required=True)
    p.add_argument("--arch", action="append")
    p.add_argument(
        "--opt", action="append", help="-O of ptxas; without --arch and --opt all at 3, and sm_90a at 0, too"
    )
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--json", type=Path)
    p.add_argument("--verbose", action="store_true", help="keep what differs in roundtrip.log")
    p.add_argument("sources", nargs="*")
    args = p.parse_args()
    os.environ["NVDISASM"] = str(args.nvtools / "nvdisasm")
    report = {}
    archs = args.arch or ["sm_90a", "sm_89", "sm_86", "sm_80", "sm_75", "sm_61", "sm_52"]
    runs = [(arch, opt) for arch in archs for opt in args.opt or ["3"]]
    if not args.arch and not args.opt:
        runs.append(("sm_90a", "0"))
    for arch, opt in runs:
        name = arch if opt == "3" else arch + " -O" + opt
        report[name] = check(arch, opt, args)
        print(name, json.dumps(report[name]), flush=True)
    if args.json:
        args.json.write_text(json.dumps(report, indent=2) + "\n")
    sys.exit(any(r["broken"] or r["other_text"] for r in report.values()))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
