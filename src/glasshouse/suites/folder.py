"""The two folders of a suite: blind instances to publish, and the answers.

    DIR/instances/   the files, and commitment.jsonl of a committed suite
    DIR/answers/     suite.json (families, seed and options), manifest.jsonl, optima.csv,
                     regression.csv and a certificate for each file

The names of the files are numbers: a name with parameters would reveal the optimum, which is the
same for all instances of a family of planted loops.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from glasshouse.files import FileError, parse_object
from glasshouse.files.formats.format import Dialect
from glasshouse.files.text.streams import opened, refuse_pipe, replacing
from glasshouse.files.writing import make_folder
from glasshouse.suites.commitment import commit
from glasshouse.suites.manifest import MANIFEST, Entry, read_manifest, refuse_changed
from glasshouse.suites.suite_file import SuiteFile, find_suite
from glasshouse.suites.writing import iter_write_suite, refuse_names

INSTANCES, ANSWERS, PLAN = "instances", "answers", "suite.json"


@dataclass(frozen=True)
class SuiteFolder:
    """The two folders of a suite: the instances, which can be published, and the answers.

    Attributes:
        root: the folder of the suite.
        elsewhere: the folder of the answers, if it is not `root/answers`.
    """

    root: Path
    elsewhere: Path | None = None

    @property
    def instances(self) -> Path:
        """The folder of blind files, which can be published."""
        return self.root / INSTANCES

    @property
    def answers(self) -> Path:
        """The folder that contains the optima."""
        return self.elsewhere or self.root / ANSWERS

    @property
    def manifest(self) -> Path:
        """The path of the manifest, which exists only if the suite is complete."""
        return self.answers / MANIFEST

    def plan(self) -> dict[str, object] | None:
        """Return the stored families, seed and options of the suite; None if none are stored."""
        path = self.answers / PLAN
        if not path.exists():
            return None
        refuse_pipe(path)
        with opened(path) as source:
            values = parse_object(source.read_all())
            if values is None or not isinstance(values.get("name"), str):
                raise source.error("must be a JSON object with the suite's name under 'name'")
            return values

    def reserve(self, suite: SuiteFile, **options: object) -> None:
        """Store a suite's families, seed and options; raise if the folder has other settings."""
        values = json.loads(suite.canonical()) | options
        held = self.plan()
        if held is None:
            make_folder(self.answers)
            with replacing(self.answers / PLAN, overwrite=False) as file:
                file.write((json.dumps(values, sort_keys=True) + "\n").encode("ascii"))
        elif held != values:
            others = ", ".join(name for name in values if held.get(name) != values[name])
            raise FileError(
                self.answers / PLAN,
                f"belongs to another suite (different: {others}); choose another folder",
            )


def iter_build_suite(
    source: str | Path,
    folder: str | Path,
    *,
    answers: str | Path | None = None,
    is_committed: bool = False,
    count: int | None = None,
    seed: int | None = None,
    formats: Sequence[str] = (),
    dialect: Dialect = "classic",
) -> Iterator[Entry]:
    """Write a suite file by file, and yield each entry of its manifest.

    The files are written while the caller iterates. The same call resumes after an interruption,
    and recognises a complete suite. No file is ever overwritten.

    Args:
        source: the name of a ready-made suite, or a TOML file.
        folder: the folder of the suite; its `instances` are blind files.
        answers: the folder of the answers; by default `answers` in the folder.
        is_committed: also write hashes that commit to the certificates without revealing them. The
            seed is then random, unless it is given.
        count: the number of instances per family and grid point; by default, the file's number.
        seed: the seed; by default, the file's seed.
        formats: further formats in addition to wcnf, such as "qubo".
        dialect: the dialect of WCNF.

    Raises:
        ValueError: the suite file is wrong.
        FileError: the folder contains another suite, or a file was changed.
    """
    place = SuiteFolder(Path(folder), None if answers is None else Path(answers))
    if is_committed and seed is None:
        held = place.plan() or {}
        # A seed that was not secret when the suite was written is not secret now.
        goes_on = held.get("committed") is True and isinstance(held.get("seed"), int)
        seed = int(str(held["seed"])) if goes_on else secrets.randbits(128)
    suite = find_suite(source, seed=seed, count=count)
    suffixes = list(dict.fromkeys(["." + one.lower().lstrip(".") for one in ("wcnf", *formats)]))
    refuse_names(place.instances, suite.name, suffixes)
    given, told = place.instances.resolve(), place.answers.resolve()
    if given in (told, *told.parents):
        raise ValueError(
            f"answers={told} would be published with the files in {given}; choose another folder"
        )
    place.reserve(suite, formats=suffixes, dialect=dialect, committed=is_committed)
    if place.manifest.exists():
        for entry in read_manifest(place.manifest):
            refuse_changed(place.instances / entry.file, entry.sha256)
            yield entry
    else:
        yield from iter_write_suite(
            place.instances, suite.grow(), names=suite.names(), stem=suite.name, suffix=suffixes,
            dialect=dialect, blind=True, answers=place.answers,
        )  # fmt: skip
    if is_committed:
        commit(place.manifest, place.instances)
