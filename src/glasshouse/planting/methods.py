"""The planting methods: one line each. Importing a method adds it to the catalogue."""

from glasshouse.planting.bias_loops import bias_loops as bias_loops
from glasshouse.planting.classic_loops import classic_loops as classic_loops
from glasshouse.planting.cluster_loops import cluster_loops as cluster_loops
from glasshouse.planting.exactly import exactly as exactly
from glasshouse.planting.graph_loops import graph_loops as graph_loops
from glasshouse.planting.nae3sat import nae3sat as nae3sat
from glasshouse.planting.partition import partition as partition
from glasshouse.planting.posiform import posiform as posiform
from glasshouse.planting.random_loops import random_loops as random_loops
from glasshouse.planting.structured_graph_loops import (
    structured_graph_loops as structured_graph_loops,
)
from glasshouse.planting.structured_loops import structured_loops as structured_loops
from glasshouse.planting.tiles2d import tiles2d as tiles2d
from glasshouse.planting.tiles3d import tiles3d as tiles3d
from glasshouse.planting.two_in_four import two_in_four as two_in_four
from glasshouse.planting.uniform_max2sat import uniform_max2sat as uniform_max2sat
from glasshouse.planting.wishart import wishart as wishart
from glasshouse.planting.xorsat import xorsat as xorsat
