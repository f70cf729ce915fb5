"""What CuPy's own test files import, for tools/cupy_tests.py: our own cupy.testing, and the corners of cupyx and
cupy._core that they touch."""
