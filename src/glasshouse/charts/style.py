"""The common style of all figures: colours, markers, ticks, legends and file formats."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.extras import optional
from glasshouse.files.text.streams import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Light axes, text as text in SVG, fonts embedded in PDF.
STYLE: Any = {
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "savefig.bbox": "tight",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.5,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "axes.grid": True,
    "grid.color": "0.92",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "glasshouse",
    "pdf.fonttype": 42,
}
PAPER_COLOUR = "#c0392b"  # the paper's own curves, in every figure
NOTE_COLOUR = "0.35"  # legend entries that apply to all curves
# Neighbours differ in lightness and hue, even for the colour-blind (a test measures this).
_COLOURS = (
    "#332288", "#56b4e9", "#117733", "#cc79a7", "#882255", "#999933", "#0072b2", "#e08214",
    "#000000",
)  # fmt: skip
# Upward triangles are lower bounds, and stars are peaks.
_MARKERS = ("o", "s", "D", "v", "P", "X", "<", ">", "h", "p")
# No date, so that the same data give the same bytes.
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
# The laws of `statistics.scaling`, as its `FORMULAS` write them.
_LAWS = {
    "A n^b": r"$A\,n^b$",
    "A exp(b √n)": r"$A\,e^{b\sqrt{n}}$",
    "A exp(b n)": r"$A\,e^{b n}$",
}
_GREEK = {"β": r"$\beta$", "μ": r"$\mu$", "ρ": r"$\rho$", "σ": r"$\sigma$", "τ": r"$\tau$"}
_LARGEST_PLAIN = 10_000  # larger numbers are written as powers of ten
_LONGEST_LEGEND = 40  # lines in a column
_DIGIT = 6.0  # the width of a digit at a tick, in points
_SHARE_OF_AXES = 0.75  # the least fraction of the axes' width that a legend next to them leaves


class Look(NamedTuple):
    """The colour, marker and index of one of several curves."""

    colour: str
    marker: str
    order: int


def looks(count: int) -> list[Look]:
    """Return the looks of `count` curves, all different for up to 90 curves."""
    return [
        Look(_COLOURS[k % len(_COLOURS)], _MARKERS[k % len(_MARKERS)], k) for k in range(count)
    ]  # fmt: skip


@contextmanager
def styled() -> Iterator[None]:
    """Apply the common style of all figures within the `with` block."""
    with optional("matplotlib", "a figure").rc_context(STYLE):
        yield


def new_figure(
    width: float = 6.2, height: float = 4.0, columns: int = 1, rows: int = 1
) -> tuple[Figure, Any]:
    """Return a figure without a window, and its axes (an array if there are several)."""
    make = optional("matplotlib.figure", "a figure").Figure
    figure = make(figsize=(width, height), layout="constrained")
    optional("matplotlib.backends.backend_agg", "a figure").FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns)


def picture_paths(name: str | Path) -> list[Path]:
    """Return the paths of a figure's files: NAME.png and NAME.svg if the name has no suffix.

    >>> [path.name for path in picture_paths("peak")], picture_paths("peak.pdf")[0].name
    (['peak.png', 'peak.svg'], 'peak.pdf')
    """
    path = Path(name)
    if not path.suffix:
        return [path.with_name(f"{path.name}.{suffix}") for suffix in ("png", "svg")]
    if path.suffix[1:].lower() not in _METADATA:
        raise ValueError(f"{path} is not a figure file; use a name that ends in .png, .svg or .pdf")
    return [path]


def save(figure: Figure, paths: Iterable[str | Path]) -> list[Path]:
    """Write a figure to files in the formats of their suffixes, never leaving a partial file."""
    written = []
    for path in map(Path, paths):
        suffix = path.suffix[1:].lower()
        # On a full disk, the writer of PDF would hide the system's error behind its own.
        whole = io.BytesIO()
        with styled():
            figure.savefig(whole, format=suffix, metadata=_METADATA[suffix])
        with replacing(path, overwrite=True) as file:
            file.write(whole.getbuffer())
        written.append(path)
    return written


def typeset(text: str) -> str:
    """Replace symbols in a plain text with matplotlib's mathematical notation.

    >>> typeset("n = 30, f = 0.05"), typeset("system size n")
    ('$n = 30$, $f = 0.05$', 'system size $n$')
    """
    plain = text.replace("$", r"\$")
    for law, formula in _LAWS.items():
        plain = plain.replace(law, formula)
    plain = re.sub(r"([0-9.]+)e([+-])0*([0-9]+)", _power_of_ten, plain)
    plain = re.sub(r"\b([nmfd]) = ([0-9.]+)", r"$\1 = \2$", plain)
    plain = re.sub(r"\bN_(sweep|tot)( = )?", r"$N_{\\mathrm{\1}}\2$", plain)
    plain = re.sub(r"\b(size|index) ([nf])\b", r"\1 $\2$", plain)
    return re.sub("[βμρστ]", lambda found: _GREEK[found[0]], plain)


def _power_of_ten(found: re.Match[str]) -> str:
    factor = "" if found[1] == "1" else rf"{found[1]} \times "
    return rf"${factor}10^{{{found[2].strip('+')}{found[3]}}}$"


def ticks_at(ax: Axes, places: npt.ArrayLike) -> None:
    """Put a tick on the x-axis at each of `places`, and label as many ticks as fit."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter

    values = np.unique(np.asarray(places, dtype=np.float64))
    shape: Any = np.log if ax.get_xscale() == "log" else np.asarray
    low, high = shape(ax.get_xlim())
    figure: Any = ax.figure
    width = 72 * ax.get_position().width * figure.get_figwidth() * _SHARE_OF_AXES
    named = _apart(values, shape(values) * width / max(high - low, 1e-12))
    ax.xaxis.set_major_locator(FixedLocator(list(named)))
    ax.xaxis.set_major_formatter(FixedFormatter([f"{value:g}" for value in named]))
    ax.xaxis.set_minor_locator(FixedLocator(list(np.setdiff1d(values, named))))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _apart(values: npt.NDArray[np.float64], at: Any) -> npt.NDArray[np.float64]:
    """Choose the values whose tick labels fit without overlap; round values have priority."""
    texts = [f"{value:g}" for value in values]
    chosen: list[int] = []
    for k in sorted(range(len(values)), key=lambda k: (len(texts[k].strip("0.")), values[k])):
        room = [(len(texts[k]) + len(texts[other])) / 2 * _DIGIT + 4 for other in chosen]
        if all(abs(at[k] - at[c]) >= space for c, space in zip(chosen, room, strict=True)):
            chosen.append(k)
    return values[sorted(chosen)]


def plain_ticks(ax: Axes, which: str) -> None:
    """Label a logarithmic axis with plain numbers such as 0.2 and 50, if its values allow that."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = ax.xaxis if which == "x" else ax.yaxis
    low, high = ax.get_xlim() if which == "x" else ax.get_ylim()
    if axis.get_scale() != "log" or high > 10 * _LARGEST_PLAIN or low < 1 / _LARGEST_PLAIN:
        return
    steps = (1.0, 2.0, 3.0, 5.0, 7.0) if high / low < 20 else (1.0, 2.0, 5.0)
    axis.set_major_locator(LogLocator(subs=steps if high / low < 2000 else (1.0,), numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def place_legend(ax: Axes, notes: Sequence[Any] = (), **options: Any) -> None:
    """Place a legend next to the axes, where it cannot cover data.

    Args:
        ax: the axes whose labelled curves are listed.
        notes: handles that apply to all curves, such as bars; they come last.
        options: options of matplotlib's legend; `handles` replace the labelled curves.
    """
    handles = options.pop("handles", None) or ax.get_legend_handles_labels()[0]
    if handles or notes:
        columns = legend_columns(len(handles) + len(notes))
        place: Any = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "ncols": columns,
                      "borderaxespad": 0.0}  # fmt: skip
        place |= options
        ax.legend(handles=[*handles, *notes], handlelength=1.6, **place)


INSIDE: dict[str, Any] = {"loc": "best", "bbox_to_anchor": None, "borderaxespad": 0.5}


def legend_columns(lines: int) -> int:
    """Return the number of columns that a legend of `lines` entries needs."""
    return -(-lines // _LONGEST_LEGEND)


def mark(label: str, colour: str = NOTE_COLOUR, **look: Any) -> Any:
    """Return a legend handle that explains one kind of mark."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, color=colour, **({"linestyle": "none"} | look))


def bars(label: str, colour: str = NOTE_COLOUR) -> Any:
    """Return a legend handle that explains upright bars."""
    return mark(label, colour, marker="|", markersize=9, markeredgewidth=0.8)


def band(label: str, colour: str = NOTE_COLOUR) -> Any:
    """Return a legend handle that explains a shaded band."""
    from matplotlib.patches import Patch

    return Patch(facecolor=colour, alpha=0.25, label=label)
