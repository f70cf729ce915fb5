"""What load() makes of an .npz file is a mapping, as NumPy's is."""

from __future__ import annotations

from pathlib import Path

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu.arrays import files


def test_mapping(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    a, b = np.arange(6).reshape(2, 3), np.linspace(0, 1, 4)
    ng.savez(path, a=ng.array(a), b=b)
    for load in (ng.load, files.load_arrays):
        with np.load(path) as theirs, load(path) as ours:
            assert list(ours) == list(theirs) and list(ours.keys()) == ours.files == theirs.files
            assert [n for n, _ in ours.items()] == ["a", "b"] and "a" in ours and "a.npy" in ours and "c" not in ours
            assert ours.get("c") is None and len(ours) == 2
            for got, want in zip(ours.values(), theirs.values(), strict=True):
                assert isinstance(got, ng.GPUTensor) and got.dtype == want.dtype
                assert np.array_equal(got.get(), want)
            with pytest.raises(KeyError):
                _ = ours["c"]
    assert np.array_equal(dict(ng.load(path))["a"].get(), a)


def test_paths_of_any_name(tmp_path: Path) -> None:
    a = np.arange(3)
    path = tmp_path / "measured.data"
    with path.open("wb") as file:
        np.save(file, a)
    for name in (path, str(path)):
        assert np.array_equal(ng.load(name).get(), a)
    for missing in ("missing", "missing.npy", tmp_path / "missing.cubin"):
        with pytest.raises(FileNotFoundError, match="missing"):
            ng.load(missing)
