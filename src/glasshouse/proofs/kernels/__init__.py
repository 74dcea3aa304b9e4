"""Compiled searches on signed graphs: cycles, cliques, clusters, blocks and states.

* `graphs`: blocks, rounding, descent. `cycles`, `clusters`: short odd cycles.
* `cliques`: violated odd cliques. `mixing`: recombination of states.
"""
