"""Certificates: what proves an optimum, and the one exact computation of what it proves."""

from glasshouse.certificates.certificate import Certificate, CertificateError
from glasshouse.certificates.squares import Squares
from glasshouse.certificates.tree import Branch, Cover, Leaf, Tree
from glasshouse.certificates.verdict import Verdict, verify

__all__ = [
    "Branch", "Certificate", "CertificateError", "Cover", "Leaf", "Squares", "Tree", "Verdict",
    "verify",
]  # fmt: skip
