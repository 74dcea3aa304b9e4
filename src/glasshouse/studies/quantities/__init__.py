"""Quantities that a study can measure for each instance: one file and one line each.

Importing a file adds its quantity to the catalogue `KINDS`, which `quantity` defines.

* `hardness`: the sweeps that an annealer takes to find the ground state.
* `excitations`: the gap and the distance of the first excited state.
* `shapes`: frustration, intersections and edges, without any solver.
"""

from glasshouse.studies.quantities import excitations as excitations
from glasshouse.studies.quantities import hardness as hardness
from glasshouse.studies.quantities import shapes as shapes
from glasshouse.studies.quantities.quantity import KINDS as KINDS
