"""Lattices that close on themselves, with random couplings."""

from __future__ import annotations

import numpy as np

from glasshouse.problems import Ising


def lattice(*sides: int, seed: int = 0, gaussian: bool = False) -> Ising:
    """A ±J or Gaussian spin glass on a torus of any dimension."""
    rng = np.random.default_rng(seed)
    places = np.arange(np.prod(sides)).reshape(sides)
    pairs = [
        np.stack([places.ravel(), np.roll(places, -1, axis).ravel()], axis=1)
        for axis in range(len(sides))
    ]
    edges = np.sort(np.concatenate(pairs), axis=1)
    weights = rng.normal(size=len(edges)) if gaussian else rng.choice([-1, 1], len(edges))
    return Ising.from_edges(places.size, edges, weights)
