"""Programs of pictures, signals, texts and sets; test_user_programs.py runs them as those of user_programs.py."""

import io
import itertools
import warnings

import numpy as np


def noise(*shape):
    x = 43758.5453 * np.sin(12.9898 * np.arange(1.0, 1.0 + np.prod(np.array(shape))))
    return 2 * (x - np.floor(x)).reshape(shape) - 1


def image_filters():
    y, x = np.indices((40, 50))
    image = ((x - 25) ** 2 + (y - 20) ** 2 < 150) * 200.0 + 20 * noise(40, 50)
    image = np.clip(image, 0, 255).astype(np.uint8)
    padded = np.pad(image.astype(float), 1, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    median = np.median(windows, axis=(-2, -1))
    sobel = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    gx = np.einsum("ijkl,kl->ij", windows, sobel)
    gy = np.tensordot(windows, sobel.T, axes=([2, 3], [0, 1]))
    strength = np.hypot(gx, gy)
    angle = np.rad2deg(np.arctan2(gy, gx)) % 180
    sectors = np.digitize(angle, np.arange(22.5, 180, 45)) % 4
    edges = strength > strength.mean() + strength.std()
    threshold = max(range(1, 255), key=lambda t: otsu(image, t))
    mask = image > threshold
    rows, columns = np.where(mask)
    box = rows.min(), rows.max(), columns.min(), columns.max()
    crop = image[box[0] : box[1] + 1, box[2] : box[3] + 1]
    small = image[:40, :48].reshape(10, 4, 12, 4).mean(axis=(1, 3)).astype(np.uint8)
    turned = np.rot90(small)[::-1]
    eroded = np.all(np.lib.stride_tricks.sliding_window_view(np.pad(mask, 1), (3, 3)), axis=(2, 3))
    rgb = np.stack([image, image // 2, 255 - image], axis=-1)
    grey = (rgb @ np.array([0.299, 0.587, 0.114])).astype(np.uint8)
    return (
        median,
        gx,
        strength,
        np.bincount(sectors[edges], minlength=4),
        threshold,
        tuple(int(v) for v in box),
        crop.shape,
        small,
        turned,
        eroded.sum(),
        grey,
        rgb.transpose(2, 0, 1).mean((1, 2)),
        image.ravel()[:5].tolist(),
    )


def otsu(image, t):
    low, high = image[image < t], image[image >= t]
    if low.size == 0 or high.size == 0:
        return 0.0
    return float(low.size * high.size * (low.mean() - high.mean()) ** 2)


def signal_cleaning():
    rate, n = 200, 256
    t = np.arange(n) / rate
    clean = np.sin(2 * np.pi * 12.5 * t) + 0.5 * np.cos(2 * np.pi * 40 * t)
    seen = clean + 0.4 * noise(n)
    spectrum, frequencies = np.fft.rfft(seen * np.hanning(n)), np.fft.rfftfreq(n, 1 / rate)
    power = np.abs(spectrum) ** 2
    peaks = np.flatnonzero((power[1:-1] > power[:-2]) & (power[1:-1] > power[2:])) + 1
    strongest = peaks[np.argsort(power[peaks])[::-1][:2]]
    kept = np.fft.rfft(seen)
    kept[np.abs(kept) < 20] = 0
    cleaned = np.fft.irfft(kept, n=n)
    kernel = np.ones(9) / 9
    smooth = np.convolve(seen, kernel, mode="same")
    delay = np.correlate(seen, np.roll(seen, 5), "full").argmax() - (n - 1)
    crossing = np.where(np.diff(np.signbit(cleaned)))[0]
    blocks = seen.reshape(-1, 64)
    rms = np.sqrt((blocks**2).mean(axis=1))
    decibel = 20 * np.log10(rms / rms.max())
    phase = np.unwrap(np.angle(kept[strongest]))
    resampled = np.interp(np.linspace(0, t[-1], 32), t, cleaned)
    return (
        frequencies[strongest],
        power[strongest],
        cleaned,
        smooth.astype("f4").astype("f2"),
        int(delay),
        crossing,
        decibel,
        phase,
        resampled,
        np.ptp(seen),
        10 * np.log10(np.var(clean) / np.var(cleaned - clean)),
    )


def cellular_automaton():
    rule = np.array([int(b) for b in np.binary_repr(30, 8)][::-1], dtype=np.uint8)
    row = np.zeros(41, dtype=np.uint8)
    row[20] = 1
    picture = [row]
    for _ in range(15):
        index = 4 * np.roll(row, 1) + 2 * row + np.roll(row, -1)
        row = rule[index]
        picture.append(row)
    picture = np.array(picture)
    packed = np.packbits(picture, axis=1)
    text = ["".join(" #"[v] for v in line) for line in picture[:3]]
    runs = np.diff(np.flatnonzero(np.diff(np.concatenate([[0], picture[-1], [0]]).astype(int))))[::2]
    return picture, packed, np.unpackbits(packed, axis=1, count=41), text, picture.sum(1), runs, index.dtype


def steps_in_a_maze():
    maze = np.array(
        [[int(c) for c in line] for line in "1111111 1000101 1010101 1010001 1011101 1000001 1111111".split()],
        dtype=bool,
    )
    steps = np.full(maze.shape, -1)
    steps[1, 1] = 0
    frontier, n = np.array([[1, 1]]), 0
    moves = np.array([(0, 1), (1, 0), (0, -1), (-1, 0)])
    while frontier.size:
        n += 1
        around = (frontier[:, None] + moves).reshape(-1, 2)
        free = ~maze[around[:, 0], around[:, 1]] & (steps[tuple(around.T)] < 0)
        frontier = np.unique(around[free], axis=0)
        steps[tuple(frontier.T)] = n
    return steps, n, steps.max(), np.argwhere(steps == steps.max())


def brightness_in_place():
    image = (np.arange(20 * 16).reshape(20, 16) * 7 % 256).astype(np.uint8)
    bright, dark, flipped, mixed = image.copy(), image.copy(), image.copy(), image.copy()
    bright[:] = np.minimum(bright * 1.3, 255)
    dark[...] = dark * 0.5 + 0.25
    flipped[::2] = 255 - flipped[::2] / 2
    mixed[mixed > 100] = mixed[mixed > 100] * 0.9
    gamma = (255 * (image / 255) ** 0.45).astype("uint8")
    counts = np.zeros(4, dtype=np.int16)
    counts[:] = noise(4) * 100
    whole = np.zeros((2, 3), int)
    whole[:, 1] = [1.9, -1.9]
    whole[0] = np.linspace(0, 9.9, 3)
    flags = np.zeros(5, bool)
    flags[:] = np.arange(5) * 0.5
    half = np.zeros(3, np.float16)
    half[:] = np.array([1e5, 1e-9, 0.1]) * 1.0
    image //= 2
    image += 3
    image[image > 100] -= 100
    image >>= 1
    image ^= 0x55
    try:
        image *= 1.5
    except TypeError as e:
        refused = "same_kind" in str(e)
    return bright, dark, flipped, mixed, gamma, counts, whole, flags, half, image, refused


def blur_without_real():
    image = noise(12, 16)
    y, x = np.mgrid[-6:6, -8:8]
    kernel = np.exp(-(x**2 + y**2) / 4.0)
    kernel /= kernel.sum()
    out, rows = np.empty_like(image), np.zeros((3, 16))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        out[:] = np.fft.ifft2(np.fft.fft2(image) * np.fft.fft2(np.fft.ifftshift(kernel)))
        rows[...] = np.fft.ifft(np.fft.fft(image[:3], axis=1), axis=1)
        part = np.fft.fft(image[0]).astype(float)
    names = sorted({w.category.__name__ for w in seen})
    return out, rows.astype("f4"), part, names, np.abs(out - image).mean() > 0.1


def text_in_and_out():
    table = np.array([[1.5, 2, 3], [4, 5.25, 6], [7, 8, 9]])
    buffer = io.StringIO()
    np.savetxt(buffer, table, fmt="%.2f", delimiter=",", header="a,b,c")
    text = buffer.getvalue()
    back = np.loadtxt(io.StringIO(text), delimiter=",")
    first, third = np.loadtxt(io.StringIO(text), delimiter=",", usecols=(0, 2), unpack=True)
    raw = io.BytesIO()
    np.save(raw, table.astype(np.float32))
    raw.seek(0)
    holes = np.genfromtxt(io.StringIO("1,2\n3,\n,6"), delimiter=",")
    lines = "\n".join("|".join(f"{v:6.1f}" for v in row) for row in table)
    with np.printoptions(precision=2, suppress=True):
        shown = str(table / 3)
    return (
        text,
        back,
        first,
        third,
        holes,
        lines,
        shown,
        np.array2string(table, separator=", "),
        str(table.sum()),
        np.fromstring("1 2 3", dtype=int, sep=" "),
        table.tobytes() == back.tobytes(),
        raw.getvalue()[:6],
        f"{table[0, 1]:g}",
        np.format_float_positional(table[1, 1]),
        "%d items, mean %.3f" % (table.size, table.mean()),
        repr(float(table[0, 0])),
    )


def queues_and_sets():
    ids = np.array([5, 3, 5, 9, 3, 3, 1])
    values, first, inverse, counts = np.unique(ids, return_index=True, return_inverse=True, return_counts=True)
    groups = [np.flatnonzero(inverse == g).tolist() for g in range(len(values))]
    sums = np.bincount(inverse, weights=np.arange(7.0))
    sorted_ids = np.sort(ids)[::-1]
    common, i, j = np.intersect1d(ids, [9, 5, 2], return_indices=True)
    position = dict(zip(values.tolist(), range(4), strict=False))
    split = np.split(np.arange(7), np.flatnonzero(np.diff(np.sort(ids))) + 1)
    running = np.maximum.accumulate(ids)
    shifted = np.concatenate((ids[2:], ids[:2]))
    table = np.zeros((4, 3), dtype=int)
    np.add.at(table, (inverse, np.arange(7) % 3), ids)
    chosen = np.select([ids < 3, ids > 4], [ids * 10, -ids], default=0)
    pairs = np.array(list(itertools.pairwise(ids)))
    it = [int(v) for v in np.nditer(np.array([[1, 2], [3, 4]]))]
    odd = [n for n, v in enumerate(ids) if v % 2 and n > 2]
    return (
        values,
        first,
        inverse,
        counts,
        groups,
        sums,
        sorted_ids,
        common,
        i,
        j,
        position,
        split,
        running,
        shifted,
        table,
        chosen,
        pairs,
        it,
        odd,
        np.isin(ids, [3, 9]),
        np.setdiff1d([1, 2, 3], ids),
        5 in ids,
        max(ids),
        sum(ids),
        sorted(set(ids.tolist())),
    )


def broadcasting_where_and_out():
    a, b = np.arange(12.0).reshape(3, 4), np.array([1.0, 0, 2, 0])
    out = np.full_like(a, -1)
    np.divide(a, b, out=out, where=b != 0)
    total = np.empty(3)
    total = np.sum(a, axis=1, out=np.empty(3, dtype=float))
    np.multiply(a, 2, out=a[:, ::-1])
    clipped = a.clip(min=2, max=20)
    masked_mean = a.mean(axis=0, where=a > 3)
    top = np.max(a, axis=(0, 1), initial=100)
    frac, whole = np.modf(a / 7)
    q, r = np.divmod(a.astype(int), 5)
    angle = np.arctan2(*np.meshgrid([1.0, -1], [2.0, 0.0, -2.0], indexing="ij"))
    return (
        out,
        total,
        a,
        clipped,
        masked_mean,
        top,
        frac,
        whole,
        q,
        r,
        angle,
        np.logical_or.reduce(a > 5, axis=1),
        np.hypot.outer([3.0, 5], [4.0, 12]),
    )


PROGRAMS = [
    image_filters,
    signal_cleaning,
    cellular_automaton,
    steps_in_a_maze,
    brightness_in_place,
    blur_without_real,
    text_in_and_out,
    queues_and_sets,
    broadcasting_where_and_out,
]
