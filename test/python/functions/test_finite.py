"""The trap for NaN and infinity: ng.check_finite."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest

ONE = np.ones((4, 4), np.float32)
ZEROS = np.zeros((4, 4), np.float32)


def raises(text: str, statement) -> None:
    with pytest.raises(FloatingPointError, match=text) as caught:
        statement()
    assert str(caught.value).startswith(f"{__file__}:"), str(caught.value)


def test_the_statement_is_named():
    x = ng.array(np.float32([1, 2, 0, 4]))
    with ng.check_finite():
        with pytest.raises(FloatingPointError) as caught:
            y = ng.log(x) * 0.5  # the line
        assert "test_finite.py:" in str(caught.value) and "y = ng.log(x) * 0.5  # the line" in str(caught.value)
        assert str(caught.value).endswith("1 of 4 elements of the result, float32 (4,), are not finite; "
                                          "the first is -inf at (2,)")  # fmt: skip
        y = ng.log(x + 1)
    np.testing.assert_allclose(y.get(), np.log([2, 3, 1, 5]), rtol=1e-6)
    np.testing.assert_array_equal(np.isinf(ng.log(x).get()), [False, False, True, False])  # it has ended


def test_whatever_writes_is_looked_at():
    bad = ng.array(np.where(np.eye(4) > 0, np.float32(np.inf), np.float32(1)))
    one, zero, out = ng.array(ONE), ng.array(ZEROS), ng.empty((4, 4))
    image = ng.array(np.full((1, 4, 4, 4), np.inf, np.float32))
    weights = ng.array(np.ones((4, 1, 1, 4), np.float32))
    big = ng.full((4, 4), 6e4, "float16")
    with ng.check_finite(True):
        raises("16 of 16 .* the first is inf", lambda: one / zero)
        raises("4 of 16", lambda: bad - bad)
        raises("16 of 16 .* float16", lambda: big * 2)
        raises("4 of 16", lambda: ng.dot(bad, ng.array(np.eye(4, dtype=np.float32))) and None)
        raises("not finite", lambda: ng.dot(bad, one, out))
        raises("not finite", lambda: bad @ one)
        raises("not finite", lambda: ng.sum(bad, 1))
        raises("4 of 16", lambda: out.__setitem__(slice(None), bad))
        raises("not finite", lambda: out.__itruediv__(zero))
        raises("not finite", lambda: ng.add(bad, one, out=out))
        raises("not finite", lambda: ng.conv2d(image, weights))
        raises("not finite", lambda: ng.max_pool2d(image, 2))
        raises("not finite", lambda: ng.rand(4, 4) / 0)
        assert (ng.equal(bad, bad).get()).all()  # bool
        assert np.isinf(bad.get()).sum() == 4  # reading is no result
    (one / zero).get()


def test_on_and_off():
    before = ng.launch_count()
    zero = ng.array(ZEROS)
    ng.check_finite(True)
    with ng.check_finite(False):
        (1 / zero).get()
    with pytest.raises(FloatingPointError):
        1 / zero
    ng.check_finite(False)
    before = ng.launch_count()
    (1 / zero).get()
    assert ng.launch_count() == before + 1
