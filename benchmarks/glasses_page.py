"""The page of proven spin glasses, with tables computed from the runs."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

Row = dict[str, Any]

HEAD = """# What was proven here

This page lists unplanted spin glasses whose ground states glasshouse has proven. Each proof is a
certificate, a file that the stand-alone checker accepts.

To repeat the measurement, run `python -m benchmarks glasses`. The file
[glasses.jsonl](glasses.jsonl) contains one line for each run. Lattices are periodic, and seeds
start at 0. Normally distributed weights are integers in units of 10^-5.

Date, computer and versions: {setting}

Each run used one core, while other work ran on the computer. The time of a run does not include
compilation. If an instance was run again after a change to the code, only its last run counts.

These are the columns of the table below:

| column | meaning |
|---|---|
| proven | the number of proven instances |
| checked | the number of proofs that the stand-alone checker accepted |
| median s, longest s | CPU seconds of the finished proofs |
| limit s | the time limit in wall-clock seconds |
| nodes | the largest number of tree nodes of an instance |
| by | the method; *cycle LP* is a linear program over cycles |
| size | the size of the largest certificate |
| checker | the longest time of the stand-alone checker |
| largest gap | the largest gap of an instance without a proof, relative to the energy |

The method *cycle LP* was used until odd cliques were added to the linear program; the method with
odd cliques is called *clique LP*. An Intel Xeon was used for the runs of *cycle LP*, for the runs
of *semidefinite* with fewer than 100 spins, and for the runs of other solvers.

"""

LIBRARY = """
The optima of the 17 toroidal graphs of the G-set, with 800 to 20,000 vertices, are proven as well,
in 0.1 to 3.4 processor seconds each. For G62 and G72, the proven optimum is larger than the best
cut in the two public tables that we had. The [certified library](../library/README.md) contains the
certificates of these graphs and of other standard instances.
"""

PEERS = """
## Other solvers on the same instances

The next table shows how many seconds each solver took to prove the optimum of the instance with
seed 0. If a solver did not find a proof, the table shows its time limit as "> limit". The mark –
means that a solver was not tried, because it had failed at a smaller size.

Each solver used one core. SCIP and HiGHS solve each problem as an integer program. CP-SAT and
toulbar2 solve it as a weighted MAX-2-SAT problem.

"""

OTHERS = """
## Solvers that were not available

Some solvers for spin glasses are not on PyPI, so we could not measure them:

* for dense graphs: Biq Mac (Rendl, Rinaldi, Wiegele, Math. Programming 121, 2010), BiqBin and
  MADAM;
* for sparse graphs: McSparse (Charfreitag, Jünger, Mallach, Mutzel) and SMS (Rehfeldt, Koch and
  Shinano, Math. Prog. Comp. 15, 2023).

This page does not repeat figures from the published tables of these solvers, because we could not
read them. As far as we know, none of these solvers writes a proof that others can check.
"""


def write_page(
    rows: list[Row], beside_others: list[str], setting: dict[str, Any], path: Path
) -> None:
    """Write the page; the families in `beside_others` are compared with other solvers."""
    versions = ", ".join(f"{name} {version}" for name, version in setting["versions"].items())
    where = f"{setting['date']}, {setting['cpu']}, Python {setting['python']}; {versions}."
    last = {(row["family"], row["seed"], row["solver"]): row for row in rows}  # the last run counts
    by_family: dict[str, list[Row]] = defaultdict(list)
    for row in last.values():
        by_family[row["family"]].append(row)
    ours = {name: [r for r in group if r["solver"] == "glasshouse"]
            for name, group in by_family.items()}  # fmt: skip
    text = HEAD.format(setting=where) + _table([_ours(*item) for item in ours.items()])
    beside = {name: by_family[name] for name in beside_others if name in by_family}
    text += LIBRARY + PEERS + _table([_peers(*item) for item in beside.items()]) + OTHERS
    path.write_text(text)


def _ours(name: str, rows: list[Row]) -> dict[str, str]:
    closed = [row for row in rows if row["proven"] is not None]
    agreed = [row for row in rows if str(row.get("checked", "")).startswith("VERIFIED optimum")]
    seconds = [row["seconds"] for row in closed]
    gaps = [row["gap"] for row in rows if row["proven"] is None and row.get("gap") is not None]
    sizes = [row["bytes"] for row in rows if row.get("bytes")]
    times = [row["checker_seconds"] for row in rows if row.get("checker_seconds") is not None]
    return {
        "instances": name,
        "spins": str(rows[0].get("spins", "")),
        "proven": f"{len(closed)} of {len(rows)}",
        "checked": f"{len(agreed)} of {len(closed)}" if sizes else "",
        "median s": f"{median(seconds):.1f}" if seconds else "",
        "longest s": f"{max(seconds):.1f}" if seconds else "",
        "limit s": f"{max(row['limit'] for row in rows):g}",
        "nodes": f"{max(row.get('nodes') or 0 for row in rows)}",
        "by": ", ".join(sorted({row["method"] for row in rows if row.get("method")})),
        "size": f"{max(sizes) / 1e6:.2f} MB" if sizes else "",
        "checker": f"{max(times):.1f} s" if times else "",
        "largest gap": f"{max(gaps):.2%}" if gaps else "",
    }


def _peers(name: str, rows: list[Row]) -> dict[str, str]:
    shown = {"instances": name}
    first = {row["solver"]: row for row in rows if row["seed"] == 0}
    for solver in ("glasshouse", "scip", "cpsat", "toulbar2", "highs"):
        row = first.get(solver)
        if row is None:
            shown[solver] = "–"
        elif row["proven"] is None:
            shown[solver] = f"> {row['limit']:g}"
        else:
            shown[solver] = f"{row['seconds']:.1f}"
    return shown


def _table(rows: list[dict[str, str]]) -> str:
    if not rows:
        return ""
    heads = list(rows[0])
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(row[head] for head in heads) + " |" for row in rows]
    return "\n".join(lines) + "\n"
