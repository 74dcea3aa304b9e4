"""Compiled searches on signed graphs.

* `graphs`: blocks, rounding, descent. `cycles`, `clusters`: short odd cycles, at the root.
* `arcs`, `cliques`: violated cycles and odd cliques, at a node. `mixing`: recombination of states.
"""
