"""Proofs for VeriPB, the MaxSAT community's own checker of cutting-planes proofs.

* `writing`: `veripb_proof`. `script`: lines of a proof. `sheet`: a formula and its objective.
* `pairs`: variables of pairs of spins, and squares over them.
* `forest`: spins that a tree ties together. `tree`: a proof by a tree.
"""

from glasshouse.proofs.veripb.writing import veripb_proof

__all__ = ["veripb_proof"]
