"""Proofs: lower bounds, certificates, those who check them, and the paper's open questions.

`prove` finds a state, a bound and a certificate for any problem; `verify` and the stand-alone
`checker` read certificates back; `veripb_proof` writes them for the MaxSAT community's own checker.
"""

from glasshouse.planting.certificate import Certificate, CertificateError
from glasshouse.proofs.checking import Verdict, verify
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
    "Certificate",
    "CertificateError",
    "ConicDecomposition",
    "ExactResult",
    "HardClausesUnsatisfiableError",
    "MaximumFrustration",
    "Proof",
    "Statistics",
    "Verdict",
    "conic_decomposition",
    "frustration_bound",
    "hadamard_matrix",
    "is_gauged",
    "maximum_frustration",
    "paley_matrix",
    "prove",
    "solve_exactly",
    "verify",
    "veripb_proof",
]
