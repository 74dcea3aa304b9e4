"""The page of the atlas: tables and a figure of attacks that find or prove optima."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.record import setting

PACKAGES = ("dwave-samplers", "python-sat", "pytoulbar2", "ortools", "pyscipopt", "highspy")
HALVES = {
    "equal n": "at equal size: about 64 spins each, ancillas included",
    "equal hardness": "at equal annealing hardness: the smallest size at which the annealer of "
    "glasshouse takes 0.05 s in the median, or the largest size that was tried",
}
KINDS = ("Finding the optimum", "Proving the optimum")

SHOWN = (
    "## What it shows",
    "",
    "* **Sums of loops** (random, structured, on lattices, tiles, cluster loops) are hard only for "
    "annealing. The cycle LP proves all of them, in a tenth of a second or less.",
    "* **Families whose squares are all zero in the planted state** (Wishart, XORSAT, 2-in-4-SAT, "
    "even partitions) are proven at once by the semidefinite bound. Only the search can be hard. "
    "It is hard for Wishart and for partitions: at 64 spins, dwave-samplers did not find an "
    "optimum of these two families, and no other prover proved one.",
    "* **NAE-3-SAT** has squares that are one in the planted state, so the semidefinite bound "
    "leaves a gap. At 64 spins, only the cycle LP proves these instances.",
    "* **XORSAT and posiforms** are solved in a millisecond by a solver that knows the family.",
    "* **Dense glasses without a planted state** are easy to solve, but no attack in the atlas "
    "proves an optimum.",
)


def summarised(
    rows: list[dict[str, Any]],
) -> dict[tuple[str, str, str], tuple[float, int, int, int]]:
    """Return median seconds and numbers done, tried and refused, by half, family and attack."""
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
    """Write README.md and atlas.png."""
    cells = summarised(rows)
    where = setting(*PACKAGES)
    versions = ", ".join(f"{k} {v}" for k, v in where["versions"].items())
    wrong = [row for row in rows if row.get("wrong")]
    lines = [
        "# The atlas: which attack breaks which family", "",
        "The atlas shows which solvers find or prove the optima of which families of problems. "
        "Each use of a solver on a family is called an *attack*. The page "
        "[families](../families.md) describes the planted families.", "",
        "The command `python -m benchmarks atlas` makes this page. Each attack had one thread and "
        f"{seconds:g} s per instance. The file `cells.jsonl` contains the result of every attack "
        "on every instance.", "",
        f"Date, computer and versions: {where['date']}, {where['cpu']}, {where['cores']} cores, "
        f"Python {where['python']}; {versions}.", "",
        "Each cell of the tables contains the median time over all instances of a family, followed "
        "by the number of instances on which the attack finished. An unfinished attack counts as "
        "longer than the limit. If an attack is unfinished on at least half of the instances, the "
        "cell contains `> limit`. The word *refused* means that the solver refuses the weights, "
        "because they are too large for its precision.", "",
        "To *find* the optimum, an attack must reach the planted energy. For an unplanted "
        "instance, it must reach the best energy that 256 runs of 4000 sweeps found.", "",
        "To *prove* the optimum, an attack must show that no energy is lower. The attacks differ "
        "in what they receive and compute:", "",
        "* The attack *cycle LP* (a linear program over frustrated cycles) receives the planted "
        "state.",
        "* The attack *semidefinite* computes a bound in floats. It counts as finished if no "
        "possible energy lies between the bound and the target.",
        "* The attack *structure* is a solver that knows the family: Gaussian elimination over "
        "GF(2) for XORSAT, and 2-SAT for posiforms.",
        "* All other attacks must both find and prove the optimum.", "",
        f"Third-party solvers gave {len(wrong)} wrong answers.", "",
        "![Median seconds per family and attack](atlas.png)", "", *SHOWN, "",
    ]  # fmt: skip
    for half, title in HALVES.items():
        for kind, attacks in zip(KINDS, (finding, proving), strict=True):
            lines += [f"## {kind} {title}", "", *_table(rows, cells, half, families, attacks), ""]
    (folder / "README.md").write_text("\n".join(lines))
    _draw(folder / "atlas.png", cells, families, [*finding, *proving], len(finding), seconds)


def _table(
    rows: list[dict[str, Any]], cells: Any, half: str, families: list[str], attacks: list[str]
) -> list[str]:
    lines = [
        "| family | spins | " + " | ".join(map(_shown, attacks)) + " |",
        "|---" * (2 + len(attacks)) + "|",
    ]
    for family in families:
        spins = {r["spins"] for r in rows if (r["half"], r["family"]) == (half, family)}
        if not spins:
            continue
        shown = [_cell(cells.get((half, family, attack))) for attack in attacks]
        lines.append(f"| {_shown(family)} | {max(spins)} | " + " | ".join(shown) + " |")
    return lines


def _shown(name: str) -> str:
    """Return a stored name of a family or an attack as readers see it."""
    return name.replace("nobody's:", "unplanted:").replace("(ours)", "(glasshouse)")


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
        axes.set_xticks(
            range(len(attacks)), map(_shown, attacks), rotation=40, ha="right", fontsize=8
        )
        axes.set_yticks(range(len(families)), map(_shown, families), fontsize=8)
        axes.set_title(half, fontsize=10)
        axes.tick_params(length=0)
    bar = figure.colorbar(image, ax=panels, shrink=0.8, pad=0.01)
    bar.set_label(f"median seconds; darkest: not within {seconds:g} s")
    figure.suptitle("Finding (left of the gap) and proving (right of it); done of all", fontsize=10)
    figure.savefig(path, dpi=120)
