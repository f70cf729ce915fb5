"""CuPy's ElementwiseKernel: a kernel of statements in C, for each element of arrays that broadcast."""

from __future__ import annotations

from typing import Any

from nervanagpu._core import GPUTensor
from nervanagpu.calls.arguments import integer, shown
from nervanagpu.calls.protocols import StreamLike
from nervanagpu.cupy import device_code, kernels
from nervanagpu.cupy.parameters import c_name, check_name, parameters, typedefs
from nervanagpu.kernels import kernel_templates

_TEXT = """{head}{typedefs}{preamble}
extern "C" __global__ void ng_{name}({declarations})
{{
  {loop_prep}
  ;
  CUPY_FOR(i, _ind.size()) {{
    _ind.set(i);
    {elements}
    {operation}
    ;
  }}
  {after_loop}
  ;
}}
"""


class ElementwiseKernel:
    """`operation` for each element: ElementwiseKernel("T x, T y", "T z", "z = x * y + 2", "name").

    A parameter is `[raw] type name`; its type a dtype of NumPy's or a letter, which stands for the dtype of the arrays
    that are passed. Arrays that are not raw broadcast, and their names are elements; a raw one is indexed, `x[i]`,
    `x[_ind.get()]`, and asked, `x.size()`. `i` is the number of the element, `_ind.size()` how many there are.

    reduce_dims: let axes that lie one after the other be one. preamble: text before the kernel; loop_prep, after_loop:
    before and after the loop of each thread. options: NVRTC's. no_return: None is returned; return_tuple: a tuple of
    one, too.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        *,
        options: tuple[str, ...] = (),
        loop_prep: str = "",
        after_loop: str = "",
    ) -> None:
        self.name = self.__name__ = check_name("ElementwiseKernel", name)
        self._title = f"ElementwiseKernel {name}"
        if not isinstance(operation, str):
            raise TypeError(f"{self._title}: operation is {shown(operation)}; needs statements in C")
        self.in_params = parameters(f"{self._title}: in_params", in_params)
        self.out_params = parameters(f"{self._title}: out_params", out_params)
        names = [p.name for p in (*self.in_params, *self.out_params)]
        if len(set(names)) != len(names):
            raise ValueError(f"{self._title}: in_params and out_params share a name; needs different ones")
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.operation, self.preamble = operation, preamble
        self.reduce_dims, self.no_return, self.return_tuple = reduce_dims, no_return, return_tuple
        self.kwargs = {"options": tuple(options), "loop_prep": loop_prep, "after_loop": after_loop}
        self._cached_codes: dict[tuple[Any, ...], str] = {}

    def __call__(self, *args: object, size: int | None = None, stream: StreamLike = None, block_size: int = 128) -> Any:
        """Run it with the inputs, and with the arrays that it writes if they are not to be new ones; returns those.

        size: how many elements, where every array is raw. block_size: threads of a block. TypeError and ValueError name
        the argument.
        """
        title = self._title
        block_size = integer(title, "block_size", block_size, 1, 1024)
        if size is not None:
            size = integer(title, "size", size, 0)
        params = (*self.in_params, *self.out_params)
        values = kernels.checked(title, args, self.in_params, self.out_params)
        shape = kernels.loop_shape(title, values, params, size)
        known = kernels.letters(title, self.in_params, self.out_params, values)
        outs = kernels.results_for(title, values[self.nin :], self.out_params, known, shape, size is not None)
        values[self.nin :] = outs
        if 0 not in shape:
            self._launch(values, shape, known, stream, block_size)
        if self.no_return:
            return None
        return outs[0] if len(outs) == 1 and not self.return_tuple else tuple(outs)

    def _launch(
        self, values: list[Any], shape: tuple[int, ...], known: dict[str, Any], stream: StreamLike, block_size: int
    ) -> None:
        params = (*self.in_params, *self.out_params)
        looped = [
            k for k, (p, v) in enumerate(zip(params, values, strict=True)) if isinstance(v, GPUTensor) and not p.raw
        ]
        strides = [kernels.strides_in(values[k], shape) for k in looped]
        lengths = list(shape)
        # With `_ind` the axes are those that the operation sees.
        if self.reduce_dims and "_ind" not in self.operation:
            lengths, strides = device_code.merged(shape, strides)
        layouts = dict(zip(looped, strides, strict=True))
        bound = [
            kernels.Bound(p, v, known, (lengths, layouts[k]) if k in layouts else None)
            for k, (p, v) in enumerate(zip(params, values, strict=True))
        ]
        declarations = ", ".join([*(b.declaration for b in bound), f"CIndexer<{len(lengths)}> _ind"])
        extra = {k: str(v) for k, v in self.kwargs.items() if k != "options"}
        text = _TEXT.format(
            head=device_code.preamble(declarations, typedefs(known), self.preamble, self.operation),
            typedefs=typedefs(known),
            preamble=self.preamble,
            name=self.name,
            declarations=declarations,
            elements="\n    ".join(
                ("" if k >= self.nin else "const ") + b.element for k, b in enumerate(bound) if b.element
            ),
            operation=self.operation,
            **extra,
        )
        self._cached_codes[tuple(str(v.dtype) for v in values if isinstance(v, GPUTensor))] = text
        kernel = kernel_templates.kernel(text, f"ng_{self.name}", self.kwargs["options"])
        count = 1
        for n in lengths:
            count *= n
        blocks = max(1, min(-(-count // block_size), 1 << 16))
        launch = kernel[blocks, block_size]
        launch(*(b.bytes for b in bound), device_code.packed_indexer(lengths), stream=kernels.stream_of(stream))

    @property
    def cached_codes(self) -> dict[tuple[Any, ...], str]:
        """The texts that calls have compiled, by the dtypes of their arrays."""
        return dict(self._cached_codes)

    @property
    def cached_code(self) -> str:
        """The first of them. ValueError before the first call."""
        if not self._cached_codes:
            raise ValueError(f"{self._title}: nothing is compiled before the first call")
        return next(iter(self._cached_codes.values()))

    def __repr__(self) -> str:
        def shown_as(params: Any) -> str:
            return ", ".join(f"{'raw ' if p.raw else ''}{p.letter} {p.name}" for p in params)

        return f"<ElementwiseKernel {self.name}({shown_as(self.in_params)}) -> {shown_as(self.out_params)}>"


__all__ = ["ElementwiseKernel", "c_name"]
