"""The package of the certified library in `docs/library`: table, certificates, checker, page.

`python -m benchmarks library_page --run DIR` copies the results of `python -m benchmarks library`
from DIR (`instances.csv` and `certificates/`). Without options, it writes the page again from the
committed files. Certificates are compressed until their total size reaches the limit: those of
proven instances before those of open instances, and small certificates first. A certificate that
does not belong to its row is left out, because the run may be writing it.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import lzma
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks.library_page import page_text
from benchmarks.record import cpu_name
from glasshouse.certificates import checker

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "library"
TABLE = ROOT / "src" / "glasshouse" / "library" / "instances.csv"  # the one in the wheel
MOST_MEGABYTES = 25.0
ADDED = ("table_1", "table_2", "file")  # columns that the table of the run does not have

Row = dict[str, str]


def main(words: list[str]) -> int:
    """Write the package of the certified library."""
    options = _options(words)
    before = {row["name"]: row for row in read_table(FOLDER / "instances.csv")}
    if options.run is None:
        rows = [dict(row) for row in before.values()]
    else:
        shutil.copyfile(options.run / "instances.csv", TABLE)
        rows = read_table(TABLE)
    known = _public_values(options.best_known) if options.best_known else before
    for row in rows:
        row |= {name: known.get(row["name"], {}).get(name, "") for name in ADDED[:2]}
        row.setdefault("file", before.get(row["name"], {}).get("file", ""))
    if options.run is not None:
        keep_certificates(rows, options.run / "certificates", FOLDER, options.megabytes)
    _write(FOLDER / "instances.csv", _csv(rows))
    shutil.copyfile(checker.__file__, FOLDER / "checker.py")
    computer = options.computer or _computer_before() or cpu_name()
    _write(FOLDER / "README.md", page_text(rows, computer))
    listed = [row for row in rows if row["file"]]
    size = sum((FOLDER / row["file"]).stat().st_size for row in listed) / 1e6
    print(f"{FOLDER}: {len(rows)} instances, {len(listed)} certificates of {size:.1f} MB in all")
    return 0


def read_table(path: Path) -> list[Row]:
    """Return the rows of a table, which are empty if the file does not exist."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def keep_certificates(rows: list[Row], source: Path, folder: Path, megabytes: float) -> None:
    """Compress certificates into a folder, and enter their paths in the rows.

    Args:
        rows: the rows of the table; their key `file` is set.
        source: the certificates of the run.
        folder: the folder of the package.
        megabytes: the largest size of all compressed certificates together.
    """
    left = int(megabytes * 1e6)
    for row in sorted(rows, key=lambda row: (row["proven"] != "yes", int(row["bytes"]))):
        place = Path(row["family"].replace(":", "/")) / f"{row['name']}.cert"
        packed = Path("certificates") / place.with_suffix(".cert.xz")
        row["file"] = ""
        if left <= 0 or (data := _packed(row, folder / packed, source / place)) is None:
            continue
        left -= len(data)
        if left < 0:
            continue
        row["file"] = packed.as_posix()
        (folder / packed).parent.mkdir(parents=True, exist_ok=True)
        _write(folder / packed, data)
    listed = {folder / row["file"] for row in rows if row["file"]}
    for path in set((folder / "certificates").rglob("*.xz")) - listed:
        path.unlink()


def _packed(row: Row, old: Path, new: Path) -> bytes | None:
    """Return the compressed certificate of a row, from the package or from the run."""
    if old.exists():
        data = old.read_bytes()
        if _is_of(row, lzma.decompress(data)):
            return data
    if not new.exists():
        return None
    content = new.read_bytes()
    if not _is_of(row, content):
        print(f"{new} is not the certificate of {row['name']} in the table: left out")
        return None
    return lzma.compress(content, preset=9)


def _is_of(row: Row, content: bytes) -> bool:
    return hashlib.sha256(content).hexdigest() == row["certificate"]


def _public_values(path: Path) -> dict[str, Row]:
    return {row["instance"]: row for row in read_table(path)}


def _csv(rows: Iterable[Row]) -> bytes:
    rows = list(rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _computer_before() -> str:
    """Return the computer that the current page names."""
    page = FOLDER / "README.md"
    text = page.read_text() if page.exists() else ""
    _, mark, rest = text.partition("Computer: ")
    return rest.split(";")[0] if mark else ""


def _write(path: Path, content: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks library_page", description=__doc__)
    add = parser.add_argument
    add("--run", type=Path, help="folder of a run: instances.csv and certificates/")
    add("--best-known", type=Path, help="CSV of public values: instance, table_1, table_2")
    add("--megabytes", type=float, default=MOST_MEGABYTES, help="limit of all certificates")
    add("--computer", help="processor of the run; by default that of the page, or this one")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
