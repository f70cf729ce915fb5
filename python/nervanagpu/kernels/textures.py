"""Textures and surfaces, for kernels of one's own: memory that is read by coordinates, arguments of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.calls.arguments import choice, host_array, shown

# Axes of an image's texels, outermost first, without channels.
_AXES = {
    "1d": ("width",),
    "2d": ("height", "width"),
    "3d": ("depth", "height", "width"),
    "1d_array": ("layers", "width"),
    "2d_array": ("layers", "height", "width"),
    "cube": ("layers", "height", "width"),
    "cube_array": ("layers", "height", "width"),
}


class Image:
    """Memory for textures and surfaces, on a GPU a CUDA array. `image.get()` copies it back."""

    __slots__ = ("_image", "dtype", "kind", "shape")

    def __init__(self, made: _core.Image, kind: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._image = made
        self.kind = kind
        self.shape = shape
        self.dtype = dtype

    def set(self, texels: npt.ArrayLike) -> None:
        """Overwrite all texels. ValueError if the shape is another; numbers are converted to the image's dtype."""
        array = np.ascontiguousarray(texels, self.dtype)
        if array.shape != self.shape:
            raise ValueError(f"image: texels have shape {array.shape}; the image has {self.shape}")
        self._image.set(array)

    def get(self) -> npt.NDArray[Any]:
        """A copy of all texels, in the shape and dtype that the image was made from."""
        texels: npt.NDArray[Any] = np.frombuffer(self._image.get(), self.dtype).reshape(self.shape).copy()
        return texels

    def __repr__(self) -> str:
        return f"<Image {self.kind}, {self.dtype} {self.shape}>"


class Texture:
    """What a kernel reads from, a 64-bit argument of kernels. It keeps the image or tensor alive."""

    __slots__ = ("_texture", "source")

    def __init__(self, made: _core.Texture, source: Image | GPUTensor) -> None:
        self._texture = made
        self.source = source

    @property
    def _texture_handle(self) -> int:
        return self._texture._handle

    def __repr__(self) -> str:
        return f"<Texture of {self.source!r}>"


class Surface:
    """What a kernel reads from and writes to, a 64-bit argument of kernels. It keeps the image alive."""

    __slots__ = ("_surface", "source")

    def __init__(self, made: _core.Surface, source: Image) -> None:
        self._surface = made
        self.source = source

    @property
    def _texture_handle(self) -> int:
        return self._surface._handle

    def __repr__(self) -> str:
        return f"<Surface of {self.source!r}>"


def image(texels: npt.ArrayLike, kind: str = "2d") -> Image:
    """Copy texels into an image.

    `texels`: of shape (height, width) for kind "2d", (width,) for "1d", (depth, height, width) for "3d". Layers come
    first for "1d_array" and "2d_array". "cube" has six layers, +x, -x, +y, -y, +z, -z; "cube_array" six for each cube.
    One more axis, the last, holds 1, 2 or 4 channels. dtype: integers of 8, 16 or 32 bits, float16, float32. ValueError
    names the size, what it is and what it may be.
    """
    array = np.ascontiguousarray(host_array("texels", texels))
    axes = _AXES[choice("image", "kind", kind, _AXES)]
    if array.ndim not in (len(axes), len(axes) + 1):
        raise ValueError(
            f"image: texels have {array.ndim} axes; kind {kind} needs {', '.join(axes)}, and one more for channels"
        )
    size = {"width": 1, "height": 1, "depth": 1, "layers": 1}
    size.update(zip(axes, array.shape, strict=False))
    channels = array.shape[-1] if array.ndim > len(axes) else 1
    order = [size[name] for name in ("width", "height", "depth", "layers")]
    made = Image(_core.Image(kind, order, str(array.dtype), channels), kind, array.shape, array.dtype)
    made._image.set(array)
    return made


def texture(
    source: Image | GPUTensor,
    *,
    address: str | Sequence[str] = "clamp",
    filter: str = "nearest",
    normalized: bool = False,
    raw: bool = False,
    border: Sequence[float] = (0, 0, 0, 0),
    kind: str = "1d",
) -> Texture:
    """Make a texture of an image, or of a tensor's memory, which is not copied.

    `address`: "wrap", "clamp", "mirror" or "border", for all axes or one each for x, y, z: what stands outside. wrap
    and mirror want normalized coordinates. `filter`: "nearest" or "linear". `normalized`: coordinates from 0 to 1.
    `raw`: integers of 8 and 16 bits as they are, else as fractions from 0 or -1 to 1. `border`: the colour there.
    `kind`: of a tensor: "1d", of shape (n,) or (n, channels), read by integer coordinates. Or "2d", of shape
    (height, width) or (height, width, channels), with rows a multiple of 32 bytes apart. ValueError names the argument.
    """
    modes = (address,) * 3 if isinstance(address, str) else (*address, "clamp", "clamp")[:3]
    if filter not in ("nearest", "linear"):
        raise ValueError(f"texture: filter is {filter!r}; there are nearest and linear")
    colour = [float(v) for v in border]
    if len(colour) != 4:
        raise ValueError(f"texture: border has {len(colour)} numbers; needs 4")
    linear = filter == "linear"
    if isinstance(source, Image):
        made = _core.Texture.of_image(source._image, modes, linear, normalized, raw, colour)
        return Texture(made, source)
    if kind not in ("1d", "2d"):
        raise ValueError(f"texture: kind is {kind!r}; of a tensor's memory there are 1d and 2d")
    return Texture(_core.Texture.of_tensor(source, kind == "2d", modes, linear, normalized, raw, colour), source)


def surface(source: Image) -> Surface:
    """Make a surface of an image: kernels read and write its texels."""
    if not isinstance(source, Image):
        raise TypeError(f"surface: source is {shown(source)}; needs Image (nervanagpu.image makes one)")
    return Surface(_core.Surface(source._image), source)
