"""Proofs: lower bounds and certificates for any problem, and the paper's open questions.

`prove` finds a state, a bound and a certificate; `veripb_proof` writes certificates for the MaxSAT
community's own checker. What a certificate proves is computed in the room below, `certificates`.
"""

from glasshouse.proofs.cone import ConicDecomposition, conic_decomposition
from glasshouse.proofs.extremes import MaximumFrustration, maximum_frustration
from glasshouse.proofs.families import frustration_bound, hadamard_matrix, paley_matrix
from glasshouse.proofs.gauged import is_gauged
from glasshouse.proofs.oracles import ExactResult, solve_exactly
from glasshouse.proofs.proof import Proof, prove
from glasshouse.proofs.search import Bounds, Statistics
from glasshouse.proofs.two_sat import HardClausesUnsatisfiableError
from glasshouse.proofs.veripb import veripb_proof

__all__ = [
    "Bounds",
    "ConicDecomposition",
    "ExactResult",
    "HardClausesUnsatisfiableError",
    "MaximumFrustration",
    "Proof",
    "Statistics",
    "conic_decomposition",
    "frustration_bound",
    "hadamard_matrix",
    "is_gauged",
    "maximum_frustration",
    "paley_matrix",
    "prove",
    "solve_exactly",
    "veripb_proof",
]
