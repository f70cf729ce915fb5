"""The code words of a cubin: every .text section, 128-bit words as integers."""

import struct
from pathlib import Path


def words(path):
    data = Path(path).read_bytes()
    (shoff,) = struct.unpack_from("<Q", data, 40)
    shentsize, shnum, shstrndx = struct.unpack_from("<HHH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * shentsize) for i in range(shnum)]
    names = sections[shstrndx][4]
    out = []
    for name, _, _, _, offset, size, *_ in sections:
        end = data.index(b"\0", names + name)
        if data[names + name : end].startswith(b".text."):
            for at in range(offset, offset + size, 16):
                lo, hi = struct.unpack_from("<QQ", data, at)
                out.append((at - offset, lo | hi << 64))
    return out
