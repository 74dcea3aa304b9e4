"""The best combination of two states, cluster by cluster, on any sparse graph.

Sites where two states differ form clusters, which do not touch each other. A flip of a cluster in
the first state changes its energy by an amount that does not depend on the other clusters. So the
best combination of both states flips exactly the clusters that lower the energy. Two good states of
a sparse problem usually have many clusters, and a combination that is better than both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled

_SAME, _DIFFERENT, _MET = 0, 1, 2


class Sites(NamedTuple):
    """The graph of the sites in compressed sparse rows, and the scratch arrays of one thread.

    A field is an edge to the ghost, the node after the last site.
    """

    starts: npt.NDArray[np.int64]
    neighbours: npt.NDArray[np.int32]
    weights: npt.NDArray[Any]
    marks: npt.NDArray[np.uint8]  # marks of each site and of the ghost
    members: npt.NDArray[np.int32]  # sites of the current cluster


@compiled
def recombine(state: Any, other: Any, even: Any, sites: Any) -> Any:
    """Flip the clusters of `state` that lower its energy, and return the energy change.

    Spins are bytes: 0 is up, and 255 is down. `even` means that no site has a field. Then `other`
    is equivalent to its mirror image, and whichever differs less from `state` is taken.
    """
    marks, members = sites.marks, sites.members
    starts, neighbours, weights = sites.starts, sites.neighbours, sites.weights
    size = state.size
    count = 0
    for i in range(size):
        marks[i] = state[i] != other[i]
        count += marks[i]
    if even and 2 * count > size:
        for i in range(size):
            marks[i] ^= 1
    change = weights.dtype.type(0)
    for seed in range(size):
        if marks[seed] != _DIFFERENT:
            continue
        marks[seed], members[0] = _MET, seed
        done, end, cost = 0, 1, weights.dtype.type(0)
        while done < end:
            i = members[done]
            done += 1
            for k in range(starts[i], starts[i + 1]):
                j = neighbours[k]
                if marks[j] == _DIFFERENT:
                    marks[j], members[end] = _MET, j
                    end += 1
                elif marks[j] == _SAME:
                    is_up = j == size or state[j] == 0  # the ghost is up
                    cost += weights[k] if is_up == (state[i] == 0) else -weights[k]
        if cost < 0:
            change += cost + cost
            for k in range(end):
                state[members[k]] ^= 255
    return change
