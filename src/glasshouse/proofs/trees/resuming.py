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
from glasshouse.certificates.tree import Tree
from glasshouse.proofs.core import Core
from glasshouse.proofs.trees.node import Node


def goes_on_from(certificate: Certificate, core: Core) -> bool:
    """Whether a search on a core can go on from a certificate: one with a tree over that core."""
    tree = certificate.tree
    if tree is None or not tree.num_branches:
        return False
    branches = (row for row in tree.rows if isinstance(row, Branch))
    named = {node for branch in branches for node in branch} <= set(core.names.tolist())
    first, second = FlatParts.of(certificate).chosen(*_common(tree)), core.common
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
        certificate: one with a tree that fits the problem.
        form: the problem.
        names: which node of the problem each vertex of the core is; all that the tree branches on
            are among them.
        value: that of the best state.
    """
    tree, parts = certificate.tree, FlatParts.of(certificate)
    assert tree is not None
    common_loops, common_squares = _common(tree)
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
            whole = parts.chosen([*common_loops, leaf.loops], [*common_squares, leaf.squares])
            found = bounded_leaf(form, leaf.pairs, whole, value)
        if found is None:  # no state is there
            node.is_finished = True
        else:
            node.bound, node.least = found
    return roots[0]


def _common(tree: Tree) -> tuple[list[slice], list[slice]]:
    """Which loops and squares all leaves have."""
    return [slice(0, tree.common_loops)], [slice(0, tree.common_squares)]
