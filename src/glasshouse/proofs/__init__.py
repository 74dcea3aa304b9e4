"""Proofs: lower bounds and certificates for any problem.

`prove` finds a state, a bound and a certificate; `veripb_proof` writes certificates for the MaxSAT
community's own checker. What a certificate proves is computed in the room below, `certificates`.
"""

from glasshouse.proofs.exact import ExactResult, solve_exactly
from glasshouse.proofs.linear.linear_program import LinearProgramError
from glasshouse.proofs.proof import Proof, prove
from glasshouse.proofs.statistics import Bounds, Statistics
from glasshouse.proofs.two_sat import HardClausesUnsatisfiableError
from glasshouse.proofs.veripb.writing import veripb_proof

__all__ = [
    "Bounds",
    "ExactResult",
    "HardClausesUnsatisfiableError",
    "LinearProgramError",
    "Proof",
    "Statistics",
    "prove",
    "solve_exactly",
    "veripb_proof",
]
