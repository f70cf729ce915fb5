"""Tensor maps from Python: a kernel that takes one, and what is refused."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest
from source_tree import DATA

TENSORS = DATA / "tensor"
pytestmark = pytest.mark.skipif(ng.device().arch != "sm_90a", reason="tensor maps came with sm_90a")


@pytest.mark.parametrize(("x", "y"), [(0, 0), (8, 40), (68, -3)])
def test_a_kernel_loads_a_box(x: int, y: int) -> None:
    host = np.arange(50 * 72, dtype=np.uint32).reshape(50, 72)
    tensor = ng.array(host)
    out = ng.zeros((32, 32), np.uint32)
    module = ng.load((TENSORS / "tma_map.sass").read_text())
    module.tma_load_map[1](ng.tensor_map(tensor, (32, 32)), out, x, y)
    padded = np.zeros((200, 200), np.uint32)
    padded[50:100, 50:122] = host
    np.testing.assert_array_equal(out.get(), padded[50 + y : 82 + y, 50 + x : 82 + x])


def test_refusals_name_the_argument() -> None:
    t = ng.zeros((2, 6, 8, 64), np.float16)
    with pytest.raises(ValueError, match=r"box\[3\] is 257; 1 to 256 are possible"):
        ng.tensor_map(t, (257, 1, 1, 64))
    with pytest.raises(ValueError, match="the number of box sizes is 2; needed are 4"):
        ng.tensor_map(t, (8, 64))
    with pytest.raises(ValueError, match="swizzle is 48; needs one of 0, 32, 64, 128"):
        ng.tensor_map(t, (1, 1, 8, 64), swizzle=48)
    with pytest.raises(ValueError, match="there is no element type float8"):
        ng.tensor_map(t, (1, 1, 8, 64), dtype="float8")
    with pytest.raises(ValueError, match="lower has 3 entries; needed are 2"):
        ng.tensor_map(t, im2col=ng.Im2col((0, 0, 0), (0, 0), 64, 32))
    with pytest.raises(ValueError, match="needs box or im2col"):
        ng.tensor_map(t)
    columns = ng.tensor_map(t, im2col=ng.Im2col((-1, -1), (-1, -1), 64, 32), dtype="bfloat16", swizzle=128)
    assert columns.tensor is t


def test_another_argument_is_refused() -> None:
    module = ng.load((TENSORS / "tma_map.sass").read_text())
    out = ng.zeros((32, 32), np.uint32)
    with pytest.raises(TypeError, match=r"argument 0 \(tile\) is an integer; needs map"):
        module.tma_load_map[1](3, out, 0, 0)
