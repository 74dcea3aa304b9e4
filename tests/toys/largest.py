"""A monitor: the largest weight."""

from __future__ import annotations

from glasshouse.boltzmann import Snapshot, monitor


@monitor("largest", "largest magnitude of a weight")
def largest(snapshot: Snapshot) -> float:
    """Return the largest magnitude of a weight of the current machine."""
    return float(abs(snapshot.machine.weights).max())
