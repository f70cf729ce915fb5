"""tools/manylinux.py: which symbols a wheel may need, and the stub of libstdc++ that keeps it to them."""

from __future__ import annotations

import ctypes
import importlib.util
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from source_tree import ROOT

LIBRARY = ROOT / "build/lib/libnervanagpu.so"
PROGRAM = r"""
#include <charconv>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>
struct Error : std::runtime_error { using std::runtime_error::runtime_error; };
extern "C" int probe(double x, const char* text) {
  char digits[64];
  const std::string shortest(digits, std::to_chars(digits, digits + 64, x).ptr);  // GLIBCXX_3.4.29
  std::vector<int> lengths(shortest.size(), 1);
  if (std::filesystem::path("/a/b/..").lexically_normal() != "/a/") return -1;    // GLIBCXX_3.4.26
  if (shortest != text) throw Error(shortest + " is not " + text);
  try {
    lengths.at(shortest.size());
  } catch (const std::out_of_range&) {
    return static_cast<int>(shortest.size());
  }
  return -2;
}
"""
MAIN = r"""
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
static int news = 0;
void* operator new(std::size_t bytes) { ++news; return std::malloc(bytes); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
extern "C" int probe(double x, const char* text);
int main() {
  std::printf("%d, ", probe(0.25, "0.25"));
  try {
    probe(0.5, "1");
  } catch (const std::exception& error) {
    std::printf("%s, ", error.what());
  }
  std::printf("%d under way, news are%s counted\n", std::uncaught_exceptions(), news > 0 ? "" : " not");
}
"""


@pytest.fixture(scope="module")
def manylinux() -> ModuleType:
    spec = importlib.util.spec_from_file_location("manylinux", ROOT / "tools/manylinux.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["manylinux"] = module  # dataclasses ask for it
    spec.loader.exec_module(module)
    return module


def tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name}")
    return found


@pytest.mark.parametrize(
    ("version", "answer"),
    [
        ("GLIBC_2.28", True),
        ("GLIBC_2.2.5", True),
        ("GLIBC_2.29", False),
        ("GLIBC_2.3", True),
        ("GLIBC_PRIVATE", False),
        ("GLIBCXX_3.4", True),
        ("GLIBCXX_3.4.24", True),
        ("GLIBCXX_3.4.25", False),
        ("CXXABI_1.3.11", True),
        ("CXXABI_1.3.13", False),
        ("CXXABI_TM_1", False),
        ("GCC_3.0", True),
    ],
)
def test_which_versions_are_allowed(manylinux, version, answer):
    assert manylinux.allowed(version) is answer


def test_stub_has_the_newest_of_what_is_allowed(manylinux):
    versions = {"wait": ["3.4.30", "3.4.11", "3.4"], "fresh": ["3.4.26"], "other": ["3.4"], "old": ["3.4"]}
    found = [manylinux.Symbol(name, f"GLIBCXX_{v}") for name, some in versions.items() for v in some]
    text, script = manylinux.stub(found, {"wait", "fresh", "old"})
    assert re.findall(r"^(\w+):$", text, re.M) == ["old", "wait"]
    assert script.splitlines() == ["GLIBCXX_3.4 { global: old; };", "GLIBCXX_3.4.11 { global: wait; };"]


def test_a_library_with_its_own_libstdcxx(manylinux, tmp_path):
    """It asks libstdc++.so.6 for nothing new, and shares with it what a process has once."""
    if platform.machine() not in manylinux.ARCHES:
        pytest.skip(f"no wheels are made for {platform.machine()}")
    tool("readelf")
    try:
        parts = manylinux.library(platform.machine())
    except manylinux.Missing as missing:
        pytest.skip(str(missing))
    left_out = {n: names for n, names in manylinux.members(parts.static).items() if manylinux.SHARED.fullmatch(n)}
    text, script = manylinux.stub(manylinux.symbols(parts.shared, defined=True), set().union(*left_out.values()))
    names = {"stub.S": text, "stub.map": script, "probe.cpp": PROGRAM, "own.map": "{ global: probe; local: *; };",
             "main.cpp": MAIN}  # fmt: skip
    for name, content in names.items():
        (tmp_path / name).write_text(content)
    shutil.copy(parts.static, tmp_path / "libstdc++.a")

    def run(*words: object) -> str:
        return subprocess.run(
            [str(w) for w in words], check=True, cwd=tmp_path, timeout=300, stdout=-1, text=True
        ).stdout

    run(tool("ar"), "d", "libstdc++.a", *left_out)
    run(tool("cc"), "-shared", "-nostdlib", "-Wl,-soname,libstdc++.so.6", "-Wl,--version-script=stub.map", "stub.S",
        "-o", "libstdc++.so.6")  # fmt: skip
    run(tool("g++"), "-std=c++20", "-O1", "-fPIC", "-c", "probe.cpp")
    for name, more in (("plain", [parts.shared]), ("own", ["libstdc++.a", "./libstdc++.so.6"])):
        run(tool("cc"), "-shared", "-Wl,--version-script=own.map", "probe.o", *more, "-lm", "-o", f"lib{name}.so")

    def newer(name: str) -> list[str]:
        return [s for s in manylinux.too_new(tmp_path / name) if "@GLIBCXX" in s or "@CXXABI" in s]

    assert any("to_chars" in s for s in newer("libplain.so")) and any("filesystem" in s for s in newer("libplain.so"))
    assert newer("libown.so") == []
    outside = {s.name for s in manylinux.symbols(tmp_path / "libown.so", defined=False)}
    assert {"__cxa_get_globals", "_Znwm", "_ZdlPv"} <= outside and "__cxa_throw" not in outside

    (tmp_path / "libstdc++.so.6").unlink()  # the stub has done its work
    run(tool("g++"), "-std=c++20", "main.cpp", "./libown.so", "-o", "main")
    assert run("./main") == "4, 0.5 is not 1, 0 under way, news are counted\n"


def test_what_the_library_asks_of_glibc(manylinux):
    """All of it is in glibc 2.28, under an older version, or comes with the wheel."""
    tool("readelf")
    if not LIBRARY.exists():
        pytest.skip("build/ has no library")
    glibc = [s for name in ("libc.so.6", "libm.so.6") for s in manylinux.symbols(where(name), defined=True)]
    older = {s.name for s in glibc if manylinux.allowed(s.version)}
    ours = set(re.findall(r"^HIDDEN \w+ (\w+)", (manylinux.OURS / "newer_glibc.c").read_text(), re.M))
    assert "__libc_single_threaded" in ours
    inline = {"stat", "fstat", "lstat", "fstatat", "mknod"}  # functions since 2.33, made of others before
    newer = [s for s in manylinux.too_new(LIBRARY) if "@GLIBC_" in s]
    assert [s for s in newer if s.split("@")[0] not in older | ours | inline] == []


def where(name: str) -> Path:
    """Of a shared library that is loaded."""
    ctypes.CDLL(name)
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(Path(line.split()[-1]) for line in maps if line.rstrip().endswith("/" + name))
