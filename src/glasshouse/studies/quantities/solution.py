"""Time to solution for any ensemble, by annealing or tempering."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from glasshouse.planting import Planted
from glasshouse.problems import validation
from glasshouse.problems.ratio import ratio
from glasshouse.proofs import prove
from glasshouse.solvers import anneal, temper
from glasshouse.solvers.hitting import typical_field
from glasshouse.store.row_types import Column, Kind
from glasshouse.studies.quantities.quantity import Row, one_by_one, study_kind

if TYPE_CHECKING:
    from glasshouse.studies.task import Task

SOLUTION = Kind(
    "solution",
    (
        Column("solved", "integer", "1 if a run reached the target, 0 if none did (censored)"),
        Column("sweeps", "real", "sweeps to 99 % success; a lower bound if not solved"),
        Column("success", "real", "the fraction of runs that reached the target"),
        Column("target", "real", "the planted or proven energy; else the lowest that was found"),
        Column("proven", "integer", "1 if the target is planted or proven, else 0"),
    ),
    counted="solved",
)


@dataclass(frozen=True)
class Runs:
    """The settings of the solver: algorithm, sweeps, runs, β and schedule.

    Attributes:
        algorithm: "anneal" or "temper".
        sweeps: the number of sweeps of a run.
        runs: the number of runs for each instance.
        beta: (first, last) inverse temperature in units of one over the typical local field, which
            means the same at every size; None for the solver's own range.
        schedule: how β rises in `anneal`: "geometric" or "linear".
        node_limit: the largest number of nodes in a proof of the target, if nothing is planted.
    """

    algorithm: Literal["anneal", "temper"] = "anneal"
    sweeps: int = 1000
    runs: int = 256
    beta: Any = None
    schedule: Literal["geometric", "linear"] = "geometric"
    node_limit: int | None = None

    def __post_init__(self) -> None:
        if self.algorithm not in ("anneal", "temper"):
            raise ValueError(f"algorithm={self.algorithm!r:.60} must be 'anneal' or 'temper'")
        if self.schedule not in ("geometric", "linear"):
            raise ValueError(f"schedule={self.schedule!r:.60} must be 'geometric' or 'linear'")
        validation.count(self.sweeps, "sweeps", 1)
        validation.count(self.runs, "runs", 1)
        if self.node_limit is not None:
            validation.count(self.node_limit, "node_limit", 1)
        if self.beta is not None:
            object.__setattr__(self, "beta", _range_of(self.beta))

    def canonical(self) -> dict[str, Any]:
        """Return the settings as plain values, with β as exact fractions."""
        return asdict(self) | {"beta": None if self.beta is None else list(self.beta)}


def _range_of(beta: Any) -> tuple[str, str]:
    if not isinstance(beta, (list, tuple)) or len(beta) != 2:
        raise ValueError(f"beta={beta!r:.60} is not a pair (first, last)")
    first, last = (ratio(part, "beta") for part in beta)
    if not 0 < first <= last:
        raise ValueError(f"beta={beta!r:.60} must satisfy 0 < first <= last")
    return str(first), str(last)


@study_kind(SOLUTION, settings=Runs, value="sweeps", symbol="TTS99 (sweeps)", planted=False)
@one_by_one(SOLUTION)
def measure(task: Task, index: int) -> Row:
    """Solve an instance."""
    runs: Runs = task.solver
    grown = task.grow(index)
    problem = task.problem(index)
    if isinstance(grown, Planted):
        target, is_proven = grown.energy, True
    else:
        proof = prove(problem, node_limit=runs.node_limit)
        if proof.statistics.stopped == "Ctrl-C":
            raise KeyboardInterrupt
        target, is_proven = proof.energy, proof.optimal
    options: dict[str, Any] = {
        "sweeps": runs.sweeps, "runs": runs.runs, "target": target,
        "rng": task.solving_seed.child(index),
    }  # fmt: skip
    if runs.beta is not None:
        unit = typical_field(problem)
        options["beta"] = [float(Fraction(part)) / unit for part in runs.beta]
    if runs.algorithm == "anneal":
        found = anneal(problem, schedule=runs.schedule, **options)
    else:
        found = temper(problem, **options)
    if found.stopped is not None:
        raise KeyboardInterrupt
    taken = found.tts(unit="sweeps")
    return {
        "solved": not taken.is_bound,
        "sweeps": taken.value,
        "success": found.success_probability,
        "target": target,
        "proven": is_proven,
    }
