"""numpy.nditer and numpy.ndenumerate of tensors: NumPy iterates, on the host, over what they held at the beginning."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import array_checks, creation, dtypes
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import operand_of

if TYPE_CHECKING:
    import numpy.typing as npt


def ndenumerate(x: Operand) -> Iterator[tuple[tuple[int, ...], Any]]:
    """(place, number) of every element, row by row, on the host."""
    return iter(np.ndenumerate(dtypes.host_of(operand_of(x))))


def _as_it_lies(x: GPUTensor) -> npt.NDArray[Any]:
    """An array of the host with x's elements, whose axes lie in memory as x's do: iteration in order K follows them."""
    strides = x.element_strides
    if x.size == 0 or x.ndim == 0:
        return np.array(dtypes.host_of(x))
    part = x[tuple(slice(0, 1) if s == 0 else slice(None) for s in strides)]  # repeated elements once
    turned = part[tuple(slice(None, None, -1) if s < 0 else slice(None) for s in strides)]
    order = sorted(range(x.ndim), key=lambda a: (-abs(strides[a]), a))
    host = np.array(dtypes.host_of(turned.transpose(*order)), order="C")
    back = host.transpose(np.argsort(order))
    made: npt.NDArray[Any] = back[tuple(slice(None, None, -1) if s < 0 else slice(None) for s in strides)]
    made = made if made.shape == x.shape else np.broadcast_to(made, x.shape)
    if made.flags.writeable:
        made.flags.writeable = x.flags.writeable
    return made


def _flags_of(count: int, op_flags: Any) -> list[list[str]]:
    """The flags of each operand, as NumPy understands `op_flags`."""
    if op_flags is None:
        return [["readonly"]] * count
    flags = [op_flags] if isinstance(op_flags, str) else list(op_flags)
    if all(isinstance(f, str) for f in flags):
        return [flags] * count
    return [[f] if isinstance(f, str) else list(f) for f in flags]


class nditer:
    """numpy.nditer: the elements of operands, broadcast against each other, or chunks of them, as arrays of the host.

    Tensors are copied to the host first. What is written to the elements reaches a tensor when the iteration ends, and
    when `with` is left, close() or `operands` is called. Operands that are None become tensors.
    """

    def __init__(
        self, op: object, flags: Any = None, op_flags: object = None, op_dtypes: Any = None, *args: Any, **more: Any
    ) -> None:
        self._given = list(op) if isinstance(op, list | tuple) else [op]
        wanted: Any = _flags_of(len(self._given), op_flags)
        if len(wanted) != len(self._given):
            needs = f"needs {len(self._given)}, one for each operand"
            raise ValueError(f"nditer: op_flags has {len(wanted)} lists; {needs}")
        if op_flags is None:
            wanted = [["writeonly", "allocate"] if g is None else ["readonly"] for g in self._given]
        self._writes = [not {"readwrite", "writeonly"}.isdisjoint(f) for f in wanted]
        self._check_overlap()
        hosts: dict[int, Any] = {}
        operands = []
        for x in self._given:
            if isinstance(x, GPUTensor) and id(x) not in hosts:
                hosts[id(x)] = _as_it_lies(x)
            operands.append(hosts[id(x)] if isinstance(x, GPUTensor) else x)
        self._theirs = np.nditer(operands, flags or [], wanted, op_dtypes, *args, **more)
        made = self._theirs.operands
        self._hosts = [made[k] if g is None else operands[k] for k, g in enumerate(self._given)]
        self._itself: tuple[Any, ...] | None = None

    def _check_overlap(self) -> None:
        tensors = [(k, x) for k, x in enumerate(self._given) if isinstance(x, GPUTensor)]
        for (i, a), (j, b) in combinations(tensors, 2):
            if a is not b and (self._writes[i] or self._writes[j]) and array_checks.shares_memory(a, b):
                raise ValueError(f"nditer: op[{i}] and op[{j}] share memory and one is written; needs a copy of one")

    def _write(self) -> None:
        """What was written, into the tensors."""
        shown_ones = self._given if self._itself is None else self._itself
        for x, host, written in zip(shown_ones, self._hosts, self._writes, strict=True):
            if written and isinstance(x, GPUTensor):
                x[...] = creation.array(host)

    @property
    def operands(self) -> tuple[Any, ...]:
        """The operands; tensors have what was written so far."""
        if self._itself is None:
            pairs = zip(self._given, self._hosts, strict=True)
            self._itself = tuple(creation.array(host) if x is None else x for x, host in pairs)
        self._write()
        return self._itself

    def __iter__(self) -> nditer:
        return self

    def __next__(self) -> tuple[npt.NDArray[Any], ...]:
        try:
            return next(self._theirs)
        except StopIteration:
            self._write()
            raise

    def iternext(self) -> bool:
        """Goes on; whether there is another element."""
        goes_on = bool(self._theirs.iternext())
        if not goes_on:
            self._write()
        return goes_on

    def close(self) -> None:
        """Writes what is left to write. Nothing more can be asked."""
        self._theirs.close()  # empties its buffers
        self._write()

    def __enter__(self) -> nditer:
        self._theirs.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._theirs)

    def __getitem__(self, index: SupportsIndex | slice) -> npt.NDArray[Any] | tuple[npt.NDArray[Any], ...]:
        return self._theirs[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._theirs[index] = dtypes.on_host(value)

    def copy(self) -> nditer:
        """There is none: two iterators would write one copy of a tensor."""
        raise TypeError("nditer: copy() of an iterator over tensors; needs another nditer of the same operands")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"nditer has no attribute {name!r}")
        return getattr(self._theirs, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("index", "iterindex", "multi_index", "iterrange"):
            setattr(self._theirs, name, value)
        else:
            object.__setattr__(self, name, value)


def nested_iters(
    op: Any, axes: Any, flags: Any = None, op_flags: Any = None, *args: Any, **more: Any
) -> tuple[np.nditer, ...]:
    """numpy.nested_iters over what tensors held at the beginning: an iterator for each of `axes`, the outer one first.

    ValueError for a tensor that would be written, and for an operand that is None: nditer has these.
    """
    given = list(op) if isinstance(op, list | tuple) else [op]
    for k, (x, of) in enumerate(zip(given, _flags_of(len(given), op_flags), strict=False)):
        if x is None or (isinstance(x, GPUTensor) and not {"readwrite", "writeonly"}.isdisjoint(of)):
            raise ValueError(f"nested_iters: op[{k}] is written; needs one that is read (nditer writes to tensors)")
    return np.nested_iters(
        [_as_it_lies(x) if isinstance(x, GPUTensor) else x for x in given], axes, flags or [], op_flags, *args, **more
    )
