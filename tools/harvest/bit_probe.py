"""Shows what each bit of a word means to nvdisasm.

bit_probe.py ARCH HEX128 ...  |  bit_probe.py ARCH HEX128 AT WIDTH (one field)
"""

import sys

from oracle import disassemble


def flips(word, arch):
    texts = disassemble([word] + [word ^ (1 << b) for b in range(128)], arch)
    print("%032x  %s" % (word, texts[0]))
    last, start = None, 0
    for b in range(12, 129):
        text = "end" if b == 128 else texts[b + 1]
        label = "illegal" if text is None else "same" if text == texts[0] else text
        if label != last or label not in ("illegal", "same"):
            if last in ("illegal", "same"):
                print("  %3d-%3d  %s" % (start, b - 1, last))
            elif last is not None:
                print("  %3d      %s" % (b - 1, last))
            last, start = label, b


def field(word, arch, at, width):
    mask = ((1 << width) - 1) << at
    words = [word & ~mask | v << at for v in range(1 << width)]
    for v, text in enumerate(disassemble(words, arch)):
        print("  %3d  %s" % (v, text))


if __name__ == "__main__":
    arch = sys.argv[1]
    if len(sys.argv) == 5:
        field(int(sys.argv[2], 16), arch, int(sys.argv[3]), int(sys.argv[4]))
    else:
        for h in sys.argv[2:]:
            flips(int(h, 16), arch)
