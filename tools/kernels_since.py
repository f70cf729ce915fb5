"""Which kernels' code is another than at a commit: `tools/kernels_since.py COMMIT...`, or the name of a result.

A figure stands while the code it measured does. Each commit's kernels are assembled by its own assembler in a work tree
under build/since, and every kernel's words of every architecture are compared with those in build/kernels; what changes
the host's part only (manifests, symbols, line tables) is no change here. Kernels that are generated at run time are not
among them.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "harvest"))
from cubin import texts
from result_commit import ROOT, git

RESULTS = ROOT / "benchmarks/results"


def commit_of(name: str) -> str:
    """A commit's full hash; `name` may be a JSON file of results."""
    file = RESULTS / name
    if file.suffix == ".json":
        found = re.search(r'"commit":\s*"([0-9a-f]{7,40})', file.read_text())
        if found is None:
            raise SystemExit(f"kernels_since: {file} names no commit")
        name = found.group(1)
    return git("rev-parse", "--verify", f"{name}^{{commit}}")


def kernels(folder: Path) -> dict[str, bytes]:
    """Code by `file.arch:kernel`."""
    return {
        f"{file.stem}:{name}": code for file in sorted(folder.glob("*.cubin")) for name, code in texts(file).items()
    }


def build(commit: str, jobs: int) -> Path:
    """The folder of a commit's cubins."""
    tree = ROOT / "build/since" / commit[:12]
    folder = tree / "build/kernels"
    if not (tree / ".git").exists():
        git("worktree", "prune")
        git("worktree", "add", "--force", "--detach", str(tree), commit)
    for command in (
        ["cmake", "-S", tree, "-B", tree / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"],
        ["cmake", "--build", tree / "build", "--target", "kernels", "-j", str(jobs)],
    ):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(
                f"kernels_since: {commit[:12]} does not build:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
            )
    return folder


def compare(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> dict[str, list[str]]:
    """Names of kernels that are the same, changed, gone and new."""
    both = old.keys() & new.keys()
    return {
        "same": sorted(k for k in both if old[k] == new[k]),
        "changed": sorted(k for k in both if old[k] != new[k]),
        "gone": sorted(old.keys() - new.keys()),
        "new": sorted(new.keys() - old.keys()),
    }


def main() -> int:
    """Prints what changed; with --json all names."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("commits", nargs="+", metavar="COMMIT", help="or a file of benchmarks/results")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--json", type=Path, help="where all names go")
    args = p.parse_args()
    now = kernels(ROOT / "build/kernels")
    if not now:
        raise SystemExit("kernels_since: build/kernels is empty; run make build")
    found = {}
    for name in args.commits:
        commit = commit_of(name)
        found[commit] = compare(kernels(build(commit, args.jobs)), now)
        families: dict[tuple[str, str], int] = {}
        for kind, names in found[commit].items():
            for kernel in names:
                families[kernel.partition(":")[0], kind] = families.get((kernel.partition(":")[0], kind), 0) + 1
        print(f"{name} ({commit[:12]})")
        for family in sorted({f for f, _ in families}):
            print(
                f"  {family}: "
                + ", ".join(f"{families[family, k]} {k}" for k in found[commit] if (family, k) in families)
            )
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
