"""Certificates: what proves an optimum, and the one exact computation of what it proves.

* `proven`: the one type of truth. `verdict`: `verify`. `leaf`: the bound of one leaf. `bound`: the
  one bound of loops and squares.
* `certificate`: a state, loops and squares. `squares`, `square_sums`: squares, and their sums.
* `products`: vertices that are products of spins, and sums term by term.
* `tree`: leaves that cover all states. `ties`: spins tied on a path. `cover`: enumerated leaves.
* `exact_form`: any problem in integers. `edge_sums`, `flat_cycles`, `integers`, `kernels`: exact
  sums in linear time.
* `checker`: the stand-alone checker, which shares nothing with the other files.
"""

from glasshouse.certificates.certificate import Certificate, CertificateError
from glasshouse.certificates.proven import Proven
from glasshouse.certificates.squares import Squares
from glasshouse.certificates.tree import Branch, Cover, Leaf, Tree
from glasshouse.certificates.verdict import Verdict, verify

__all__ = [
    "Branch", "Certificate", "CertificateError", "Cover", "Leaf", "Proven", "Squares", "Tree",
    "Verdict", "verify",
]  # fmt: skip
