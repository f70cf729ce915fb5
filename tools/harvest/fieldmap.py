"""Compact field map of words, one-bit mutation: fieldmap.py ARCH HEX128 ...  Runs of bits that change the same number
of the text are joined; bits that change nothing or are illegal are listed as such."""

import re
import sys

from oracle import disassemble

_TOKEN = re.compile(r"[A-Za-z_][\w.]*|0x[0-9a-f]+|-?\d+(?:\.\d+)?(?:e[+-]\d+)?|[^\s\w]")


def compact(word, arch):
    texts = disassemble([word] + [word ^ (1 << b) for b in range(128)], arch)
    if texts[0] is None:
        return "%032x  illegal" % word
    base = _TOKEN.findall(texts[0])
    labels = []
    for text in texts[1:]:
        if text is None:
            labels.append("ill")
        elif text == texts[0]:
            labels.append("-")
        else:
            new = _TOKEN.findall(text)
            diff = [k for k in range(len(base)) if k < len(new) and base[k] != new[k]]
            numeric = re.compile(r"^(R|UR|P|UP|B|SB)?(0x)?[0-9a-f]+$|^RZ|^URZ|^PT|^UPT")
            if (
                len(new) == len(base)
                and len(diff) == 1
                and numeric.match(base[diff[0]])
                and numeric.match(new[diff[0]])
            ):
                labels.append("#%d" % diff[0])
            elif re.sub(r"\+?-?0x[0-9a-f]+\]|\]", "]", text) == re.sub(r"\+?-?0x[0-9a-f]+\]|\]", "]", texts[0]):
                labels.append("offset")
            elif new and base and len(new) == len(base) and diff == [0]:
                labels.append("=" + new[0])
            else:
                labels.append("=" + text)
    out, i = [], 0
    while i < 126:
        j = i
        while j + 1 < 126 and labels[j + 1] == labels[i] and not labels[i].startswith("="):
            j += 1
        if not (i < 16 or (i >= 92 and i < 122)):
            out.append(("%d" % i if i == j else "%d-%d" % (i, j)) + ":" + labels[i])
        i = j + 1
    return "%032x  %s\n     %s" % (word, texts[0], "\n     ".join(_rows(out)))


def _rows(items, width=150):
    line = ""
    for item in items:
        if line and len(line) + len(item) > width:
            yield line
            line = ""
        line += ("  " if line else "") + item
    if line:
        yield line


if __name__ == "__main__":
    for h in sys.argv[2:]:
        print(compact(int(h, 16), sys.argv[1]))
