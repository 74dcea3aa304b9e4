"""The standard instances of the field, recognised by content, with what is proven of them."""

from __future__ import annotations

from glasshouse.library.fingerprint import ReducedGraph, Scale
from glasshouse.library.recognition import Recognition, recognise
from glasshouse.library.table import Instance, instances

__all__ = ["Instance", "Recognition", "ReducedGraph", "Scale", "instances", "recognise"]
