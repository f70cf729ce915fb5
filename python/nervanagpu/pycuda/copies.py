"""Copies of rectangles and boxes: Memcpy2D, Memcpy3D."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu.calls.protocols import StreamLike

if TYPE_CHECKING:
    from nervanagpu._core import GPUTensor


class Memcpy2D:
    """`height` rows of `width_in_bytes`, of a source to a destination whose rows lie `src_pitch` and `dst_pitch` bytes
    apart, beginning at src_x_in_bytes, src_y and dst_x_in_bytes, dst_y. Called, it copies.
    """

    _depth = False

    def __init__(self) -> None:
        self.width_in_bytes = self.height = 0
        self.src_pitch = self.dst_pitch = 0
        self.src_x_in_bytes = self.src_y = self.dst_x_in_bytes = self.dst_y = 0
        self._source: Any = None
        self._target: Any = None

    def set_src_host(self, array: object) -> None:
        """From a host array."""
        self._source = _host(array)

    def set_src_device(self, address: Any) -> None:
        """From device memory."""
        self._source = int(address)

    def set_dst_host(self, array: npt.NDArray[Any]) -> None:
        """To a host array."""
        if not array.flags.writeable:
            raise TypeError("Memcpy: the destination cannot be written to")
        self._target = _host(array)

    def set_dst_device(self, address: Any) -> None:
        """To device memory."""
        self._target = int(address)

    set_src_unified = set_src_device
    set_dst_unified = set_dst_device

    def set_src_array(self, array: object) -> None:
        """NotImplementedError: arrays of textures are ng.image's."""
        raise NotImplementedError("Memcpy: CUDA arrays are not there; ng.image and ng.texture make images")

    set_dst_array = set_src_array

    def _box(self) -> tuple[int, int, int]:
        return 1, int(self.height), int(self.width_in_bytes)

    def _view(self, side: str) -> GPUTensor | npt.NDArray[Any]:
        """The box on one side, as bytes of (depth, height, width)."""
        depth, height, width = self._box()
        pitch = int(getattr(self, f"{side}_pitch")) or width
        plane = pitch * int(getattr(self, f"{side}_height", 0) or height)
        start = int(getattr(self, f"{side}_x_in_bytes")) + int(getattr(self, f"{side}_y")) * pitch
        start += int(getattr(self, f"{side}_z", 0)) * plane
        where = self._source if side == "src" else self._target
        if where is None:
            raise ValueError(f"Memcpy: {side} is not set; needs set_{side}_host or set_{side}_device")
        if isinstance(where, int):
            return _core.wrap(where + start, (depth, height, width), (plane, pitch, 1), "uint8")
        end = start + (depth - 1) * plane + (height - 1) * pitch + width
        if end > where.size:
            raise ValueError(f"Memcpy: {side} has {where.size} bytes; the copy reaches to {end}")
        return np.lib.stride_tricks.as_strided(where[start:], (depth, height, width), (plane, pitch, 1))

    def __call__(self, stream: StreamLike | bool = None, aligned: bool = True) -> None:
        """Copy, after the work of `stream`. `aligned` is taken and has no effect."""
        if stream is not None and hasattr(stream, "synchronize"):
            stream.synchronize()
        if 0 in self._box():
            return
        source, target = self._view("src"), self._view("dst")
        if isinstance(target, np.ndarray):
            target[...] = source if isinstance(source, np.ndarray) else source.get()
        elif isinstance(source, np.ndarray):
            target[...] = np.ascontiguousarray(source)
        else:
            target[...] = source


class Memcpy3D(Memcpy2D):
    """As Memcpy2D, `depth` times: src_height and dst_height rows further each time, from src_z to dst_z."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.src_height = self.dst_height = 0
        self.src_z = self.dst_z = self.src_lod = self.dst_lod = 0

    def _box(self) -> tuple[int, int, int]:
        return int(self.depth), int(self.height), int(self.width_in_bytes)


def _host(array: Any) -> npt.NDArray[np.uint8]:
    host = array if isinstance(array, np.ndarray) else np.frombuffer(array, np.uint8)
    if not (host.flags.c_contiguous or host.flags.f_contiguous):
        raise ValueError("Memcpy: the array has gaps; needs a contiguous one (numpy.ascontiguousarray)")
    return (host if host.flags.c_contiguous else host.T).reshape(-1).view(np.uint8)
