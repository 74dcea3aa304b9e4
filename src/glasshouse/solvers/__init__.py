"""Solvers: simulated annealing, parallel tempering, descent and exhaustive search.

One idea a file: `annealing` and `tempering` are the methods, `schedule` the temperatures, `engine`
and `engines` make a problem ready for one of the `kernels`, `crew` puts threads to work, `result`
tells what came of it, `hitting` and `benchmarking` measure how long that takes.
"""

from glasshouse.solvers.annealing import anneal
from glasshouse.solvers.benchmarking import OptimalTts, optimal_tts
from glasshouse.solvers.crew import RunProgress
from glasshouse.solvers.descent import Descent, descend
from glasshouse.solvers.exhaustive import GroundStates, brute_force
from glasshouse.solvers.hitting import SweepsToSolution, sweeps_to_solution
from glasshouse.solvers.minimising import Minimum, minimise
from glasshouse.solvers.result import AnnealResult, TimeToSolution
from glasshouse.solvers.schedule import PaperSchedule, paper_schedule, peak_density
from glasshouse.solvers.tempering import temper

__all__ = [
    "AnnealResult",
    "Descent",
    "GroundStates",
    "Minimum",
    "OptimalTts",
    "PaperSchedule",
    "RunProgress",
    "SweepsToSolution",
    "TimeToSolution",
    "anneal",
    "brute_force",
    "descend",
    "minimise",
    "optimal_tts",
    "paper_schedule",
    "peak_density",
    "sweeps_to_solution",
    "temper",
]
