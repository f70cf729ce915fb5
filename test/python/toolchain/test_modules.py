"""Kernels from source text: SassModule and SourceModule (by NVRTC, which needs no GPU; its cubins are emulated)."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu.kernels.mangled import Signature, signature
from source_tree import ROOT

CUDA_C = """
__global__ void scale(const float* x, float* y, unsigned n, float alpha) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i];
}
namespace wide {
__global__ void numbers(long long* out, long long a, short b, unsigned char c, bool d, double e) {
  out[0] = a, out[1] = b, out[2] = c, out[3] = d, out[4] = (long long)(e * 4);
}
}  // namespace wide
template <class T> __global__ void fill(T* x, T value) { x[threadIdx.x] = value; }
extern "C" __global__ void plain(int* x) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
"""


def test_signatures_of_symbols():
    for symbol, name, types in (
        ("plain", "plain", None),
        ("_Z1fv", "f", ()),
        ("_Z8Text_GPUPfS_S_m", "Text_GPU", ("ptr", "ptr", "ptr", "u64")),
        ("_Z5scaleIfEvPT_S0_", "scale", ("ptr", "f32")),
        ("_Z1gILi4EdEvPT0_i", "g", ("ptr", "s32")),
        ("_ZN2ns1gEPKf6float4bhxP6short2", "ns::g", ("ptr", "struct float4", "bool", "u8", "s64", "ptr")),
        ("_Z1hPKfS0_PdS1_", "h", ("ptr", "ptr", "ptr", "ptr")),
        ("_Z1kPFvvE", "k", None),
        ("_Z9trunc", "_Z9trunc", None),
        ("_Z99f", "_Z99f", None),
        ("_Z1fS5_", "f", None),
    ):
        assert signature(symbol) == Signature(name, types), symbol


@pytest.fixture(scope="module")
def module(compiler: None) -> ng.SourceModule:
    """The text above for the device."""
    return ng.SourceModule(CUDA_C, instances=["fill<float>", "fill<short>"])


def test_source_module(module, rng):
    assert set(module) == {"scale", "wide::numbers", "fill<float>", "fill<short>", "plain"}
    x = rng.standard_normal(1000).astype(np.float32)
    y = ng.zeros(1000)
    module.scale[8, 128](ng.array(x), y, 900, 2)  # an int becomes a float, as the declaration has it
    np.testing.assert_array_equal(y.get(), np.where(np.arange(1000) < 900, 2 * x, 0))
    module.get_function("scale")[(8,), (128, 1, 1)](ng.array(x), y.ptr, np.uint32(1000), np.float64(0.5))
    np.testing.assert_array_equal(y.get(), np.float32(0.5) * x)
    assert repr(module.scale) == "<Kernel scale(ptr, ptr, u32, f32)>"
    assert module.source == CUDA_C


def test_numbers_of_every_size(module):
    out = ng.zeros(5, "int64")
    numbers = module["wide::numbers"][1, 1]
    numbers(out, -(2**62) - 1, -30000, 255, True, 2.5)
    assert out.get().tolist() == [-(2**62) - 1, -30000, 255, 1, 10]
    numbers(out, np.int8(-1), np.int16(-1), np.uint8(7), np.bool_(False), 3)
    assert out.get().tolist() == [-1, -1, 7, 0, 12]


def test_templates_and_shared_memory(module):
    for dtype, name in ((np.float32, "fill<float>"), (np.int16, "fill<short>")):
        x = ng.zeros(32, dtype)
        module[name][1, 32](x, -7)
        np.testing.assert_array_equal(x.get(), np.full(32, -7, dtype))
    x = ng.zeros(64, np.int32)
    module.plain[1, 64](x, shared=256, stream=ng.Stream())
    ng.synchronize()
    np.testing.assert_array_equal(x.get(), np.arange(64)[::-1])


def test_arguments_that_do_not_fit(module):
    x = ng.zeros(4)
    scale = module.scale[1, 4]
    for error, args, text in (
        (ValueError, (x, x), r"kernel scale takes 4 arguments \(ptr, ptr, u32, f32\), found 2"),
        (ValueError, (x, x, -1, 1.0), "kernel scale: argument 2 is -1; needs 0 to 4294967295"),
        (ValueError, (x, x, 2**32, 1.0), "kernel scale: argument 2 is 4294967296; needs 0 to 4294967295"),
        (TypeError, (x, x, 1.0, 1.0), "kernel scale: argument 2 is a float; needs u32"),
        (TypeError, (x, 1.0, 1, 1.0), "kernel scale: argument 1 is a float; needs a GPUTensor or an address"),
        (TypeError, (x, x, 1, "a"), "kernel scale: argument 3 is a str; needs f32"),
        (TypeError, (x, x, 1, x), "kernel scale: argument 3 is a GPUTensor; needs f32"),
        (TypeError, (x, np.zeros(4), 1, 1.0), "argument 1 is a numpy.ndarray, which lies in host memory"),
        (ValueError, (x, x, 1, 1e300), "kernel scale: argument 3 is .*too large for 4 bytes"),
    ):
        with pytest.raises(error, match=text):
            scale(*args)
    with pytest.raises(ValueError, match="block has 2048 threads; kernel scale takes at most 1024"):
        module.scale[1, (2, 1024)](x, x, 1, 1.0)
    with pytest.raises(KeyError, match="no kernel 'skale'; there are "):
        module["skale"]


def test_errors_of_the_compiler(module):
    with pytest.raises(ng.CompileError, match=r'mine\.cu\(3\): error: identifier "undefined" is undefined') as raised:
        ng.SourceModule("\n__global__ void f(int* x) {\n  x[0] = undefined;\n}", name="mine.cu")
    assert "x[0] = undefined;" in raised.value.log
    assert isinstance(raised.value, ValueError)
    with pytest.raises(ng.CompileError, match="sm_1"):
        ng.SourceModule("__global__ void f() {}", arch="sm_1")
    assert ng.SourceModule("__global__ void f(int* x) { x[0] = N; }", options=["-DN=3"]).log == ""
    warned = ng.SourceModule("__global__ void f(int* x) { int unused; x[0] = 1; }")
    assert "kernel.cu(1): warning" in warned.log


def test_without_nvrtc_the_error_says_what_to_install(python):
    program = "import nervanagpu as ng\ntry:\n    ng.SourceModule('')\nexcept ImportError as e:\n    print(e)"
    run = python(program, device="emulator", nvrtc="/nowhere/libnvrtc.so")
    assert "pip install nvidia-cuda-nvrtc-cu12" in run.stdout and "/nowhere/libnvrtc.so" in run.stdout, run.stderr


def test_what_the_emulator_finds_in_cuda_c_has_its_name(module, python):
    run = python(
        "import nervanagpu as ng\n"
        "m = ng.SourceModule('__global__ void past(float* x)\\n{\\n  x[threadIdx.x] = 1; }', name='mine.cu')\n"
        "try:\n    m.past[1, 33](ng.zeros(32))\n"
        "except ng.CheckError as e:\n    f = e.findings[0]\n    print(e, f.file, f.line, f.lane, f.warp)\n",
        device="emulator",
        emulator="checked",
    )
    assert "kernel past: 1 finding" in run.stdout and run.stdout.endswith("mine.cu 3 0 1\n"), run.stdout + run.stderr


def test_lines_that_lie(module):
    """Whatever stands where the lines are said: a cubin is read, or refused, and its code is the same."""
    whole = module.cubin.bytes
    at = whole.index(b"kernel.cu\0") - 60  # in .debug_line
    code = [k.instructions for k in module.cubin.kernels]
    rng = np.random.default_rng(5)
    for _ in range(300):
        bent = bytearray(whole)
        for place in rng.integers(at, at + 400, 4):
            bent[place] = rng.integers(0, 256)
        try:
            read = ng.Cubin(bytes(bent))
        except ValueError:
            continue
        assert [k.instructions for k in read.kernels] == code


def test_sass_module(rng):
    if ng.device().arch != "sm_90a":
        pytest.skip("the page's kernel is for sm_90a")
    page = (ROOT / "test/python/toolchain/test_toolchain.py").read_text(encoding="utf-8")
    text = page.split('HOPPER = """')[1].split('"""')[0]
    module = ng.SassModule(text, name="scale.sass")
    x, y = ng.array(rng.standard_normal(100).astype(np.float32)), ng.zeros(100)
    module.scale[2](x, y, 100, 3)
    np.testing.assert_array_equal(y.get(), 3 * x.get())
    assert module.cubin.arch == "sm_90a"
    with pytest.raises(ng.AssembleError, match=r"broken\.sass:3"):
        ng.SassModule(".kernel k\n.arch sm_90a\n  NOSUCH R1\n  EXIT\n", name="broken.sass")


NEEDS = """
.kernel  k
.arch    {arch}
.param   u32 n
.threads 32
.needs   n % 4 == 0, grid_x == n / 4
  EXIT
"""


def test_every_way_to_a_kernel_asks_what_it_needs():
    from nervanagpu.pycuda import driver
    from nervanagpu.pycuda.function import Function

    module = ng.SassModule(NEEDS.format(arch=ng.device().arch))
    loaded = ng.load(module.cubin.bytes)
    stream, block = ng.Stream(), (32, 1, 1)
    ways = {
        "by name": lambda n, grid: module.k[grid](n),
        "by index": lambda n, grid: module["k"][grid, 32](n, shared=64),
        "in a stream": lambda n, grid: module.k[grid](n, stream=stream),
        "from a file": lambda n, grid: loaded.k[grid](n),
        "recorded": lambda n, grid: ng.Graph(lambda: module.k[grid](n)).launch(),
        "as PyCUDA": lambda n, grid: Function(module.k)(np.uint32(n), block=block, grid=(grid, 1)),
        "prepared": lambda n, grid: Function(module.k).prepare("I").prepared_call((grid, 1), block, n),
        "prepared, in a stream": lambda n, grid: (
            Function(module.k).prepare("I").prepared_async_call((grid, 1), block, driver.Stream(), n)
        ),
    }
    for name, launch in ways.items():
        launch(8, 2)
        for n, grid, text in ((7, 1, "n % 4 == 0; n is 7"), (8, 3, "grid_x == n / 4; grid_x is 3, n is 8")):
            with pytest.raises(ValueError, match=f"^kernel k needs {text}$"):
                launch(n, grid)
                pytest.fail(f"{name}: launched")
    ng.synchronize()
