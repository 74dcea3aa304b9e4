"""Other people's samplers, where they are installed: one line each.

They claim nothing: a round is an assignment, and whoever asked evaluates it. Importing a sampler
adds it to the catalogue.
"""

from glasshouse.races.rounds import dwave_anneal as dwave_anneal
from glasshouse.races.rounds import dwave_tabu as dwave_tabu
from glasshouse.races.rounds import openjij as openjij
from glasshouse.races.rounds.sampler import SAMPLERS, Sampler, sampler
from glasshouse.races.rounds.sampling import iter_sampled

__all__ = ["SAMPLERS", "Sampler", "iter_sampled", "sampler"]
