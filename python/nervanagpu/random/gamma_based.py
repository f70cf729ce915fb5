"""Distributions made of gamma's: float64 inside, by rejection (Marsaglia and Tsang), rounded to float32."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.math import elementwise, reductions
from nervanagpu.math.elementwise import where
from nervanagpu.random.source import Operand, Size, Source, parameters

log, log1p, sqrt, exp = elementwise.log, elementwise.log1p, elementwise.sqrt, elementwise.exp


def _single(x: GPUTensor) -> GPUTensor:
    return _core.as_dtype(x, np.float32)


class Gammas(Source):
    """The methods."""

    def _log_gamma_numbers(self, shape: tuple[int, ...], a: Any) -> GPUTensor:
        """Logarithms, float64, of numbers of a gamma distribution of that shape parameter, which is above 0."""
        small = elementwise.less(a, 1.0)
        d = where(small, a + 1.0, a) - 1.0 / 3
        c = elementwise.reciprocal(sqrt(d * 9.0))

        def propose() -> tuple[GPUTensor, GPUTensor]:
            x, u = self._normal(shape), self._positive(shape)
            growth = c * x
            inside = elementwise.greater(growth, -1)
            logarithm = log1p(where(inside, growth, 0.0)) * 3.0
            cube = growth * (3.0 + growth * (3.0 + growth))  # v - 1
            refused = elementwise.greater(log(u), 0.5 * x * x + d * (logarithm - cube))
            return log(d) + logarithm, elementwise.logical_or(elementwise.logical_not(inside), refused)

        found = self._until_accepted(shape, propose)
        return where(small, found + log(self._positive(shape)) / a, found)

    def _gamma(self, shape: tuple[int, ...], a: Any) -> GPUTensor:
        """float64; 0 for the shape parameter 0."""
        safe = where(elementwise.greater(a, 0), a, 1.0)
        return where(elementwise.greater(a, 0), exp(self._log_gamma_numbers(shape, safe)), 0.0)

    def standard_gamma(self, shape: Operand, size: Size = None) -> GPUTensor:
        """Gamma of that shape parameter and scale 1. ValueError for a shape parameter below 0."""
        (a,) = parameters("standard_gamma", "[0, inf)", shape=shape)
        return _single(self._gamma(self._drawn(size, a), a))

    def gamma(self, shape: Operand, scale: Operand = 1.0, size: Size = None) -> GPUTensor:
        """Gamma: density x ** (shape - 1) e ** (-x / scale), normalised. ValueError for parameters below 0."""
        a, by = parameters("gamma", "[0, inf)", shape=shape, scale=scale)
        return _single(self._gamma(self._drawn(size, a, by), a) * by)

    def beta(self, a: Operand, b: Operand, size: Size = None) -> GPUTensor:
        """Beta: density x ** (a - 1) (1 - x) ** (b - 1), normalised. ValueError unless a and b are above 0."""
        first, second = parameters("beta", "(0, inf)", a=a, b=b)
        shape = self._drawn(size, first, second)
        apart = self._log_gamma_numbers(shape, second) - self._log_gamma_numbers(shape, first)
        return _single(elementwise.reciprocal(1.0 + exp(apart)))

    def chisquare(self, df: Operand, size: Size = None) -> GPUTensor:
        """Sums of `df` squares of normal numbers. ValueError unless df is above 0."""
        (k,) = parameters("chisquare", "(0, inf)", df=df)
        return _single(self._gamma(self._drawn(size, k), k / 2) * 2.0)

    def _noncentral(self, shape: tuple[int, ...], df: Any, nonc: Any) -> GPUTensor:
        """Chi-squares of as many more degrees of freedom as twice a Poisson number of mean nonc / 2."""
        more = self._poisson(shape, nonc / 2)  # type: ignore[attr-defined]
        return self._gamma(shape, df / 2 + _core.cast(more, np.float64)) * 2.0

    def noncentral_chisquare(self, df: Operand, nonc: Operand, size: Size = None) -> GPUTensor:
        """Sums of `df` squares of normal numbers, the squares of whose means add up to nonc. ValueError: df > 0,
        nonc >= 0."""
        (k,) = parameters("noncentral_chisquare", "(0, inf)", df=df)
        (far,) = parameters("noncentral_chisquare", "[0, inf)", nonc=nonc)
        return _single(self._noncentral(self._drawn(size, k, far), k, far))

    def f(self, dfnum: Operand, dfden: Operand, size: Size = None) -> GPUTensor:
        """Fisher's: chi-squares of dfnum degrees over those of dfden, each over its degrees. ValueError unless both are
        above 0."""
        m, n = parameters("f", "(0, inf)", dfnum=dfnum, dfden=dfden)
        shape = self._drawn(size, m, n)
        return _single(self._gamma(shape, m / 2) / m / (self._gamma(shape, n / 2) / n))

    def noncentral_f(self, dfnum: Operand, dfden: Operand, nonc: Operand, size: Size = None) -> GPUTensor:
        """f with a noncentral chi-square above. ValueError: dfnum, dfden > 0, nonc >= 0."""
        m, n = parameters("noncentral_f", "(0, inf)", dfnum=dfnum, dfden=dfden)
        (far,) = parameters("noncentral_f", "[0, inf)", nonc=nonc)
        shape = self._drawn(size, m, n, far)
        return _single(self._noncentral(shape, m, far) / m / (self._gamma(shape, n / 2) * 2.0 / n))

    def standard_t(self, df: Operand, size: Size = None) -> GPUTensor:
        """Student's t. ValueError unless df is above 0."""
        (k,) = parameters("standard_t", "(0, inf)", df=df)
        shape = self._drawn(size, k)
        return _single(self._normal(shape) * sqrt(k / 2 / self._gamma(shape, k / 2)))

    def dirichlet(self, alpha: object, size: Size = None) -> GPUTensor:
        """Rows of numbers that add up to 1: gamma numbers of the shape parameters alpha over their sum.

        alpha: one axis, numbers above 0. The result has the axes of `size`, then alpha's.
        """
        (a,) = parameters("dirichlet", "(0, inf)", alpha=alpha)
        if a.ndim != 1:
            raise ValueError(f"dirichlet: alpha has shape {a.shape}; needs one axis")
        found = self._log_gamma_numbers((*self._drawn(size), a.shape[0]), a)
        return _single(exp(found - _log_sum(found)))

    def power(self, a: Operand, size: Size = None) -> GPUTensor:
        """Density a x ** (a - 1) from 0 to 1. ValueError unless a is above 0."""
        (by,) = parameters("power", "(0, inf)", a=a)
        return _single(exp(log(self._positive(self._drawn(size, by))) / by))

    def wald(self, mean: Operand, scale: Operand, size: Size = None) -> GPUTensor:
        """The inverse Gaussian distribution. ValueError unless mean and scale are above 0."""
        m, s = parameters("wald", "(0, inf)", mean=mean, scale=scale)
        shape = self._drawn(size, m, s)
        x = self._normal(shape)
        y = x * x * m / s  # the smaller root of a quadratic equation, without its cancellation
        small = m * 2.0 / (2.0 + y + sqrt(y * (4.0 + y)))
        other = elementwise.greater(self._fine(shape) * (small + m), m)
        return _single(where(other, m / small * m, small))

    def vonmises(self, mu: Operand, kappa: Operand, size: Size = None) -> GPUTensor:
        """Angles in [-pi, pi]: density e ** (kappa cos(x - mu)), normalised (Best and Fisher). ValueError for kappa
        below 0."""
        (centre,) = parameters("vonmises", "(-inf, inf)", mu=mu)
        (k,) = parameters("vonmises", "[0, inf)", kappa=kappa)
        shape = self._drawn(size, centre, k)
        flat = elementwise.less(k, 1e-8)
        k = where(flat, 1.0, k)
        r = 1.0 + sqrt(1.0 + 4.0 * k * k)
        rho = 2.0 * k / (r + sqrt(2.0 * r))  # (r - sqrt(2 r)) / (2 k)
        s = (1.0 + rho * rho) / (2.0 * rho)

        def propose() -> tuple[GPUTensor, GPUTensor]:
            z = elementwise.cos(self._fine(shape) * math.pi)
            y, v = k * (s - (1.0 + s * z) / (s + z)), self._positive(shape)
            bad = elementwise.logical_and(elementwise.less(y * (2.0 - y), v), elementwise.less(log(y / v) + 1.0, y))
            return (1.0 + s * z) / (s + z), bad

        cosine = elementwise.clip(self._until_accepted(shape, propose), -1.0, 1.0)
        side = where(elementwise.less(self._fine(shape), 0.5), -1.0, 1.0)
        around = where(flat, (self._fine(shape) * 2.0 - 1.0) * math.pi, elementwise.arccos(cosine) * side)
        turned = around + centre + math.pi
        return _single(elementwise.remainder(turned, 2 * math.pi) - math.pi)


def _log_sum(x: GPUTensor) -> GPUTensor:
    """log of the sums of e ** x along the last axis."""
    most = reductions.max(x, -1, keepdims=True)
    return log(reductions.sum(exp(x - most), -1, keepdims=True)) + most
