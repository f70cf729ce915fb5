"""Textures and surfaces: the emulator gives the bits of an H200; bad input is refused by name.

With NG_RECORD_DIGESTS=FILE the digests of the device in use are written there; test/data/digests/texture.json has an
H200's.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path

import nervanagpu as ng
import numpy as np
import pytest
from source_tree import DATA
from texture_cases import GROUPS, run

DIGESTS = json.loads((DATA / "digests" / "texture.json").read_text())["digests"]
pytestmark = pytest.mark.skipif(ng.device().arch != "sm_90a", reason="the programs are for sm_90a")


@pytest.fixture(scope="module")
def programs() -> ng.Module:
    return ng.load((DATA / "texture" / "programs.cubin").read_bytes())


# The same programs as ptxas makes them without optimization: the handles are in registers, TEX.B.
@pytest.mark.parametrize("group", [g for g in GROUPS if not g.startswith("surface")])
def test_handles_in_registers(group: str) -> None:
    programs = ng.load((DATA / "texture" / "fetches_unoptimized.cubin").read_bytes())
    for case in GROUPS[group]():
        assert f"{zlib.crc32(run(case, programs).tobytes()):08x}" == DIGESTS[case.name], case.name


@pytest.mark.parametrize("group", GROUPS)
def test_results_are_an_h200s(group: str, programs: ng.Module) -> None:
    record = os.environ.get("NG_RECORD_DIGESTS")
    got = {case.name: f"{zlib.crc32(run(case, programs).tobytes()):08x}" for case in GROUPS[group]()}
    if record:
        path = Path(record)
        known = json.loads(path.read_text()) if path.exists() else {"device": ng.device().name, "digests": {}}
        known["digests"].update(got)
        path.write_text(json.dumps(known, indent=1) + "\n")
        return
    assert {name: digest for name, digest in got.items() if DIGESTS.get(name) != digest} == {}


def test_an_image_comes_back() -> None:
    texels = np.arange(2 * 3 * 5 * 2, dtype=np.int16).reshape(2, 3, 5, 2)
    image = ng.image(texels, "3d")
    np.testing.assert_array_equal(image.get(), texels)
    image.set(texels[::-1])
    np.testing.assert_array_equal(image.get(), texels[::-1])
    with pytest.raises(ValueError, match=r"texels have shape \(3,\); the image has \(2, 3, 5, 2\)"):
        image.set(np.zeros(3, np.int16))


def test_a_linear_filter_by_hand(programs: ng.Module) -> None:
    texture = ng.texture(ng.image(np.array([[0, 8], [16, 64]], np.float32)), filter="linear")
    at = np.zeros((2, 4), np.float32)
    at[0, :2] = (1.0, 1.0)
    at[1, :2] = (0.75, 0.5)
    out = ng.zeros((2, 4), np.float32)
    programs["tex_2d_f"][1, 128](texture, out, ng.array(np.concatenate([at, at])), 2)
    np.testing.assert_array_equal(out.get()[:, 0], [22, 2])


def test_refusals_name_the_argument() -> None:
    plane = np.zeros((4, 4), np.float32)
    with pytest.raises(ValueError, match="channels is 3; 1, 2 and 4 are possible"):
        ng.image(np.zeros((4, 4, 3), np.float32))
    with pytest.raises(ValueError, match="dtype is float64; texels are integers of 8, 16 or 32 bits"):
        ng.image(np.zeros((4, 4)))
    with pytest.raises(ValueError, match="image: kind is 'flat'; needs 1d, 2d, 3d"):
        ng.image(plane, "flat")
    with pytest.raises(ValueError, match="texels have 2 axes; kind 3d needs depth, height, width"):
        ng.image(plane, "3d")
    with pytest.raises(ValueError, match="layers is 5; a cube has six"):
        ng.image(np.zeros((5, 4, 4), np.float32), "cube")
    with pytest.raises(ValueError, match="height is 3; a cube's is its width, 4"):
        ng.image(np.zeros((6, 3, 4), np.float32), "cube")
    with pytest.raises(ValueError, match="width is 0; of a 2D image it is 1 to 131072"):
        ng.image(np.zeros((4, 0), np.float32))
    image = ng.image(plane)
    with pytest.raises(ValueError, match="address is 'edge'; there are wrap, clamp, mirror and border"):
        ng.texture(image, address="edge")
    with pytest.raises(ValueError, match="filter is 'cubic'; there are nearest and linear"):
        ng.texture(image, filter="cubic")
    with pytest.raises(ValueError, match="border has 3 numbers; needs 4"):
        ng.texture(image, border=(0, 0, 0))
    with pytest.raises(ValueError, match="filter is linear; integers have none"):
        ng.texture(ng.image(plane.astype(np.uint32)), filter="linear")
    with pytest.raises(ValueError, match="coordinates are not normalized; those of a cube are directions"):
        ng.texture(ng.image(np.zeros((6, 4, 4), np.float32), "cube"))
    with pytest.raises(ValueError, match="rows are 16 bytes apart; needs a multiple of 32"):
        ng.texture(ng.array(plane), kind="2d")
    with pytest.raises(ValueError, match="filter is linear; memory in a line is read by integer coordinates"):
        ng.texture(ng.zeros(8), filter="linear")


@pytest.mark.skipif(not ng.device().name.startswith("emulator"), reason="a GPU does not say")
def test_a_handle_of_nothing_is_named(programs: ng.Module) -> None:
    texture = ng.texture(ng.image(np.zeros((4, 4), np.float32)))
    handle = texture._texture_handle
    given, out = ng.zeros((256, 4)), ng.zeros((128, 4))
    with pytest.raises(ng.CheckError, match="is a 2D texture, the instruction takes a 3D one"):
        programs["tex_3d_f"][1, 128](texture, out, given, 128)
    del texture
    with pytest.raises(ng.CheckError, match="no such texture: 0x[0-9a-f]+ has been destroyed"):
        programs["tex_2d_f"][1, 128](handle, out, given, 128)
    with pytest.raises(ng.CheckError, match="no such texture: 0x7 is no handle"):
        programs["tex_2d_f"][1, 128](7, out, given, 128)
    surface = ng.surface(ng.image(np.zeros((4, 4, 4), np.uint32)))
    with pytest.raises(ng.CheckError, match="is a surface"):
        programs["tex_2d_f"][1, 128](surface, out, given, 128)
    with pytest.raises(
        ng.CheckError, match=r"out of bounds: 16-byte access of a surface at byte 64 of row 0; it has 64"
    ):
        programs["suld_2d_trap"][1, 128](surface, out, ng.array(np.full((256, 4), [64, 0, 0, 0], np.int32)), 128)
    with pytest.raises(ng.CheckError, match="misaligned: 16-byte access of a surface at byte 8 of a row"):
        programs["suld_2d_zero"][1, 128](surface, out, ng.array(np.full((256, 4), [8, 0, 0, 0], np.int32)), 128)
