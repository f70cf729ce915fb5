"""The code of a cubin: its .text sections as bytes, or their 128-bit words as integers."""

import struct
from pathlib import Path


def texts(path):
    """Code by kernel's name."""
    data = Path(path).read_bytes()
    (shoff,) = struct.unpack_from("<Q", data, 40)
    shentsize, shnum, shstrndx = struct.unpack_from("<HHH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * shentsize) for i in range(shnum)]
    names = sections[shstrndx][4]
    out = {}
    for name, _, _, _, offset, size, *_ in sections:
        title = data[names + name : data.index(b"\0", names + name)].decode()
        if title.startswith(".text."):
            out[title.removeprefix(".text.")] = data[offset : offset + size]
    return out


def words(path):
    out = []
    for code in texts(path).values():
        for at in range(0, len(code), 16):
            lo, hi = struct.unpack_from("<QQ", code, at)
            out.append((at, lo | hi << 64))
    return out
