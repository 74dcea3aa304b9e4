"""What a node of the search hands to its children, and how these begin with it.

Tying s_a = ±s_b turns M into P'MP, which is positive semidefinite where M is. So multipliers are
inherited without any loss of the bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.semidefinite.cuts import Cuts, FloatArray
from glasshouse.proofs.semidefinite.dual import RegularisedDual
from glasshouse.proofs.semidefinite.subproblem import Subproblem


class Inheritance(NamedTuple):
    """Multipliers of a node, in terms that all nodes below understand.

    Attributes:
        vertices: those that stand for the classes of the node.
        slack: M of the node, over these vertices.
        cuts: over vertices of the graph, with their multipliers.
    """

    vertices: npt.NDArray[np.int64]
    slack: npt.NDArray[np.float32]
    cuts: Cuts

    @property
    def num_bytes(self) -> int:
        """How much memory it takes."""
        arrays = self.vertices, self.slack, self.cuts.vertices, self.cuts.coefficients
        return sum(array.nbytes for array in arrays) + self.cuts.multipliers.nbytes

    @classmethod
    def of(cls, problem: Subproblem, diagonal: FloatArray, cuts: Cuts) -> Inheritance:
        """That of a node with the given y and cuts."""
        x = np.concatenate([diagonal, cuts.multipliers])
        slack = RegularisedDual(problem.matrix, cuts, 1.0).slack_matrix(x)
        names = problem.vertices.astype(np.int32)
        named = Cuts(names[cuts.vertices], cuts.coefficients, cuts.multipliers)
        return cls(problem.vertices, slack.astype(np.float32), named)

    def claimed_by(self, problem: Subproblem) -> tuple[FloatArray, Cuts]:
        """The y and the cuts with which a problem below begins."""
        classes = problem.class_of[self.vertices]
        kept = classes >= 0
        slack = self.slack[np.ix_(kept, kept)].astype(np.float64)
        merge = np.zeros((len(slack), problem.size))
        merge[np.arange(len(slack)), classes[kept]] = problem.signs[self.vertices[kept]]
        diagonal = -np.einsum("ia,ia->a", merge, slack @ merge)
        return diagonal, self.cuts.mapped(problem.class_of, problem.signs)
