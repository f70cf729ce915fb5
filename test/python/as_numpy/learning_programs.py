"""Programs of statistics and machine learning; test_user_programs.py runs them as those of user_programs.py."""

import itertools

import numpy as np


def noise(*shape):
    x = 43758.5453 * np.sin(12.9898 * np.arange(1.0, 1.0 + np.prod(np.array(shape))))
    return 2 * (x - np.floor(x)).reshape(shape) - 1


def logistic_regression():
    x = np.c_[np.ones(80, dtype=np.float64), noise(80, 3)]
    truth = np.array([0.5, -2.0, 1.0, 3.0])
    y = (x @ truth + 0.3 * noise(80) > 0).astype(float)
    w = np.zeros(x.shape[1], dtype=np.float64)
    losses = []
    for _i in range(25):
        p = 1 / (1 + np.exp(-x.dot(w)))
        gradient = x.T.dot(p - y) / y.size + 1e-3 * w
        hessian = (x.T * (p * (1 - p))).dot(x) / len(y) + 1e-3 * np.identity(x.shape[1], dtype=float)
        w -= np.linalg.solve(hessian, gradient)
        losses.append(-np.mean(y * np.log(p + 1e-12) + (1 - y) * np.log(1 - p + 1e-12)))
        if np.abs(gradient).max() < 1e-10:
            break
    guess = x @ w > 0
    confusion = np.zeros((2, 2), dtype=int)
    np.add.at(confusion, (y.astype(int), guess.astype(int)), 1)
    accuracy = (guess == y).mean()
    order = np.argsort(p)[::-1]
    hits = np.cumsum(y[order]) / y.sum()
    misses = np.cumsum(1 - y[order]) / (1 - y).sum()
    return w, np.array(losses), confusion, float(accuracy), np.trapezoid(hits, misses), f"{accuracy:.2%}"


def little_mlp():
    x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.float64)
    y = np.array([[0], [1], [1], [0]])
    layers = [2, 8, 1]
    weights = [2 * noise(a, b) for a, b in itertools.pairwise(layers)]
    biases = [np.zeros((1, b), dtype=np.float64) for b in layers[1:]]
    history = []
    for step in range(300):
        outputs = [x]
        for w, b in zip(weights, biases, strict=False):
            outputs.append(np.tanh(outputs[-1] @ w + b) if w.shape[1] > 1 else 1 / (1 + np.exp(-(outputs[-1] @ w + b))))
        delta = (outputs[-1] - y) / len(x)
        for i in reversed(range(len(weights))):
            gw, gb = outputs[i].T @ delta, delta.sum(axis=0, keepdims=True)
            delta = delta @ weights[i].T * (1 - outputs[i] ** 2)
            weights[i] -= 1.0 * gw
            biases[i] -= 1.0 * gb
        if step % 50 == 0:
            history.append(float(np.mean((outputs[-1] - y) ** 2)))
    one_hot = np.eye(2)[np.array([0, 1, 1, 0])]
    return history, outputs[-1].round(6), (outputs[-1] > 0.5).astype(int).ravel().tolist(), one_hot.sum(0).astype("f8")


def pca():
    x = noise(50, 5) @ np.diag([3.0, 2.0, 1.0, 0.5, 0.1]) + np.arange(5)
    centred = x - x.mean(axis=0)
    covariance = np.cov(centred, rowvar=False)
    values, vectors = np.linalg.eigh(covariance)
    order = np.argsort(values)[::-1]
    values, vectors = values[order], vectors[:, order]
    vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(5)])
    scores = centred @ vectors[:, :2]
    u, s, vt = np.linalg.svd(centred, full_matrices=False)
    explained = values / values.sum()
    back = scores @ vectors[:, :2].T + x.mean(0)
    return (
        values,
        vectors,
        scores,
        s**2 / (len(x) - 1),
        explained.cumsum(),
        np.linalg.norm(x - back),
        np.corrcoef(x.T)[0],
        np.allclose(np.abs(vt.T), np.abs(vectors)),
        int(np.searchsorted(explained.cumsum(), 0.9)) + 1,
    )


def bag_of_words():
    texts = [
        "the cat sat on the mat",
        "the dog sat on the log",
        "cats and dogs are not the same",
        "on and on a dog went and on",
    ]
    words = sorted({w for t in texts for w in t.split()})
    place = {w: i for i, w in enumerate(words)}
    counts = np.zeros((len(texts), len(words)), dtype=np.int32)
    for row, text in enumerate(texts):
        for w in text.split():
            counts[row, place[w]] += 1
    present = counts > 0
    df = present.sum(axis=0)
    idf = np.log((1 + len(texts)) / (1 + df)) + 1
    tfidf = counts * idf
    tfidf /= np.linalg.norm(tfidf, axis=1, keepdims=True)
    similar = tfidf @ tfidf.T
    np.fill_diagonal(similar, -1)
    nearest = similar.argmax(axis=1)
    top = np.argsort(-tfidf, axis=1, kind="stable")[:, :3]
    names = [[words[j] for j in row] for row in top]
    together = counts.T @ counts
    pairs = np.argwhere(np.triu(together, 1) >= 2)
    return (
        counts,
        idf,
        similar,
        nearest.tolist(),
        names,
        [(words[i], words[j]) for i, j in pairs],
        counts.sum(),
        np.unique(counts, return_counts=True),
        df.dtype,
        counts.max(initial=0),
        np.bincount(counts.ravel()),
    )


def nearest_neighbours():
    train, test = noise(40, 3), noise(55, 3)[40:]
    labels = (train[:, 0] + train[:, 1] > 0) * 1 + (train[:, 2] > 0.5)
    squared = (test**2).sum(1)[:, None] + (train**2).sum(1) - 2 * test @ train.T
    near = np.argpartition(squared, 5, axis=1)[:, :5]
    near = np.take_along_axis(near, np.take_along_axis(squared, near, 1).argsort(1), 1)
    votes = labels[near]
    counts = np.apply_along_axis(np.bincount, 1, votes, minlength=3)
    winner = counts.argmax(-1)
    weights = 1 / np.sqrt(np.maximum(np.take_along_axis(squared, near, axis=1), 1e-12))
    score = np.array([np.bincount(v, weights=w, minlength=3) for v, w in zip(votes, weights, strict=False)])
    folds = np.array_split(np.arange(40), 4)
    rates = []
    for _i, fold in enumerate(folds):
        rest = np.setdiff1d(np.arange(40), fold)
        d = np.linalg.norm(train[fold][:, None, :] - train[rest][None, :, :], axis=2)
        rates.append(np.mean(labels[rest][d.argmin(1)] == labels[fold]))
    return near, votes, counts, winner, score, rates, np.mean(rates), [len(f) for f in folds]


def table_of_sales():
    months, shops = 12, 4
    sales = np.abs(100 * noise(months, shops)).round(2)
    sales[3, 1] = sales[7, 2] = np.nan
    filled = np.where(np.isnan(sales), np.nanmean(sales, axis=0), sales)
    quarters = filled.reshape(4, 3, shops).sum(axis=1)
    share = quarters / quarters.sum(axis=1, keepdims=True)
    best = np.unravel_index(np.nanargmax(sales), sales.shape)
    ranks = filled.sum(0).argsort().argsort()
    growth = np.diff(quarters, axis=0) / quarters[:-1] * 100
    z = (filled - filled.mean(0)) / filled.std(0, ddof=1)
    outside = np.argwhere(np.abs(z) > 1.5)
    moving = np.cumsum(np.pad(filled, ((1, 0), (0, 0))), axis=0)
    moving = (moving[3:] - moving[:-3]) / 3
    bins = np.array([0, 25, 50, 75, 101])
    classes = np.digitize(filled, bins) - 1
    table = np.stack([np.bincount(classes[:, s], minlength=4) for s in range(shops)])
    key = np.lexsort((filled[:, 0], classes[:, 1]))
    lines = ["{:>3d} {:8.2f} {}".format(int(m), float(filled[m, 0]), "*" * int(filled[m, 0] // 10)) for m in key[:4]]
    return (
        filled,
        quarters,
        share,
        tuple(int(i) for i in best),
        ranks,
        growth,
        outside,
        moving,
        table,
        key,
        lines,
        np.nanmedian(sales, axis=1),
        np.nan_to_num(sales).sum(),
        np.round(filled.max(axis=0), 1).tolist(),
    )


def decision_stump_boosting():
    x = noise(60, 2)
    y = np.where(x[:, 0] ** 2 + x[:, 1] ** 2 < 0.5, 1, -1)
    w = np.full(len(y), 1.0 / len(y), dtype=float)
    stumps = []
    for _ in range(6):
        best = (np.inf,)
        for f in range(2):
            cuts = np.unique(x[:, f].round(1))
            for sign in (1, -1):
                guess = sign * np.where(x[:, f, None] > cuts, 1, -1)
                errors = ((guess != y[:, None]) * w[:, None]).sum(0)
                k = errors.argmin()
                if errors[k] < best[0] - 1e-12:
                    best = (errors[k], f, cuts[k], sign)
        error, f, cut, sign = best
        alpha = 0.5 * np.log((1 - error) / error)
        w *= np.exp(-alpha * y * sign * np.where(x[:, f] > cut, 1, -1))
        w /= w.sum()
        stumps.append((float(alpha), f, float(cut), sign))
    total = sum(a * s * np.where(x[:, f] > c, 1, -1) for a, f, c, s in stumps)
    return stumps, np.sign(total).astype(int), w.max(), np.mean(np.sign(total) == y)


PROGRAMS = [
    logistic_regression,
    little_mlp,
    pca,
    bag_of_words,
    nearest_neighbours,
    table_of_sales,
    decision_stump_boosting,
]
