"""Distributions of whole numbers, int64: by inversion where they are small, by transformed rejection (Hoermann) where
they are large."""

from __future__ import annotations

from typing import Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation
from nervanagpu.calls.arguments import integer, shown
from nervanagpu.math import composed, elementwise, reductions, sorting
from nervanagpu.math.elementwise import where
from nervanagpu.random.gamma_based import Gammas
from nervanagpu.random.source import Operand, Size, parameters

log, log1p, sqrt, exp, floor = (
    elementwise.log, elementwise.log1p, elementwise.sqrt, elementwise.exp, elementwise.floor
)  # fmt: skip
_MOST = 2.0**62  # of a geometric number
_ROOM = 10.0  # means below are found by steps


def _whole(x: GPUTensor) -> GPUTensor:
    return _core.cast(x, np.int64)


def _log_factorial(k: GPUTensor) -> GPUTensor:
    """log(k!) of whole float64 numbers, by Stirling's series eight numbers further on."""
    z = k + 9.0
    product = k + 1.0
    for i in range(2, 9):
        product = product * (k + float(i))
    square = elementwise.reciprocal(z * z)
    series = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / z
    return (z - 0.5) * log(z) - z + 0.9189385332046727 + series - log(product)


def _integers(function: str, **values: object) -> list[GPUTensor]:
    """Whole numbers, 0 or more, as float64."""
    made = parameters(function, "[0, 9007199254740992]", **values)
    for (name, value), x in zip(values.items(), made, strict=True):
        if not bool(reductions.all(elementwise.equal(floor(x), x))):
            raise ValueError(f"{function}: {name} is {shown(value)}; needs whole numbers")
    return made


class Counts(Gammas):
    """The methods."""

    def _poisson(self, shape: tuple[int, ...], mean: GPUTensor) -> GPUTensor:
        large = elementwise.greater_equal(mean, _ROOM)
        few = self._steps(shape, lambda: -log(self._positive(shape)), where(large, -1.0, mean))
        if not bool(reductions.any(large)):
            return few
        m = where(large, mean, _ROOM)
        b = 0.931 + 2.53 * sqrt(m)
        a = -0.059 + 0.02483 * b
        inverse, v_r = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2.0)
        size = log(m)

        def propose() -> tuple[GPUTensor, GPUTensor]:
            u, v = self._fine(shape) - 0.5, self._positive(shape)
            us = 0.5 - elementwise.absolute(u)
            k = floor((2.0 * a / us + b) * u + m + 0.43)
            quick = elementwise.logical_and(elementwise.greater_equal(us, 0.07), elementwise.less_equal(v, v_r))
            out = elementwise.logical_or(
                elementwise.less(k, 0.0),
                elementwise.logical_and(elementwise.less(us, 0.013), elementwise.greater(v, us)),
            )
            count = elementwise.maximum(k, 0.0)
            bound = count * size - m - _log_factorial(count)
            slow = elementwise.greater(log(v) + log(inverse) - log(a / (us * us) + b), bound)
            refused = elementwise.logical_and(elementwise.logical_not(quick), elementwise.logical_or(out, slow))
            return count, elementwise.logical_and(refused, large)

        return where(large, _whole(self._until_accepted(shape, propose)), few)

    def poisson(self, lam: Operand = 1.0, size: Size = None) -> GPUTensor:
        """Poisson's numbers of mean `lam`, 0 to 2**53. ValueError for another."""
        (mean,) = parameters("poisson", "[0, 9007199254740992]", lam=lam)
        return self._poisson(self._drawn(size, mean), mean)

    def geometric(self, p: Operand, size: Size = None) -> GPUTensor:
        """The number of trials up to the first success. ValueError unless 0 < p <= 1."""
        (chance,) = parameters("geometric", "(0, 1]", p=p)
        return _whole(self._trials(self._drawn(size, chance), chance))

    def _trials(self, shape: tuple[int, ...], p: GPUTensor) -> GPUTensor:
        waited = elementwise.ceil(log(self._positive(shape)) / log1p(-p))
        return elementwise.clip(waited, 1.0, _MOST)

    def _binomial(self, shape: tuple[int, ...], n: GPUTensor, p: GPUTensor) -> GPUTensor:
        turned = elementwise.greater(p, 0.5)
        q = where(turned, 1.0 - p, p)
        large = elementwise.greater_equal(n * q, _ROOM)
        none = elementwise.equal(q, 0.0)
        chance = where(elementwise.logical_or(none, large), 0.5, q)
        room = where(elementwise.logical_or(none, large), -1.0, n)
        found = self._steps(shape, lambda: self._trials(shape, chance), room)
        if bool(reductions.any(large)):
            found = where(large, self._many(shape, where(large, n, 20.0), where(large, q, 0.5), large), found)
        return where(turned, _whole(n) - found, found)

    def _many(self, shape: tuple[int, ...], n: GPUTensor, p: GPUTensor, wanted: GPUTensor) -> GPUTensor:
        """Binomial numbers of n * p of ten or more, p at most 0.5."""
        deviation = sqrt(n * p * (1.0 - p))
        b = 1.15 + 2.53 * deviation
        a, c = -0.0873 + 0.0248 * b + 0.01 * p, n * p + 0.5
        alpha, v_r = (2.83 + 5.1 / b) * deviation, 0.92 - 4.2 / b
        ratio, mode = log(p / (1.0 - p)), floor((n + 1.0) * p)
        top = _log_factorial(mode) + _log_factorial(n - mode)

        def propose() -> tuple[GPUTensor, GPUTensor]:
            u, v = self._fine(shape) - 0.5, self._positive(shape)
            us = 0.5 - elementwise.absolute(u)
            k = floor((2.0 * a / us + b) * u + c)
            quick = elementwise.logical_and(elementwise.greater_equal(us, 0.07), elementwise.less_equal(v, v_r))
            out = elementwise.logical_or(elementwise.less(k, 0.0), elementwise.greater(k, n))
            count = elementwise.minimum(elementwise.maximum(k, 0.0), n)
            bound = top - _log_factorial(count) - _log_factorial(n - count) + (count - mode) * ratio
            slow = elementwise.greater(log(v * alpha / (a / (us * us) + b)), bound)
            refused = elementwise.logical_or(out, elementwise.logical_and(elementwise.logical_not(quick), slow))
            return count, elementwise.logical_and(refused, wanted)

        return _whole(self._until_accepted(shape, propose))

    def binomial(self, n: object, p: Operand, size: Size = None) -> GPUTensor:
        """How many of n trials succeed, each with probability p. ValueError: n whole, 0 or more; 0 <= p <= 1."""
        (trials,), (chance,) = _integers("binomial", n=n), parameters("binomial", "[0, 1]", p=p)
        return self._binomial(self._drawn(size, trials, chance), trials, chance)

    def negative_binomial(self, n: Operand, p: Operand, size: Size = None) -> GPUTensor:
        """Failures before the n-th success. ValueError: n > 0, 0 < p <= 1."""
        (wanted,) = parameters("negative_binomial", "(0, inf)", n=n)
        (chance,) = parameters("negative_binomial", "(0, 1]", p=p)
        shape = self._drawn(size, wanted, chance)
        return self._poisson(shape, (self._gamma(shape, wanted) * (1.0 - chance) / chance).copy())

    def multinomial(self, n: object, pvals: object, size: Size = None) -> GPUTensor:
        """How often each of the outcomes of `pvals`, the last axis of which adds up to 1, comes in n trials.

        The result has the axes of `size` and then those outcomes. ValueError for chances that do not fit.
        """
        (left,), (chances,) = _integers("multinomial", n=n), parameters("multinomial", "[0, 1]", pvals=pvals)
        if chances.ndim == 0 or chances.shape[-1] == 0:
            raise ValueError(f"multinomial: pvals has shape {chances.shape}; needs one chance or more")
        if bool(reductions.any(elementwise.greater(reductions.sum(chances[..., :-1], -1), 1 + 1e-12))):
            raise ValueError(f"multinomial: pvals is {shown(pvals)}; needs chances whose sum is 1")
        shape = self._drawn(size, left, chances[..., 0])
        left = elementwise.add(creation.zeros(shape, np.float64), left).copy()
        rest, counts = creation.ones(chances.shape[:-1], np.float64), []
        for i in range(chances.shape[-1] - 1):
            p = where(elementwise.greater(rest, 0.0), chances[..., i] / rest, 0.0)
            counts.append(self._binomial(shape, left, elementwise.clip(p, 0.0, 1.0).copy()))
            left, rest = (left - counts[-1]).copy(), (rest - chances[..., i]).copy()
        return composed.stack([*counts, _whole(left)], -1)

    def hypergeometric(self, ngood: object, nbad: object, nsample: object, size: Size = None) -> GPUTensor:
        """How many of `nsample` that are taken out of ngood + nbad are good. ValueError: whole numbers, 0 or more, and
        no larger sample than there are."""
        given = _integers("hypergeometric", ngood=ngood, nbad=nbad, nsample=nsample)
        shape = self._drawn(size, *given)
        if bool(reductions.any(elementwise.greater(given[2], given[0] + given[1]))):
            raise ValueError(f"hypergeometric: nsample is {shown(nsample)}; needs no more than ngood + nbad")
        hosts = np.broadcast_arrays(*(g.get() for g in given))
        kinds, which = np.unique(np.stack([h.ravel() for h in hosts]), axis=1, return_inverse=True)
        at, u = creation.array(which.reshape(hosts[0].shape)), self._fine(shape)
        found = creation.zeros(shape, np.int64)
        for i, (good, bad, taken) in enumerate(kinds.T):
            first, sums = _chances(good, bad, taken)
            drawn = sorting.searchsorted(creation.array(sums[:-1]), u, side="right") + int(first)
            found = drawn if len(kinds.T) == 1 else where(elementwise.equal(at, i), drawn, found)
        return found

    def multivariate_hypergeometric(
        self, colors: object, nsample: object, size: Size = None, method: str = "marginals"
    ) -> GPUTensor:
        """How many of each colour are among `nsample` that are taken out of so many of each, along the last axis.

        method has no effect: one colour is drawn after the other. ValueError as for hypergeometric.
        """
        (given,) = _integers("multivariate_hypergeometric", colors=colors)
        if given.ndim != 1 or not given.size:
            raise ValueError(f"multivariate_hypergeometric: colors have shape {given.shape}; needs one axis")
        many = [int(c) for c in given.tolist()]
        rest, shape, counts = sum(many), self._drawn(size), []
        left = creation.full(shape, integer("multivariate_hypergeometric", "nsample", nsample, 0, rest))
        for good in many[:-1]:
            rest -= good
            counts.append(self.hypergeometric(good, rest, left, shape))
            left = left - counts[-1]
        return composed.stack([*counts, left], -1)

    def logseries(self, p: Operand, size: Size = None) -> GPUTensor:
        """The logarithmic distribution: chances p ** k / k, normalised (Kemp). ValueError unless 0 <= p < 1."""
        (chance,) = parameters("logseries", "[0, 1)", p=p)
        shape = self._drawn(size, chance)
        v, q = self._positive(shape), -elementwise.expm1(log1p(-chance) * self._positive(shape))
        many = elementwise.clip(floor(1.0 + log(v) / log(q)), 1.0, _MOST)
        few = where(elementwise.greater_equal(v, q), 1.0, 2.0)
        return _whole(where(elementwise.less_equal(v, q * q), many, few))

    def zipf(self, a: Operand, size: Size = None) -> GPUTensor:
        """Zipf's distribution: chances k ** -a, normalised. ValueError unless a is above 1."""
        (by,) = parameters("zipf", "(1, inf)", a=a)
        shape = self._drawn(size, by)
        less = by - 1.0
        b = exp(less * np.log(2.0))

        def propose() -> tuple[GPUTensor, GPUTensor]:
            x = floor(exp(-log(self._positive(shape)) / less))
            kept = elementwise.minimum(x, _MOST)
            t = exp(less * log1p(1.0 / kept))
            high = elementwise.greater(self._positive(shape) * kept * (t - 1.0) / (b - 1.0), t / b)
            return kept, elementwise.logical_or(high, elementwise.greater(x, _MOST))

        return _whole(self._until_accepted(shape, propose))


def _chances(good: float, bad: float, taken: float) -> tuple[float, Any]:
    """The smallest number of good ones in a sample, and the sums of the chances from there on, on the host."""
    first, last = max(0.0, taken - bad), min(taken, good)
    if last - first > 1 << 26:
        raise ValueError(f"hypergeometric: there are {last - first + 1:.0f} results; needs 2**26 or fewer")
    k = np.arange(first, last + 1)
    steps = np.log((good - k[:-1]) * (taken - k[:-1])) - np.log((k[:-1] + 1) * (bad - taken + k[:-1] + 1))
    size = np.concatenate([[0.0], np.cumsum(steps)])
    chances = np.exp(size - size.max())
    return first, np.cumsum(chances) / chances.sum()
