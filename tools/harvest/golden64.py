"""Writes the golden vectors of the 64-bit family: golden64.py SAMPLES CUBIN ... > sm52.golden

SAMPLES is the output of sample_rows (random instructions of every row); the cubins are ptxas' of test/corpus. The text
is always nvdisasm's. Left out are NaNs, whose payload it hides.
"""

import re
import sys

from oracle64 import disassemble, instructions

PER_ROW, PER_SHAPE = 5, 1
NO_ROWS = re.compile(r"\b(BRX|VADD|VABSDIFF|VMNMX)\b")


def spelled(text):
    return re.sub(r"\{[^}]*\}", lambda m: m.group(0).replace(" ", ""), text)


def shape(text):
    """What is left when numbers are taken out."""
    return re.sub(r"0x[0-9a-f]+|\d+(\.\d+)?(e[+-]\d+)?", "#", re.sub(r"^@!?P\w ", "", text))


def main(samples, cubins):
    rows = {}
    with open(samples) as f:
        for line in f:
            row, word, _ = line.split("\t", 2)
            rows.setdefault(int(row), []).append(int(word, 16))
    words = [w for some in rows.values() for w in some]
    text = dict(zip(words, disassemble(words), strict=False))
    corpus = sorted({w for c in cubins for w, _, _ in instructions(c)})
    text.update(zip(corpus, disassemble(corpus), strict=False))
    chosen = []
    for some in rows.values():
        good = [w for w in some if text[w] and "NAN" not in text[w]]
        chosen += good[:PER_ROW]
    seen = {}
    for w in corpus:
        if text[w] and "NAN" not in text[w] and not NO_ROWS.search(text[w]):
            known = seen.setdefault(shape(text[w]), [])
            if len(known) < PER_SHAPE:
                known.append(w)
    chosen += [w for some in seen.values() for w in some]
    print("# 64 bits <tab> nvdisasm 12.4 -b SM52. First random instructions of every row, then ptxas' own.")
    for w in dict.fromkeys(chosen):
        print("%016x\t%s" % (w, spelled(text[w])))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
