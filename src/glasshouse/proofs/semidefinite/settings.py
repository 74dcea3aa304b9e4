"""How hard the semidefinite relaxation works on a node before it gives up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Found by experiment, on complete ±1 graphs and on Max-Cut of 60 to 100 vertices.

    Attributes:
        alpha: the regularisation at the root, in units of the root mean square weight.
        alpha_below: that of nodes which inherit.
        alpha_least: to where it is lowered.
        cooling: the factor by which, in a round that finds few new cuts.
        rounds: of ascent and separation, at most.
        evaluations: eigendecompositions per round.
        flat: the greatest entry of the gradient that ends a round.
        violation: what a cut has to be violated by.
        room: new cuts of each width per round and vertex.
        seeds: triangles from which to search for wider cuts.
        patience: rounds before a node may be given up.
        hope: a node is given up when this many times the last gains would not reach the goal.
        projections: states tried per round.
    """

    alpha: float = 2e-2
    alpha_below: float = 1e-2
    alpha_least: float = 2e-4
    cooling: float = 0.6
    rounds: int = 60
    evaluations: int = 40
    flat: float = 1e-3
    violation: float = 0.1
    room: int = 6
    seeds: int = 400
    patience: int = 6
    hope: float = 2.5
    projections: int = 8
