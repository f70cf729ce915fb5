"""Sentences that are too long to read at once: what tools/check_tree.py asks of pages and of Python's docstrings.

Headings, tables, code, comments and the targets of links are no prose. A formula, a code span and a list of code spans
count as one word, signs as none. A sentence ends at a full stop, a question mark or an exclamation mark in front of
white space, and with its paragraph or item of a list.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_WORDS = 25

CODE_SPAN = re.compile(r"(`+).+?\1", re.S)
CODE_LIST = re.compile(r"\bcode(?:,\s+code\b)+")
FORMULA = re.compile(r"\$[^$\n]+\$")
COMMENT = re.compile(r"<!--.*?-->", re.S)
IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")
INDENTED = re.compile(r" {4,}(?!\s*(?:[-*+]|\d+\.)\s)")
NO_PROSE = re.compile(r"^\s*(?:#|\||:::|\$\$|<|:\w+:|\[[^\]]+\]:)")
END = re.compile(r"(?<=[.!?])[)\"'*_]*\s+")
ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|vs|cf|etc|resp|no)\.|\.\.\.)[)\"'*_]*$")


class Long(NamedTuple):
    line: int
    words: int
    text: str


def paragraphs(text: str) -> list[tuple[int, str]]:
    """Each paragraph and each item of a list, with the number of its first line."""
    text = COMMENT.sub(lambda m: "\n" * m.group().count("\n"), text)
    found: list[tuple[int, list[str]]] = []
    fenced = False
    joins = False
    for number, line in enumerate(text.splitlines(), 1):
        fence = line.lstrip().startswith(("```", "~~~"))
        fenced ^= fence
        code = fence or fenced or (not joins and INDENTED.match(line))
        if code or not line.strip() or NO_PROSE.match(line):
            joins = False
            continue
        item = ITEM.match(line)
        if item or not joins:
            found.append((number, []))
        found[-1][1].append(line[item.end() :] if item else line)
        joins = True
    return [(number, "\n".join(lines)) for number, lines in found]


def sentences(paragraph: str) -> list[str]:
    plain = CODE_LIST.sub("code", FORMULA.sub("formula", CODE_SPAN.sub("code", paragraph)))
    plain = LINK.sub(r"\1", IMAGE.sub("", plain))
    found: list[str] = []
    open_ = False
    for part in END.split(plain):
        if open_:
            found[-1] += " " + part
        else:
            found.append(part)
        open_ = bool(ABBREVIATION.search(part))
    return found


def count(sentence: str) -> int:
    return sum(any(c.isalnum() for c in word) for word in sentence.split())


def long_sentences(text: str, limit: int = MAX_WORDS) -> list[Long]:
    return [
        Long(line, count(sentence), " ".join(sentence.split()))
        for line, paragraph in paragraphs(text)
        for sentence in sentences(paragraph)
        if count(sentence) > limit
    ]
