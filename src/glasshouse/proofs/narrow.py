"""Proofs by eliminating the vertices of a narrow graph (see `certificates.elimination`).

A graph is narrow if some order eliminates its vertices with few open vertices at a time: long
lattices and chips of a few rows, ladders, and graphs of small tree width. Several orders are tried,
and the one that needs the fewest numbers is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import MOST_OPEN, CertificateError, Elimination, ExactForm
from glasshouse.kernels.adjacency import Adjacency, adjacency
from glasshouse.proofs.kernels import orders
from glasshouse.proofs.signed_graph import Spins

# A front may be longer than the number of open vertices, because it may consist of several parts.
_LONGEST_FRONT = 4 * MOST_OPEN
# If an order needs fewer numbers, no other one is searched for by spectral methods; and the most
# vertices of a component for these methods, and the most components.
_FEW_NUMBERS, _MOST_SPECTRAL, _MOST_COMPONENTS = 1 << 22, 20_000, 50
# The most numbers that an order may need: half a minute for the stand-alone checker. With more, a
# tree often takes as long as the order, and its certificate is checked much faster.
_MOST_NUMBERS = 1 << 28
# Seconds per number of a table, by its digits; numbers of more digits take longer in proportion.
_SECONDS = {1: 1.6e-9, 2: 3.0e-9}
_SECONDS_PER_DIGIT = 1e-8
# Added to a Laplacian, which has the eigenvalue 0, to make it invertible.
_SHIFT = 1e-4


class NarrowGraph:
    """A problem whose least value can be computed by eliminating its vertices.

    Attributes:
        elimination: the elimination.
        seconds: the estimated time to eliminate all vertices twice, to find a state and to check
            the certificate.
        num_bytes: the memory of the elimination with the way back, in bytes.
    """

    def __init__(self, elimination: Elimination) -> None:
        self.elimination, digits = elimination, elimination.digits
        each = _SECONDS.get(digits, _SECONDS_PER_DIGIT * digits)
        self.seconds = 2 * each * elimination.num_numbers
        self.num_bytes = elimination.num_bytes + int(elimination.choice_starts[-1])

    @classmethod
    def of(
        cls, form: ExactForm, most_bytes: float, between: Callable[[], object] = lambda: None
    ) -> NarrowGraph | None:
        """Return the narrow graph of a form, or None if no order is found that fits into memory.

        Args:
            form: the form.
            most_bytes: the most memory that the elimination may need, in bytes.
            between: called before each search for an order; if it raises, the search ends.
        """
        between()
        size = form.num_variables
        edges = form.edges[form.edges[:, 1] < size]
        if form.monomials is not None or len(edges) > MOST_OPEN * size:  # too many for any order
            return None
        best: Elimination | None = None
        for order in _orders(adjacency(size, edges)):
            found = _elimination(form, order)
            if found is not None and (best is None or found.num_numbers < best.num_numbers):
                best = found
            if best is not None and best.num_numbers < _FEW_NUMBERS:
                break
            between()
        if best is None or best.num_numbers > _MOST_NUMBERS:
            return None
        graph = cls(best)
        return graph if graph.num_bytes <= most_bytes else None

    @property
    def nodes(self) -> tuple[int, ...]:
        """The vertices with edges, in the order of their elimination."""
        return tuple(self.elimination.order.tolist())

    def lowest_state(self, between: Callable[[], object]) -> Spins:
        """Return a state of least energy, followed by the ghost's +1.

        Args:
            between: called several times per second; if it raises, the elimination stops.
        """
        elimination, plan = self.elimination, self.elimination.plan
        starts = elimination.choice_starts
        choices = np.zeros(starts[-1], dtype=np.uint8)
        elimination.least_value(choices, between)
        spins = np.ones(len(elimination.order), dtype=np.int8)
        orders.walk_back(plan.scope_starts, plan.scopes, choices, starts, spins)
        state: Spins = np.ones(elimination.form.num_variables + 1, dtype=np.int8)
        state[elimination.order] = spins
        return state


def _elimination(form: ExactForm, order: npt.NDArray[np.int32]) -> Elimination | None:
    """Return an elimination that keeps few tables in memory; None if the order needs too many."""
    if len(order) < form.num_variables:
        return None
    try:
        first = Elimination(form, order)
        found = Elimination(form, first.order[orders.postorder(*first.subtrees)])
        return found if found.is_within_limits else None
    except CertificateError:  # too many open vertices
        return None


def _orders(rows: Adjacency) -> Iterator[npt.NDArray[np.int32]]:
    """Yield elimination orders of a graph, the quickest ones first; some may be incomplete."""
    graph = rows.starts, rows.neighbours
    by_level = np.argsort(orders.levels(*graph), kind="stable")
    swept = orders.sweep(*graph, by_level, _LONGEST_FRONT)
    yield swept
    yield orders.least_degree(*graph, MOST_OPEN)
    if len(swept) < len(by_level):
        return  # hardly any other sweep would be narrow
    along = _along(rows)
    if along is not None:
        for places in (along, -along):
            ranked = np.argsort(places, kind="stable")
            yield orders.sweep(*graph, ranked, _LONGEST_FRONT)


def _along(rows: Adjacency) -> npt.NDArray[np.float64] | None:
    """Return each vertex's place along the length of its component, or None if that takes long.

    The place is the vertex's entry in the eigenvector of the second eigenvalue of the Laplacian.
    """
    from scipy.sparse import csr_array, diags_array
    from scipy.sparse.csgraph import connected_components
    from scipy.sparse.linalg import eigsh

    size = len(rows.starts) - 1
    ones = np.ones(len(rows.neighbours))
    links = csr_array((ones, rows.neighbours, rows.starts), shape=(size, size))
    count, labels = connected_components(links, directed=False)
    sizes = np.bincount(labels, minlength=count)
    if np.count_nonzero(sizes > MOST_OPEN) > _MOST_COMPONENTS or sizes.max() > _MOST_SPECTRAL:
        return None
    places = np.zeros(size)
    for label in np.flatnonzero(sizes > MOST_OPEN):  # no order of a smaller one is too wide
        inside = np.flatnonzero(labels == label)
        part = links[inside][:, inside]
        laplacian = diags_array(part.sum(axis=1) + _SHIFT) - part
        begin = np.random.default_rng(0).random(len(inside))
        values, vectors = eigsh(laplacian.tocsc(), k=2, sigma=0.0, v0=begin)
        places[inside] = vectors[:, np.argmax(values)]
    return places
