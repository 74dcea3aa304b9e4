"""What a sampler is, and the catalogue of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from glasshouse.catalogue import Catalogue
from glasshouse.proofs.exact import EXACT_SOLVERS, OURS

# A dimod model, how much to do, a seed below 2^31, and the seconds that are left: a SampleSet.
Sample: TypeAlias = Callable[[Any, int, int, float], Any]

SAMPLERS = Catalogue["Sampler"]("sampler")


@dataclass(frozen=True)
class Sampler:
    """Somebody else's sampler.

    Attributes:
        sample: one round, of about as much work as `effort` sweeps of a few runs. It imports its
            package when it is called, and must let go of the interpreter's lock.
        package: what to install.
    """

    sample: Sample
    package: str


def sampler(name: str, *, package: str) -> Callable[[Sample], Sample]:
    """Add a function to the catalogue of samplers; the arguments are its entry's."""
    if name in OURS or name in EXACT_SOLVERS:
        raise ValueError(f"{name!r} is a solver already; choose another name")

    def add(sample: Sample) -> Sample:
        SAMPLERS.add(name, Sampler(sample, package))
        return sample

    return add
