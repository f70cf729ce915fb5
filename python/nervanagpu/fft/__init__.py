"""Fourier transforms by numpy.fft's names: by cuFFT on a GPU that has it, otherwise by NumPy (docs/linalg.md)."""

from nervanagpu.calls.placement import place
from nervanagpu.fft.helpers import fftfreq, fftshift, ifftshift, rfftfreq
from nervanagpu.fft.transforms import (
    fft,
    fft2,
    fftn,
    hfft,
    ifft,
    ifft2,
    ifftn,
    ihfft,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftn,
)
from nervanagpu.function_table import public

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

for _name in __all__:
    public(space="fft")(globals()[_name])

place(globals())
