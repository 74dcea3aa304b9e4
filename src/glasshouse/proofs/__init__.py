"""Proofs: lower bounds, certificates and those who check them."""

from glasshouse.planting.certificate import Certificate, CertificateError
from glasshouse.proofs.checking import Verdict, verify
from glasshouse.proofs.proof import Proof, prove
from glasshouse.proofs.search import Bounds, Statistics
from glasshouse.proofs.two_sat import HardClausesUnsatisfiableError

__all__ = [
    "Bounds",
    "Certificate",
    "CertificateError",
    "HardClausesUnsatisfiableError",
    "Proof",
    "Statistics",
    "Verdict",
    "prove",
    "verify",
]
