"""The quantities that a study can measure for each instance; each has its own module.

Importing a file adds its quantity to the catalogue `KINDS`, which `quantity` defines.

* `hardness`: the sweeps that an annealer takes to find the ground state.
* `excitations`: the gap and the distance of the first excited state.
* `shapes`: frustration, intersections and edges, without any solver.
* `ground`: proven ground-state energies, and the energy levels of small instances.
* `solution`: time to solution by annealing or tempering.
* `thermal`: energies, specific heats and overlaps at given temperatures.
* `own`: a function of the user.
"""

from glasshouse.studies.quantities import excitations as excitations
from glasshouse.studies.quantities import ground as ground
from glasshouse.studies.quantities import hardness as hardness
from glasshouse.studies.quantities import shapes as shapes
from glasshouse.studies.quantities import solution as solution
from glasshouse.studies.quantities import thermal as thermal
from glasshouse.studies.quantities.quantity import KINDS as KINDS
