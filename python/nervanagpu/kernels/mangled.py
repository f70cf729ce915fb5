"""What a C++ symbol says of a kernel: its name and the types of its parameters.

It is the Itanium C++ ABI, as far as kernels have need of it. A symbol that says more than is understood here says
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

# One letter each; pointers are "ptr", structures "struct NAME".
_BUILTIN = {
    "v": "void", "b": "bool", "c": "s8", "a": "s8", "h": "u8", "s": "s16", "t": "u16", "i": "s32", "j": "u32",
    "l": "s64", "m": "u64", "x": "s64", "y": "u64", "f": "f32", "d": "f64",
}  # fmt: skip


class Signature(NamedTuple):
    """name: "scale", "space::scale"; types: of the parameters, as `.param` has them, or None where not understood."""

    name: str
    types: tuple[str, ...] | None


class _Unknown(Exception):
    pass


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.seen: list[str] = []  # what S_, S0_, S1_ ... stand for
        self.arguments: list[str] = []  # what T_, T0_ ... stand for

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self, wanted: str) -> bool:
        if not self.text.startswith(wanted, self.at):
            return False
        self.at += len(wanted)
        return True

    def number(self) -> int:
        start = self.at
        while self.peek().isdigit():
            self.at += 1
        if start == self.at:
            raise _Unknown
        return int(self.text[start : self.at])

    def identifier(self) -> str:
        length = self.number()
        name = self.text[self.at : self.at + length]
        if len(name) != length:
            raise _Unknown
        self.at += length
        return name

    def index(self) -> int:
        """Of S_ and T_: nothing is 0, "0" is 1, ..."""
        start = self.at
        while self.peek().isalnum():
            self.at += 1
        digits = self.text[start : self.at]
        if not self.take("_"):
            raise _Unknown
        return 0 if not digits else int(digits, 36) + 1

    def remember(self, kind: str) -> str:
        self.seen.append(kind)
        return kind

    def lookup(self, among: list[str]) -> str:
        place = self.index()
        if place >= len(among):
            raise _Unknown
        return among[place]

    def template_arguments(self) -> list[str]:
        out = []
        while not self.take("E"):
            if self.take("L"):  # a number: its type, its digits
                self.type()
                while self.peek() and not self.take("E"):
                    self.at += 1
                out.append("number")
            else:
                out.append(self.type())
        return out

    def named(self, wrap: Callable[[str], str]) -> str:
        """A name, nested or not, with its template arguments."""
        if not self.take("N"):
            name = self.identifier()
            if self.take("I"):
                self.remember(wrap(name))
                self.arguments = self.template_arguments()
            return name
        name = ""
        while not self.take("E"):
            if self.take("I"):
                self.remember(wrap(name))
                self.arguments = self.template_arguments()
                continue
            if name:
                self.remember(wrap(name))
            name += ("::" if name else "") + self.identifier()
        return name

    def type(self) -> str:
        c = self.peek()
        if c in _BUILTIN:
            self.at += 1
            return _BUILTIN[c]
        if c and c in "PRO":
            self.at += 1
            self.type()
            return self.remember("ptr")
        if c and c in "KVr":
            while self.peek() and self.peek() in "KVr":
                self.at += 1
            return self.remember(self.type())
        if self.take("T"):
            return self.remember(self.lookup(self.arguments))
        if self.take("S"):
            return self.lookup(self.seen)
        if c.isdigit() or c == "N":
            kept = self.arguments
            name = self.named(lambda n: "struct " + n)
            self.arguments = kept
            return self.remember("struct " + name)
        raise _Unknown


def signature(symbol: str) -> Signature:
    """Of a symbol of a cubin; a plain C name has no types."""
    if not symbol.startswith("_Z"):
        return Signature(symbol, None)
    parser = _Parser(symbol[2:])
    try:
        name = parser.named(lambda n: "function " + n)
    except _Unknown:
        return Signature(symbol, None)
    try:
        if parser.arguments:
            parser.type()  # templates say what they return
        types = []
        while parser.peek():
            types.append(parser.type())
    except _Unknown:
        return Signature(name, None)
    if not types:
        return Signature(name, None)
    return Signature(name, () if types == ["void"] else tuple(types))
