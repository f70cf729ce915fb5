"""Golden lines for rows that have fewer than two: golden_rows.py ARCH GOLDEN < SAMPLES

SAMPLES are the lines of sample_rows, which leaves out rows that have two; GOLDEN is the file to append to. Only words
that nvdisasm prints as we do are taken ({desc=UR6}, which it hides, aside).
"""

import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import oracle
import oracle64


def main(arch, golden, per_row=3):
    lines = [line.rstrip("\n").split("\t") for line in sys.stdin]
    narrow = len(lines[0][1]) == 16
    have = {line.split("\t")[0] for line in Path(golden).read_text().splitlines() if line[:1] not in ("", "#")}
    counts = Counter(row for row, word, _ in lines if word in have)
    texts = (oracle64 if narrow else oracle).disassemble([int(word, 16) for _, word, _ in lines], arch)
    wrong, added = defaultdict(list), Counter()
    with Path(golden).open("a") as out:
        for (row, word, ours), theirs in zip(lines, texts, strict=True):
            if re.search(r"[QS]NAN", ours + (theirs or "")):  # whose payload nvdisasm hides
                continue
            if re.sub(r" \{desc=.*", "", ours) != theirs:
                wrong[row].append("%s  %s | %s" % (word, ours, theirs))
            elif counts[row] + added[row] < per_row and word not in have:
                added[row] += 1
                out.write("%s\t%s\n" % (word, ours))
    for row, examples in wrong.items():
        sys.stderr.write("row %s differs in %d samples: %s\n" % (row, len(examples), examples[0]))
    print("%d lines for %d rows; %d rows differ" % (sum(added.values()), len(added), len(wrong)))


if __name__ == "__main__":
    main(*sys.argv[1:3])
