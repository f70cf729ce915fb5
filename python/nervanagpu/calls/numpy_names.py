"""Names of NumPy that are about the host: settings, kinds of dtypes, iteration over places, files. The package has them
beside its own functions, so that a program for NumPy finds them there."""

from __future__ import annotations

from typing import Any

import numpy as np

from nervanagpu import polynomial, testing, typing
from nervanagpu.arrays import files
from nervanagpu.arrays.iteration import ndenumerate, nditer, nested_iters
from nervanagpu.arrays.layout import Flat
from nervanagpu.arrays.slices import broadcast
from nervanagpu.calls import float_errors
from nervanagpu.lib import scimath
from nervanagpu.math import pyfunctions
from nervanagpu.math.polynomial_class import poly1d

# NumPy's own: what they do concerns arrays of the host, texts of numbers, or questions about dtypes.
_THEIRS = """
    byte bytes_ character clongdouble complexfloating exceptions False_ flexible floating generic
    get_printoptions getbufsize inexact int_ intc integer little_endian long longdouble longlong
    memmap mintypecode ndindex number object_ printoptions ScalarType sctypeDict set_printoptions setbufsize
    short signedinteger str_ True_ typecodes typename ubyte uint uintc uintp ulong ulonglong
    unsignedinteger ushort void
""".split()


NAMES: dict[str, Any] = {name: getattr(np, name) for name in _THEIRS if hasattr(np, name)}
NAMES |= {"broadcast": broadcast, "ndenumerate": ndenumerate, "nditer": nditer, "nested_iters": nested_iters}
NAMES |= {"flatiter": Flat}
NAMES |= {name: getattr(pyfunctions, name) for name in ("frompyfunc", "ufunc", "vectorize")}
NAMES |= {"emath": scimath, "poly1d": poly1d, "polynomial": polynomial, "testing": testing, "typing": typing}
NAMES |= {name: getattr(float_errors, name) for name in ("errstate", "geterr", "geterrcall", "seterr", "seterrcall")}
_FILES = "fromfile fromstring genfromtxt loadtxt save savetxt savez savez_compressed"
NAMES |= {name: getattr(files, name) for name in _FILES.split()}

_TIMES = "tensors hold no times: times.astype('int64') are numbers"
_TEXTS = "tensors hold no text: it stays in lists, or in arrays of the host"
_MATRICES = "tensors of two axes and the operator @ do what it does"
_RECORDS = "tensors have no fields: each can be a tensor"
_INSTEAD = {
    "ma": "tensors have no masks: where=, nanmean and its like, or x[mask] leave elements out",
    **dict.fromkeys(("char", "strings"), _TEXTS),
    **dict.fromkeys(("rec", "recarray", "record"), _RECORDS),
    "fromregex": "its result has fields: numpy.fromregex, and nervanagpu.array of each",
    **dict.fromkeys(("asmatrix", "bmat", "mat", "matrix"), _MATRICES),
    **dict.fromkeys(
        "busday_count busday_offset busdaycalendar datetime64 datetime_as_string datetime_data is_busday isnat "
        "timedelta64".split(),
        _TIMES,
    ),
}


def absent(name: str) -> str:
    """Why a name of NumPy's is not here, and what there is instead: " (...)"; "" for a name that NumPy has not."""
    if name in _INSTEAD:
        return f" ({_INSTEAD[name]})"
    if name in dir(np):
        return f" (numpy.{name} is of the host: give it what x.get() returns)"
    try:
        getattr(np, name)
    except AttributeError as error:  # of names that NumPy had, it says what they are called now
        said = " ".join(str(error).split()).split(". ")
        words = ". ".join([s for s in said if not s.startswith("module ")][:2]).rstrip(".")
        return f" ({words})" if words else ""
    return ""
