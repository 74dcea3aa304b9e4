"""The run of the certified library, which proves the field's standard instances.

`python -m benchmarks library --instances DIR --time-limit 60` tries to prove every instance below a
folder, each in its own process, easy instances first. The result is a row of a table (CSV) and a
certificate for each instance. A row states "proven" only if the stand-alone checker accepts the
certificate in a different process.

The run can be killed at any moment and started again. It skips instances that the table calls
proven, and tries open instances again only with a longer time limit. The search resumes from the
certificate.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import datetime
import fcntl
import hashlib
import io
import json
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from glasshouse.certificates import checker
from glasshouse.files import read_document
from glasshouse.files.text.errors import FileError
from glasshouse.files.text.streams import format_suffix, opened, replacing
from glasshouse.library.fingerprint import ReducedGraph
from glasshouse.version import __version__

_BESIDE = {
    "optimal_energy.txt",
    "README.md",
    "README.txt",
}  # files of a library that hold no instance
_SUFFIXES = (".gz", ".xz", ".zip", ".sparse", ".txt", ".dat", ".mc", ".mqlib")
_SPARSE = 4.5  # edges of a torus: its proofs are cheap whatever its size


@dataclass(frozen=True)
class Row:
    """A row of the table, which `glasshouse.library.table.Instance` reads."""

    name: str
    family: str
    variables: int
    edges: int
    vertices: int
    sense: str
    value: str
    bound: str
    proven: str
    seconds: float
    nodes: int
    limit: float
    version: str
    date: str
    fingerprint: str
    factor: str
    shift: str
    certificate: str
    bytes: int


@dataclass(frozen=True)
class Instance:
    """A file with a standard instance, and the columns of its row that need no proof."""

    path: Path
    name: str
    family: str
    variables: int
    edges: int
    vertices: int
    sense: str
    fingerprint: str
    factor: str
    shift: str

    @property
    def effort(self) -> tuple[bool, int, int]:
        """The sort key of the run: sparse graphs first, then small graphs."""
        return 2 * self.edges > _SPARSE * self.vertices, self.vertices, self.edges


class Table:
    """The rows of a CSV file, which is replaced atomically after each change."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self.rows: dict[str, Row] = {}
        if path.exists():
            kinds = {field.name: field.type for field in fields(Row)}
            for row in csv.DictReader(io.StringIO(path.read_text())):
                # The published table has more columns: the best known values in the literature.
                typed = {key: _typed(kind, row[key]) for key, kind in kinds.items()}
                self.rows[row["name"]] = Row(**typed)

    def put(self, row: Row) -> None:
        """Add a row, or replace the row of the same name."""
        with self._lock:
            self.rows[row.name] = row
            text = io.StringIO()
            names = [field.name for field in fields(Row)]
            writer = csv.DictWriter(text, names, lineterminator="\n")
            writer.writeheader()
            writer.writerows(asdict(self.rows[name]) for name in sorted(self.rows, key=_in_order))
            with replacing(self.path, "csv", overwrite=True) as file:
                file.write(text.getvalue().encode())


def main(words: list[str]) -> int:
    """Prove the requested instances, and return exit code 1 if an instance failed."""
    options = _options(words)
    with options.results.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"{options.results}: another run writes this table") from None
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    table = Table(options.results)
    chosen = [k for k in found_instances(options.instances) if _is_asked_for(k, options.names)]
    waiting = [k for k in chosen if _is_open(k, table, options)]
    print(
        f"{len(chosen)} instances, {len(waiting)} to try for {options.time_limit:g} s", flush=True
    )
    failed = 0
    with ThreadPoolExecutor(options.workers) as pool:
        faults = pool.map(lambda k: _tried(k, table, options), waiting)
        for k, fault in zip(waiting, faults, strict=True):
            failed += fault is not None
            print(f"{k.name}: {fault or _told(table.rows[k.name])}", flush=True)
    proven = sum(row.proven == "yes" for row in table.rows.values())
    print(f"{proven} of {len(table.rows)} instances in {table.path} are proven; {failed} failed")
    return int(failed > 0)


def found_instances(folder: Path) -> list[Instance]:
    """Return all instances below a folder, sorted by their expected effort."""
    found = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name in _BESIDE or path.suffix in (".cert", ".csv"):
            continue
        try:
            found.append(_instance(path, folder))
        except FileError as fault:
            print(f"left out: {fault}", file=sys.stderr, flush=True)
    return sorted(found, key=lambda k: k.effort)


def _instance(path: Path, folder: Path) -> Instance:
    document = read_document(path)
    graph = ReducedGraph(document.problem)
    scale = graph.scale.measured(document.measure)
    name = path.name
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    family = ":".join(dict.fromkeys(path.relative_to(folder).parts[:-1]))
    sense = f"{document.measure.best} {document.measure.name}"
    return Instance(
        path, name, family or "unnamed", document.problem.num_variables, graph.num_edges,
        graph.num_vertices, sense, graph.fingerprint(), str(scale.factor), str(scale.shift),
    )  # fmt: skip


def _tried(instance: Instance, table: Table, options: argparse.Namespace) -> str | None:
    """Try to prove one instance, save its row, and return an error message or None."""
    place = options.certificates / instance.family.replace(":", "/") / f"{instance.name}.cert"
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        told = searched(instance.path, place, options.time_limit)
        value, bound = judged(instance.path, place)
    except (OSError, ValueError) as fault:
        return f"failed, {fault}"
    if str(value) != told["value"] or told["bound"] not in ("", str(bound)):
        return f"failed, {told} where the stand-alone checker finds {value} and {bound}"
    content = place.read_bytes()
    common = asdict(instance)
    del common["path"]
    row = Row(
        **common, value=str(value), bound=str(bound), proven="yes" if value == bound else "no",
        seconds=round(told["seconds"], 2), nodes=told["nodes"], limit=options.time_limit,
        version=__version__, date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        certificate=hashlib.sha256(content).hexdigest(), bytes=len(content),
    )  # fmt: skip
    table.put(row)
    return None


def searched(path: Path, certificate: Path, limit: float) -> dict[str, Any]:
    """Search for a proof in another process, and return the JSON that it prints.

    Raises:
        ValueError: the process failed.
    """
    words = [path, certificate, limit]
    command = [sys.executable, "-m", "benchmarks.library_search", *map(str, words)]
    with (
        tempfile.TemporaryFile("w+") as errors,
        # The search stops when its standard input ends, which happens when this process dies.
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as child,
    ):
        assert child.stdout is not None
        output = child.stdout.read()
        if child.wait():
            errors.seek(0)
            said = errors.read().strip()[-300:]
            raise ValueError(f"exit code {child.returncode}: {said}")
    told: dict[str, Any] = json.loads(output.splitlines()[-1])
    return told


def judged(path: Path, certificate: Path) -> tuple[Fraction, Fraction]:
    """Return the value and the bound that the stand-alone checker finds for a certificate.

    Raises:
        ValueError: the checker refuses the files.
    """
    with contextlib.ExitStack() as stack:
        if path.suffix in (".gz", ".xz", ".zip"):
            source = stack.enter_context(opened(path))
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            path = Path(folder) / f"plain{format_suffix(source.inner_name)}"
            path.write_bytes(source.read_all())
        command = [sys.executable, "-I", checker.__file__, str(path), str(certificate)]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
    words = answer.stdout.split()
    if answer.returncode == 0:  # VERIFIED optimum VALUE
        return Fraction(words[-1]), Fraction(words[-1])
    if answer.returncode == 2:  # VERIFIED only an upper bound: BOUND; the assignment cuts VALUE
        bound = words[words.index("bound:") + 1].rstrip(";")
        return Fraction(words[-1]), Fraction(bound)
    raise ValueError(f"the stand-alone checker says: {answer.stderr.strip()[-300:]}")


def _is_open(instance: Instance, table: Table, options: argparse.Namespace) -> bool:
    row = table.rows.get(instance.name)
    if row is None:
        return True
    if row.fingerprint != instance.fingerprint:
        raise SystemExit(f"{instance.path}: {row.name} in {table.path} is another instance")
    return row.proven == "no" and options.time_limit > row.limit


def _is_asked_for(instance: Instance, names: list[str]) -> bool:
    family = instance.family
    return not names or any(
        name in (instance.name, family) or family.startswith(f"{name}:") for name in names
    )


def _in_order(name: str) -> list[Any]:
    """Return a sort key by which G9 comes before G10."""
    parts = "".join(c if c.isdigit() else f" {c} " for c in name).split()
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]


def _told(row: Row) -> str:
    verdict = "proven" if row.proven == "yes" else f"open, bound {row.bound}"
    return f"{row.sense} {row.value}, {verdict}, {row.seconds:g} s, {row.bytes} bytes"


def _typed(kind: Any, text: str) -> Any:
    return {"int": int, "float": float, "str": str}[kind](text)


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks library", description=__doc__)
    add = parser.add_argument
    add("--instances", type=Path, required=True, help="folder with the files of the instances")
    add("--time-limit", type=float, default=60, help="processor seconds for each instance")
    add("--workers", type=int, default=1, help="number of instances at the same time")
    add("--results", type=Path, required=True, help="the table (CSV) to resume")
    add("--certificates", type=Path, required=True, help="folder for the certificates")
    add("names", nargs="*", help="instances or families, such as G62 or biqmac:rudy; default: all")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
