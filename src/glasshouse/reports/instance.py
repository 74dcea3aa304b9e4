"""The report section on an instance: its proven or stated optimum, weights and search tree."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from glasshouse.certificates import Certificate, CertificateError, Cover, ExactForm, Order, Proven
from glasshouse.certificates.verdict import leaf_bounds
from glasshouse.charts import Axis, Chart, Mark, Series
from glasshouse.extras import MissingPackageError
from glasshouse.files import Document, FileError, read_document
from glasshouse.files.replanting import regrown
from glasshouse.landscape import overview
from glasshouse.planting import Planted
from glasshouse.problems import Ising, MaxSat, Measure, Polynomial, Problem, Rbm, to_ising
from glasshouse.problems.validation import shown
from glasshouse.reports.matrix import loop_table, matrix_figure
from glasshouse.reports.page import (
    Fact,
    Listing,
    Part,
    Section,
    Table,
    charted,
    command,
    cut,
    number,
    text,
    typeset,
)
from glasshouse.store.records import without_codes

_MOST_SPINS = 20_000  # the most spins of a matrix that is drawn
_LONGEST = 600  # characters of a text from a file
_MOST_LEAVES = 20_000  # leaves that are bounded again for the page
_KINDS: dict[type, str] = {Cover: "all states of a cover", Order: "elimination of all vertices"}
_LONGEST_PATH = 12  # pairs that are listed


def instance_section(path: Path) -> Section:
    """Return the report section on a problem file and its certificate."""
    document = read_document(path)
    seen = [Fact(name, typeset(value)) for name, value in overview(document.problem).rows()]
    name = _cut(path.name)
    try:
        proven = document.proven  # A wrong certificate is reported first.
        held, plant, fault = _grown(document)
        proven, left_out = held.proven, held.kept[1]
    except CertificateError as lie:
        said = str(lie).removeprefix(f"{path}: ")
        facts = [_stated(document, "refuted"), *seen]
        lead = "The optimum that this file states was checked and found to be false."
        return Section(name, "Instance", lead, facts, [_check(path)], said, facts[0])
    if fault:
        left_out = (*left_out, f"the recipe of {path} ({fault})")
    facts = _optimum(held, proven, plant)
    result = _result(held, facts, proven)
    facts += [Fact("not verified", _cut(what.replace(str(path), "the file")), "stated")
              for what in left_out]  # fmt: skip
    facts += seen
    if held.problem.num_variables > _MOST_SPINS:
        facts.append(Fact("weight matrix", f"not drawn: more than {_MOST_SPINS:,} spins"))
    parts: list[Part] = []
    parts += _matrix(held, held.planted or plant, proven)
    if proven is not None:
        parts += tree_parts(held.problem, proven.certificate, held.measure)
        parts += loop_table(held.problem, proven.certificate)
    parts += _again(path, document.stated.recipe)
    return Section(name, "Instance", _lead(held, proven), facts, parts, result=result)


def _grown(document: Document) -> tuple[Document, Planted | None, str]:
    """Grow an instance again from its document's recipe; return document, plant and any fault.

    Raises:
        CertificateError: the file states something false.
    """
    if document.stated.recipe is None:
        return document, None, ""
    try:
        plant, held = regrown(document)
    except (FileError, MissingPackageError) as fault:
        return document, None, str(fault).removeprefix(f"{document.path}: ")
    return held, plant, ""


def _result(held: Document, facts: Sequence[Fact], proven: Proven | None) -> Fact | None:
    """Return the main fact of an instance: its optimum, or its best known value and bound."""
    if proven is None:
        return facts[0] if facts else None
    measure, verdict = held.measure, proven.verdict
    value = _exact(measure.of(verdict.exact_energy))
    if verdict.optimal:
        return Fact("optimum", value, "verified")
    bound = _exact(measure.bound(verdict.lower_bound))
    return Fact(f"best {measure.name}", f"{value}, {measure.bound_name} {bound}", "verified")


def _exact(value: Any) -> str:
    return typeset(shown(value))


def _lead(held: Document, proven: Proven | None) -> str:
    if proven is None:
        return "There is no certificate: nothing is proven about the optimum of this problem."
    verdict, parts = proven.verdict, typeset(proven.certificate.parts)
    if verdict.optimal:
        value = _exact(held.measure.of(verdict.exact_energy))
        return f"{value} is the optimum {held.measure.name}, proven by {parts}."
    return f"The certificate proves a bound by {parts}, but a gap remains."


def _optimum(held: Document, proven: Proven | None, plant: Planted | None) -> list[Fact]:
    measure, recipe = held.measure, held.stated.recipe
    if proven is None:
        return [] if held.stated.cost is None else [_stated(held, "stated")]
    verdict = proven.verdict
    value, bound = measure.of(verdict.exact_energy), measure.bound(verdict.lower_bound)
    facts = [
        Fact(f"best {measure.name}", _exact(value) + (", the optimum" * verdict.optimal),
             "verified"),
        Fact(measure.bound_name, _exact(value if verdict.optimal else bound), "verified"),
        Fact("gap", _exact(measure.gap(verdict.gap)), "verified"),
        Fact("certificate", typeset(proven.certificate.parts), "verified"),
    ]  # fmt: skip
    if not measure.is_energy:
        facts.append(Fact("energy", _exact(verdict.energy), "verified"))
    if plant is not None and recipe is not None:
        key = recipe.get("spawn_key")
        child = f", child {'.'.join(map(str, key))}" if key else ""
        facts += [Fact("grown by", str(recipe.get("method")), "verified"),
                  Fact("seed", f"{recipe.get('seed')}{child}", "verified"),
                  Fact("glasshouse", str(recipe.get("version"))[:60], "stated")]  # fmt: skip
    return facts


def _stated(document: Document, trust: Any) -> Fact:
    value = typeset(f"{document.stated_value}"[:_LONGEST])
    return Fact(f"stated {document.measure.name}", value, trust)


def _matrix(held: Document, plant: Planted | None, proven: Proven | None) -> list[Part]:
    if held.problem.num_variables > _MOST_SPINS or not held.problem.num_edges:
        return []
    if isinstance(held.problem, (MaxSat, Polynomial)):
        return []  # no matrix shows products or long clauses
    if proven and proven.certificate.num_monomials:
        return []
    if plant is not None and not isinstance(plant.problem, (MaxSat, Polynomial)):
        what = "the planted state, which is proven to be a ground state,"
        return [matrix_figure(plant.problem, plant.state, what, plant.proven.certificate)]
    if proven is None:
        return []
    problem: Any = held.problem
    form: Rbm | Ising = problem if isinstance(problem, (Rbm, Ising)) else to_ising(problem)[0]
    what = "the optimum" if proven.verdict.optimal else "the best known state"
    return [matrix_figure(form, proven.certificate.state, what, proven.certificate)]


def _again(path: Path, recipe: dict[str, Any] | None) -> list[Part]:
    parts: list[Part] = []
    if recipe is not None:
        grown = json.dumps(recipe, sort_keys=True, separators=(",", ":"))
        code = (f"import glasshouse as gh\nrecipe = gh.Recipe.from_json({grown!r})\n"
                f"gh.write({path.name!r}, gh.Planted.from_recipe(recipe))")  # fmt: skip
        parts.append(Listing("Python code that grows the instance again", code[:20_000]))
    return [*parts, _check(path)]


def _check(path: Path) -> Listing:
    return Listing("The command that checks the instance", command("check", path.name))


def _cut(text: str) -> str:
    line = without_codes(text)
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def tree_parts(problem: Problem, certificate: Certificate, measure: Measure) -> list[Part]:
    """Return a chart of a search tree's leaves by depth, and a table of the leaves' bounds."""
    tree = certificate.tree
    if tree is None or tree.num_leaves < 2:
        return []
    depths: Counter[tuple[int, str]] = Counter()
    for leaf in tree.leaves():
        depths[len(leaf.pairs), _KINDS.get(type(leaf.row), "loops and squares")] += 1
    most = max(Counter(depth for depth, _ in depths.elements()).values())
    at = {kind: [depth for depth, other in sorted(depths) if other == kind] for _, kind in depths}
    figure = charted(Chart(
        "The search tree", f"{tree.num_branches:,} branches split all states into "
        f"{tree.num_leaves:,} leaves; at a branch, two spins agree in one half and differ in the "
        "other. The least bound of all leaves is the bound of the proof.",
        Axis("depth: branches above the leaf", "depth"),
        Axis("leaves", is_whole=True, low=0, high=most),
        [Series(kind, [Mark("", ("bars",), each, [depths[depth, kind] for depth in each])])
         for kind, each in at.items()], "bounded by",
    ), 240)  # fmt: skip
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
        told = None if bound is None else measure.bound(Fraction(bound.least, form.scale))
        rows.append([
            len(leaf.pairs), told, leaf.loops.stop - leaf.loops.start,
            leaf.squares.stop - leaf.squares.start,
            len(leaf.row.nodes) if isinstance(leaf.row, Cover) else None,
            "no state" if bound is None else _KINDS.get(type(leaf.row), "loops and squares"),
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
