"""nvdisasm as an oracle over the 64-bit instructions of sm_50 .. sm_62, and reading them out of a cubin.

A raw file holds groups of 32 bytes: a control word with 21 bits for each of the three instructions that follow it.
Branch targets come back as if each instruction stood at address 0.
"""

import os
import re
import struct
import subprocess
import tempfile

from oracle import NVDISASM, normalise

_LINE = re.compile(r"^\s*/\*([0-9a-f]+)\*/\s+(.*?)\s*;?\s*(?:/\*.*)?$")
PLAIN = 0x7E1  # stall 1, no scoreboard, no wait, no reuse
_RELATIVE = re.compile(r"\b(BRA|SSY|PBK|PCNT|CAL|PRET|PEXIT|PLONGJMP)\b")


def disassemble(words, arch="SM52", control=PLAIN):
    """One text per 64-bit word (int, or (word, control bits)); None where nvdisasm refuses the word."""
    pairs = [w if isinstance(w, tuple) else (w, control) for w in words]
    result = [None] * len(pairs)
    live = list(range(len(pairs)))
    fd, path = tempfile.mkstemp(prefix="ng_oracle_")
    os.close(fd)
    try:
        while live:
            with open(path, "wb") as f:
                for g in range(0, len(live), 3):
                    group = [pairs[i] for i in live[g : g + 3]]
                    group += [(0x50B0000000070F00, 0x7E0)] * (3 - len(group))
                    f.write(
                        struct.pack("<4Q", sum(c << (21 * k) for k, (_, c) in enumerate(group)), *(w for w, _ in group))
                    )
            run = subprocess.run([NVDISASM, "-b", arch, path], capture_output=True, text=True)
            bad = {int(m, 16) for m in re.findall(r"address 0x([0-9a-f]+)", run.stderr)}
            if bad:
                before = len(live)
                live = [i for k, i in enumerate(live) if k // 3 * 32 + 8 + k % 3 * 8 not in bad]
                if len(live) == before:
                    raise RuntimeError(run.stderr[:400])
                continue
            if run.returncode != 0:
                raise RuntimeError(run.stderr[:400])
            out = {}
            for line in run.stdout.splitlines():
                m = _LINE.match(line)
                if m:
                    out[int(m.group(1), 16)] = m.group(2)
            for k, i in enumerate(live):
                at = k // 3 * 32 + 8 + k % 3 * 8
                text = out.get(at)
                result[i] = None if text is None else normalise(_relocate(text, at))
            break
    finally:
        os.remove(path)
    return result


def _relocate(text, address):
    if not _RELATIVE.search(text):
        return text
    return re.sub(r"(?<![\w\[+-])(-?0x[0-9a-f]+)\b(?!\])(?=[^,]*$)", lambda m: hex(int(m.group(1), 16) - address), text)


def instructions(cubin):
    """(word, control bits, address) of every instruction in the .text sections of a cubin file."""
    with open(cubin, "rb") as f:
        data = f.read()
    (shoff,) = struct.unpack_from("<Q", data, 0x28)
    shentsize, shnum, shstrndx = struct.unpack_from("<3H", data, 0x3A)
    sections = [struct.unpack_from("<2I4Q2I2Q", data, shoff + i * shentsize) for i in range(shnum)]
    names = sections[shstrndx][4]
    for s in sections:
        name = data[names + s[0] : data.index(b"\0", names + s[0])]
        if not name.startswith(b".text"):
            continue
        for at in range(0, s[5], 32):
            control, *words = struct.unpack_from("<4Q", data, s[4] + at)
            for k, w in enumerate(words):
                yield w, control >> (21 * k) & 0x1FFFFF, at + 8 + 8 * k
