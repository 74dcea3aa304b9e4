"""Compilation of all kernels in advance, for example when a container image is built.

A kernel is compiled for the types of its arguments. The only reliable way to get the right types
is to make the calls that users make, on small problems.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glasshouse.compiled import cache_folder, kernel_counts
from glasshouse.extras import MissingPackageError
from glasshouse.stopping import compile_seconds

if TYPE_CHECKING:
    from glasshouse.planting import Planted
    from glasshouse.problems import Ising

_RUNS = (64, 10)  # many runs and few runs use different kernels


def _signs(count: int) -> Any:
    return np.random.default_rng(count).choice([-1, 1], count)


def _normals(count: int) -> Any:
    return np.random.default_rng(count).normal(size=count)


def _large(count: int) -> Any:
    """Return `count` random integers that are too large for the small-integer kernels."""
    return np.random.default_rng(count).integers(1, 2**40, count)


def _lattice(side: int, dimensions: int, weights: Callable[[int], Any]) -> Ising:
    """Return an Ising problem on a periodic lattice, with weights drawn by `weights`."""
    from glasshouse.problems import Ising

    sites = np.arange(side**dimensions).reshape((side,) * dimensions)
    steps = [np.stack([sites, np.roll(sites, -1, axis)], -1) for axis in range(dimensions)]
    edges = np.concatenate([step.reshape(-1, 2) for step in steps])
    return Ising.from_edges(sites.size, edges, weights(len(edges)))


def _narrow(weights: Callable[[int], Any]) -> Ising:
    """Return a long and narrow Ising problem, which is proven by elimination."""
    from glasshouse.problems import Ising

    sites = np.arange(1500)
    edges = np.concatenate([np.stack([sites[:-step], sites[step:]], -1) for step in (1, 2, 3)])
    return Ising.from_edges(len(sites), edges, weights(len(edges)))


def _problems() -> Iterator[Ising]:
    """Yield small Ising problems that cover all annealing kernels and types of weights."""
    from glasshouse.problems import Ising

    every = np.argwhere(np.triu(np.ones((60, 60)), 1))
    between_layers = np.argwhere(np.ones((30, 30))) + np.array([0, 30])
    for weights in (_signs, _normals, _large):
        yield _lattice(5, 2, weights)
    for weights in (_signs, _normals):
        for pairs in (every, between_layers):
            yield Ising.from_edges(60, pairs, weights(len(pairs)))


def _grown() -> Iterator[Planted]:
    """Yield the example instances of every planting method whose packages are installed."""
    from glasshouse.planting import METHODS

    for method in METHODS.values():
        for example in method.examples:
            try:
                yield method.function(**method.completed(example), rng=1)
            except MissingPackageError:
                continue


def _plant() -> None:
    for planted in _grown():
        planted.summary()


def _files() -> None:
    """Write, read and verify three small instances in every format that supports them."""
    from glasshouse.files import FORMATS, read_document, verify_file, write
    from glasshouse.planting import METHODS

    with tempfile.TemporaryDirectory() as folder:
        for name in ("random_loops", "uniform_max2sat", "cores"):
            method = METHODS[name]
            planted = method.function(**method.completed(method.examples[0]), rng=1)
            for form in FORMATS.values():
                if form.read is None or form.write is None:
                    continue
                path = Path(folder) / f"{name}{form.suffix}"
                with suppress(ValueError, MissingPackageError):  # a format does not support it
                    write(path, planted, overwrite=True)
                    read_document(path)
                    verify_file(path)


def _anneal() -> None:
    from glasshouse.problems import Polynomial, Problem
    from glasshouse.solvers import anneal

    cubic = Polynomial.from_terms(9, [range(k, k + 3) for k in range(7)], [1] * 7)
    problems: list[Problem] = [*_problems(), cubic]
    for problem in problems:
        for runs in _RUNS:
            anneal(problem, sweeps=20, runs=runs, rng=1, threads=2)
            anneal(problem, sweeps=20, runs=runs, rng=1, target=-1e300, check="flip")
            anneal(problem, sweeps=20, runs=runs, rng=1, target=-1e300)


def _temper() -> None:
    from glasshouse.solvers import temper

    for problem in _problems():
        temper(problem, sweeps=20, runs=2, rng=1)


def _search() -> None:
    from glasshouse.planting import random_loops_ensemble
    from glasshouse.solvers import brute_force, descend, minimise, sweeps_to_solution

    for problem in _problems():
        minimise(problem, time_limit=0.2, target=None, rng=1)  # each method has a turn
        descend(problem, np.ones((2, problem.num_variables), dtype=np.int8))
    for weights in (_signs, _normals):
        brute_force(_lattice(3, 2, weights))
    ensemble = random_loops_ensemble(6, 6, 4, frustration="1/5", loops=4, rng=1)
    sweeps_to_solution(ensemble, rng=1)
    sweeps_to_solution(next(_grown()), rng=1)


def _prove() -> None:
    from glasshouse.proofs import prove

    prove(_lattice(6, 2, _signs))  # matching on a torus
    prove(_lattice(4, 3, _signs))  # the LP, then a tree
    for weights in (_signs, _normals):
        prove(_narrow(weights))
    for problem in _problems():
        prove(problem, time_limit=2)


def _train() -> None:
    from glasshouse.boltzmann import bars_and_stripes, train

    data = bars_and_stripes(3)
    train(data, hidden=4, epochs=2, rng=1)
    train(2 * data.astype(np.int8) - 1, hidden=4, epochs=2, rng=1)


# In the order in which most users need them.
GROUPS: dict[str, Callable[[], None]] = {
    "plant": _plant,
    "check": _files,
    "anneal": _anneal,
    "temper": _temper,
    "search": _search,
    "prove": _prove,
    "train": _train,
}


class CompiledGroup(NamedTuple):
    """The outcome of compiling one group of kernels.

    Attributes:
        group: the name of the group in `GROUPS`.
        compiled: the number of kernels compiled, one for each combination of types.
        cached: the number of kernels that were loaded from the cache instead.
        seconds: the time that compiling and loading took.
        folder: the folder of the cache.
    """

    group: str
    compiled: int
    cached: int
    seconds: float
    folder: str

    def summary(self) -> str:
        """Return one line of text: the kernels compiled, the kernels cached, and the time taken."""
        return f"{self.compiled} compiled, {self.cached} cached already, {self.seconds:.1f} s"


def refuse_unknown(names: Iterable[str]) -> None:
    """Raise a ValueError if any of the names is not in `GROUPS`."""
    for name in names:
        if name not in GROUPS:
            raise ValueError(f"group={name!r} is not one of {', '.join(GROUPS)}")


def compile_kernels(group: str) -> CompiledGroup:
    """Compile all kernels of a group in `GROUPS` that are not yet cached.

    Raises:
        OSError: no cache folder can be written.
    """
    refuse_unknown([group])
    folder = cache_folder()
    before, seconds = kernel_counts(), compile_seconds()
    GROUPS[group]()
    compiled, cached = (now - then for now, then in zip(kernel_counts(), before, strict=True))
    return CompiledGroup(group, compiled, cached, compile_seconds() - seconds, folder)
