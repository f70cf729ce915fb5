"""numpy.typing for tensors: annotations such as NDArray[ng.float32], and what array() and dtype= take."""

from __future__ import annotations

import types
from typing import Any, TypeVar, Union

import numpy as np
import numpy.typing as npt

from nervanagpu._core import GPUTensor

_Scalar = TypeVar("_Scalar", bound=np.generic)

DTypeLike = npt.DTypeLike
ArrayLike = Union[npt.ArrayLike, GPUTensor]  # noqa: UP007 (NumPy's is no type to the operator)
NDArray: Any = types.GenericAlias(GPUTensor, (Any, types.GenericAlias(np.dtype, (_Scalar,))))
