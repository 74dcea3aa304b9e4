"""Some plants, and a dimod sampler that tests teach to lie."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import glasshouse as gh

dimod = pytest.importorskip("dimod")


@cache
def plants() -> list[gh.Planted]:
    return [
        gh.random_loops(6, 6, frustration=f, loops=4, rng=k)
        for f in ("1/10", "1/5")
        for k in (1, 2)
    ]


def truly(bqm, count=3, **keywords):
    """Random samples with their true energies."""
    spins = np.random.default_rng(1).integers(2, size=(count, bqm.num_variables))
    values = 2 * spins - 1 if bqm.vartype is dimod.SPIN else spins
    return dimod.SampleSet.from_samples_bqm((values, list(bqm.variables)), bqm, **keywords)


class Sampler:
    """A dimod sampler that changes true samples, and remembers its keywords."""

    def __init__(self, change=lambda found, bqm: found):
        self.change, self.heard = change, []
        self.parameters = {"num_reads": [], "seed": []}

    def sample(self, bqm, num_reads=1, **keywords):
        self.heard.append({"num_reads": num_reads, **keywords})
        return self.change(truly(bqm, num_reads), bqm)
