"""Ensembles: thousands of small random-loop instances grown together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.planting.arguments import Ratio
from glasshouse.planting.kernels.cells import new_cells
from glasshouse.planting.kernels.random_loops import drop_ensemble
from glasshouse.planting.loops import Loops
from glasshouse.planting.method import METHODS
from glasshouse.planting.methods.random_loops import REDRAWS, weight_law
from glasshouse.planting.planted import Planted
from glasshouse.planting.recipe import Recipe
from glasshouse.problems import SpinArray, validation
from glasshouse.randomness import RngLike, Seed
from glasshouse.summaries import Summarised


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(Summarised):
    """Random-loop instances that differ only in their seeds, in batched arrays.

    Instance k is `random_loops(..., rng=SeedSequence(seed, spawn_key=(first + k,)))`, bit for bit;
    indexing creates it.

    Attributes:
        nodes: int32 (instances, loops, 4); the last edge of each loop is negative (see `Loops`).
        states: int8 (instances, n + m), the planted states.
        positive: the weight of the loops' positive edges: the loop weight.
        negative: the weight of their negative edges.
        parameters: the parameters that all instances share, as recipes store them.
        seed: the seed whose children the instances grow from.
        first: the child that instance 0 grows from.
    """

    nodes: npt.NDArray[np.int32]
    states: SpinArray
    positive: int
    negative: int
    parameters: Mapping[str, Any]
    seed: Seed
    first: int = 0

    @property
    def energy(self) -> int:
        """The ground energy of every instance: -N(3-α) times the loop weight."""
        return -int(self.nodes.shape[1]) * (3 * self.positive + self.negative)

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def frustration(self) -> Fraction:
        """The f of every loop and of every instance, which are equal because loops never cancel."""
        return Fraction(-self.negative, 3 * self.positive - self.negative)

    def __getitem__(self, index: int) -> Planted:
        """Return instance number `index`; negative numbers count from the end."""
        k = range(len(self))[index]
        loops = Loops.of_length(self.nodes[k], positive=self.positive, negative=self.negative)
        recipe = Recipe("random_loops", self.parameters, self.seed.child(self.first + k))
        n, m = self.parameters["n"], self.parameters["m"]
        return Planted.of_rbm(n, m, loops, self.states[k], self.positive, recipe)

    def __iter__(self) -> Iterator[Planted]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        n, m = self.parameters["n"], self.parameters["m"]
        return f"Ensemble({len(self)} instances, {n} × {m}, {self.nodes.shape[1]} loops each)"


def random_loops_ensemble(
    n: int,
    m: int,
    count: int,
    *,
    frustration: Ratio,
    loop_density: Ratio | None = None,
    loops: int | None = None,
    first: int = 0,
    rng: RngLike = None,
) -> Ensemble:
    """Grow many instances of `random_loops` in one compiled call.

    Args:
        n: visible spins, at least 2.
        m: hidden spins, at least 2.
        count: the number of instances.
        frustration: the paper's f, from 0 to 1/4.
        loop_density: the paper's ρ = N/n; N is rounded up. Use this or `loops`.
        loops: N itself.
        first: the instances have the numbers first, first + 1, … among those of the seed.
        rng: a seed, or anything that `numpy.random.default_rng` takes; instance k uses its child
            first + k.

    >>> many = random_loops_ensemble(100, 100, 50, frustration="1/5", loop_density=0.345, rng=1)
    >>> many
    Ensemble(50 instances, 100 × 100, 35 loops each)
    >>> many[7].verify()
    """
    plan = METHODS["random_loops"].plan(
        n, m, frustration=frustration, loop_density=loop_density, loops=loops
    )
    instances, first = validation.count(count, "count"), validation.count(first, "first")
    parameters = plan.held
    number, n, m = plan.demand.parts, parameters["n"], parameters["m"]
    law, _ = weight_law(Fraction(parameters["frustration"]), "equal", None, None)
    seed = Seed.of(rng)
    streams = np.empty((instances, 2, 4), dtype=np.uint64)
    for k in range(instances):
        streams[k] = seed.child(first + k).streams(2)
    nodes = np.empty((instances, number, 4), dtype=np.int32)
    states = np.empty((instances, n + m), dtype=np.int8)
    matrix = new_cells(n * m, 4 * number, signs=True)
    if not drop_ensemble(streams, n, m, law, REDRAWS, matrix, nodes, states):
        raise ValueError(f"no space was found for {number} loops on {n} × {m}; use fewer loops")
    nodes, states = validation.read_only(nodes), validation.read_only(states)
    shared = MappingProxyType(parameters)
    return Ensemble(nodes, states, int(law[0]), -int(law[3]), shared, seed, first)
