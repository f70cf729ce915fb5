"""The assembler, cubins and modules from Python, on the device that the environment names."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import nervanagpu as ng
import numpy as np
import pytest
from source_tree import DATA

ARCH = ng.device().arch

# y[i] = alpha * x[i], one element a thread.
HOPPER = """
.kernel  scale
.arch    sm_90a
.param   ptr x
.param   ptr y
.param   u32 n
.param   f32 alpha
.threads 64
.reg i, cta, v, addr[2] align 2, to[2] align 2
  S2R i, SR_TID.X
  S2R cta, SR_CTAID.X
  ULDC.64 UR4, sys[descriptor]
  IMAD i, cta, 0x40, i
  ISETP.GE.U32.AND P0, PT, i, param[n], PT
  @P0 EXIT
  MOV addr[0], param[x]
  MOV addr[1], param[x+4]
  IMAD.WIDE.U32 addr[0], i, 0x4, addr[0]
  LDG.E v, desc[UR4][addr[0].64]
  MOV to[0], param[y]
  MOV to[1], param[y+4]
  IMAD.WIDE.U32 to[0], i, 0x4, to[0]
  FMUL v, v, param[alpha]
  STG.E desc[UR4][to[0].64], v
  EXIT
"""
MAXWELL = """
.kernel  scale
.arch    sm_52
.param   ptr x
.param   ptr y
.param   u32 n
.param   f32 alpha
.threads 64
.reg i, cta, v, off, addr[2] align 2
  S2R i, SR_TID.X
  S2R cta, SR_CTAID.X
  ISCADD i, cta, i, 0x6
  ISETP.GE.U32.AND P0, PT, i, param[n], PT
  @P0 EXIT
  SHL off, i, 0x2
  IADD addr[0].CC, off, param[x]
  IADD.X addr[1], RZ, param[x+4]
  LDG.E v, [addr[0]]
  IADD addr[0].CC, off, param[y]
  IADD.X addr[1], RZ, param[y+4]
  FMUL v, v, param[alpha]
  STG.E [addr[0]], v
  EXIT
"""
SCALE = {"sm_90a": HOPPER, "sm_52": MAXWELL}


@pytest.fixture(scope="module")
def scale() -> ng.Kernel:
    if ARCH not in SCALE:
        pytest.skip(f"no template for {ARCH}")
    return ng.load(SCALE[ARCH], name="scale.sass")["scale"]


@pytest.fixture
def xy() -> tuple[ng.GPUTensor, ng.GPUTensor]:
    return ng.array(np.arange(100, dtype=np.float32)), ng.zeros(100)


EXPECTED = np.arange(100, dtype=np.float32) * 2


@pytest.mark.parametrize("block", [64, (64,), (64, 1, 1), (8, 8)])
def test_launch(scale, xy, block):
    x, y = xy
    if block == (8, 8):
        scale[2, block](x, y, 100, 2.0)  # tid.x alone is used: 8 elements a block
        assert np.array_equal(y.get()[:8], EXPECTED[:8])
        return
    scale[2, block](x, y, 100, 2.0)
    assert np.array_equal(y.get(), EXPECTED)


def test_block_of_the_manifest_and_grids(scale, xy):
    x, y = xy
    scale[2](x, y, 100, 2)  # an int is a float, too
    assert np.array_equal(y.get(), EXPECTED)
    y.fill(0)
    scale[(2, 1), None](x, y, np.uint32(100), np.float16(2))
    assert np.array_equal(y.get(), EXPECTED)
    y.fill(0)
    scale[np.int64(2)](x.ptr, y, np.int8(10), np.float64(2), stream=ng.Stream())
    ng.synchronize()
    assert np.array_equal(y.get(), np.where(np.arange(100) < 10, EXPECTED, 0))


def test_names(scale):
    module = scale.module
    assert list(module) == ["scale"] and len(module) == 1
    assert module.scale is module["scale"] is scale
    assert repr(scale) == "<Kernel scale(ptr x, ptr y, u32 n, f32 alpha)>"
    with pytest.raises(KeyError, match="no kernel 'skale'; there are scale"):
        module["skale"]
    with pytest.raises(AttributeError, match="no kernel 'skale'; there are scale"):
        module.skale  # noqa: B018
    info = scale.info
    assert (info.threads, info.param_bytes, [p.offset for p in info.params]) == (64, 24, [0, 8, 16, 20])


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ((), ValueError, r"takes 4 arguments \(ptr x, ptr y, u32 n, f32 alpha\), found 0"),
        (("x", "y", 100, 2.0, 1), TypeError, "argument 0 is a str; needs a GPUTensor, an int, a float or bytes"),
        ((np.zeros(3), 0, 0, 0), TypeError, r"argument 0 is a numpy.ndarray, which lies in host memory"),
        ((1.5, 0, 0, 0), TypeError, r"argument 0 \(x\) is a float; needs ptr"),
        ((-1, 0, 0, 0), ValueError, r"argument 0 \(x\) is -1; needs 0 to 18446744073709551615"),
        ((1 << 64, 0, 0, 0), ValueError, "argument 0 is 18446744073709551616, which has more than 64 bits"),
        ((0, 0, 1 << 32, 0), ValueError, r"argument 2 \(n\) is 4294967296; needs 0 to 4294967295"),
        ((0, 0, -1, 0), ValueError, r"argument 2 \(n\) is -1; needs 0 to 4294967295"),
        ((0, 0, 1.0, 0), TypeError, r"argument 2 \(n\) is a float; needs u32"),
        ((0, 0, 0, 1e39), ValueError, r"argument 3 \(alpha\) is .* too large for f32"),
        ((0, 0, 0, b"12"), ValueError, r"argument 3 \(alpha\) has 4 bytes; found 2"),
        ((0, 0, None, 0), TypeError, "argument 2 is a NoneType"),
    ],
)
def test_arguments_are_refused(scale, args, error, message):
    with pytest.raises(error, match=message):
        scale[1](*args)


def test_a_tensor_is_no_number(scale, xy):
    with pytest.raises(TypeError, match=r"argument 2 \(n\) is a tensor; needs u32"):
        scale[1](*xy, xy[0], 2.0)


@pytest.mark.parametrize(
    ("grid", "block", "message"),
    [
        (0, 64, "grid.x is 0; needs 1 to 2147483647"),
        ((1, 1, 65536), 64, "grid.z is 65536; needs 1 to 65535"),
        ((1, 1, 1, 1), 64, "grid has 4 dimensions; needs 1 to 3"),
        (1, 32, "block has 32 threads; kernel scale is written for exactly 64"),
        (1, (1, 1, 65), "block.z is 65; needs 1 to 64"),
        (-1, 64, "grid has -1; needs 1 to"),
    ],
)
def test_grids_are_refused(scale, xy, grid, block, message):
    with pytest.raises(ValueError, match=message):
        scale[grid, block](*xy, 100, 2.0)


def test_shared_is_checked(scale, xy):
    with pytest.raises(ValueError, match=r"shared is 300000 bytes; kernel scale needs 0 to \d+"):
        scale[1](*xy, 100, 2.0, shared=300000)
    scale[2](*xy, 100, 2.0, shared=1024)
    assert np.array_equal(xy[1].get(), EXPECTED)


def test_a_kernel_keeps_its_module(xy):
    if ARCH not in SCALE:
        pytest.skip(f"no template for {ARCH}")
    kernel = ng.load(ng.assemble(SCALE[ARCH]).bytes)["scale"]
    gc.collect()
    kernel[2](*xy, 100, 2.0)
    assert np.array_equal(xy[1].get(), EXPECTED)


def test_cubin():
    cubin = ng.assemble(HOPPER, name="scale.sass")
    assert cubin.arch == "sm_90a"
    assert [k.name for k in cubin.kernels] == ["scale"]
    assert cubin.verify() == []
    assert "FMUL" in cubin.listing and cubin.listing == ng.disassemble(cubin) == ng.disassemble(cubin.bytes)
    assert "registers" in cubin.report
    assert "proven free of hazards" in ng.Cubin(cubin.bytes).report
    assert ng.Cubin(cubin.bytes).bytes == cubin.bytes
    assert ng.assemble(MAXWELL).arch == "sm_52"
    assert ng.assemble(HOPPER.replace("0x40", "{N:x}"), "sm_90a", defines={"N": 64}).bytes[:4] == b"\x7fELF"


def test_errors_have_a_place():
    with pytest.raises(ng.AssembleError) as caught:
        ng.assemble(HOPPER.replace("FMUL v, v,", "FMUL v, w,"), name="scale.sass")
    e = caught.value
    assert (e.file, e.line, e.column) == ("scale.sass", 23, 11)
    assert e.message == "expected a register, got 'w'"
    lines = str(e).splitlines()
    caret = next(line for line in lines if line.strip(" |") == "^")
    source = lines[lines.index(caret) - 1]
    assert source[caret.index("^") :].startswith("w, param[alpha]")


def test_a_hazard_is_an_error():
    # Nobody waits for the load: the multiplication may read what was in v before.
    pinned = HOPPER.replace("  LDG.E v,", "--:-:0:Y:4  LDG.E v,").replace("  FMUL v,", "--:-:-:Y:4  FMUL v,")
    with pytest.raises(ng.AssembleError, match="hazard") as caught:
        ng.assemble(pinned)
    assert caught.value.line == 23


def test_bad_input():
    with pytest.raises(ValueError, match="arch is `sm_1`; needs one of sm_50"):
        ng.assemble(HOPPER, "sm_1")
    with pytest.raises(ValueError, match="this is no cubin that can be read"):
        ng.load(b"\x7fELF and then nothing")
    with pytest.raises(ValueError, match="leave it out"):
        ng.load(b"", arch="sm_90a")


def test_a_cubin_of_another_assembler():
    file = DATA / f"cubin/scale_fill.{ARCH}.cubin"
    if not file.exists():
        pytest.skip(f"no cubin for {ARCH}")
    module = ng.load(file.read_bytes())
    assert module.cubin.verify() == []
    scale, fill = module["scale"], module.fill
    assert [p.type for p in scale.info.params] == ["8 bytes", "8 bytes", "4 bytes", "4 bytes"]
    x = np.arange(256, dtype=np.float32)
    out = ng.zeros(256)
    scale[2, 128](out, ng.array(x), 0.5, 256)
    assert np.array_equal(out.get(), (x * np.float32(0.5)).reshape(2, 128)[:, ::-1].ravel())
    filled = ng.zeros(300, np.uint8)
    fill[2, 256](filled, np.uint8(3), 2.0, np.int16(-1), 299)
    assert np.array_equal(filled.get(), np.where(np.arange(300) < 299, 4, 0))
    with pytest.raises(ValueError, match="argument 1 is 256; needs -128 to 255"):
        fill[1, 256](filled, 256, 2.0, 0, 1)
    with pytest.raises(TypeError, match="argument 1 is a float; needs 1 byte"):
        fill[1, 256](filled, 1.0, 2.0, 0, 1)
    with pytest.raises(ValueError, match="does not say how many threads"):
        fill[1](filled, 1, 2.0, 0, 1)
    with pytest.raises(ValueError, match="block has 256 threads; kernel scale takes at most 128"):
        scale[1, 256](out, out, 0.5, 256)


def test_findings_of_the_checked_emulator(python):
    """A read outside an allocation is reported by kernel and line, and the process goes on."""
    if ARCH != "sm_90a" or ng.device().kind != "emulator":
        pytest.skip("needs the emulator with the kernel above")
    program = f"""
import nervanagpu as ng
x, y = ng.zeros(64), ng.zeros(64)
kernel = ng.load({HOPPER!r}, name="scale.sass").scale
try:
    kernel[2](x, y, 100, 2.0)
except ng.CheckError as e:
    print(e.findings[0].what, e.findings[0].kernel, e.findings[0].line)
"""
    done = python(program, device="emulator", emulator="checked")
    assert done.stdout.split() == ["out", "of", "bounds", "scale", "19"] or done.stdout.startswith("fault scale 19"), (
        done.stdout + done.stderr
    )
    # An order of warps is named, and means what it says.
    seeded = python(
        program.replace("e.findings[0].what", "e"), device="emulator", emulator="checked", emulator_order="7"
    )
    assert "(in order 7)" in seeded.stdout, seeded.stdout + seeded.stderr
    refused = python(program, device="emulator", emulator_order="seven")
    assert "NERVANAGPU_EMULATOR_ORDER is 'seven'; needs a seed from 0 to 4294967295" in refused.stderr


def test_includes_stay_below_their_folders(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.sass").write_text("  EXIT\n")
    (tmp_path / "secret").write_text("the secret\n")
    (tmp_path / "lib" / "link").symlink_to(tmp_path / "secret")
    text = f'.kernel k\n.arch {ARCH}\n.threads 32\n.include "%s"\n'
    assert ng.assemble(text % "a.sass", include_dirs=[tmp_path / "lib"]).kernels[0].name == "k"
    assert ng.assemble(text % "../lib/a.sass", include_dirs=[str(tmp_path / "lib")]).kernels[0].name == "k"
    for name in ("../secret", "link", str(tmp_path / "secret"), "/etc/passwd"):
        with pytest.raises(ng.AssembleError, match="not below a folder that may be included from") as e:
            ng.assemble(text % name, include_dirs=[tmp_path / "lib"])
        assert "the secret" not in str(e.value)
    with pytest.raises(ng.AssembleError, match="not below a folder that may be included from"):
        ng.load(text % "a.sass")


def test_only_ordinary_files_are_cubins(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # nobody writes to it
    for path in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(ValueError, match="is no ordinary file; needs a cubin's"):
            ng.disassemble(path)
    with pytest.raises(IsADirectoryError):
        ng.disassemble(tmp_path)
    with pytest.raises(FileNotFoundError):
        ng.disassemble(tmp_path / "none")
