"""Third-party samplers, called in rounds of growing effort or raced as dimod samplers.

rounds (the catalogue, and rounds until time is up) ← others (third-party samplers, if they are
installed) · problems (of a race), clocks ← calling (one call under a clock) ← rows (of a store),
residuals ← results ← racing ← entering (samplers from text, the best setting) · stored (results
from a store)

Samplers claim nothing: a round returns an assignment, and the caller evaluates it. Importing a
sampler adds it to the catalogue.
"""

from glasshouse.races.samplers import others as others
from glasshouse.races.samplers.rounds import SAMPLERS, Sampler, iter_sampled, sampler

__all__ = ["SAMPLERS", "Sampler", "iter_sampled", "sampler"]
