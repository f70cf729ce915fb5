"""A Debian of another processor in a folder, whose Python qemu runs: where tools/release.py tries a cross-built wheel.

Nothing of this machine's system is changed, and nobody need be root: apt fetches into folders of its own, dpkg-deb
unpacks, and qemu redirects what a program opens. Needs apt, dpkg-deb and qemu-user-static (Debian's names), and a
package index for pip.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}  # what Debian calls them
PYTHON = "3.11"  # of Debian 12
PACKAGES = (f"python{PYTHON}-minimal", f"libpython{PYTHON}-stdlib", "libstdc++6", "libgcc-s1", "zlib1g")


class Missing(Exception):
    """Something is not there; the text says what, and how to get it."""


@dataclass(frozen=True)
class System:
    root: Path
    qemu: str

    @property
    def tag(self) -> str:
        """Of wheels for its Python."""
        return "cp" + PYTHON.replace(".", "")

    def program(self, path: Path) -> list[object]:
        """How a program of that processor is run here."""
        return [self.qemu, "-L", self.root, path]

    def python(self) -> list[object]:
        return self.program(self.root / f"usr/bin/python{PYTHON}")


def call(*words: object, env: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        [str(w) for w in words], env=env, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode != 0:
        raise Missing(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}")


def system(arch: str, folder: Path) -> System:
    """The one in `folder`, made if it is not there."""
    qemu = shutil.which(f"qemu-{arch}-static")
    if qemu is None:
        raise Missing(f"qemu-{arch}-static: there is none; Debian has it in qemu-user-static")
    root = folder.resolve() / "root"
    if not root.exists():
        apt = folder.resolve() / "apt"
        for part in ("state/lists/partial", "cache/archives/partial"):
            (apt / part).mkdir(parents=True, exist_ok=True)
        (apt / "state/status").touch()
        (apt / "apt.conf").write_text(
            f'Dir::State "{apt}/state"; Dir::State::status "{apt}/state/status"; Dir::Cache "{apt}/cache";\n'
            f'APT::Architecture "{DEBIAN[arch]}"; APT::Architectures {{ "{DEBIAN[arch]}"; }};\n'
            'APT::Install-Recommends "false"; APT::Sandbox::User "";\n',
            encoding="utf-8",
        )
        env = {**os.environ, "APT_CONFIG": str(apt / "apt.conf")}
        call("apt-get", "-q", "update", env=env)
        call("apt-get", "-q", "-y", "--download-only", "install", *PACKAGES, env=env)
        unpacked = folder.resolve() / "unpacked"
        shutil.rmtree(unpacked, ignore_errors=True)
        for package in sorted((apt / "cache/archives").glob("*.deb")):
            call("dpkg-deb", "-x", package, unpacked)
        unpacked.rename(root)
    return System(root, qemu)


def install(wheel: Path, tag: str, arch: str, glibc: int, site: Path) -> None:
    """The wheel and what it requires into `site`: what pip of Python `tag` takes on `arch` with glibc 2.`glibc`."""
    platforms = [f"--platform=manylinux_2_{n}_{arch}" for n in range(glibc, 16, -1)]
    platforms.append(f"--platform=manylinux2014_{arch}")
    version = f"{tag[2]}.{tag[3:]}"
    call(sys.executable, "-m", "pip", "install", "-q", "--target", site, "--only-binary=:all:", *platforms,
         f"--python-version={version}", wheel)  # fmt: skip
