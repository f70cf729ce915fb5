"""Every function and member of the array API standard 2024.12, beside NumPy's: a row each, drawn by hypothesis."""
