#!/usr/bin/env python3
"""Makes a folder with what wheels for an older Linux are built with: a CMake toolchain file and all that it names.

    tools/manylinux.py --arch aarch64 build/manylinux/aarch64
    cmake -S . -B out -DCMAKE_TOOLCHAIN_FILE=build/manylinux/aarch64/toolchain.cmake -DNG_HOST_TOOLS=build/bin

The compiler is zig's clang (the package ziglang), which brings the headers and the symbols of any glibc, for any
processor. The C++ library is GCC's, since programs that link to ours share std::string with it: the distribution's
headers and libstdc++.a, for its shared library is newer than what manylinux allows. But a process has one count of
exceptions and one operator new (SHARED): those stay in libstdc++.so.6, by a stub with their names alone. libzstd is
compiled from the sources within the package zstandard.

Needs the package ziglang, zstandard's sdist (pip fetches it), readelf, and libstdc++ of GCC 12 or later; for another
processor Debian's is libstdc++-12-dev-arm64-cross.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OURS = ROOT / "cmake/manylinux"
GLIBC = (2, 28)
# The newest versions that manylinux_2_28 allows, as auditwheel's policy has them.
NEWEST = {"GLIBC": GLIBC, "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11)}
# Members of libstdc++.a that are left out: the process's own, in libstdc++.so.6, are used.
SHARED = re.compile(r"(eh_globals|new_op\w*|del_op\w*)\.o")
ZSTANDARD = "0.25.0"  # the package; it has zstd 1.5.7
ARCHES = ("x86_64", "aarch64")


class Missing(Exception):
    """Something is not there; the text says what, and how to get it."""


@dataclass(frozen=True)
class Symbol:
    name: str
    version: str  # GLIBCXX_3.4


def number(version: str) -> tuple[str, tuple[int, ...]]:
    """GLIBCXX_3.4.9: GLIBCXX, (3, 4, 9). A version without a number has none: CXXABI_TM_1."""
    family, _, digits = version.partition("_")
    return family, tuple(map(int, digits.split("."))) if re.fullmatch(r"\d+(\.\d+)*", digits) else ()


def allowed(version: str) -> bool:
    family, digits = number(version)
    return family not in NEWEST or (bool(digits) and digits <= NEWEST[family])


def symbols(library: Path, defined: bool) -> list[Symbol]:
    """The versioned symbols that the shared library defines, or those that it needs."""
    text = subprocess.run(
        ["readelf", "--wide", "--dyn-syms", library], capture_output=True, text=True, check=True
    ).stdout
    found = []
    for line in text.splitlines():
        words = line.split()
        if len(words) < 8 or "@" not in words[7] or (words[6] == "UND") == defined:
            continue
        name, _, version = words[7].partition("@")
        found.append(Symbol(name, version.lstrip("@")))
    return found


def too_new(library: Path) -> list[str]:
    """Symbols that the library needs and manylinux forbids: 'exp@GLIBC_2.29'."""
    return sorted(f"{s.name}@{s.version}" for s in symbols(library, defined=False) if not allowed(s.version))


def members(archive: Path) -> dict[str, set[str]]:
    """The names that each object in a static library defines for others."""
    text = subprocess.run(["readelf", "--wide", "--syms", archive], capture_output=True, text=True, check=True).stdout
    found: dict[str, set[str]] = {}
    names: set[str] = set()
    for line in text.splitlines():
        if line.startswith("File: "):
            names = found.setdefault(line.rpartition("(")[2].rstrip(")"), set())
        words = line.split()
        if len(words) == 8 and words[4] in ("GLOBAL", "WEAK") and words[5] == "DEFAULT" and words[6] != "UND":
            names.add(words[7])
    return found


def stub(found: list[Symbol], names: set[str]) -> tuple[str, str]:
    """Assembler text and version script of a library that has these functions, and nothing in them: each with the
    newest of its versions in `found` that is allowed."""
    newest: dict[str, str] = {}
    for s in found:
        old = newest.get(s.name)
        if s.name in names and allowed(s.version) and (old is None or number(s.version) > number(old)):
            newest[s.name] = s.version
    lines = [f".globl {name}\n.type {name}, @function\n{name}:\n" for name in sorted(newest)]
    nodes = [
        f"{version} {{ global: {' '.join(n + ';' for n in sorted(newest) if newest[n] == version)} }};\n"
        for version in sorted(set(newest.values()), key=number)
    ]
    return ".text\n" + "".join(lines), "".join(nodes)


@dataclass(frozen=True)
class Library:
    """Where libstdc++ of an architecture lies."""

    headers: tuple[Path, ...]
    static: Path
    shared: Path
    unwinder: Path


def library(arch: str) -> Library:
    triple = f"{arch}-linux-gnu"
    for gcc in (Path("/usr/lib/gcc") / triple, Path("/usr/lib/gcc-cross") / triple):
        for folder in sorted(gcc.glob("*"), key=lambda f: number(f"GCC_{f.name}"), reverse=True):
            if (folder / "libstdc++.a").exists():
                version = folder.name
                cross = gcc.parent.name == "gcc-cross"
                base = Path(f"/usr/{triple}/include/c++" if cross else "/usr/include/c++") / version
                target = base / triple if cross else Path("/usr/include") / triple / "c++" / version
                lib = Path(f"/usr/{triple}/lib" if cross else f"/usr/lib/{triple}")
                return Library((base, target), folder / "libstdc++.a", lib / "libstdc++.so.6", lib / "libgcc_s.so.1")
    package = "libstdc++-12-dev" + ("-arm64-cross" if arch == "aarch64" else "")
    raise Missing(f"libstdc++.a for {arch}: none under /usr/lib/gcc or /usr/lib/gcc-cross; Debian has it in {package}")


def call(*words: object) -> None:
    subprocess.run([str(w) for w in words], check=True)


def write(path: Path, text: str, mode: int = 0o644) -> None:
    """A file of that text. One that is so already keeps its time, which ccache knows a compiler by."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)


def unpack_zstd(folder: Path) -> None:
    """The sources, of the sdist of the package zstandard."""
    call(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary=zstandard", "-d", folder,
         f"zstandard=={ZSTANDARD}")  # fmt: skip
    (archive,) = folder.glob("zstandard-*.tar.gz")
    with tarfile.open(archive) as tar:
        for name in ("zstd.c", "zstd.h", "zstd_errors.h"):
            member = tar.extractfile(f"zstandard-{ZSTANDARD}/zstd/{name}")
            assert member is not None, name
            (folder / name).write_bytes(member.read())


def make_libraries(bin: Path, parts: Library, folder: Path) -> None:
    """What is linked to, compiled by the programs in `bin`."""
    left_out = {name: names for name, names in members(parts.static).items() if SHARED.fullmatch(name)}
    shutil.copyfile(parts.static, folder / "libstdc++.a")
    call(bin / "ar", "d", folder / "libstdc++.a", *left_out)
    text, script = stub(symbols(parts.shared, defined=True), set().union(*left_out.values()))
    write(folder / "stub.S", text)
    write(folder / "stub.map", script)
    call(bin / "clang", "-shared", "-nostdlib", "-Wl,-soname,libstdc++.so.6",
         f"-Wl,--version-script={folder / 'stub.map'}", folder / "stub.S", "-o", folder / "libstdc++.so.6")  # fmt: skip
    call(bin / "clang", "-O2", "-fPIC", "-c", OURS / "newer_glibc.c", "-o", folder / "newer_glibc.o")
    unpack_zstd(folder)
    zstd = folder / "zstd.o"
    call(bin / "clang", "-O2", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-c", folder / "zstd.c", "-o", zstd)
    call(bin / "ar", "rcs", folder / "libzstd.a", zstd)


def make(arch: str, out: Path) -> Path:
    """The toolchain file."""
    package = importlib.util.find_spec("ziglang")
    if package is None or package.origin is None:
        raise Missing("zig: there is no package ziglang; pip install ziglang")
    zig = Path(package.origin).parent / "zig"
    version = subprocess.run([zig, "version"], capture_output=True, text=True, check=True).stdout.strip()
    parts = library(arch)
    out.mkdir(parents=True, exist_ok=True)
    out = out.resolve()
    target = ["-target", f"{arch}-linux-gnu.{'.'.join(map(str, GLIBC))}"]
    cache = shlex.quote(str(out.parent / "zig-cache"))  # of libraries that zig compiles, and no objects of ours
    head = f"#!/bin/sh\n# zig {version}\nexport ZIG_GLOBAL_CACHE_DIR={cache} ZIG_LOCAL_CACHE_DIR={cache}\n"
    # ccache and CMake tell by the name that these are clang.
    for name, words in (
        ("clang", ["cc", *target]),
        ("clang++", ["c++", *target]),
        ("ar", ["ar"]),
        ("ranlib", ["ranlib"]),
    ):
        write(out / name, f'{head}exec {shlex.join([str(zig), *words])} "$@"\n', 0o755)

    # A folder for what it is made from: a change of that is a change of paths, and CMake links anew.
    inputs = [
        version.encode(),
        Path(__file__).read_bytes(),
        (OURS / "newer_glibc.c").read_bytes(),
        parts.static.read_bytes(),
    ]
    lib = out / f"lib-{hashlib.sha256(b''.join(inputs)).hexdigest()[:12]}"
    if not lib.exists():
        with tempfile.TemporaryDirectory(dir=out) as folder:
            make_libraries(out, parts, Path(folder))
            shutil.copytree(folder, lib)

    include = " ".join(f"-I{folder}" for folder in (OURS, *parts.headers))
    write(out / "toolchain.cmake", f"""# Written by tools/manylinux.py.
if(NOT "{arch}" STREQUAL "${{CMAKE_HOST_SYSTEM_PROCESSOR}}")
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR {arch})
endif()
set(CMAKE_C_COMPILER {out}/clang)
set(CMAKE_CXX_COMPILER {out}/clang++)
set(CMAKE_ASM_COMPILER {out}/clang)
set(CMAKE_AR {out}/ar CACHE FILEPATH "")
set(CMAKE_RANLIB {out}/ranlib CACHE FILEPATH "")
set(CMAKE_STRIP /bin/true CACHE FILEPATH "")  # this machine's may not know the format: the linker does it (-s)
# clang warns of what std::stable_sort of GCC 12 itself calls.
set(CMAKE_CXX_FLAGS_INIT "-nostdinc++ {include} -include {OURS}/newer_glibc.h -Wno-deprecated-declarations")
# The unwinder of this machine's GCC asks for more of glibc than an old one has; at run time that machine's own is used.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-s -nostdlib++ -Wl,--allow-shlib-undefined")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-s -nostdlib++")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-s -nostdlib++")
set(CMAKE_CXX_STANDARD_LIBRARIES "{lib}/newer_glibc.o {lib}/libstdc++.a {lib}/libstdc++.so.6 {parts.unwinder}")
set(NG_ZSTD ON CACHE STRING "")
set(NG_ZSTD_INCLUDE {lib} CACHE PATH "" FORCE)
set(NG_ZSTD_LIBRARY {lib}/libzstd.a CACHE FILEPATH "" FORCE)
""")  # fmt: skip
    return out / "toolchain.cmake"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", choices=ARCHES, required=True)
    parser.add_argument("out", type=Path)
    chosen = parser.parse_args()
    print(make(chosen.arch, chosen.out))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Missing as missing:
        print(f"manylinux: {missing}", file=sys.stderr)
        sys.exit(1)
