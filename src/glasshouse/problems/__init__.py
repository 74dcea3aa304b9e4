"""Problems: Ising, RBM, QUBO, MAX-2-SAT, MaxSAT and polynomials, each with one exact energy.

* `ising`, `qubo`, `rbm`, `max2sat`, `maxsat`, `polynomial`: the six classes, frozen.
* `clauses`: clauses of any length in flat arrays. `max2sat` has what all problems of clauses share.
* `pairs`: pair terms in canonical form, and the equality of Ising problems and QUBOs.
* `monomials`: products of variables in flat arrays. `expansion`: polynomials in other variables.
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

from glasshouse.problems.clauses import Clauses as Clauses
from glasshouse.problems.convert import Given as Given
from glasshouse.problems.convert import Problem, to_ising, to_max2sat, to_qubo
from glasshouse.problems.convert import given_problem as given_problem
from glasshouse.problems.ising import Ising
from glasshouse.problems.max2sat import Max2Sat
from glasshouse.problems.maxsat import MaxSat
from glasshouse.problems.measure import Measure as Measure
from glasshouse.problems.monomials import Monomials as Monomials
from glasshouse.problems.naming import Labels as Labels
from glasshouse.problems.naming import Sampled as Sampled
from glasshouse.problems.naming import Units as Units
from glasshouse.problems.polynomial import Polynomial
from glasshouse.problems.qubo import Qubo
from glasshouse.problems.rbm import Rbm
from glasshouse.problems.reduction import Reduction
from glasshouse.problems.reduction import to_bits as to_bits
from glasshouse.problems.reduction import to_spins as to_spins
from glasshouse.problems.validation import INT64_MAX as INT64_MAX
from glasshouse.problems.validation import MOST_VARIABLES as MOST_VARIABLES
from glasshouse.problems.validation import FloatArray as FloatArray
from glasshouse.problems.validation import IntArray as IntArray
from glasshouse.problems.validation import Number as Number
from glasshouse.problems.validation import SpinArray as SpinArray
from glasshouse.problems.validation import WeightArray as WeightArray

# Names imported `as` themselves are for the other packages of glasshouse.
__all__ = [
    "Ising", "Max2Sat", "MaxSat", "Polynomial", "Problem", "Qubo", "Rbm", "Reduction", "to_ising",
    "to_max2sat", "to_qubo",
]  # fmt: skip
