"""Programs of numerical methods and simulations; test_user_programs.py runs them as those of user_programs.py."""

import numpy as np


def noise(*shape):
    x = 43758.5453 * np.sin(12.9898 * np.arange(1.0, 1.0 + np.prod(np.array(shape))))
    return 2 * (x - np.floor(x)).reshape(shape) - 1


def option_prices():
    steps, paths = 16, 400
    s0, strike, rate, sigma, t = 100.0, 105.0, 0.03, 0.2, 1.0
    u1 = (noise(steps, paths // 2) + 1) / 2
    u1 = np.clip(u1, 1e-9, 1 - 1e-9)
    u2 = np.roll(u1, 7, axis=1)
    normal = np.sqrt(-2 * np.log(u1)) * np.cos(2 * np.pi * u2)
    normal = np.concatenate([normal, -normal], axis=1)
    dt = t / steps
    growth = (rate - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * normal
    price = s0 * np.exp(np.cumsum(growth, axis=0))
    price = np.vstack([np.full(paths, s0), price])
    payoff = np.maximum(price[-1] - strike, 0)
    asian = np.maximum(price[1:].mean(0) - strike, 0)
    barrier = np.where((price > 130).any(axis=0), 0.0, payoff)
    discount = np.exp(-rate * t)
    error = discount * payoff.std(ddof=1) / np.sqrt(paths)
    exercise, cash = np.zeros(paths, dtype=bool), np.maximum(strike - price[-1], 0)
    for i in range(steps - 1, 0, -1):
        cash *= np.exp(-rate * dt)
        now = strike - price[i]
        inside = now > 0
        if inside.sum() > 5:
            fit = np.polyfit(price[i, inside], cash[inside], 2)
            stop = np.zeros_like(inside)
            stop[inside] = now[inside] > np.polyval(fit, price[i, inside])
            cash[stop] = now[stop]
            exercise |= stop
    low, high = np.percentile(price[-1], [2.5, 97.5])
    return (
        discount * payoff.mean(),
        error,
        discount * asian.mean(),
        discount * barrier.mean(),
        cash.mean(),
        exercise.sum(),
        low,
        high,
        np.histogram(price[-1], bins=8)[0],
        np.quantile(payoff, 0.9, method="higher"),
    )


def heat_equation():
    n = 20
    u = np.zeros((n, n), dtype=np.float64)
    u[0, :], u[-1, :], u[:, 0], u[:, -1] = 100, 0, 75, 50
    changes = []
    for _ in range(60):
        old = u.copy()
        u[1:-1, 1:-1] = 0.25 * (old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2])
        changes.append(np.max(np.abs(u - old)))
        if changes[-1] < 1e-3:
            break
    gy, gx = np.gradient(u)
    a = (
        np.diag(-2 * np.ones(6, dtype=float))
        + np.diag(np.ones(5, dtype=float), 1)
        + np.diag(np.ones(5, dtype=float), -1)
    )
    modes = np.linalg.eigvalsh(a)
    return np.array(changes), u, gx[5], gy[:, 5], modes, u[[0, -1]][:, [0, -1]], u.trace(), np.count_nonzero(u > 50)


def pagerank():
    links = {0: [1, 2], 1: [2], 2: [0], 3: [0, 2, 4], 4: []}
    n = len(links)
    m = np.zeros((n, n), dtype=np.float64)
    for page, targets in links.items():
        if targets:
            m[targets, page] = 1 / len(targets)
        else:
            m[:, page] = 1.0 / n
    rank = np.full(n, 1 / n, dtype=np.float64)
    turn = 0
    while turn < 100:
        turn += 1
        new = 0.85 * m @ rank + 0.15 / n
        if np.linalg.norm(new - rank, 1) < 1e-12:
            break
        rank = new
    order = rank.argsort()[::-1]
    exact = np.linalg.solve(np.eye(n, dtype=float) - 0.85 * m, np.full(n, 0.15 / n, dtype=float))
    distance = np.where(m.T > 0, 1.0, np.inf)
    np.fill_diagonal(distance, 0)
    for k in range(n):
        distance = np.minimum(distance, distance[:, k, None] + distance[None, k, :])
    return rank, turn, order, np.abs(exact - rank).max() < 1e-9, distance, np.isinf(distance).sum(1)


def linear_programme():
    a = np.array([[1.0, 1, 1, 0, 0], [1, 3, 0, 1, 0], [2, 1, 0, 0, 1]])
    b, c = np.array([4.0, 6, 5]), np.array([-3.0, -5, 0, 0, 0])
    table = np.vstack([np.hstack([a, b[:, None]]), np.append(c, 0)])
    basis = [2, 3, 4]
    pivots = []
    while (table[-1, :-1] < -1e-9).any():
        j = int(np.argmin(table[-1, :-1]))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(table[:-1, j] > 1e-9, table[:-1, -1] / table[:-1, j], np.inf)
        i = ratios.argmin()
        table[i] /= table[i, j]
        others = np.arange(len(table)) != i
        table[others] -= np.outer(table[others, j], table[i])
        basis[i] = j
        pivots.append((int(i), j))
    x = np.zeros(5, dtype=float)
    x[basis] = table[:-1, -1]
    return x, table[-1, -1], pivots, table


def gram_schmidt_and_friends():
    a = noise(6, 4)
    q = np.empty_like(a)
    for j in range(a.shape[1]):
        v = a[:, j] - q[:, :j] @ (q[:, :j].T @ a[:, j])
        q[:, j] = v / np.sqrt(v @ v)
    r = q.T @ a
    s = a.T @ a
    _values, v = [], np.ones(4, dtype=float)
    for _ in range(50):
        v = s @ v
        v /= np.linalg.norm(v)
    x, residual, p = np.zeros(4, dtype=float), s @ np.ones(4, dtype=float), None
    p, rs = residual.copy(), residual @ residual
    for _ in range(10):
        sp = s @ p
        alpha = rs / p.dot(sp)
        x += alpha * p
        residual -= alpha * sp
        new = residual @ residual
        if np.sqrt(new) < 1e-12:
            break
        p = residual + new / rs * p
        rs = new
    low = np.linalg.cholesky(s)
    y = np.zeros(4, dtype=float)
    for i in range(4):
        y[i] = (1 - low[i, :i] @ y[:i]) / low[i, i]
    t, k = 2 * np.pi * np.arange(8)[:, None] * np.arange(8) / 8, np.arange(8)
    dft = np.exp(-1j * t)
    return (
        q,
        np.tril(r, -1).round(9) + 0.0,
        v @ s @ v,
        x,
        y,
        np.abs(dft @ k - np.fft.fft(k)).max() < 1e-9,
        (dft.conj().T @ dft).real.round(6),
        np.kron(np.eye(2, dtype=int), [[1, 2]]),
        np.linalg.matrix_rank(a),
        np.linalg.det(s),
        np.vander([1, 2, 3], 3),
    )


def polynomials_and_curves():
    x = np.linspace(0, 4, 9)
    y = 2 * x**2 - 3 * x + 1 + 0.01 * noise(9)
    fit, residual, rank, _, _ = np.polyfit(x, y, 2, full=True)
    p = np.poly1d([1, -6, 11, -6])
    roots = np.sort(p.roots.real)
    area = np.trapezoid(y, x), np.trapezoid(y, dx=0.5)
    simpson = 0.5 / 3 * (y[0] + y[-1] + 4 * y[1:-1:2].sum() + 2 * y[2:-1:2].sum())
    h = np.diff(x)
    slopes = np.diff(y) / h
    n = len(x)
    a = np.zeros((n, n), dtype=float)
    a[0, 0] = a[-1, -1] = 1
    i = np.arange(1, n - 1)
    a[i, i - 1], a[i, i], a[i, i + 1] = h[:-1], 2 * (h[:-1] + h[1:]), h[1:]
    b = np.r_[0, 6 * np.diff(slopes), 0]
    m = np.linalg.solve(a, b)
    at = np.array([0.3, 1.7, 3.9])
    k = np.clip(np.searchsorted(x, at) - 1, 0, n - 2)
    t = at - x[k]
    spline = (
        y[k]
        + t * (slopes[k] - h[k] * (2 * m[k] + m[k + 1]) / 6)
        + t**2 * m[k] / 2
        + t**3 * (m[k + 1] - m[k]) / (6 * h[k])
    )
    guess = 1.5
    for _ in range(20):
        guess -= (guess**3 - guess - 2) / (3 * guess**2 - 1)
    return (
        fit,
        residual,
        int(rank),
        p(2.5),
        p.deriv()(1),
        roots,
        area,
        simpson,
        spline,
        guess,
        np.polyval(fit, at),
        np.roots([1, 0, -2]),
    )


def chemistry_by_euler():
    rates = np.array([[-0.5, 0.1, 0.0], [0.5, -0.3, 0.2], [0.0, 0.2, -0.2]])
    state, dt, path = np.array([1, 0, 0], dtype=float), 0.05, []
    for step in range(100):
        k1 = rates @ state
        k2 = rates @ (state + dt / 2 * k1)
        k3 = rates @ (state + dt / 2 * k2)
        k4 = rates @ (state + dt * k3)
        state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if step % 25 == 0:
            path.append(state)
    values, vectors = np.linalg.eig(rates)
    exact = (vectors @ np.diag(np.exp(values * dt * 100)) @ np.linalg.inv(vectors) @ np.array([1, 0, 0])).real
    return (
        np.array(path),
        np.stack(path).shape,
        np.abs(exact - state).max() < 1e-6,
        np.allclose(state.sum(), 1),
        np.round(state, 4),
    )


def ising():
    n, spins = 12, np.where(noise(12, 12) > 0, 1, -1)
    draws = (noise(40, 12, 12) + 1) / 2
    checker = np.add.outer(np.arange(n), np.arange(n)) % 2
    energies = []
    for sweep in range(20):
        for colour in (0, 1):
            around = sum(np.roll(spins, s, a) for s in (1, -1) for a in (0, 1))
            cost = 2 * spins * around
            accept = (draws[2 * sweep + colour] < np.exp(-cost / 2.0)) & (checker == colour)
            spins[accept] *= -1
        energies.append(-(spins * (np.roll(spins, 1, 0) + np.roll(spins, 1, 1))).sum() / n**2)
    field = np.abs(np.fft.fftshift(np.fft.fft2(spins))) ** 2 / n**2
    return spins, np.array(energies), spins.mean(), field, np.array_split(energies, 3)[1], int((spins == 1).sum())


def rotations():
    def about_z(t):
        c, s = np.cos(t), np.sin(t)
        return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])

    angles = np.deg2rad([0, 30, 45, 90])
    turns = np.array([about_z(t) for t in angles])
    points = noise(5, 3)
    turned = points @ turns.transpose(0, 2, 1)
    many = np.einsum("tij,pj->tpi", turns, points)
    axis = np.array([1.0, 1, 1])
    axis /= np.linalg.norm(axis)
    k = np.zeros((3, 3))
    k[[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]] = np.array([-1, 1, 1, -1, -1, 1]) * axis[[2, 1, 2, 0, 1, 0]]
    rodrigues = np.eye(3) + np.sin(0.5) * k + (1 - np.cos(0.5)) * k @ k
    u, _, vt = np.linalg.svd(points.T @ turned[2])
    found = vt.T @ np.diag([1, 1, np.sign(np.linalg.det(vt.T @ u.T))]) @ u.T
    distance = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
    q = np.array([np.cos(0.25), *(np.sin(0.25) * axis)])
    return (
        np.allclose(turned, many),
        np.allclose(found, turns[2]),
        np.allclose(rodrigues @ rodrigues.T, np.eye(3), atol=1e-6),
        np.linalg.det(turns),
        distance,
        np.cross(points[0], points[1:]),
        q @ q,
        np.arctan2(turned[..., 1], turned[..., 0]),
    )


PROGRAMS = [
    option_prices,
    heat_equation,
    pagerank,
    linear_programme,
    gram_schmidt_and_friends,
    polynomials_and_curves,
    chemistry_by_euler,
    ising,
    rotations,
]
