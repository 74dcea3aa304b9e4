"""The page of the certified library, with tables from the rows of its CSV."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from statistics import median

Row = dict[str, str]

HEAD = """# The certified library

This page lists {number} standard instances of Max-Cut and QUBO. For {proven} of them, the optimum
is proven here. For each of the others, a bound is proven. Every row has a certificate, a file that
proves the optimum or the bound, and that anyone can check. Before a row was written, the
stand-alone checker accepted its certificate.

This folder contains:

* [instances.csv](instances.csv): all rows, with the SHA-256 hash of each instance and of each
  certificate;
* the folder `certificates`: {committed} of the certificates, compressed;
* [checker.py](checker.py): the stand-alone checker.

The instances belong to their authors and are not in this repository. If you have a copy of an
instance, `glasshouse library check FILE` recognises it, in any format and with its lines in any
order. This is possible because the fingerprint of an instance is a hash of the problem, not of the
file.

## Verify a row

You can verify a row of the table in a few seconds, with Python alone. In this example, `G62.txt` is
your copy of the instance G62 from the G-set; the file may have any name. The certificate
`G62.cert.xz` is in the folder `certificates/gset`:

<!-- not run: the instance is not in this repository -->
```sh
python3 -c "import lzma; print(lzma.open('G62.cert.xz', 'rt').read(), end='')" > G62.cert
python3 checker.py G62.txt G62.cert
```

The checker prints `VERIFIED optimum 4872`. For an instance whose optimum is not proven, it prints
the proven bound and the value of the best known state.

Some of the certificates are not in this folder. To make such a certificate again, run `glasshouse
prove FILE`, which takes about as long as the table states. The SHA-256 hash of the new certificate
may differ from the hash in the table, but the checker accepts both certificates.

## Time limits of the searches

Computer: {computer}; each search used one core, while other work ran on the computer. The column
*seconds* contains the processor time of all searches for an instance.

The next table shows the longest time limit that was tried for an instance:

{limits}
To resume the run, use `python -m benchmarks library --instances DIR --time-limit SECONDS`. To write
this page again, use `python -m benchmarks library_page --run DIR`.

## By family

The next table summarises the instances of each family. Three of its columns need an explanation:

* *largest gap*: the largest distance between bound and value, as a fraction of the value;
* *better*: the number of instances whose value here is better than in every public table that
  contains the instance;
* *open*: the names of the instances without a proven optimum.

{families}
## Best known values before

The columns *table 1* and *table 2* contain the values of two public tables, read on 2026-11-18:

* Table 1 is from the repository KULeuven-MICAS/openising. Its values for the DIMACS tori are from
  several sources.
* Table 2 is from the repository romank-rudolfovo/MaxCut_benchmarkdata.

Neither table contains proofs, and the two tables disagree in many rows. We did not read papers for
this page, so it claims nothing about values that papers have published before.

The column *better by* compares the value here with the better of the two values in the tables. A
positive number means that the value here is better. {differing}

## All instances

The column *size in MB* contains the size of the certificate before compression. If the certificate
is in this repository, the size links to the compressed file. In a browser, click the head of a
column to sort the table by that column.

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
    """Return a table of the time limits: instances and proven instances per limit."""
    groups: dict[float, list[Row]] = defaultdict(list)
    for row in rows:
        groups[float(row["limit"])].append(row)
    return _table(
        {
            "longest limit": f"{limit:g} s",
            "instances": str(len(group)),
            "proven": str(sum(row["proven"] == "yes" for row in group)),
        }
        for limit, group in sorted(groups.items())
    )


def _differing(rows: list[Row]) -> str:
    better = [row["name"] for row in rows if (better_by(row) or 0) > 0]
    worse = [row["name"] for row in rows if (better_by(row) or 0) < 0]
    text = f"It is positive for {_joined(better)}." if better else "It is never positive."
    if worse:
        text += f" It is negative for {_joined(worse)}: a table has a better value."
    if beyond := [row["name"] for row in rows if _is_beyond(row)]:
        text += f" The bound here refutes the value of a table for {_joined(beyond)}."
    return text


def _joined(names: list[str]) -> str:
    return " and ".join([*filter(None, [", ".join(names[:-1])]), names[-1]])


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
