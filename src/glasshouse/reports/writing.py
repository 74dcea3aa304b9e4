"""The function `report`, which writes one HTML page about files, proofs and results."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from glasshouse.files import parse_object, side_car
from glasshouse.files.text.archive import opened_archive
from glasshouse.files.text.errors import FileError, MissingFileError
from glasshouse.files.text.streams import (
    format_suffix,
    opened,
    refuse_existing,
    refuse_pipe,
    replacing,
)
from glasshouse.proofs import Proof
from glasshouse.races.samplers.results import SamplerResults
from glasshouse.reports.instance import instance_section
from glasshouse.reports.machine import checkpoint_section, machine_section
from glasshouse.reports.page import Section
from glasshouse.reports.proof import is_proof, printed_proof_section, proof_section
from glasshouse.reports.race import race_section
from glasshouse.reports.rendering import rendered
from glasshouse.reports.sampler import results_section, sampler_section
from glasshouse.reports.script import library
from glasshouse.reports.study import study_section
from glasshouse.reports.training import training_section
from glasshouse.store import Store, purpose
from glasshouse.summaries import Summarised

Reported: TypeAlias = str | os.PathLike[str] | Proof | SamplerResults

_STORE_SECTIONS: dict[purpose.Purpose, Callable[[Store], Section]] = {
    purpose.STUDY: study_section,
    purpose.RACE: race_section,
    purpose.SAMPLER_RACE: sampler_section,
    purpose.TRAINING: training_section,
}
_STORES = (".sqlite", ".db", ".sqlite3")
_MAGIC = b"SQLite format 3\x00"


@dataclass(frozen=True, repr=False)
class Report(Summarised):
    """The page that `report` wrote, and the false statements that it shows.

    Attributes:
        path: the path of the page.
        sections: the number of sections.
        refuted: false statements of files, as texts; the page shows them as false.
        lack: why the page shows tables instead of charts; empty if it has charts.
    """

    path: Path
    sections: int
    refuted: tuple[str, ...] = ()
    lack: str = ""


def report(
    *things: Reported,
    output: str | os.PathLike[str],
    title: str | None = None,
    overwrite: bool = False,
) -> Report:
    """Write one HTML page, which needs no network, about stores, instances, RBMs and proofs.

    Values that the page calls verified are verified while the page is made. The same inputs give
    the same bytes. Needs the extra `report`. If a limit on address space forbids fetching the
    script of the charts, figures become tables, and the page states why.

    Args:
        things: files, in the order of the sections: stores of studies, races and training;
            instances of any format, with the certificates next to them; models and checkpoints of
            training runs; the output of `glasshouse prove --json`. In memory, a `Proof` or
            `SamplerResults`.
        output: the path of the page.
        title: the title of the page; by default the names of the files.
        overwrite: whether to replace an existing file.

    Raises:
        FileError: a file is not of one of these kinds; nothing is written.

    >>> import tempfile
    >>> import glasshouse as gh
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plant = gh.random_loops(9, 9, frustration="1/5", loops=4, rng=1)
    ...     _ = gh.write(f"{folder}/inst.npz", plant)
    ...     made = report(f"{folder}/inst.npz", output=f"{folder}/report.html")
    ...     made.sections, made.refuted, "ground state" in made.path.read_text()
    (1, (), True)
    """
    place = Path(output)
    if not things:
        raise ValueError("nothing to report; pass at least one store or file")
    refuse_existing(place, overwrite=overwrite)
    paths = [Path(one) for one in things if isinstance(one, (str, os.PathLike))]
    read = [*paths, *(side_car(path) for path in paths)]
    if any(path.exists() and path.resolve() == place.resolve() for path in read):
        raise ValueError(f"output={str(place)!r} is one of the reported files; use another path")
    if place.suffix.lower() not in ("", ".html", ".htm"):
        raise ValueError(f"output={str(place)!r} is not a page; use a name that ends in .html")
    lack = _lack()
    sections = [_section(one) for one in things]
    heading = title or _title([section.title for section in sections])
    made = _made_from(things)
    words = ["glasshouse", "report", *(path.name for path in paths), "-o", place.name]
    page = rendered(heading, sections, "" if made else shlex.join(words), made, lack)
    with replacing(place, "html", overwrite=overwrite) as file:
        file.write(page.encode("utf-8", "replace"))
    refuted = tuple(f"{one.title}: {one.refuted}" for one in sections if one.refuted)
    return Report(place, len(sections), refuted, lack)


def _lack() -> str:
    """Return the reason why the page cannot have charts; empty if it can."""
    try:
        library()
    except OSError as fault:
        return str(fault)
    return ""


def _made_from(things: tuple[Reported, ...]) -> str:
    """Return a note on inputs that exist only in memory; empty if all inputs are files."""
    if any(isinstance(one, SamplerResults) for one in things):
        return "Made in Python from results in memory; keep them with `store=`."
    if any(isinstance(one, Proof) for one in things):
        return (
            "Made in Python from a proof in memory; `glasshouse prove --json` prints one to keep."
        )
    return ""


def _section(thing: Reported) -> Section:
    if isinstance(thing, Proof):
        return proof_section(thing)
    if isinstance(thing, SamplerResults):
        return results_section(thing, thing.suite)
    if not isinstance(thing, (str, os.PathLike)):
        raise ValueError(f"{thing!r:.60} must be a file, a Proof or SamplerResults")
    return file_section(Path(thing))


def file_section(path: Path) -> Section:
    """Return the report section on a file of any supported kind.

    Raises:
        FileError: the file does not exist, or glasshouse cannot report it.
    """
    if not path.exists():
        raise MissingFileError(path, "no such file; expected a store or a file to report")
    if path.is_dir():
        raise FileError(path, "is a directory; pass the files in it")
    refuse_pipe(path)
    with path.open("rb") as file:
        is_store = path.suffix.lower() in _STORES or file.read(len(_MAGIC)) == _MAGIC
    if is_store:
        with Store(path) as store:
            return _STORE_SECTIONS[(store.purposes or [purpose.STUDY])[0]](store)
    suffix = format_suffix(path)
    if suffix == ".cert":
        raise FileError(path, f"is a certificate; pass {path.stem}, whose certificate is "
                        "then read")  # fmt: skip
    if suffix == ".npz":
        return _archive_section(path)
    if suffix == ".json":
        with opened(path) as source:
            values = parse_object(source.read_all())
        if values is not None and is_proof(values):
            return printed_proof_section(path, values)
    return instance_section(path)


def _archive_section(path: Path) -> Section:
    """Return the report section on an .npz file, which contains a plant, an RBM or a checkpoint."""
    unreadable = "is not a readable .npz file ({})"
    with opened(path) as source, opened_archive(source, unreadable) as archive:
        names = archive.names
    if {"header", "seen", "weights"} <= names:
        return checkpoint_section(path)
    return machine_section(path) if {"weights", "units"} <= names else instance_section(path)


def _title(names: list[str]) -> str:
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"Report of {shown}"
