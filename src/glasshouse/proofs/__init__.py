"""Proofs: lower bounds and certificates for any problem.

`prove` finds a state, a bound and a certificate; `veripb_proof` writes certificates for the MaxSAT
community's own checker. What a certificate proves is computed in the package `certificates`.

* `proof`: `prove`. `prover`: the plan of a proof. `preparation`: a problem prepared for proofs.
* `signed_graph`: a problem as a graph. `budget`: when to stop. `progress`: bounds and statistics.
* `relaxation`: the interface of node bounds. `parts`: loops and squares, and their certificates.
* `contraction`: exact reductions of a graph. `core`: the remaining graph.
* `states`: good states by annealing. `covering`: proofs by enumeration.
* `matching`: ±J lattices on a torus. `lp`: linear programs over cycles. `semidefinite`: dense
  problems. `trees`: branch and bound. `kernels`: compiled code.
* `polynomials`, `even_covers`: polynomials of degree 3 and more. `margin`: noise margins.
* `exact`: third-party exact solvers. `veripb`: proofs for VeriPB. `qoblib`: results for the QOBLIB.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glasshouse.problems.hard_clauses import HardClausesUnsatisfiableError
    from glasshouse.proofs.exact import ExactResult, solve_exactly
    from glasshouse.proofs.lp.highs import LinearProgramError
    from glasshouse.proofs.margin import NoiseMargin, noise_margin
    from glasshouse.proofs.progress import Bounds, Statistics
    from glasshouse.proofs.proof import Proof, prove
    from glasshouse.proofs.veripb import veripb_proof

__all__ = [
    "Bounds", "ExactResult", "HardClausesUnsatisfiableError", "LinearProgramError", "NoiseMargin",
    "Proof", "Statistics", "noise_margin", "prove", "solve_exactly", "veripb_proof",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import public names on first use, because checking a certificate does not need the prover."""
    if name not in __all__:
        raise AttributeError(f"module 'glasshouse.proofs' has no attribute {name!r}")
    from glasshouse.problems.hard_clauses import HardClausesUnsatisfiableError
    from glasshouse.proofs.exact import ExactResult, solve_exactly
    from glasshouse.proofs.lp.highs import LinearProgramError
    from glasshouse.proofs.margin import NoiseMargin, noise_margin
    from glasshouse.proofs.progress import Bounds, Statistics
    from glasshouse.proofs.proof import Proof, prove
    from glasshouse.proofs.veripb import veripb_proof

    names = (Bounds, ExactResult, HardClausesUnsatisfiableError, LinearProgramError, NoiseMargin,
             Proof, Statistics, noise_margin, prove, solve_exactly, veripb_proof)  # fmt: skip
    for each, value in zip(__all__, names, strict=True):
        globals().setdefault(each, value)  # a caller may have set a name itself
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
