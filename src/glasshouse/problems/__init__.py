"""Problems: Ising, RBM, QUBO and weighted MAX-2-SAT, each with one exact energy.

* `ising`, `qubo`, `rbm`, `max2sat`: the four classes, frozen.
* `pairs`: pair terms in canonical form, and the equality of Ising problems and QUBOs.
* `two_sides`: the two sides of a bipartite graph.
* `convert`, `bipartite`: reductions from one kind of problem to another.
* `reduction`: the way back from a reduced problem: states and energies.
* `exchange`: conversion to and from dimod, networkx and matrices.
* `naming`, `renaming`: labels of variables, and problems whose variables are reordered.
* `measure`: the number that a file format reports (cut, objective, cost), from the energy.
* `hard_clauses`: an assignment that satisfies clauses of two literals.
* `ratio`: exact fractions from strings, floats and integers.
* `exact`, `elementary`: sums that cannot overflow; exp and log with the same bits on every CPU.
* `validation`: checks of arguments, with uniform messages.
"""

from glasshouse.problems.ising import Ising
from glasshouse.problems.max2sat import Max2Sat
from glasshouse.problems.qubo import Qubo
from glasshouse.problems.rbm import Rbm

Problem = Ising | Rbm | Qubo | Max2Sat

__all__ = ["Ising", "Max2Sat", "Problem", "Qubo", "Rbm"]
