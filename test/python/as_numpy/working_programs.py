"""Programs of people at work: pictures, signals, models, texts, files, and what they do with numbers of arrays.

As user_programs.py; test_user_programs.py runs this file with other modules as np, too.
"""

import collections
import copy
import io
import json
import math
import pickle
import tempfile
import threading
from pathlib import Path

import numpy as np


def noise(*shape):
    x = 43758.5453 * np.sin(12.9898 * np.arange(1.0, 1.0 + np.prod(np.array(shape))))
    return 2 * (x - np.floor(x)).reshape(shape) - 1


def elimination_with_pivots():
    a, b = noise(5, 5), noise(5)
    m, order, x = a.copy(), np.arange(5), b.copy()
    for k in range(4):
        p = k + np.argmax(np.abs(m[k:, k]))
        if p != k:
            m[[k, p]], order[[k, p]] = m[[p, k]], order[[p, k]]
            x[k], x[p] = x[p], x[k]
        for i in range(k + 1, 5):
            m[i, k] /= m[k, k]
            m[i, k + 1 :] -= m[i, k] * m[k, k + 1 :]
            x[i] -= m[i, k] * x[k]
    for i in range(4, -1, -1):
        x[i] = (x[i] - m[i, i + 1 :] @ x[i + 1 :]) / m[i, i]
    lower, upper = np.tril(m, -1) + np.eye(5, dtype=float), np.triu(m)
    return x, order, m, np.allclose(lower @ upper, a[order]), np.prod(np.diag(upper)), np.abs(a @ x - b).max() < 1e-12


def conjugate_gradients():
    """Numbers that products gave stay what they were."""
    a, x = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]]), np.zeros(3, dtype=float)
    r = np.array([1.0, 2, 3]) - a @ x
    p, size, sizes = r, r @ r, []
    for _ in range(3):
        sizes.append(size)
        step = size / (p @ (a @ p))
        x, r = x + step * p, r - step * (a @ p)
        before, size = size, r @ r
        p = r + size / before * p
    total = sizes[0]
    total += sizes[1]
    return x, sizes, total, f"{np.linalg.norm(a @ x - [1, 2, 3]):.1e}" < "1e-10", np.linalg.solve(a, [1, 2, 3])


def edges_of_a_picture():
    picture = (np.arange(32 * 24 * 3) % 256).reshape(32, 24, 3).astype(np.uint8)
    grey = (0.299 * picture[..., 0] + 0.587 * picture[..., 1] + 0.114 * picture[..., 2]).astype(np.uint8)
    kernel = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]], dtype=np.float32)
    across = np.zeros((30, 22), dtype=np.float64)
    for i in range(3):
        for j in range(3):
            across += kernel[i, j] * grey[i : i + 30, j : j + 22]
    down = sum(kernel.T[i, j] * grey[i : i + 30, j : j + 22] for i in range(3) for j in range(3))
    size, angle = np.hypot(across, down), np.arctan2(down, across) * 180 / np.pi
    angle[angle < 0] += 180
    sector = np.digitize(angle, [22.5, 67.5, 112.5, 157.5]) % 4
    marked = picture[1:-1, 1:-1].copy()
    marked[size > np.percentile(size, 80)] = [255, 0, 0]
    bright = np.clip(picture.astype(np.int16) + 60, 0, 255).astype(np.uint8)
    mixed = np.where((grey > 128)[..., None], picture, 255 - picture)
    framed = np.pad(grey, ((2, 2), (3, 3)), mode="edge")
    smaller = picture.reshape(16, 2, 12, 2, 3).mean(axis=(1, 3)).round().astype(np.uint8)
    top = np.unravel_index(size.argmax(), size.shape)
    return grey, across, down, sector, marked, bright, mixed, framed, smaller, top, picture.max(axis=(0, 1))


def dithering():
    """Errors go on to neighbours that are not done yet: element by element, through the same memory."""
    picture = np.arange(48, dtype=float).reshape(6, 8) / 47
    for i in range(6):
        for j in range(8):
            old = picture[i, j]
            picture[i, j] = new = np.round(old)
            error = old - new
            if j < 7:
                picture[i, j + 1] += error * 7 / 16
            if i < 5:
                first, last = max(j - 1, 0), min(j + 2, 8)
                picture[i + 1, first:last] += error * np.array([3, 5, 1])[first - j + 1 : last - j + 1] / 16
    return picture, picture.sum(), "".join(".#"[int(v)] for v in picture[0])


def signal_filter():
    t = np.linspace(0, 1, 256, endpoint=False)
    signal = np.sin(2 * np.pi * 5 * t) + 0.5 * np.sin(2 * np.pi * 40 * t)
    spectrum, f = np.fft.rfft(signal), np.fft.rfftfreq(len(t), d=t[1] - t[0])
    peaks = f[np.argsort(np.abs(spectrum))[-2:]]
    spectrum[f > 20] = 0
    low = np.fft.irfft(spectrum, n=len(t))
    envelope = np.abs(np.fft.fftshift(np.fft.fft(signal * np.hanning(256))))
    both = np.fft.ifft(np.fft.fft(signal) * np.fft.fft(low)).real
    fit, *_ = np.linalg.lstsq(np.vstack([t, np.ones(len(t))]).T, signal, rcond=None)
    slope, start = fit
    return low, np.sort(peaks), envelope, both, slope, start, np.convolve(low[:9], [1, 2, 1], "same"), np.gradient(low)


def layers_with_adam():
    class Layer:
        def __init__(self, n, m):
            self.w, self.b = noise(n, m), np.zeros(m, dtype=float)

        def __call__(self, x):
            self.x = x
            return np.maximum(x @ self.w + self.b, 0)

        def backward(self, g):
            self.grads = [self.x.T @ g, g.sum(0)]
            return g @ self.w.T

    first, second, x, losses = Layer(3, 4), Layer(4, 2), noise(6, 3), []
    weights = [first.w, first.b, second.w, second.b]
    m, v = [np.zeros_like(p) for p in weights], [np.zeros_like(p) for p in weights]
    for step in range(1, 16):
        y = second(first(x))
        losses.append(((y - 1) ** 2).mean())
        first.backward(second.backward(2 * (y - 1) / y.size * (y > 0)) * (first(x) > 0))
        for p, g, mean, square in zip(weights, first.grads + second.grads, m, v, strict=True):
            mean *= 0.9
            mean += 0.1 * g
            square *= 0.999
            square += 0.001 * g**2
            p -= 0.01 * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    norm = np.sqrt(sum((p**2).sum() for p in weights))
    flat = np.concatenate([p.ravel() for p in weights])
    parts = np.split(flat, np.cumsum([p.size for p in weights])[:-1])
    return [float(v) for v in losses], losses[-1] < losses[0], norm, parts, first.w, f"{losses[-1]:.4f} after {step:3d}"


def windows_and_attention():
    x, w = noise(2, 3, 6, 6), noise(4, 3, 3, 3)
    columns = np.zeros((2, 3, 3, 3, 4, 4), dtype=x.dtype)
    for i in range(3):
        for j in range(3):
            columns[:, :, i, j] = x[:, :, i : i + 4, j : j + 4]
    y = (
        (columns.transpose(0, 4, 5, 1, 2, 3).reshape(32, -1) @ w.reshape(4, -1).T)
        .reshape(2, 4, 4, 4)
        .transpose(0, 3, 1, 2)
    )
    other = np.einsum("nchwij,fcij->nfhw", np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3)), w)
    pooled = y.reshape(2, 4, 2, 2, 2, 2).max(axis=(3, 5))
    normed = (y - y.mean((0, 2, 3), keepdims=True)) / np.sqrt(y.var((0, 2, 3), keepdims=True) + 1e-5)
    scores = np.einsum("bqd,bkd->bqk", noise(2, 3, 4), noise(2, 5, 4)) / math.sqrt(4)
    scores[:, np.triu(np.ones((3, 5), dtype=bool), 1)] = -np.inf
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    return y, np.allclose(y, other), pooled, normed, shares, np.isneginf(scores).sum()


def bits():
    x, drawn = np.uint64(88172645463325252), []
    for _ in range(4):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        drawn.append(int(x))
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(0xEDB88320), table >> 1)
    crc = np.uint32(0xFFFFFFFF)
    for byte in b"123456789":
        crc = table[(crc ^ np.uint32(byte)) & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
    n = np.arange(16)
    places = ((n[:, None] & (1 << np.arange(4))) > 0).astype(int)
    runs = np.array([1, 1, 0, 0, 0, 1])
    lengths = np.diff(np.concatenate(([0], np.flatnonzero(np.diff(runs)) + 1, [len(runs)])))
    packed = np.packbits(places.astype(np.uint8), axis=1)
    swapped = np.frombuffer(b"\x00\x01\x00\x02", dtype=">u2") + np.array([1, 1], dtype=np.uint16)
    return (
        drawn,
        hex(int(crc ^ np.uint32(0xFFFFFFFF))),
        n ^ (n >> 1),
        places @ (1 << np.arange(4)),
        lengths,
        packed,
        swapped,
    )


def weights_of_words():
    texts = ["the cat sat", "the dog sat on the log", "cats and dogs"]
    words = sorted({w for t in texts for w in t.split()})
    counts = np.zeros((3, len(words)), dtype=np.float64)
    for i, text in enumerate(texts):
        for word in text.split():
            counts[i, words.index(word)] += 1
    found = (counts > 0).sum(axis=0)
    x = counts * np.log(3 / found)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    likeness = x @ x.T
    table = "\n".join(f"{words[j]:<6}{found[j]:>3d}{x[0, j]:8.3f}" for j in range(4))
    shown = "\n".join(" ".join(f"{v:5.2f}" for v in row) for row in likeness)
    best = [words[i] for i in np.argsort(-x[1], kind="stable")[:3]]
    return x, table, shown, best, str(likeness.round(2)), "%5.1f %d" % (likeness[0, 1], found[0])


def numbers_of_arrays():
    """What is taken of an array is a number wherever Python wants one."""
    i, f = np.arange(5), np.linspace(0, 1, 5)
    names, counted = list("abcde"), collections.Counter(int(v) for v in i % 2)
    texts = (
        f"{i[3]:03d} {f[1]:.1%} {f[2]:>8.3e}|{i[2]:<4}|",
        "%d %s %.1f" % (i[1], f[1], f[2]),
        f"{i[4] * 1000:,}",
    )
    places = (
        names[i[2]],
        names[i[1] : i[4]],
        [names[j] for j in np.argsort(-f)],
        list(range(i[3])),
        [0] * i[2],
        "ab" * i[2],
    )
    maths = (
        math.sqrt(f[1]),
        math.hypot(f[1], f[2]),
        round(f[1], 1),
        divmod(i[3], 2),
        abs(-f[1]),
        2 ** i[3],
        -(i[2] ** 2),
    )
    asked = i[2] in (1, 2), {2: "x"}[i[2]], len({i[2], 2}), 1 < i[2] < 3, not i[0], f[2].is_integer(), np.isscalar(f[1])
    shapes = np.zeros((i[2], 3), dtype=int).shape, np.reshape(i[:4], (i[2], -1)), np.repeat(f[:2], i[2]), f[i[1] : i[3]]
    kept = json.dumps({"mean": float(f.mean()), "all": i.tolist(), "top": int(i.max())})
    return texts, places, maths, asked, shapes, kept, counted, sum(f), max(i), sorted(f, reverse=True), [*i][1] + 1


def kept_and_sent():
    a = noise(4, 3)
    folder = Path(tempfile.mkdtemp())
    np.save(folder / "a.npy", a)
    np.savez(folder / "z.npz", a=a, b=np.array([1, 2, 3], dtype=np.int16))
    np.savetxt(folder / "t.csv", a, delimiter=",", fmt="%.6f", header="x,y,z")
    with np.load(folder / "z.npz") as archive:
        names, small = sorted(archive.files), archive["b"]
    text = (
        np.loadtxt(folder / "t.csv", delimiter=","),
        np.genfromtxt(io.StringIO("1,2,\n4,,6"), delimiter=",", filling_values=0),
    )
    sent = pickle.loads(pickle.dumps([a, a[1:, ::2], a.T, {"sum": a.sum(), "one": a[0, 0]}]))
    twin = copy.deepcopy({"a": a, "row": a[0]})
    twin["a"][1] = 5
    sums = [None] * 4

    def work(k):
        sums[k] = float((a[k] * a[k]).sum())

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return (
        np.load(folder / "a.npy"),
        names,
        small,
        *text,
        *sent[:3],
        sent[3]["sum"],
        sent[3]["one"],
        twin["a"],
        twin["row"],
        sums,
    )


def what_is_refused():
    """The errors that programs catch."""
    caught, x = [], np.arange(3, dtype=np.int32)
    for attempt in (
        lambda: np.arange(3) + np.arange(4),
        lambda: np.ones((2, 3), float) @ np.ones((2, 3), float),
        lambda: x[5],
        lambda: x.reshape(2, 2),
        lambda: bool(x),
        lambda: int(x),
        lambda: x.__iadd__(0.5),
        lambda: np.concatenate([np.ones(2, float), np.ones((2, 2), float)]),
        lambda: x.no_such_method,
        lambda: np.linalg.inv(np.zeros((2, 2), float)),
        lambda: np.broadcast_to(x, (2, 3)).__setitem__(0, 1),
        lambda: x + {1: 2},
    ):
        try:
            attempt()
            caught.append(None)
        except (ValueError, IndexError, TypeError, AttributeError) as error:
            kinds = (ValueError, IndexError, TypeError, AttributeError)
            caught.append(next(kind.__name__ for kind in kinds if isinstance(error, kind)))
    return caught, x


def cartesian_product():
    rows = [np.array([1, 2, 3]), np.array([4, 5]), np.array([6, 7])]
    places = np.indices((len(row) for row in rows), dtype=int)
    places = places.reshape(len(rows), -1).T
    for k, row in enumerate(rows):
        places[:, k] = row[places[:, k]]
    return places, np.unique(places.sum(1), return_counts=True)


def texts_of_float32():
    """f"{x}" of a float32 has more digits than str(x); limits are float32, too."""
    x = np.array([0.1, -2.5, 1e10], dtype=np.float32)
    limits = np.finfo(np.float32)
    half = np.ones(2, np.float16) * limits.eps
    texts = [f"{x[0]}", str(x[0]), f"{x.sum()}", f"{x[0]:.3f}", f"{x.max():>14}", str(limits.eps), str(limits.max)]
    return texts, half, x * limits.eps, f"{np.array([7])[0]}", f"{np.array([True])[0]:>6}"


def grades():
    """Rules in order, quantiles as fractions of another dtype, weights beside what is missing."""
    points = np.array([[12, 71, 55], [90, 33, 47], [64, 80, 100]], dtype=np.uint8)
    marks = np.select([points < 40, points < 60, points < 80], [5, 4, 2], default=1)
    share = np.select([points > 50], [points.astype(np.float32) / 100], 0.5)
    limits = np.quantile(share, np.array([0.25, 0.5])), np.percentile(share, np.float64(30)), np.median(share)
    seen, missing = np.array([[np.inf, 1.0, 2.0], [4.0, 3.0, 5.0]]), np.array([np.nan, np.inf, 3], dtype=np.float32)
    means = np.average(seen, axis=1, weights=[0.5, 1, 1], returned=True)
    best = np.max(points, axis=0, initial=75), np.sum(points, axis=1, initial=1000), np.prod(points[0], initial=2.5)
    columns = np.sum(share, axis=0, out=np.zeros(3, dtype=np.int64))
    return marks, share, *limits, means, *best, columns, np.nan_to_num(missing, nan=np.float64(0.5), posinf=9)


def errors_of_floats():
    """What errstate raises, and what it hears."""
    x, zeros, heard = np.array([1.0, 0.0, -1.0]), np.zeros(3, dtype=float), []
    raised = []
    with np.errstate(all="raise", under="ignore"):
        for attempt in (
            lambda: x / zeros,
            lambda: np.log(x),
            lambda: np.sqrt(x),
            lambda: np.exp(x * 1000),
            lambda: np.array([1, 2]) // np.array([0, 1]),
            lambda: x[0] / zeros[0],
            lambda: np.divide(x, x, out=np.zeros(3, dtype=float), where=x != 0),
        ):
            try:
                raised.append(attempt())
            except FloatingPointError as error:
                raised.append(str(error))
    with np.errstate(call=lambda kind, flag: heard.append((kind, flag)), divide="call", invalid="call"):
        lost = np.isnan(x / zeros)
    return raised, heard, lost


PROGRAMS = [
    *(elimination_with_pivots, conjugate_gradients, edges_of_a_picture, dithering, signal_filter, layers_with_adam),
    *(windows_and_attention, bits, weights_of_words, numbers_of_arrays, kept_and_sent),
    *(what_is_refused, cartesian_product, texts_of_float32, grades, errors_of_floats),
]
