"""What came out of a family of instances: read off its first one, stored, never grown again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from glasshouse.planting import Planted
from glasshouse.problems.validation import INT64_MAX
from glasshouse.studies.kinds.hardness import Annealer, RunPlan
from glasshouse.studies.store.records import fields_of, short


@dataclass(frozen=True)
class Realised:
    """What figures and fits need to know of a family beside its rows.

    Attributes:
        size: n, visible spins or half the vertices.
        loops: the paper's N.
        schedule: the annealer's settings in numbers; None where nothing is solved.
    """

    size: float
    loops: int
    schedule: RunPlan | None

    @classmethod
    def of(cls, plant: Planted, solver: Annealer | None) -> Realised:
        """Read it off an instance."""
        schedule = None if solver is None else solver.schedule(plant)
        return cls(float(plant.half), plant.loops.num_loops, schedule)

    def plain(self) -> dict[str, Any]:
        """As a store keeps it."""
        return asdict(self)

    @classmethod
    def from_plain(cls, stored: Mapping[str, Any]) -> Realised:
        """What a store kept; a ValueError if it cannot be."""
        size, loops, schedule = fields_of(stored, "size", "loops", "schedule")
        if schedule is not None:
            names = ("sweeps_per_run", "first_beta", "last_beta", "max_sweeps")
            sweeps, first, last, most = fields_of(schedule, *names)
            schedule = RunPlan(_whole(sweeps), _number(first, 0), _number(last, 0), _whole(most))
        return cls(_number(size, 1), _whole(loops), schedule)


def _whole(value: object) -> int:
    if type(value) is not int:
        raise ValueError(f"{short(value)} was realised, where a whole number should be")
    return int(_number(value, 1))


def _number(value: object, least: int) -> float:
    if not isinstance(value, (int, float)) or not least <= value <= INT64_MAX:
        raise ValueError(f"{short(value)} was realised, where a number from {least} on should be")
    return value
