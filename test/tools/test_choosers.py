"""The rows of the choosers, which are compiled, are the variants that the templates name."""

import itertools
import re
from pathlib import Path

import pytest

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
Variant = dict[str, str]

# Chooser, its array, and what a row's numbers are called in the template: a definition, a product of two, or "-" for
# one that stands in none.
TABLES = {
    "halo": ("conv/halo/halo_choice.cpp", "kVariants", "conv/halo/halo.sass", "BM BN STAGES PATCH_ROWS -"),
    "halo of bprop": ("conv/halo/halo_choice.cpp", "kVariants", "conv/halo/halo.sass", "BM BN STAGES - PATCH_ROWS"),
    "halo_update": ("conv/halo/halo_update_choice.cpp", "kVariants", "conv/halo/halo_update.sass", "TS U"),
    "resident": ("conv/halo/resident_choice.cpp", "kVariants", "conv/halo/resident.sass", "BN ROW STAGES PATCH_ROWS"),
    "halo_swapped": ("conv/halo/swapped_choice.cpp", "kSizes", "conv/halo/halo_swapped.sass", "N STAGES PATCH_ROWS -"),
    "narrow": (
        "conv/narrow/narrow_choice.cpp", "kVariants", "conv/narrow/narrow.sass", "ROW BN STAGES PATCH_ROWS*ROW -"
    ),
    "narrow_swapped": (
        "conv/narrow/narrow_swapped_choice.cpp", "kVariants", "conv/narrow/narrow_swapped.sass",
        "ROW M N STEPS PATCH_ROWS*ROW RAW",
    ),
    "narrow_update": (
        "conv/narrow/narrow_update_choice.cpp", "kVariants", "conv/narrow/narrow_update.sass",
        "ROW TR MT - PATCH_ROWS*ROW RAW",
    ),
    "hconv": ("conv/implicit/hconv_choice.cpp", "kVariants", "conv/implicit/hconv.sass", "BM BN"),
    "gconv": ("conv/gather/gconv_choice.cpp", "kTiles", "conv/gather/gconv.sass", "BM BN"),
    "hgemm_resident": (
        "gemm/cost/hgemm_cost.h", "kResidentTiles", "gemm/tensor_cores/hgemm_resident.sass", "BM BN STAY"
    ),
}  # fmt: skip
# Of this tile fprop has a stage more than the model knows, which has one number for both passes.
KNOWN = {("halo", ("256", "96", "5", "504"))}


def variants(template: str) -> list[Variant]:
    """All of a template's, a dict of definitions each."""
    found = []
    for line in re.findall(r"^ *\.variants +(.*)$", (KERNELS / template).read_text(), re.M):
        pairs = [word.split("=", 1) for word in line.split("//")[0].split()]
        values = [value.strip("{}").split(",") for _, value in pairs]
        found += [dict(zip([n for n, _ in pairs], chosen, strict=True)) for chosen in itertools.product(*values)]
    return found


def value(variant: Variant, name: str) -> str:
    if "*" not in name:
        return variant.get(name, "")
    a, b = name.split("*")
    return str(int(variant[a]) * int(variant[b]))


def rows(chooser: str, array: str) -> list[list[str]]:
    text = (KERNELS / chooser).read_text()
    body = re.search(rf"constexpr std::array {array} = \{{(.*?)\}};", text, re.S)
    assert body, f"{chooser} has no {array}"
    return [re.findall(r"(?<![\w])\d+", row) for row in re.findall(r"\w+\{([^}]*)\}", body.group(1))]


@pytest.mark.parametrize("table", TABLES)
def test_rows_are_the_templates(table: str) -> None:
    chooser, array, template, fields = TABLES[table]
    names = fields.split()
    said = [n for n in names if n != "-"]
    passes = {"halo": {"f"}, "halo of bprop": {"b"}}.get(table)
    there = [v for v in variants(template) if passes is None or v["PASS"] in passes]
    wanted = {tuple(value(v, n) for n in said) for v in there}
    got = {tuple(number for number, name in zip(r, names, strict=False) if name != "-") for r in rows(chooser, array)}
    assert len(rows(chooser, array)) > 1
    strange = {row for row in got - wanted if (table, row) not in KNOWN}
    assert all(row in got - wanted for name, row in KNOWN if name == table), "take it out of KNOWN"
    assert not strange, f"{chooser}: rows of no variant of {template}: {strange}"
    # What the copy engine does not load has no RAW: those variants share their other numbers with one that has.
    missing = {row for row in wanted - got if "" not in row}
    known = {row[:2] for name, row in KNOWN if name == table}
    assert not {row for row in missing if row[:2] not in known}, f"{chooser} lacks variants of {template}: {missing}"
