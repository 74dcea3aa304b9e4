"""Plants of every method for general graphs, small enough for enumeration."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from glasshouse.planting import Graph, Planted
from glasshouse.planting.methods import classic_loops, graph_loops, structured_graph_loops

seeds = st.integers(0, 2**64)
NAMED = ["complete:6", "layers:2x3x2", "deep:3x2x3", "lattice:3x3", "torus:3x3", "torus:2x2x2"]


@st.composite
def graphs(draw: st.DrawFn, most: int = 10) -> Graph:
    """Named ones, and random ones with a cycle."""
    if draw(st.booleans()):
        return Graph.parse(draw(st.sampled_from(NAMED)))
    size = draw(st.integers(3, most))
    pairs = list(itertools.combinations(range(size), 2))
    graph = Graph.of(draw(st.lists(st.sampled_from(pairs), min_size=3, unique=True)))
    assume(graph.num_nodes >= 3 and len(graph.core))
    return graph


def or_assume(method: Any, *args: Any, **options: Any) -> Planted:
    """Options that leave no room are an error, tested elsewhere."""
    try:
        return method(*args, **options)
    except ValueError as error:
        words = ("no space", "has no cycle", "was found", "because no cycle in")
        assume(not any(word in str(error) for word in words))
        raise


@st.composite
def graph_plants(draw: st.DrawFn, *, most: int = 10) -> Planted:
    graph = draw(graphs(most))
    options: dict[str, Any] = {"loops": draw(st.integers(1, 12)), "rng": draw(seeds)}
    longest = 4 if graph.is_bipartite else 3
    if draw(st.booleans()):
        longest = options["length"] = draw(st.integers(3, 6))
    elif draw(st.booleans()):
        longest = options["max_length"] = draw(st.integers(longest, 7))
    f = draw(st.fractions(0, Fraction(1, longest), max_denominator=20))
    if draw(st.booleans()):
        options |= {"overlap": "none", "loops": draw(st.integers(1, 3))}
    elif draw(st.booleans()):
        options["max_weight"] = 5 * f.denominator
    return or_assume(graph_loops, graph, frustration=f, **options)


@st.composite
def classic_plants(draw: st.DrawFn, *, most: int = 10) -> Planted:
    layers = st.tuples(st.integers(2, most // 2), st.integers(2, most // 2))
    graph = draw(layers | graphs(most))
    options: dict[str, Any] = {"loops": draw(st.integers(1, 12)), "rng": draw(seeds)}
    if draw(st.booleans()):
        options["length"] = draw(st.integers(3, 6))
        if draw(st.booleans()):
            top = Fraction(1, options["length"])
            options["frustration"] = draw(st.fractions(0, top, max_denominator=20))
    elif draw(st.booleans()):
        options["min_length"] = draw(st.integers(3, 4))
    if draw(st.booleans()):
        options["max_weight"] = draw(st.integers(20, 40))
    return or_assume(classic_loops, graph, **options)


@st.composite
def structured_graph_plants(draw: st.DrawFn, *, most: int = 10) -> Planted:
    return or_assume(
        structured_graph_loops, draw(graphs(most)), loops=draw(st.integers(1, 20)),
        frustration=draw(st.fractions(0, Fraction(1, 4), max_denominator=20)),
        block=draw(st.fractions(Fraction(1, 10), 1, max_denominator=10)),
        left=draw(st.fractions(0, 1, max_denominator=4)), rng=draw(seeds),
    )  # fmt: skip


def all_graph_plants(most: int = 10) -> st.SearchStrategy[Planted]:
    methods = (graph_plants, classic_plants, structured_graph_plants)
    return st.one_of(method(most=most) for method in methods)
