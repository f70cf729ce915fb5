"""Writes benchmarks/results/toolchain/{coverage,corpus,mutants}.json, of which tools/toolchain_table.py makes a table.

toolchain_results.py coverage --ngasm PATH        rows and opcode values of each architecture
toolchain_results.py corpus --from FILE           what tools/harvest/corpus.py --json wrote
toolchain_results.py mutants                      from benchmarks/results/checks/mutants.json
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from pathlib import Path
from typing import Any

from result_commit import commit

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks/results/toolchain"
ROWS = ("sm_90a", "sm_89", "sm_86", "sm_80", "sm_75", "sm_61", "sm_52")
VALUES = re.compile(r"(\w+): (\d+) of (\d+) mnemonics, (\d+) of (\d+) opcode values have rows")
Number = dict[str, int | float | str]


def coverage(ngasm: str) -> dict[str, Any]:
    """Rows as `ngasm isa` lists them; opcode values as `ngasm coverage` counts them."""

    def run(*args: str) -> str:
        return subprocess.run([ngasm, *args], capture_output=True, text=True, check=True).stdout

    numbers: list[Number] = [{"what": f"rows, {a}", "value": len(json.loads(run("isa", "--arch", a)))} for a in ROWS]
    archs: dict[str, dict[str, int]] = {}
    for arch, *counts in VALUES.findall(run("coverage")):
        known, names, here, values = map(int, counts)
        archs[arch] = {"mnemonics": names, "with rows": known, "values": values, "values with rows": here}
    for arch, c in sorted(archs.items(), reverse=True):
        text = f"{c['with rows']} of {c['mnemonics']} mnemonics, {c['values with rows']} of {c['values']} opcode values"
        numbers.append({"what": f"with rows, {arch}", "value": text})
    return {"verb": "make coverage", "commit": commit(), "numbers": numbers, "archs": archs}


def corpus(measured: dict[str, dict[str, Any]]) -> dict[str, Any]:
    numbers: list[Number] = []
    for arch, r in measured.items():
        text = f"{r['words']:,} instructions, {r['distinct']:,} distinct: {r['exact_percent']} % exact, "
        text += f"{r['unknown']} unknown, {r['broken']} broken, {r['other_text']} with another text"
        numbers.append({"what": arch, "value": text})
    for arch, r in measured.items():
        if "proven" not in r:
            continue
        text = f"{r['kernels']} kernels, {r['proven']} proven, {r['not_decoded']} with instructions that have no row, "
        numbers.append({"what": f"verify, {arch}", "value": text + f"{r['findings']} findings in the others"})
    return {"verb": "make corpus NVTOOLS=DIR", "commit": commit(), "numbers": numbers, "archs": measured}


def mutants(measured: dict[str, Any]) -> dict[str, Any]:
    total = measured["total"]
    kinds = {
        "mutants": "mutants",
        "flagged": "flagged",
        "flagged: run": "of these run on the GPU",
        "flagged: wrong": "of these wrong",
        "unflagged": "not flagged",
        "unflagged: run": "of these run on the GPU",
        "unflagged: wrong": "of these wrong",
    }
    numbers = [{"what": what, "value": total[key]} for key, what in kinds.items()]
    return {"verb": "make mutants", "commit": measured["commit"], "numbers": numbers, "gpu": measured["gpu"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("group", choices=("coverage", "corpus", "mutants"))
    parser.add_argument("--ngasm", default=str(ROOT / "build/bin/ngasm"))
    parser.add_argument("--from", dest="source", type=Path, default=ROOT / "build/corpus/corpus.json")
    args = parser.parse_args()
    if args.group == "coverage":
        result = coverage(args.ngasm)
    elif args.group == "corpus":
        result = corpus(json.loads(args.source.read_text(encoding="utf-8")))
    else:
        result = mutants(json.loads((ROOT / "benchmarks/results/checks/mutants.json").read_text(encoding="utf-8")))
    RESULTS.mkdir(parents=True, exist_ok=True)
    file = RESULTS / f"{args.group}.json"
    file.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for number in result["numbers"]:
        print(f"{number['what']}: {number['value']}")


if __name__ == "__main__":
    main()
