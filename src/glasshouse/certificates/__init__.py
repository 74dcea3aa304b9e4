"""Certificates: what proves an optimum, and the one exact computation of what it proves."""

from glasshouse.certificates.certificate import Certificate, CertificateError
from glasshouse.certificates.squares import Squares
from glasshouse.certificates.verdict import Verdict, verify

__all__ = ["Certificate", "CertificateError", "Squares", "Verdict", "verify"]
