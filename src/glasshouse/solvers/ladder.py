"""What is told of a ladder of temperatures: how replicas moved on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glasshouse.problems.validation import FloatArray
from glasshouse.summaries import Summarised

_MOST_SHOWN = 40  # numbers on a line


@dataclass(frozen=True, eq=False, repr=False)
class Ladder(Summarised):
    """How replicas moved on the ladder, over all runs.

    Attributes:
        acceptance: share of the exchanges accepted, between each temperature and the next colder.
        round_trips: times that a replica went from the hottest to the coldest temperature and back,
            in one ladder, on average.
        clusters: whether cluster moves were made, at each temperature.
        every: sweeps from one to the next; 0 if there were none.
        seconds: wall-clock time of the warm-up, which is not among that of the runs.
    """

    acceptance: FloatArray
    round_trips: float
    clusters: npt.NDArray[np.bool_]
    every: int
    seconds: float

    def __str__(self) -> str:
        shown = self.acceptance
        if len(shown) > _MOST_SHOWN:
            shown = np.quantile(shown, (0, 0.5, 1))
        numbers = " ".join(f"{share:.2f}" for share in shown)
        what = "least, median, most" if len(shown) < len(self.acceptance) else "hot to cold"
        text = f"{len(self.clusters)} temperatures, exchanges accepted ({what}): {numbers}\n"
        moves = "no cluster moves"
        if self.every:
            number = int(self.clusters.sum())
            moves = f"cluster moves at {number} temperatures, sweeps between them: {self.every}"
        text += f"{self.round_trips:.3g} round trips of a ladder, {moves}, "
        return text + f"warm-up {self.seconds:.3g} s"
