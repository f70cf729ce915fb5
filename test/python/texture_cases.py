"""Cases of textures and surfaces for the kernels of test/data/texture: inputs made from each case's name."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import nervanagpu as ng
import numpy as np
import numpy.typing as npt

THREADS = 4096
DTYPES = {
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "s8": np.int8,
    "s16": np.int16,
    "s32": np.int32,
    "f16": np.float16,
    "f32": np.float32,
}
FRACTIONS = ("u8", "s8", "u16", "s16")
ADDRESSES = ("wrap", "clamp", "mirror", "border")
Words = npt.NDArray[np.uint32]


class Numbers:
    """A stream of numbers that depends on its name alone: splitmix64."""

    def __init__(self, name: str) -> None:
        self.state = np.uint64(zlib.crc32(name.encode()))

    def words(self, *shape: int) -> npt.NDArray[np.uint64]:
        count = int(np.prod(shape))
        with np.errstate(over="ignore"):
            z = self.state + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            self.state = z[-1]
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (z ^ (z >> np.uint64(31))).reshape(shape)

    def fractions(self, *shape: int) -> npt.NDArray[np.float64]:
        return (self.words(*shape) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, low: int, high: int, *shape: int) -> npt.NDArray[np.int64]:
        return (self.words(*shape) % np.uint64(high - low)).astype(np.int64) + low


@dataclass(frozen=True)
class Case:
    name: str
    kernel: str
    size: tuple[int, ...]  # as an image's shape, without channels
    kind: str = "2d"
    format: str = "f32"
    channels: int = 4
    address: str = "clamp"
    linear: bool = False
    normalized: bool = False
    raw: bool = False
    numbers: str = "near"  # of floats: near, bits, special
    border: tuple[float, ...] = (0.25, -3.0, 1e10, 0.7)
    source: str = "image"  # or line, plane: a tensor's memory
    surface: bool = False
    stores: bool = False
    places: Callable[[Case, Numbers], Words] | None = None
    values: Callable[[Numbers], Words] | None = None

    @property
    def texel_bytes(self) -> int:
        return int(np.dtype(DTYPES[self.format]).itemsize) * self.channels

    def texels(self, numbers: Numbers) -> npt.NDArray[np.generic]:
        shape = (*self.size, self.channels)
        dtype = np.dtype(DTYPES[self.format])
        if dtype.kind != "f":
            return numbers.words(*shape).astype(dtype)
        if self.numbers == "bits":
            bits = numbers.words(*shape).astype(np.uint32 if self.format == "f32" else np.uint16).view(dtype)
            return np.where(np.isfinite(bits), bits, dtype.type(1.5)).astype(dtype)
        out = (numbers.fractions(*shape) * 8 - 4).astype(dtype)
        if self.numbers == "special":
            pick = numbers.below(0, 14, *shape)
            small = 1e-40 if self.format == "f32" else 6e-7
            for k, v in enumerate((np.nan, np.inf, -np.inf, 0.0, -0.0, small, -small)):
                out[pick == k] = v
        return out


def layers_of(case: Case) -> int:
    count = case.size[0] if "array" in case.kind or case.kind == "cube" else 0
    return count // 6 if case.kind == "cube_array" else 0 if case.kind == "cube" else count


def extents(case: Case) -> list[int]:
    """Texels along x, y, z."""
    return list(reversed(case.size[1:] if "array" in case.kind or case.kind == "cube" else case.size))


def with_layers(case: Case, at: npt.NDArray[np.float64], numbers: Numbers) -> Words:
    """Three real coordinates as a kernel reads them, and a layer, one or two of them outside."""
    out = np.zeros((THREADS, 4), np.float32)
    out[:, :3] = at
    words = out.view(np.uint32)
    if layers_of(case):
        words[:, 3] = numbers.below(0, layers_of(case) + 3, THREADS)
    return words


def real_places(case: Case, numbers: Numbers) -> Words:
    """Inside and around the image; some on, and halfway between, the steps of the weights."""
    size = np.array([*extents(case), 1, 1][:3], np.float64)
    at = (numbers.fractions(THREADS, 3) * 2.5 - 0.75) * size
    at[: THREADS // 4] = np.round(at[: THREADS // 4] * 512) / 512
    at[THREADS // 4 : THREADS // 4 + 256] = np.round(at[THREADS // 4 : THREADS // 4 + 256] * 2) / 2
    if case.normalized:
        at /= size
    return with_layers(case, at, numbers)


def directions(case: Case, numbers: Numbers) -> Words:
    """Towards a cube, the largest component 1: what the kernel divides by is exact."""
    at = numbers.fractions(THREADS, 3) * 2 - 1
    at[: THREADS // 2] = np.round(at[: THREADS // 2] * 64) / 64
    axis = numbers.below(0, 3, THREADS)
    at[np.arange(THREADS), axis] = numbers.below(0, 2, THREADS) * 2 - 1
    return with_layers(case, at, numbers)


def whole_places(case: Case, numbers: Numbers) -> Words:
    """Texel numbers, inside and around; w is a layer, or a level of detail of which only 0 is there."""
    out = np.zeros((THREADS, 4), np.int64)
    for i, n in enumerate(extents(case)):
        out[:, i] = numbers.below(-3, n + 4, THREADS)
    out[:, 3] = numbers.below(0, layers_of(case) + 3, THREADS) if layers_of(case) else numbers.below(-1, 2, THREADS)
    return out.astype(np.int32).view(np.uint32)


def byte_places(case: Case, numbers: Numbers) -> Words:
    """As whole_places, x in bytes and aligned to a texel; inside where the kernel traps."""
    out = whole_places(case, numbers).view(np.int32).copy()
    if case.kernel.endswith("trap"):
        for i, n in enumerate(extents(case)):
            out[:, i] %= n
        out[:, 3] %= max(layers_of(case), 1)
    out[:, 0] *= case.texel_bytes
    return out.view(np.uint32)


def permuted(case: Case, numbers: Numbers, step: int) -> Words:
    width, height = extents(case)
    order = np.argsort(numbers.words(width * height))
    out = np.full((THREADS, 4), 100000, np.int64)
    out[: order.size, 0] = order % width * step
    out[: order.size, 1] = order // width
    rest = THREADS - order.size
    out[order.size :, 0] = (width + numbers.below(0, 9, rest)) * step
    out[order.size :, 1] = numbers.below(-3, height + 3, rest)
    out[:, 2:] = 0
    return out.astype(np.int32).view(np.uint32)


def each_texel(case: Case, numbers: Numbers) -> Words:
    """Every texel once, in bytes, and places outside: stores do not meet."""
    return permuted(case, numbers, case.texel_bytes)


def each_number(case: Case, numbers: Numbers) -> Words:
    """The same in texels."""
    return permuted(case, numbers, 1)


def between(case: Case, numbers: Numbers) -> Words:
    """Bytes and words inside wide texels."""
    out = np.zeros((THREADS, 4), np.int64)
    step = 1 if case.kernel.endswith("b8") else 4
    out[:, 0] = numbers.below(-8, extents(case)[0] * case.texel_bytes // step + 8, THREADS) * step
    out[:, 1] = numbers.below(0, extents(case)[1], THREADS)
    return out.astype(np.int32).view(np.uint32)


def reals(numbers: Numbers) -> Words:
    return (numbers.fractions(THREADS, 4) * 4 - 2).astype(np.float32).view(np.uint32)


def small(numbers: Numbers) -> Words:
    return numbers.below(-70000, 70000, THREADS, 4).astype(np.int32).view(np.uint32)


LINE, PLANE, BOX = (37,), (17, 23), (6, 5, 7)


def filters() -> Iterator[Case]:
    for f in (*FRACTIONS, "f16", "f32"):
        for n in ("near", "bits", "special") if f[0] == "f" else ("near",):
            yield Case(f"filter.1d.{f}.{n}", "tex_1d_f", LINE, "1d", f, 4, "wrap", True, True, numbers=n)
            yield Case(f"filter.2d.{f}.{n}", "tex_2d_f", PLANE, "2d", f, 4, "clamp", True, numbers=n)
            yield Case(f"filter.2d.{f}.{n}.mirror", "tex_2d_f", PLANE, "2d", f, 2, "mirror", True, True, numbers=n)
            if n == "near":  # sums of eight numbers of any size are not proven: docs/textures.md
                yield Case(f"filter.3d.{f}", "tex_3d_f", BOX, "3d", f, 4, "mirror", True, True)
                yield Case(f"filter.3d.{f}.clamp", "tex_3d_f", BOX, "3d", f, 1, "clamp", True, False)
                yield Case(f"filter.3d.{f}.border", "tex_3d_f", BOX, "3d", f, 4, "border", True, False)
    for a in ADDRESSES:
        for n in (False, True):
            yield Case(f"filter.address.{a}.{n}", "tex_2d_f", PLANE, "2d", "f32", 4, a, True, n)
            yield Case(f"filter.address.{a}.{n}.1d", "tex_1d_f", LINE, "1d", "f32", 1, a, True, n)
        for f in (*FRACTIONS, "f16"):
            yield Case(f"filter.address.{a}.{f}", "tex_2d_f", PLANE, "2d", f, 4, a, True, True)
    yield Case("filter.1d_array", "tex_a1d_f", (5, 37), "1d_array", "f32", 4, "clamp", True)
    yield Case("filter.2d_array", "tex_a2d_f", (5, 17, 23), "2d_array", "u8", 4, "border", True, True)
    yield Case("filter.wide", "tex_1d_f", (1000,), "1d", "f32", 1, "wrap", True, True)
    for k, size in (("1d", LINE), ("2d", PLANE), ("3d", BOX)):
        yield Case(f"filter.level.{k}", f"level_{k}", size, k, "f32", 4, "clamp", True)
    yield Case("filter.slopes.1d", "grad_1d", LINE, "1d", linear=True, values=reals)
    yield Case("filter.slopes.2d", "grad_2d", PLANE, "2d", "u8", linear=True, values=reals)
    for k in ("one", "three"):
        yield Case(f"filter.{k}", f"tex_2d_{k}", PLANE, linear=True)
    for a in ADDRESSES:
        yield Case(f"filter.plane.{a}", "tex_2d_f", (17, 32), "2d", "f32", 1, a, True, True, source="plane")


def points() -> Iterator[Case]:
    for f in DTYPES:
        for c in (1, 2, 4):
            for raw in (False, True) if f in FRACTIONS else (False,):
                kernel = "tex_2d_f" if f[0] == "f" or (not raw and f in FRACTIONS) else f"tex_2d_{f[0]}"
                yield Case(f"point.{f}x{c}.{raw}", kernel, PLANE, "2d", f, c, raw=raw)
    for a in ADDRESSES:
        for n in (False, True):
            yield Case(f"point.{a}.{n}", "tex_2d_f", PLANE, address=a, normalized=n)
            yield Case(f"point.{a}.{n}.3d", "tex_3d_u", BOX, "3d", "u32", address=a, normalized=n)
        for f in (*FRACTIONS, "f16"):
            yield Case(f"point.{a}.{f}", "tex_2d_f", PLANE, "2d", f, address=a, normalized=True)
            yield Case(f"point.{a}.{f}.raw", "tex_2d_s", PLANE, "2d", f, address=a, normalized=True, raw=f[0] != "f")
        yield Case(f"point.plane.{a}", "tex_2d_u", (17, 32), "2d", "u8", 4, a, raw=True, source="plane")
    yield Case("point.special", "tex_2d_f", PLANE, "2d", "f16", numbers="special")
    yield Case("point.1d_array", "tex_a1d_u", (5, 37), "1d_array", "u16", raw=True)
    yield Case("point.2d_array", "tex_a2d_s", (5, 17, 23), "2d_array", "s32", 2)


def cubes() -> Iterator[Case]:
    for f in ("f32", "u8", "f16"):
        for linear in (False, True):
            name = f"cube.{f}.{linear}"
            yield Case(name, "tex_cube_f", (6, 9, 9), "cube", f, 4, "wrap", linear, True, places=directions)
    yield Case("cube.array", "tex_acube_f", (18, 8, 8), "cube_array", linear=True, normalized=True, places=directions)
    yield Case("cube.array.u32", "tex_acube_u", (18, 8, 8), "cube_array", "u32", 1, normalized=True, places=directions)


def loads() -> Iterator[Case]:
    for a in ADDRESSES:
        yield Case(f"load.2d.{a}", "tld_2d_f", PLANE, address=a, places=whole_places)
    yield Case("load.2d.u8", "tld_2d_f", PLANE, "2d", "u8", linear=True, normalized=True, places=whole_places)
    yield Case("load.3d", "tld_3d_s", BOX, "3d", "s32", places=whole_places)
    yield Case("load.1d_array", "tld_a1d_f", (5, 37), "1d_array", places=whole_places)
    yield Case("load.2d_array", "tld_a2d_u", (5, 17, 23), "2d_array", "u32", places=whole_places)
    yield Case("load.level.2d", "level_tld_2d", PLANE, places=whole_places)
    yield Case("load.level.3d", "level_tld_3d", BOX, "3d", places=whole_places)
    for f, c in (("f32", 4), ("u8", 4), ("s16", 2), ("f16", 1), ("s8", 1)):
        yield Case(f"load.line.{f}x{c}", "tld_1d_f", (100,), "1d", f, c, source="line", places=whole_places)
    yield Case("load.line.u32", "tld_1d_u", (100,), "1d", "u32", 1, source="line", places=whole_places)
    yield Case("load.line.s8.raw", "tld_1d_s", (100,), "1d", "s8", 4, raw=True, source="line", places=whole_places)


def gathers() -> Iterator[Case]:
    for c in "rgba":
        yield Case(f"gather.{c}", f"gather_2d_{c}", PLANE, "2d", "u8")
    for a in ADDRESSES:
        yield Case(f"gather.{a}", "gather_2d_g", PLANE, address=a, normalized=True, linear=a < "d")
    yield Case("gather.u32", "gather_2d_u", PLANE, "2d", "u32")
    yield Case("gather.x1", "gather_2d_g", PLANE, channels=1)


SHAPES = {"1d": LINE, "2d": PLANE, "3d": BOX, "a1d": (5, 37), "a2d": (5, 17, 23)}
KINDS = {"1d": "1d", "2d": "2d", "3d": "3d", "a1d": "1d_array", "a2d": "2d_array"}


def queries() -> Iterator[Case]:
    for k, size in SHAPES.items():
        yield Case(f"query.{k}", "query", size, KINDS[k])
    yield Case("query.cube", "query", (6, 9, 9), "cube", normalized=True)
    yield Case("query.cube_array", "query", (18, 9, 9), "cube_array", normalized=True)
    yield Case("query.line", "query", (100,), "1d", source="line")
    yield Case("query.plane", "query", (17, 32), "2d", source="plane")


def surface_loads() -> Iterator[Case]:
    for k, size in SHAPES.items():
        for mode in ("clamp", "zero", "trap"):
            yield Case(f"suld.{k}.{mode}", f"suld_{k}_{mode}", size, KINDS[k], "u32", surface=True, places=byte_places)
    for access, f, c in ACCESSES:
        yield Case(f"suld.{access}.{f}x{c}", f"suld_{access}", PLANE, "2d", f, c, surface=True, places=each_texel)
    for access in ("b8", "b32"):
        yield Case(f"suld.between.{access}", f"suld_{access}", PLANE, "2d", "u32", surface=True, places=between)


ACCESSES = (
    ("b8", "u8", 1),
    ("b16", "u16", 1),
    ("b16", "f16", 1),
    ("b32", "f32", 1),
    ("b32", "u8", 4),
    ("v2_b8", "u8", 2),
    ("v4_b8", "u8", 4),
    ("v2_b16", "u16", 2),
    ("v4_b16", "f16", 4),
    ("v2_b32", "s32", 2),
    ("v2_b64", "u32", 4),
)


def surface_stores() -> Iterator[Case]:
    def case(name: str, kernel: str, f: str, c: int, places: Callable[[Case, Numbers], Words], **more: object) -> Case:
        return Case(name, kernel, PLANE, "2d", f, c, surface=True, stores=True, places=places, **more)  # type: ignore[arg-type]

    yield case("sust.zero", "sust_2d_zero", "u32", 4, each_texel)
    for access, f, c in ACCESSES:
        if access in ("b8", "b16", "b32", "v2_b32", "v2_b64"):
            yield case(f"sust.{access}.{f}x{c}", f"sust_{access}", f, c, each_texel)
    for f in DTYPES:
        for c in (1, 4):
            values = {"values": reals} if f[0] == "f" else {}
            yield case(f"sust.formatted.{f}x{c}", "sust_p_2d", f, c, each_number, **values)
        if f[0] != "f":
            yield case(f"sust.formatted.{f}.small", "sust_p_2d", f, 4, each_number, values=small)
    yield case("sust.formatted.one", "sust_p_v1_2d", "u32", 4, each_number)
    yield case("sust.formatted.two", "sust_p_v2_2d", "u32", 4, each_number)
    for op in ("add_u32", "add_s32", "min_u32", "min_s32", "max_u32", "max_s32", "and_b32", "or_b32"):
        yield case(f"sured.{op}", f"sured_{op}", "s32" if "s32" in op else "u32", 1, byte_places)
    yield case("sured.add_u64", "sured_add_u64", "u32", 2, byte_places)
    yield case("sured.formatted", "sured_p_2d", "u32", 1, whole_places)
    yield case("sured.clamp", "sured_2d_clamp", "u32", 1, byte_places)


GROUPS = {
    "filter": filters,
    "point": points,
    "cube": cubes,
    "load": loads,
    "gather": gathers,
    "query": queries,
    "surface_load": surface_loads,
    "surface_store": surface_stores,
}


def run(case: Case, module: ng.Module) -> npt.NDArray[np.generic]:
    """What the kernel leaves: its results, or the image that it wrote to."""
    numbers = Numbers(case.name)
    texels = case.texels(numbers)
    places = (case.places or (directions if "cube" in case.kind else real_places))(case, numbers)
    values = case.values(numbers) if case.values else numbers.words(THREADS, 4).astype(np.uint32)
    source = ng.image(texels, case.kind) if case.source == "image" else ng.array(texels)
    handle: ng.Surface | ng.Texture
    if case.surface:
        assert isinstance(source, ng.Image)
        handle = ng.surface(source)
    else:
        handle = ng.texture(
            source,
            address=case.address,
            filter="linear" if case.linear else "nearest",
            normalized=case.normalized,
            raw=case.raw,
            border=case.border,
            **({} if case.source == "image" else {"kind": "1d" if case.source == "line" else "2d"}),
        )
    given = ng.array(np.concatenate([places.ravel(), values.ravel()]))
    out = ng.full((THREADS * 4,), 0xA5A5A5A5, np.uint32)
    module[case.kernel][THREADS // 128, 128](handle, out, given, THREADS)
    if case.stores:
        assert isinstance(source, ng.Image)
        return source.get()
    return out.get()
