# The same names for type checkers and editors; tests/test_names.py keeps the two in step.
from glasshouse.problems import Ising as Ising
from glasshouse.problems import Max2Sat as Max2Sat
from glasshouse.problems import Qubo as Qubo
from glasshouse.problems import Rbm as Rbm
from glasshouse.problems.bipartite import rbm_to_ghost as rbm_to_ghost
from glasshouse.problems.convert import to_ising as to_ising
from glasshouse.problems.convert import to_max2sat as to_max2sat
from glasshouse.problems.convert import to_maxcut as to_maxcut
from glasshouse.problems.convert import to_qubo as to_qubo
from glasshouse.problems.convert import to_rbm as to_rbm
from glasshouse.problems.reduction import Reduction as Reduction
from glasshouse.version import __version__ as __version__
