"""nervanagpu.cupy: kernels of CUDA C as CuPy has them, streams, memory, and scripts that run unchanged."""

from __future__ import annotations

import importlib
import subprocess
import sys

import nervanagpu as ng
import nervanagpu.cupy as cp
import numpy as np
import pytest
from source_tree import TESTS

SCALE = 'extern "C" __global__ void scale(const float* x, float* y, unsigned n, float s)\n'
SCALE += "{ unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = s * x[i]; }"


pytestmark = pytest.mark.usefixtures("compiler")


def arrays(rng, dtype):
    """Of one shape, lying by rows, by columns, with gaps and backwards."""
    host = rng.integers(-9, 10, (3, 5, 7)).astype(dtype) if np.dtype(dtype).kind != "b" else rng.random((3, 5, 7)) < 0.5
    yield host, ng.array(host)
    yield host.T, ng.array(host).T
    yield host[:, ::2, ::-1], ng.array(host)[:, ::2, ::-1]
    yield host[:, :1], ng.array(host)[:, :1]


DTYPES = ["float32", "float64", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_every_layout(rng, dtype):
    fused = ng.ElementwiseKernel("T x, T y", "T z", "z = x * y + x", "fused")
    for host, x in arrays(rng, dtype):
        want = host * host + host
        got = fused(x, x)
        assert got.dtype == np.dtype(dtype) and got.shape == host.shape
        np.testing.assert_array_equal(got.get(), want)
        out = ng.zeros(host.shape, dtype).T.copy().T
        assert fused(x, x, out) is out
        np.testing.assert_array_equal(out.get(), want)


def test_broadcasting_and_numbers(rng):
    x, y = rng.standard_normal((4, 1, 5)), rng.standard_normal((3, 1))
    f = ng.ElementwiseKernel("T x, T y, float32 s", "T z", "z = x - y * s", "f")
    np.testing.assert_allclose(f(ng.array(x), ng.array(y), 2).get(), x - y * 2, rtol=1e-15)
    np.testing.assert_allclose(f(ng.array(x), 3, np.int8(2)).get(), x - 6, rtol=1e-15)
    two = ng.ElementwiseKernel("T x, U y", "T a, U b", "a = x + y; b = x - y", "two")
    a, b = two(ng.array(x), ng.array((y * 10).astype(np.int32)))
    assert a.dtype == np.float64 and b.dtype == np.int32
    np.testing.assert_array_equal(a.get(), x + (y * 10).astype(np.int32))
    np.testing.assert_array_equal(b.get(), (x - (y * 10).astype(np.int32)).astype(np.int32))


def test_raw_arrays_and_indices(rng):
    x = rng.standard_normal((6, 8)).astype(np.float32)
    turned = ng.ElementwiseKernel("raw T x, int32 n", "T y", "y = x[n - 1 - i]", "turned")
    for host, t in ((x, ng.array(x)), (x.T, ng.array(x).T), (x[::2], ng.array(x)[::2])):
        got = turned(t, t.size, size=t.size)
        np.testing.assert_array_equal(got.get(), host.reshape(-1)[::-1])
    place = ng.ElementwiseKernel(
        "T x", "int64 row, int64 column, int64 size",
        "row = _ind.get()[0]; column = _ind.get()[1]; size = _ind.size() + i * 0", "place",
    )  # fmt: skip
    rows, columns, size = place(ng.array(x))
    np.testing.assert_array_equal(rows.get(), np.indices(x.shape)[0])
    np.testing.assert_array_equal(columns.get(), np.indices(x.shape)[1])
    assert (size.get() == x.size).all()
    facts = ng.ElementwiseKernel("raw T x", "raw int64 y", "y[i] = i < 2 ? x.shape()[i] : x.size()", "facts")
    assert facts(ng.array(x), size=3).get().tolist() == [6, 8, 48]
    both = ng.ElementwiseKernel("raw T x", "T y", "y = x[_ind.get()]", "both")
    out = ng.zeros((8, 6))
    both(ng.array(x).T, out)
    np.testing.assert_array_equal(out.get(), x.T)


def test_what_is_empty_or_alone():
    f = ng.ElementwiseKernel("T x", "T y", "y = x + 1", "f")
    assert f(ng.zeros((0, 3))).shape == (0, 3)
    assert float(f(ng.full((), 4.0))) == 5 and f(ng.full((), 4.0)).shape == ()
    none = ng.ElementwiseKernel("T x", "T y", "y = x", "f", no_return=True)
    one = ng.ElementwiseKernel("T x", "T y", "y = x // of a comment", "f", return_tuple=True)
    assert none(ng.zeros(2)) is None and isinstance(one(ng.zeros(2)), tuple)


def test_work_that_waits_sees_what_was_there():
    x = ng.ones(1000)
    later = x + 1  # not computed yet
    ng.ElementwiseKernel("", "T x", "x = 7", "set")(x)
    np.testing.assert_array_equal(later.get(), np.full(1000, 2, np.float32))
    np.testing.assert_array_equal(x.get(), np.full(1000, 7, np.float32))


def test_elementwise_refusals():
    f = ng.ElementwiseKernel("T x, T y", "T z", "z = x + y", "f")
    x = ng.zeros((2, 3))
    for call, error, words in (
        (lambda: f(x), TypeError, "Wrong number of arguments"),
        (lambda: f(x, ng.zeros(3, "int32")), TypeError, "y is int32"),
        (lambda: f(x, ng.zeros(2)), ValueError, "do not broadcast"),
        (lambda: f(x, x, ng.zeros(3)), ValueError, "z has"),
        (lambda: f(x, x, 1), TypeError, "z is 1"),
        (lambda: f(1, 2), ValueError, "Loop size is undecided"),
        (lambda: f(x, x, size=6), ValueError, "Specified 'size'"),
        (lambda: f(x, "no"), TypeError, "y is 'no'"),
        (lambda: f(x, x, block_size=0), ValueError, "block_size"),
        (lambda: f(x, x, stream=3), TypeError, "stream"),
        (lambda: ng.ElementwiseKernel("T x", "T y", "y = x", "1"), ValueError, "kernel name"),
        (lambda: ng.ElementwiseKernel("T x", "T i", "i = x", "f"), ValueError, "'i'"),
        (lambda: ng.ElementwiseKernel("T x", "T x", "x = x", "f"), ValueError, "share a name"),
        (lambda: ng.ElementwiseKernel("T", "T y", "y = 0", "f"), ValueError, "in_params"),
        (lambda: ng.ElementwiseKernel("what x", "T y", "y = 0", "f"), TypeError, "in_params"),
        (lambda: ng.ElementwiseKernel("", "T y", "y = 0", "f")(size=3), TypeError, "T"),
        (lambda: ng.ElementwiseKernel("T x", "T y", "y = undeclared", "f")(x), ng.CompileError, "undeclared"),
    ):
        with pytest.raises(error, match=words):
            call()


@pytest.mark.parametrize("dtype", ["float64", "int32", "int64", "uint8"])
def test_reductions_along_axes(rng, dtype):
    total = ng.ReductionKernel("T x, T y", "int64 z", "(long long)(x * y)", "a + b", "z = a", "0", "dot")
    for host, x in arrays(rng, dtype):
        product = host.astype(np.int64) ** 2
        for axis in (None, 0, 1, -1, (0, 2), (1,), (0, 1, 2)):
            for keepdims in (False, True):
                got = total(x, x, axis=axis, keepdims=keepdims)
                np.testing.assert_array_equal(got.get(), product.sum(axis, keepdims=keepdims))


@pytest.mark.parametrize("n", [1, 255, 257, 100_003])
def test_long_reductions(rng, n):
    x = rng.standard_normal(n)
    norm = ng.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    largest = ng.ReductionKernel("T x", "T y", "x", "a > b ? a : b", "y = a", "-1e300", "largest")
    np.testing.assert_allclose(float(norm(ng.array(x))), np.linalg.norm(x), rtol=1e-13)
    assert float(largest(ng.array(x))) == x.max()
    out = ng.zeros((), "float64")
    assert norm(ng.array(x), out=out) is out and abs(float(out) - np.linalg.norm(x)) <= 1e-12 * np.linalg.norm(x)


def test_a_reduce_type_of_ones_own(rng):
    code = "struct range { float low, high; __device__ range() : low(1e30f), high(-1e30f) {}\n"
    code += "__device__ range(float x) : low(x), high(x) {} };\n"
    code += (
        "__device__ range join(range a, range b) { range c; c.low = min(a.low, b.low); c.high = max(a.high, b.high);"
    )
    code += " return c; }"
    spread = ng.ReductionKernel(
        "float32 x", "float32 low, float32 high", "range(x)", "join(a, b)", "low = a.low; high = a.high", None,
        "spread", reduce_type="range", preamble=code,
    )  # fmt: skip
    x = rng.standard_normal((50, 3000)).astype(np.float32)
    for axis in (0, 1, None):
        low, high = spread(ng.array(x), axis=axis)
        np.testing.assert_array_equal(low.get(), x.min(axis))
        np.testing.assert_array_equal(high.get(), x.max(axis))


def test_reduction_refusals():
    total = ng.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    most = ng.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "most")
    assert float(total(ng.zeros(0))) == 0
    for call, error, words in (
        (lambda: total(ng.zeros((2, 3)), axis=2), ValueError, "axis 2"),
        (lambda: total(ng.zeros((2, 3)), axis=(0, 0)), ValueError, "twice"),
        (lambda: total(ng.zeros((2, 3)), axis=0, out=ng.zeros(2)), ValueError, "Out shape is mismatched"),
        (lambda: total(1), ValueError, "Loop size"),
        (lambda: most(ng.zeros(0)), ValueError, "no identity"),
        (lambda: ng.ReductionKernel("T x", "", "x", "a + b", "", "0", "f"), ValueError, "out_params"),
    ):
        with pytest.raises(error, match=words):
            call()


def test_raw_kernels(rng):
    x = rng.standard_normal(1000).astype(np.float32)
    y = ng.zeros(1000)
    scale = ng.RawKernel(SCALE, "scale")
    scale((8,), (128,), (ng.array(x), y, 1000, np.float32(2)))
    np.testing.assert_array_equal(y.get(), 2 * x)
    assert scale.num_regs > 0 and scale.attributes["binary_version"] == 90
    kernels = "template <typename T> __global__ void fill(T* x, T v) { x[threadIdx.x] = v; }\n"
    kernels += "__constant__ float factor; __device__ int count;\n"
    kernels += 'extern "C" __global__ void use(float* x) { x[threadIdx.x] *= factor; atomicAdd(&count, 1); }'
    module = ng.RawModule(code=kernels, name_expressions=["fill<float>", "fill<int>"])
    module.get_function("fill<float>")((1,), (32,), (y, np.float32(3)))
    module.get_global("factor").copy_from_host(np.float32([0.5]), 4)
    count = module.get_global("count")
    count.memset(0, 4)
    module.get_function("use")((1,), (16,), (y,))
    np.testing.assert_array_equal(y.get()[:40], [*[1.5] * 16, *[3] * 16, *(2 * x)[32:40]])
    host = np.zeros(1, np.int32)
    count.copy_to_host(host, 4)
    assert host[0] == 16
    shared = "extern __shared__ float part[]; __global__ void turn(float* x) { part[threadIdx.x] = x[threadIdx.x];\n"
    shared += "__syncthreads(); x[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x]; }"
    ng.RawKernel(shared, "turn")((1, 1, 1), (64, 1, 1), (y,), shared_mem=256)
    assert y.get()[63] == 1.5


def test_a_cubin_as_a_module(tmp_path):
    file = tmp_path / "scale.cubin"
    file.write_bytes(ng.SourceModule(SCALE).cubin.bytes)
    y = ng.zeros(32)
    ng.RawModule(path=file).get_function("scale")((1,), (32,), (ng.ones(32), y, np.uint32(32), np.float32(4)))
    assert y.get().tolist() == [4] * 32


def test_raw_refusals():
    scale = ng.RawKernel(SCALE, "scale")
    for call, error, words in (
        (lambda: ng.RawKernel(SCALE, "none")((1,), (1,), ()), ValueError, "none"),
        (lambda: ng.RawKernel("no C", "f").compile(), ng.CompileError, "no C"),
        (lambda: scale((1,), (32,), ng.zeros(2)), TypeError, "args"),
        (lambda: scale((1,), (32,), (np.zeros(32), ng.zeros(32), 32, 1.0)), TypeError, "argument 0"),
        (lambda: scale((1,), (32,), (ng.zeros(32),)), ValueError, "argument"),
        (lambda: ng.RawModule(), TypeError, "code and path"),
        (lambda: ng.RawModule(code=SCALE, name_expressions="scale"), TypeError, "name_expressions"),
        (lambda: ng.RawModule(code=SCALE).get_function("none"), ValueError, "none"),
        (lambda: ng.RawModule(code=SCALE).get_global("none"), ValueError, "none"),
        (lambda: ng.RawKernel(SCALE, "scale", enable_cooperative_groups=True), ValueError, "cooperative"),
        (lambda: ng.RawKernel(SCALE, "scale", backend="nvcc"), ValueError, "backend"),
    ):
        with pytest.raises(error, match=words):
            call()


def test_streams_and_events():
    stream, other = ng.cuda.Stream(), ng.cuda.Stream(non_blocking=True)
    double = ng.ElementwiseKernel("T x", "T y", "y = 2 * x", "twice")
    x = ng.arange(5000, dtype="float32")
    start, end = ng.cuda.Event(), ng.cuda.Event()
    with stream:
        assert ng.cuda.get_current_stream() is stream
        start.record()
        y = double(x)
        with other:
            assert ng.cuda.get_current_stream() is other
            y = double(y)
        assert ng.cuda.get_current_stream() is stream
        end.record()
    assert ng.cuda.get_current_stream() == ng.cuda.Stream.null and ng.cuda.Stream.null.ptr == 0
    end.synchronize()
    assert ng.cuda.get_elapsed_time(start, end) >= 0 and stream.done and end.done
    np.testing.assert_array_equal((y + 1).get(), np.arange(5000, dtype=np.float32) * 4 + 1)
    other.wait_event(stream.record())
    seen = []
    stream.launch_host_func(seen.append, 3)
    assert seen == [3] and ng.cuda.ExternalStream(stream.ptr) == stream
    with pytest.raises(TypeError, match="stream"):
        double(x, stream="no")


def test_streams_of_either_library_wait():
    x, host = ng.zeros(4), np.arange(4, dtype=np.float32)
    for stream in (ng.cuda.Stream(), ng.cuda.Stream.null, ng.Stream(), None, pycuda_stream()):
        x.set(host + 1, stream=stream)
        np.testing.assert_array_equal(x.get(stream=stream), host + 1)
    with pytest.raises(TypeError, match="stream is str; needs Stream or None"):
        x.set(host, stream="no")


def pycuda_stream():
    from nervanagpu.pycuda import driver

    return driver.Stream()


@pytest.mark.parametrize(
    "name", ["exceptions", "fft", "lib", "lib.stride_tricks", "linalg", "polynomial", "polynomial.chebyshev", "testing"]
)
def test_modules_below(name):
    """from nervanagpu.cupy.linalg import inv: programs have such lines, too."""
    below, own = (importlib.import_module(f"{space}.{name}") for space in ("nervanagpu.cupy", "nervanagpu"))
    assert below is own and own.__name__ == own.__spec__.name == f"nervanagpu.{name}"
    with pytest.raises(ModuleNotFoundError, match="No module named 'nervanagpu.linalg.none'"):
        importlib.import_module("nervanagpu.cupy.linalg.none")
    with pytest.raises(ModuleNotFoundError, match="No module named 'nervanagpu.cupy.sparse'"):
        importlib.import_module("nervanagpu.cupy.sparse")


def test_memory():
    pool = ng.get_default_memory_pool()
    before = pool.used_bytes()
    x = ng.zeros(1 << 20)
    assert pool.used_bytes() >= before + (4 << 20) and pool.total_bytes() >= pool.used_bytes()
    assert pool.free_bytes() == pool.total_bytes() - pool.used_bytes()
    del x
    assert pool.used_bytes() < before + (4 << 20)
    pool.free_all_blocks()
    memory = ng.cuda.alloc(64)
    memory.copy_from_host(np.arange(16, dtype=np.int32), 64)
    (memory + 32).memset(0, 32)
    view = cp.ndarray((4, 4), np.int32, memory)
    assert view.get().tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [0] * 4, [0] * 4]
    turned = cp.ndarray((4, 4), np.int32, memory, strides=(4, 16))
    del memory
    assert turned[1].get().tolist() == [1, 5, 0, 0]
    asked = []

    def allocate(size):
        asked.append(size)
        return cp.cuda.memory._from_pool(size)

    with cp.cuda.using_allocator(allocate):
        cp.cuda.alloc(12)
    cp.cuda.alloc(13)
    assert asked == [12]
    ptr = cp.cuda.runtime.malloc(8)
    cp.cuda.runtime.memset(ptr, 1, 8)
    host = np.zeros(2, np.int32)
    cp.cuda.runtime.memcpy(host.ctypes.data, ptr, 8, cp.cuda.runtime.memcpyDeviceToHost)
    assert host.tolist() == [0x01010101] * 2
    cp.cuda.runtime.free(ptr)
    with pytest.raises(ValueError, match="ptr"):
        cp.cuda.runtime.free(ptr)
    assert ng.cuda.alloc_pinned_memory(10).nbytes == 10 and ng.get_default_pinned_memory_pool().n_free_blocks() == 0


def test_limit_of_the_pool():
    pool = ng.get_default_memory_pool()
    assert pool.get_limit() == 0
    try:
        pool.free_all_blocks()
        held = pool.total_bytes()
        pool.set_limit(size=held + (3 << 20))
        assert pool.get_limit() == held + (3 << 20)
        x = ng.zeros(1 << 19)
        with pytest.raises(MemoryError, match=f"{2 << 20} bytes asked for, the limit is {held + (3 << 20)}, "):
            ng.zeros(1 << 19)
        del x
        ng.zeros(1 << 19)
        pool.set_limit(fraction=0.5)
        assert pool.get_limit() == cp.cuda.runtime.memGetInfo()[1] // 2
        pool.set_limit()
        assert pool.get_limit() == 0
        for error, words, arguments in (
            (ValueError, "both size and fraction", {"size": 1, "fraction": 0.5}),
            (ValueError, "fraction is 1.5; needs 0 to 1", {"fraction": 1.5}),
            (ValueError, "size is -1; needs 0 to", {"size": -1}),
            (TypeError, "size is 1.5; needs an integer", {"size": 1.5}),
        ):
            with pytest.raises(error, match=f"set_limit: .*{words}"):
                pool.set_limit(**arguments)
        assert pool.get_limit() == 0
    finally:
        pool.set_limit(size=0)


def test_the_device():
    assert cp.cuda.runtime.getDeviceCount() == 1 and cp.cuda.Device().id == 0
    with cp.cuda.Device(0) as device:
        device.synchronize()
        assert device.compute_capability == "90" and device.attributes["WarpSize"] == 32
    with pytest.raises(ValueError, match="number"):
        cp.cuda.Device(7)
    assert cp.cuda.runtime.getDeviceProperties(0)["warpSize"] == 32
    assert cp.cuda.runtime.runtimeGetVersion() >= 12000
    cp.cuda.nvtx.RangePush("part")
    cp.cuda.nvtx.RangePop()


def test_fuse():
    @ng.fuse()
    def f(x, y):
        return ng.sqrt(x * x + y * y) if isinstance(x, ng.GPUTensor) else np.sqrt(x * x + y * y)

    g = ng.fuse(lambda x: x + 1)
    h = ng.fuse(kernel_name="named")(lambda x: x * 2)
    x, y = np.float32([3, 5]), np.float32([4, 12])
    before = ng.launch_count()
    assert f(ng.array(x), ng.array(y)).get().tolist() == [5, 13] and ng.launch_count() == before + 1
    assert f(x, y).tolist() == [5, 13] and g(1) == 2 and h.kernel_name == "named"
    with pytest.raises(TypeError, match="function"):
        ng.fuse(3)


def test_memoize():
    calls = []

    @cp.memoize(for_each_device=True)
    def f(n, scale=1):
        """A docstring."""
        calls.append(n)
        return n * scale

    assert [f(2), f(2), f(2, scale=3), f(3)] == [2, 2, 6, 3]
    assert calls == [2, 2, 3]
    assert f.__doc__ == "A docstring."
    cp.clear_memo()
    assert f(2) == 2
    assert calls == [2, 2, 3, 2]
    with pytest.raises(TypeError, match="unhashable"):
        f([1])
    with pytest.raises(TypeError, match="memoize: for_each_device is .*; needs"):
        cp.memoize(f)


def test_defaults_are_cupys():
    for made in (cp.zeros(3), cp.ones(3), cp.empty(3), cp.eye(3), cp.identity(3), cp.tri(3), cp.full(3, 1.5)):
        assert made.dtype == np.float64
    assert cp.full(3, 1).dtype == np.int64 and cp.random.rand(3).dtype == np.float64
    assert cp.zeros((2, 3), order="F").flags.f_contiguous and not cp.zeros((2, 3), order="F").flags.c_contiguous
    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    assert cp.array(x).flags.f_contiguous and cp.array(x, order="C").flags.c_contiguous
    np.testing.assert_array_equal(cp.array(x).get(), x)
    assert isinstance(cp.zeros(3), cp.ndarray) and cp.get_array_module(cp.zeros(1)) is cp
    assert cp.get_array_module(x) is np
    with pytest.raises(ValueError, match="order"):
        cp.zeros(3, order="Z")


def test_layouts(rng):
    host = rng.standard_normal((4, 6)).astype(np.float32)
    for x, t in ((host, ng.array(host)), (host.T, ng.array(host).T), (host[::2], ng.array(host)[::2])):
        for name in ("c_contiguous", "f_contiguous"):
            assert getattr(t.flags, name) == getattr(x.flags, name) == t.flags[name.upper()]
        assert [float(v) for v in t.flat] == x.ravel().tolist() and float(t.flat[3]) == x.flat[3]
        t.flat[1:4] = 9
        x = x.copy()
        x.flat[1:4] = 9
        np.testing.assert_array_equal(t.get(), x)
        np.testing.assert_array_equal(t.byteswap().get(), x.byteswap())
        np.testing.assert_array_equal(t.ptp(1).get(), np.ptp(x, 1))
    assert t.data.ptr == t.ptr
    t = ng.zeros(4)
    t.scatter_add([1, 1, 2], 5)
    assert t.get().tolist() == [0, 10, 5, 0]


SCRIPT = """
import sys
import cupy as cp
from cupy import cuda
from cupy.cuda import Stream
import cupy.linalg, cupy.random
with Stream():
    x = cp.arange(10, dtype=cp.float32)
    y = cp.ElementwiseKernel("T x", "T y", "y = x * x", "square")(x)
assert cp.asnumpy(y).tolist() == [k * k for k in range(10)] and cp.zeros(2).dtype == cp.float64
print("ran", cp.__name__, sys.argv[1])
"""


def test_scripts_run_unchanged(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "nervanagpu.cupy", str(script), "argument"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=TESTS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["ran", "nervanagpu.cupy", "argument"]


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_dtype_of_places(name):
    x = np.array([[3, 1, 2], [0, 5, 4]], np.float32)
    a = cp.array(x)
    for dtype in ("int8", "uint16", "int32", "int64"):
        for axis in (None, 1):
            for got in (getattr(cp, name)(a, axis, dtype), getattr(a, name)(axis, dtype=dtype)):
                assert got.dtype == dtype
                np.testing.assert_array_equal(got.get(), getattr(np, name)(x, axis))
    with pytest.raises(TypeError, match=f"{name}: dtype is float32; needs integers"):
        getattr(a, name)(dtype="float32")


def test_arrays_of_the_host_from_the_device():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    out = np.zeros_like(x)
    assert cp.asnumpy(cp.array(x), out=out) is out
    np.testing.assert_array_equal(out, x)
    assert cp.asnumpy(cp.array(x), order="F").flags.f_contiguous
    assert cp.asnumpy(x) is not None
    np.testing.assert_array_equal(cp.asnumpy([[1, 2]], order="F"), [[1, 2]])


def test_copies_that_cannot_be_avoided():
    x = cp.ones((2, 3), "float32")
    assert cp.array(x, copy=False) is x and cp.array(x, copy=False, order="K") is x
    for more in ({"order": "F"}, {"dtype": "int8"}):
        with pytest.raises(ValueError, match="array: copy is False"):
            cp.array(x, copy=False, **more)
        assert cp.array(x, copy=None, **more) is not x
    with pytest.raises(ValueError, match="Unable to avoid creating a copy"):
        x.T.reshape(-1, copy=False)
    with pytest.raises(ValueError, match="strings are not allowed"):
        x.reshape(-1, copy="never")
    assert cp.asfortranarray(cp.ones(())).shape == (1,)


def test_warnings():
    x = cp.array([1 + 2j])
    with pytest.warns(cp.ComplexWarning, match="concatenate: tensor 0 is complex128, of which float32 keeps"):
        got = cp.concatenate([x, cp.ones(1)], dtype="float32", casting="unsafe")
    np.testing.assert_array_equal(got.get(), np.float32([1, 1]))
    got = cp.concatenate([x, 0 * x], dtype=bool, casting="unsafe")  # no part is lost
    np.testing.assert_array_equal(got.get(), [True, False])
    with pytest.warns(DeprecationWarning, match="row_stack"):
        np.testing.assert_array_equal(cp.row_stack([x, x]).get(), [[1 + 2j]] * 2)


def test_words_and_rooms():
    x = cp.ones((2, 3, 4), order="F")
    assert cp.empty_like(x, order="K", shape=(5, 6)).flags.c_contiguous
    assert cp.empty_like(x, order="A", shape=(5, 6)).flags.f_contiguous
    np.testing.assert_array_equal(cp.roll(cp.arange(3), "1").get(), [2, 0, 1])
    for call, words in (
        (lambda: cp.roll(x, "a"), "roll: shift is 'a'"),
        (lambda: cp.repeat(x, -1), "negative"),
        (lambda: cp.linalg.cond(cp.ones((0, 0))), "cond is not defined on empty arrays"),
        (lambda: cp.matrix_transpose(cp.ones(3)), "matrix transpose with ndim < 2 is undefined"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_names_that_numpy_dropped(capsys):
    a = np.array([[3, 1], [1, 2]])
    x = cp.array(a)
    for old, new in (("product", "prod"), ("cumproduct", "cumprod"), ("round_", "round")):
        with pytest.warns(DeprecationWarning, match=f"{old} is deprecated; needs the name {new}"):
            np.testing.assert_array_equal(getattr(cp, old)(x).get(), getattr(np, new)(a))
    np.testing.assert_array_equal(cp.msort(x).get(), np.sort(a, axis=0))
    assert [str(cp.asfarray(x, d).dtype) for d in (float, int, "float32")] == ["float64", "float64", "float32"]
    cp.show_config()
    assert cp.__name__.split(".")[0] in capsys.readouterr().out


def test_scattered_extremes(rng):
    a, at = rng.standard_normal(6), np.array([0, 3, 3, 5, 0])
    values = rng.standard_normal(5)
    for name, ufunc in (("scatter_max", np.maximum), ("scatter_min", np.minimum)):
        x, want = cp.array(a), a.copy()
        getattr(x, name)(cp.array(at), cp.array(values))
        ufunc.at(want, at, values)
        np.testing.assert_array_equal(x.get(), want)
