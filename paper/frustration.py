"""Growth of hardness with n at eight frustrations (section "Difficulty vs. Frustration")."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from glasshouse.charts.style import PAPER_COLOUR, new_figure
from glasshouse.statistics.scaling import FORMULAS, LAWS, Law, LawComparison
from glasshouse.store.store import Store
from glasshouse.studies.analysis import Point, Series, fit_series, points_of, series_of
from glasshouse.studies.charts import note_settings, plot_series, settings_text, statistic_name
from paper.report import Claim, Reproduction, point_row

# The caption of the paper's figure; "A b^n" there is A n^b.
PAPER_LAWS: dict[Fraction, tuple[Law, float, float]] = {
    Fraction(5, 100): ("power", 0.0225, 2.0259),
    Fraction(10, 100): ("power", 0.0284, 2.0168),
    Fraction(15, 100): ("power", 0.0591, 1.9150),
    Fraction(20, 100): ("stretched", 6.2343, 0.7227),
    Fraction(21, 100): ("stretched", 1.0184, 1.2283),
    Fraction(22, 100): ("exponential", 30.7289, 0.1579),
    Fraction(23, 100): ("exponential", 13.3808, 0.2564),
    Fraction(24, 100): ("exponential", 5.9172, 0.3738),
}
# Geometric means that an independent implementation measured with the paper's method (4-9 %).
REFERENCE: dict[tuple[Fraction, int], float] = {
    (Fraction(5, 100), 30): 19.9,
    (Fraction(5, 100), 100): 186,
    (Fraction(10, 100), 60): 83,
    (Fraction(15, 100), 60): 121,
    (Fraction(20, 100), 30): 270,
    (Fraction(20, 100), 60): 1528,
    (Fraction(21, 100), 40): 2124,
    (Fraction(22, 100), 20): 543,
    (Fraction(22, 100), 30): 3496,
    (Fraction(23, 100), 20): 2096,
}
_CLOSE = 0.15


def paper_value(f: Fraction, n: float) -> float:
    """Return the hardness at size n according to the paper's fitted curve.

    >>> round(paper_value(Fraction(1, 10), 60))
    110
    """
    law, prefactor, exponent = PAPER_LAWS[f]
    return float(prefactor * np.exp(exponent * LAWS[law](np.asarray(n, dtype=np.float64))))


def build(store: Store) -> Reproduction:
    """Draw geometric means over n for eight frustrations, with our fits and the paper's curves."""
    points = points_of(store, "geometric_mean")
    series = series_of(points, "size")
    fits = fit_series(series)
    figure, ax = new_figure(7.6, 5.0)
    label: str | None = "the paper's fits"
    for one in series:
        f = frustration_of(one.points[0])
        if f in PAPER_LAWS:
            n = np.geomspace(one.points[0].size, one.points[-1].size, 100)
            curve = [paper_value(f, k) for k in n]
            ax.plot(n, curve, "--", color=PAPER_COLOUR, linewidth=0.8, label=label)
            label = None
    plot_series(ax, series, fits=fits)
    ax.set_ylabel(statistic_name("geometric_mean"))
    ax.set_title("Difficulty versus size at the hardness peak")
    note_settings(ax, points)
    claims = [
        claim
        for one in series
        if one.label in fits.laws and frustration_of(one.points[0]) in PAPER_LAWS
        for claim in _law_claims(one, fits.laws[one.label])
    ]
    claims += [claim for point in points for claim in _reference_claim(point)]
    return Reproduction(
        "Difficulty versus frustration", figure, claims,
        "A law agrees if AICc selects the paper's law. A reference value agrees if our value is "
        "within 15 % of it, or if it is within our 95 % interval.",
        settings_text(points), [_row(point) for point in points],
        (
            "For each f, the table contains the largest deviation from the paper's fitted curve. "
            "The data file contains all deviations (`deviation_from_paper`). [The "
            "offset](offset.md) tests an explanation of these deviations.",
            "The sizes are our choice, because the paper does not list its sizes. The best law "
            "depends on the range of the sizes.",
            _reference_remark(points),
        ),
    )  # fmt: skip


def frustration_of(point: Point) -> Fraction:
    """Return the frustration requested for a point, as an exact fraction."""
    return Fraction(str(point.task.parameters["frustration"]))


def _law_claims(one: Series, comparison: LawComparison) -> list[Claim]:
    f = frustration_of(one.points[0])
    law, prefactor, exponent = PAPER_LAWS[f]
    best = comparison.best
    odds = ", ".join(f"{fit.law} {share:.0%}" for fit, share in
                     zip(comparison.fits, comparison.odds, strict=True))  # fmt: skip
    same = next(fit for fit in comparison.fits if fit.law == law)
    off = [p.estimate.value / paper_value(f, p.size) - 1 for p in one.measured]
    worst = max(off, key=abs)
    return [
        Claim(f"f = {float(f):g}: law", FORMULAS[law], FORMULAS[best.law], best.law == law, odds),
        Claim(
            f"f = {float(f):g}: A, b of the paper's law", f"{prefactor:g}, {exponent:g}",
            f"{same.prefactor.value:.4g}, {same.exponent}", None,
            f"measured points are off the paper's curve by up to {worst:+.0%}",
        ),
    ]  # fmt: skip


def _reference_claim(point: Point) -> list[Claim]:
    f = frustration_of(point)
    known = REFERENCE.get((f, int(point.size)))
    if known is None:
        return []
    off = point.estimate.value / known - 1
    return [
        Claim(
            f"f = {float(f):g}, n = {int(point.size)}: geometric mean",
            f"{paper_value(f, point.size):.4g} (fit), {known:g} (reference)", str(point.estimate),
            abs(off) <= _CLOSE or point.estimate.low <= known <= point.estimate.high,
            f"{off:+.0%} of the reference",
        )
    ]  # fmt: skip


def _reference_remark(points: list[Point]) -> str:
    """Return a sentence on how many reference values our measurements meet."""
    known = [(p, REFERENCE.get((frustration_of(p), int(p.size)))) for p in points]
    pairs = [(p.estimate, value) for p, value in known if value is not None]
    off = [(e, v) for e, v in pairs if abs(e.value / v - 1) > _CLOSE]
    beyond = sum(not e.low <= v <= e.high for e, v in off)
    if not off:
        return f"Our values are within 15 % of all {len(pairs)} reference values."
    return (
        f"Our values are within 15 % of {len(pairs) - len(off)} of the {len(pairs)} reference "
        f"values. Of the other reference values, {beyond} are outside the 95 % interval of our "
        "value. This interval is wide if there are few instances."
    )


def _row(point: Point) -> dict[str, object]:
    f = frustration_of(point)
    row: dict[str, object] = point_row(point)
    if f in PAPER_LAWS:
        row["paper_fit"] = paper_value(f, point.size)
        row["deviation_from_paper"] = point.estimate.value / paper_value(f, point.size) - 1
    return row
