"""The planting methods, in one file per family. The list below names every method.

Importing a method adds it to the catalogue. Three files do not define a method: `dropping` (loops
on a graph), `tiles` (tiles on a lattice) and `ensemble` (thousands of small random loops at once).
"""

from glasshouse.planting.method import METHODS
from glasshouse.planting.methods.bias_loops import bias_loops as bias_loops
from glasshouse.planting.methods.classic_loops import classic_loops as classic_loops
from glasshouse.planting.methods.cluster_loops import cluster_loops as cluster_loops
from glasshouse.planting.methods.constraints import exactly as exactly
from glasshouse.planting.methods.constraints import nae3sat as nae3sat
from glasshouse.planting.methods.constraints import two_in_four as two_in_four
from glasshouse.planting.methods.cores import cores as cores
from glasshouse.planting.methods.graph_loops import graph_loops as graph_loops
from glasshouse.planting.methods.hypergraph_cores import hypergraph_cores as hypergraph_cores
from glasshouse.planting.methods.lattice_tiles import tiles2d as tiles2d
from glasshouse.planting.methods.lattice_tiles import tiles3d as tiles3d
from glasshouse.planting.methods.partition import partition as partition
from glasshouse.planting.methods.posiform import posiform as posiform
from glasshouse.planting.methods.product_loops import product_loops as product_loops
from glasshouse.planting.methods.random_loops import random_loops as random_loops
from glasshouse.planting.methods.structured_graph_loops import (
    structured_graph_loops as structured_graph_loops,
)
from glasshouse.planting.methods.structured_loops import structured_loops as structured_loops
from glasshouse.planting.methods.uniform_max2sat import uniform_max2sat as uniform_max2sat
from glasshouse.planting.methods.wishart import wishart as wishart
from glasshouse.planting.methods.xorsat import xorsat as xorsat

# Messages list the methods by name, the paper's own first. Families that share a file are added to
# the catalogue together.
for _name in sorted(METHODS, key=lambda name: (name != "random_loops", name)):
    METHODS[_name] = METHODS.pop(_name)
