"""Every opcode value that nvdisasm takes, with its mnemonic: opcodes.py > sass/tools/opcodes.inc

All values of bits 0-11 and 91, each with fills of the other bits, random ones included. (sm_50 .. sm_62 have no single
opcode field.)
"""

import random
from collections import defaultdict

import oracle

ARCHS = ("sm_75", "sm_80", "sm_90a")
CONTROL = 0x7F1 << 105


def mnemonic(text):
    words = text.split()
    return next(w for w in words if not w.startswith("@")).split(".")[0]


def wide(arch):
    rnd = random.Random(1)
    mask = (1 << 105) - 1 & ~0xFFFF & ~(1 << 91)
    fills = [0, mask]
    fills += [rnd.getrandbits(128) & rnd.getrandbits(128) & mask for _ in range(14)]
    fills += [rnd.getrandbits(128) & mask for _ in range(8)]
    values = defaultdict(set)
    for fill in fills:
        words = [v & 0xFFF | (v >> 12) << 91 | 7 << 12 | fill | CONTROL for v in range(8192)]
        for v, text in enumerate(oracle.disassemble(words, "SM" + arch[3:])):
            if text:
                values[mnemonic(text)].add(v)
    return values


def main():
    print("// OPCODES(arch, mnemonic, values): what nvdisasm 12.4 takes as bits 0-11 and 91 (as bit 12), in hex.")
    print("// Made by tools/harvest/opcodes.py.")
    for arch in ARCHS:
        found = wide(arch)
        for name in sorted(found):
            print('OPCODES(%s, "%s", "%s")' % (arch, name, " ".join("%x" % v for v in sorted(found[name]))))


if __name__ == "__main__":
    main()
