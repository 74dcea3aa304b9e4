"""The report section on a proof: its bounds over time, from a `Proof` or from printed JSON."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from glasshouse.charts import Axis, Chart, Mark, Series
from glasshouse.files import FileError
from glasshouse.proofs import Proof
from glasshouse.reports.page import Fact, Figure, Listing, Section, charted, command, typeset

_KEYS = {"measure", "lower_bound", "optimal", "history", "seconds"}
_LONGEST = 200
_LONG = 20  # from this ratio of times, their axis is logarithmic


def is_proof(values: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is the output of `glasshouse prove --json`."""
    return values.keys() >= _KEYS


def printed_proof_section(path: Path, values: Mapping[str, Any]) -> Section:
    """Return the report section on a printed proof; all its facts are unverified claims.

    Raises:
        FileError: the values do not have the form in which `prove` prints them.
    """
    name = str(values["measure"])[:40]
    history = values["history"]
    try:
        if not isinstance(history, list):
            raise ValueError("the history must be a list")
        points = [
            (_number(one["seconds"]), _number(one[name]), _number(one[f"{name}_bound"]),
             int(_number(one["nodes"])))
            for one in history
        ]  # fmt: skip
        seconds = _number(values["seconds"])
    except (ValueError, TypeError, KeyError, OverflowError) as fault:
        raise FileError(path, f"is not the output of `glasshouse prove --json`: {fault}") from None
    instance = Path(str(values.get("file", "the problem"))[:_LONGEST]).name
    facts = [
        Fact("instance", instance, "stated"),
        Fact(name, typeset(_short(values.get(name))), "stated"),
        Fact("bound", typeset(_short(values.get(f"{name}_bound", values["lower_bound"]))),
             "stated"),
        Fact("optimal", "proven" if values["optimal"] is True else "not proven", "stated"),
        *(Fact(key, typeset(_short(values[key])), "stated")
          for key in ("method", "nodes", "leaves", "stopped") if values.get(key) is not None),
        Fact("seconds", f"{seconds:.4g}", "stated"),
    ]  # fmt: skip
    lead = (
        f"The bounds on {instance} over time, as printed by `glasshouse prove`; add the "
        "instance to the same report to verify its certificate."
    )
    again = Listing("The command that repeats the proof",
                    command("prove", instance, "--force", "--json")
                    + f" > {shlex.quote(path.name)}")  # fmt: skip
    word = "optimum" if values["optimal"] is True else f"best {name}"
    result = Fact(word, facts[1].value, "stated")
    return Section(path.name, "Printed proof", lead, facts, [_bounds(points, name), again],
                   result=result)  # fmt: skip


def proof_section(proof: Proof) -> Section:
    """Return the section on a `Proof`; without the problem, all its facts are unverified."""
    rows = {"energy": str(proof.energy), "lower bound": str(proof.lower_bound),
            "optimal": proof.verdict_in_words(proof.gap), **proof.work_rows()}  # fmt: skip
    facts = [Fact(name, typeset(value), "stated") for name, value in rows.items()]
    lead = (
        "The bounds over time. The certificate was verified when it was found; add the file of the "
        "instance to the same report to verify the certificate there."
    )
    points = [(at.seconds, at.upper, at.lower, at.nodes) for at in proof.statistics.history
              if math.isfinite(at.lower) and math.isfinite(at.upper)]  # fmt: skip
    word = "least energy" if proof.optimal else "best energy"
    result = Fact(word, typeset(str(proof.energy)), "stated")
    return Section("proof", "Proof", lead, facts, [_bounds(points, "energy")], result=result)


def _bounds(points: Sequence[tuple[float, float, float, int]], name: str) -> Figure:
    """Return a figure of the best value and the bound over time; they meet at a proven optimum."""
    seconds, best, bound, nodes = zip(*points, strict=True) if points else ([],) * 4
    is_log = bool(points) and 0 < seconds[0] < seconds[-1] / _LONG
    ends = f" The gap closed from {_gap(points[0])} to {_gap(points[-1])}." if points else ""
    return charted(Chart(
        "Bounds over time", "The proven bound, and the value of the best state so far; when "
        f"they meet, the optimum is proven.{ends}",
        Axis("seconds", is_log=is_log), Axis(name),
        [Series(words, [Mark("bound", ("step", "dots"), seconds, values,
                             told={"nodes of the tree": nodes})])
         for words, values in ((f"best {name} found", best), (f"bound on the {name}", bound))],
        "curve",
    ))  # fmt: skip


def _gap(point: tuple[float, float, float, int]) -> str:
    return f"{abs(point[1] - point[2]):.6g}"


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{str(value)[:40]!r} is not a number")
    if not abs(value) <= sys.float_info.max:
        raise ValueError(f"{str(value)[:40]}… is larger than any float")
    return float(value)


def _short(value: Any) -> str:
    return str(value)[:_LONGEST]
