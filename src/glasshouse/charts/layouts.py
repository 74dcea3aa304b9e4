"""Positions of graph nodes: fixed for lattices and chips, force-directed for other graphs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.landscape import gauge
from glasshouse.planting import Planted
from glasshouse.planting.graph_names import MACHINES, GraphName
from glasshouse.planting.graphs import dwave_graphs
from glasshouse.planting.shuffling import names
from glasshouse.problems import Clauses, Ising, Labels, MaxSat, Monomials, Polynomial
from glasshouse.problems.pairs import labels_of

Places = npt.NDArray[np.float64]

# A force-directed layout of more nodes takes minutes; MOST_NODES exceed a figure's resolution.
MOST_BY_FORCES, MOST_NODES = 2500, 20_000
_MOST_ON_CIRCLE = 60
_ALONE_IN_ROW = 40


@dataclass(frozen=True)
class Layout:
    """The positions of nodes in the plane.

    Attributes:
        places: the position of each spin.
        labels: the name of each spin on its chip, lattice or graph.
        wrapped: a mask of the edges that wrap around a torus.
        dead: the positions of missing nodes, such as broken qubits.
    """

    places: Places
    labels: Labels
    wrapped: npt.NDArray[np.bool_]
    dead: Places


def couplings_of(plant: Planted) -> Ising:
    """Return an instance's couplings in the planted gauge, in which frustrated ones are negative.

    All variables of a clause or product are joined in pairs. A pair is frustrated if it occurs in
    a clause or product that the planted state violates.
    """
    problem = plant.problem
    if isinstance(problem, MaxSat):
        clauses = Clauses.joined([problem.soft, problem.hard])
        sets = Monomials(np.abs(clauses.literals) - 1, clauses.starts)
        is_true = clauses.literals * plant.state[sets.indices] > 0
        is_violated = np.bincount(sets.rows, is_true, len(sets.degrees)) == 0
        amounts = np.concatenate([problem.weights, np.ones(problem.num_hard)])
    elif isinstance(problem, Polynomial):
        sets, amounts = problem.monomials, np.abs(problem.weights)
        is_violated = sets.products(plant.state[np.newaxis])[0] * problem.weights > 0
    else:
        return gauge(plant.ising, plant.state)
    size, rows, places = problem.num_variables, [np.empty((0, 2), np.int64)], []
    for chosen, table in sets.tables():
        for pair in itertools.combinations(range(table.shape[1]), 2):
            rows.append(table[:, pair].astype(np.int64))
            places.append(chosen)
    ends = np.sort(np.concatenate(rows), axis=1)
    used = np.concatenate([np.empty(0, np.int64), *places])
    pairs, own = np.unique(ends[:, 0] * size + ends[:, 1], return_inverse=True)
    weights = np.bincount(own, amounts[used], len(pairs))
    weights[np.bincount(own, is_violated[used], len(pairs)) > 0] *= -1
    fields = np.zeros(size)
    alone = np.flatnonzero(sets.degrees == 1)
    signed = np.where(is_violated[alone], -amounts[alone], amounts[alone])
    np.add.at(fields, sets.indices[sets.starts[alone]], signed)
    edges = np.column_stack(np.divmod(pairs, size))
    return Ising.from_edges(size, edges, weights, fields, labels=problem.labels)


def layout_of(plant: Planted) -> Layout | None:
    """Return the positions of an instance's spins, or None if there are too many to draw."""
    size = plant.problem.num_variables
    if size > MOST_NODES:
        return None
    problem = couplings_of(plant)
    wrapped = np.zeros(problem.num_edges, dtype=bool)
    graph = plant.recipe.parameters.get("graph")
    name = GraphName.parse(graph) if isinstance(graph, str) else None
    built = {} if name is None else _built(name)
    dead = set() if name is None else name.dead
    alive = sorted(set(built) - dead)
    if len(alive) != size:
        places = _free(problem) if size <= MOST_BY_FORCES else None
        none = np.empty((0, 2))
        return None if places is None else Layout(places, labels_of(problem), wrapped, none)
    if plant.recipe.parameters.get("shuffled"):  # spin k of the graph is now spin new[k]
        alive = [alive[k] for k in np.argsort(names(plant.recipe, size))]
    places = np.array([built[label] for label in alive], dtype=np.float64)
    if name is not None and name.family == "torus":
        ends = places[problem.edges]
        wrapped = np.abs(ends[:, 0] - ends[:, 1]).sum(axis=1) > 1.5
    gone = np.array([built[label] for label in sorted(dead)], dtype=np.float64).reshape(-1, 2)
    return Layout(places, tuple(alive), wrapped, gone)


def _built(name: GraphName) -> dict[int, Any]:
    """Return the positions of a lattice's or chip's nodes by label; empty for other graphs."""
    if name.family in MACHINES:
        tools = dwave_graphs()
        whole = getattr(tools, f"{name.family}_graph")(*name.sizes)
        found: dict[int, Any] = getattr(tools, f"{name.family}_layout")(whole)
        return found
    if name.family in ("lattice", "torus") and len(name.sizes) == 2:
        rows, columns = name.sizes
        return {k: (k % columns, -(k // columns)) for k in range(rows * columns)}
    return {}


def _free(problem: Ising) -> Places:
    """Return node positions: on a circle for up to 60 nodes, force-directed for more nodes."""
    import networkx

    size = problem.num_variables
    if size <= _MOST_ON_CIRCLE:
        angles = np.pi / 2 - 2 * np.pi * np.arange(size) / max(size, 1)
        return np.column_stack([np.cos(angles), np.sin(angles)])
    graph = networkx.Graph(problem.edges.tolist())
    found = networkx.spring_layout(graph, seed=1)
    alone = [k for k in range(size) if k not in found]
    for order, node in enumerate(alone):
        row, column = divmod(order, _ALONE_IN_ROW)
        found[node] = np.array([-1 + 2 * column / (_ALONE_IN_ROW - 1), -1.15 - 0.08 * row])
    return np.array([found[k] for k in range(size)])
