"""Compiled annealing kernels; each module works on plain arrays only."""
