"""The page of the certified library, with tables from the rows of its CSV."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from statistics import median

Row = dict[str, str]

HEAD = """# The certified library

This page lists {number} standard instances of Max-Cut and QUBO. {proven} of them have a proven
optimum here; each of the other instances has a proven bound. Every row has a certificate, a file
that proves the optimum or the bound, and that any reader can check. The stand-alone checker
accepted every certificate before its row was written.

The file [instances.csv](instances.csv) has all rows, with the SHA-256 of each instance and of each
certificate. The folder `certificates` has {committed} of the certificates in compressed form. The
file [checker.py](checker.py) is the stand-alone checker.

The instances belong to their authors, and are not in this repository. The fingerprint of an
instance is a hash of the problem, not of the file. So `glasshouse library check FILE` recognises a
copy of an instance in any format and with any order of lines.

## Verify a row

You can verify a row of the table in a few seconds, and you need only Python. In this example,
`G62.txt` is the file of the instance G62 from the G-set, under any name. The certificate
`G62.cert.xz` is in the folder `certificates/gset`:

<!-- not run: the instance is not in this repository -->
```sh
python3 -c "import lzma; print(lzma.open('G62.cert.xz', 'rt').read(), end='')" > G62.cert
python3 checker.py G62.txt G62.cert
```

The checker prints `VERIFIED optimum 4872`. For an open instance, whose optimum is not proven, it
prints the bound and the value of the cut.

If a certificate is not in this folder, `glasshouse prove FILE` writes it again. This takes about as
long as the table states. The SHA-256 of the new certificate may differ from the one in the table,
but the checker accepts both certificates.

## Time limits of the searches

Computer: {computer}; one core for each instance, next to other work. *Seconds* are processor
seconds of all searches for an instance.

{limits}

`python -m benchmarks library --instances DIR --time-limit SECONDS` resumes the run, and `python -m
benchmarks library_page --run DIR` writes this page.

## By family

The table summarises the instances of each family. *Gap* is the distance between bound and value, as
a fraction of the value. *Better* is the number of instances whose value here is better than the
value in each public table that has the instance. *Open* names the instances without a proven
optimum.

{families}
## Best known values before

The columns *table 1* and *table 2* contain the values of two public tables, read on 2026-11-18.
Table 1 is from the repository KULeuven-MICAS/openising, and has values of the DIMACS tori from
several sources. Table 2 is from the repository romank-rudolfovo/MaxCut_benchmarkdata. Neither table
has proofs, and the tables disagree in many rows. No papers were read for this page, so nothing is
claimed about the values that papers have published before.

The column *better by* compares the value here with the better value of the tables. A positive
number means that the value here is better. {differing}

## All instances

*Size* is the size of the certificate before compression. If the certificate is in this repository,
the size links to the compressed file. In a browser, click on the head of a column to sort the table
by this column.

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
    """Return by how much the value beats the public values; None if no table has the instance."""
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
    """Return a sentence on the time limits: instances and proven instances per limit."""
    groups: dict[float, list[Row]] = defaultdict(list)
    for row in rows:
        groups[float(row["limit"])].append(row)
    parts = []
    for limit, group in sorted(groups.items()):
        closed = sum(row["proven"] == "yes" for row in group)
        parts.append(f"{limit:g} s for {len(group)} instances, of which {closed} are proven")
    return "The longest time limit tried was " + "; ".join(parts) + "."


def _differing(rows: list[Row]) -> str:
    better = [row["name"] for row in rows if (better_by(row) or 0) > 0]
    worse = [row["name"] for row in rows if (better_by(row) or 0) < 0]
    text = f"It is positive for {', '.join(better)}." if better else "It is never positive."
    if worse:
        text += f" It is negative, because a table has a better value, for {', '.join(worse)}."
    if beyond := [row["name"] for row in rows if _is_beyond(row)]:
        text += f" The bound here refutes the value of a table for {', '.join(beyond)}."
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
