"""Properties of instances that need no solver: frustration, intersections, edges and loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glasshouse.problems import MaxSat, Polynomial
from glasshouse.store.row_types import Column, Kind
from glasshouse.studies.quantities.hardness import frustration_of
from glasshouse.studies.quantities.quantity import Row, one_by_one, study_kind

if TYPE_CHECKING:
    from glasshouse.studies.task import Task

SHAPES = Kind(
    "shapes",
    (
        Column("frustration", "real", "realised frustration index at the plant"),
        Column("intersections", "real", "the paper's N×: half the weight of loops that cancelled"),
        Column("edges", "integer", "couplings that are not zero"),
        Column("free_spins", "integer", "spins that no loop touches"),
        Column("loops", "integer", "the paper's N; 0 where there are only squares"),
    ),
)


@study_kind(SHAPES)
@one_by_one(SHAPES)
def measure(task: Task, index: int) -> Row:
    """Grow an instance and measure its properties."""
    plant = task.grow(index)
    form = plant.problem if isinstance(plant.problem, MaxSat) else plant.form
    cancelled = int(np.abs(plant.loops.weights).sum()) - int(form.total_weight)
    if plant.squares or isinstance(form, MaxSat):  # the problem is not the sum of its loops
        cancelled = 0
    if isinstance(form, MaxSat):
        ends = np.abs(np.concatenate([form.literals, form.hard_literals]))
    else:
        ends = form.indices if isinstance(form, Polynomial) else form.edges
    return {
        "frustration": frustration_of(plant),
        "intersections": cancelled / (2 * plant.loop_weight),
        "edges": form.num_edges,
        "free_spins": form.num_variables - len(np.unique(ends)),
        "loops": plant.loops.num_loops,
    }
