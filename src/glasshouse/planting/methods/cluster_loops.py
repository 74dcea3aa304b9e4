"""Deceptive cluster loops: frustrated loops over the cells of a Chimera graph."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.kernels.adjacency import adjacency
from glasshouse.planting import arguments
from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.demand import Demand, Meter, refuse_spent
from glasshouse.planting.graph_names import Extent, refuse_large
from glasshouse.planting.graphs import Rows
from glasshouse.planting.kernels.cluster_loops import drop_cell_loops, spread_over_spins
from glasshouse.planting.loops import Loops
from glasshouse.planting.method import Plan, planting_method
from glasshouse.planting.methods.damaged_cells import DamagedCells
from glasshouse.planting.planted import Planted
from glasshouse.problems import INT64_MAX, IntArray, validation
from glasshouse.randomness import RngLike, Streams

_MOST_SPINS, _MOST_TERM = 1 << 28, 1 << 20
# Failed attempts after which no more space is assumed.
_PATIENCE = 10_000
# The same on damaged chips, where an attempt is checked in Python and takes 100 times as long.
_DAMAGED_PATIENCE = 1000
# If space runs out, everything starts again this many times.
_RESTARTS = 4
# The approximate number of nodes of a loop over qubits, for estimates before loops are known.
_USUAL_LENGTH = 16


@dataclass(frozen=True)
class _Cells:
    """A grid of cells; each cell has two shores of spins, which are fully coupled to each other.

    The numbers of the spins are those of a Chimera graph: cells row by row, and in each first the
    shore that is coupled up and down, then the one that is coupled left and right.
    """

    rows: int
    columns: int
    shore: int
    scale: Fraction

    @classmethod
    def of(cls, rows: Any, columns: Any, shore: Any, scale: Any) -> _Cells:
        """Return cells that can hold loops, or raise an error if the arguments do not allow any."""
        height = validation.count(rows, "rows", 2)
        length = height if columns is None else validation.count(columns, "columns", 2)
        width = validation.count(shore, "shore", 2)
        if 2 * width * height * length > _MOST_SPINS:
            raise ValueError(
                f"{height} × {length} cells of {2 * width} spins exceed the limit of 2^28 spins; "
                "use fewer cells"
            )
        refuse_large(Extent(2 * width * height * length, width**2 * height * length))
        ratio = arguments.ratio(scale, "scale")
        if not 0 < ratio <= width:
            raise ValueError(
                f"scale={scale} must be above 0 and at most shore={width}; above it, cells break "
                "before loops do, and the planted state is not a ground state"
            )
        if max(ratio.numerator, ratio.denominator) > _MOST_TERM:
            raise ValueError(f"scale={ratio} needs a numerator and denominator of at most 2^20")
        return cls(height, length, width, ratio)

    @property
    def number(self) -> int:
        """The number of cells."""
        return self.rows * self.columns

    @property
    def num_spins(self) -> int:
        """The number of spins in all cells."""
        return 2 * self.shore * self.number

    @property
    def most_turns(self) -> int:
        """The largest number of loops that may turn in a cell without outweighing its couplings."""
        return int(self.shore / self.scale)

    @property
    def denominator(self) -> int:
        """The number by which loops are divided, which is twice the shore size."""
        return 2 * self.shore

    def loops_over_spins(self, cells: npt.NDArray[np.int32], starts: IntArray) -> Loops:
        """Turn loops over cells into loops over spins, and add the unused couplings of cells.

        A loop becomes one loop for each pair of a spin a of one shore and b of the other: it runs
            over spins a up and down, over spins b left and right, and turns through the coupling
            (a, b). So it weighs the same on all couplings of a cell, and so does the remainder.
        """
        arrays = spread_over_spins(
            cells, starts, self.number, self.shore, self.scale.numerator, self.scale.denominator
        )
        for array in arrays:
            array.setflags(write=False)  # then no copy is needed
        return Loops(*arrays)


@planting_method(
    "cluster",
    grows_on="spins",
    examples=(
        {"rows": 4, "alpha": "1/4", "scale": "2", "ruggedness": 1},
        {"rows": 2, "columns": 3, "alpha": "1/2", "shore": 2},
        {"rows": 3, "alpha": "1/4", "without": "3,17,0-4"},
    ),
    knobs={"scale": ("2", "1/4")},
)
def cluster_loops(
    rows: int,
    *,
    alpha: Ratio,
    columns: int | None = None,
    scale: Ratio = 1,
    ruggedness: int | None = None,
    shore: int = 4,
    without: str | None = None,
    state: State | None = None,
    rng: RngLike = None,
) -> Plan:
    """Plant on a Chimera graph with loops over its cells, whose inner couplings are ferromagnetic.

    Deceptive cluster loops (Mandrà, Katzgraber, Quantum Science and Technology 3, 04LT01, 2018,
    arXiv 1711.01368) with the parameters of chook. Loops, found by random walks on the grid of
    cells, add +1 to their edges and -1 to one of them. An edge of weight J becomes `shore` parallel
    couplings of scale·J; all couplings within a cell are +1; all of these are multiplied by the
    denominator of the scale. While cells do not break, the planted state of the loops is a ground
    state. If scale times the number of loops that turn in a cell exceeds the shore, that is not
    proven and can be wrong: such loops are not placed, and a scale above the shore is refused.

    On a chip with dead qubits and couplers, the others keep their weights. A loop needs working
    tracks all along, as many as its negative edge has couplers (`docs/families.md`).

    Args:
        rows: rows of cells.
        alpha: loops per cell; their number is rounded up.
        columns: columns of cells; by default as many as rows.
        scale: a coupling between cells in units of one within: the paper's λ, at most the shore.
        ruggedness: the largest |J| of an edge between cells, the paper's R; no limit by default.
        shore: spins in half a cell; 4 on Chimera.
        without: dead qubits and couplers of the chip, such as "3,17,0-4"; none by default.
        state: the state to plant; uniform at random if None.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> plant = cluster_loops(8, alpha="1/4", scale=2, ruggedness=1, rng=1)
    >>> plant.problem.num_variables, plant.energy
    (512, -1520)
    >>> plant.verify()
    >>> cluster_loops(8, alpha="1/4", without="3,17,0-4", rng=1).problem.variables[:5]
    (0, 1, 2, 4, 5)
    """
    cells = _Cells.of(rows, columns, shore, scale)
    density = arguments.ratio(alpha, "alpha")
    if density <= 0:
        raise ValueError(f"alpha={alpha} must be above 0: it is the number of loops per cell")
    number = arguments.number_of(math.ceil(density * cells.number), None, 1)
    most = INT64_MAX if ruggedness is None else validation.count(ruggedness, "ruggedness", 1)
    most = min(most, INT64_MAX)
    if without is not None:
        return _on_damaged_chip(cells, without, number, most, state)

    def draw(streams: Streams, meter: Meter) -> Planted:
        spins = arguments.planted_state(state, cells.num_spins, streams[0])
        loops = cells.loops_over_spins(*_dropped(cells, streams[1], number, most, meter))
        return Planted.of_ising(cells.num_spins, loops, spins, 1, denominator=cells.denominator)

    per_loop, per_cell = cells.shore**2, cells.shore
    demand = Demand.of_loops(
        cells.num_spins,
        per_cell * cells.number + per_loop * number,
        per_loop * (2 * cells.number + _USUAL_LENGTH * number),
    )
    return Plan(demand, draw, {"columns": cells.columns})


def _on_damaged_chip(
    cells: _Cells, without: str, number: int, most: int, state: State | None
) -> Plan:
    """Return a plan for a chip with dead qubits and couplers."""
    chip = DamagedCells.of(cells.rows, cells.columns, cells.shore, cells.scale, without)

    def draw(streams: Streams, meter: Meter) -> Planted:
        spins = arguments.planted_state(state, chip.num_spins, streams[0])
        reached = 0
        for _ in range(_RESTARTS):
            loops, dropped = chip.grow(streams[1], number, most, _DAMAGED_PATIENCE, meter)
            if loops is not None:
                return Planted.of_ising(
                    chip.num_spins, loops, spins, 1,
                    labels=chip.qubits, denominator=chip.denominator,
                )  # fmt: skip
            reached = max(reached, dropped)
        raise _no_room(cells, number, reached, ", or fewer dead qubits")

    per_loop, couplers = cells.shore**2, cells.number * (cells.shore**2 + 2 * cells.shore)
    demand = Demand.of_loops(
        chip.num_spins,
        2 * couplers + per_loop * number,
        6 * couplers + per_loop * _USUAL_LENGTH * number,
    )
    return Plan(demand, draw, {"columns": cells.columns, "without": chip.without})


def _grid(cells: _Cells) -> Rows:
    """Return the couplings between cells in CSR format; each coupling is part of a cycle."""
    numbers = np.arange(cells.number, dtype=np.int32)
    edges = np.empty((cells.number, 2, 2), dtype=np.int32)  # to the right, and down
    edges[:, :, 0] = numbers[:, None]
    edges[:, :, 1] = numbers[:, None] + np.array([1, cells.columns], dtype=np.int32)
    is_right = numbers % cells.columns < cells.columns - 1
    kept = edges[np.column_stack([is_right, numbers < cells.number - cells.columns])]
    return *adjacency(cells.number, kept), kept


def _dropped(
    cells: _Cells, stream: npt.NDArray[np.uint64], number: int, most: int, meter: Meter
) -> tuple[npt.NDArray[np.int32], IntArray]:
    """Place exactly `number` loops over cells; otherwise raise, and state how many fit."""
    grid, reached = _grid(cells), 0
    for _ in range(_RESTARTS):
        found, starts = drop_cell_loops(
            stream, grid, number, most, cells.most_turns, _PATIENCE, meter
        )
        if len(starts) - 1 == number:
            return found, starts
        refuse_spent(meter)
        reached = max(reached, len(starts) - 1)
    raise _no_room(cells, number, reached)


def _no_room(cells: _Cells, number: int, reached: int, remedy: str = "") -> ValueError:
    return ValueError(
        f"no space for {number} loops on {cells.rows} × {cells.columns} cells, where at most "
        f"{cells.most_turns} may turn in a cell at scale={cells.scale}; {reached} was the most "
        f"in {_RESTARTS} attempts; use a smaller alpha or scale, or a larger ruggedness{remedy}"
    )
