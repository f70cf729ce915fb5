"""numpy.poly1d: a polynomial as an object, over a row of coefficients on the device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.calls.arguments import integer
from nervanagpu.math import composed, elementwise, polynomials
from nervanagpu.math.reductions import operand_of

if TYPE_CHECKING:
    from nervanagpu.math.elementwise import Operand


def _number(x: object) -> bool:
    return isinstance(x, int | float | complex | np.number) or (isinstance(x, GPUTensor) and x.ndim == 0)


class poly1d:
    """c[0] * x ** n + ... + c[n]: what it is called with is x. r: c are its roots."""

    __array_ufunc__ = None  # a tensor's or NumPy's operator leaves it to this class

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        of = c_or_r if isinstance(c_or_r, poly1d) else None
        given = operand_of(polynomials.poly(c_or_r) if r else getattr(c_or_r, "coeffs", c_or_r))
        if given.ndim > 1:
            raise ValueError(f"poly1d: c_or_r has {given.ndim} axes; needs one")
        self._coeffs: GPUTensor = of._coeffs if of else polynomials._of_degree("poly1d", "c_or_r", given)
        self._variable: str = variable or (of._variable if of else "x")

    @property
    def coeffs(self) -> GPUTensor:
        """The coefficients, the highest power first."""
        return self._coeffs

    @coeffs.setter
    def coeffs(self, value: object) -> None:
        if value is not self._coeffs:
            raise AttributeError("poly1d: coeffs cannot be set; p[k] = c sets one")

    @property
    def variable(self) -> str:
        """The letter in its text."""
        return self._variable

    @property
    def order(self) -> int:
        """The degree."""
        return self._coeffs.size - 1

    @property
    def roots(self) -> GPUTensor:
        """Where it is 0."""
        return polynomials.roots(self._coeffs)

    c = coef = coefficients = coeffs
    o, r = order, roots

    @overload
    def __call__(self, val: poly1d) -> poly1d: ...

    @overload
    def __call__(self, val: Operand) -> GPUTensor: ...

    def __call__(self, val: Any) -> GPUTensor | poly1d:
        if isinstance(val, poly1d):  # by Horner's rule, as polyval
            made = poly1d([0])
            for k in range(self._coeffs.size):
                made = made * val + poly1d(self._coeffs[k : k + 1])
            return made
        return polynomials.polyval(self._coeffs, val)

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Iterator[GPUTensor]:
        return iter(self._coeffs)

    def __getitem__(self, val: int) -> GPUTensor | np.number[Any]:
        """The coefficient of x ** val."""
        power = integer("poly1d", "power", val)
        return self._coeffs[self.order - power] if 0 <= power <= self.order else self._coeffs.dtype.type(0)

    def __setitem__(self, key: int, val: Any) -> None:
        power = integer("poly1d", "power", key)
        if power < 0:
            raise ValueError(f"poly1d: power is {power}; needs 0 or more")
        if power > self.order:
            front = creation.zeros(power - self.order, self._coeffs.dtype)
            self._coeffs = composed.concatenate([front, self._coeffs])
        self._coeffs[self.order - power] = val

    def __neg__(self) -> poly1d:
        return poly1d(elementwise.negative(self._coeffs))

    def __pos__(self) -> poly1d:
        return self

    def __add__(self, other: object) -> poly1d:
        return poly1d(polynomials.polyadd(self._coeffs, poly1d(other)._coeffs))

    __radd__ = __add__

    def __sub__(self, other: object) -> poly1d:
        return poly1d(polynomials.polysub(self._coeffs, poly1d(other)._coeffs))

    def __rsub__(self, other: object) -> poly1d:
        return poly1d(other) - self

    def __mul__(self, other: Any) -> poly1d:
        if _number(other):
            return poly1d(elementwise.multiply(self._coeffs, other))
        return poly1d(polynomials.polymul(self._coeffs, poly1d(other)._coeffs))

    __rmul__ = __mul__

    def __pow__(self, val: object) -> poly1d:
        made = poly1d([1])
        for _ in range(integer("poly1d", "exponent", val, 0)):
            made = self * made
        return made

    def __truediv__(self, other: Any) -> poly1d | tuple[poly1d, ...]:
        """By a number a polynomial; by another one (quotient, remainder)."""
        if _number(other):
            return poly1d(elementwise.divide(self._coeffs, other))
        return tuple(map(poly1d, polynomials.polydiv(self._coeffs, poly1d(other)._coeffs)))

    def __rtruediv__(self, other: object) -> poly1d | tuple[poly1d, ...]:
        return poly1d(other) / self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, poly1d):
            return NotImplemented
        return np.array_equal(dtypes.host_of(self._coeffs), dtypes.host_of(other._coeffs))

    __hash__ = None  # type: ignore[assignment]

    def deriv(self, m: int = 1) -> poly1d:
        """The derivative of order m."""
        return poly1d(polynomials.polyder(self._coeffs, m))

    def integ(self, m: int = 1, k: object = 0) -> poly1d:
        """The integral of order m with the constants k."""
        return poly1d(polynomials.polyint(self._coeffs, m, k))

    def get(self) -> np.poly1d:
        """numpy.poly1d with these coefficients."""
        return np.poly1d(dtypes.host_of(self._coeffs), variable=self._variable)

    def __str__(self) -> str:
        return str(self.get())

    def __repr__(self) -> str:
        return repr(self.get())

    def __bool__(self) -> bool:
        return self.order > 0  # as NumPy's: its length
