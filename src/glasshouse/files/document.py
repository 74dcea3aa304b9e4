"""Documents: a problem, its file's statements, and the proof of these statements.

A reduction that keeps the order of the variables also converts the proof: the loops stay, and their
multipliers are scaled. The proof is verified again for the new problem, where it may prove less,
for instance if hard clauses became soft.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import (
    Certificate,
    CertificateError,
    Cover,
    ExactForm,
    Order,
    Proven,
    Tree,
    check_fit,
    clause_rows,
    elimination_of,
    exact_energy,
)
from glasshouse.files.certificate.reading import SideCar, read_side_car
from glasshouse.files.certificate.writing import loop_units, rescaled
from glasshouse.files.claims import Stated, agrees
from glasshouse.files.text.allowance import VARIABLE
from glasshouse.planting import Planted, shuffling
from glasshouse.problems import (
    Max2Sat,
    MaxSat,
    Measure,
    Polynomial,
    Problem,
    Reduction,
    SpinArray,
    validation,
)
from glasshouse.problems.convert import Given, given_problem, to_max2sat
from glasshouse.problems.validation import Number
from glasshouse.summaries import Summarised

# The factor by which Python's integers are slower than 64-bit integers.
_WIDE = 128


@dataclass(frozen=True, repr=False)
class Document(Summarised):
    """A problem, its file's statements, and the whole plant if the file contains it.

    Attributes:
        problem: the problem in the file.
        stated: the other statements of the file; empty for most files of other programs.
        planted: the plant of a native file; other formats do not contain the loops.
        load_proof: reads the side-car next to the file, if there is one. Its multipliers and its
            cost are in units of `problem` (see `docs/certificate.md`).
        path: the file that the document was read from.
        measured: a function that returns the measure of a problem in this file.
        suffix: the suffix of the format that the document was read in.
    """

    problem: Problem
    stated: Stated = field(default_factory=Stated)
    planted: Planted | None = None
    load_proof: Callable[[], SideCar] | None = field(default=None, compare=False, repr=False)
    path: Path | None = field(default=None, compare=False)
    measured: Callable[[Any], Measure] = field(default=Measure.own, compare=False, repr=False)
    suffix: str = field(default="", compare=False)

    @classmethod
    def of(cls, thing: Given | Document) -> Document:
        """Wrap a problem or plant in a document; return a document unchanged."""
        if isinstance(thing, Document):
            return thing
        if isinstance(thing, Planted):
            return cls(thing.problem, Stated.of(thing), thing)
        return cls(given_problem(thing))

    def with_certificate(self, path: str | PathLike[str] | None) -> Document:
        """Return the document with the proof in `path`; if `path` is None, return it unchanged."""
        if path is None:
            return self
        return replace(self, planted=None, load_proof=partial(read_side_car, path))

    @cached_property
    def measure(self) -> Measure:
        """The file's measure, which assigns a value to each state: a cut, an objective, a cost."""
        return self.measured(self.problem)

    @property
    def stated_value(self) -> Number | None:
        """The optimum that the file states, in the file's measure."""
        return self.stated.value(self.measure)

    def value_of(self, state: npt.ArrayLike) -> Number:
        """Return the value of a state in the file's measure, from its exact energy if possible."""
        try:
            energy = exact_energy(self.problem, state)
        except ValueError:  # exact sums of floats of very different sizes take gigabytes
            energy = Fraction(self.problem.energy(state).item())
        return self.measure.of(energy)

    @cached_property
    def proof(self) -> SideCar | None:
        """The unverified proof: the plant's certificate or the `.cert` file; None without both."""
        planted = self.planted
        if planted is None:
            return None if self.load_proof is None else self.load_proof()
        names = None
        if planted.recipe.parameters.get("shuffled"):
            names = np.argsort(shuffling.names(planted.recipe, len(planted.state)))
        return SideCar(planted.certificate, planted.energy, names)

    @cached_property
    def proven(self) -> Proven | None:
        """The document's verified proof; None if it does not have a proof.

        Raises:
            CertificateError: the proof is false, or refutes a statement.
        """
        try:
            if self.planted is None:
                return None if self.proof is None else self.examined(self.proof)
            if self.planted.problem is not self.problem and self.planted.problem != self.problem:
                raise CertificateError("the plant in the file belongs to another problem")
            self.stated.refuse_false(self.planted.proven, self.measure)
            return self.planted.proven
        except CertificateError as lie:
            raise CertificateError(f"{self.path}: {lie}" if self.path else str(lie)) from None

    def examined(self, beside: SideCar) -> Proven:
        """Verify a certificate against the document's problem and statements.

        Raises:
            CertificateError: the certificate is false, or refutes a statement.
        """
        _refuse_work(self.problem, beside)
        proven = Proven(self.problem, beside.certificate)
        verdict = proven.verdict
        if beside.cost is not None and not agrees(self.problem, beside.cost, verdict.exact_energy):
            raise CertificateError(
                f"the certificate states a cost of {validation.shown(beside.cost)}, "
                f"but its state costs {verdict.energy}"
            )
        self.stated.refuse_false(proven, self.measure)
        return proven

    @cached_property
    def kept(self) -> tuple[Stated, tuple[str, ...]]:
        """The statements that may be copied, and a description of each omitted statement.

        The recipe is always copied; an optimum only if it is proven.

        Raises:
            CertificateError: a statement is false.
        """
        if self.proven is not None and self.proven.verdict.optimal:
            return self.stated, ()
        if self.stated.cost is not None and self.stated.model is not None:
            self.stated.energy_of_model(self.problem, self.measure)
        alone = self.stated.recipe_alone
        if self.stated == alone:
            return alone, ()
        why = "there is no proof" if self.proven is None else "the certificate proves only a bound"
        return alone, (f"the optimum that {self.path} states ({why})",)


def carry(document: Document, problem: Problem, reduction: Reduction) -> Document:
    """Return a document of the reduced `problem`, with the statements and the proof converted.

    >>> from glasshouse.planting import random_loops
    >>> from glasshouse.problems.convert import to_qubo
    >>> plant = Document.of(random_loops(5, 5, frustration="1/5", loops=3, rng=1))
    >>> qubo = carry(plant, *to_qubo(plant.problem))
    >>> qubo.stated.cost, qubo.proven
    (-27, Proven(-27 is the optimum, by 3 loops))
    """
    proof = scaled_proof(document, problem, reduction)
    return replace(
        document,
        problem=problem,
        stated=document.stated.reduced(document.problem, reduction),
        planted=None,
        load_proof=None if proof is None else (lambda: proof),
        measured=Measure.own,
    )


def scaled_proof(document: Document, problem: Problem, reduction: Reduction) -> SideCar | None:
    """Return the document's proof in units of `problem`; None if it does not fit `problem`."""
    proof = document.proof
    if proof is None or len(proof.certificate.state) != problem.num_variables:
        return None
    has_cores = bool(proof.certificate.num_cores)
    if has_cores and not isinstance(problem, (Max2Sat, MaxSat)):
        return None  # cores are proofs about clauses
    certificate = proof.certificate
    if isinstance(document.problem, MaxSat) and not (has_cores or isinstance(problem, MaxSat)):
        # Clauses need no proof of a cost of 0. Pairs need loops, which the plant lacks.
        triangles = _triangles(document.problem, certificate.state)
        if triangles is None:
            return None
        certificate = triangles
    factor = reduction.factor * loop_units(problem) / loop_units(document.problem)
    cost = None if proof.cost is None else reduction.target_energy(proof.cost)
    return SideCar(rescaled(certificate, factor), cost, proof.names)


def _triangles(problem: MaxSat, state: SpinArray) -> Certificate | None:
    """Return loops that prove the cost 0 of a state; None if it is not 0, or clauses are long.

    A clause of two literals is a frustrated triangle of its variables and the ghost. If a state
    satisfies the clause, the state violates exactly one edge of the triangle, and the clause costs
    as much as the minimum of the triangle.
    """
    if problem.longest > 2 or not problem.is_integer or problem.cost(state > 0) != 0:
        return None
    pairs = to_max2sat(problem)[0]
    clauses = np.concatenate([pairs.clauses, pairs.hard])
    hard = np.full(len(pairs.hard), pairs.hard_weight, dtype=object)
    weights = np.concatenate([pairs.weights.astype(object), hard])
    has_two = (clauses != 0).all(axis=1) & (np.abs(clauses[:, 0]) != np.abs(clauses[:, 1]))
    clauses, weights = clauses[has_two], weights[has_two]
    ends = np.abs(clauses) - 1
    first_holds, second_holds = (np.sign(clauses) == state[ends]).T
    # The columns are the vertices of each triangle; the state violates the edge from last to first.
    ghosts = np.full(len(ends), len(state))
    both = np.column_stack([ends[:, 0], ghosts, ends[:, 1]])
    first = np.column_stack([ghosts, ends])
    second = np.column_stack([ghosts, ends[:, ::-1]])
    loops = np.where(second_holds[:, np.newaxis], second, first)
    loops[first_holds & second_holds] = both[first_holds & second_holds]
    # An edge of a triangle weighs half of its clause in units of twice the cost.
    return Certificate(state, loops.ravel(), 3 * np.arange(len(loops) + 1), weights, 2)


def _refuse_work(problem: Problem, beside: SideCar) -> None:
    """Raise if the check of a certificate would take more steps than its file may cause.

    A leaf of a core reads all literals of its clauses. Every other leaf reads all edges and all
    common parts. Integers above 64 bits take longer. The tables of an elimination order are counted
    in a pass over the edges.
    """
    certificate, tree = beside.certificate, beside.certificate.tree
    if beside.most_work is None:
        return
    if certificate.num_cores and isinstance(problem, (Max2Sat, MaxSat)):
        named = np.abs(certificate.cores.tokens[certificate.cores.is_clause])
        literals = np.append(0, np.diff(clause_rows(problem)[1]))
        known = named[(named > 0) & (named < len(literals))]
        if int(literals[known].sum()) > beside.most_work:
            raise CertificateError(
                f"the cores use clauses with {int(literals[known].sum())} literals in "
                f"total, too many to check; raise {VARIABLE} if you trust the file"
            )
    if tree is None:
        return
    common = int(certificate.starts[tree.common_loops])
    common += certificate.squares.chosen([slice(0, tree.common_squares)]).num_terms
    size, terms = problem.num_variables, problem.num_edges
    largest = max(certificate.denominator, int(certificate.multipliers.max(initial=0)))
    width = 1 + max(largest.bit_length(), certificate.squares.most_digits) // 64
    if width > 1 or ExactForm.of(problem).weights.dtype == object:
        width *= _WIDE
    effort = tree.effort(size, terms + common)
    if isinstance(problem, Polynomial) or certificate.num_monomials:
        effort *= 1 + int(certificate.monomials.degrees.max(initial=2))
        covers = (len(row.nodes) for row in tree.rows if isinstance(row, Cover))
        effort += sum((1 + max(0, size - k)) * k << k for k in covers)
    effort *= width
    if effort <= beside.most_work and tree.num_orders:
        check_fit(certificate, size)
        effort += _numbers_of_orders(problem, tree)
    if effort > beside.most_work:
        raise CertificateError(
            f"the tree of {tree.num_leaves} leaves would take too long to check; raise {VARIABLE} "
            "if you trust the file"
        )


def _numbers_of_orders(problem: Problem, tree: Tree) -> int:
    """Return how many 64-bit integers the tables of all elimination orders have in total."""
    form, numbers = ExactForm.of(problem), 0
    for leaf in tree.leaves():
        if isinstance(leaf.row, Order):
            elimination = elimination_of(form, leaf.pairs, leaf.row)
            numbers += elimination.num_numbers * elimination.digits if elimination else 0
    return numbers
