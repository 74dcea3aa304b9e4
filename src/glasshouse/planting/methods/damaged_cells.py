"""Cluster loops on a Chimera chip with dead qubits and dead couplers.

Every working coupler within a cell weighs +1, and every one between two cells weighs scale·J, as on
a perfect chip. Two cells may have fewer couplers than others, so the proof needs more of a loop:

* The loop runs on k tracks: k is the number of working couplers of its negative edge, and each
  straight segment of the loop needs k tracks whose couplers all work. Then the negative edge
  never outweighs another edge.
* If the loop turns in a cell, it takes scale/k of each of the k² couplings between the tracks that
  it comes by and those that it leaves by. A coupling can give 1, a dead one nothing.

So a loop over cells is the sum of k² frustrated loops over working qubits, and positive couplings
remain. Loops that do not fit are left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.kernels.adjacency import adjacency
from glasshouse.planting.demand import Meter, refuse_spent
from glasshouse.planting.graph_names import GraphName
from glasshouse.planting.graphs import Rows
from glasshouse.planting.kernels.cluster_loops import drop_cell_loops
from glasshouse.planting.kernels.cycles import core_nodes
from glasshouse.planting.loops import Loops
from glasshouse.problems import INT64_MAX, IntArray

Bools = npt.NDArray[np.bool_]

# The least common multiple of 1 to 16, times 2^20, leaves int64 enough space for sums.
_WIDEST_SHORE = 16
# Loops that are drawn at once, and the steps that checking one of them costs on the meter.
_AT_ONCE, _CHECK = 1024, 20_000
# An unused coupling gives at most two of these three parts to its neighbours.
_PARTS = 3


@dataclass(frozen=True)
class DamagedCells:
    """The cells of a Chimera graph without its dead qubits and couplers.

    Attributes:
        rows: rows of cells.
        columns: columns of cells.
        shore: spins of half a cell.
        scale: a coupling between cells in units of a coupling within a cell.
        dead: the numbers of dead qubits.
        cut: dead couplers of working qubits, as pairs i < j.
    """

    rows: int
    columns: int
    shore: int
    scale: Fraction
    dead: frozenset[int]
    cut: frozenset[tuple[int, int]]

    @classmethod
    def of(cls, rows: int, columns: int, shore: int, scale: Fraction, without: Any) -> DamagedCells:
        """Return cells without the qubits and couplers listed in a text such as "3,17,0-4"."""
        if shore > _WIDEST_SHORE:
            raise ValueError(
                f"shore={shore} is above {_WIDEST_SHORE}, the limit with dead qubits; use "
                "a smaller shore, or no dead qubits"
            )
        listed = GraphName.parse(f"chimera:{rows}x{columns}x{shore} without {without}")
        dead, size = listed.dead, 2 * shore * rows * columns
        if dead and max(dead) >= size:
            raise ValueError(
                f"dead qubit {max(dead)} is not one of the {size} qubits of the chip; use numbers "
                f"up to {size - 1}"
            )
        for i, j in sorted(listed.dead_edges):
            if not (j < size and _is_coupler(i, j, columns, shore)):
                raise ValueError(f"dead coupler {i}-{j} is not a coupler of the chip; remove it")
        cut = frozenset(pair for pair in listed.dead_edges if not dead & set(pair))
        return cls(rows, columns, shore, scale, frozenset(dead), cut)

    @property
    def without(self) -> str:
        """The dead qubits and couplers, sorted, as a recipe stores them."""
        couplers = (f"{i}-{j}" for i, j in sorted(self.cut))
        return ",".join([*map(str, sorted(self.dead)), *couplers])

    @property
    def num_spins(self) -> int:
        """The number of working qubits."""
        return 2 * self.shore * self.rows * self.columns - len(self.dead)

    @property
    def qubits(self) -> tuple[int, ...]:
        """The numbers that the working qubits have on the chip."""
        return tuple(np.flatnonzero(self._alive).tolist())

    @property
    def denominator(self) -> int:
        """The number by which loops are divided; weights are integer multiples of its inverse."""
        return _PARTS * self._unit

    @property
    def _unit(self) -> int:
        # The unit is even, because a coupling without neighbours is two loops of half its weight.
        return 2 * math.lcm(*range(1, self.shore + 1))

    @cached_property
    def _alive(self) -> Bools:
        alive = np.ones((self.rows * self.columns, 2, self.shore), dtype=np.bool_)
        alive.reshape(-1)[list(self.dead)] = False
        return alive

    @cached_property
    def _inner(self) -> Bools:
        """Working couplers inside cells, by cell, first-shore spin and second-shore spin."""
        inner = self._alive[:, 0, :, None] & self._alive[:, 1, None, :]
        for i, j in self.cut:
            cell, first = divmod(i, 2 * self.shore)
            if j // (2 * self.shore) == cell:
                inner[cell, first, j % self.shore] = False
        return inner

    @cached_property
    def _tracks(self) -> Bools:
        """Working couplers between cells: row 2·cell leads down, row 2·cell + 1 to the right."""
        alive, columns = self._alive, self.columns
        tracks = np.zeros_like(alive)
        tracks[:-columns, 0] = alive[:-columns, 0] & alive[columns:, 0]
        tracks[:-1, 1] = alive[:-1, 1] & alive[1:, 1]
        tracks[columns - 1 :: columns, 1] = False
        for i, j in self.cut:
            cell, place = divmod(i, 2 * self.shore)
            if j // (2 * self.shore) != cell:
                tracks[cell, place // self.shore, place % self.shore] = False
        return tracks.reshape(-1, self.shore)

    def _grid(self) -> tuple[npt.NDArray[np.int32], Rows]:
        """Return the cells that cycles can visit, and the edges between them in compressed rows.

        A cell in several pieces, or with a dead shore, does not act as one spin, and is left out.
        """
        alive, inner = self._alive, self._inner
        first = np.zeros_like(alive[:, 0])
        first[np.arange(len(first)), alive[:, 0].argmax(axis=1)] = True
        for _ in range(self.shore):
            second: Bools = np.logical_or.reduce(inner & first[:, :, None], axis=1)
            first |= np.logical_or.reduce(inner & second[:, None, :], axis=2)
        reached = np.stack([first, second], axis=1)
        whole = (reached == alive).all(axis=(1, 2)) & alive.any(axis=2).all(axis=-1)
        numbers = np.flatnonzero(self._tracks.any(axis=1))
        low = numbers // 2
        edges = np.column_stack([low, low + np.where(numbers % 2, 1, self.columns)])
        edges = edges[whole[edges].all(axis=1)].astype(np.int32)
        starts, neighbours, _ = adjacency(len(alive), edges)
        core: npt.NDArray[np.int32] = core_nodes(starts, neighbours)
        place = np.full(len(alive), -1, dtype=np.int32)
        place[core] = np.arange(len(core), dtype=np.int32)
        kept = place[edges[(place[edges] >= 0).all(axis=1)]]
        return core, (*adjacency(len(core), kept), kept)

    def grow(
        self, stream: npt.NDArray[np.uint64], number: int, most: int, patience: int, meter: Meter
    ) -> tuple[Loops | None, int]:
        """Place `number` loops over cells; return them (None if fewer fit) and how many fit.

        Args:
            stream: the generator's words.
            number: the number of loops.
            most: the largest |J| of an edge between cells.
            patience: failed attempts after which no more space is assumed.
            meter: the steps that are left, counted down.
        """
        cells, grid = self._grid()
        if not len(cells):
            raise ValueError(
                f"the chip without {self.without[:60]} has no cycle of whole cells, so no loop "
                "fits; use fewer dead qubits and couplers, or more rows"
            )
        drop, failed = _Drop(self, most), 0
        while drop.number < number and failed < patience:
            found, starts = drop_cell_loops(
                stream, grid, min(number, _AT_ONCE), INT64_MAX, INT64_MAX, patience, meter
            )
            for begin, end in itertools.pairwise(starts.tolist()):
                meter[0] -= _CHECK
                refuse_spent(meter)
                failed = 0 if drop.add(cells[found[begin:end]].astype(np.int64)) else failed + 1
                if drop.number == number or failed == patience:
                    break
            refuse_spent(meter)
        return (drop.loops() if drop.number == number else None), drop.number


class _Drop:
    """Loops over cells, placed on a chip as loops over its qubits, and the unused couplings."""

    def __init__(self, chip: DamagedCells, most: int) -> None:
        unit = chip._unit
        self.number = 0
        self._chip, self._most = chip, most
        self._weight = chip.scale.numerator * unit  # weight of a coupler between cells
        self._totals = np.zeros(len(chip._tracks), dtype=np.int64)
        self._inner = chip._inner * np.int64(chip.scale.denominator * unit)
        self._between = np.zeros(chip._tracks.shape, dtype=np.int64)
        self._parts: list[tuple[IntArray, int]] = []

    def add(self, cells: IntArray) -> bool:
        """Add a loop over cells if it fits; the loop's last edge is the negative one."""
        tracks, shore = self._chip._tracks, self._chip.shore
        after = np.roll(cells, -1)
        axis = (np.abs(after - cells) == 1).astype(np.int64)  # 0 is up and down
        edges = 2 * np.minimum(cells, after) + axis
        signs = np.ones(len(cells), dtype=np.int64)
        signs[-1] = -1
        if (np.abs(self._totals[edges] + signs) > self._most).any():
            return False
        # Segment s runs from turn s to the next; the negative edge is part of the last one.
        turns = np.flatnonzero(axis != np.roll(axis, 1))
        shared = np.logical_and.reduceat(tracks[np.roll(edges, -turns[0])], turns - turns[0])
        width = int(tracks[edges[-1]].sum())
        widths = shared.sum(axis=1)
        if widths[-1] != width or widths.min() < width:
            return False
        taken = shared & (np.cumsum(shared, axis=1) <= width)
        chosen = (np.flatnonzero(taken) % shore).reshape(-1, width)
        before = np.roll(chosen, 1, axis=0)
        leaves_across = axis[turns, None] == 1
        up = np.where(leaves_across, before, chosen)
        across = np.where(leaves_across, chosen, before)
        pairs = cells[turns][:, None, None], up[:, :, None], across[:, None, :]
        amount = self._weight // width
        if (self._inner[pairs] < amount).any():
            return False
        self._inner[pairs] -= amount
        self._totals[edges] += signs
        segment = (np.searchsorted(turns, np.arange(len(cells)), side="right") - 1) % len(turns)
        self._between[edges] += self._weight * (tracks[edges] & ~taken[segment])
        self._parts.append((self._spread(cells, axis, segment, chosen), amount))
        self.number += 1
        return True

    def _spread(
        self, cells: IntArray, axis: IntArray, segment: IntArray, chosen: IntArray
    ) -> IntArray:
        """Return a loop's spins, once for each pair of a vertical and a horizontal track."""
        came = np.arange(-1, len(cells) - 1)  # the edge that leads to each cell
        edge = np.column_stack([came, came + 1])
        is_visited = np.column_stack([np.ones(len(cells), dtype=bool), axis != axis[came]])
        at, edge = np.repeat(cells, is_visited.sum(axis=1)), edge[is_visited]
        width = chosen.shape[1]
        place = np.indices((width, width)).reshape(2, -1).T[:, axis[edge]]
        shore = self._chip.shore
        spins: IntArray = 2 * shore * at + shore * axis[edge] + chosen[segment[edge], place]
        return spins

    def loops(self) -> Loops:
        """Return all loops over working qubits, including triangles for the unused couplings."""
        rows = [*self._frustrated(), *self._remaining()]
        number = np.cumsum(self._chip._alive) - 1  # the new number of each working qubit
        nodes = np.concatenate([number[spins.reshape(-1)] for spins, _ in rows])
        weights = np.concatenate([each.reshape(-1) for _, each in rows])
        lengths = np.concatenate([np.full(len(spins), spins.shape[1]) for spins, _ in rows])
        return Loops(nodes.astype(np.int32), np.append(0, np.cumsum(lengths)), weights)

    def _frustrated(self) -> Iterator[tuple[IntArray, IntArray]]:
        for spins, amount in self._parts:
            weights = np.full(spins.shape, _PARTS * amount)
            weights[:, -1] *= -1
            yield spins, weights

    def _remaining(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield triangles with weights that sum to the positive couplings not used by loops."""
        pairs, weights = self._left_over()
        if not len(pairs):
            return
        # Couplings that share a spin are neighbours on a ring around it. A coupling and its
        # neighbour are a path of two, which an edge of weight 0 closes.
        spins = pairs.T.reshape(-1)
        order = np.argsort(spins, kind="stable")
        starts = np.flatnonzero(np.append(True, np.diff(spins[order]) > 0))
        following = np.roll(order, -1)
        following[np.append(starts[1:], len(order)) - 1] = order[starts]
        ring = np.empty_like(order)
        ring[order] = following % len(pairs)
        own = np.arange(len(pairs))
        end = (ring[: len(pairs)] == own).astype(np.int64)  # the second if the first has no other
        partner = ring[own + len(pairs) * end]
        has_partner = partner != own
        uses = np.bincount(partner[has_partner], minlength=len(pairs))
        shared, far = pairs[own, end], pairs[own, 1 - end]
        third = pairs[partner].sum(axis=1) - shared
        triangles = np.column_stack([far, shared, third])[has_partner]
        each = np.column_stack([_PARTS * weights - uses, np.ones_like(own), np.zeros_like(own)])
        yield triangles, each[has_partner]
        # A coupling without neighbours is two frustrated triangles that cancel on their other
        # edges.
        alone, half = pairs[~has_partner], _PARTS * weights[~has_partner] // 2
        if len(alone):
            others = np.array(self._chip.qubits[:3])
            away = (others[None, :, None] != alone[:, None, :]).all(axis=2).argmax(axis=1)
            (i, j), x = alone.T, others[away]
            for triangle in ((j, i, x), (i, j, x)):
                yield np.column_stack(triangle), np.column_stack([half, half, -half])

    def _left_over(self) -> tuple[IntArray, IntArray]:
        """Return the positive couplings that loops did not use: pairs of qubits, and weights."""
        shore, columns = self._chip.shore, self._chip.columns
        cell, first, second = np.nonzero(self._inner)
        inner = np.column_stack([first, shore + second]) + 2 * shore * cell[:, None]
        edge, track = np.nonzero(self._between)
        low = 2 * shore * (edge // 2) + shore * (edge % 2) + track
        between = np.column_stack([low, low + 2 * shore * np.where(edge % 2, 1, columns)])
        weights = np.concatenate([self._inner[cell, first, second], self._between[edge, track]])
        return np.concatenate([inner, between]), weights


def _is_coupler(i: int, j: int, columns: int, shore: int) -> bool:
    """Whether two qubits i < j of a Chimera chip are coupled."""
    (cell, place), (other, far) = divmod(i, 2 * shore), divmod(j, 2 * shore)
    if cell == other:
        return place < shore <= far
    if place != far:
        return False
    if place < shore:
        return other == cell + columns
    return other == cell + 1 and other % columns != 0
