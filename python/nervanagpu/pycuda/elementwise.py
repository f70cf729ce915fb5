"""ElementwiseKernel: a kernel of an expression in C, for each element of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from nervanagpu.kernels import c_types, kernel_templates
from nervanagpu.pycuda import driver
from nervanagpu.pycuda.arrays import VectorView, pointer_of
from nervanagpu.pycuda.function import Function
from nervanagpu.pycuda.tools import ScalarArg, VectorArg

if TYPE_CHECKING:
    from nervanagpu.pycuda.compiler import SourceModule

Arguments = str | Sequence[c_types.Declared | str]
__all__ = ["ElementwiseKernel", "ScalarArg", "VectorArg", "get_elwise_kernel", "get_elwise_module"]


def declarations(arguments: Arguments) -> list[c_types.Declared]:
    """The parameters that a text, or a list of texts, VectorArg and ScalarArg, declares."""
    if isinstance(arguments, str):
        return [c_types.declared(part) for part in arguments.split(",") if part.strip()]
    return [a if isinstance(a, c_types.Declared) else c_types.declared(a) for a in arguments]


def values_for(title: str, declared: Sequence[c_types.Declared], args: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """(what the kernel gets, the arrays among them). TypeError names the argument."""
    if len(args) != len(declared):
        wanted = ", ".join(d.declarator() for d in declared)
        raise TypeError(f"{title} takes {len(declared)} arguments ({wanted}), found {len(args)}")
    values: list[Any] = []
    vectors: list[Any] = []
    for given, d in zip(args, declared, strict=True):
        if not d.vector:
            values.append(kernel_templates.packed(given.get() if hasattr(given, "gpudata") else given, d.dtype))
            continue
        view = VectorView.of(given)
        if view is None:
            values.append(pointer_of(f"{title}: {d.name}", given))
            continue
        if view.dtype != d.dtype and view.dtype.itemsize != d.dtype.itemsize:
            raise TypeError(f"{title}: {d.name} has dtype {view.dtype}; the kernel declares {d.dtype}")
        values.append(view.address)
        vectors.append(view)
    return values, vectors


def length_of(title: str, vectors: Sequence[Any]) -> int:
    """How many elements the arrays have; ValueError if they have not the same number or have gaps."""
    if not vectors:
        raise TypeError(f"{title}: no argument is an array; needs one, or n=")
    for view in vectors:
        if not view.dense:
            raise ValueError(f"{title}: an array has gaps; needs contiguous ones (ary.copy())")
        if view.size != vectors[0].size:
            raise ValueError(f"{title}: arrays have {vectors[0].size} and {view.size} elements; needs the same number")
    if len({v.order for v in vectors if v.order != "both"}) > 1:
        raise ValueError(f"{title}: arrays lie by rows and by columns; needs one order")
    return int(vectors[0].size)


def selected(title: str, vectors: Sequence[VectorView], chosen: slice | None) -> tuple[int, int, int]:
    """The first of the elements that a kernel is to run over, their distance and number: all, or what a slice says."""
    if chosen is None:
        return 0, 1, length_of(title, vectors)
    n = min((v.size for v in vectors), default=0)
    start, stop, step = chosen.indices(n) if vectors else (chosen.start or 0, chosen.stop, chosen.step or 1)
    return start, step, len(range(start, stop, step))


class ElementwiseKernel:
    """`operation` for each i: ElementwiseKernel("float a, float *x, float *z", "z[i] = a * x[i]").

    preamble: text before the kernel; loop_prep, after_loop: before and after the loop of each thread. `n` is their
    number. Complex arrays are `pycuda::complex<float> *`. Called with arrays and numbers in order, and range=slice(...)
    for some elements alone, slice= the same, stream=.
    """

    def __init__(
        self,
        arguments: Arguments,
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        preamble: str = "",
        loop_prep: str = "",
        after_loop: str = "",
    ) -> None:
        self.name = name
        self.arguments = declarations(arguments)
        if not any(d.vector for d in self.arguments):
            raise TypeError(f"ElementwiseKernel {name}: no argument is an array; needs one: float *x")
        self._text = kernel_templates.elementwise(
            ", ".join(d.declarator() for d in self.arguments), operation, name, preamble,
            f"const size_t n = ng_count; (void)n; {loop_prep}", after_loop,
        )  # fmt: skip
        self._options = tuple(options or ())

    def __call__(
        self,
        *args: object,
        range: slice | None = None,
        slice: slice | None = None,
        stream: driver.Stream | None = None,
    ) -> None:
        """Run it. TypeError and ValueError name the argument."""
        title = f"ElementwiseKernel {self.name}"
        values, vectors = values_for(title, self.arguments, args)
        start, step, count = selected(title, vectors, range if range is not None else slice)
        if count == 0:
            return
        kernel = kernel_templates.kernel(self._text, self.name, self._options)
        launch = kernel[kernel_templates.blocks_for(count), kernel_templates.THREADS]
        whole = kernel_templates.whole
        launch(*values, whole(start), whole(step), whole(count), stream=driver.stream_of(stream))

    def get_texref(self, name: str) -> NoReturn:
        """RuntimeError: compilers since CUDA 12 have no texture references."""
        raise RuntimeError(driver.NO_TEXTURE_REFERENCES)


def get_elwise_module(
    arguments: Sequence[c_types.Declared],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
) -> SourceModule:
    """A SourceModule with the kernel `name`, whose last declared argument is the number of elements, n."""
    from nervanagpu.pycuda.compiler import SourceModule

    parameters = ", ".join(d.declarator() for d in declarations(arguments))
    return SourceModule(
        "#include <pycuda-complex.hpp>\n"
        f'{preamble}\nextern "C" __global__ void {name}({parameters}) {{\n'
        "  const unsigned tid = threadIdx.x, total_threads = gridDim.x * blockDim.x;\n"
        "  const unsigned cta_start = blockDim.x * blockIdx.x; size_t i;\n"
        f"  {loop_prep};\n"
        f"  for (i = cta_start + tid; i < n; i += total_threads) {{ {operation}; }}\n  {after_loop};\n}}\n",
        options=options,
        no_extern_c=True,
    )


def get_elwise_kernel(
    arguments: Arguments, operation: str, name: str = "kernel", keep: bool = False,
    options: Sequence[str] | None = None, **more: str,
) -> Function:  # fmt: skip
    """The function of get_elwise_module with the number of elements, a size_t, after the arguments."""
    declared = [*declarations(arguments), ScalarArg("uint64", "n")]
    function: Function = get_elwise_module(declared, operation, name, keep, options, **more).get_function(name)
    return function.prepare([d.dtype if not d.vector else "P" for d in declared])


_LATER = (
    "get_axpbyz_kernel", "get_binary_func_kernel", "get_binary_func_scalar_kernel", "get_binary_minmax_kernel",
    "get_binary_op_kernel", "get_linear_combination_kernel", "get_pow_array_kernel", "get_scalar_op_kernel",
    "get_unary_func_kernel",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    from nervanagpu.pycuda import named_kernels

    if name in named_kernels.NAMED:
        return named_kernels.NAMED[name]
    if name in _LATER:
        return getattr(named_kernels, name)
    raise AttributeError(f"module 'nervanagpu.pycuda.elementwise' has no attribute {name!r}")
