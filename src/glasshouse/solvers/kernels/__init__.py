"""Compiled annealing kernels, which work on plain arrays only."""
