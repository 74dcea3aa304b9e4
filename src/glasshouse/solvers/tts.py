"""The optimal time to solution, as reported in benchmarks of annealers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from glasshouse.randomness import RngLike, Seed
from glasshouse.solvers.annealing import anneal
from glasshouse.solvers.result import AnnealResult, TimeToSolution, Unit
from glasshouse.solvers.schedule import sweep_count
from glasshouse.solvers.spin_form import Solvable, SpinForm, Target
from glasshouse.summaries import Summarised, SummaryTable


@dataclass(frozen=True, eq=False, repr=False)
class OptimalTts(Summarised):
    """The shortest time to solution over several run lengths, with the results for each length.

    Attributes:
        sweeps: the run length with the shortest time to solution.
        tts: the time to solution at this length; a lower bound if no run of any length succeeded.
        results: one result per run length, in the given order.
        is_at_edge: whether the optimum is the shortest or the longest length tried, so that a wider
            grid may contain a better length.
    """

    sweeps: int
    tts: TimeToSolution
    results: tuple[AnnealResult, ...]
    is_at_edge: bool

    def summary(self) -> str:
        """Return one line of text for each run length, with the best length marked."""
        table = self._summary_table()
        rows = table.rows
        lines = [f"{n} sweeps: p = {p}, {tts}  {mark}".rstrip() for n, p, tts, mark in rows]
        return "\n".join([*lines, *table.below])

    def _summary_table(self) -> SummaryTable:
        """Return the summary as a table with one row for each run length."""
        rows = []
        for result in self.results:
            tts = result.tts(self.tts.success, self.tts.unit, confidence=self.tts.confidence)
            mark = "← best" if result.sweeps == self.sweeps else ""
            rows.append((str(result.sweeps), f"{result.success_probability:.3g}", str(tts), mark))
        edge = ["the best length is at an edge of the grid: try a wider grid"]
        head = ("sweeps", "p", "time to solution", "")
        return SummaryTable(rows, head, below=edge if self.is_at_edge else [])

    def __repr__(self) -> str:
        return f"OptimalTts({self.sweeps} sweeps, {self.tts})"


def optimal_tts(
    problem: Solvable,
    target: Target = "planted",
    sweeps_grid: Sequence[int] = (10, 30, 100, 300, 1000, 3000),
    *,
    success: float = 0.99,
    unit: Unit = "work",
    runs: int = 1024,
    rng: RngLike = None,
    **options: Any,
) -> OptimalTts:
    """Minimise the time to solution over the number of sweeps per run.

    Args:
        problem: any problem that `anneal` takes.
        target: the energy that counts as success; by default the energy of a given plant.
        sweeps_grid: the run lengths to try, all different.
        success: the required probability of at least one success: 0.99 yields TTS99.
        unit: "work", "elapsed" or "sweeps", see `AnnealResult.tts`.
        runs: the number of runs of each length.
        rng: a seed, or anything that numpy.random.default_rng takes.
        options: further options of `anneal`, such as `beta`, `check` or `threads`.

    >>> from glasshouse.planting import random_loops
    >>> planted = random_loops(40, 40, frustration="0.2", loop_density=0.4, rng=1)
    >>> best = optimal_tts(planted, planted.energy, (2, 30, 600), unit="sweeps", rng=1)
    >>> best.sweeps, best.is_at_edge
    (30, False)
    """
    grid = [sweep_count(sweeps, "sweeps_grid") for sweeps in sweeps_grid]
    if not grid:
        raise ValueError("sweeps_grid is empty; pass at least one run length")
    if len(set(grid)) < len(grid):
        raise ValueError(f"sweeps_grid={grid} repeats a run length; pass each length once")
    target = SpinForm(problem).wanted(target)
    if target is None:
        raise ValueError("there is no target, so success is not defined; pass an energy as target")
    seed = Seed.of(rng)
    results = tuple(
        _uninterrupted(
            anneal(problem, sweeps=sweeps, runs=runs, target=target, rng=seed.child(k), **options)
        )
        for k, sweeps in enumerate(grid)
    )
    times = [result.tts(success, unit) for result in results]
    # A length without successes has only a lower bound; it is best only if all lengths have none.
    best = min(range(len(grid)), key=lambda k: (times[k].is_bound, times[k].value))
    edge = grid[best] in (min(grid), max(grid))
    return OptimalTts(grid[best], times[best], results, edge)


def _uninterrupted(result: AnnealResult) -> AnnealResult:
    """Return a result, or raise KeyboardInterrupt if Ctrl-C stopped its runs."""
    if result.stopped == "interrupted":
        raise KeyboardInterrupt
    return result
