"""Realised values of a family: computed once from its first instance, and then stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from glasshouse.planting import Planted
from glasshouse.problems.validation import INT64_MAX
from glasshouse.solvers.schedule import follows_paper
from glasshouse.store.records import fields_of, short
from glasshouse.studies.quantities.hardness import Annealer, RunPlan


@dataclass(frozen=True)
class Realised:
    """Facts about a family that figures and fits need, in addition to its rows.

    Attributes:
        size: n, visible spins or half the vertices; all spins if the paper's n has no meaning,
            see `follows_paper`.
        loops: the paper's N; 0 if there are only squares.
        schedule: the annealer's settings in numbers; None if nothing is solved.
    """

    size: float
    loops: int
    schedule: RunPlan | None

    @classmethod
    def of(cls, plant: Planted, solver: Annealer | None) -> Realised:
        """Return the realised values of an instance."""
        schedule = None if solver is None else solver.schedule(plant)
        size = plant.half if follows_paper(plant) else plant.problem.num_variables
        return cls(float(size), plant.loops.num_loops, schedule)

    def plain(self) -> dict[str, Any]:
        """Return plain values for a store; a linear schedule is omitted, as in older stores."""
        values = asdict(self)
        if self.schedule is not None and self.schedule.schedule == "linear":
            del values["schedule"]["schedule"]
        return values

    @classmethod
    def from_plain(cls, stored: Mapping[str, Any]) -> Realised:
        """Return the realised values in a store; raise a ValueError if they are impossible."""
        size, loops, schedule = fields_of(stored, "size", "loops", "schedule")
        if schedule is not None:
            rise = schedule.get("schedule") if isinstance(schedule, dict) else None
            if rise not in (None, "geometric"):
                raise ValueError(f"the realised schedule {short(rise)} is not 'geometric'")
            names = ("sweeps_per_run", "first_beta", "last_beta", "max_sweeps")
            known = names if rise is None else (*names, "schedule")
            sweeps, first, last, most = fields_of(schedule, *known)[:4]
            low, high = _number(first, 0), _number(last, 0)
            if rise is not None and not 0 < low <= high:
                raise ValueError(f"the realised β from {low} to {high} cannot be geometric")
            schedule = RunPlan(_whole(sweeps), low, high, _whole(most), rise or "linear")
        return cls(_number(size, 1), _whole(loops, 0), schedule)


def _whole(value: object, least: int = 1) -> int:
    if type(value) is not int:
        raise ValueError(f"the realised value {short(value)} is not an integer")
    return int(_number(value, least))


def _number(value: object, least: int) -> float:
    if not isinstance(value, (int, float)) or not least <= value <= INT64_MAX:
        raise ValueError(f"the realised value {short(value)} is not a number >= {least}")
    return value
