"""Compiled kernels: each module knows arrays only and imports nothing else of glasshouse."""
