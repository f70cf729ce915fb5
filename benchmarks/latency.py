"""How many cycles must lie between two instructions: fault injection on a GPU.

`latency.py --ngasm build/bin/ngasm --folder build/latency` makes the probes (latencies/probes.py); `--out FILE`, on a
GPU, runs them and writes for each the largest gap at which a result was wrong and the smallest at which one was right:
alone on the chip, with a warp on every scheduler, and beside a kernel that keeps all pipes busy. A process runs a few
hundred probes; one that breaks (or takes too long) is noted, and the next process goes on after it.
"""

from __future__ import annotations

import argparse
import ctypes as C
import json
import subprocess
import sys
import time
from pathlib import Path

from measure.cuda import CudaError, Driver
from measure.report import commit

GAPS = 64
RESULTS = GAPS + 3
UNIFORM = 0x440
DATA_BYTES = 16 << 20
# name, CTAs, threads, noise beside it
SETTINGS = (("alone", 1, 32, False), ("full", 528, 32, False), ("noise", 528, 32, True), ("crowd", 264, 256, True))
ONE_WARP = ("rawu_", "waru_", "spread_U")  # whose threads share a word of shared memory


class Gpu:
    """A context, modules and launches, over ctypes."""

    def __init__(self) -> None:
        self.driver = Driver()
        call = self.driver.call
        call("cuInit", 0)
        device, context = C.c_int(), C.c_void_p()
        call("cuDeviceGet", C.byref(device), 0)
        call("cuDevicePrimaryCtxRetain", C.byref(context), device)
        call("cuCtxSetCurrent", context)
        name = C.create_string_buffer(100)
        call("cuDeviceGetName", name, 100, device)
        version = C.c_int()
        call("cuDriverGetVersion", C.byref(version))
        self.name, self.version = name.value.decode(), version.value

    def allocate(self, size: int) -> int:
        at = C.c_uint64()
        self.driver.call("cuMemAlloc_v2", C.byref(at), C.c_size_t(size))
        self.driver.call("cuMemsetD8_v2", at, C.c_ubyte(0), C.c_size_t(size))
        return at.value

    def function(self, cubin: Path) -> C.c_void_p:
        module, function = C.c_void_p(), C.c_void_p()
        self.driver.call("cuModuleLoadData", C.byref(module), cubin.read_bytes())
        self.driver.call("cuModuleGetFunction", C.byref(function), module, cubin.stem.encode())
        return function

    def stream(self) -> C.c_void_p:
        made = C.c_void_p()
        self.driver.call("cuStreamCreate", C.byref(made), 1)
        return made

    def launch(self, function: C.c_void_p, grid: int, block: int, stream: C.c_void_p, args: list[object]) -> None:
        pointers = (C.c_void_p * len(args))(*[C.cast(C.pointer(a), C.c_void_p) for a in args])  # type: ignore[type-var]
        self.driver.call("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, 0, stream, pointers, None)


def worker(folder: Path, names: list[str]) -> None:
    """Runs the probes; one JSON line each, at once."""
    gpu = Gpu()
    results, data = gpu.allocate(4 * GAPS * 2), gpu.allocate(DATA_BYTES)
    noise, noise_data = gpu.function(folder / "noise.cubin"), gpu.allocate(DATA_BYTES)
    quiet, loud = gpu.stream(), gpu.stream()
    print(json.dumps({"gpu": gpu.name, "driver": gpu.version}), flush=True)
    for name in names:
        print(json.dumps({"begin": name}), flush=True)
        function = gpu.function(folder / f"{name}.cubin")
        out: dict[str, object] = {"name": name}
        for setting, ctas, threads, noisy in SETTINGS:
            if threads > 32 and name.startswith(ONE_WARP):
                continue
            gpu.driver.call("cuMemsetD8_v2", C.c_uint64(results), C.c_ubyte(0), C.c_size_t(4 * RESULTS))
            gpu.driver.call("cuCtxSynchronize")
            if noisy:
                gpu.launch(noise, 264, 256, loud, [C.c_uint64(noise_data), C.c_uint32(4000)])
            gpu.launch(function, ctas, threads, quiet,
                       [C.c_uint64(results), C.c_uint32(UNIFORM), C.c_uint32(UNIFORM), C.c_uint64(data)])  # fmt: skip
            gpu.driver.call("cuCtxSynchronize")
            host = (C.c_uint32 * RESULTS)()
            gpu.driver.call("cuMemcpyDtoH_v2", host, C.c_uint64(results), C.c_size_t(4 * RESULTS))
            out[setting] = list(host)
        print(json.dumps(out), flush=True)


def gaps(counts: dict[str, list[int]]) -> list[int | None] | None:
    """[largest wrong gap, smallest right gap] over all settings; None: the probe shows nothing."""
    wrong = max(g for v in counts.values() for g in range(GAPS) if v[g] or g == 0)
    right: int | None = None
    for v in counts.values():
        all_wrong = v[GAPS] * (v[GAPS + 2] // max(1, v[GAPS + 1]))
        first = next((g for g in range(1, GAPS) if v[g] < all_wrong and (v[g] or g <= wrong + 1)), None)
        right = first if right is None else min(right, first or right)
    return [wrong, right] if any(v[GAPS] for v in counts.values()) else None


def run(
    folder: Path, names: list[str], batch: int, seconds: float
) -> tuple[dict[str, object], dict[str, dict[str, list[int]]]]:
    """Every probe's counts; a probe that broke its process has {"failed": why}."""
    gpu: dict[str, object] = {}
    found: dict[str, dict[str, list[int]]] = {}
    failed: list[str] = []
    left = list(names)
    deadline = time.monotonic() + seconds
    while left and time.monotonic() < deadline:
        part = left[:batch]
        command = [sys.executable, __file__, "--worker", "--folder", str(folder)]
        running = ""
        try:
            done = subprocess.run(
                command, input="\n".join(part), capture_output=True, text=True, timeout=60, check=False
            )
            text, why = done.stdout, done.stderr.strip().splitlines()[-1:] or [f"exit {done.returncode}"]
        except subprocess.TimeoutExpired as late:
            text, why = (
                (late.stdout or b"").decode() if isinstance(late.stdout, bytes) else (late.stdout or ""),
                ["timeout"],
            )
        for row in text.splitlines():
            try:
                said = json.loads(row)
            except json.JSONDecodeError:
                continue
            if "begin" in said:
                running = said["begin"]
            elif "gpu" in said:
                gpu = said
            else:
                found[said.pop("name")] = said
                running = ""
        if running:
            failed.append(f"{running}: {why[0]}")
            left.remove(running)
        if not running and not any(n in found for n in part):
            raise SystemExit(f"no probe ran: {why[0]}")
        left = [n for n in left if n not in found]
    return {**gpu, "failed": failed}, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where the probes are, or are to be made")
    parser.add_argument("--ngasm", type=Path, help="make the probes with this assembler")
    parser.add_argument("--only", default="", help="probes whose name has this pattern in it")
    parser.add_argument("--out", type=Path, help="run the probes and write the counts here")
    parser.add_argument("--seconds", type=float, default=600, help="stop starting processes after this time")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        worker(args.folder, sys.stdin.read().split())
        return
    if args.ngasm:
        from latencies.probes import build

        build(args.ngasm, args.folder, args.only)
        source = Path(__file__).with_name("measure") / "noise.sass"
        subprocess.run([args.ngasm, "as", source, "-o", args.folder / "noise.cubin"], check=True)
    if args.out:
        names = sorted(p.stem for p in args.folder.glob("*.cubin") if p.stem != "noise")
        # What may break its process comes last.
        names.sort(key=lambda n: any(x in n for x in ("_LDS", "_STS", "_ATOMS")))
        gpu, found = run(args.folder, names, 400, args.seconds)
        rows = {name: g for name, counts in sorted(found.items()) if (g := gaps(counts))}
        text = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in rows.items())
        head = {**gpu, "commit": commit(), "columns": ["largest wrong gap", "smallest right gap"], "settings": SETTINGS}
        args.out.write_text(json.dumps(head, indent=1)[:-2] + ',\n "probes": {\n' + text + "\n }\n}\n")
        print(f"{len(found)} of {len(names)} probes ran, {len(rows)} show something")


if __name__ == "__main__":
    try:
        main()
    except CudaError as wrong:
        raise SystemExit(str(wrong)) from wrong
