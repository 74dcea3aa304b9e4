"""Graphs to plant on: named families, chips, and any list of edges."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.extras import is_there, optional
from glasshouse.kernels.adjacency import adjacency
from glasshouse.planting.graph_names import (
    EXTENTS,
    MOST_MACHINE_EDGES,
    Extent,
    GraphName,
    refuse_large,
)
from glasshouse.planting.kernels.cycles import core_nodes
from glasshouse.problems import IntArray, Ising, exchange, naming, pairs, validation
from glasshouse.problems.two_sides import two_colouring
from glasshouse.summaries import Summarised

if TYPE_CHECKING:
    import networkx

    GraphLike: TypeAlias = (
        "Graph | Ising | networkx.Graph | Mapping[str, Any] | str | npt.ArrayLike"
    )

# A graph in compressed rows, as the kernels take it.
Ids: TypeAlias = npt.NDArray[np.int32]
Rows: TypeAlias = tuple[IntArray, Ids, Ids, Ids]


@dataclass(frozen=True, eq=False, repr=False)
class Graph(Summarised):
    """An undirected graph without self-loops or parallel edges; node k carries spin k.

    Attributes:
        num_nodes: the number of nodes, including isolated ones.
        edges: (k, 2) array of unique pairs i < j in ascending order.
        name: the text from which `Graph.parse` makes the same graph: "torus:8x8", or its edges.
        labels: other names of the nodes (a chip's qubit numbers); by default 0, 1, 2, …. Plants
            keep them. Names, recipes and files store only numbers, strings and tuples of these.

    >>> Graph.lattice(3, 3)
    Graph(lattice:3x3, 9 nodes, 12 edges)
    >>> Graph.parse("complete:5 without 0,3").labels
    (1, 2, 4)
    >>> Graph.torus(3, 3).num_edges, Graph.complete(5).num_edges
    (18, 10)
    >>> Graph.layers(2, 2, 2), Graph.deep(2, 2, 2)
    (Graph(layers:2x2x2, 6 nodes, 12 edges), Graph(deep:2x2x2, 6 nodes, 8 edges))
    >>> Graph.of([(0, 1), (1, 2), (0, 2), (2, 3)]).core
    array([0, 1, 2], dtype=int32)
    >>> Graph.torus(4).is_bipartite, Graph.torus(5).is_bipartite
    (True, False)
    >>> Graph.torus(3, 3).without([4]).labels
    (0, 1, 2, 3, 5, 6, 7, 8)
    >>> Graph.torus(4).rows(Graph.torus(4).edges)[1].tolist()
    [1, 3, 0, 2, 1, 3, 0, 2]
    >>> len(Graph.torus(4).core_rows[0])
    5
    """

    num_nodes: int
    edges: pairs.PairArray
    name: str
    labels: tuple[Any, ...]

    @classmethod
    def of(cls, graph: GraphLike) -> Graph:
        """Return a graph from a Graph, a name, a networkx graph, an Ising problem, or edges.

        Node k is the k-th of `graph.nodes` of a networkx graph, and spin k of a problem; labels are
        taken from these. In a list of edges, nodes are numbers, and the largest gives the number of
        nodes. A chip may be a dimod sampler that has `nodelist` and `edgelist`, or the properties
        of a solver: a dict with "qubits" and "couplers".

        >>> Graph.of({"qubits": [3, 5, 9], "couplers": [[3, 5], [5, 9]]}).labels
        (3, 5, 9)
        """
        if isinstance(graph, Graph):
            return graph
        if isinstance(graph, str):
            return cls.parse(graph)
        if exchange.is_bqm(graph):
            graph = Ising.from_bqm(graph)  # type: ignore[arg-type]
        if isinstance(graph, Ising):
            return cls._explicit(graph.num_variables, graph.edges, graph.labels)
        if hasattr(graph, "is_directed"):
            return cls._from_networkx(graph)
        if (chip := _listed(graph)) is not None:
            return cls._from_lists(*chip)
        array = node_pairs(graph)
        return cls._explicit(int(array.max(initial=-1)) + 1, array)

    @classmethod
    @lru_cache(maxsize=8)
    def parse(cls, name: str) -> Graph:
        """Return the graph that a name describes, such as a name in a recipe or in `Graph.name`.

        >>> Graph.parse("edges:4 0-1 1-2 0-2")
        Graph(4 nodes, 3 edges)
        """
        parsed = GraphName.parse(name)
        if parsed.family == "edges":
            refuse_large(parsed.extent)
            ends = re.findall(r"([0-9]{1,18})-([0-9]{1,18})", parsed.tail, re.ASCII)
            if " ".join(f"{a}-{b}" for a, b in ends) != parsed.tail:
                raise ValueError(f'{name[:60]!r} is not a list of edges like "edges:3 0-1 1-2"')
            size, labels = parsed.sizes[0], None
            if parsed.labels:
                try:
                    labels = naming.from_json(parsed.labels.encode(), size)
                except ValueError as fault:
                    raise ValueError(f"{name[:60]!r} has invalid labels: {fault}") from None
            return cls._explicit(size, np.array(ends, dtype=np.int64).reshape(-1, 2), labels)
        graph: Graph = getattr(cls, parsed.family)(*parsed.sizes)
        return graph.without(parsed.dead, parsed.dead_edges)

    @classmethod
    def complete(cls, size: int) -> Graph:
        """Return the graph with all pairs of nodes: a fully connected Boltzmann machine."""
        size = validation.count(size, "size", 1)
        refuse_large(EXTENTS["complete"](size))
        return cls._family("complete", [size], size, np.column_stack(np.triu_indices(size, 1)))

    @classmethod
    def layers(cls, *sizes: int) -> Graph:
        """Return the complete k-partite graph: all pairs of nodes from different layers."""
        return cls._layered("layers", sizes, itertools.combinations(range(len(sizes)), 2))

    @classmethod
    def deep(cls, *sizes: int) -> Graph:
        """Return the graph of a deep network: each layer is fully coupled to the next."""
        return cls._layered("deep", sizes, itertools.pairwise(range(len(sizes))))

    @classmethod
    def lattice(cls, *shape: int) -> Graph:
        """Return a lattice with open borders; `shape` has the length in each dimension."""
        return cls._lattice("lattice", shape, periodic=False)

    @classmethod
    def torus(cls, *shape: int) -> Graph:
        """Return a periodic lattice; in a dimension of length 2, edges are not doubled."""
        return cls._lattice("torus", shape, periodic=True)

    @classmethod
    def chimera(cls, rows: int, columns: int | None = None, shore: int = 4) -> Graph:
        """Return D-Wave's Chimera graph of unit cells K(shore, shore); needs dwave-graphs.

        >>> Graph.chimera(2)
        Graph(chimera:2x2x4, 32 nodes, 80 edges)
        """
        columns = rows if columns is None else columns
        return cls._machine("chimera", [rows, columns, shore])

    @classmethod
    def pegasus(cls, size: int) -> Graph:
        """Return D-Wave's Pegasus graph; needs dwave-graphs.

        >>> Graph.pegasus(2)
        Graph(pegasus:2, 40 nodes, 164 edges)
        """
        return cls._machine("pegasus", [size])

    @classmethod
    def zephyr(cls, size: int, tiles: int = 4) -> Graph:
        """Return D-Wave's Zephyr graph; needs dwave-graphs.

        >>> Graph.zephyr(1)
        Graph(zephyr:1x4, 48 nodes, 280 edges)
        """
        return cls._machine("zephyr", [size, tiles])

    def without(self, dead: Iterable[Any], couplers: Iterable[tuple[Any, Any]] = ()) -> Graph:
        """Return the graph without dead nodes and edges, which are given by their labels.

        The other nodes keep their labels and are renumbered. Qubits that a chip of a named family
        already lacks may be listed again, including numbers that its numbering skips.

        Args:
            dead: labels of nodes.
            couplers: pairs of labels; a pair with a dead node may be among them.

        >>> Graph.chimera(1).without([0], couplers=[(1, 4), (0, 4)])
        Graph(chimera:1x1x4 without 0,1-4, 7 nodes, 11 edges)
        """
        gone, cut = set(dead), {frozenset(pair) for pair in couplers}
        if not gone and not cut:
            return self
        chip, labels = GraphName.parse(self.name), self.labels
        row = {frozenset((labels[i], labels[j])): k for k, (i, j) in enumerate(self.edges.tolist())}
        for label in gone - set(labels):
            if not chip.lacks(label):
                there = f"the {self.num_nodes} nodes of {self!r}"
                raise ValueError(f"dead node {label!r:.40} is not one of {there}")
        for pair in cut - row.keys() - set(map(frozenset, chip.dead_edges)):
            if not (pair & gone or any(map(chip.lacks, pair))):
                there = f"the {self.num_edges} edges of {self!r}"
                raise ValueError(f"dead coupler {(*pair,)!r:.60} is not one of {there}")
        is_alive = np.array([label not in gone for label in labels], dtype=bool)
        is_kept = is_alive[self.edges[:, 0]] & is_alive[self.edges[:, 1]]
        is_kept[[row[pair] for pair in cut & row.keys()]] = False
        renumbered = np.cumsum(is_alive) - 1
        alive = tuple(itertools.compress(labels, is_alive))
        rest = Graph._explicit(len(alive), renumbered[self.edges[is_kept]], alive)
        if self.name.startswith("edges:"):
            return rest
        nodes = chip.dead | (gone & set(labels))
        edges = {tuple(sorted(pair)) for pair in cut & row.keys()} | chip.dead_edges
        words = [*map(str, sorted(nodes))]
        words += [f"{low}-{high}" for low, high in sorted(edges) if not {low, high} & nodes]
        family, _, _ = self.name.partition(" without ")
        return rest._named(f"{family} without {','.join(words)}" if words else family, alive)

    @property
    def num_edges(self) -> int:
        """The number of edges."""
        return len(self.edges)

    @cached_property
    def is_bipartite(self) -> bool:
        """Whether the graph is bipartite, so that all cycles have even length."""
        return two_colouring(self.num_nodes, self.edges) is not None

    @cached_property
    def core(self) -> npt.NDArray[np.int32]:
        """The nodes left when dead ends are removed repeatedly; empty if there is no cycle."""
        starts, neighbours, _, _ = self.rows(self.edges)
        found: npt.NDArray[np.int32] = core_nodes(starts, neighbours)
        return found

    @cached_property
    def core_rows(self) -> Rows:
        """The edges between core nodes, in compressed rows: only these can be part of cycles."""
        alive = np.zeros(self.num_nodes, dtype=bool)
        alive[self.core] = True
        return self.rows(self.edges[alive[self.edges].all(axis=1)])

    def rows(self, edges: npt.NDArray[np.int32]) -> Rows:
        """Return edges as compressed rows: row starts, neighbours, edge numbers and edge ends."""
        return *adjacency(self.num_nodes, edges), np.array(edges, dtype=np.int32)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self.num_nodes == other.num_nodes and np.array_equal(self.edges, other.edges)

    def __hash__(self) -> int:
        return hash((self.num_nodes, self.edges.tobytes()))

    def __repr__(self) -> str:
        name = "" if self.name.startswith("edges:") else f"{self.name}, "
        return f"Graph({name}{self.num_nodes} nodes, {self.num_edges} edges)"

    def _named(self, name: str, labels: tuple[Any, ...]) -> Graph:
        return Graph(self.num_nodes, self.edges, name, labels)

    @classmethod
    def _explicit(
        cls, num_nodes: int, edges: npt.ArrayLike, labels: naming.Names | None = None
    ) -> Graph:
        """Return a graph with the given edges in sorted order; its name lists edges and labels."""
        array = np.asarray(edges).reshape(-1, 2)
        refuse_large(Extent(num_nodes, len(array)))
        merged = pairs.merge(array, np.ones(len(array), dtype=np.int64), num_nodes)[0]
        name = " ".join([f"edges:{num_nodes}", *(f"{i}-{j}" for i, j in merged.tolist())])
        names = naming.check(labels, num_nodes)
        if names is not None and naming.is_plain(names):
            name += f" as {naming.to_json(names)}"
        return cls(num_nodes, merged, name, tuple(range(num_nodes)) if names is None else names)

    @classmethod
    def _family(cls, family: str, sizes: list[int], num_nodes: int, edges: IntArray) -> Graph:
        ones = np.ones(len(edges), dtype=np.int64)
        ordered = pairs.merge(edges, ones, num_nodes)[0]
        name = f"{family}:{'x'.join(map(str, sizes))}"
        return cls(num_nodes, ordered, name, tuple(range(num_nodes)))

    @classmethod
    def _layered(
        cls, family: str, sizes: tuple[int, ...], coupled: Iterable[tuple[int, int]]
    ) -> Graph:
        """Return a graph of layers in which the pairs of layers in `coupled` are fully coupled."""
        counts = [validation.count(size, "layer size", 1) for size in sizes]
        refuse_large(EXTENTS[family](*counts))
        couples = list(coupled)
        ends = np.cumsum(counts)
        layers = [np.arange(end - size, end) for size, end in zip(counts, ends, strict=True)]
        edges = [np.empty((0, 2), dtype=np.int64)]
        for a, b in couples:
            first, second = np.meshgrid(layers[a], layers[b], indexing="ij")
            edges.append(_paired(first, second))
        return cls._family(family, counts, sum(counts), np.concatenate(edges))

    @classmethod
    def _lattice(cls, family: str, shape: tuple[int, ...], *, periodic: bool) -> Graph:
        sides = [validation.count(side, "side of a lattice", 1) for side in shape]
        if not sides:
            raise ValueError("a lattice needs at least one side")
        extent = EXTENTS[family](*sides)
        refuse_large(extent)
        size = extent.nodes
        nodes = np.arange(size, dtype=np.int64).reshape(sides)
        edges = [np.empty((0, 2), dtype=np.int64)]
        for axis, side in enumerate(sides):
            shifted = np.roll(nodes, -1, axis=axis)
            if not (periodic and side > 2):
                inner = np.arange(side - 1)
                edges.append(_paired(nodes.take(inner, axis), shifted.take(inner, axis)))
            else:
                edges.append(_paired(nodes, shifted))
        return cls._family(family, sides, size, np.concatenate(edges))

    @classmethod
    def _machine(cls, family: str, sizes: list[int]) -> Graph:
        for size in sizes:
            validation.count(size, f"size of a {family} graph", 1)
        refuse_large(EXTENTS[family](*sizes), MOST_MACHINE_EDGES)
        graph = getattr(dwave_graphs(), f"{family}_graph")(*sizes)
        labels = sorted(graph.nodes)
        number = {label: k for k, label in enumerate(labels)}
        edges = np.array([(number[u], number[v]) for u, v in graph.edges], dtype=np.int64)
        named = cls._family(family, sizes, len(labels), edges.reshape(-1, 2))
        return named._named(named.name, tuple(labels))

    @classmethod
    def _from_networkx(cls, graph: networkx.Graph) -> Graph:
        if graph.is_directed():
            raise ValueError("the graph is directed; pass an undirected graph")
        return cls._from_lists(graph.nodes, graph.edges())

    @classmethod
    def _from_lists(cls, nodes: Iterable[Any], couplers: Iterable[Any]) -> Graph:
        """Return a graph from the labels of its nodes, and its edges as pairs of these labels."""
        number = {label: k for k, label in enumerate(nodes)}
        edges = []
        for pair in couplers:
            u, v = pair
            if u == v:
                raise ValueError(f"node {u!r:.40} has an edge to itself; remove the edge")
            if u not in number or v not in number:
                raise ValueError(
                    f"coupler {pair!r:.60} has a qubit that is not in the list of qubits; remove "
                    "the coupler or add the qubit"
                )
            edges.append((number[u], number[v]))
        return cls._explicit(len(number), np.array(edges, dtype=np.int64), tuple(number))


def _listed(chip: Any) -> tuple[Any, Any] | None:
    """Return the qubits and couplers of a sampler or of a solver's properties; None for others."""
    for names in (("nodelist", "edgelist"), ("qubits", "couplers")):
        if isinstance(chip, Mapping) and all(name in chip for name in names):
            return chip[names[0]], chip[names[1]]
        if all(hasattr(chip, name) for name in names):
            return getattr(chip, names[0]), getattr(chip, names[1])
    if isinstance(chip, Mapping):
        raise ValueError('the properties must list both "qubits" and "couplers"')
    return None


def node_pairs(graph: Any) -> IntArray:
    """Return a list of edges as an array; raise if it is not a list of node pairs."""
    array = np.asarray(graph)
    if array.dtype.kind not in "iu" or array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            "expected a Graph, a name such as 'torus:8x8', a networkx graph, an Ising problem, a "
            "solver's properties or a list of pairs of node numbers, not "
            f"{type(graph).__name__} of shape {array.shape}"
        )
    return array


def _paired(first: IntArray, second: IntArray) -> IntArray:
    return np.column_stack([first.reshape(-1), second.reshape(-1)])


def dwave_graphs() -> Any:
    """Import D-Wave's package of graphs, or raise an error with the install command.

    Its predecessor dwave-networkx has the same graphs, and warns that it is deprecated.
    """
    purpose = "a Chimera, Pegasus or Zephyr graph"
    if is_there("dwave.graphs") or not is_there("dwave_networkx"):
        return optional("dwave.graphs", purpose)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return optional("dwave_networkx", purpose)
