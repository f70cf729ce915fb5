"""What a NumPy user writes in the first hour. `numpy_user.py numpy` and `numpy_user.py nervanagpu` print the same."""

import importlib
import sys

np = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "nervanagpu")


def noise(*shape):
    """Numbers between -1 and 1 that look random, the same everywhere."""
    x = 43758.5453 * np.sin(12.9898 * np.arange(1.0, 1.0 + np.prod(np.array(shape))))
    return 2 * (x - np.floor(x)).reshape(shape) - 1


def k_means(points, count, turns=8):
    """Centres of `count` clusters and how many points each has."""
    centres = points[:count].copy()
    for _ in range(turns):
        nearest = ((points[:, np.newaxis, :] - centres) ** 2).sum(axis=2).argmin(axis=1)
        centres = np.stack([points[nearest == i].mean(axis=0) for i in range(count)])
    return centres, (nearest[:, np.newaxis] == np.arange(count)).sum(axis=0)


def kalman(measured, dt=0.1, noise_of_measurement=0.05):
    """Position and velocity of what moves evenly, from measured positions."""
    step, seen = np.array([[1.0, dt], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    state, spread = np.zeros((2, 1)), np.eye(2)
    for position in measured:
        state, spread = step @ state, step @ spread @ step.T + 1e-4 * np.eye(2)
        gain = spread @ seen.T @ np.linalg.inv(seen @ spread @ seen.T + noise_of_measurement)
        state = state + gain @ (position - seen @ state)
        spread = (np.eye(2) - gain @ seen) @ spread
    return state.ravel()


def blurred(image, sigma):
    """The image, each place the mean of its neighbours by a Gaussian, around its edges too: a product of spectra."""
    waves = [np.exp(-2 * (np.pi * sigma * np.fft.fftfreq(side)) ** 2) for side in image.shape]
    return np.fft.ifft2(np.fft.fft2(image) * waves[0][:, np.newaxis] * waves[1]).real


def regression(x, y):
    """Coefficients of the parabola nearest to the points, and the share of the variance that it explains."""
    columns = np.stack([np.ones_like(x), x, x**2], axis=1)
    fit, *_ = np.linalg.lstsq(columns, y, rcond=None)
    return fit, 1 - float(((y - columns @ fit) ** 2).sum() / ((y - y.mean()) ** 2).sum())


if __name__ == "__main__":
    points = noise(300, 2) + 4 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])[np.arange(300) % 3]
    centres, sizes = k_means(points, 3)
    print("k-means:", *(f"{x:.3f}" for x in centres.ravel().tolist()), sizes.tolist())
    time = np.arange(100) * 0.1
    print("kalman:", *(f"{x:.3f}" for x in kalman(1 + 0.5 * time + 0.2 * noise(100)).tolist()))
    soft = blurred(np.where(noise(32, 48) > 0.9, 1.0, 0.0), 2.0)
    print(f"blur: {float(soft.max()):.4f} at {int(soft.argmax())}, sum {float(soft.sum()):.2f}")
    x = np.linspace(-1, 1, 50)
    fit, explained = regression(x, 1 - 2 * x + 3 * x**2 + 0.1 * noise(50))
    print(f"regression: {np.round(fit, 3).tolist()}, {100 * explained:.1f} % explained")
