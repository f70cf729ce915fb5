"""Kernels whose blocks run in clusters, by hand and by ptxas."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest
from source_tree import DATA

pytestmark = pytest.mark.skipif(ng.device().arch != "sm_90a", reason="clusters came with sm_90a")


def test_one_load_serves_two_blocks() -> None:
    host = np.arange(32 * 32, dtype=np.uint32).reshape(32, 32) * np.uint32(2654435761)
    module = ng.load((DATA / "tensor/cluster.sass").read_text())
    out = ng.zeros((2, 32, 32), np.uint32)
    module.cluster_multicast[2](ng.tensor_map(ng.array(host), (32, 32)), out)
    for half in out.get():
        np.testing.assert_array_equal(half, host)


@pytest.mark.parametrize("name", ["cluster.cubin", "cluster.abi8.cubin"])
def test_sums_over_eight_blocks(name: str) -> None:
    module = ng.load((DATA / "cudac" / name).read_bytes())
    assert module.sum.info.cluster == [8, 1, 1]
    values = ng.array(np.arange(16 * 128, dtype=np.float32))
    out = ng.zeros(2, np.float32)
    module.sum[16, 128](values, out)
    np.testing.assert_array_equal(out.get(), values.get().reshape(2, -1).sum(axis=1))


def test_the_grid_is_a_multiple_of_the_cluster() -> None:
    module = ng.load((DATA / "cudac/cluster.cubin").read_bytes())
    values, out = ng.zeros(12 * 128, np.float32), ng.zeros(2, np.float32)
    with pytest.raises(ValueError, match=r"grid is 12 x 1 x 1; kernel sum runs in clusters of 8 x 1 x 1 blocks"):
        module.sum[12, 128](values, out)
