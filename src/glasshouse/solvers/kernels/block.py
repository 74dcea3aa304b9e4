"""What a kernel works on: a block of runs that go side by side, one per lane."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import inner


class LaneBlock(NamedTuple):
    """Runs in lanes. Energies are without the problem's offset, in the kernel's own dtype."""

    generator: npt.NDArray[np.uint64]
    spins: npt.NDArray[Any]  # in the kernel's own form
    energies: npt.NDArray[Any]  # of the spins
    lowest: npt.NDArray[Any]  # lowest energy at the end of a sweep so far
    states: npt.NDArray[np.uint8]  # the spins it had: a row per site, a byte per lane, 255 = down
    goals: npt.NDArray[Any]  # the energy to reach; `never` once it was reached, or without a target
    hits: npt.NDArray[np.int32]  # number of the sweep that reached the goal first, 0 = none
    mask: npt.NDArray[np.uint8]  # scratch: 255 for the lanes in question
    never: Any  # an energy that no state has


@inner
def mark_hits(number: Any, block: Any) -> Any:
    """Note the runs that reach their goal, keep their energies, and put them into the mask."""
    for lane in range(block.energies.size):
        reached = block.energies[lane] <= block.goals[lane]
        block.mask[lane] = 255 if reached else 0
        if reached:
            block.hits[lane] = number
            block.lowest[lane] = block.energies[lane]
            block.goals[lane] = block.never
