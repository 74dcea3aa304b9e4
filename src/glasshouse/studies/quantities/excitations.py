"""First excited states: energy gap and distance to ground states (section "Frustration")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glasshouse.landscape import distance, low_energy_states
from glasshouse.planting import Planted
from glasshouse.planting.methods import random_loops
from glasshouse.problems.validation import SpinArray
from glasshouse.store.row_types import Column, Kind
from glasshouse.studies.quantities.quantity import Row, one_by_one, study_kind

if TYPE_CHECKING:
    from glasshouse.studies.task import Task

EXCITATIONS = Kind(
    "excitations",
    (
        Column("found", "integer", "1 where an excited state is among the lowest states"),
        Column("gap", "real", "from ground energy to the next, in loop weights; 0 if not found"),
        Column("distance", "real", "the paper's d, mean over the first excited states; 0 if not"),
        Column("excited_states", "integer", "listed first excited states"),
        Column("ground_states", "integer", "listed ground states, up to flips of components"),
        Column("loops", "integer", "the paper's N"),
    ),
    counted="found",
)
# Degenerate levels of small instances have fewer states than this, up to trivial symmetries.
_LISTED = 256


def warm_up(task: Task, index: int) -> None:
    """Load or compile all code that measuring needs, by enumerating a minimal instance.

    Args:
        task: what will be measured.
        index: an instance to grow.
    """
    task.grow(index)
    least = random_loops(2, 2, frustration="1/5", loops=1, rng=1)
    grounds = low_energy_states(least.problem, _LISTED).states[:1]
    _nearest(least, grounds, grounds[0])


@study_kind(EXCITATIONS, warm_up=warm_up, pairs=True)
@one_by_one(EXCITATIONS)
def measure(task: Task, index: int) -> Row:
    """Enumerate the states of an instance (up to about 26 spins)."""
    plant = task.grow(index)
    found = low_energy_states(plant.problem, _LISTED)
    grounds = found.states[found.energies == found.energies[0]]
    row = {"loops": plant.loops.num_loops, "ground_states": len(grounds)}
    if found.gap is None:
        return row | {"found": 0, "gap": 0, "distance": 0, "excited_states": 0}
    excited = found.states[found.energies == found.energies[0] + found.gap]
    return row | {
        "found": 1,
        "gap": float(found.gap) / plant.loop_weight,
        "distance": np.mean([_nearest(plant, grounds, state) for state in excited]),
        "excited_states": len(excited),
    }


def _nearest(plant: Planted, grounds: SpinArray, state: SpinArray) -> float:
    """Return the distance of a state to the nearest ground state."""
    return min(float(distance(plant.problem, ground, state)) for ground in grounds)
