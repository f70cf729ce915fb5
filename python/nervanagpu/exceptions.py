"""numpy.exceptions, in versions of NumPy before it, too."""

from __future__ import annotations

import numpy as _numpy

_theirs = getattr(_numpy, "exceptions", _numpy)
AxisError = _theirs.AxisError
ComplexWarning = _theirs.ComplexWarning
ModuleDeprecationWarning = _theirs.ModuleDeprecationWarning
RankWarning = getattr(_theirs, "RankWarning", RuntimeWarning)
TooHardError = _theirs.TooHardError
VisibleDeprecationWarning = _theirs.VisibleDeprecationWarning
