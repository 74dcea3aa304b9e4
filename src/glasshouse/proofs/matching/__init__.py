"""Proofs for square lattices on a torus: they match odd faces and do not need a linear program.

* `square_torus`: bounds and states of such a lattice.
* `kernels`: compiled code: faces within reach, perfect matchings, moats around faces.
"""
