"""Problems: Ising, RBM, QUBO and weighted MAX-2-SAT, each with one exact energy."""

from glasshouse.problems.ising import Ising
from glasshouse.problems.max2sat import Max2Sat
from glasshouse.problems.qubo import Qubo
from glasshouse.problems.rbm import Rbm

Problem = Ising | Rbm | Qubo | Max2Sat

__all__ = ["Ising", "Max2Sat", "Problem", "Qubo", "Rbm"]
