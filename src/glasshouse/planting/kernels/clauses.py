"""Clauses of distinct variables whose literals hold a given number of times."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled
from glasshouse.kernels.xoshiro import below, next_word
from glasshouse.planting.kernels.permutation import permute


@compiled
def draw_clauses(
    stream: Any, num_variables: int, num_true: int, mirrored: bool, nodes: Any, signs: Any
) -> None:
    """Fill two tables, one row per clause: its variables, and +1 where a literal is to be true.

    Every set of variables is equally likely, and every choice of `num_true` literals among them;
    with `mirrored`, all signs of a clause are turned in every second clause, at random.

    Args:
        stream: a generator's words.
        num_variables: variables are drawn from these.
        num_true: literals of each clause that are true.
        mirrored: whether as many false ones do as well.
        nodes: int32, one row per clause, filled here.
        signs: int64, of the same shape, filled here.
    """
    count, length = nodes.shape
    last_seen = np.full(num_variables, -1, dtype=np.int64)
    for clause in range(count):
        # Floyd's way to a uniform subset: as many draws as elements.
        for place in range(length):
            most = num_variables - length + place
            variable = below(stream, most + 1)
            if last_seen[variable] == clause:
                variable = most
            last_seen[variable] = clause
            nodes[clause, place] = variable
        sign = 1
        if mirrored and next_word(stream) & np.uint64(1):
            sign = -1
        for place in range(length):
            signs[clause, place] = sign if place < num_true else -sign
        permute(stream, signs[clause])
