"""GPUTensor against NumPy: whatever NumPy does to an array, the tensor does on the device."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest

DTYPES = [
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_array_keeps_the_dtype_and_the_bits(rng, dtype):
    host = rng.integers(0, 2**15, (7, 5)).astype(dtype)
    tensor = ng.array(host)
    assert tensor.dtype == host.dtype
    assert tensor.shape == (7, 5)
    assert tensor.element_strides == (5, 1)
    assert tensor.nbytes == host.nbytes
    back = tensor.get()
    assert back.dtype == host.dtype
    assert back.tobytes() == host.tobytes()


def test_creation_defaults():
    assert ng.empty((2, 3)).dtype == np.float32
    assert (ng.zeros((2, 3)).get() == 0).all()
    assert (ng.ones(4, dtype=np.int16).get() == 1).all()
    assert ng.array([1.5, 2.5]).dtype == np.float64
    assert ng.array([[1, 2], [3, 4]], dtype=np.float32).get().tolist() == [[1, 2], [3, 4]]
    assert ng.zeros_like(ng.ones((3, 2), dtype="uint8")).dtype == np.uint8
    assert ng.full((2,), -7.5).get().tolist() == [-7.5, -7.5]
    assert ng.array(3.0).shape == ()
    assert float(ng.array(3.0)) == 3.0


def test_big_endian_and_strided_inputs(rng):
    host = rng.standard_normal((6, 8)).astype(">f4")
    assert np.array_equal(ng.array(host).get(), host.astype("<f4"))
    assert np.array_equal(ng.array(host[::2, ::-3]).get(), host[::2, ::-3])


KEYS = [
    np.s_[2],
    np.s_[-1],
    np.s_[1:4],
    np.s_[::2],
    np.s_[::-1],
    np.s_[5:1:-2],
    np.s_[:, 3],
    np.s_[1:, ::3],
    np.s_[..., 0],
    np.s_[None, 2],
    np.s_[:, None, ::-1],
    np.s_[3:3],
    np.s_[2, 4],
    np.s_[np.int64(1), ...],
    np.s_[()],
    np.s_[-100:100],
    np.s_[::-100],
]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("transposed", [False, True])
def test_indexing_reads_and_writes_as_numpy(rng, key, transposed):
    host = rng.integers(0, 1000, (6, 6)).astype(np.int32)
    tensor = ng.array(host)
    source, view = (host.T, tensor.T) if transposed else (host, tensor)
    assert np.array_equal(view[key].get(), source[key])
    assert view[key].shape == source[key].shape
    values = rng.integers(1000, 2000, source[key].shape).astype(np.int32)
    view[key] = values
    source[key] = values
    assert np.array_equal(tensor.get(), host)
    view[key] = -3
    source[key] = -3
    assert np.array_equal(tensor.get(), host)


def test_assignment_broadcasts_and_converts(rng):
    tensor = ng.zeros((3, 4))
    tensor[:] = np.arange(4)
    assert tensor.get().tolist() == [[0, 1, 2, 3]] * 3
    tensor[:, 1] = ng.array([7.0, 8.0, 9.0])
    assert tensor.get()[:, 1].tolist() == [7, 8, 9]
    tensor[0] = tensor[2]
    assert np.array_equal(tensor.get()[0], tensor.get()[2])
    big = ng.zeros(1, dtype=np.int64)
    big[0] = 2**62 + 1
    assert big.get()[0] == 2**62 + 1


def test_views_share_memory(rng):
    host = rng.standard_normal((4, 6)).astype(np.float32)
    tensor = ng.array(host)
    view = tensor.reshape(2, 12).T[3:6]
    view.fill(5.0)
    expected = host.copy().reshape(2, 12)
    expected[:, 3:6] = 5
    assert np.array_equal(tensor.get(), expected.reshape(4, 6))
    assert not view.contiguous
    copy = view.copy()
    assert copy.contiguous
    copy.fill(0)
    assert (view.get() == 5).all()


def test_transpose_and_reshape(rng):
    host = rng.integers(0, 99, (2, 3, 4))
    tensor = ng.array(host)
    assert np.array_equal(tensor.T.get(), host.T)
    assert np.array_equal(tensor.transpose(1, 0, 2).get(), host.transpose(1, 0, 2))
    assert np.array_equal(tensor.transpose((2, 0, 1)).get(), host.transpose(2, 0, 1))
    assert np.array_equal(tensor.reshape(4, -1).get(), host.reshape(4, -1))
    assert tensor.reshape((24,)).shape == (24,)


def test_numpy_sees_a_tensor(rng):
    host = rng.standard_normal((3, 3)).astype(np.float32)
    tensor = ng.array(host)
    assert np.array_equal(np.asarray(tensor.T), host.T)
    assert np.asarray(tensor, dtype=np.float64).dtype == np.float64
    assert len(tensor) == 3
    assert [row.get().tolist() for row in tensor] == host.tolist()
    assert repr(tensor).startswith("GPUTensor([[") and repr(tensor).endswith("]], dtype=float32)")
    assert str(tensor) == str(host)


def refuses(error, text, call):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == text


def test_refusals_say_what_came_and_what_is_needed():
    t = ng.zeros((3, 4))
    refuses(ValueError, "value has shape (2, 2); needs (3, 4)", lambda: t.set(np.zeros((2, 2))))
    refuses(ValueError, "value has shape (5,); needs (3, 4)", lambda: t.__setitem__(slice(None), np.zeros(5)))
    refuses(IndexError, "index 3 is out of range for an axis of length 3", lambda: t[3])
    refuses(IndexError, "too many indices: the tensor has 2 axes, 3 were indexed", lambda: t[0, 0, 0])
    refuses(IndexError, "an index can have one ellipsis (...), found 2", lambda: t[..., ...])
    refuses(IndexError, "index is set; needs integers, slices, arrays, ... or None", lambda: t[{0, 1}])
    refuses(IndexError, "index is float; needs integers, slices, arrays, ... or None", lambda: t[1.0])
    refuses(TypeError, "shape is str; needs an integer or a sequence of integers", lambda: ng.empty("3"))
    refuses(TypeError, "a length of shape is float; needs an integer", lambda: ng.empty((3, 1.5)))
    refuses(ValueError, "shape (-1,): length -1 of axis 0 is negative", lambda: ng.empty(-1))
    refuses(ValueError, "shape (4611686018427387904, 2): elements are more than 2^63 - 1", lambda: ng.empty((2**62, 2)))
    needs = "needs float16, bfloat16, float32, float64, complex64, complex128, bool or an integer type of 8 to 64 bits "
    for dtype, instead in (
        ("|S3", "(texts stay on the host; tensors hold numbers, such as numpy.unique(texts, return_inverse=True)[1])"),
        ("<U1", "(texts stay on the host; tensors hold numbers, such as numpy.unique(texts, return_inverse=True)[1])"),
        ("datetime64[D]", "(times stay on the host; tensors hold numbers, such as times.astype('int64'))"),
        ("timedelta64[s]", "(times stay on the host; tensors hold numbers, such as times.astype('int64'))"),
        ("object", "(objects stay on the host; numpy.array(objects, float) makes numbers of those that are some)"),
        ("|V3", "(records stay on the host; each field can be a tensor)"),
    ):
        refuses(
            TypeError, f"array: dtype is {dtype}; {needs}{instead}", lambda dtype=dtype: ng.array(np.zeros(2, dtype))
        )
    refuses(
        TypeError,
        "empty: dtype is 'nonsense'; needs what numpy.dtype understands",
        lambda: ng.empty(2, dtype="nonsense"),
    )
    fits_not = "number 300 does not fit into dtype uint8, which holds 0 to 255"
    refuses(OverflowError, fits_not, lambda: ng.zeros(2, dtype="uint8").fill(300))
    with pytest.raises(TypeError, match="value has dtype float64; needs one that converts to int32"):
        ng.zeros(2, dtype=np.int32).set(np.zeros(2))
    with pytest.raises(MemoryError, match=f"out of memory: {2**52} bytes asked for, "):
        ng.empty(2**50)


def test_memory_returns_when_tensors_go():
    before = ng.memory_stats().in_use
    t = ng.zeros((100, 100))
    view = t[::2].T
    del t
    assert ng.memory_stats().in_use >= before + 40000
    del view
    assert ng.memory_stats().in_use == before


def test_wrap_names_memory_of_others(rng):
    owner = ng.array(rng.standard_normal((4, 4)).astype(np.float32))
    alias = ng.wrap(owner.ptr, (4, 4), np.float32, strides=(1, 4))
    assert np.array_equal(alias.get(), owner.get().T)
    assert np.array_equal(ng.wrap(owner.ptr, 16, np.float32).get(), owner.get().ravel())


ALL_DTYPES = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()


@pytest.mark.parametrize("source", ALL_DTYPES)
def test_astype_between_all_dtypes(rng, source):
    host = rng.integers(0, 2 if source == "bool" else 100, (3, 5)).astype(source)
    for wanted in ALL_DTYPES:
        got = ng.array(host).T.astype(wanted)
        assert got.dtype == wanted and got.contiguous
        np.testing.assert_array_equal(got.get(), host.T.astype(wanted))
