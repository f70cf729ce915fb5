"""Tensors as arrays: made, shared, indexed, laid out, joined and split."""
