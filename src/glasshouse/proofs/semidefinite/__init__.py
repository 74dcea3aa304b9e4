"""Bounds for dense problems: semidefinite, with odd cliques as cuts, rounded to exact squares."""

from glasshouse.proofs.semidefinite.relaxation import SemidefiniteRelaxation

__all__ = ["SemidefiniteRelaxation"]
