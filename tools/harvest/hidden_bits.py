"""For each opcode of some cubins: bits that ptxas sets but the text does not show (their default must be a fixed bit).
hidden_bits.py ARCH CUBIN ..."""

import sys
from collections import defaultdict

import cubin
from oracle import disassemble

CONTROL = ((1 << 21) - 1) << 105
NEUTRAL = 0x7F1 << 105  # stall 1, no yield, no scoreboards


def main(arch, paths):
    groups = defaultdict(dict)
    for path in paths:
        for _, word in cubin.words(path):
            word = word & ~CONTROL | NEUTRAL
            groups[(word & 0xFFF, word >> 91 & 1)].setdefault(word, None)
    for key in sorted(groups):
        samples = list(groups[key])[:6]
        batch = []
        for word in samples:
            bits = [b for b in range(12, 105) if word >> b & 1]
            batch += [word] + [word ^ (1 << b) for b in bits]
        texts = disassemble(batch, arch)
        hidden, at = None, 0
        for word in samples:
            bits = [b for b in range(12, 105) if word >> b & 1]
            quiet = {b for k, b in enumerate(bits) if texts[at + 1 + k] == texts[at]}
            at += 1 + len(bits)
            hidden = quiet if hidden is None else hidden & quiet
        name = "%03x%s" % (key[0], "+" if key[1] else "")
        print("%-5s %4d  hidden %s" % (name, len(groups[key]), _runs(sorted(hidden))))
        for text in sorted({t for t in disassemble(list(groups[key])[:400], arch) if t}, key=len)[
            :: max(1, len(groups[key]) // 4)
        ][:5]:
            print("         " + text)


def _runs(bits):
    out, i = [], 0
    while i < len(bits):
        j = i
        while j + 1 < len(bits) and bits[j + 1] == bits[j] + 1:
            j += 1
        out.append(str(bits[i]) if i == j else "%d-%d" % (bits[i], bits[j]))
        i = j + 1
    return " ".join(out)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
