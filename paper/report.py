"""Reports that compare the paper's claims with our measurements."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.files.text.streams import replacing
from glasshouse.studies.analysis import Point
from glasshouse.summaries import Summarised
from glasshouse.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Claim(Summarised):
    """A claim of the paper and our measurement: one line of a report.

    Attributes:
        what: the quantity.
        paper: the paper's value or statement.
        measured: our measured value.
        agrees: whether the two agree by the stated rule; None if the rule does not apply.
        remark: an explanation of the difference, or further numbers.
    """

    what: str
    paper: str
    measured: str
    agrees: bool | None
    remark: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction(Summarised):
    """A reproduced figure with its claims, data and remarks.

    Attributes:
        title: the title of the report.
        figure: the drawn figure.
        claims: the compared claims.
        rule: a sentence that states when a claim agrees.
        settings: the settings of the measurement, separated by commas or semicolons.
        data: the points, one mapping each.
        remarks: paragraphs below the table.
    """

    title: str
    figure: Figure
    claims: Sequence[Claim]
    rule: str
    settings: str
    data: Sequence[Mapping[str, Any]]
    remarks: Sequence[str] = field(default=())

    @property
    def agreeing(self) -> tuple[int, int]:
        """The number of claims that agree, and the number that can be judged."""
        judged = [claim for claim in self.claims if claim.agrees is not None]
        return sum(bool(claim.agrees) for claim in judged), len(judged)


def point_row(point: Point) -> dict[str, Any]:
    """Return a point as a row of the data file."""
    plan = point.task.schedule
    parameters = {k: v for k, v in point.task.parameters.items() if k != "loops"}
    return {
        "method": point.task.method,
        **parameters,
        "loops": point.loops,
        "value": point.estimate.value,
        "low": point.estimate.low,
        "high": point.estimate.high,
        "instances": point.samples,
        "censored": point.censored,
        "first_beta": plan.first_beta,
        "last_beta": plan.last_beta,
        "sweeps_per_run": plan.sweeps_per_run,
        "max_sweeps": plan.max_sweeps,
    }


def write_data(done: Reproduction, path: Path) -> None:
    """Write the points of a figure as CSV."""
    names = list(dict.fromkeys(name for row in done.data for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(done.data)
    _write(path, text.getvalue())


def write_report(done: Reproduction, name: str, section: str, path: Path) -> None:
    """Write the Markdown report of a figure."""
    good, judged = done.agreeing
    lines = [
        f"# {done.title}",
        "",
        f'This page compares the section "{section}" of the paper with measurements by glasshouse '
        f"{__version__}. In total, {good} of {judged} claims agree. {done.rule}",
        "",
        f"![{done.title}]({name}.png)",
        "",
        "| | paper says | we measure | agree? | |",
        "|---|---|---|---|---|",
    ]
    marks = {True: "yes", False: "**no**", None: "-"}
    for claim in done.claims:
        cells = (claim.what, claim.paper, claim.measured, marks[claim.agrees], claim.remark)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    lines += ["", "Settings of the measurement:", ""]
    lines += [*(f"* {one}" for one in re.split("[,;] ", done.settings)), ""]
    for remark in done.remarks:
        lines += [remark, ""]
    lines.append(f"Data: [{name}.csv]({name}.csv); vector figure: [{name}.svg]({name}.svg).")
    _write(path, "\n".join(lines) + "\n")


def _write(path: Path, text: str) -> None:
    with replacing(path, overwrite=True) as file:
        file.write(text.encode())
