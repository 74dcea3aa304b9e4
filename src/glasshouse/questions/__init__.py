"""The paper's questions about matrices: gauged matrices, sums of loops, maximum frustration.

`gauged` decides whether a matrix is gauged, and `cone` whether it is a sum of loops. `extremes`
finds the largest frustration of small matrices. `families`: matrices whose f grows towards 1/2.
"""

from glasshouse.questions.cone import ConicDecomposition, conic_decomposition
from glasshouse.questions.extremes import MaximumFrustration, maximum_frustration
from glasshouse.questions.families import frustration_bound, hadamard_matrix, paley_matrix
from glasshouse.questions.gauged import is_gauged

__all__ = [
    "ConicDecomposition", "MaximumFrustration", "conic_decomposition", "frustration_bound",
    "hadamard_matrix", "is_gauged", "maximum_frustration", "paley_matrix",
]  # fmt: skip
