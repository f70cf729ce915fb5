"""Kernels of one's own from source text: our assembly language, or CUDA C where NVRTC is installed.

module = ng.SassModule(text)                 # docs/language.md
module = ng.SourceModule(text)               # CUDA C; on the emulator its cubin is emulated
module.scale[grid, block](x, y, n, 2.0)
"""

from __future__ import annotations

import functools
import os
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import Cubin, KernelInfo, Stream
from nervanagpu.cuda_toolkit import nvrtc
from nervanagpu.kernels.c_types import Packed
from nervanagpu.kernels.mangled import Signature, signature
from nervanagpu.kernels.toolchain import Kernel, Launch, Module, assemble

_FLOATS = ("f16", "f32", "f64")
_INTEGERS = {f"{sign}{bits}": (sign, bits) for sign in "su" for bits in (8, 16, 32, 64)} | {"bool": ("u", 1)}


class SassModule(Module):
    """The kernels of a template, assembled for the device, proven free of hazards and loaded.

    `arch`, `name`, `defines` and `include_dirs` are those of ng.assemble; AssembleError as it has it.
    """

    def __init__(
        self,
        text: str,
        arch: str | None = None,
        *,
        name: str = "kernel.sass",
        defines: Mapping[str, int | str] | None = None,
        include_dirs: Sequence[str | os.PathLike[str]] = (),
    ) -> None:
        super().__init__(assemble(text, arch, name=name, defines=defines, include_dirs=include_dirs))


def _converted(title: str, kind: str, value: Any) -> object:
    """`value` for a parameter of C type `kind`; TypeError and ValueError if it does not fit."""
    if isinstance(value, bytes):
        return value
    number = isinstance(value, bool | int | float | np.generic)
    if kind == "ptr":
        if isinstance(value, float | np.floating):
            raise TypeError(f"{title} is a {type(value).__name__}; needs a GPUTensor or an address")
    elif kind in _FLOATS:
        if not number:
            raise TypeError(f"{title} is a {type(value).__name__}; needs {kind}")
        return float(value)
    elif kind in _INTEGERS:
        if not number or isinstance(value, float | np.floating):
            raise TypeError(f"{title} is a {type(value).__name__}; needs {kind}")
        sign, bits = _INTEGERS[kind]
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if sign == "s" else (0, (1 << bits) - 1)
        whole = int(value)
        if not least <= whole <= most:
            raise ValueError(f"{title} is {whole}; needs {least} to {most}")
        # The launch knows sizes only, and takes any bits of that size.
        return whole & ((1 << max(bits, 8)) - 1)
    return value


_FORMATS = {"f16": "e", "f32": "f", "f64": "d", "bool": "?"} | {
    f"{sign}{bits}": letter.upper() if sign == "u" else letter
    for sign in "su" for bits, letter in ((8, "b"), (16, "h"), (32, "i"), (64, "q"))
}  # fmt: skip


def _block(title: str, args: Sequence[Any], types: Sequence[str] | None, size: int) -> bytes:
    """The parameters of a kernel that takes structures, of which a cubin does not say where they are. Each is at the
    next multiple of its alignment. TypeError, ValueError: not so many bytes.
    """
    out = bytearray()
    for i, value in enumerate(args):
        kind = types[i] if types is not None else ""
        if isinstance(value, bytes):
            data, step = bytes(value), getattr(value, "alignment", min(len(value), 8) or 1)
        elif kind in _FORMATS:
            data = struct.pack(_FORMATS[kind], value)
            step = len(data)
        elif isinstance(value, np.generic):
            packed = Packed.of(value)
            data, step = bytes(packed), packed.alignment
        elif isinstance(value, float) or kind.startswith("struct"):
            raise TypeError(
                f"{title}: argument {i} is a {type(value).__name__}; needs a number or structure of NumPy's"
            )
        else:
            data, step = struct.pack("Q", int(getattr(value, "ptr", value)) & ((1 << 64) - 1)), 8
        out += bytes(-len(out) % step) + data
    if len(out) != size:
        raise ValueError(f"{title}: the arguments have {len(out)} bytes; its parameters have {size}")
    return bytes(out)


class SourceKernel(Kernel):
    """A kernel of CUDA C. Its arguments are converted to the types of its declaration."""

    __slots__ = ("_name", "types")

    def __init__(self, module: Module, info: KernelInfo, known: Signature) -> None:
        super().__init__(module, info)
        self._name = known.name
        fits = known.types is not None and len(known.types) == len(info.params)
        self.types = known.types if fits else None

    @property
    def name(self) -> str:
        return self._name

    def __getitem__(self, key: object) -> Launch:
        launch = super().__getitem__(key)
        return SourceLaunch(self, launch._grid, launch._block)

    def __repr__(self) -> str:
        types = self.types or [p.type for p in self.info.params]
        return f"<Kernel {self.name}({', '.join(types)})>"


class SourceLaunch(Launch):
    """A kernel of CUDA C with its grid and block."""

    __slots__ = ()

    def __call__(self, *args: object, shared: int | None = None, stream: Stream | None = None) -> None:
        """Start the kernel, as Launch has it; numbers become what the kernel's declaration says."""
        k = self._kernel
        assert isinstance(k, SourceKernel)
        if k.types is not None and len(args) != len(k.types):
            wanted = ", ".join(k.types)
            raise ValueError(f"kernel {k.name} takes {len(k.types)} arguments ({wanted}), found {len(args)}")
        if k.types is not None:
            title = f"kernel {k.name}: argument "
            args = tuple(_converted(title + str(i), t, v) for i, (t, v) in enumerate(zip(k.types, args, strict=True)))
        if not k.info.params and k.info.param_bytes and not (len(args) == 1 and isinstance(args[0], bytes)):
            args = (_block(f"kernel {k.name}", args, k.types, k.info.param_bytes),)
        try:
            k.module._module.launch(k.info.name, self._grid, self._block, args, shared, stream)
        except Exception as e:
            if k.info.name != k.name and e.args:  # as the source calls it
                e.args = (str(e.args[0]).replace(k.info.name, k.name), *e.args[1:])
            raise


@functools.lru_cache(maxsize=64)
def _compiled(text: str, arch: str, name: str, options: tuple[str, ...], names: tuple[str, ...]) -> nvrtc.Compiled:
    return nvrtc.compile(text, arch, name, options, names)


class SourceModule(Module):
    """The kernels of CUDA C, compiled by NVRTC for the device and loaded; on the emulator they are emulated.

    text: CUDA C++. Kernels are found by their names as C++ has them, without parameters ("scale", "space::scale").
    Those of one name, and what NVRTC alone can name, are found by their symbols.
    name: what messages call the text. options: as of nvcc: "-DN=4", "--use_fast_math", "-I...".
    instances: of templates, which are then found by these names: ("scale<float>",).
    arch: "sm_90a", "sm_80", ...; None: the device's.

    `log` holds the compiler's warnings, `source` the text. CompileError with the compiler's log. Without NVRTC an
    ImportError says what to install.
    """

    def __init__(
        self,
        text: str,
        *,
        name: str = "kernel.cu",
        options: Sequence[str] = (),
        instances: Sequence[str] = (),
        arch: str | None = None,
    ) -> None:
        made = _compiled(text, arch or _core.device().arch, name, tuple(options), tuple(instances))
        self.source = text
        self.log = made.log
        super().__init__(Cubin(made.cubin))
        instance_of = {symbol: instance for instance, symbol in made.names.items()}
        signatures = {info.name: signature(info.name) for info in self.cubin.kernels}
        often = Counter(s.name for s in signatures.values())
        self._kernels = {}
        for info in self.cubin.kernels:
            found = signatures[info.name]
            plain = found.name if often[found.name] == 1 else info.name
            known = Signature(instance_of.get(info.name, plain), found.types)
            self._kernels[known.name] = SourceKernel(self, info, known)

    def get_function(self, name: str) -> Kernel:
        """module[name]."""
        return self[name]
