"""The interface of an annealing kernel, and the catalogue of all kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from glasshouse.catalogue import Catalogue

KERNELS = Catalogue["Kernel"]("kernel")

FEW_RUNS = 16  # the most runs that do not fill the lanes of a kernel for many runs

_Make = TypeVar("_Make", bound=Callable[[Any], Any])


@dataclass(frozen=True)
class Kernel:
    """An annealing kernel: a class of tables, and compiled functions that work on them.

    Attributes:
        name: the name of the kernel in results.
        rank: the priority; of all kernels that support a problem, the lowest rank is chosen.
        tables: the class of the kernel's tables, a NamedTuple that no other kernel uses.
        functions: an object with the compiled functions that `driver` declares: workspace, begin,
            step, measure, watched_step and keep.
        runs: the smallest and the largest number of runs for which the kernel is chosen.
        make: a function that prepares a `ColouredGraph` as an `Engine`, or returns None if the
            kernel does not support the problem.
        any_degree: whether `make` takes a `Hypergraph`, with products of more than two spins.
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
    """Decorate the function that prepares problems for a kernel; add the kernel to `KERNELS`."""

    def add(make: _Make) -> _Make:
        runs = least_runs, most_runs
        KERNELS.add(name, Kernel(name, rank, tables, functions, runs, make, any_degree))
        return make

    return add


def functions_of(tables: type) -> Any:
    """Return the compiled functions of the kernel that uses a class of tables."""
    return next(kernel.functions for kernel in KERNELS.values() if kernel.tables is tables)
