"""How hard the semidefinite relaxation works on a node before it gives up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Found by experiment, on complete ±1 graphs and on Max-Cut of 60 to 100 vertices.

    Attributes:
        alpha: the regularisation at the root, in units of the root mean square weight.
        alpha_below: that of nodes which inherit.
        alpha_search: to where it is lowered as long as the goal is out of reach.
        alpha_least: to where it is lowered at all.
        cooling: the factor by which, whenever that is due.
        stall: it is due when a round gains less than this part of what α costs.
        rounds: of ascent and separation, at most.
        evaluations: eigendecompositions per round.
        flat: the greatest entry of the gradient that ends a round.
        violation: what a cut has to be violated by.
        room: new cuts of each width per round and vertex.
        seeds: triangles from which to search for wider cuts.
        branching_gain: what a decided pair is thought to raise the bound by, in units of the root
            mean square weight times the root of the size.
        price: what a round costs, as part of a node.
        projections: states tried per round.
    """

    alpha: float = 2e-2
    alpha_below: float = 1e-2
    alpha_search: float = 1e-2
    alpha_least: float = 2e-4
    cooling: float = 0.6
    stall: float = 0.1
    rounds: int = 100
    evaluations: int = 30
    flat: float = 1e-3
    violation: float = 0.1
    room: int = 6
    seeds: int = 400
    branching_gain: float = 0.4
    price: float = 0.14
    projections: int = 8
