"""Proofs: lower bounds and certificates for any problem.

`prove` finds a state, a bound and a certificate; `veripb_proof` writes certificates for the MaxSAT
community's own checker. What a certificate proves is computed in the room below, `certificates`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glasshouse.proofs.exact import ExactResult, solve_exactly
    from glasshouse.proofs.proof import Proof, prove
    from glasshouse.proofs.statistics import Bounds, Statistics
    from glasshouse.proofs.two_sat import HardClausesUnsatisfiableError
    from glasshouse.proofs.veripb.writing import veripb_proof

__all__ = [
    "Bounds",
    "ExactResult",
    "HardClausesUnsatisfiableError",
    "Proof",
    "Statistics",
    "prove",
    "solve_exactly",
    "veripb_proof",
]

_MODULES = {
    "Bounds": "statistics",
    "ExactResult": "exact",
    "HardClausesUnsatisfiableError": "two_sat",
    "Proof": "proof",
    "Statistics": "statistics",
    "prove": "proof",
    "solve_exactly": "exact",
    "veripb_proof": "veripb.writing",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: a judge needs one small module, and no prover."""
    if name not in _MODULES:
        raise AttributeError(f"module 'glasshouse.proofs' has no attribute {name!r}")
    return getattr(import_module(f"glasshouse.proofs.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
