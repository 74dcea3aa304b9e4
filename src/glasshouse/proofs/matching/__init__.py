"""Proofs by matching odd faces, for planar graphs and for regular lattices on a torus.

* `surface`: the faces of such graphs.
* `packing`: matchings of faces, and the packings of odd cycles that they yield.
* `search`: bounds and states from matchings; those of planar graphs are optimal.
* `kernels`: compiled code: faces, growing regions, alternating trees, moats around regions.
"""
