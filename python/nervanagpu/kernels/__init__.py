"""Kernels of one's own: from assembly, CUDA C or expressions, and what they take beside tensors."""
