"""Names of NumPy that are about the host: settings, kinds of dtypes, iteration over places, files. The package has them
beside its own functions, so that a program for NumPy finds them there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from nervanagpu import creation, dtypes, files, testing
from nervanagpu._core import GPUTensor
from nervanagpu.lib import scimath
from nervanagpu.polynomial_class import poly1d
from nervanagpu.reductions import operand_of

# NumPy's own: what they do concerns arrays of the host, texts of numbers, or questions about dtypes.
_THEIRS = """
    byte bytes_ character clongdouble complexfloating errstate exceptions False_ flexible floating generic
    get_printoptions getbufsize geterr inexact int_ intc integer little_endian long longdouble longlong
    mintypecode ndindex number object_ printoptions ScalarType sctypeDict set_printoptions setbufsize seterr short
    signedinteger str_ True_ typecodes typename ubyte uint uintc uintp ulong ulonglong unsignedinteger
    ushort void
""".split()


def ndenumerate(x: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """(place, number) of every element, row by row, on the host."""
    return iter(np.ndenumerate(dtypes.host_of(operand_of(x))))


class vectorize:
    """A function of numbers as one of tensors: it is called on the host for each element, as NumPy's is."""

    def __init__(self, pyfunc: Any, *args: Any, **more: Any) -> None:
        self._theirs = np.vectorize(pyfunc, *args, **more)
        self.__doc__ = self._theirs.__doc__

    def __call__(self, *args: Any, **more: Any) -> Any:
        made = self._theirs(*map(_host, args), **{k: _host(v) for k, v in more.items()})
        return tuple(map(creation.array, made)) if isinstance(made, tuple) else creation.array(made)


def _host(x: Any) -> Any:
    return dtypes.host_of(x) if isinstance(x, GPUTensor) else x


class broadcast:
    """What operands broadcast to: shape, ndim, nd, size."""

    def __init__(self, *operands: Any) -> None:
        self.shape = np.broadcast_shapes(*(operand_of(x).shape for x in operands))
        self.nd = self.ndim = len(self.shape)
        self.numiter = len(operands)
        self.size = math.prod(self.shape)


NAMES: dict[str, Any] = {name: getattr(np, name) for name in _THEIRS if hasattr(np, name)}
NAMES |= {"broadcast": broadcast, "ndenumerate": ndenumerate, "testing": testing, "vectorize": vectorize}
NAMES |= {"emath": scimath, "poly1d": poly1d}
_FILES = "fromfile fromstring genfromtxt loadtxt save savetxt savez savez_compressed"
NAMES |= {name: getattr(files, name) for name in _FILES.split()}
