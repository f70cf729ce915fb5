"""Functions of tensors: elementwise, along axes, of matrices and polynomials."""
