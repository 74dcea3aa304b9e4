"""Certificates: proofs of optima, and the exact computation that verifies them.

* `proven`: the only type that stands for a proof. `verdict`: `verify`. `leaf`: the bound of one
  leaf. `bound`: the bound that loops and squares prove.
* `certificate`: a state, loops and squares. `squares`, `square_sums`: squares, and their sums.
* `cores`: decision trees over clauses. `core_kernels`: their check.
* `products`: vertices that are products of spins, and sums term by term.
* `tree`: leaves that cover all states. `ties`: spins tied on a path. `cover`: enumerated leaves.
  `elimination`, `elimination_kernels`, `digit_kernels`: leaves whose vertices are eliminated.
* `exact_form`: any problem in integers. `exact_sums`, `flat_cycles`, `kernels`: exact sums in
  linear time.
* `checker`: the stand-alone checker, which shares nothing with the other files.
"""

from glasshouse.certificates.bound import Parts as Parts
from glasshouse.certificates.certificate import Certificate, CertificateError
from glasshouse.certificates.cores import NO_CORES as NO_CORES
from glasshouse.certificates.cores import Cores
from glasshouse.certificates.cores import clause_rows as clause_rows
from glasshouse.certificates.elimination import MOST_OPEN as MOST_OPEN
from glasshouse.certificates.elimination import Elimination as Elimination
from glasshouse.certificates.exact_form import ExactForm as ExactForm
from glasshouse.certificates.exact_form import exact_energy as exact_energy
from glasshouse.certificates.exact_form import packed as packed
from glasshouse.certificates.flat_cycles import NodeArray as NodeArray
from glasshouse.certificates.leaf import bounded_leaf as bounded_leaf
from glasshouse.certificates.leaf import elimination_of as elimination_of
from glasshouse.certificates.leaf import exact_leaf as exact_leaf
from glasshouse.certificates.proven import Proven
from glasshouse.certificates.squares import NO_SQUARES as NO_SQUARES
from glasshouse.certificates.squares import Squares
from glasshouse.certificates.ties import Pair as Pair
from glasshouse.certificates.ties import ties_of as ties_of
from glasshouse.certificates.tree import MOST_COVERED as MOST_COVERED
from glasshouse.certificates.tree import Branch, Cover, Leaf, Order, Tree
from glasshouse.certificates.verdict import Verdict, verify
from glasshouse.certificates.verdict import check_fit as check_fit

# Names imported `as` themselves are for the other packages of glasshouse.
__all__ = [
    "Branch", "Certificate", "CertificateError", "Cores", "Cover", "Leaf", "Order", "Proven",
    "Squares", "Tree", "Verdict", "verify",
]  # fmt: skip
