"""Solvers: simulated annealing, parallel tempering, descent and exhaustive search.

* `annealing`, `tempering`: the two main methods. `samplers`: both methods as dimod samplers.
* `sampling`: states at given temperatures, by tempering.
* `minimising`: the best state within a time limit. `methods`: its methods, in small steps.
  `record`: the best state so far.
* `descent`, `exhaustive`: local minima, and all ground states of small problems.
* `doubling`: annealing or tempering with ever more sweeps.
* `hitting`, `tts`: the sweeps that a solution takes, and the optimal time to solution.
* `schedule`: inverse temperatures. `ladder`: a ladder of temperatures from a warm-up. `replicas`:
  the replicas on a ladder.
* `spin_form`: conversion of any problem to an Ising problem, and the reverse map.
* `engine`: a problem prepared for a kernel. `engines`: the kernels, and the choice of a kernel.
* `crew`: threads that share the runs. `result`: what a solver returns. `kernels`: compiled code.
"""

from glasshouse.solvers.annealing import anneal
from glasshouse.solvers.crew import RunProgress
from glasshouse.solvers.descent import Descent, descend
from glasshouse.solvers.exhaustive import GroundStates, brute_force
from glasshouse.solvers.hitting import SweepsToSolution, sweeps_to_solution
from glasshouse.solvers.minimising import Minimum, minimise
from glasshouse.solvers.result import AnnealResult, TimeToSolution
from glasshouse.solvers.sampling import ThermalSamples, sample
from glasshouse.solvers.schedule import PaperSchedule, paper_schedule, peak_density
from glasshouse.solvers.tempering import temper
from glasshouse.solvers.tts import OptimalTts, optimal_tts

__all__ = [
    "AnnealResult", "Descent", "GroundStates", "Minimum", "OptimalTts", "PaperSchedule",
    "RunProgress", "SweepsToSolution", "ThermalSamples", "TimeToSolution", "anneal", "brute_force",
    "descend", "minimise", "optimal_tts", "paper_schedule", "peak_density", "sample",
    "sweeps_to_solution", "temper",
]  # fmt: skip
