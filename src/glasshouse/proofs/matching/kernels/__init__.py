"""Compiled kernels of matchings: faces, matchings of least weight, and their moats."""
