"""The search tree of a certificate: how deep its leaves lie, and what each of them proves."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from glasshouse.certificates import Certificate
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.certificates.tree import Cover
from glasshouse.certificates.verdict import leaf_bounds
from glasshouse.problems import Problem
from glasshouse.problems.measure import Measure
from glasshouse.reports.charts import Axis, bar_chart
from glasshouse.reports.page import Figure, Part, Table, cut, number, text

_MOST_LEAVES = 20_000  # that are bounded once more, for the page
_LONGEST_PATH = 12  # pairs that are listed


def tree_parts(problem: Problem, certificate: Certificate, measure: Measure) -> list[Part]:
    """A chart of the leaves by depth, and a table of their bounds; nothing without a tree."""
    tree = certificate.tree
    if tree is None or tree.num_leaves < 2:
        return []
    depths: Counter[tuple[int, str]] = Counter()
    for leaf in tree.leaves():
        kind = "all states of a cover" if isinstance(leaf.row, Cover) else "loops and squares"
        depths[len(leaf.pairs), kind] += 1
    kinds = list(dict.fromkeys(kind for _, kind in depths))
    rows = [[kind, depth, count] for (depth, kind), count in sorted(depths.items())]
    chart = bar_chart(
        Axis("depth", "depth: branches above the leaf"),
        Axis("leaves", "leaves", has_zero=True, is_whole=True),
        kinds, {"series": "bounded by", "depth": "depth", "leaves": "leaves"},
    )  # fmt: skip
    figure = Figure(
        "The search tree", f"{tree.num_branches:,} branches part all states into "
        f"{tree.num_leaves:,} leaves: in one half two spins agree, in the other they differ. The "
        "least bound of all leaves is the bound of the proof.", chart,
        Table("", [text("series", "bounded by"), number("depth"), number("leaves")], cut(rows)[0]),
    )  # fmt: skip
    if tree.num_leaves > _MOST_LEAVES:
        return [figure]
    return [figure, _leaves(problem, certificate, measure)]


def _leaves(problem: Problem, certificate: Certificate, measure: Measure) -> Table:
    form = ExactForm.of(problem)
    rows: list[list[Any]] = []
    value = form.value(certificate.state)
    for leaf, bound in leaf_bounds(form, certificate, value):
        path = " ".join(
            f"{a}{'=' if sign > 0 else '≠'}{b}" for a, b, sign in leaf.pairs[:_LONGEST_PATH]
        )
        is_cover = isinstance(leaf.row, Cover)
        told = None if bound is None else measure.bound(Fraction(bound.least, form.scale))
        rows.append([
            len(leaf.pairs), told, leaf.loops.stop - leaf.loops.start,
            leaf.squares.stop - leaf.squares.start,
            len(leaf.row.nodes) if isinstance(leaf.row, Cover) else None,
            "no state" if bound is None else "cover" if is_cover else "loops and squares",
            path + " …" * (len(leaf.pairs) > _LONGEST_PATH),
        ])  # fmt: skip
    kept, count = cut(rows)
    note = f" These are the first {len(kept):,} of {count:,}." if count > len(kept) else ""
    return Table(
        "Leaves",
        [number("depth"), number("bound", f"{measure.bound_name} ({measure.name})"),
         number("loops"), number("squares"), number("covered", "spins covered"), text("kind"),
         text("path", "path: which spins agree (=) or differ (≠)")],
        kept, "Bounds were computed in exact integers while this page was made." + note,
    )  # fmt: skip
