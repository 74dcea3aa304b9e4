"""Properties of instances that need no solver: frustration, intersections, edges and loops."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.problems import MaxSat, Polynomial
from glasshouse.store.row_types import Column, Columns, Kind
from glasshouse.studies.quantities.hardness import frustration_of
from glasshouse.studies.quantities.quantity import study_kind

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
def measure(task: Task, first: int, count: int) -> Columns:
    """Grow instances `first` to `first + count - 1` and measure their properties."""
    rows = {column.name: np.zeros(count, dtype=column.dtype) for column in SHAPES.measured}
    for k in range(count):
        begin = time.perf_counter()
        plant = task.grow(first + k)
        form = plant.problem if isinstance(plant.problem, MaxSat) else plant.form
        cancelled = int(np.abs(plant.loops.weights).sum()) - int(form.total_weight)
        if plant.squares or isinstance(form, MaxSat):  # the problem is not the sum of its loops
            cancelled = 0
        if isinstance(form, MaxSat):
            ends = np.abs(np.concatenate([form.literals, form.hard_literals]))
        else:
            ends = form.indices if isinstance(form, Polynomial) else form.edges
        rows["frustration"][k] = frustration_of(plant)
        rows["intersections"][k] = cancelled / (2 * plant.loop_weight)
        rows["edges"][k] = form.num_edges
        rows["free_spins"][k] = form.num_variables - len(np.unique(ends))
        rows["loops"][k] = plant.loops.num_loops
        rows["seconds"][k] = time.perf_counter() - begin
    return rows
