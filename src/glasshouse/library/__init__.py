"""Standard instances from the literature, recognised by content, with proven optima or bounds.

* `fingerprint`: a hash of a problem's Max-Cut graph, whatever its file looks like.
* `table`: `instances.csv`, with optima, bounds and certificates.
* `recognition`: identifies a problem with a standard instance.
"""

from __future__ import annotations

from glasshouse.library.fingerprint import ReducedGraph, Scale
from glasshouse.library.recognition import Recognition, recognise
from glasshouse.library.table import Instance, instances

__all__ = ["Instance", "Recognition", "ReducedGraph", "Scale", "instances", "recognise"]
