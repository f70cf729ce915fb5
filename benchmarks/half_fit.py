"""Fits what products of 16-bit floats cost (kernels/gemm/cost/half_cost.cpp), all layouts by one model.

    half_fit.py benchmarks/results/gemm/half_products.jsonl > kernels/gemm/cost/fitted_half.h
    half_fit.py --thin SWEEP... [--to FILE] [--from TEXT]

The model is the C++ one in numpy. Its constants lower the error of each variant's time, those near the product's best
most. A third of the products, by a hash of their sizes, is held out. The regret is the time of the variant that the
model chooses over that of the best, a geometric mean. stderr says how good both are, and where the choice is worst.

--thin: adds the times of `conv_sweep ... gemm` of layers of 1x1 filters to FILE, a line a product: microseconds by tile
and splits ("64x32t", "7": swapped operands, seven splits), without those of over FAR times the best's.
Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

HELD = (132, 66, 39, 30, 22, 17, 15, 15)  # clusters of 1, 2, ... CTAs, one a multiprocessor
PROCESSORS = 132
NEAR = 8  # CTAs in a row that bring what they share once
FAR = 1.7  # times the best: not fitted to
Columns = dict[str, NDArray[Any]]
Product = dict[str, Any]

MOVES = {
    "row128": 0.0007, "row32": 0.001, "row8": 0.0018, "outside": 0.0011, "partly": 0.0014,  # of a block
    "memory": 4.0, "bytes32": 1.05, "bytes8": 1.1, "traffic": 16.0,
}  # fmt: skip
# Where each constant begins; "block.64" is of 64 columns.
STARTS: dict[str, dict[str, float]] = {
    "tiles": {
        **MOVES, "fetched": 8.0, "hindered": 4.0, "start": 1.8, "early_start": 0.97, "tile": 0.1, "columns": 0.6,
        "ping_pong": 0.65, "ping_pong_end": 1.4, "ping_pong_block": 0.3, "sum": 1.05, "part": 0.02, "sums": 0.95,
        "block.64": 0.165, "block.128": 0.31, "block.192": 0.444, "block.256": 0.58,
    },
    "resident": {
        **MOVES, "hindered": 4.0, "start": 1.3, "early_start": 1.25, "column": 0.0011, "tile": 0.2, "columns": 0.1,
        "load": 1.0,
    },
    "cluster": {
        **MOVES, "fetched": 8.0, "start": 0.6, "twice": 2.0, "meet": 0.05, "part": 0.02,
        "block.16": 0.05, "block.32": 0.06, "block.64": 0.1, "block.128": 0.15,
        "end.16": 1.06, "end.32": 1.27, "end.64": 1.7, "end.128": 2.2,
    },
    "pair": {
        **MOVES, "fetched": 8.0, "hindered": 4.0, "start": 1.7, "tile": 0.2, "columns": 0.4,
        "block.64": 0.15, "block.96": 0.2, "block.128": 0.3, "block.160": 0.37, "block.192": 0.44,
    },
}  # fmt: skip


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def lines_of(columns: int) -> int:
    """0: lines of memory begin at multiples of 128 bytes, 1: of 32, 2: anywhere."""
    return 0 if columns % 64 == 0 else 1 if columns % 16 == 0 else 2


def rows_of(columns: int, tile: int, k: int, k_inside: bool) -> list[float]:
    """Rows of a block that a mean tile copies of one operand: by lines_of, outside, partly outside."""
    tiles, out = ceil_div(columns, tile), [0.0] * 5
    if k_inside:
        out[lines_of(k)], out[3] = columns / tiles, tile - columns / tiles
        return out
    width = min(tile, 64)
    boxes, there, partly = tiles * ceil_div(tile, 64), ceil_div(columns, width), int(columns % width != 0)
    out[lines_of(columns)] = 64 * (there - partly) / tiles
    out[3], out[4] = 64 * (boxes - there) / tiles, 64 * partly / tiles
    return out


def family(variant: str) -> str:
    tile = variant.split("/")[0]
    if "r" in tile:
        return "resident"
    if tile.startswith("128x") and tile.endswith("n"):
        return "pair"
    return "cluster" if tile[-1] in "nt" else "tiles"


def fetched_rows(of: str, splits: int, down: int, across: int, bm: int, bn: int) -> float:
    """Of a block of each tile, where neighbours bring what they share once."""
    near = max(NEAR // splits, 1) if of == "cluster" else NEAR
    if of == "tiles" and across > 4:  # hgemm.sass goes down eight tiles first
        rows = min(8, down)
        columns = max(min(near // rows, across), 1)
    else:
        columns = min(across, near)
        rows = max(min(near // across, down), 1)
    return bm / columns + bn / rows


def features(p: Product, variant: str) -> dict[str, Any]:
    """What the model knows of a variant: "64x32t/7", "64x96r9/1", "128x128x2/16"."""
    m, n, k, layout = p["m"], p["n"], p["k"], p["layout"]
    tile, splits = variant.split("/")
    s, of = int(splits), family(variant)
    bm, bn = (int(x) for x in re.findall(r"\d+", tile)[:2])
    a = (m, layout[0] == "N")  # rows of C, and whether k lies inside of the operand's rows
    b = (n, layout[1] == "T")
    rows, columns = (b, a) if tile.endswith("t") else (a, b)
    down, across = ceil_div(rows[0], bm), ceil_div(columns[0], bn)
    tiles, blocks = down * across, ceil_div(ceil_div(k, 64), s)
    bytes_ = [0.0, 0.0, 0.0]
    for length, elements in ((k if a[1] else m, m * k), (k if b[1] else n, n * k), (n, m * n)):
        bytes_[lines_of(length)] += 2e-6 * elements
    out: dict[str, Any] = {"bn": bn, "s": s, "blocks": blocks, "ping_pong": tile.endswith("x2"), "two": False}
    out |= {f"a{i}": x for i, x in enumerate(rows_of(rows[0], bm, k, rows[1]))}
    out |= {f"b{i}": x for i, x in enumerate(rows_of(columns[0], bn, k, columns[1]))}
    out |= {f"bytes{i}": x for i, x in enumerate(bytes_)}
    out |= {"early": False, "sums": 1e-6 * s * m * n if s > 1 else 0.0, "traffic": tiles * s * blocks * (bm + bn)}
    out["fetched"] = 128e-6 * tiles * s * blocks * fetched_rows(of, s, down, across, bm, bn)
    if of == "cluster":
        residents = 2 if bn < 128 else 1
        held = HELD[s - 1] * residents
        out["waves"] = 1 if 32 * tiles <= 33 * held else ceil_div(tiles, held)
        out["two"] = residents == 2 and tiles > HELD[s - 1]
    elif of == "resident":
        ctas = max(PROCESSORS // across, 1)
        out["waves"] = ceil_div(down, ctas)
        out["traffic"] = blocks * (tiles * bm + min(ctas, down) * across * bn)
        out["early"] = out["waves"] == 1
    elif of == "pair":
        out["waves"] = 1
    else:
        out["waves"] = ceil_div(tiles * s, PROCESSORS)
        out["early"] = s == 1 and (tiles <= 66 or (tiles >= 100 and blocks <= 16))
    out["traffic"] *= 128e-6
    return out


def together(e: dict[str, float], *times: NDArray[Any]) -> NDArray[Any]:
    """Of things that go on at once: how much longer than the longest is bounded, or they add up."""
    all_: NDArray[Any] = np.add.reduce(times)
    if "hindered" not in e:
        return all_
    most = np.sqrt(np.sqrt(np.add.reduce([t**4 for t in times])))
    out: NDArray[Any] = most + (all_ - most) / (1 + (all_ - most) / e["hindered"])
    return out


def by_width(e: dict[str, float], what: str, bn: NDArray[Any]) -> NDArray[Any]:
    """Of the constants "what.64", "what.128" ... the one of each tile's columns."""
    names = [name for name in e if name.startswith(what + ".")]
    return np.select([bn == int(name.split(".")[1]) for name in names], [e[name] for name in names])


def microseconds(of: str, e: dict[str, float], d: Columns) -> NDArray[Any]:
    """The model with the constants e."""
    costs = [e[name] for name in ("row128", "row32", "row8", "outside", "partly")]
    of_a = sum(d[f"a{i}"] * c for i, c in enumerate(costs))
    of_b = sum(d[f"b{i}"] * c for i, c in enumerate(costs))
    memory = (d["bytes0"] + e["bytes32"] * d["bytes1"] + e["bytes8"] * d["bytes2"]) / e["memory"]
    traffic = d["traffic"] / e["traffic"] + (d["fetched"] / e["fetched"] if "fetched" in e else 0)
    waves, blocks, wide = d["waves"], d["blocks"], d["bn"] / 64
    if of == "pair":
        block = np.maximum(by_width(e, "block", d["bn"]), of_a / 2 + of_b)  # each CTA copies half of A's rows
        run = blocks * block + e["tile"] + e["columns"] * wide
        return e["start"] + together(e, run, memory, traffic)
    if of == "cluster":
        block = np.maximum(by_width(e, "block", d["bn"]), of_a + of_b) * np.where(d["two"], e["twice"], 1)
        run = waves * blocks * block
        end = by_width(e, "end", d["bn"]) + np.where(d["s"] > 1, e["meet"] * wide, 0)
        return np.asarray(e["start"] + together(e, run, memory, traffic) + waves * end + e["part"] * (d["s"] - 1))
    start = np.where(d["early"], e["early_start"], e["start"])
    if of == "resident":
        tile = blocks * np.maximum(of_a, d["bn"] * e["column"]) + e["tile"] + e["columns"] * wide
        return np.asarray(start + together(e, e["load"] * blocks * of_b + waves * tile, memory, traffic))
    block = np.where(d["ping_pong"], e["ping_pong_block"], by_width(e, "block", d["bn"]))
    products = blocks * np.maximum(of_a + of_b, block)
    turn = products + e["ping_pong"]
    in_turn = np.maximum(waves * turn + e["ping_pong_end"], np.ceil(waves / 2) * (turn + e["ping_pong_end"]))
    run = np.where(d["ping_pong"], in_turn, waves * (products + e["tile"] + e["columns"] * wide))
    sums = np.where(d["s"] > 1, e["sum"] + e["part"] * d["s"] + e["sums"] * d["sums"], 0)
    return np.asarray(start + together(e, run, memory, traffic) + sums)


def columns_of(rows: list[dict[str, Any]]) -> Columns:
    return {name: np.array([r[name] for r in rows]) for name in rows[0]}


def held_out(p: Product) -> bool:
    return int(hashlib.md5(f"{p['m']}x{p['n']}x{p['k']}".encode()).hexdigest(), 16) % 3 == 0


def possible(p: Product, variant: str) -> bool:
    """May the library choose it? (hgemm_cost.cpp: best(), cluster_tiles(), fits_resident())"""
    f, of = features(p, variant), family(variant)
    rows, columns = (p["n"], p["m"]) if "t/" in variant else (p["m"], p["n"])
    tiles = ceil_div(rows, 64) * ceil_div(columns, f["bn"])
    if of == "cluster":
        if f["s"] > 1 and f["blocks"] < 2:
            return False
        return tiles <= PROCESSORS * (1 if p["layout"] == "TN" else 2)
    if of == "pair":
        across = ceil_div(p["n"], f["bn"])
        return across > 1 and ceil_div(p["m"], 128) * ceil_div(across, 2) <= HELD[1]
    if of == "tiles":
        return f["s"] <= min(max(ceil_div(p["k"], 64) // 4, 1), 64) and not (f["ping_pong"] and f["blocks"] < 6)
    return True


def fit(products: list[Product], of: str) -> dict[str, float]:
    """Constants of one family; says how far they are off."""
    start = STARTS[of]
    rows, times, weights, test = [], [], [], []
    for p in products:
        best = min(p["times"].values())
        for variant, us in p["times"].items():
            if family(variant) != of or us > FAR * best:
                continue
            f = features(p, variant)
            if not (f["ping_pong"] and f["blocks"] < 6):
                rows.append(f)
                times.append(us)
                weights.append((best / us) ** 2)
                test.append(held_out(p))
    d, t, w, out = columns_of(rows), np.array(times), np.array(weights), np.array(test)
    first = np.log(np.array(list(start.values())))

    def error(v: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.log(microseconds(of, dict(zip(start, np.exp(v), strict=True)), d) / t))

    few = 0.02 * (~out).sum() ** 0.5  # how much a constant is held where it begins
    found = least_squares(
        lambda v: np.concatenate([(w * error(v))[~out], few * (v - first)]), first, loss="soft_l1", f_scale=0.1
    ).x
    rounded = [float(f"{x:.4g}") for x in np.exp(found)]
    e, near = error(np.log(rounded)), w > 1 / 1.3**2
    print(f"{of:8} {len(t)} times; off by {e[near & ~out].std():.3f}, held out {e[near & out].std():.3f} "
          "(within 1.3 times the best)", file=sys.stderr)  # fmt: skip
    return dict(zip(start, rounded, strict=True))


Lost = tuple[float, Product, str, str]


def regrets(products: list[Product], constants: dict[str, dict[str, float]]) -> list[Lost]:
    """How much slower the chosen variant is than the best, as a logarithm; the product, both variants."""
    out: list[Lost] = []
    for p in products:
        some = [v for v in p["times"] if possible(p, v)]
        if some:
            costs = [float(microseconds(of := family(v), constants[of], columns_of([features(p, v)]))[0]) for v in some]
            chosen, best = some[int(np.argmin(costs))], min(p["times"], key=p["times"].get)
            out.append((float(np.log(p["times"][chosen] / p["times"][best])), p, chosen, best))
    return out


def regret(lost: list[Lost]) -> float:
    return float(np.exp(np.mean([x for x, *_ in lost])))


def header(constants: dict[str, dict[str, float]], says: str) -> str:
    """fitted_half.h."""

    def moves(e: dict[str, float]) -> str:
        rows = f"{{{{{e['row128']}, {e['row32']}, {e['row8']}}}}}, {e['outside']}, {e['partly']}"
        rates = f"{e['memory']}, {{1, {e['bytes32']}, {e['bytes8']}}}, {e['traffic']}, {e.get('fetched', 'kNever')}"
        return f"{{{rows}, {rates}, {e.get('hindered', 'kNever')}}}"

    def more(e: dict[str, float]) -> str:
        out = ""
        for name, x in e.items():
            what, *width = name.split(".")
            if what in (*MOVES, "fetched", "hindered") or (width and f".{what} =" in out):
                continue
            values = [str(v) for n, v in e.items() if n.startswith(what + ".")] if width else []
            out += f"    .{what} = " + (f"{{{', '.join(values)}}}" if values else str(x)) + ",\n"
        return out

    lines = "\n".join(
        f"inline constexpr {of.capitalize()} k{of.capitalize()} = {{\n    .moves = {moves(e)},\n{more(e)}}};"
        for of, e in constants.items()
    )
    said = "".join(f"// {line}\n" for line in says.splitlines())
    return f"""\
// Written by benchmarks/half_fit.py, from benchmarks/results/gemm/half_products.jsonl: do not edit.
{said}#pragma once

#include "kernels/gemm/cost/half_costs.h"

namespace nervanagpu::hgemm::half {{

// clang-format off
{lines}
// clang-format on

}}  // namespace nervanagpu::hgemm::half
"""


def read(path: Path) -> tuple[list[dict[str, str]], list[Product]]:
    """Where the times come from, and the products: "times" by variant."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    products = [x for x in lines if "m" in x]
    for p in products:
        p["times"] = {f"{tile}/{splits}": us for tile, some in p["times"].items() for splits, us in some.items()}
    return [x for x in lines if "m" not in x], products


def line_of(p: Product) -> str:
    """Of a product in the file: "times" by tile and splits, without those that are far from the best."""
    far, tiles = FAR * min(p["times"].values()), dict[str, dict[str, float]]()
    for variant, us in sorted(p["times"].items()):
        if us <= far:
            tile, splits = variant.split("/")
            tiles.setdefault(tile, {})[splits] = us
    return json.dumps({**p, "times": tiles}, separators=(",", ":"))


def thin(sweeps: list[Path], to: Path, origin: str) -> None:
    """Adds them to a file: where all come from, then one line a product."""
    origins, old = read(to) if to.exists() else ([], [])
    products: dict[tuple[int, int, int, str], Product] = {(p["m"], p["n"], p["k"], p["layout"]): p for p in old}
    for line in (x for sweep in sweeps for x in sweep.read_text().splitlines()):
        r = json.loads(line)
        tile, positions = r["tile"].removeprefix("gemm_"), r["n"] * r["side"] ** 2
        if tile == r["tile"] or r["splits"] < 1:
            continue
        m, n, k, layout = {
            "fprop": (positions, r["k"], r["c"], "NT"),
            "bprop": (positions, r["c"], r["k"], "NN"),
            "update": (r["k"], r["c"], positions, "TN"),
        }[r["pass"]]
        blocks = ceil_div(k, 64)
        splits = ceil_div(blocks, ceil_div(blocks, min(r["splits"], blocks)))
        p = products.setdefault((m, n, k, layout), {"m": m, "n": n, "k": k, "layout": layout, "times": {}})
        p["times"][f"{tile}/{splits}"] = round(r["us"], 2)  # a later sweep's counts
    with to.open("w") as file:
        for x in [*origins, {"from": origin}]:
            file.write(json.dumps(x) + "\n")
        for p in products.values():
            file.write(line_of(p) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thin", type=Path, nargs="+", metavar="SWEEP")
    parser.add_argument("--to", type=Path, default=Path("benchmarks/results/gemm/half_products.jsonl"))
    parser.add_argument("--from", dest="origin", default="not recorded", help="device, driver, commit and clocks")
    parser.add_argument("products", type=Path, nargs="?")
    args = parser.parse_args()
    if args.thin:
        thin(args.thin, args.to, args.origin)
        return
    if args.products is None:
        parser.error("needs the file of products, or --thin")
    products = read(args.products)[1]
    constants = {of: fit(products, of) for of in STARTS}
    lost = regrets(products, constants)
    says = f"Times of {len(products)} products on an H200. The chosen variant's time over the best's, a geometric "
    says += "mean:\n"
    for layout in ("NN", "NT", "TN"):
        some = [x for x in lost if x[1]["layout"] == layout]
        both = [[x for x in some if held_out(x[1]) == out] for out in (False, True)]
        says += f"{layout} {regret(both[0]):.4f} of {len(both[0])}, held out {regret(both[1]):.4f} of {len(both[1])}\n"
    print(says, file=sys.stderr)
    for x, p, chosen, best in sorted(lost, key=lambda x: -x[0])[:20]:
        print(f"{np.exp(x):.2f} {p['m']}x{p['n']}x{p['k']} {p['layout']}: {chosen} {p['times'][chosen]}, "
              f"{best} {p['times'][best]}", file=sys.stderr)  # fmt: skip
    print(header(constants, says), end="")


if __name__ == "__main__":
    main()
