"""The page of the atlas: tables and a figure of finding and proving."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.record import setting

PACKAGES = ("dwave-samplers", "python-sat", "pytoulbar2", "ortools", "pyscipopt", "highspy")
HALVES = {
    "equal n": "At equal n: about 64 spins each, ancillas included",
    "equal hardness": "At equal annealing hardness: the least size at which our annealer takes "
    "0.05 s in the median, or the largest that was tried",
}


SHOWN = (
    "## What it shows",
    "",
    "* Sums of loops (random, structured, on lattices, tiles, cluster loops) are hard for "
    "annealing only: the cycle LP proves them all in a tenth of a second or less.",
    "* Where all squares are zero in the planted state (Wishart, XORSAT, 2-in-4-SAT, even "
    "partitions) the semidefinite bound is tight at once, and only the search is hard. For Wishart "
    "and partitions it is: at 64 spins dwave-samplers found none of them, and no other prover "
    "closed one.",
    "* Where squares are one (NAE-3-SAT) the semidefinite bound is not tight. At 64 spins the "
    "cycle LP still proves these; other provers do not.",
    "* A solver that knows the family solves XORSAT and posiforms in a millisecond.",
    "* On dense glasses without a plant, the search is easy and nothing here proves it.",
)


def summarised(
    rows: list[dict[str, Any]],
) -> dict[tuple[str, str, str], tuple[float, int, int, int]]:
    """Return median seconds and counts (done, all, refused) per half, family and attack."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["half"], row["family"], row["attack"]].append(row)
    return {
        key: (median(r["seconds"] if r["done"] else np.inf for r in group),
              sum(r["done"] for r in group), len(group), sum("refused" in r for r in group))
        for key, group in groups.items()
    }  # fmt: skip


def write_page(
    folder: Path,
    rows: list[dict[str, Any]],
    finding: list[str],
    proving: list[str],
    families: list[str],
    seconds: float,
) -> None:
    """Write README.md and atlas.png to a folder."""
    cells = summarised(rows)
    where = setting(*PACKAGES)
    versions = ", ".join(f"{k} {v}" for k, v in where["versions"].items())
    wrong = [row for row in rows if row.get("wrong")]
    lines = [
        "# The atlas: which attack breaks which family", "",
        "Measured by `python -m benchmarks atlas`; every cell and instance is in `cells.jsonl`. "
        f"{where['date']}, {where['cpu']}, {where['cores']} cores, Python {where['python']}; "
        f"{versions}. One thread and {seconds:g} s per instance and attack. A cell is the median "
        "time of all instances, where an unfinished one counts as longer than the limit (`> limit` "
        "if at least half are unfinished), and the number of finished ones.", "",
        "*Finding* is reaching the planted energy (for unplanted instances, the best that 256 "
        "runs of 4000 sweeps found). *Proving* is showing that no energy is lower. The cycle LP "
        "gets the planted state; the semidefinite bound is computed in floats, and counts as done "
        "if no energy fits between it and the target; the other solvers must find and prove. "
        "*Structure* is a solver that knows the family: Gaussian elimination over GF(2) for "
        "XORSAT, 2-SAT for posiforms.", "",
        f"Wrong answers of third-party solvers: {len(wrong)}.", "",
        "A solver refuses weights that are too large for its precision.", "",
        "![Median seconds per family and attack](atlas.png)", "", *SHOWN, "",
    ]  # fmt: skip
    for half, title in HALVES.items():
        for kind, attacks in (("Finding", finding), ("Proving", proving)):
            lines += [f"## {kind}. {title}", "", *_table(rows, cells, half, families, attacks), ""]
    (folder / "README.md").write_text("\n".join(lines))
    _draw(folder / "atlas.png", cells, families, [*finding, *proving], len(finding), seconds)


def _table(
    rows: list[dict[str, Any]], cells: Any, half: str, families: list[str], attacks: list[str]
) -> list[str]:
    lines = ["| family | spins | " + " | ".join(attacks) + " |", "|---" * (2 + len(attacks)) + "|"]
    for family in families:
        spins = {r["spins"] for r in rows if (r["half"], r["family"]) == (half, family)}
        if not spins:
            continue
        shown = [_cell(cells.get((half, family, attack))) for attack in attacks]
        lines.append(f"| {family} | {max(spins)} | " + " | ".join(shown) + " |")
    return lines


def _cell(found: tuple[float, int, int, int] | None) -> str:
    if found is None:
        return ""
    middle, done, count, refused = found
    if refused == count:
        return "refused"
    return f"{f'{middle:.2g} s' if np.isfinite(middle) else '> limit'} ({done}/{count})"


def _draw(
    path: Path, cells: Any, families: list[str], attacks: list[str], split: int, seconds: float
) -> None:
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 5.6), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, half in zip(panels, HALVES, strict=True):
        values = np.full((len(families), len(attacks)), np.nan)
        for i, family in enumerate(families):
            for j, attack in enumerate(attacks):
                found = cells.get((half, family, attack))
                if found is not None:
                    values[i, j] = min(found[0], 2 * seconds)
                    share = f"{found[1]}/{found[2]}"
                    is_dark = values[i, j] > 0.1
                    axes.text(j, i, share, ha="center", va="center", fontsize=6.5,
                              color="white" if is_dark else "black")  # fmt: skip
        image = axes.imshow(values, norm=LogNorm(1e-3, 2 * seconds), cmap="cividis_r",
                            aspect="auto")  # fmt: skip
        axes.axvline(split - 0.5, color="white", linewidth=4)
        axes.set_xticks(range(len(attacks)), attacks, rotation=40, ha="right", fontsize=8)
        axes.set_yticks(range(len(families)), families, fontsize=8)
        axes.set_title(half, fontsize=10)
        axes.tick_params(length=0)
    bar = figure.colorbar(image, ax=panels, shrink=0.8, pad=0.01)
    bar.set_label(f"median seconds; darkest: not within {seconds:g} s")
    figure.suptitle("Finding (left of the gap) and proving (right of it); done of all", fontsize=10)
    figure.savefig(path, dpi=120)
