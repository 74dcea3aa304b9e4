"""The catalogue of samplers, and rounds of growing effort with one sampler."""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.catalogue import Catalogue
from glasshouse.problems import Ising, Problem, to_ising, validation
from glasshouse.proofs.exact import EXACT_SOLVERS, OURS
from glasshouse.proofs.exact.apart import call_apart
from glasshouse.randomness import RngLike, Seed
from glasshouse.waiting import interruptible

# Takes a dimod model, an effort, a seed below 2^31, and the seconds left; returns a SampleSet.
Sample: TypeAlias = Callable[[Any, int, int, float], Any]
SAMPLERS = Catalogue["Sampler"]("sampler")
_FIRST = 16
_SMALLEST = Ising.from_edges(2, [(0, 1)], [1])


@dataclass(frozen=True)
class Sampler:
    """An entry of the catalogue: a third-party sampler.

    Attributes:
        sample: the function that runs one round, of about as much work as `effort` sweeps of a few
            runs. It imports its package when called, and must release the interpreter's lock.
        package: the package to install.
    """

    sample: Sample
    package: str


def sampler(name: str, *, package: str) -> Callable[[Sample], Sample]:
    """Return a decorator that adds a function to the catalogue of samplers."""
    if name in OURS or name in EXACT_SOLVERS:
        raise ValueError(f"{name!r} is already the name of a solver; choose another name")

    def add(sample: Sample) -> Sample:
        SAMPLERS.add(name, Sampler(sample, package))
        return sample

    return add


def iter_sampled(
    name: str, problem: Problem, *, rng: RngLike = None, time_limit: float | None = None
) -> Iterator[npt.NDArray[np.int8]]:
    """Yield the best state of each round, in the problem's own values, until time is up.

    Each round is twice as long as the one before. Samplers cannot be stopped, so a round that would
    not end in time is made shorter. A sampler runs in its own process, which Ctrl-C ends. A sampler
    that no other process can import runs in this process, and Ctrl-C waits for its round.

    Args:
        name: the name of a sampler in `SAMPLERS`.
        problem: any problem; weights above 2^53 are refused, because samplers use floats.
        rng: the seed from which each round gets its own seed.
        time_limit: seconds of all rounds together; None continues forever. The clock starts when
            the sampler is loaded.

    Raises:
        MissingPackageError: the sampler is not installed.
    """
    known, seed = SAMPLERS.find(name, "solver"), Seed.of(rng)
    limit = validation.time_limit(time_limit)
    ising, reduction = to_ising(problem)
    ising = replace(ising, labels=None)
    ising.to_bqm()  # refuses what no sampler accepts
    sample = _somewhere(known)
    sample(_SMALLEST, 1, 0, 1.0)  # loads the package before the clock starts
    deadline = math.inf if limit is None else time.monotonic() + limit
    effort, number, left = _FIRST, 0, deadline - time.monotonic()
    while left > 0 or number == 0:
        draw = int(seed.child(number).sequence().generate_state(1)[0]) >> 1  # samplers take 31 bits
        began = time.monotonic()
        yield reduction.back(sample(ising, effort, draw, left))
        took, left = time.monotonic() - began, deadline - time.monotonic()
        effort = max(1, int(effort * min(2.0, left / max(took, 1e-6)))) if left > 0 else 1
        number += 1


def _somewhere(known: Sampler) -> Callable[..., npt.NDArray[np.int8]]:
    """Return a function that runs one round of a sampler, in another process if possible."""

    def apart(*arguments: Any) -> Any:
        return call_apart(known.package, _round, known.sample, *arguments)

    def here(*arguments: Any) -> Any:
        return interruptible(
            lambda: _round(known.sample, *arguments), lambda: None, patience=math.inf
        )

    return apart if _is_importable(known.sample) else here


def _is_importable(function: Any) -> bool:
    """Return whether another process can import a function by its name."""
    try:
        pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return getattr(function, "__module__", "__main__") != "__main__"


def _round(
    sample: Sample, ising: Ising, effort: int, seed: int, seconds: float
) -> npt.NDArray[np.int8]:
    """Run one round of a sampler, and return its best state."""
    found = sample(ising.to_bqm(), effort, seed, seconds)
    best = found.record.sample[np.argmin(found.record.energy)]
    order = np.argsort(np.array(list(found.variables), dtype=np.int64))
    return np.asarray(best[order], dtype=np.int8)
