"""The page of proven spin glasses, with tables computed from the runs."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

Row = dict[str, Any]

HEAD = """# What was proven here

This page lists spin glasses that were not planted and whose ground states glasshouse proved. Each
proof is a certificate, a file that the stand-alone checker accepts.

`python -m benchmarks glasses` repeats the measurement. Every run is a line of
[glasses.jsonl](glasses.jsonl). Lattices are periodic, normal weights are in units of 10^-5, and
seeds start at 0.

Date, computer and versions: {setting}

Each run used one core, and its time does not include compilation. Other work ran on the computer.
If an instance was run again after a change of the code, its last run counts. The columns are:

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

Runs of the method *cycle LP* took place before odd cliques were added to the linear program
(*clique LP*). These runs, the runs of the method *semidefinite*, and the runs of other solvers used
an Intel Xeon.

"""

LIBRARY = """
The 17 toroidal graphs of the G-set, with 800 to 20,000 vertices, are proven as well, in 0.1 to 3.4
processor seconds each. For G62 and G72, the public tables at hand list smaller cuts. The [certified
library](../library/README.md) has the certificates of these graphs and of other standard instances.
"""

PEERS = """
## Other solvers on the same instances

The table shows the seconds that each solver took to prove the instance with seed 0. If a solver had
no proof, the table shows its time limit as "> limit". The mark – means that a solver was not tried,
because it failed at a smaller size. SCIP and HiGHS solve an integer program, and CP-SAT and
toulbar2 solve the weighted MAX-2-SAT problem. Each solver used one core.

"""

OTHERS = """
## Solvers that were not available

Some solvers for spin glasses are not on PyPI, and could not be measured. For dense graphs, these
are Biq Mac (Rendl, Rinaldi, Wiegele, Math. Programming 121, 2010), BiqBin and MADAM. For sparse
graphs, they are McSparse (Charfreitag, Jünger, Mallach, Mutzel) and SMS (Rehfeldt, Koch and
Shinano, Math. Prog. Comp. 15, 2023). Their published tables could not be read either, so this page
repeats no figure from them. As far as we know, none of these solvers writes a proof that others can
check.
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
