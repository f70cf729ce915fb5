"""nervanagpu.pycuda: kernels made of expressions, arrays, variables of modules, scripts that run unchanged."""

from __future__ import annotations

import subprocess
import sys

import nervanagpu as ng
import nervanagpu.pycuda.autoinit
import nervanagpu.pycuda.driver as drv
import numpy as np
import pytest
from nervanagpu.pycuda import cumath, curandom, gpuarray
from nervanagpu.pycuda.characterize import sizeof
from nervanagpu.pycuda.compiler import SourceModule
from nervanagpu.pycuda.elementwise import ElementwiseKernel
from nervanagpu.pycuda.reduction import ReductionKernel
from nervanagpu.pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel
from nervanagpu.pycuda.tools import DeviceMemoryPool, dtype_to_ctype

pytestmark = pytest.mark.usefixtures("compiler")


def test_elementwise_kernels(rng):
    x, y = rng.standard_normal((2, 1000)).astype(np.float32)
    combine = ElementwiseKernel(
        "float a, float *x, float b, float *y, float *z", "z[i] = a * x[i] + b * y[i]", "combine"
    )
    gx, gy = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    z = gpuarray.zeros_like(gx)
    combine(2, gx, np.float64(3), gy, z)
    np.testing.assert_allclose(z.get(), 2 * x + 3 * y, rtol=1e-6)
    z.fill(0)
    combine(2, gx, 3, gy, z, slice=slice(10, 900, 7))
    wanted = np.zeros_like(x)
    wanted[10:900:7] = (2 * x + 3 * y)[10:900:7]
    np.testing.assert_allclose(z.get(), wanted, rtol=1e-6)
    with pytest.raises(TypeError, match="takes 5 arguments"):
        combine(2, gx)
    with pytest.raises(ValueError, match="arrays have 1000 and 10 elements"):
        combine(2, gx, 3, gy, z[:10])
    with pytest.raises(ValueError, match="an array has gaps"):
        combine(2, gx[::2], 3, gy[::2], z[::2])


def test_complex_numbers(rng):
    a, b = rng.standard_normal((2, 77)) + 1j * rng.standard_normal((2, 77))
    for dtype in (np.complex64, np.complex128):
        x, y = a.astype(dtype), b.astype(dtype)
        gx, gy = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
        tolerance = 50 * np.finfo(dtype).eps
        for ours, theirs in (
            (gx + gy, x + y), (gx * gy, x * y), (gx / gy, x / y), (2 * gx - 1j, 2 * x - 1j), (abs(gx), abs(x)),
            (gx.conj(), x.conj()), (gx.real, x.real), (gx.imag, x.imag), (cumath.exp(gx), np.exp(x)),
            (cumath.sqrt(gx), np.sqrt(x)), (cumath.sin(gx), np.sin(x)), (gpuarray.sum(gx), x.sum()),
            (gpuarray.dot(gx, gy), x @ y),
        ):  # fmt: skip
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours.get(), theirs, rtol=tolerance, atol=20 * tolerance)


@pytest.mark.parametrize("n", [1, 255, 257, 5000])
def test_reductions(rng, n):
    x, y = rng.integers(-9, 9, (2, n)).astype(np.int32)
    gx, gy = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    dot = ReductionKernel(np.int64, "0", "a + b", "(long)x[i] * y[i]", "int *x, int *y")
    assert int(dot(gx, gy)) == int(x.astype(np.int64) @ y)
    assert int(dot(gx, gy, slice=slice(0, n, 3))) == int(x[::3].astype(np.int64) @ y[::3])
    assert int(gpuarray.max(gx)) == x.max() and int(gpuarray.min(gx)) == x.min()
    assert int(gpuarray.sum(gx)) == x.sum()
    assert float(gpuarray.max(gx / 3)) == (x / 3).max()


@pytest.mark.parametrize("n", [1, 7, 2048, 2049, 5000])
def test_scans_keep_the_order(rng, n):
    """The later element wins unless it is 0: associative, and it does not commute."""
    x = (rng.integers(0, 100, n) * (rng.random(n) < 0.3)).astype(np.int32)
    last = np.maximum.accumulate(np.where(x != 0, np.arange(n), -1))
    wanted = np.where(last >= 0, x[last], 0)
    out = InclusiveScanKernel(np.int32, "b != 0 ? b : a")(gpuarray.to_gpu(x))
    np.testing.assert_array_equal(out.get(), wanted)
    out = ExclusiveScanKernel(np.int32, "a + b", neutral=0)(gpuarray.to_gpu(x))
    np.testing.assert_array_equal(out.get(), np.cumsum(x) - x)


def test_arrays(rng):
    a = rng.standard_normal((6, 5))
    x = gpuarray.to_gpu(a)
    np.testing.assert_array_equal(x[1:, ::2].get(), a[1:, ::2])
    np.testing.assert_array_equal(x.T.copy().get(), a.T)
    np.testing.assert_array_equal((x.reshape(3, -1) > 0).get(), a.reshape(3, -1) > 0)
    x[2] = 7
    a[2] = 7
    x[:, 1] = gpuarray.to_gpu(a[:, 0].copy())
    a[:, 1] = a[:, 0]
    np.testing.assert_array_equal(x.get(), a)
    np.testing.assert_array_equal(gpuarray.if_positive(x, x, -x).get(), abs(a))
    places = gpuarray.to_gpu(np.array([29, 0, 3], np.int32))
    np.testing.assert_array_equal(gpuarray.take(x.ravel(), places).get(), a.ravel()[[29, 0, 3]])
    np.testing.assert_array_equal(gpuarray.concatenate([x, x], 1).get(), np.concatenate([a, a], 1))
    np.testing.assert_array_equal(gpuarray.stack([x, x], 1).get(), np.stack([a, a], 1))
    with pytest.raises(ValueError, match="does not hold 30 elements"):
        x.reshape(4, 4)
    with pytest.raises(ValueError, match="needs float64"):
        x.set(a.astype(np.float32))


def test_variables_of_modules():
    """__constant__ and __device__ variables, whose addresses copies take."""
    mod = SourceModule("""
    __constant__ float table[4];
    __device__ int counter = 5;
    __global__ void read(float *out) { out[threadIdx.x] = table[threadIdx.x]; atomicAdd(&counter, 1); }
    """)
    table, size = mod.get_global("table")
    assert size == 16
    numbers = np.array([3, 1, 4, 1.5], np.float32)
    drv.memcpy_htod(table, numbers)
    out = np.zeros(4, np.float32)
    mod.get_function("read")(drv.Out(out), block=(4, 1, 1))
    np.testing.assert_array_equal(out, numbers)
    np.testing.assert_array_equal(drv.from_device(table, 4, np.float32), numbers)
    counter, size = mod.get_global("counter")
    assert size == 4 and drv.from_device(counter, 1, np.int32)[0] == 9
    with pytest.raises(KeyError, match="no variable `nothing`"):
        mod.get_global("nothing")


def test_structures_by_value():
    mod = SourceModule("""
    #include <stdint.h>
    __global__ void sum(int8_t first, float3 v, float2 w, double *out) { *out = first + v.x + v.y + v.z + w.x * w.y; }
    """)
    out = np.zeros(1)
    vec = gpuarray.vec
    values = np.int8(1), vec.make_float3(2, 3, 4), vec.make_float2(5, 6)
    mod.get_function("sum")(*values, drv.Out(out), block=(1, 1, 1))
    assert out[0] == 40
    assert dtype_to_ctype(vec.float3) == "float3" and sizeof("float3") == vec.float3.itemsize


def test_types_of_prepare():
    """extern "C" hides the types of the parameters; prepare tells them."""
    mod = SourceModule('extern "C" __global__ void put(float *to, float x, short k) { *to = x * k; }')
    out = drv.to_device(np.zeros(1, np.float32))
    mod.get_function("put").prepare("Pfh").prepared_call((1, 1), (1, 1, 1), out, 2.5, 3)
    assert drv.from_device(out, 1, np.float32)[0] == 7.5


def test_rectangles():
    a = np.arange(40, dtype=np.uint8).reshape(5, 8)
    memory, pitch = drv.mem_alloc_pitch(8, 5, 4)
    assert pitch % 512 == 0
    copy = drv.Memcpy2D()
    copy.set_src_host(a)
    copy.set_dst_device(memory)
    copy.width_in_bytes, copy.height, copy.src_pitch, copy.dst_pitch = 8, 5, 8, pitch
    copy()
    back = np.zeros((3, 4), np.uint8)
    copy = drv.Memcpy2D()
    copy.set_src_device(memory)
    copy.set_dst_host(back)
    copy.src_x_in_bytes, copy.src_y, copy.src_pitch = 2, 1, pitch
    copy.width_in_bytes, copy.height, copy.dst_pitch = 4, 3, 4
    copy()
    np.testing.assert_array_equal(back, a[1:4, 2:6])
    copy.height = 4
    with pytest.raises(ValueError, match="dst has 12 bytes; the copy reaches to 16"):
        copy()


def test_random_numbers():
    make = curandom.XORWOWRandomNumberGenerator(curandom.seed_getter_uniform)
    x = make.gen_uniform(20000, np.float32).get()
    assert x.min() > 0 and x.max() <= 1 and abs(x.mean() - 0.5) < 0.02
    y = make.gen_normal(20000, np.float64).get()
    assert abs(y.mean()) < 0.05 and abs(y.std() - 1) < 0.05
    assert len(np.unique(curandom.rand(1000, np.uint32).get())) > 990


def test_pools():
    pool = DeviceMemoryPool()
    memory = pool.allocate(1000)
    x = gpuarray.zeros(10, np.float32, pool.allocate)
    assert pool.active_blocks == 2 and x.get().sum() == 0
    memory.free()
    del x
    assert pool.active_blocks == 0
    with pytest.raises(NotImplementedError, match="managed memory is not there"):
        drv.managed_empty(3, np.float32)


def test_a_script_runs_unchanged(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("""
import sys
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
import pycuda.driver
assert pycuda.driver is cuda and pycuda.VERSION > (2020,)
mod = SourceModule('''
#include <stdio.h>
__global__ void hello(uint n) { if (threadIdx.x < n) printf("I am %d of %s\\\\n", threadIdx.x, "the block"); }
''')
mod.get_function("hello")(np.uint32(2), block=(4, 1, 1))
cuda.Context.synchronize()
x = gpuarray.arange(5, dtype=np.float32)
ElementwiseKernel("float *x", "x[i] *= x[i]")(x)
print(x.get().tolist(), sys.argv[1])
""")
    command = [sys.executable, "-m", "nervanagpu.pycuda", str(script), "given"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [
        "I am 0 of the block", "I am 1 of the block", "[0.0, 1.0, 4.0, 9.0, 16.0] given",
    ]  # fmt: skip


def test_the_device_says_what_it_is():
    device = nervanagpu.pycuda.autoinit.device
    assert device.get_attribute(drv.device_attribute.WARP_SIZE) == 32 == device.warp_size
    with pytest.raises(ValueError, match="attribute 999 is not known"):
        device.get_attribute(999)
    with pytest.raises(ValueError, match="attribute PCI_BUS_ID is not known"):
        device.get_attribute(drv.device_attribute.PCI_BUS_ID)
    assert drv.device_attribute.SHARED_MEMORY_PER_BLOCK in device.get_attributes()
    optin = {"sm_90a": 227, "sm_80": 163, "sm_52": 48}[ng.device().arch]
    assert device.max_shared_memory_per_block_optin == optin << 10


def test_a_gpu_is_asked_what_it_is(monkeypatch):
    class Driver:
        def cuDeviceGetAttribute(self, value, attribute, number):
            value._obj.value = 100 * number + attribute
            return 1 if attribute == drv.device_attribute.TCC_DRIVER else 0  # does not know it

    class Gpu:
        kind, arch, multiprocessors = "cuda", "sm_90a", 132

    monkeypatch.setattr(nervanagpu.pycuda.device, "_driver", Driver)
    monkeypatch.setattr(nervanagpu.pycuda.device._core, "device", lambda number=None: Gpu)
    facts = drv.Device(0).get_attributes()
    attribute = drv.device_attribute
    assert facts[attribute.PCI_BUS_ID] == 33 and facts[attribute.CLOCK_RATE] == 13
    assert facts[attribute.TCC_DRIVER] == 0 == facts[attribute.CAN_MAP_HOST_MEMORY]
    assert set(facts) == set(attribute)


def test_names_around_the_driver():
    assert drv.Function is type(SourceModule("__global__ void f() {}").get_function("f"))
    with pytest.raises(drv.CompileError) as refused:
        SourceModule("__global__ void f() { nonsense }")
    assert "nonsense" in refused.value.stderr and refused.value.msg in str(refused.value)
    like = np.zeros((3, 4), np.float32, order="F")
    made = drv.aligned_zeros_like(like, 512)
    assert made.flags.f_contiguous and made.ctypes.data % 512 == 0 and (made == like).all()
    assert drv.aligned_empty_like(like).shape == (3, 4)
    rows = drv.to_device(np.zeros((4, 8), np.uint16))
    for dtype, fill in (("uint8", drv.memset_d2d8_async), ("uint16", drv.memset_d2d16_async)):
        fill(rows, 16, 7, 3, 4, drv.Stream())
        assert (drv.from_device(rows, (4, 16 // np.dtype(dtype).itemsize), dtype)[:, :3] == 7).all()
    drv.memset_d2d32_async(rows, 16, 9, 2, 4)
    assert (drv.from_device(rows, (4, 4), np.uint32)[:, :2] == 9).all()
    from nervanagpu.pycuda import tools

    block = tools.DeviceMemoryPool().allocate(100)
    assert isinstance(block, tools.PooledDeviceAllocation) and len(block) == 100
    assert tools.PageLockedMemoryPool(tools.PageLockedAllocator()).allocate(3, "f4").shape == (3,)
    assert [tools.DeviceData.make_valid_tex_channel_count(n) for n in (1, 2, 3, 4)] == [1, 2, 4, 4]
    with pytest.raises(ValueError, match="size is 5; needs 4 or fewer"):
        tools.DeviceData.make_valid_tex_channel_count(5)


def test_kernels_made_for_dtypes(rng):
    from nervanagpu.pycuda import elementwise

    a, b = rng.standard_normal((2, 1000)).astype(np.float32)
    x, y, z = gpuarray.to_gpu(a), gpuarray.to_gpu(b), gpuarray.zeros(1000, np.float32)

    def run(kernel, *args):
        z.fill(-7)
        kernel.prepared_call((4, 1), (128, 1, 1), *(v.gpudata if hasattr(v, "gpudata") else v for v in args), 1000)
        return z.get()

    f32 = np.float32
    for kernel, args, want in (
        (elementwise.get_axpbyz_kernel(f32, f32, f32), (2, x, 3, y, z), 2 * a + 3 * b),
        (elementwise.get_axpbyz_kernel(f32, f32, f32, y_is_scalar=True), (2, x, 3, y, z), 2 * a + 3 * b[0]),
        (elementwise.get_axpbz_kernel(f32, f32), (2, x, 3, z), 2 * a + 3),
        (elementwise.get_binary_op_kernel(f32, f32, f32, "*"), (x, y, z), a * b),
        (elementwise.get_rdivide_elwise_kernel(f32, f32), (x, 3, z), 3 / a),
        (elementwise.get_binary_func_kernel("atan2f", f32, f32, f32), (x, y, z), np.arctan2(a, b)),
        (elementwise.get_binary_minmax_kernel("max", f32, f32, f32, True), (x, 0.5, z), np.maximum(a, f32(0.5))),
        (elementwise.get_fill_kernel(f32), (4, z), np.full(1000, 4, f32)),
        (elementwise.get_reverse_kernel(f32), (x, z), a[::-1]),
        (elementwise.get_copy_kernel(f32, f32), (z, y), b),
        (elementwise.get_arange_kernel(f32), (z, 5, 2), np.arange(1000, dtype=f32) * 2 + 5),
        (elementwise.get_unary_func_kernel("fabsf", f32), (x, z), np.abs(a)),
        (elementwise.get_pow_array_kernel(f32, f32, f32, True, False), (x, 2, z), a * a),
        (elementwise.get_scalar_op_kernel(f32, f32, f32, "-"), (x, 2, z), a - 2),
        (elementwise.get_if_positive_kernel(f32, f32), (x, y, x, z), np.where(a > 0, b, a)),
    ):
        np.testing.assert_allclose(run(kernel, *args), want, rtol=2e-6, atol=1e-6)
    two, seven = gpuarray.to_gpu(np.array(2, f32)), gpuarray.to_gpu(np.array(7, f32))
    kernel, (first, second) = elementwise.get_linear_combination_kernel(((True, f32, f32), (True, f32, f32)), f32)
    with pytest.raises(ValueError, match="a0 is not bound"):
        run(kernel, x, y, z)
    two.bind_to_texref_ext(first, allow_double_hack=True)
    seven.bind_to_texref(second)
    np.testing.assert_allclose(run(kernel, x, y, z), 2 * a + 7 * b, rtol=1e-5, atol=1e-5)
    kernel, (first,) = elementwise.get_linear_combination_kernel(((False, f32, f32), (True, f32, f32)), f32)
    seven.bind_to_texref_ext(first)
    np.testing.assert_allclose(run(kernel, 3, x, y, z), 3 * a + 7 * b, rtol=1e-5, atol=1e-5)
    for wrong, kind in (
        (lambda: two.bind_to_texref_ext(3), TypeError),
        (lambda: elementwise.get_fill_kernel(), TypeError),
        (lambda: elementwise.get_binary_minmax_kernel("mean", f32, f32, f32, True), ValueError),
        (lambda: elementwise.get_linear_combination_kernel((), f32), ValueError),
    ):
        with pytest.raises(kind, match="needs|texture"):
            wrong()


def test_skipping_numbers():
    def first(skip):
        made = curandom.XORWOWRandomNumberGenerator(lambda n: gpuarray.to_gpu(np.full(n, 5, np.int32)))
        skip(made)
        return made.gen_uniform(8, np.float32).get()

    plain = first(lambda g: None)
    skipped = first(lambda g: g.call_skip_ahead_array(gpuarray.to_gpu(np.array([1, 3], np.int32))))
    np.testing.assert_array_equal(skipped[:4], plain[4:])
    np.testing.assert_array_equal(skipped, first(lambda g: g.call_skip_ahead(4)))
    far = first(lambda g: g.call_skip_ahead_sequence(2))
    assert not np.isin(far, plain).any()
    once = first(lambda g: g.call_skip_ahead_sequence_array(gpuarray.to_gpu(np.array([1, 1], np.int32))))
    np.testing.assert_array_equal(far, once)
    assert curandom.generate_scramble_constants32(3).dtype == np.uint32
    assert curandom.generate_scramble_constants64(3).dtype == np.uint64
