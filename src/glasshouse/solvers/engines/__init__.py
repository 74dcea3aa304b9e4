"""The annealing kernels, and the function that chooses one for a problem.

The import of an engine adds its kernel to the catalogue.

* `sparse`: problems on any graph, in bytes, float32, float64 or 64-bit numbers.
* `dense`: problems in which most pairs of spins are coupled, all to all or between two layers.
* `products`: polynomials of any degree.
* `dense_numbers`: the integers and the tables of sums that dense engines work with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from glasshouse.problems import Ising, Polynomial, Problem
from glasshouse.solvers.engine import ColouredGraph, Engine, Hypergraph, float_for
from glasshouse.solvers.engines.dense import dense_engine as dense_engine
from glasshouse.solvers.engines.dense import layer_engine as layer_engine
from glasshouse.solvers.engines.products import product_engine as product_engine
from glasshouse.solvers.engines.sparse import byte_engine as byte_engine
from glasshouse.solvers.engines.sparse import few_engine as few_engine
from glasshouse.solvers.engines.sparse import float32_engine as float32_engine
from glasshouse.solvers.engines.sparse import float64_engine as float64_engine
from glasshouse.solvers.engines.sparse import scalar_engine as scalar_engine
from glasshouse.solvers.kernels.kernel import KERNELS as KERNELS
from glasshouse.solvers.spin_form import SpinForm

Network = ColouredGraph | Hypergraph

# Consecutive calls often have the same problem, and a few short runs take no longer than the
# preparation of the problem. A small problem is therefore cached for the next call.
_SMALL = 1 << 17  # edges, counted from both ends: tables of a few megabytes


def choose_engine(
    network: Network, runs: float = math.inf, *, loads_states: bool = False
) -> tuple[str, Engine]:
    """Choose the kernel for a problem and a number of runs; return its name and its engine.

    Args:
        network: the problem's graph, or its monomials.
        runs: the number of runs.
        loads_states: whether the kernel must be able to start from given states.
    """
    is_graph = isinstance(network, ColouredGraph)
    for kernel in sorted(KERNELS.values(), key=lambda kernel: kernel.rank):
        fewest, most = kernel.runs
        is_able = fewest <= runs <= most and (is_graph or kernel.any_degree)
        made = kernel.make(network) if is_able else None
        if made is not None and (made.spread is not None or not loads_states):
            return kernel.name, made
    raise AssertionError("no kernel supports this problem; please report this bug")


def network_of(problem: Ising | Polynomial) -> Network:
    """Return the coloured graph of an Ising problem, or the hypergraph of a polynomial."""
    if isinstance(problem, Ising):
        return ColouredGraph(problem)
    if float_for(problem) is None:
        raise ValueError("the sum of all |weights| must be at most 2^52; use smaller weights")
    return Hypergraph(problem)


@dataclass(frozen=True)
class Ready:
    """A problem, its graph, and all engines that have been prepared for it so far."""

    problem: Problem
    kernels: tuple[str, ...]  # all kernels that could be chosen
    graph: Any  # a Network; a ColouredGraph unless the form is of any degree
    engines: dict[tuple[str, ...], tuple[str, Engine]] = field(default_factory=dict)

    def engine(self, runs: float = math.inf) -> tuple[str, Engine]:
        """Choose the kernel for a number of runs; return its name and its engine."""
        able = tuple(k.name for k in KERNELS.values() if k.runs[0] <= runs <= k.runs[1])
        if able not in self.engines:
            self.engines[able] = choose_engine(self.graph, runs)
        return self.engines[able]


_kept: list[Ready] = []  # empty, or the last problem


def make_ready(form: SpinForm) -> Ready:
    """Return a problem's graph and engines, cached if the last call was for the same object."""
    kernels = tuple(KERNELS)
    for last in _kept[:]:
        is_same = last.problem is form.problem and type(last.graph.problem) is type(form.ising)
        if is_same and last.kernels == kernels:
            return last
    ready = Ready(form.problem, kernels, network_of(form.ising))
    _kept[:] = [ready] if len(ready.graph.neighbours) <= _SMALL else []
    return ready


def forget() -> None:
    """Clear the cache of prepared problems."""
    _kept.clear()
