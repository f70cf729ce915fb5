"""Products that are computed many times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nervanagpu import _core
from nervanagpu._core import GPUTensor, Pieces
from nervanagpu.calls.arguments import tensor
from nervanagpu.calls.options import Rounding, check_clip, keywords
from nervanagpu.linalg.products import check_factors, check_pieces

if TYPE_CHECKING:
    from typing_extensions import Unpack


class GemmPlan(_core.GemmPlan):
    """A product that is computed many times: dot(a, b, out, ...), or batched_dot of three axes, with its kernel chosen
    once.

    Made from tensors such as those of the launches: dtypes, shapes, strides, alignment. Keywords as those of `dot`
    (scale, mask, row_sum ...: tensors, which the plan keeps). Each must be readable as it lies: a plan copies nothing.
    ValueError or TypeError otherwise.

    launch(a, b, out, bias=None, stream=None): queues the product of other tensors of the same form, with the bits
    of `dot`. ValueError for a shape, stride or alignment that was not planned, or an out that shares memory.
    plan(a, b, out) is the same. Any thread, any stream; may be captured in a CUDA graph.
    a or b may be Pieces, and then is one at each launch, of as many.
    kernel: its name. workspace: bytes that a launch takes from the memory pool, for splits of k. pieces: how many an
    element of the operands is split into, 2 or 3; 0: they are multiplied as they are.
    """

    @keywords(Rounding)
    def __init__(
        self,
        a: GPUTensor | Pieces,
        b: GPUTensor | Pieces,
        out: GPUTensor,
        alpha: float = 1.0,
        beta: float = 0.0,
        bias: GPUTensor | None = None,
        relu: bool = False,
        *,
        relu_first: bool = False,
        splits: int = 0,
        tensor_cores: bool = True,
        tile: str = "",
        activation: str | None = None,
        clip: tuple[float, float] | None = None,
        scale: GPUTensor | None = None,
        mask: GPUTensor | None = None,
        row_sum: GPUTensor | None = None,
        column_sum: GPUTensor | None = None,
        row_max_abs: GPUTensor | None = None,
        column_max_abs: GPUTensor | None = None,
        precision: str | None = None,
        **rounding: Unpack[Rounding],
    ) -> None:
        """Choose the kernel. Nothing is launched."""
        check_pieces("gemm plan", a, b)
        for name, value in (("a", a), ("b", b), ("out", out)):
            if name == "out" or not isinstance(value, Pieces):
                tensor("gemm plan", name, value)
        check_clip("gemm plan", activation, clip)
        check_factors("gemm plan", a.dtype, alpha=alpha, beta=beta)
        sums = (row_sum, column_sum, row_max_abs, column_max_abs)
        finish = (activation or "none", clip or (0.0, 0.0), scale, mask, sums, precision)
        super().__init__(a, b, out, alpha, beta, bias, relu, relu_first, rounding, tile, splits, tensor_cores, *finish)
