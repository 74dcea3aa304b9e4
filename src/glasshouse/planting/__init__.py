"""Planting: problems grown from frustrated loops, with their ground state and its proof."""

from glasshouse.planting.certificate import Certificate, CertificateError
from glasshouse.planting.loops import Loop, Loops
from glasshouse.planting.planted import Planted
from glasshouse.planting.random_loops import random_loops
from glasshouse.planting.randomness import Seed
from glasshouse.planting.recipe import Recipe
from glasshouse.planting.summary import Summary

__all__ = [
    "Certificate",
    "CertificateError",
    "Loop",
    "Loops",
    "Planted",
    "Recipe",
    "Seed",
    "Summary",
    "random_loops",
]
