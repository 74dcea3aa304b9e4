"""Proofs for VeriPB, the MaxSAT community's own checker of cutting-planes proofs."""

from glasshouse.proofs.veripb.writing import veripb_proof

__all__ = ["veripb_proof"]
