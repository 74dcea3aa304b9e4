"""The page of the certified library, with tables from the rows of its CSV."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from statistics import median

Row = dict[str, str]

HEAD = """# The certified library

{proven} of {number} standard instances of Max-Cut and QUBO have a proven optimum here, each with a
certificate that any reader can check. The others have a proven bound. The stand-alone checker
accepted every certificate before its row was written.

[instances.csv](instances.csv) has all rows, with the SHA-256 of each instance and of each
certificate. The folder `certificates` has {committed} of the certificates, compressed, and
[checker.py](checker.py) is the stand-alone checker. The instances belong to their authors and are
not in this repository. Their fingerprint is the hash of the problem, not of the file: `glasshouse
library check FILE` recognises a copy in any format and order of lines.

## Verify a row

This takes seconds, and needs Python alone. `G62.txt` is the file from the G-set, under any name,
`G62.cert.xz` comes from `certificates/gset`:

<!-- not run: the instance is not in this repository -->
```sh
python3 -c "import lzma; print(lzma.open('G62.cert.xz', 'rt').read(), end='')" > G62.cert
python3 checker.py G62.txt G62.cert
```

The checker prints `VERIFIED optimum 4872`. For an open instance it prints the bound and the cut.
A certificate that is not in this folder is written again by `glasshouse prove FILE`, which needs
about as long as the table says; `sha256sum FILE.cert` need not be that of the table then, but the
checker accepts one as well as the other.

## What was tried

Computer: {computer}; one core for each instance, next to other work. *Seconds* are processor
seconds of all searches for an instance.
{limits}
`python -m benchmarks library --instances DIR --time-limit SECONDS` resumes the run, and
`python -m benchmarks library_page --run DIR` writes this page.

## By family

*Gap* is the distance of bound and value, as a fraction of the value. *Better* counts the instances
where the value here is better than in each public table that has the instance.

{families}
## Best known values before

The columns *table 1* and *table 2* are what two public tables at hand on 2026-11-18 say. Table 1 is
that of the repository KULeuven-MICAS/openising, with values of the DIMACS tori from several
sources; table 2 is that of the repository romank-rudolfovo/MaxCut_benchmarkdata. Neither of them
has proofs, and they disagree in many rows. Papers may have had some of the values before; none was
read for this page, so nothing is claimed about them. *Better by* is positive if the value here is
better than those of the tables. {differing}

## All instances

*Size* is that of the certificate before compression; a link leads to the compressed file. In a
browser, a click on the head of a column sorts by it.

<div class="sortable">

{table}
</div>
"""


def page_text(rows: list[Row], computer: str) -> str:
    """Return the page of the certified library in Markdown."""
    proven = [row for row in rows if row["proven"] == "yes"]
    return HEAD.format(
        proven=len(proven), number=len(rows), committed=sum(bool(row["file"]) for row in rows),
        computer=computer, limits=_limits(rows), families=_table(_families(rows)),
        differing=_differing(rows), table=_table([_row(row) for row in rows]),
    )  # fmt: skip


def class_of(row: Row) -> str:
    """Return the class of an instance within its family.

    >>> [class_of({"family": "biqmac:x", "name": k}) for k in ("g05_80.4", "gka7b", "be120.3.5")]
    ['g05_80', 'gka b', 'be120.3']
    """
    name = row["name"]
    if not row["family"].startswith("biqmac"):
        return row["family"]
    if found := re.fullmatch(r"gka\d+([a-z])", name):
        return f"gka {found[1]}"
    return re.sub(r"[._-]\d+$", "", name)


def better_by(row: Row) -> Fraction | None:
    """Return by how much a value is better than all public values, or None if there are none."""
    public = [Fraction(row[name]) for name in ("table_1", "table_2") if row[name]]
    sign = 1 if row["sense"].startswith("largest") else -1
    return min((sign * (Fraction(row["value"]) - value) for value in public), default=None)


def _families(rows: list[Row]) -> list[Row]:
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["family"], class_of(row)].append(row)
    shown = [_summary(family, name, group) for (family, name), group in groups.items()]
    return [*shown, _summary("all", "", rows)]


def _summary(family: str, name: str, rows: list[Row]) -> Row:
    closed = [row for row in rows if row["proven"] == "yes"]
    seconds = [float(row["seconds"]) for row in closed]
    sizes = {int(row["variables"]) for row in rows}
    return {
        "family": family,
        "class": "" if name == family else name,
        "variables": " to ".join(str(size) for size in sorted({min(sizes), max(sizes)})),
        "proven": f"{len(closed)} of {len(rows)}",
        "median s": f"{median(seconds):.3g}" if seconds else "",
        "longest s": f"{max(seconds):.3g}" if seconds else "",
        "largest gap": f"{max(map(_gap, rows)):.2%}" if len(closed) < len(rows) else "",
        "better": str(sum((better_by(row) or 0) > 0 for row in rows) or ""),
        "open": ", ".join(row["name"] for row in rows if row["proven"] != "yes" and name),
    }


def _limits(rows: list[Row]) -> str:
    """Return a sentence on the time limits, with the instances and proofs of each limit."""
    groups: dict[float, list[Row]] = defaultdict(list)
    for row in rows:
        groups[float(row["limit"])].append(row)
    parts = []
    for limit, group in sorted(groups.items()):
        closed = sum(row["proven"] == "yes" for row in group)
        parts.append(f"{limit:g} s for {len(group)} instances, of which {closed} are proven")
    return "The longest limit tried was " + "; ".join(parts) + "."


def _differing(rows: list[Row]) -> str:
    better = [row["name"] for row in rows if (better_by(row) or 0) > 0]
    worse = [row["name"] for row in rows if (better_by(row) or 0) < 0]
    text = f"That is so for {', '.join(better)}." if better else "It never is."
    if worse:
        text += f" It is negative, so that a table has a better value, for {', '.join(worse)}."
    if beyond := [row["name"] for row in rows if _is_beyond(row)]:
        text += f" The bound here refutes the table's value for {', '.join(beyond)}."
    return text


def _is_beyond(row: Row) -> bool:
    """Return whether a public value is better than the proven bound allows."""
    by = better_by(row)
    return by is not None and -by > abs(Fraction(row["bound"]) - Fraction(row["value"]))


def _row(row: Row) -> Row:
    by = better_by(row)
    gap = _gap(row)
    size = _megabytes(int(row["bytes"]))
    return {
        "instance": row["name"],
        "family": row["family"],
        "variables": row["variables"],
        "edges": row["edges"],
        "value": row["value"],
        "bound": row["bound"],
        "gap": f"{gap:.2%}" if gap else "0",
        "proven": row["proven"],
        "seconds": row["seconds"],
        "limit": f"{float(row['limit']):g}",
        "nodes": row["nodes"],
        "size in MB": f"[{size}]({row['file']})" if row["file"] else size,
        "table 1": row["table_1"],
        "table 2": row["table_2"],
        "better by": "" if by is None else str(by),
    }


def _gap(row: Row) -> float:
    value, bound = Fraction(row["value"]), Fraction(row["bound"])
    return float(abs(bound - value) / max(abs(value), 1))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.3f}"


def _table(rows: Iterable[Row]) -> str:
    rows = list(rows)
    heads = list(rows[0])
    words = {"family", "class", "instance", "proven", "open"}
    rule = "|" + "".join("---|" if head in words else "---:|" for head in heads)
    lines = ["| " + " | ".join(heads) + " |", rule]
    lines += ["| " + " | ".join(row[head] for head in heads) + " |" for row in rows]
    return "\n".join(lines) + "\n"
