"""Landscape: what the energy looks like around a state. Functions of (problem, state)."""

from glasshouse.landscape.connectivity import components, free_spins
from glasshouse.landscape.enumeration import (
    LocalMinima,
    LowEnergyStates,
    ground_state_count,
    local_minima,
    low_energy_states,
)
from glasshouse.landscape.frustration import frustration_index
from glasshouse.landscape.gauge import gauge
from glasshouse.landscape.local import is_local_minimum, local_fields
from glasshouse.landscape.metastable import Metastable, metastable_state
from glasshouse.landscape.metric import distance, switching_subset
from glasshouse.landscape.overview import Overview, overview
from glasshouse.landscape.theory import (
    ExpectedMinima,
    energy_gap_variance,
    expected_frustration,
    expected_intersections,
    expected_local_minima,
    local_field_dispersion,
)

__all__ = [
    "ExpectedMinima",
    "LocalMinima",
    "LowEnergyStates",
    "Metastable",
    "Overview",
    "components",
    "distance",
    "energy_gap_variance",
    "expected_frustration",
    "expected_intersections",
    "expected_local_minima",
    "free_spins",
    "frustration_index",
    "gauge",
    "ground_state_count",
    "is_local_minimum",
    "local_field_dispersion",
    "local_fields",
    "local_minima",
    "low_energy_states",
    "metastable_state",
    "overview",
    "switching_subset",
]
