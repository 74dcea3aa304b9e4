"""Semidefinite bounds for dense problems, with odd cliques as cuts, rounded to exact squares.

* `relaxation`: the interface to the tree search. `subproblem`: the states of a node.
* `climb`: rounds of ascent and separation. `ascent`: the quasi-Newton method. `dual`: the function
  that it maximises. `eigen` decomposes its matrix.
* `cuts`: odd cliques, and which of them are violated. `rounding`: squares in exact integers.
* `kernels`, `tridiagonal`: compiled code.
"""

from glasshouse.proofs.semidefinite.relaxation import SemidefiniteRelaxation

__all__ = ["SemidefiniteRelaxation"]
