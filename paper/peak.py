"""The loop density at which random loops are hardest (section "Hardness Peak")."""

from __future__ import annotations

import numpy as np

from glasshouse.charts.style import PAPER_COLOUR, band, bars, new_figure, place_legend, ticks_at
from glasshouse.solvers import peak_density
from glasshouse.store.store import Store
from glasshouse.studies.analysis import fit_series, points_of, series_of
from glasshouse.studies.charts import note_settings, plot_series, settings_text, statistic_name
from paper.report import Claim, Reproduction, point_row

_CLOSE = 0.03
_PAPER_DECAY = (0.3035, 0.2952, 0.0196)
_FORMULA = r"$0.3035 + 0.2952\,e^{-0.0196 n}$"
_SHOWN = 8  # curves beyond these are measured and fitted, but would crowd the figure


def build(store: Store) -> Reproduction:
    """Draw hardness over density, its peaks, and the decay of the peak density with n."""
    points = points_of(store, "paper_95")
    series = series_of(points, "density")
    fits = fit_series(series)
    figure, (ax, side) = new_figure(12.4, 4.2, columns=2)
    step = -(-len(series) // _SHOWN)
    sizes = np.array([one.points[0].size for one in series if one.label in fits.peaks])
    peaks = [fits.peaks[one.label] for one in series if one.label in fits.peaks]
    places = np.array([peak.density.value for peak in peaks])
    heights = np.array([peak.height for peak in peaks])
    ax.plot([peak_density(int(n)) for n in sizes], heights, "--", color=PAPER_COLOUR,
            label=r"paper: $\rho_{\mathrm{peak}}(n)$")  # fmt: skip
    plot_series(ax, series[::step], fits=fits)
    ax.set_ylabel(statistic_name("paper_95"))
    ax.set_title("Hardness over loop density, random loops, $f = 0.05$")
    low = places - [peak.density.low for peak in peaks]
    high = [peak.density.high for peak in peaks] - places
    side.errorbar(sizes, places, yerr=[low, high], fmt="o", color="black", label="measured")
    n = np.linspace(sizes.min(), sizes.max(), 200)
    plateau, amplitude, rate = _PAPER_DECAY
    curve = plateau + amplitude * np.exp(-rate * n)
    side.plot(n, curve, "--", color=PAPER_COLOUR, label=f"paper: {_FORMULA}")
    side.fill_between(
        n, curve - _CLOSE, curve + _CLOSE, color=PAPER_COLOUR, alpha=0.08, linewidth=0
    )
    if fits.decay is not None:
        side.plot(n, fits.decay.predict(n), color="black", label="our fit")
    side.set_xlabel("system size $n$")
    side.set_ylabel(r"peak loop density $\rho$")
    side.set_title("Peak density over system size")
    ticks_at(side, sizes)
    close = band(f"within {_CLOSE} of the paper", PAPER_COLOUR)
    place_legend(side, [bars("bars: 95 % intervals"), close])
    note_settings(ax, points)
    claims = [
        Claim(
            f"peak density, n = {int(size)}", f"{peak_density(int(size)):.3f}", str(peak.density),
            abs(peak.density.value - peak_density(int(size))) <= _CLOSE
            or peak.density.low <= peak_density(int(size)) <= peak.density.high,
            "at the edge of the measured densities" if peak.at_edge else "",
        )
        for size, peak in zip(sizes, peaks, strict=True)
    ]  # fmt: skip
    if fits.decay is not None:
        decay = (fits.decay.plateau, fits.decay.amplitude, fits.decay.rate)
        for name, paper, ours in zip(("plateau", "amplitude", "rate"), _PAPER_DECAY, decay,
                                     strict=True):  # fmt: skip
            claims.append(
                Claim(f"decay: {name}", f"{paper}", str(ours), ours.low <= paper <= ours.high)
            )
    return Reproduction(
        "Hardness peak", figure, claims,
        "A peak agrees if it is within 0.03 of our value or within our 95 % interval. A parameter "
        "of the decay agrees if it is within our 95 % interval.",
        settings_text(points), [point_row(point) for point in points],
        (
            "Densities are requested densities, as in the paper. Since N = ⌈ρn⌉, N/n is higher "
            "than ρ by 1/(2n) on average.",
            "A peak is the maximum of a cubic in ln ρ, which is fitted around the highest point. "
            "The interval of a peak is a parametric bootstrap of the whole fit. The lines in the "
            "figure are kernel averages of the points.",
            "Small samples scatter. With 100 instances per point, the peak of n = 30 was at 0.50 "
            "in N/n and at 0.51 in ρ. Both values are outside the tolerance of 0.03.",
        ),
    )  # fmt: skip
