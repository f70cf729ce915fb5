"""nervanagpu.pycuda: what scripts of PyCUDA use."""

from __future__ import annotations

import os
import subprocess
import sys

import nervanagpu as ng
import nervanagpu.pycuda.autoinit
import nervanagpu.pycuda.driver as drv
import numpy as np
import pytest
from nervanagpu.pycuda import gpuarray
from nervanagpu.pycuda.compiler import CompileError, SourceModule
from nervanagpu.pycuda.function import ArgumentSizeWarning, Function

TEXT = """
__global__ void doublify(float* a) { a[threadIdx.x + threadIdx.y * 4] *= 2; }
__global__ void add(double* out, const double* x, short n, double by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + by;
}
__global__ void reverse(int* x) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
"""


@pytest.fixture(scope="module")
def mod(compiler: None) -> SourceModule:
    return SourceModule(TEXT)


def test_the_tutorial(mod, rng):
    """PyCUDA's first example: float32 numbers to the device, doubled, and back."""
    a = rng.standard_normal((4, 4)).astype(np.float32)
    a_gpu = drv.mem_alloc(a.nbytes)
    drv.memcpy_htod(a_gpu, a)
    func = mod.get_function("doublify")
    func(a_gpu, block=(4, 4, 1))
    doubled = np.empty_like(a)
    drv.memcpy_dtoh(doubled, a_gpu)
    np.testing.assert_array_equal(doubled, 2 * a)
    func(drv.InOut(a), block=(4, 4, 1), grid=(1, 1))
    np.testing.assert_array_equal(a, doubled)
    b = gpuarray.to_gpu(a)
    func(b, block=(4, 4, 1))
    np.testing.assert_array_equal(b.get(), 2 * a)
    func(b.gpudata, block=(4, 4, 1))
    np.testing.assert_array_equal(b.get(), 4 * a)
    a_gpu.free()
    with pytest.raises(ValueError, match="the allocation was freed"):
        func(a_gpu, block=(4, 4, 1))


def test_arguments(mod, rng):
    add = mod.get_function("add")
    x, out = rng.standard_normal(100), np.zeros(100)
    seconds = add(
        drv.Out(out), drv.In(x), np.int16(100), np.float64(2), block=(64, 1, 1), grid=(2, 1), time_kernel=True
    )
    np.testing.assert_array_equal(out, x + 2)
    assert 0 < seconds < 60
    with pytest.warns(ArgumentSizeWarning, match=r"argument 2 is a numpy.int64, 8 bytes; .* declares s16, 2 bytes"):
        add(drv.Out(out), drv.In(x), np.int64(50), np.float64(3), block=(64, 1, 1), grid=(2, 1))
    with pytest.warns(ArgumentSizeWarning, match=r"argument 3 is a numpy.float32, 4 bytes; .* declares f64, 8 bytes"):
        add(drv.InOut(out), drv.In(x), np.int16(50), np.float32(4), block=(64, 1, 1), grid=(2, 1))
    np.testing.assert_array_equal(out[:50], x[:50] + 4)
    block = (64, 1, 1)
    for error, args, more, text in (
        (ValueError, (), {}, "kernel add: there is no block"),
        (TypeError, (out, x, np.int16(1), np.float64(1)), {"block": block}, r"needs drv\.In, drv\.Out or drv\.InOut"),
        (ValueError, (drv.In(x),), {"block": block}, "kernel add takes 4 arguments"),
        (TypeError, (drv.In(x), drv.In(x), 1.0, 1.0), {"block": block}, "argument 2 is a float; needs s16"),
        (ValueError, (drv.In(x), drv.In(x), 1, 1.0), {"block": block, "texrefs": [1]}, "texrefs"),
        (ValueError, (drv.In(x), drv.In(x), 40000, 1.0), {"block": block}, "needs -32768 to 32767"),
    ):
        with pytest.raises(error, match=text):
            add(*args, **more)
    with pytest.raises(ValueError, match="In: the array has gaps"):
        drv.In(x[::2])
    with pytest.raises(TypeError, match="Out: list cannot be written to"):
        drv.Out([1.0])  # type: ignore[arg-type]


def test_prepared_calls_streams_and_events(mod):
    reverse = mod.get_function("reverse").prepare("P", shared=128)
    assert isinstance(reverse, Function) and reverse.num_regs > 0
    x = drv.to_device(np.arange(32, dtype=np.int32))
    start, end, stream = drv.Event(), drv.Event(), drv.Stream()
    start.record()
    reverse.prepared_call((1, 1), (32, 1, 1), x)
    end.record().synchronize()
    assert end.time_since(start) >= 0 and start.time_till(end) >= 0
    np.testing.assert_array_equal(drv.from_device(x, 32, np.int32), np.arange(32)[::-1])
    stream.wait_for_event(end)
    reverse.prepared_async_call((1, 1), (32, 1, 1), stream, x)
    back = drv.pagelocked_empty(32, np.int32)
    assert drv.pagelocked_empty((2, 3), np.float64, order="F").flags.f_contiguous
    drv.memcpy_dtoh_async(back, x, stream)
    stream.synchronize()
    np.testing.assert_array_equal(back, np.arange(32))


def test_memory():
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    first, second = drv.mem_alloc(48), drv.mem_alloc(48)
    drv.memcpy_htod(first, np.asfortranarray(a))
    drv.memcpy_dtod(second, first, 48)
    np.testing.assert_array_equal(drv.from_device_like(second, np.asfortranarray(a)), a)
    drv.memcpy_htod(int(first) + 8, np.float32([7, 8]))
    assert drv.from_device(first, 4, np.float32).tolist() == [0, 4, 7, 8]
    drv.memset_d32(second, 0x3F800000, 12)
    assert drv.from_device(second, 12, np.float32).tolist() == [1] * 12
    drv.memset_d8(second, 1, 4)
    drv.memset_d16(int(second) + 4, 0x0203, 2)
    assert drv.from_device(second, 2, np.uint32).tolist() == [0x01010101, 0x02030203]
    free, total = drv.mem_get_info()
    assert 0 < free < total
    with pytest.raises(ValueError, match="nbytes is 0"):
        drv.mem_alloc(0)
    with pytest.raises(ValueError, match="has gaps"):
        drv.memcpy_htod(first, a[:, ::2])


def test_the_context():
    assert nervanagpu.pycuda.autoinit.device.name() == ng.device().name
    assert drv.Device.count() == 1
    assert nervanagpu.pycuda.autoinit.device.compute_capability() >= (5, 0)
    drv.Context.synchronize()
    nervanagpu.pycuda.autoinit.context.pop()
    with pytest.raises(ValueError, match="number is 1; needs 0"):
        drv.Device(1)


def test_errors_of_the_compiler(mod):
    with pytest.raises(CompileError, match=r"kernel.cu\(1\): error"):
        SourceModule("__global__ void f() { nothing }")
    with pytest.raises(KeyError, match="no kernel 'doubly'; there are"):
        mod.get_function("doubly")


def test_modules_of_several_texts(mod):
    from nervanagpu.pycuda.compiler import DynamicModule, DynamicSourceModule

    made = DynamicModule()
    with pytest.raises(RuntimeError, match="needs link"):
        made.get_function("run")
    with pytest.raises(ValueError, match="needs add_source"):
        made.link()
    made.add_source("__device__ int twice(int x) { return 2 * x; }", name="first.ptx")
    made.add_source("extern __device__ int twice(int x);\n__global__ void run(int* y) { *y = twice(*y); }")
    value = np.array(21, np.int32)
    made.link().get_function("run")(drv.InOut(value), block=(1, 1, 1))
    assert value == 42
    one = DynamicSourceModule("__device__ int base = 5; __global__ void put(int* y) { *y = base; }")
    one.get_function("put")(drv.InOut(value), block=(1, 1, 1))
    assert value == 5 and one.get_global("base")[1] == 4
    with pytest.raises(CompileError, match=r"wrong.cu\(2\)"):
        DynamicModule().add_source("\nint x = ;", name="wrong.ptx").link()
    for call, kind in (
        (lambda: made.add_source(3), TypeError),
        (lambda: made.add_file("x.ptx"), ValueError),
        (lambda: made.add_data(b"", 0), NotImplementedError),
        (lambda: made.add_stdlib("cudadevrt"), NotImplementedError),
    ):
        with pytest.raises(kind, match="DynamicModule"):
            call()


def test_fill_takes_no_memory():
    """A script that takes all memory there is and fills it, as PyCUDA's fill_gpu_with_nans.py does."""
    text = """
import numpy, pycuda.autoinit, pycuda.driver as cuda
from pycuda import gpuarray
free = cuda.mem_get_info()[0] - 4096
ary = gpuarray.empty(free // 4, numpy.float32)
ary.fill(float("nan"))
ary[::2] = 3
assert numpy.isnan(ary.get()[1::2]).all() and (ary.get()[::2] == 3).all()
"""
    settings = {**os.environ, "NERVANAGPU_DEVICE": "emulator", "NERVANAGPU_EMULATOR_MEMORY": "1M"}
    run = "import nervanagpu.pycuda as p; p.install(); exec(__import__('sys').argv[1])"
    done = subprocess.run([sys.executable, "-c", run, text], env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "complex64", "bool"])
def test_numbers_are_converted_as_numpy_does(dtype):
    for value in (3, 300, -1, 2.5, np.float64(0.1), True, np.int16(7)):
        with np.errstate(all="ignore"):
            want = np.full(4, np.asarray(value).astype(dtype))
        assert np.array_equal(gpuarray.empty(4, dtype).fill(value).get(), want)
