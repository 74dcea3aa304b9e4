"""What an annealing kernel is, and the catalogue of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from glasshouse.catalogue import Catalogue

KERNELS = Catalogue["Kernel"]("kernel")

FEW_RUNS = 16  # so many, or fewer, do not fill the lanes of a kernel for many runs

_Make = TypeVar("_Make", bound=Callable[[Any], Any])


@dataclass(frozen=True)
class Kernel:
    """A kind of tables and the compiled functions that work on them.

    Attributes:
        name: as results tell it.
        rank: a problem goes to the kernel of the lowest rank that takes it.
        tables: the class of its tables, a NamedTuple of its own.
        functions: has compiled functions of the names that `driver` declares: workspace, begin,
            step, measure, watched_step and keep.
        runs: how many it is made for, from the fewest to the most.
        make: turns a `ColouredGraph` into an `Engine`, or into None where the kernel is not made
            for the problem.
        any_degree: whether it takes a `Hypergraph`, of products of more spins than two.
    """

    name: str
    rank: int
    tables: type
    functions: Any
    runs: tuple[int, float]
    make: Callable[[Any], Any]
    any_degree: bool = False


def annealing_kernel(
    name: str,
    *,
    rank: int,
    tables: type,
    functions: Any,
    least_runs: int = 1,
    most_runs: float = math.inf,
    any_degree: bool = False,
) -> Callable[[_Make], _Make]:
    """Add a kernel to the catalogue by what makes problems ready for it."""

    def add(make: _Make) -> _Make:
        runs = least_runs, most_runs
        KERNELS.add(name, Kernel(name, rank, tables, functions, runs, make, any_degree))
        return make

    return add


def functions_of(tables: type) -> Any:
    """The compiled functions for a class of tables."""
    return next(kernel.functions for kernel in KERNELS.values() if kernel.tables is tables)
