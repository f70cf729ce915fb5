"""Names of NumPy that are about the host: settings, kinds of dtypes, iteration over places, files. The package has them
beside its own functions, so that a program for NumPy finds them there."""

from __future__ import annotations

from typing import Any

import numpy as np

from nervanagpu import files, float_errors, polynomial, pyfunctions, testing, typing
from nervanagpu.iteration import ndenumerate, nditer
from nervanagpu.layout import Flat
from nervanagpu.lib import scimath
from nervanagpu.polynomial_class import poly1d
from nervanagpu.slices import broadcast

# NumPy's own: what they do concerns arrays of the host, texts of numbers, or questions about dtypes.
_THEIRS = """
    byte bytes_ character clongdouble complexfloating exceptions False_ flexible floating generic
    get_printoptions getbufsize inexact int_ intc integer little_endian long longdouble longlong
    memmap mintypecode ndindex number object_ printoptions ScalarType sctypeDict set_printoptions setbufsize
    short signedinteger str_ True_ typecodes typename ubyte uint uintc uintp ulong ulonglong
    unsignedinteger ushort void
""".split()


NAMES: dict[str, Any] = {name: getattr(np, name) for name in _THEIRS if hasattr(np, name)}
NAMES |= {"broadcast": broadcast, "ndenumerate": ndenumerate, "nditer": nditer, "flatiter": Flat}
NAMES |= {name: getattr(pyfunctions, name) for name in ("frompyfunc", "ufunc", "vectorize")}
NAMES |= {"emath": scimath, "poly1d": poly1d, "polynomial": polynomial, "testing": testing, "typing": typing}
NAMES |= {name: getattr(float_errors, name) for name in ("errstate", "geterr", "geterrcall", "seterr", "seterrcall")}
_FILES = "fromfile fromstring genfromtxt loadtxt save savetxt savez savez_compressed"
NAMES |= {name: getattr(files, name) for name in _FILES.split()}
