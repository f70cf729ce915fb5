"""Finds circles between folders, by what their files include, and headers whose functions another folder defines.

A room is a folder below sass/, src/ or kernels/ (src/expr, kernels/gemm), or a file pair that stands beside these. The
same holds of the folders within a room, where each file that stands beside them counts for itself. What a module of
Python imports inside a function does not count, nor what it imports for types alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

HOUSES = ("sass", "src", "kernels")
OTHERS = ("include", "layers", "python")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')

# What begins a line and declares or defines a function, and its name.
_HEAD = r"^(?!using|return|typedef|friend|#|//|\s)[\w:<>,&*\[\] ]*?[\s&*>](?:\w+::)*(\w+)"
_TAIL = r"\)(?: noexcept)?(?: const)?"
DECLARED = re.compile(_HEAD + r"\([^;{}]*" + _TAIL + ";", re.M)
DEFINED = re.compile(_HEAD + r"\([^;{}]*?" + _TAIL + r" \{", re.M)
ANONYMOUS = re.compile(r"^namespace \{\n.*?^\}  // namespace$", re.S | re.M)

# sass/cubin.h is the face of a cubin's writer, sass/asm, and of its reader, sass/dis.
ALLOWED = {("sass/cubin", "sass/asm")}
FACES = {"sass/cubin.h"}

# What room needs what other, and the file and line where it says so first.
Needs = dict[str, dict[str, str]]


def room_of(path: str) -> str:
    """src/expr/node.h: src/expr. sass/cubin.h: sass/cubin. layers/pool.cpp: layers. nervanagpu/a/b.py: its module."""
    parts = path.split("/")
    if path.endswith(".py"):
        return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".").removeprefix("python.")
    if parts[0] not in HOUSES:
        return parts[0]
    return "/".join(parts[:2]) if len(parts) > 2 else path.rsplit(".", 1)[0]


def inner_room_of(path: str) -> str:
    """kernels/gemm/cost/cost.h: kernels/gemm/cost. kernels/gemm/gemm.h: itself. Of what stands in no room: ""."""
    parts = path.split("/")
    if parts[0] not in HOUSES or len(parts) < 3:
        return ""
    return "/".join(parts[:3]) if len(parts) > 3 else path


def _imports(body: list[ast.stmt]) -> Iterator[tuple[int, str, str]]:
    """The line, the module and the name of all that a module imports when it is imported."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.lineno, node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.dump(node.test):
            yield from _imports(node.body + node.orelse)
        elif isinstance(node, ast.Try):
            yield from _imports(node.body + [s for h in node.handlers for s in h.body] + node.orelse + node.finalbody)


def needs(texts: Mapping[str, str]) -> Needs:
    """Of the tree's files, by their paths."""
    found: Needs = {}

    def note(path: str, line: int, room: str) -> None:
        mine = room_of(path)
        found.setdefault(mine, {})
        if room != mine and (mine, room) not in ALLOWED:
            found[mine].setdefault(room, f"{path}:{line}")

    modules = {room_of(path) for path in texts if path.endswith(".py") and path.startswith("python/")}
    for path, text in texts.items():
        if path.split("/")[0] not in (*HOUSES, *OTHERS):
            continue
        if path.endswith(".py"):
            for line, module, name in _imports(ast.parse(text).body):
                if f"{module}.{name}" in modules:
                    note(path, line, f"{module}.{name}")
                elif module in modules and module != "nervanagpu":  # which imports all the others
                    note(path, line, module)
            continue
        for line, words in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(words)
            if not match:
                continue
            target = match.group(1)
            known = [name for name in (target, f"include/{target}") if name in texts]
            if known:
                note(path, line, room_of(known[0]))
    return found


def _circle(graph: Needs, start: str) -> list[str]:
    """The shortest way from `start` back to it; none: []."""
    before: dict[str, str] = {}
    queue = [start]
    for room in queue:
        for other in graph.get(room, {}):
            if other == start:
                way = [room]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return way[::-1]
            if other not in before:
                before[other] = room
                queue.append(other)
    return []


def inner_needs(texts: Mapping[str, str]) -> Needs:
    """Of the folders within rooms."""
    divided = {room_of(path) for path in texts if path.count("/") > 2}  # rooms that have folders
    found: Needs = {}
    for path, text in texts.items():
        mine = inner_room_of(path)
        if not mine or room_of(path) not in divided:
            continue
        found.setdefault(mine, {})
        for line, words in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(words)
            if match and match.group(1) in texts and room_of(match.group(1)) == room_of(path):
                other = inner_room_of(match.group(1))
                if other != mine:
                    found[mine].setdefault(other, f"{path}:{line}")
    return found


def circles(texts: Mapping[str, str]) -> list[str]:
    """A sentence for each circle; each room is named in one of them at the most."""
    return _circles_of(needs(texts)) + _circles_of(inner_needs(texts))


def _circles_of(graph: Needs) -> list[str]:
    found: list[str] = []
    named: set[str] = set()
    for room in sorted(graph):
        way = _circle(graph, room)
        if not way or named & set(way):
            continue
        named |= set(way)
        steps = ", ".join(f"{a} -> {b} ({graph[a][b]})" for a, b in zip(way, [*way[1:], way[0]], strict=True))
        found.append(f"{graph[way[0]][[*way[1:], way[0]][0]]}: a circle: {steps}")
    return found


def defined_elsewhere(texts: Mapping[str, str]) -> list[str]:
    """A sentence for each function that a header outside include/ declares and only other rooms define."""
    declared: dict[str, list[str]] = {}
    defined: dict[str, list[str]] = {}
    for path, text in texts.items():
        if path.split("/")[0] not in (*HOUSES, "layers", "python"):
            continue
        if path.endswith(".h") and path not in FACES:
            for match in DECLARED.finditer(text):
                declared.setdefault(match.group(1), []).append(path)
        elif path.endswith(".cpp"):
            for match in DEFINED.finditer(ANONYMOUS.sub("", text)):
                defined.setdefault(match.group(1), []).append(path)
    found = []
    for name, headers in sorted(declared.items()):
        sources = defined.get(name, [])
        rooms = {room_of(path) for path in headers}
        if sources and not rooms & {room_of(path) for path in sources}:
            line = texts[headers[0]][: texts[headers[0]].index(name)].count("\n") + 1
            found.append(
                f"{headers[0]}:{line}: declares {name}(), which {sources[0]} defines; needs one folder for both"
            )
    return found
