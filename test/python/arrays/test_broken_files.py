"""Files of networks that are not as they should be: refused by name, with what is wrong, and nothing is changed."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest

L = ng.layers


def network() -> ng.Network:
    return ng.Network([L.Full(3), L.Softmax()], input_shape=(2,), seed=5)


def parts(path: Path) -> tuple[dict[str, Any], bytes]:
    """Header and data of a file."""
    raw = path.read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    return json.loads(raw[8 : 8 + length]), raw[8 + length :]


def write(path: Path, header: dict[str, Any] | bytes, data: bytes) -> None:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "net.safetensors"
    network().save(path)
    return path


def refused(path: Path, message: str) -> None:
    net = network()
    before = [p.value.get() for p in net.parameters]
    for read in (ng.Network.load, net.load_parameters):
        with pytest.raises(ng.Error, match=message) as caught:
            read(path)
        assert str(path) in str(caught.value)
    assert all(np.array_equal(p.value.get(), b) for p, b in zip(net.parameters, before, strict=True))


W, B = "full1.weight", "full1.bias"


def test_what_is_good_is_read(good: Path) -> None:
    header, data = parts(good)
    assert header[W]["data_offsets"] == [0, 24] and header[B]["data_offsets"] == [24, 36]
    write(good, dict(reversed(header.items())), data)  # the order in the header says nothing
    assert [p.name for p in ng.Network.load(good).parameters] == [W, B]


def test_files_of_other_layers_are_refused(tmp_path: Path) -> None:
    """Also those that hold all that the network wants, and more."""
    path = tmp_path / "net.safetensors"
    network().save(path)
    header, data = parts(path)
    end = header[B]["data_offsets"][1]
    for name in ("full2.weight", "full1.weight.masters", "weight"):
        write(path, {**header, name: {"dtype": "F32", "shape": [2], "data_offsets": [end, end + 8]}}, data + bytes(8))
        net = network()
        for read in (ng.Network.load, net.load_parameters):
            with pytest.raises(ValueError, match=f"holds '{name}'; needs parameters of this network"):
                read(path)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="there is no /proc/self/mem")
def test_a_file_that_cannot_be_read_through_is_refused() -> None:
    refused(Path("/proc/self/mem"), "cannot be read")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({B: {"data_offsets": [20, 32]}}, "'full1.weight' and 'full1.bias' overlap"),
        ({B: {"data_offsets": [0, 12]}}, "overlap"),
        ({B: {"data_offsets": [28, 40]}}, "data_offsets 28 to 40 of 36"),
        ({B: {"data_offsets": [24, 35]}}, "'full1.bias' has 12 bytes, and data_offsets 24 to 35"),
        ({B: {"data_offsets": [36, 24]}}, "data_offsets 36 to 24"),
        ({B: {"data_offsets": [-1, 11]}}, "the data_offsets of 'full1.bias' has -1; needs whole numbers"),
        ({B: {"data_offsets": [24.0, 36.0]}}, "has 24.0; needs whole numbers"),
        ({B: {"data_offsets": [24]}}, "the entry of 'full1.bias' is incomplete"),
        ({B: {"shape": [-3]}}, "the shape of 'full1.bias' has -3; needs whole numbers"),
        ({B: {"shape": [2**40, 2**40]}}, r"the shape of 'full1.bias' has more than 2\^62 bytes"),
        ({B: {"shape": ["3"]}}, 'has "3"; needs whole numbers'),
        ({B: {"dtype": "F33"}}, "holds 'full1.bias' as F33; needs F16, BF16 or F32"),
        ({B: {"dtype": 7}}, "the entry of 'full1.bias' is incomplete"),
        ({B: {"dtype": None}}, "the entry of 'full1.bias' is incomplete"),
        ({"__metadata__": {"network": 3}}, "'network' of its __metadata__ is no text"),
    ],
    ids=str,
)
def test_entries(good: Path, change: dict[str, dict[str, Any]], message: str) -> None:
    header, data = parts(good)
    for name, fields in change.items():
        header[name] |= fields
    write(good, header, data)
    refused(good, message)


def test_data(good: Path) -> None:
    header, data = parts(good)
    write(good, header, data + b"\0\0\0\0")
    refused(good, "4 bytes at its end belong to no array")
    write(good, {**header, B: {**header[B], "data_offsets": [28, 40]}}, data + b"\0\0\0\0")
    refused(good, "4 bytes before 'full1.bias' belong to no array")
    write(good, header, data[:-1])
    refused(good, "data_offsets 24 to 36 of 35")
    write(good, {n: v for n, v in header.items() if n != B}, data)
    refused(good, "12 bytes at its end belong to no array")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"full1.bias"', b'"full1.weight"', "needs another name: this one came before"),
        (b'"full1.bias"', b'"full1.b\xffas"', "needs UTF-8"),
        (b'"full1.bias"', b'"full1.\xc0\xaf"', "needs UTF-8"),
        (b'"full1.bias"', b'"full1.\xed\xa0\x80"', "needs UTF-8"),
        (b'"full1.bias"', b'"full1.\xf4\x90\x80\x80"', "needs UTF-8"),
        (b'"full1.bias"', b'"full1.\xe4"', "needs UTF-8"),
        (b'"full1.bias"', b'"full1.\\ud800"', "needs the other half of a surrogate pair"),
        (b'"full1.bias"', b'"full1.\\udc00"', "needs the other half of a surrogate pair"),
        (b'"full1.bias"', b'"full1.\n"', "needs an escape for a control character"),
        (b'"full1.bias"', b"full1.bias", "JSON: byte"),
        (b"{", b"[", "JSON: byte"),
        (b"", b"\xef\xbb\xbf", "JSON: byte 0"),
    ],
    ids=str,
)
def test_headers(good: Path, old: bytes, new: bytes, message: str) -> None:
    header, data = parts(good)
    text = json.dumps(header).encode()
    assert old in text
    write(good, text.replace(old, new, 1), data)
    refused(good, message)


def test_lengths(good: Path, tmp_path: Path) -> None:
    raw = good.read_bytes()
    for length in (len(raw), 2**63, 2**64 - 1):
        good.write_bytes(struct.pack("<Q", length) + raw[8:])
        refused(good, "its header is longer than it is")
    good.write_bytes(raw[:7])
    refused(good, "it is too short")
    refused(tmp_path, "is no regular file")
    refused(tmp_path / "none", "cannot be read")
    refused(Path("/dev/zero"), "is no regular file")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layout": "NHWC"}, "its layout is 'NHWC'"),
        ({"dtype": "float33"}, "its dtype is 'float33'"),
        ({"dtype": "int8"}, "int8"),
        ({"seed": "-1"}, "'-1' is no number"),
        ({"seed": "99999999999999999999999"}, "is no number"),
        ({"step": 3}, "'step' is missing"),
        ({"bits": 2**32 + 1}, "its bits are 4294967297"),
        ({"input_shape": [2.5]}, "its input_shape is not whole numbers"),
        ({"input_shape": [-2]}, "input_shape"),
        ({"layers": []}, "layers is empty"),
        ({"layers": [3]}, "a layer is not an object"),
        ({"layers": [{"layer": "FullLayer", "nOut": 2.5}]}, "nOut"),
        ({"layers": [{"layer": "NoLayer"}]}, "NoLayer"),
    ],
    ids=str,
)
def test_descriptions(good: Path, change: dict[str, Any], message: str) -> None:
    header, data = parts(good)
    net = json.loads(header["__metadata__"]["network"]) | change
    header["__metadata__"]["network"] = json.dumps(net)
    write(good, header, data)
    with pytest.raises(ng.Error, match=message) as caught:
        ng.Network.load(good)
    assert f"'{good}' holds no network: " in str(caught.value)


def test_random_damage(good: Path) -> None:
    """Bytes changed, left out and put in anywhere: read, or refused naming the file."""
    raw = good.read_bytes()
    header = 8 + struct.unpack("<Q", raw[:8])[0]
    rng = random.Random(1)
    refusals = 0
    for _ in range(400):
        bad = bytearray(raw)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(header)
            bad[at : at + rng.randint(0, 2)] = rng.choice(
                [b"", b"0", b'"', b"9" * 9, b"[", b"\xff", b"-", rng.randbytes(2)]
            )
        good.write_bytes(bytes(bad))
        try:
            ng.Network.load(good)
        except (ng.Error, ValueError, TypeError, MemoryError) as error:
            refusals += 1
            assert isinstance(error, MemoryError) or str(good) in str(error), error
    assert refusals > 200
