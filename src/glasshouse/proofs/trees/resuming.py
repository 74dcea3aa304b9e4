"""Going on from a certificate: its tree as a search tree, its open leaves as what is left to do."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Branch, Certificate, Cover
from glasshouse.certificates.bound import Parts as FlatParts
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.certificates.leaf import bounded_leaf, covered_leaf
from glasshouse.certificates.ties import Pair
from glasshouse.certificates.tree import Leaf, Tree
from glasshouse.proofs.trees.core import Core
from glasshouse.proofs.trees.search_tree import Node


def common_of(certificate: Certificate) -> FlatParts:
    """The parts that all leaves have."""
    tree = certificate.tree or Tree((Leaf(certificate.num_loops, certificate.num_squares),))
    loops, squares = slice(0, tree.common_loops), slice(0, tree.common_squares)
    return FlatParts.of(certificate).chosen([loops], [squares])


def goes_on_from(certificate: Certificate, core: Core) -> bool:
    """Whether a search on a core can go on from a certificate: one with a tree over that core."""
    if certificate.tree is None or not certificate.tree.num_branches:
        return False
    branches = (row for row in certificate.tree.rows if isinstance(row, Branch))
    named = {node for branch in branches for node in branch} <= set(core.names.tolist())
    first, second = common_of(certificate), core.common
    one, other = first.denominator, second.denominator
    return (
        named
        and np.array_equal(first.nodes, second.nodes)
        and np.array_equal(first.negative, second.negative)
        and np.array_equal(first.multipliers.astype(object) * other,
                           second.multipliers.astype(object) * one)
        and not first.squares
    )  # fmt: skip


def tree_of(
    certificate: Certificate, form: ExactForm, names: npt.NDArray[np.int32], value: int
) -> Node:
    """The tree of a certificate, with what its leaves prove.

    Args:
        certificate: one that fits the problem.
        form: the problem.
        names: which node of the problem each vertex of the core is; all that the tree branches on
            are among them.
        value: that of the best state.
    """
    tree = certificate.tree or Tree((Leaf(certificate.num_loops, certificate.num_squares),))
    parts = FlatParts.of(certificate)
    common = slice(0, tree.common_loops), slice(0, tree.common_squares)
    places = iter(tree.leaves())
    vertex = {int(name): k for k, name in enumerate(names.tolist())}
    nothing = parts.chosen([slice(0, 0)], [slice(0, 0)])
    worst = form.constant - form.total
    roots: list[Node] = []
    waiting: list[tuple[list[Node], list[Pair]]] = [(roots, [])]
    for row in tree.rows:
        siblings, pairs = waiting.pop()
        node = Node(pairs, nothing, Fraction(worst), worst)
        siblings.append(node)
        if isinstance(row, Branch):
            a, b = (vertex[end] for end in row)
            waiting += [(node.children, [*pairs, (a, b, sign)]) for sign in (-1, 1)]
            continue
        leaf = next(places)
        if isinstance(row, Cover):
            node.cover = row.nodes
            found = covered_leaf(form, leaf.pairs, row.nodes)
        else:
            node.parts = parts.chosen([leaf.loops], [leaf.squares])
            whole = parts.chosen([common[0], leaf.loops], [common[1], leaf.squares])
            found = bounded_leaf(form, leaf.pairs, whole, value)
        if found is None:  # no state is there
            node.is_finished = True
        else:
            node.bound, node.least = found
    return roots[0]
