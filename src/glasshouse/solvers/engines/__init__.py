"""The annealing kernels: one line each. Importing an engine adds its kernel to the catalogue."""

from glasshouse.solvers.engines.byte_lanes import byte_engine as byte_engine
from glasshouse.solvers.engines.dense_lanes import dense_engine as dense_engine
from glasshouse.solvers.engines.dense_layers import layer_engine as layer_engine
from glasshouse.solvers.engines.float_lanes import float_engine as float_engine
from glasshouse.solvers.engines.scalar import scalar_engine as scalar_engine
from glasshouse.solvers.kernels.kernel import KERNELS as KERNELS
