"""The annealing kernels: one line each. Importing an engine adds its kernel to the catalogue."""

from glasshouse.solvers.engines.byte_lanes import byte_engine as byte_engine
from glasshouse.solvers.engines.dense_lanes import dense_engine as dense_engine
from glasshouse.solvers.engines.dense_layers import layer_engine as layer_engine
from glasshouse.solvers.engines.float32_lanes import few_engine as few_engine
from glasshouse.solvers.engines.float32_lanes import float32_engine as float32_engine
from glasshouse.solvers.engines.float64_lanes import float64_engine as float64_engine
from glasshouse.solvers.engines.scalar import scalar_engine as scalar_engine
from glasshouse.solvers.kernels.kernel import KERNELS as KERNELS
