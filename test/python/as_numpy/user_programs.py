"""Programs as NumPy users write them. test_user_programs.py runs this file with other modules as np, too.

`noise` is what looks random and is the same everywhere. Each function returns what is compared.
"""

import numpy as np


def noise(*shape):
    x = 43758.5453 * np.sin(12.9898 * np.arange(1.0, 1.0 + np.prod(np.array(shape))))
    return 2 * (x - np.floor(x)).reshape(shape) - 1


def k_means():
    points = noise(60, 2) + 3 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])[np.arange(60) % 3]
    centres = points[:3].copy()
    for _ in range(20):
        nearest = np.linalg.norm(points[:, None] - centres[None], axis=-1).argmin(1)
        moved = np.array([points[nearest == k].mean(0) if np.any(nearest == k) else centres[k] for k in range(3)])
        if np.allclose(moved, centres):
            break
        centres = moved
    return centres, nearest, np.bincount(nearest, minlength=3), ((points - centres[nearest]) ** 2).sum()


def kalman_filter():
    dt = 0.1
    step, seen = np.array([[1, dt], [0, 1]]), np.array([[1, 0]])
    drift = 0.01 * np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
    state, spread, track = np.array([0.0, 1.0]).reshape(-1, 1), np.diag([1.0, 1.0]), []
    for z in np.arange(25) * dt + 0.3 * noise(25):
        state, spread = step @ state, step @ spread @ step.T + drift
        gain = spread @ seen.T @ np.linalg.inv(seen @ spread @ seen.T + np.array([[0.5]]))
        state += gain.dot(z - seen @ state)
        spread -= gain @ seen @ spread
        track.append(state.flatten())
    return np.array(track), spread, np.trace(spread), np.linalg.det(spread), np.linalg.cholesky(spread)


def game_of_life():
    field, alive = np.zeros((12, 12), dtype=bool), []
    field[1, 2] = field[2, 3] = True
    field[3, 1:4] = True
    for _ in range(12):
        turns = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
        neighbours = sum(np.roll(np.roll(field, i, 0), j, 1).astype(int) for i, j in turns)
        field = (neighbours == 3) | (field & (neighbours == 2))
        alive.append(int(field.sum()))
    picture = "\n".join("".join("#" if cell else "." for cell in row) for row in field)
    return field, alive, np.argwhere(field), picture


def mandelbrot():
    y, x = np.ogrid[-1.4:1.4:24j, -2:0.8:36j]
    c = x + y * 1j
    z, left = c, np.full(c.shape, 30, dtype=int)
    for i in range(30):
        z = z**2 + c
        gone = z * np.conj(z) > 4
        left[gone & (left == 30)] = i
        z[gone] = 2
    return left, z


def histogram_equalisation():
    image = ((np.arange(48 * 64).reshape(48, 64) ** 2 % 1009) // 8).astype(np.uint8)
    counts, edges = np.histogram(image.flatten(), 256, (0, 256))
    share = counts.cumsum()
    table = ((share - share.min()) * 255 / (share.max() - share.min())).astype("uint8")
    smooth = np.interp(image.ravel(), edges[:-1], 255 * share / share[-1]).reshape(image.shape)
    dark = 255 - image[::2, ::-2]
    return counts, edges, table[image], smooth, dark, np.percentile(image, [5, 50, 95]), image + 200, image.mean(0)


def n_body():
    n = 6
    at, speed, mass = 3 * noise(n, 3), noise(n, 3) * 0, np.linspace(1, 2, n)[:, np.newaxis]
    for _ in range(10):
        apart = at[np.newaxis, :, :] - at[:, np.newaxis, :]
        inverse = ((apart**2).sum(-1) + 0.01) ** -1.5
        speed += (apart * inverse[..., None] * mass.T[..., None]).sum(1) * 0.01
        at += speed * 0.01
    i, j = np.triu_indices(n, 1)
    potential = -np.sum((mass[i] * mass[j]).squeeze() / np.linalg.norm(at[i] - at[j], axis=1))
    return at, 0.5 * np.sum(mass * speed**2), potential, np.cross(at, mass * speed).sum(axis=0), np.sum(mass * at, 0)


def markov_chain():
    chain = np.array([[0.9, 0.075, 0.025], [0.15, 0.8, 0.05], [0.25, 0.25, 0.5]])
    values, vectors = np.linalg.eig(chain.T)
    rest = np.real(vectors[:, np.argmin(np.abs(values - 1))])
    rest /= rest.sum()
    bounds, state, path = np.cumsum(chain, axis=1), 0, []
    for draw in (np.arange(30) * 0.618) % 1:
        state = np.searchsorted(bounds[state], draw)
        path.append(int(state))
    entropy = -np.sum(rest[:, None] * chain * np.log2(chain))
    return rest, np.linalg.matrix_power(chain, 50), np.array([1, 0, 0]) @ chain, path, np.bincount(path), entropy


def sudoku():
    text = "530070000600195000098000060800060003400803001700020006060000280000419005000080079"
    grid, open_ = np.zeros((9, 9), dtype=int), np.ones((9, 9, 9), dtype=bool)

    def place(row, column, digit):
        open_[row, column, :] = open_[row, :, digit] = open_[:, column, digit] = False
        open_[3 * (row // 3) : 3 * (row // 3) + 3, 3 * (column // 3) : 3 * (column // 3) + 3, digit] = False
        grid[row, column] = digit + 1

    given = np.array([int(c) for c in text]).reshape(9, 9)
    for row, column in zip(*np.nonzero(given), strict=True):
        place(row, column, given[row, column] - 1)
    while (singles := open_.sum(axis=2) == 1).any():
        row, column = np.argwhere(singles)[0]
        place(row, column, int(np.argmax(open_[row, column])))
    boxes = grid.reshape(3, 3, 3, 3).swapaxes(1, 2).reshape(9, 9)
    complete = all(set(line.tolist()) == set(range(1, 10)) for line in (*grid, *grid.T, *boxes))
    return grid, complete, np.unique(grid, return_counts=True)


def text_statistics():
    text = "the quick brown fox jumps over the lazy dog, then the dog sleeps."
    letters = np.frombuffer(text.encode(), dtype=np.uint8)
    is_letter = (letters >= ord("a")) & (letters <= ord("z"))
    places = letters[is_letter] - ord("a")
    counts = np.bincount(places, minlength=26)
    share = counts[counts > 0] / counts.sum()
    spaces = np.flatnonzero(letters == 32)
    words = np.diff(np.concatenate(([-1], spaces, [len(letters)]))) - 1
    shifted = np.where(is_letter, (letters - 97 + 3) % 26 + 97, letters).astype(np.uint8)
    pairs = np.zeros((26, 26), int)
    np.add.at(pairs, (places[:-1], places[1:]), 1)
    top = "".join(chr(97 + i) for i in np.argsort(-counts, kind="stable")[:5])
    return counts, -(share * np.log2(share)).sum(), words, shifted.tobytes().decode(), pairs, top, (letters - 97).dtype


def running_statistics():
    x, width = np.arange(50) + 10 * noise(50), 7
    count, mean, squares, means, total, totals = 0, 0.0, 0.0, [], 0, []
    for value in x:
        count += 1
        apart = value - mean
        mean += apart / count
        squares += apart * (value - mean)
        means.append(mean)
        total += value
        totals.append(total)
    sums = np.cumsum(np.insert(x, 0, 0))
    smooth = np.empty_like(x)
    smooth[0] = x[0]
    for i in range(1, len(x)):
        smooth[i] = 0.3 * x[i] + 0.7 * smooth[i - 1]
    fall = (np.maximum.accumulate(x) - x).max()
    moving = (sums[width:] - sums[:-width]) / width
    return np.array(means), np.array(totals), squares / (count - 1), moving, smooth, fall, np.corrcoef(x[:-1], x[1:])


def sliding_windows():
    a = np.arange(36).reshape(6, 6)
    windows = np.lib.stride_tricks.sliding_window_view(a, (3, 3))
    kernel = np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]])
    blocks = a.reshape(3, 2, 3, 2).mean(axis=(1, 3))
    row = np.lib.stride_tricks.sliding_window_view(noise(20), 5)
    parts = row.mean(-1), row.std(axis=1), np.median(row, axis=1), np.ptp(row, axis=-1), row.argmax(axis=1)
    return windows, np.einsum("ijkl,kl->ij", windows, kernel), blocks, windows[::2, ::2].max(axis=(2, 3)), *parts


def broadcasting():
    cube = np.arange(3)[:, None, None] * 100 + np.arange(4)[None, :, None] * 10 + np.arange(5)
    marked, moved = cube.copy(), cube.copy()
    marked[np.ix_([0, 2], [1, 3], [0, 4])] = -1
    moved[:, [0, 1], [2, 3]] = np.array([7, 8])
    grid = np.meshgrid(np.arange(3), np.arange(2), indexing="ij")
    places = [(int(a), int(b)) for a, b in np.broadcast(np.arange(2), np.arange(3)[:, None])]
    chosen = np.select([cube < 50, cube < 150], [cube, cube * 2], default=-1)
    return marked, moved, *grid, places, chosen, cube[:, None, [1, 2], ::-2], np.subtract.outer(np.arange(3), [1, 2])


def sorting_by_hand():
    """Elements are numbers: what is taken of an array stays as it was."""
    a, swaps = np.array([5, 2, 9, 1, 7, 3]), 0
    for end in range(len(a) - 1, 0, -1):
        for i in range(end):
            if a[i] > a[i + 1]:
                a[i], a[i + 1] = a[i + 1], a[i]
                swaps += 1
    b, low = np.array([4.0, 1.0, 3.0]), np.inf
    for i in range(3):
        if b[i] < low:
            low, where = b[i], i
    b[where] = 100
    total = b[0]
    for value in b[1:]:
        total += value
    fibonacci = np.zeros(12, dtype=int)
    before, here = fibonacci[0], fibonacci[0] + 1
    for i in range(1, 12):
        fibonacci[i] = here
        before, here = here, before + here
    return a, swaps, low, b, total, fibonacci


def edit_distance():
    one, other = (np.frombuffer(t, dtype="u1") for t in (b"kitten", b"sitting"))
    table = np.zeros((len(one) + 1, len(other) + 1), int)
    table[0], table[:, 0] = np.arange(len(other) + 1), np.arange(len(one) + 1)
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            change = table[i - 1, j - 1] + int(one[i - 1] != other[j - 1])
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, change)
    return table, table[-1, -1], np.equal.outer(one, other)


def shortest_paths():
    length = np.full((7, 7), np.inf, dtype=float)
    np.fill_diagonal(length, 0)
    for i, j, w in [(0, 1, 2), (1, 2, 3), (2, 3, 1), (0, 4, 10), (3, 4, 1), (5, 6, 1)]:
        length[i, j] = length[j, i] = w
    linked = np.isfinite(length) & (length > 0)
    for k in range(7):
        length = np.minimum(length, length[:, k, None] + length[None, k, :])
    seen, front, far, d = np.zeros(7, bool), np.arange(7) == 0, np.full(7, -1, dtype=int), 0
    while front.any():
        far[front] = d
        seen |= front
        front = linked[front].any(axis=0) & ~seen
        d += 1
    return length, linked.sum(1), far, np.linalg.matrix_power(linked.astype(int), 3).trace()


def polynomials():
    x = np.linspace(0, 4, 21)
    y = 3 * x**2 - 2 * x + 1 + noise(21)
    fit = np.polynomial.Polynomial.fit(x, y, 2)
    plain = np.polyfit(x, y, 2)
    squares = np.frompyfunc(lambda v: v * v, 1, 1)
    with np.nditer(y, op_flags=["readwrite"]) as walk:
        for value in walk:
            value[...] = round(float(value), 2)
    return plain, fit(x), fit.convert().coef, fit.deriv()(x), y, np.array([float(v) for v in squares(x)])


PROGRAMS = [
    *(k_means, kalman_filter, game_of_life, mandelbrot, histogram_equalisation, n_body, markov_chain, sudoku),
    *(text_statistics, running_statistics, sliding_windows, broadcasting, sorting_by_hand, edit_distance),
    *(shortest_paths, polynomials),
]
