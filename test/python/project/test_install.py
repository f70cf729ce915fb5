"""What programs outside of the tree are built with: the CMake package, the .pc file, and `python -m nervanagpu`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nervanagpu as ng
import pytest
from nervanagpu import __main__ as command
from source_tree import ROOT

BUILD = ROOT / "build"


def run(*words: object, **more: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=300, check=False, **more)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """An installation that was moved after it was made."""
    if not (BUILD / "cmake_install.cmake").exists() or shutil.which("cmake") is None:
        pytest.skip("build/ was not made by cmake here")
    folder = tmp_path_factory.mktemp("install")
    run("cmake", "--install", BUILD, "--prefix", folder / "before")
    (folder / "before").rename(folder / "after")
    return folder / "after"


def compiler(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name}")
    return found


def test_cmake_package(installed, tmp_path):
    compiler("cc")
    run("cmake", "-S", ROOT / "examples/c", "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={installed}")
    run("cmake", "--build", tmp_path)
    for sample in ("convolution", "expressions", "products", "streams"):
        run(tmp_path / sample)


def test_pkg_config(installed, tmp_path):
    """C++ by pkg-config; where there is none, by what the file says."""
    folder = next(installed.rglob("nervanagpu.pc")).parent
    if shutil.which("pkg-config"):
        env = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
        flags = run("pkg-config", "--cflags", "--libs", "nervanagpu", env=env).stdout.split()
        assert run("pkg-config", "--modversion", "nervanagpu", env=env).stdout.strip() == ng.version()
    else:
        flags = pc_flags(folder / "nervanagpu.pc")
    libs = next(f[2:] for f in flags if f.startswith("-L"))
    source = ROOT / "examples/cpp/layer.cpp"
    run(compiler("c++"), "-std=c++20", "-Wall", "-Wextra", "-Werror", source, *flags, f"-Wl,-rpath,{libs}",
        "-o", tmp_path / "layer")  # fmt: skip
    assert "largest error" in run(tmp_path / "layer").stdout


def pc_flags(path: Path) -> list[str]:
    """Cflags and Libs of a .pc file, its variables put in."""
    values = {"pcfiledir": str(path.parent)}
    flags = []

    def filled(text: str) -> str:
        for name, value in values.items():
            text = text.replace("${" + name + "}", value)
        assert "${" not in text, text
        return text

    for line in path.read_text(encoding="utf-8").splitlines():
        if "=" in line.split(":")[0]:
            name, _, text = line.partition("=")
            values[name] = filled(text)
        elif line.startswith(("Cflags:", "Libs:")):
            flags += filled(line.partition(":")[2]).split()
    return flags


def test_pc_file_leads_to_what_it_names(installed):
    path = next(installed.rglob("nervanagpu.pc"))
    flags = pc_flags(path)
    include, libs = (next(f[2:] for f in flags if f.startswith(letter)) for letter in ("-I", "-L"))
    assert (Path(include) / "nervanagpu/nervanagpu.h").is_file()
    assert (Path(libs) / "libnervanagpu.so").is_file()


def test_ngasm_is_installed(installed):
    assert "ngasm" in run(installed / "bin/ngasm", "--version").stdout


def test_the_headers_are_all_there(installed):
    def names(folder: Path) -> set[str]:
        return {str(p.relative_to(folder)) for p in folder.rglob("*.h*")}

    assert names(installed / "include") == names(ROOT / "include") != set()


def test_doctor(capsys):
    assert command.main(["--doctor"]) == 0
    text = capsys.readouterr().out
    for word in ("nervanagpu", "kernels", "device", "python", "numpy", "nvrtc", "cublas", "torch", "jax"):
        assert any(line.startswith(word) or f" {word}" in line for line in text.splitlines()), f"{word}:\n{text}"
    assert (ng.device().kind == "cuda") != ("advice" in text)


def test_doctor_of_a_broken_library(capsys, monkeypatch):
    """What is wrong with one part is one line, and the others are there."""

    def broken(name: str) -> str:
        raise OSError(f"{name} has\na bad header")

    monkeypatch.setattr(command, "_path_of", broken)
    assert command.main(["--doctor"]) == 0
    text = capsys.readouterr().out
    assert "missing     cufft, for Fourier transforms on a GPU: cufft has a bad header" in text.splitlines()
    assert "numpy" in text


def test_folders_of_a_tree_are_refused(capsys):
    if "site-packages" in command.HERE.parts:
        pytest.skip("this is an installed package")
    for name, (folder, _, _) in command.FOLDERS.items():
        assert command.main([f"--{name}"]) == 1
        out, err = capsys.readouterr()
        assert out == "" and f"--{name}: there is no " in err and folder in err and "pip install" in err


def test_command_line():
    done = run(sys.executable, "-m", "nervanagpu", "--version", env={**os.environ, "NERVANAGPU_DEVICE": "emulator"})
    assert done.stdout.strip() == ng.version()
    done = subprocess.run([sys.executable, "-m", "nervanagpu"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "--cmakedir" in done.stderr


def test_import_is_light():
    """60 ms above NumPy's own, which holds as long as it takes none of these along."""
    heavy = ("numpy.random", "nervanagpu.random.state", "nervanagpu.torch", "torch", "concurrent.futures", "subprocess")
    program = f"import numpy, nervanagpu, sys; print([m for m in {heavy} if m in sys.modules])"
    env = {**os.environ, "NERVANAGPU_DEVICE": "emulator"}
    assert run(sys.executable, "-c", program, env=env).stdout == "[]\n"
    program = (
        "import nervanagpu.random as r; print(r.SeedSequence.__name__, hasattr(r, '__all__'), hasattr(r, 'nothing'))"
    )
    assert run(sys.executable, "-c", program, env=env).stdout == "SeedSequence False False\n"


HEAVY = "decimal glob importlib.abc importlib.resources numpy.fft pathlib runpy shutil statistics tempfile urllib.parse"
LATER = """
    compat conv_pool convolution cuda_toolkit.nvrtc cupy.cuda cupy.kernels fft kernels layers lib linalg.gemm_plan
    memory nan_trap network nn pooling pycuda timing"""


def test_an_import_brings_what_it_needs():
    """Modules that take milliseconds wait until someone asks for what needs them: NumPy's, the library's own too."""
    code = "import sys, numpy; before = set(sys.modules); import nervanagpu; print(*set(sys.modules) - before)"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    brought = set(run(sys.executable, "-S", "-c", code, env=env).stdout.split())
    assert "nervanagpu.math.elementwise" in brought and not brought & set(HEAVY.split())
    assert not brought & {f"nervanagpu.{module}" for module in LATER.split()}


def test_what_comes_later_is_there():
    """Names and modules that are imported at their first use are listed, found, kept and the same as at home."""
    code = """
import sys, nervanagpu as ng
assert {*ng.__all__, "compat", "pooling", "lib"} <= set(dir(ng)) and "conv2d" in dir(ng)
assert ng.conv2d is ng.conv2d is sys.modules["nervanagpu.convolution"].conv2d and "conv2d" in vars(ng)
assert ng.cupy.raw.RawKernel is ng.RawKernel and ng.kernels.modules.SassModule is ng.SassModule
assert ng.lib.stride_tricks and ng.compat.factory.NervanaGPU is ng.NervanaGPU and ng.cuda.runtime
from nervanagpu import *
assert (nn, fft, Network, Benchmark) == (ng.nn, ng.fft, ng.network.Network, ng.timing.Benchmark)
try: ng.no_such_name
except AttributeError as error: print(error)
import numpy as np
print(type(np.fft.fft(ng.ones(4))).__name__)
"""
    env = {**os.environ, "NERVANAGPU_DEVICE": "emulator"}
    for devices in ("1", "2"):
        done = run(sys.executable, "-c", code, env={**env, "NERVANAGPU_EMULATOR_DEVICES": devices})
        assert done.stdout == "module 'nervanagpu' has no attribute 'no_such_name'\nGPUTensor\n"


def test_modules_come_later_beside_others_of_their_package():
    code = """
import nervanagpu as ng
assert ng.linalg.gemm_plan and ng.assemble and ng.kernels.textures and ng.kernels.modules
assert not hasattr(ng.kernels, "no_such_module") and not hasattr(ng.linalg, "_hidden")
"""
    run(sys.executable, "-c", code, env={**os.environ, "NERVANAGPU_DEVICE": "emulator"})


def test_what_comes_later_runs_where_its_tensors_are():
    code = """
import nervanagpu as ng
with ng.device(1):
    x, w = ng.ones((1, 4, 4, 3)), ng.ones((2, 1, 1, 3))
import nervanagpu.nn, nervanagpu.pooling
made = [nervanagpu.pooling.max_pool_argmax(x, 2), ng.max_pool_argmax(x, 2), nervanagpu.nn.softmax(x[0, 0])]
made += [ng.conv2d(x, w), ng.fft.rfft(x), ng.fft.fftfreq(8, device=1)]
print([y.device.ordinal for y in made])
"""
    env = {**os.environ, "NERVANAGPU_DEVICE": "emulator", "NERVANAGPU_EMULATOR_DEVICES": "2"}
    assert run(sys.executable, "-c", code, env=env).stdout == "[1, 1, 1, 1, 1, 1]\n"
