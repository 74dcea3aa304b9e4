"""Compiled annealing kernels, which operate only on plain arrays."""
