"""The interface of an annealing kernel, and the catalogue of all kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from glasshouse.catalogue import Catalogue

KERNELS = Catalogue["Kernel"]("kernel")

FEW_RUNS = 16  # this many runs, or fewer, do not fill the lanes of a kernel for many runs

_Make = TypeVar("_Make", bound=Callable[[Any], Any])


@dataclass(frozen=True)
class Kernel:
    """A class of tables and the compiled functions that work on them.

    Attributes:
        name: the name in results.
        rank: a problem gets the kernel of the lowest rank that supports it.
        tables: the class of its tables, its own NamedTuple.
        functions: an object with the compiled functions that `driver` declares: workspace, begin,
            step, measure, watched_step and keep.
        runs: the smallest and the largest number of runs it is made for.
        make: turns a `ColouredGraph` into an `Engine`, or returns None if the kernel does not
            support the problem.
        any_degree: whether it takes a `Hypergraph`, with products of more than two spins.
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
    """Add a kernel to the catalogue; decorates the function that prepares problems for it."""

    def add(make: _Make) -> _Make:
        runs = least_runs, most_runs
        KERNELS.add(name, Kernel(name, rank, tables, functions, runs, make, any_degree))
        return make

    return add


def functions_of(tables: type) -> Any:
    """Return the compiled functions for a class of tables."""
    return next(kernel.functions for kernel in KERNELS.values() if kernel.tables is tables)
