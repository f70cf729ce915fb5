"""Writes golden vectors of sm_90a: golden_ops.py MNEMONICS SAMPLES CUBIN ... > file.golden

MNEMONICS is a regular expression that the mnemonic must match as a whole; SAMPLES is the output of sample_rows (random
instructions of every row); the cubins are ptxas' of the corpora. The text is always nvdisasm's.
"""

import re
import sys

import cubin
from oracle import disassemble

CONTROL = ((1 << 21) - 1) << 105
NEUTRAL = 0x7F1 << 105  # stall 1, no yield, no scoreboards
PER_ROW, PER_SHAPE = 4, 1


def shape(text):
    """What is left when register numbers are taken out."""
    return re.sub(r"\b(U?R|U?P)\d+", r"\1#", re.sub(r"0x[0-9a-f]+", "#", re.sub(r"^@!?U?P\w ", "", text)))


def main(mnemonics, samples, cubins):
    wanted = re.compile("(?:@!?U?P\\w )?(?:%s)(?![\\w])" % mnemonics)
    rows = {}
    with open(samples) as f:
        for line in f:
            row, word, text = line.rstrip("\n").split("\t", 2)
            if wanted.match(text):
                rows.setdefault(int(row), []).append((int(word, 16), text))
    chosen, wrong, missing = [], 0, 0
    for row, some in rows.items():
        good = []
        for (word, ours), theirs in zip(some, disassemble([w for w, _ in some]), strict=True):
            if theirs == ours:
                good.append((word, theirs))
            elif theirs is None or "INVALID" in theirs or "???" in theirs:
                missing += 1
                print("refused: row %d %032x %s: %s" % (row, word, ours, theirs), file=sys.stderr)
            else:
                wrong += 1
                print("differs: row %d %032x %s: %s" % (row, word, ours, theirs), file=sys.stderr)
        chosen += good[:PER_ROW]
        if len(good) < 2:
            print("too few: row %d %s" % (row, some[0][1]), file=sys.stderr)
    seen = {}
    words = sorted({w & ~CONTROL | NEUTRAL for path in cubins for _, w in cubin.words(path)})
    for word, text in zip(words, disassemble(words), strict=True):
        if text and wanted.match(text):
            known = seen.setdefault(shape(text), [])
            if len(known) < PER_SHAPE:
                known.append((word, text))
    chosen += [w for some in seen.values() for w in some]
    print("# 128 bits (high, low) <tab> nvdisasm 12.4 -b SM90a. Stall 1, no scoreboards.")
    print("# Random ones of every row, then ptxas'.")
    for word, text in dict(chosen).items():
        print("%032x\t%s" % (word, text))
    print("%d words, %d differ, %d refused" % (len(chosen), wrong, missing), file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
