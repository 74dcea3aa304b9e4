"""Long loops as sums of loop atoms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glasshouse.certificates.flat_cycles import checked_cycles
from glasshouse.planting.loops import Loops
from glasshouse.problems import validation


def decompose_loop(nodes: Sequence[int], *, weight: int = 1) -> Loops:
    """Write a frustrated loop of length 2l as the sum of l-1 loop atoms (paper, "Loop Atom").

    The loop i1-j1-…-il-jl-i1 weighs +w on every edge but the last, from jl back to i1, which
    weighs -w. Atom k is i1-jk-i(k+1)-j(k+1)-i1; the edge from i1 to jk, where it meets the atom
    before, cancels.

    Args:
        nodes: the loop, alternating between the two layers, its negative edge the one from the
            last node to the first.
        weight: w.

    >>> atoms = decompose_loop([0, 3, 1, 4, 2, 5])
    >>> [atom.nodes.tolist() for atom in atoms]
    [[0, 3, 1, 4], [0, 4, 2, 5]]
    >>> atoms.sum(6) == Loops.of_length([[0, 3, 1, 4, 2, 5]], positive=1, negative=-1).sum(6)
    True
    """
    cycle = checked_cycles(nodes, [0, len(nodes)])[0]
    if len(cycle) < 4 or len(cycle) % 2:
        raise ValueError(
            f"a loop of length {len(cycle)} cannot be made of atoms, which have length 4; loops "
            "between two layers are even and at least 4 long"
        )
    validation.count(weight, "weight", 1)
    atoms = [[cycle[0], *cycle[k : k + 3]] for k in range(1, len(cycle) - 2, 2)]
    return Loops.of_length(np.array(atoms), positive=weight, negative=-weight)
