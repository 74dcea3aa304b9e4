"""The energy landscape of a problem: local fields, local minima, lowest states, distances.

* `local`: local fields, local minima and the frustration index at one state.
* `gauge`: a problem in the gauge in which a given state is all +1.
* `metric`: distances between states, and the pairs of spins whose product differs.
* `connectivity`: connected components and free spins.
* `enumeration`: all local minima, the lowest states and the number of ground states of a small
  problem; `kernels` has its compiled code.
* `metastable`: a metastable state of a planted problem.
* `overview`: the size, the weights and the graph of a problem, in one table.
* `theory`: the paper's formulas for random instances.
"""

from glasshouse.landscape.connectivity import components, free_spins
from glasshouse.landscape.enumeration import (
    LocalMinima,
    LowEnergyStates,
    ground_state_count,
    local_minima,
    low_energy_states,
)
from glasshouse.landscape.gauge import gauge
from glasshouse.landscape.local import frustration_index, is_local_minimum, local_fields
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
    "ExpectedMinima", "LocalMinima", "LowEnergyStates", "Metastable", "Overview", "components",
    "distance", "energy_gap_variance", "expected_frustration", "expected_intersections",
    "expected_local_minima", "free_spins", "frustration_index", "gauge", "ground_state_count",
    "is_local_minimum", "local_field_dispersion", "local_fields", "local_minima",
    "low_energy_states", "metastable_state", "overview", "switching_subset",
]  # fmt: skip
