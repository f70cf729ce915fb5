"""Fits kernels/gemm/choose/transposed_cost.cpp: products whose k lies across both operands, in all tiles and parts.

    transposed_fit.py [--thin SWEEP... --origin TEXT] benchmarks/results/transposed_products.jsonl

Prints the constants, the model's errors, and by how much the tile it chooses is slower than the best (the regret, a
geometric mean): of the two thirds of the products, by a hash of their sizes, that it is fitted to, and of the others.
The model is the C++ one in numpy. --thin: makes the file of `conv_sweep ... gemm` of updates of 1x1 filters, without
what takes over 2.2 times the best's time. Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

HELD = (132, 66, 39, 30, 22, 17, 15, 15)  # clusters of 1, 2, ... CTAs, one a multiprocessor
PROCESSORS = 132
FAR = 1.7  # times the best: not fitted to
DOUBT = 1.05  # clusters must promise more
Columns = dict[str, NDArray[Any]]

ROWS = {"row": 0.0011, "row32": 0.0013, "row8": 0.0022, "outside": 0.003, "partly": 0.0015}
MEMORY = {"memory": 4.2, "bytes32": 1.1, "bytes8": 1.3}
CLUSTER = {
    **ROWS, **MEMORY, "twice": 2.0, "end16": 1.3, "end32": 1.4, "end64": 1.65, "end128": 2.1, "traffic": 6.0,
    "part": 0.02,
}  # fmt: skip
TILES = {
    **ROWS, **MEMORY, "block64": 0.18, "block128": 0.31, "block192": 0.44, "block256": 0.576, "block_pp": 0.31,
    "start": 2.21, "early": 0.97, "tile": 0.784, "pp": 0.65, "pp_end": 1.4, "sum": 1.1, "part": 0.02, "sums": 0.94,
    "traffic": 7.0,
}  # fmt: skip


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def lines_of(columns: int) -> int:
    """0: lines of memory begin at multiples of 128 bytes, 1: of 32, 2: anywhere."""
    return 0 if columns % 64 == 0 else 1 if columns % 16 == 0 else 2


def side(columns: int, tile: int) -> list[float]:
    """Rows of a block of a mean tile: by lines_of, outside, partly outside."""
    tiles, width = ceil_div(columns, tile), min(tile, 64)
    boxes, there, partly = tiles * ceil_div(tile, 64), ceil_div(columns, width), int(columns % width != 0)
    out = [0.0] * 5
    out[lines_of(columns)] = 64 * (there - partly) / tiles
    out[3], out[4] = 64 * (boxes - there) / tiles, 64 * partly / tiles
    return out


def features(m: int, n: int, k: int, variant: str) -> dict[str, Any]:
    """What the model knows of a variant: "64x32t/7", "128x128x2/16"."""
    tile, splits = variant.split("/")
    s = int(splits)
    swapped, ping_pong = tile.endswith("t"), tile.endswith("x2")
    bm, bn = (int(x) for x in tile.rstrip("nt").split("x")[:2])
    rows, columns = (n, m) if swapped else (m, n)
    tiles = ceil_div(rows, bm) * ceil_div(columns, bn)
    blocks = ceil_div(ceil_div(k, 64), s)
    bytes_ = [0.0, 0.0, 0.0]
    for lines, length in ((k, m), (k, n), (m, n)):
        bytes_[lines_of(length)] += 2e-6 * lines * length
    out: dict[str, Any] = {"bn": bn, "s": s, "blocks": blocks, "ping_pong": ping_pong, "cluster": bm == 64}
    out |= {f"row{i}": a + b for i, (a, b) in enumerate(zip(side(rows, bm), side(columns, bn), strict=True))}
    out |= {f"bytes{i}": b for i, b in enumerate(bytes_)}
    out["traffic"] = 128e-6 * tiles * s * blocks * (bm + bn)
    out["sums"] = 1e-6 * s * m * n if s > 1 else 0.0
    if bm == 64:
        residents = 2 if bn < 128 else 1
        held = HELD[s - 1] * residents
        out["rounds"] = 1 if 32 * tiles <= 33 * held else ceil_div(tiles, held)
        out["two"] = residents == 2 and tiles > HELD[s - 1]
        out["width"], out["early"] = (16, 32, 64, 128).index(bn), False
    else:
        out["rounds"], out["two"] = ceil_div(tiles * s, PROCESSORS), False
        out["width"] = 4 if ping_pong else bn // 64 - 1
        out["early"] = s == 1 and (tiles <= 66 or (tiles >= 100 and blocks <= 16))
    return out


def norm(*terms: NDArray[Any]) -> NDArray[Any]:
    return np.add.reduce([t**4 for t in terms]) ** 0.25  # type: ignore[no-any-return]


def microseconds(e: dict[str, float], d: Columns, cluster: bool) -> NDArray[Any]:
    """The model with the constants e."""
    costs = (e["row"], e["row32"], e["row8"], e["outside"], e["partly"])
    rows = sum(d[f"row{i}"] * c for i, c in enumerate(costs))
    memory = (d["bytes0"] + e["bytes32"] * d["bytes1"] + e["bytes8"] * d["bytes2"]) / e["memory"]
    traffic = d["traffic"] / e["traffic"]
    if cluster:
        run = d["rounds"] * d["blocks"] * rows * np.where(d["two"], e["twice"], 1)
        ends = np.array([e["end16"], e["end32"], e["end64"], e["end128"]])[d["width"]]
        return 0.3 + norm(run, memory, traffic) + d["rounds"] * ends + e["part"] * (d["s"] - 1)
    names = ("block64", "block128", "block192", "block256", "block_pp")
    tile = d["blocks"] * np.maximum(rows, np.array([e[n] for n in names])[d["width"]])
    turns = tile + e["pp"]
    ping_pong = np.maximum(d["rounds"] * turns + e["pp_end"], np.ceil(d["rounds"] / 2) * (turns + e["pp_end"]))
    run = np.where(d["ping_pong"], ping_pong, d["rounds"] * (tile + e["tile"] * d["bn"] / 64))
    out = np.where(d["early"], e["early"], e["start"]) + norm(run, memory, traffic)
    return out + np.where(d["s"] > 1, e["sum"] + e["part"] * d["s"] + e["sums"] * d["sums"], 0)


def columns_of(rows: list[dict[str, Any]]) -> Columns:
    return {name: np.array([r[name] for r in rows]) for name in rows[0]}


def held_out(p: dict[str, Any]) -> bool:
    return int(hashlib.md5(f"{p['m']}x{p['n']}x{p['k']}".encode()).hexdigest(), 16) % 3 == 0


def fit(products: list[dict[str, Any]], cluster: bool) -> dict[str, float]:
    """Constants of one family; prints its errors."""
    start = CLUSTER if cluster else TILES
    rows, times, weights, test = [], [], [], []
    for p in products:
        best = min(p["times"].values())
        for variant, us in p["times"].items():
            f = features(p["m"], p["n"], p["k"], variant)
            if f["cluster"] == cluster and us <= FAR * best and not (f["ping_pong"] and f["blocks"] < 6):
                rows.append(f)
                times.append(us)
                weights.append((best / us) ** 2)
                test.append(held_out(p))
    d, t, w, out = columns_of(rows), np.array(times), np.array(weights), np.array(test)
    first = np.log(np.array(list(start.values())))

    def error(v: NDArray[Any]) -> NDArray[Any]:
        return np.log(microseconds(dict(zip(start, np.exp(v), strict=True)), d, cluster) / t)

    few = 0.02 * (~out).sum() ** 0.5  # how much a constant is held where it begins
    found = least_squares(
        lambda v: np.concatenate([(w * error(v))[~out], few * (v - first)]), first, loss="soft_l1", f_scale=0.1
    ).x
    e = error(found)
    near = t <= 1.3 * t * w**0.5
    print(f"{'clusters' if cluster else 'tiles':8} {len(t)} times; off by {e[near & ~out].std():.3f}, "
          f"held out {e[near & out].std():.3f} (within 1.3 times the best)")  # fmt: skip
    return dict(zip(start, (float(x) for x in np.exp(found)), strict=True))


def regret(products: list[dict[str, Any]], constants: dict[bool, dict[str, float]]) -> float:
    """The chosen variant's time over the best's."""
    lost = []
    for p in products:
        found: list[tuple[float, float]] = []
        for variant, us in p["times"].items():
            f = features(p["m"], p["n"], p["k"], variant)
            if f["ping_pong"] and f["blocks"] < 6:
                continue
            cost = microseconds(constants[f["cluster"]], columns_of([f]), f["cluster"])[0]
            found.append((cost * (DOUBT if f["cluster"] else 1), us))
        lost.append(np.log(min(found)[1] / min(p["times"].values())))
    return float(np.exp(np.mean(lost)))


def thin(sweeps: list[Path], origin: str, out: Path) -> None:
    """Where they come from, then one line a product."""
    products: dict[tuple[int, int, int], dict[str, Any]] = {}
    for line in (x for sweep in sweeps for x in sweep.read_text().splitlines()):
        r = json.loads(line)
        tile = r["tile"].removeprefix("gemm_")
        if r["pass"] != "update" or tile == r["tile"] or r["splits"] < 1 or tile == "128x64n":
            continue
        m, n, k = r["k"], r["c"], r["n"] * r["side"] ** 2
        blocks = ceil_div(k, 64)
        splits = ceil_div(blocks, ceil_div(blocks, min(r["splits"], blocks)))
        p = products.setdefault((m, n, k), {"layer": r["layer"], "m": m, "n": n, "k": k, "times": {}})
        p["times"][f"{tile}/{splits}"] = round(r["us"], 2)  # a later sweep's counts
    with out.open("w") as file:
        file.write(json.dumps({"from": origin}) + "\n")
        for p in products.values():
            far = 2.2 * min(p["times"].values())
            p["times"] = {v: us for v, us in sorted(p["times"].items()) if us <= far}
            file.write(json.dumps(p) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thin", type=Path, nargs="+", metavar="SWEEP")
    parser.add_argument("--origin", default="not recorded", help="device, driver, commit and clocks of the sweeps")
    parser.add_argument("products", type=Path)
    args = parser.parse_args()
    if args.thin:
        thin(args.thin, args.origin, args.products)
    _, *products = (json.loads(x) for x in args.products.read_text().splitlines())
    constants = {cluster: fit(products, cluster) for cluster in (True, False)}
    for cluster, e in constants.items():
        print("clusters" if cluster else "tiles", {name: float(f"{x:.4g}") for name, x in e.items()})
    for name, out in (("fitted", False), ("held out", True)):
        some = [p for p in products if held_out(p) == out]
        print(f"{name}: {len(some)} products, regret {regret(some, constants):.4f}")


if __name__ == "__main__":
    main()
