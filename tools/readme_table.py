"""Writes the speed tables of README.md and docs/benchmarks.md from benchmarks/results.

--check fails where one is out of date.

A table stands between `<!-- table: benchmarks/results/ROOM/NAME.json -->` and `<!-- end -->`. The README's, which is
made from several, has `*/*.json`. One that a page does not have, or whose JSON is not there yet, is left alone.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks/results"
NETWORKS_OF_FLOAT32 = ("convnets_tensor", "convnets_tf32")
END = "<!-- end -->"
NETWORKS = {
    "alexnet": "AlexNet",
    "overfeat": "OverFeat",
    "vgg_a": "VGG-A",
    "vgg_e": "VGG-E",
    "googlenet": "GoogLeNet v1",
}


def file_of(name: str) -> Path:
    """Results by name, in whichever room they lie; names of tables are of one file each."""
    return next(RESULTS.glob(f"*/{name}.json"), RESULTS / f"{name}.json")


def _commits(result: dict, rows: list[dict], digits: int = 12) -> str:
    """The file's, without what it says after it, or what a row says that is of another."""
    return ", ".join(dict.fromkeys((r.get("commit") or result["commit"].split()[0])[:digits] for r in rows))


def _commit(result: dict) -> str:
    return _commits(result, result.get("rows") or [{}])


def gemm(result: dict) -> str:
    """One line a case, one column a dtype and layout: our TFLOPS and the ratio to the peer."""
    cells = {(r["case"], r["dtype"], r["layout"]): r for r in result["rows"]}
    columns = list(dict.fromkeys((r["dtype"], r["layout"]) for r in result["rows"]))
    lines = [
        "| m x n x k | " + " | ".join(f"{dtype} {layout.upper()}" for dtype, layout in columns) + " |",
        "|---|" + "---|" * len(columns),
    ]
    for case in dict.fromkeys(r["case"] for r in result["rows"]):
        row = [cells.get((case, *c)) for c in columns]
        shown = [f"{r['tflops']:.{int(r['tflops'] < 100)}f} ({r['ratio']:.2f})" if r else "" for r in row]
        lines.append(f"| {case} | " + " | ".join(shown) + " |")
    errors = []
    lines += ["", _ratios(result["rows"])]
    for dtype in dict.fromkeys(dtype for dtype, _ in columns):
        rows = [r for r in result["rows"] if r["dtype"] == dtype]
        worst, peer = max(r["max_err"] for r in rows), max(r["peer_max_err"] for r in rows)
        errors.append(f"{dtype} {worst:.1e}, cuBLAS {peer:.1e}")
    lines += [
        "",
        f"TFLOPS (and times {result['rows'][0]['peer']}). {result['gpu']}, driver {result['driver']}, commit "
        f"{_commit(result)}; SM clock {result['clocks']['sm']} MHz and {float(result['power']['draw']):.0f} W "
        f"a second into NN 4096 float32. Largest error over \\|A\\|\\|B\\|: {'; '.join(errors)}.",
    ]
    return "\n".join(lines)


def _ratios(rows: list[dict]) -> str:
    """Geometric means and ranges: of all, of those whose sides the peer finds aligned, without overlapping launches."""

    def text(of: list[float]) -> str:
        return f"{statistics.geometric_mean(of):.2f} ({min(of):.2f} to {max(of):.2f}; {len(of)} products)"

    aligned = [r["ratio"] for r in rows if all(int(side) % 8 == 0 for side in r["case"].split("x"))]
    out = f"Geometric mean of the ratios {text([r['ratio'] for r in rows])}."
    if len(aligned) not in (0, len(rows)):
        out += f" Of products whose sides are all multiples of 8 it is {text(aligned)}."
    apart = [r["peer_ms"] / r["apart_ms"] for r in rows if r.get("apart_ms")]
    if apart:
        out += f" With launches of ours that do not overlap it is {text(apart)}."
    return out


def sixteen_bits(result: dict) -> str:
    """Without float32, which has a table of its own."""
    return gemm(result | {"rows": [r for r in result["rows"] if r["dtype"] != "float32"]})


def steps_of(result: dict) -> list[dict]:
    """The rows of whole steps, in the order of the networks."""
    totals = [r for r in result["rows"] if r["bench"] == "convnets" and r["pass"] == "total"]
    return sorted(totals, key=lambda r: [*NETWORKS].index(r["case"]))


def convnets(result: dict) -> str:
    """One line a network and dtype: milliseconds of a step, ours, the peer's eager and compiled, its best over ours."""
    totals = steps_of(result)
    peer = next((r["peer"] for r in totals if r["peer"]), "no peer")
    lines = [
        f"| fprop + bprop | | ms | TFLOPS | {peer} | `torch.compile` | times ours |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in totals:
        eager = [ms for form, ms in r["peers"].items() if "compiled" not in form]
        compiled = [ms for form, ms in r["peers"].items() if "compiled" in form]
        beside = [f"{min(v):.2f}" if v else "-" for v in (eager, compiled)]
        ratio = f"{r['ratio']:.2f}" if r["ratio"] else "-"
        lines.append(
            f"| {NETWORKS[r['case']]}, N={r['n']} | {r['dtype']} | {r['median_ms']:.2f} | {r['tflops']:.0f} | "
            f"{' | '.join(beside)} | **{ratio}** |"
        )
    lines += [
        "",
        "Milliseconds of a step replayed from a CUDA graph; PyTorch's also, in the faster of NCHW and channels_last. "
        f"{result['gpu']}, driver {result['driver']}, SM clock {result['clocks']['sm']} MHz and "
        f"{float(result['power']['draw']):.0f} W a second into the last network, commit {_commit(result)}.",
    ]
    return "\n".join(lines)


def precisions(result: dict) -> str:
    """float32 in both precisions, and the peer's without and with TF32: products, then steps of networks."""
    lines = [
        "| | strict | tensor | the peer | its TF32 | rms: strict | tensor | the peer | TF32 |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for r in result["rows"]:
        if "whole" not in r or "tf32_ms" not in r:
            continue
        m, n, k = (int(side) for side in r["case"].split("x"))
        rates = [2e-9 * m * n * k / r[ms] for ms in ("strict_ms", "ms", "peer_ms", "tf32_ms")]
        errors = [r["whole"]["uniform"][who]["rms"] for who in ("strict", "tensor", "cuBLAS", "cuBLAS TF32")]
        cells = [f"{rate:.0f}" for rate in rates] + [f"{error:.1e}" for error in errors]
        lines.append(f"| {r['case']}, {r['layout'].upper()} | {' | '.join(cells)} |")
    tensor, tf32 = (steps_of(json.loads(file_of(name).read_text())) for name in NETWORKS_OF_FLOAT32)
    for r in tf32:
        other = next(t for t in tensor if t["case"] == r["case"])
        times = r["median_ms"], other["median_ms"], other["peer_ms"], r["peer_ms"]
        lines.append(
            f"| {NETWORKS[r['case']]}, N={r['n']} | " + " | ".join(f"{t:.1f} ms" for t in times) + " | | | | |"
        )
    lines += [
        "",
        f"TFLOPS of products, of which the peer is {result['rows'][0]['peer']}, and their root mean square errors over "
        "\\|A\\|\\|B\\|, of all outputs, on uniform numbers. Milliseconds of a step, whose peer is eager PyTorch. "
        + _where(result),
    ]
    return "\n".join(lines)


def conv(result: dict) -> str:
    """One line a network and dtype: geometric means, and the range, of the peer's time over ours by pass."""
    names = [n for n in NETWORKS if any(r["case"].startswith(n + ".") for r in result["rows"])]
    lines = ["| layers of | | fprop | bprop | update |", "|---|---|---|---|---|"]
    groups = [(NETWORKS[n], lambda r, n=n: r["case"].startswith(n + ".")) for n in names]
    first = [f"{n}.conv1" for n in names]
    groups += [("first layers", lambda r: r["case"] in first), ("all others", lambda r: r["case"] not in first)]
    for dtype in dict.fromkeys(r["dtype"] for r in result["rows"]):
        for title, member in groups:
            cells = []
            for pass_ in ("fprop", "bprop", "update"):
                ratios = [
                    r["ratio"] for r in result["rows"] if r["dtype"] == dtype and r["pass"] == pass_ and member(r)
                ]
                low, high = min(ratios, default=0.0), max(ratios, default=0.0)
                shown = (
                    f"{statistics.geometric_mean(ratios):.2f} ({low:.2f} to {high:.2f}; {len(ratios)})"
                    if ratios
                    else ""
                )
                cells.append(shown)
            lines.append(f"| {title} | {dtype} | {' | '.join(cells)} |")
    peer = result["rows"][0]["peer"]
    return "\n".join(
        [
            *lines,
            "",
            f"Time of {peer} (PyTorch, the faster of channels_last and contiguous) over ours: geometric mean (range; "
            f"layers). {_where(result)}",
        ]
    )


def conv_int8(result: dict) -> str:
    """One line a network: the geometric mean, and the range, of the peer's time over ours."""
    first = {f"{n}.conv1" for n in NETWORKS}
    groups = [(NETWORKS[n], lambda r, n=n: r["case"].startswith(n + ".")) for n in NETWORKS]
    groups += [("first layers", lambda r: r["case"] in first), ("all others", lambda r: r["case"] not in first)]
    lines = ["| layers of | int8 to int8, fprop | most TOPS, ours and the peer's |", "|---|---|---|"]
    for title, member in groups:
        rows = [r for r in result["rows"] if member(r)]
        if rows:
            ratios = [r["ratio"] for r in rows]
            most = [f"{max(r[of] for r in rows):.0f}" for of in ("tflops", "peer_tflops")]
            shown = f"{statistics.geometric_mean(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}; {len(ratios)})"
            lines.append(f"| {title} | {shown} | {most[0]}, {most[1]} |")
    peer = result["rows"][0]["peer"]
    note = f"Time of {peer} (its quicker layout, channels padded ahead) over ours: geometric mean (range; layers)."
    return "\n".join([*lines, "", f"{note} {_where(result)}"])


ELEMENTWISE = {
    "scale": "`x * 5`",
    "three": "`y = x * 5; y = y * y; y + y`",
    "exp": "`exp(x)`",
    "tanh": "`tanh(x)`",
    "reciprocal": "`1 / (x * x + 1)`",
    "batchnorm": "batch normalisation of rows",
    "batchnorm0": "batch normalisation of columns",
    "variance": "variance of rows",
    "softmax": "softmax",
    "layernorm": "layer normalisation",
    "running1": "running sums along rows",
    "running0": "running sums along columns",
    "sum1": "sums of rows",
    "sum0": "sums of columns",
    "sum": "sum of all",
}
PEERS = {"torch": "PyTorch", "inductor": "Inductor", "autotuned": "Inductor, autotuned", "cupy": "CuPy"}


def elementwise(result: dict) -> str:
    """One line a case: our milliseconds, the share of the copy's bandwidth, and each peer's milliseconds and ratio."""
    order = [p for p in PEERS if any(p in row["peers"] for row in result["rows"])]
    lines = [
        f"| {result['shape'][0]} x {result['shape'][1]} float32 | ms | of a copy | "
        + " | ".join(PEERS[p] for p in order)
        + " |",
        "|---|---|---|" + "---|" * len(order),
    ]
    for row in result["rows"]:
        shown = _beside(row, order)
        lines.append(f"| {ELEMENTWISE[row['case']]} | {row['ms']:.3f} | {100 * row['of_copy']:.0f} % | {shown} |")
    return "\n".join([*lines, "", f"Milliseconds (and times ours). {_where(result)}"])


def elementwise_large(result: dict) -> str:
    """The same of 10^9 elements."""
    names = {"ones": "ones", "scale": "`x *= 5`", "statements": "`x *= 5; x *= x; x += x`", "rand": "uniform, a tenth"}
    order = [p for p in PEERS if any(p in row["peers"] for row in result["rows"])]
    lines = [
        f"| {result['size']:.0e} float32 | ms | TB/s | ".replace("e+0", "e")
        + " | ".join(PEERS[p] for p in order)
        + " |",
        "|---|---|---|" + "---|" * len(order),
    ]
    for row in result["rows"]:
        shown = _beside(row, order)
        lines.append(f"| {names.get(row['case'], row['case'])} | {row['ms']:.3f} | {row['tb_s']:.2f} | {shown} |")
    return "\n".join([*lines, "", f"Milliseconds (and times ours). {_where(result)}"])


PRODUCTS = {
    "plain": "`w @ x`",
    "neuron": "`sig(w @ x + b)`",
    "sample": "`rand < sig(w @ x + b)`",
    "relu": "`relu(w @ x + c)`",
    "silu": "`silu(w @ x + c)`",
    "recurrent": "`tanh(w @ x + u @ h + b)`",
}


def products(result: dict) -> str:
    """One line a formula and shape: our milliseconds and kernels, and each peer's milliseconds and ratio."""
    order = {"torch": "PyTorch", "inductor": "Inductor", "autotuned": "Inductor, autotuned", "cupy": "CuPy"}
    lines = [
        "| m x n x k | | ms | kernels | " + " | ".join(order.values()) + " |",
        "|---|---|---|---|" + "---|" * len(order),
    ]
    for row in result["rows"]:
        shape = f"{row['m']} x {row['n']} x {row['k']} {row['dtype']}"
        shown = _beside(row, list(order))
        lines.append(f"| {shape} | {PRODUCTS[row['case']]} | {row['ms']:.3f} | {row['kernels']} | {shown} |")
    return "\n".join([*lines, "", f"Milliseconds (and times ours). {_where(result)}"])


EPILOGUES = ["plain", "to float32", "to int8", "bias", "relu, mask", "drelu", "tanh", "gelu", "gelu, bias", "all sums"]


def epilogue(result: dict) -> str:
    """One line a case and dtype: microseconds by what is asked of the epilogue, and the cost over plain."""
    lines = ["| m x n x k | operands | " + " | ".join(EPILOGUES) + " |", "|---|---|" + "---|" * len(EPILOGUES)]
    for case, dtype in dict.fromkeys((r["case"], r["dtype"]) for r in result["rows"]):
        rows = {r["pass"]: r for r in result["rows"] if (r["case"], r["dtype"]) == (case, dtype)}
        plain = next(iter(rows.values()))
        cells = [_microseconds(plain)]
        for name in EPILOGUES[1:]:
            r = rows.get(name)
            more = None if r is None else 100 * (r["ms"] / plain["ms"] - 1)
            cells.append("" if r is None or r is plain else f"{_microseconds(r)} ({more:+.0f} %)")
        lines.append(f"| {case} | {dtype} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", f"Microseconds (and what that is over plain). {_where(result)}"])


def _microseconds(row: dict) -> str:
    us = 1e3 * row["ms"]
    return f"{us:.{0 if us >= 1000 else 1}f}"


def nn(result: dict) -> str:
    """One line an operation: microseconds and TB/s."""
    lines = [f"| {result['shape'][0]} x {result['shape'][1]} float32 | us | TB/s |", "|---|---|---|"]
    lines += [f"| {name} | {r['us']:.1f} | {r['TB_s']:.2f} |" for name, r in result["operations"].items()]
    lines += ["", "| microseconds of the host a call | |", "|---|---|"]
    lines += [f"| {name} | {us:.1f} |" for name, us in result["host_us"].items()]
    return "\n".join([*lines, "", _where(result)])


def _beside(row: dict, order: list[str]) -> str:
    """The peers' cells: milliseconds and times ours."""
    peers = [row["peers"].get(p) for p in order]
    return " | ".join("" if p is None else f"{p:.3f} ({p / row['ms']:.2f})" for p in peers)


def _where(result: dict) -> str:
    return f"{result['gpu']}, driver {result['driver']}, commit {_commit(result)}."


def _spread(ratios: list[float]) -> str:
    return f"**{statistics.geometric_mean(ratios):.2f}** ({min(ratios):.2f} to {max(ratios):.2f}, {len(ratios)} cases)"


# The README's lines of many cases: results, what they are of, the peer, the dtype if not all.
SPREADS = (
    ("conv", "layers of four networks, float16", "cuDNN", "float16"),
    ("conv_int8", "the same layers, int8 (fprop)", "cuDNN, int8", None),
    ("conv_pieces", "the same layers, float32 tensor", "cuDNN", None),
    ("gemm_float32", "products, float32, strict", "cuBLAS and cublasLt", None),
    ("gemm_tensor", "products, float32 tensor", "cuBLAS, float32", None),
    ("gemm_large", "products, 16 bits, 1024 to 8192", "cuBLAS and cublasLt", None),
    ("gemm_short_sides", "products, 16 bits, a short or odd side", "cuBLAS and cublasLt", None),
    ("dgemm", "products, float64", "cuBLAS", "float64"),
)


def summary() -> str:
    """The README's: one line a network, kind of product and kind of expression, with the peer's time over ours."""

    def load(name: str) -> dict:
        return json.loads(file_of(name).read_text())

    def line(what: str, peer: str, ratio: str, result: dict, commit: str = "") -> str:
        """The commit, and the GPU where it is not the table's."""
        gpu = "" if "H200" in result["gpu"] else f", {result['gpu'].removeprefix('NVIDIA ').split()[0]}"
        return f"| {what} | {peer} | {ratio} | {commit or result['commit'][:7]}{gpu} |"

    lines = ["| | peer | times as fast | commit |", "|---|---|---|---|"]
    totals = []
    for networks in (load("convnets"), load("convnets_tensor")):
        steps = steps_of(networks)
        totals += steps
        for case in dict.fromkeys(r["case"] for r in steps if r["ratio"]):
            rows = [r for r in steps if r["case"] == case and r["ratio"]]
            best = [min((ms, form) for form, ms in r["peers"].items() if ms) for r in rows]
            forms = dict.fromkeys("torch.compile" if "compiled" in form else "eager" for _, form in best)
            peer = f"PyTorch, {' and '.join(forms)}: {' and '.join(f'{ms:.2f}' for ms, _ in best)} ms"
            dtypes = [f"{r['dtype']}{' tensor' if r.get('precision') == 'tensor' else ''}" for r in rows]
            times = " and ".join(f"{r.get('median_ms', r['ms']):.2f}" for r in rows)
            what = f"{NETWORKS[case]}, {' and '.join(dtypes)}, N={rows[0]['n']}: {times} ms a step"
            ratios = " and ".join(f"**{r['ratio']:.2f}**" for r in rows)
            lines.append(line(what, peer, ratios, networks, _commits(networks, rows, 7)))
    for name, what, peer, dtype in SPREADS:
        result = load(name)
        rows = [r for r in result["rows"] if dtype in (None, r["dtype"]) and " tile " not in r["case"]]
        ratios = [r["ratio"] for r in rows if r["ratio"]]
        lines.append(line(what, peer, _spread(ratios), result, _commits(result, rows, 7)))
    sorts = load("sort")
    keys = next(r for r in sorts["rows"] if r["shape"] == [10**8] and r["dtype"] == "float32")
    both = [keys[name] for name in ("sort", "argsort")]
    ours = " and ".join(f"{k['ours']['ms']:.2f}" for k in both)
    cupy = " and ".join(f"{k['cupy']['ms']:.2f}" for k in both)
    ratios = " and ".join(f"**{k['cupy']['times_as_fast']:.2f}**" for k in both)
    row = f"sort and argsort of 10^8 float32: {ours} ms", f"CuPy: {cupy} ms"
    lines.append(line(*row, ratios, sorts, keys.get("commit", "")[:7]))
    expressions = load("elementwise")
    for what, peers, name in (
        ("expressions of 4096 x 8192 float32", ("inductor", "autotuned"), "torch.compile, its best"),
        ("the same", ("cupy",), "CuPy"),
    ):
        ratios = [
            min(of) / r["ms"] for r in expressions["rows"] if (of := [r["peers"][p] for p in peers if p in r["peers"]])
        ]
        lines.append(line(what, name, _spread(ratios), expressions))
    missing = [NETWORKS[r["case"]] for r in totals if not r["ratio"]]
    note = f" {' and '.join(missing)} ran without a peer." if missing else ""
    lines += [
        "",
        f"Spreads are geometric means with their range. A step is fprop and bprop.{note}",
        "float32 tensor: two float16 or three bfloat16 pieces on the tensor cores, on ordinary data more exact than "
        "cuBLAS's float32 ([how, and where not](docs/numerics.md)).",
    ]
    return "\n".join(lines)


PRODUCT_TABLES = {"gemm_float32": gemm, "gemm_large": sixteen_bits, "gemm_short_sides": gemm, "gemm_tensor": precisions}
NETWORK_TABLES = {"convnets": convnets, "convnets_h100": convnets}
EXPRESSION_TABLES = {"elementwise": elementwise, "elementwise_large": elementwise_large, "products": products}


def main() -> int:
    pages = [
        (ROOT / "docs/benchmarks.md", PRODUCT_TABLES | EXPRESSION_TABLES | NETWORK_TABLES),
        (ROOT / "docs/gemm.md", {"gemm_epilogue": epilogue}),
        (ROOT / "docs/nn.md", {"nn": nn}),
        (ROOT / "docs/convolution.md", {"conv": conv, "conv_int8": conv_int8}),
    ]
    check = "--check" in sys.argv
    failed = [refresh(ROOT / "README.md", {"*": summary()}, check)]
    for page, tables in pages:
        sources = {name: file_of(name) for name in tables}
        texts = {name: tables[name](json.loads(path.read_text())) for name, path in sources.items() if path.exists()}
        failed.append(refresh(page, texts, check))
    return max(failed)


def refresh(page: Path, tables: dict[str, str], check: bool) -> int:
    """Write the tables of a page, or only look; 1 if one was out of date and may not be written."""
    text = new = page.read_text()
    for name, table in tables.items():
        of = "benchmarks/results/*/*.json" if name == "*" else file_of(name).relative_to(ROOT)
        start = f"<!-- table: {of} -->"
        if start in new:
            head, rest = new.split(start)
            new = head + start + "\n" + table + "\n" + END + rest.split(END, 1)[1]
    if check:
        if new != text:
            print(f"{page.name}: a speed table is not that of benchmarks/results; run tools/readme_table.py")
        return int(new != text)
    page.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
