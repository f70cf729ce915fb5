"""Linear algebra: products of matrices."""

from nervanagpu.linalg.products import batched_dot, dot, grouped_dot, matmul

__all__ = ["batched_dot", "dot", "grouped_dot", "matmul"]
