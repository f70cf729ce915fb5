"""numpy.vectorize and numpy.frompyfunc: functions of Python, called on the host for each element of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.calls.arguments import integer, shown


def _tensor(function: str, made: object) -> Any:
    """Results of NumPy's as tensors. TypeError where the function returned no numbers."""
    if isinstance(made, tuple):
        return tuple(_tensor(function, m) for m in made)
    array = np.asarray(made)
    if array.dtype.kind == "O":
        try:
            array = np.array(array.tolist()).reshape(array.shape) if array.size else array.astype(np.float64)
        except (TypeError, ValueError):
            array = np.asarray(made)
    if array.dtype.kind not in "biufc":
        came = shown(array.ravel().tolist()[0]) if array.size else f"{array.dtype}"
        raise TypeError(f"{function}: the function returned {came}; needs a number that a dtype of tensors holds")
    return creation.array(array)


class vectorize(np.vectorize):
    """A function of numbers as one of tensors: it is called on the host for each element, as NumPy's is."""

    def __call__(self, *args: object, **more: object) -> Any:
        made = super().__call__(*map(dtypes.on_host, args), **{k: dtypes.on_host(v) for k, v in more.items()})
        return self if made is self else _tensor("vectorize", made)  # as a decorator it gives itself


class frompyfunc:
    """A function of `nin` numbers that returns `nout`, as a ufunc of tensors, called on the host for each element.

    NumPy's gives arrays of objects; here the results are tensors of the dtype that the numbers have in an array.
    """

    def __init__(self, func: object, /, nin: int, nout: int, *, identity: object = None) -> None:
        if not callable(func):
            raise TypeError(f"frompyfunc: func is {shown(func)}; needs a function")
        self.nin, self.nout = integer("frompyfunc", "nin", nin, 0), integer("frompyfunc", "nout", nout, 0)
        self._theirs = np.frompyfunc(func, self.nin, self.nout, identity=identity)
        self.__name__: str = self._theirs.__name__
        self.nargs, self.ntypes, self.types = self.nin + self.nout, 1, self._theirs.types
        self.identity, self.signature = identity, None

    def _made(self, function: Any, args: tuple[Any, ...], more: dict[str, Any]) -> object:
        given, out = {k: dtypes.on_host(v) for k, v in more.items()}, more.get("out")
        outs = out if isinstance(out, tuple) else (out,)
        if not any(isinstance(o, GPUTensor) for o in outs):
            return _tensor(self.__name__, function(*map(dtypes.on_host, args), **given))
        given.pop("out")
        made = function(*map(dtypes.on_host, args), **given)
        results = made if isinstance(made, tuple) else (made,)
        for k, (o, r) in enumerate(zip(outs, results, strict=True)):
            if not isinstance(o, GPUTensor):
                raise TypeError(f"{self.__name__}: out[{k}] is {shown(o)}; needs GPUTensor, as the others")
            o[...] = _tensor(self.__name__, r)
        return out

    def __call__(self, *args: object, **more: object) -> Any:
        return self._made(self._theirs, args, more)

    def reduce(self, *args: object, **more: object) -> Any:
        """The function of the elements along an axis, one after another."""
        return self._made(self._theirs.reduce, args, more)

    def accumulate(self, *args: object, **more: object) -> Any:
        """The same, of the elements up to each one."""
        return self._made(self._theirs.accumulate, args, more)

    def reduceat(self, *args: object, **more: object) -> Any:
        """The same, of parts."""
        return self._made(self._theirs.reduceat, args, more)

    def outer(self, *args: object, **more: object) -> Any:
        """The function of each element of the first operand and each of the second."""
        return self._made(self._theirs.outer, args, more)

    def at(self, x: GPUTensor, indices: Any, *values: Any) -> None:
        """x[indices] = function(x[indices], value), again for a place that stands there twice."""
        made = dtypes.on_host(x).astype(object)
        places = tuple(map(dtypes.on_host, indices)) if isinstance(indices, tuple) else dtypes.on_host(indices)
        self._theirs.at(made, places, *map(dtypes.on_host, values))
        x[...] = _tensor(self.__name__, made)

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__!r}>"


class _Ufuncs(type):
    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, np.ufunc | frompyfunc) or (callable(x) and hasattr(x, "nin") and hasattr(x, "reduce"))


class ufunc(metaclass=_Ufuncs):
    """Elementwise functions are instances of it: those here, NumPy's, and what frompyfunc makes."""
