"""The planting methods: one line each. Importing a method adds it to the catalogue."""

from glasshouse.planting.bias_loops import bias_loops as bias_loops
from glasshouse.planting.classic_loops import classic_loops as classic_loops
from glasshouse.planting.graph_loops import graph_loops as graph_loops
from glasshouse.planting.posiform import posiform as posiform
from glasshouse.planting.random_loops import random_loops as random_loops
from glasshouse.planting.structured_graph_loops import (
    structured_graph_loops as structured_graph_loops,
)
from glasshouse.planting.structured_loops import structured_loops as structured_loops
from glasshouse.planting.uniform_max2sat import uniform_max2sat as uniform_max2sat
from glasshouse.planting.wishart import wishart as wishart
