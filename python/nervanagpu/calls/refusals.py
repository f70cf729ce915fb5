"""What a function of the compiled module says when it cannot take its arguments.

pybind11 answers with a list of C++ signatures and a print of all that came. `refusal` finds out from these signatures
which argument does not fit. It words that as every other message is worded: function, argument, what came, what is
needed. It names what the user called: the outermost function of this package, and its own argument, where that has
been passed on.
"""

from __future__ import annotations

import ast
import collections.abc
import inspect
import operator
import re
import sys
import types
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nervanagpu.calls import options
from nervanagpu.calls.arguments import either, is_integer, shown

if TYPE_CHECKING:
    from collections.abc import Callable

_PACKAGE = __name__.partition(".")[0]
_GATES = {  # what stands before functions is not what was called
    f"{_PACKAGE}.calls.placement",
    f"{_PACKAGE}.function_table",
}
_LIMITS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1), "uint64": (0, 2**64 - 1)}


def _has(*methods: str) -> Callable[[Any], bool]:
    return lambda value: any(hasattr(type(value), m) for m in methods)


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


# A type of a signature: whether it takes a value, and what it is called. Others are the module's classes.
_TYPES: dict[str, tuple[Any, str]] = {
    **dict.fromkeys(("int", "int32", "int64", "uint64"), (is_integer, "an integer")),
    **dict.fromkeys(("float", "SupportsFloat"), (_has("__float__", "__index__"), "a number")),
    "SupportsIndex": (is_integer, "a number"),
    "bool": (lambda value: value is None or _has("__bool__")(value), "True or False"),
    "str": (_is(str, bytes), "a str"),
    "bytes": (_is(bytes), "bytes"),
    "dict": (_is(dict), "a dict"),
    "Mapping": (_is(collections.abc.Mapping), "a dict"),
    "Callable": (callable, "a function"),
    "ndarray": (_has("__array__"), "a NumPy array"),
    "None": (_is(types.NoneType), "None"),
    "object": (lambda value: True, "anything"),
}
# The dicts of keywords that functions hand on.
_KEYWORDS = {kind.__name__: kind for kind in (options.Rounding, options.Epilogue)}
_SEQUENCES = ("Sequence", "list", "List")
_TUPLES = ("tuple", "Tuple")


@dataclass
class _Lack:
    """value: what does not fit; inside: the values that it is an item of, outermost first; key: of a dict of keywords.

    need "": no function takes this keyword.
    """

    value: Any
    need: str
    inside: list[Any] = field(default_factory=list)
    error: type[Exception] = TypeError
    key: str = ""


def _name(kind: ast.expr) -> str:
    """The last part of a type's name: "Sequence" of collections.abc.Sequence[...]."""
    if isinstance(kind, ast.Subscript):
        return _name(kind.value)
    if isinstance(kind, ast.Attribute):
        return kind.attr
    return kind.id if isinstance(kind, ast.Name) else "None"


def _items(kind: ast.expr) -> list[ast.expr]:
    """X and Y of tuple[X, Y]."""
    if not isinstance(kind, ast.Subscript):
        return []
    return kind.slice.elts if isinstance(kind.slice, ast.Tuple) else [kind.slice]


def _alternatives(kind: ast.expr) -> list[ast.expr]:
    """X and None of X | None, or of Optional[X]."""
    if isinstance(kind, ast.BinOp):
        return _alternatives(kind.left) + _alternatives(kind.right)
    if _name(kind) == "Optional":
        return [*_alternatives(_items(kind)[0]), ast.Constant(None)]
    return _alternatives(_items(kind)[0]) if _name(kind) == "Annotated" else [kind]


def _called(kind: ast.expr) -> str:
    words = []
    for one in _alternatives(kind):
        name, items = _name(one), _items(one)
        if name in _TUPLES:
            words.append(f"{len(items)} values")
        elif name in _SEQUENCES:
            words.append(f"a sequence, each {_called(items[0])}" if items else "a sequence")
        else:
            words.append(_TYPES[name][1] if name in _TYPES else name)
    return either(dict.fromkeys(words))


def _lack(value: object, kind: ast.expr) -> _Lack | None:
    """What keeps `value` from being taken; None: nothing that is known here."""
    lacks = [_lack_of(value, one) for one in _alternatives(kind)]
    if None in lacks:
        return None
    known = [lack for lack in lacks if lack is not None]
    special = [lack for lack in known if lack.inside or lack.key or lack.error is ValueError]
    return special[0] if special else _Lack(value, _called(kind))


def _lack_of(value: Any, kind: ast.expr) -> _Lack | None:
    name, items = _name(kind), _items(kind)
    lack = _Lack(value, _called(kind))
    if name in _KEYWORDS:
        return _lack_of_keywords(value, _KEYWORDS[name])
    if name in _SEQUENCES or name in _TUPLES:
        if isinstance(value, str | bytes) or not isinstance(value, collections.abc.Sequence):
            return lack
        if name in _TUPLES and len(value) != len(items):
            return lack
        for item, wanted in zip(value, items if name in _TUPLES else items * len(value), strict=False):
            deeper = _lack(item, wanted)
            if deeper is not None:
                return _Lack(deeper.value, deeper.need, [value, *deeper.inside], deeper.error)
        return None
    takes = _TYPES[name][0] if name in _TYPES else None
    if takes is None:
        known = getattr(sys.modules[f"{_PACKAGE}._core"], name, None)
        takes = _is(known) if isinstance(known, type) else (lambda value: True)
    if not takes(value):
        return lack
    if name in _LIMITS and not _LIMITS[name][0] <= operator.index(value) <= _LIMITS[name][1]:
        return _Lack(value, "{} to {}".format(*_LIMITS[name]), error=ValueError)
    return None


# How the compiled module has the keywords: python/options.h.
_KINDS = {"alpha": "float", "beta": "float", "rounding": "str", "seed": "uint64", "offset": "uint64", "bits": "int32"}


def _lack_of_keywords(value: object, known: type[options.Rounding]) -> _Lack | None:
    if not isinstance(value, dict):
        return _Lack(value, "a dict")
    for key, item in value.items():
        if key not in known.__annotations__:
            return _Lack(item, "", key=key)
        lack = _lack(item, ast.Name(_KINDS[key]))
        if lack is not None:
            return _Lack(lack.value, lack.need, error=lack.error, key=key)
    return None


@dataclass
class _Caller:
    """What the user called: its name, its arguments as they are now, and what those left out are."""

    function: str
    arguments: dict[str, Any]
    defaults: dict[str, Any] = field(default_factory=dict)

    def name_of(self, name: str, lack: _Lack) -> str:
        """Its own name for an argument that is called `name` further in."""
        if lack.key and self.arguments.get(lack.key) is lack.value:
            return lack.key
        if name in self.arguments:
            return name
        for value in (*lack.inside, lack.value):
            same = [own for own, theirs in self.arguments.items() if theirs is value]
            given = [own for own in same if own not in self.defaults or self.defaults[own] is not value]
            if same:
                return (given or same)[0]
        name = lack.key or name
        return name.replace("arg", "argument ") if re.fullmatch(r"arg\d+", name) else name


def _defaults(frame: types.FrameType) -> dict[str, Any]:
    """The default values of the function that runs in `frame`; none, if its module or class has another by its name."""
    name = frame.f_code.co_name
    of_class = getattr(type(frame.f_locals.get("self")), name, None)
    function = inspect.unwrap(of_class or frame.f_globals.get(name) or _defaults)
    if getattr(function, "__code__", None) is not frame.f_code:
        return {}
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


def _caller(function: str) -> _Caller:
    """The outermost function of this package on the way here; if there is none, `function`."""
    found: types.FrameType | None = None
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        if frame.f_globals["__name__"] not in _GATES:
            found = frame
        frame = frame.f_back
    if found is None:
        return _Caller(function, {})
    code = found.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    arguments = {name: found.f_locals[name] for name in names if name in found.f_locals}
    if code.co_flags & inspect.CO_VARKEYWORDS:
        rest = code.co_varnames[len(names) + bool(code.co_flags & inspect.CO_VARARGS)]
        arguments |= found.f_locals.get(rest, {})
    name = (
        type(arguments["self"]).__name__
        if code.co_name == "__init__"
        else code.co_name.lstrip("_").removesuffix("_method")
    )
    if name == "function":  # of a ufunc, which says its name itself
        name = str(found.f_locals.get("name", function))
    return _Caller(name, {own: value for own, value in arguments.items() if own != "self"}, _defaults(found))


def operand_name(value: object) -> str:
    """What a message calls an operand: "exp: x", as the function that was called does; "operand", if it has no name."""
    caller = _caller("")
    own = next((name for name, given in caller.arguments.items() if given is value), "")
    return f"{caller.function}: {own}" if own and caller.function else "operand"


def no_operand(value: object, error: Exception) -> Exception:
    """The error of a value that no tensor can be made of, with its name."""
    name = operand_name(value)
    found = re.match(r"(?:\w+: )?dtype is (.*?); (needs .*)", str(error), re.S)
    if name == "operand" or found is None:
        return error
    return type(error)(f"{name} is {shown(value)}, with dtype {found[1]}; {found[2]}")


def _refused(caller: _Caller, signature: ast.arguments, args: tuple[Any, ...], named: dict[str, Any]) -> _Lack | str:
    """What does not fit one signature: a value, worded with its name, or what is wrong with the arguments as such."""
    wanted = [*signature.posonlyargs, *signature.args]
    names = [a.arg for a in wanted]
    given = dict(zip(names, args, strict=False))
    own = [name for name in names if name != "self"]
    if len(args) > len(names) and signature.vararg is None:
        takes = f"takes {len(own)} arguments ({', '.join(own)})" if own else "takes no arguments"
        return f"{takes}; {len(args) - len(names) + len(own)} came"
    for name in named:
        if name in given or (name not in names and name not in [a.arg for a in signature.kwonlyargs]):
            twice = "came twice" if name in given else "is no argument"
            return f"{name} {twice}; needs {', '.join(own) or 'none'}"
    given |= named
    for name in names[: len(names) - len(signature.defaults)]:
        if name not in given:
            return f"{name} is missing"
    for argument in [*wanted, *signature.kwonlyargs]:
        if argument.arg in given and argument.annotation is not None:
            lack = _lack(given[argument.arg], argument.annotation)
            if lack is not None and lack.key and not lack.need:
                return lack
            if lack is not None:
                name = caller.name_of(argument.arg, lack)
                has = "has" if lack.inside else "is"
                return _Lack(f"{name} {has} {shown(lack.value)}", lack.need, error=lack.error)
    return "the arguments fit no signature"


def refusal(error: Exception, args: tuple[Any, ...], named: dict[str, Any]) -> Exception:
    """`error`, or if it is pybind11's list of signatures, what it means for these arguments."""
    text = str(error)
    kind = re.match(r"(\w*)\(\): incompatible (function|constructor) arguments\. ", text)
    if kind is None:
        function = _caller("").function if text.startswith("dtype is ") else ""  # the compiled module does not know it
        return type(error)(f"{function}: {text}") if function else error
    function = kind[1]
    if kind[2] == "constructor":
        function, args = type(args[0]).__name__, args[1:]
    caller = _caller(function)
    listed = text.partition("\n\nInvoked with")[0]
    refused: list[_Lack | str] = []
    for line in re.findall(r"^    \d+\. [\w.]*\((.*)\)(?: -> .*)?$", listed, re.MULTILINE):
        plain = re.sub(r"<[^<>]*>", "None", line.replace("::", "."))
        definition = ast.parse(f"def f({plain}): pass").body[0]
        assert isinstance(definition, ast.FunctionDef)
        refused.append(_refused(caller, definition.args, args, named))
    lacks = [r for r in refused if isinstance(r, _Lack)]
    for lack in lacks:
        if not lack.need:
            return TypeError(f"{caller.function}() got an unexpected keyword argument {lack.key!r}")
    if not lacks:
        return TypeError(f"{caller.function}: {refused[0]}")
    same = [lack for lack in lacks if lack.value == lacks[0].value]
    return lacks[0].error(f"{caller.function}: {lacks[0].value}; needs {either(dict.fromkeys(s.need for s in same))}")
