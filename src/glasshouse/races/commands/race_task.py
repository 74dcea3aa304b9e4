"""A task of a race: runs of one solver on one instance, each judged and stored as a row."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from glasshouse.files import FileError, Known, read_document
from glasshouse.files.clause_file import SUFFIXES, ClauseFile, Dialect, read_clauses, text_in
from glasshouse.files.text.plain_json import canonical_json
from glasshouse.pool import ending_cleanly
from glasshouse.problems.validation import Number
from glasshouse.races.commands.entrants import Entrant
from glasshouse.races.judging.answer import Answer, read_answer, read_from
from glasshouse.races.judging.clauses import Judgement, RunVerdict, judge
from glasshouse.races.running.command import Limits
from glasshouse.races.running.compiling import Words, run_compiled
from glasshouse.races.running.guardian import scratch_folder
from glasshouse.races.running.meters import MeterName
from glasshouse.races.running.runner import Outcome, run
from glasshouse.store.row_types import LONGEST_TEXT, Column, Columns, Identified, Kind, Stop
from glasshouse.suites.manifest import sha256_of
from glasshouse.summaries import Summarised

RACE = Kind(
    "race",
    (
        Column("solved", "integer", "1 where the optimum was claimed, shown and right, in time"),
        Column("verdict", "text", "what became of the run"),
        Column("reason", "text", "why"),
        Column("cost", "text", "of the solver's last model, evaluated by us; empty without one"),
        Column("stated", "text", "the last o value, not believed; empty without one"),
        Column("incumbents", "text", "JSON: [[seconds, o value as text], ...], not believed"),
        Column("remarks", "text", "what is not as it should be, but no fault"),
        Column("exit_code", "integer", "negative for the signal that ended it"),
        Column("stopped", "text", "the limit that it ran into; empty where it ended by itself"),
        Column("cpu_seconds", "real", "processor time of all its processes"),
        Column("memory", "integer", "most bytes of resident memory seen"),
        Column("output", "text", "the end of standard output"),
        Column("errors", "text", "the end of standard error"),
        Column("meter", "text", "what measured it"),
    ),
    counted="solved",
)
NOT_RUN = "not run: "  # prefix of the reason for a run that was not made
INFEASIBLE = "infeasible"  # the bound of clauses that nothing satisfies
_TAIL = 2000  # characters of an output that are stored
_MOST_INCUMBENTS = 1000  # incumbents stored per run: the last ones


@dataclass(frozen=True, repr=False)
class RaceTask(Identified, Summarised):
    """A task of a race: all runs of one solver on one instance.

    Attributes:
        entrant: the solver.
        name: the name of the instance.
        path: the instance's file; its folder is not part of the task's identity.
        sha256: the digest of the file.
        parameters: the parameters that the instance was grown with.
        known: what is proven about the instance.
        limits: the limits of each run.
        seed: the seed of the first run; run k uses seed + k.
        strict: whether a wrong exit code alone is a fault.
        repeat: the number of runs; not part of the task's identity.
        meter: the meter of the runs, the same for a whole store; not part of the task's identity.
    """

    entrant: Entrant
    name: str
    path: Path
    sha256: str
    parameters: Mapping[str, Any]
    known: Known
    limits: Limits
    seed: int = 1
    strict: bool = False
    repeat: int = 1
    meter: MeterName = "process-group"

    @property
    def kind(self) -> Kind:
        """The `Kind` of the rows that this task stores."""
        return RACE

    @property
    def stop(self) -> Stop:
        """The number of rows after which the task is complete."""
        return Stop(self.repeat)

    def canonical(self) -> str:
        """Return as JSON everything that determines the rows, except for the computer's speed."""
        solver = {
            "name": self.entrant.name, "command": list(self.entrant.command.words),
            "dialect": self.entrant.dialect, "fingerprint": self.entrant.fingerprint,
            "strict": self.strict, **asdict(self.limits),
        }  # fmt: skip
        asked = asked_of(self.name, self.path, self.parameters, self.known)
        asked |= {"sha256": self.sha256}
        described = {"measures": "race", "parameters": asked, "seed": self.seed, "solver": solver}
        return canonical_json(described)

    def realise(self) -> dict[str, Any]:
        """Return an empty dict, because the rows of a race's task have no values in common."""
        return {}

    def measure(self, first: int, count: int) -> Columns:
        """Execute runs `first` to `first + count - 1`, and return their rows as columns."""
        with ending_cleanly():
            return RACE.columns_of([self._row(self.seed + k) for k in range(first, first + count)])

    def _row(self, seed: int) -> dict[str, Any]:
        clauses = _clauses(self.path, self.sha256)
        entrant = self.entrant
        try:
            text = _handed_over(self.path, self.sha256, entrant.dialect)
            if entrant.is_built_in and (why := _unreadable(self.path, self.sha256)):
                raise ValueError(why)
        except ValueError as refusal:
            return row_of(Judgement(RunVerdict.NO_ANSWER, f"{NOT_RUN}{refusal}"))
        with scratch_folder("glasshouse-race-") as folder:
            path = folder / f"instance{SUFFIXES[entrant.dialect]}"
            path.write_bytes(text)
            outcome, remark = self._run(partial(entrant.command.arguments, path, seed))
        answer = read_from(entrant.dialect, read_answer(outcome.transcript), clauses)
        judgement = judge(clauses, answer, self.known, outcome, strict=self.strict)
        if remark:
            judgement = replace(judgement, remarks=(*judgement.remarks, remark))
        return row_of(judgement, outcome, answer)

    def _run(self, words: Words) -> tuple[Outcome, str]:
        if self.entrant.is_built_in:
            return run_compiled(self.entrant.name, words, self.limits, self.meter)
        return run(words(self.limits.seconds), self.limits, self.meter), ""


def asked_of(name: str, path: Path, parameters: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """Return the parameters, file name and known values that a store records for an instance."""
    bound = INFEASIBLE if known.is_infeasible else _decimal(known.bound)
    asked = {**parameters, "instance": name, "file": path.name}
    return asked | {"bound": bound, "best": _decimal(known.best)}


@lru_cache(maxsize=32)
def _clauses(path: Path, sha256: str) -> ClauseFile:
    """Read the clauses of a file, which must still have the digest `sha256`."""
    if sha256_of(path) != sha256:
        raise ValueError(f"{str(path)!r} has changed since the race began; restore it")
    return read_clauses(path)


@lru_cache(maxsize=8)
def _handed_over(path: Path, sha256: str, dialect: Dialect) -> bytes:
    return text_in(dialect, _clauses(path, sha256))


@lru_cache(maxsize=32)
def _unreadable(path: Path, sha256: str) -> str:
    """Return the reason why the built-in solvers cannot read a file; empty if they can."""
    try:
        read_document(io.BytesIO(_handed_over(path, sha256, "classic")), format="wcnf")
    except FileError as refusal:
        return f"glasshouse cannot read this file ({str(refusal).partition(': ')[2]})"
    return ""


def row_of(
    judgement: Judgement, outcome: Outcome | None = None, answer: Answer | None = None
) -> dict[str, Any]:
    """Return a run's row for the store; `outcome` is None if the run did not take place."""
    is_in_time = outcome is not None and outcome.stopped is None
    incumbents = [] if answer is None else answer.incumbents[-_MOST_INCUMBENTS:]
    # Output in the grace time counts as printed at the limit.
    end = math.inf if outcome is None else outcome.seconds
    listed = [[round(min(seconds, end), 6), str(value)] for seconds, value in incumbents]
    said = b"" if outcome is None else bytes(outcome.transcript.output[-_TAIL:])
    complained = b"" if outcome is None else bytes(outcome.transcript.errors[-_TAIL:])
    return {
        "solved": int(is_in_time and judgement.verdict is RunVerdict.OPTIMAL),
        "verdict": str(judgement.verdict),
        "reason": _text(judgement.reason),
        "cost": _decimal(judgement.cost),
        "stated": _decimal(judgement.stated),
        "incumbents": json.dumps(listed, separators=(",", ":")),
        "remarks": _text("; ".join(judgement.remarks)),
        "exit_code": 0 if outcome is None else outcome.exit_code,
        "stopped": "" if outcome is None else outcome.stopped or "",
        "cpu_seconds": 0.0 if outcome is None else outcome.cpu_seconds,
        "memory": 0 if outcome is None else outcome.memory,
        "output": _text(said.decode("utf-8", "replace")),
        "errors": _text(complained.decode("utf-8", "replace")),
        "meter": "" if outcome is None else outcome.meter,
        "seconds": 0.0 if outcome is None else outcome.seconds,
    }


def _decimal(value: Number | None) -> str:
    return "" if value is None else str(value)


def _text(value: str) -> str:
    """Return a solver's text as stored: shortened, and with zero bytes replaced."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}")[: LONGEST_TEXT // 4]
