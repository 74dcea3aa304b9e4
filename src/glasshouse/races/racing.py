"""A race: every solver on every instance, into a store that a kill cannot tear.

One task per solver and instance, one row per run; run k has seed + k. Collecting them is the
studies' own: what is in the store is not run again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from glasshouse.files.manifest import sha256_of
from glasshouse.pool import ending_cleanly
from glasshouse.problems import validation
from glasshouse.problems.validation import Number
from glasshouse.races.answer import Answer, read_answer
from glasshouse.races.clause_file import ClauseFile, read_clauses
from glasshouse.races.dialects import SUFFIXES, Dialect, read_from, text_in
from glasshouse.races.entrants import Entrant, start_of
from glasshouse.races.guardian import scratch_folder
from glasshouse.races.judging import Judgement, RunVerdict, judge
from glasshouse.races.limits import Limits
from glasshouse.races.meters import MeterName, best_meter, why_not
from glasshouse.races.runner import Outcome, run
from glasshouse.races.suite_loading import Suite, SuiteInstance, refuse_other_bytes
from glasshouse.races.truth import Truth
from glasshouse.studies.collect import StudyProgress, iter_collect
from glasshouse.studies.kinds.kind import (
    LONGEST_TEXT,
    Column,
    Columns,
    Identified,
    Kind,
    Stop,
    canonical_json,
)
from glasshouse.studies.store import purpose
from glasshouse.studies.store.records import json_object
from glasshouse.studies.store.store import Store
from glasshouse.studies.store.storefile import StoreError
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
NOTE = purpose.RACE.note
INFEASIBLE = "infeasible"  # the bound of what nothing satisfies
_TAIL = 2000  # characters of an output that are kept
_MOST_INCUMBENTS = 1000  # of a run; the last ones
HANGING = 60.0  # seconds beyond all limits after which a worker is started anew


@dataclass(frozen=True, repr=False)
class RaceTask(Identified, Summarised):
    """One solver on one instance.

    Attributes:
        entrant: the solver.
        name: of the instance.
        path: its file, whose folder is no part of the task's identity.
        sha256: of the file.
        parameters: what the instance was grown from.
        truth: what is proven about it.
        limits: of each run.
        seed: of the first run; the next ones have the next numbers.
        strict: whether a wrong exit code alone is a fault.
        repeat: how many runs; no part of the task's identity.
        meter: what measures them; one per store, and no part of the task's identity.
    """

    entrant: Entrant
    name: str
    path: Path
    sha256: str
    parameters: Mapping[str, Any]
    truth: Truth
    limits: Limits
    seed: int = 1
    strict: bool = False
    repeat: int = 1
    meter: MeterName = "process-group"

    @property
    def kind(self) -> Kind:
        """The kind of its rows."""
        return RACE

    @property
    def stop(self) -> Stop:
        """When it has enough."""
        return Stop(self.repeat)

    def canonical(self) -> str:
        """All that its rows depend on, but for the speed of the machine, as JSON on one line."""
        solver = {
            "name": self.entrant.name, "command": list(self.entrant.command.words),
            "dialect": self.entrant.dialect, "fingerprint": self.entrant.fingerprint,
            "strict": self.strict, **asdict(self.limits),
        }  # fmt: skip
        asked = _asked(self.name, self.path, self.parameters, self.truth)
        asked |= {"sha256": self.sha256}
        described = {"measures": "race", "parameters": asked, "seed": self.seed, "solver": solver}
        return canonical_json(described)

    def realise(self) -> dict[str, Any]:
        """Nothing comes out of a task as a whole."""
        return {}

    def measure(self, first: int, count: int) -> Columns:
        """Runs first to first+count-1."""
        with ending_cleanly():
            rows = [self._row(self.seed + k) for k in range(first, first + count)]
        return {
            column.name: np.array([row[column.name] for row in rows], dtype=column.dtype)
            for column in RACE.measured
        }

    def _row(self, seed: int) -> dict[str, Any]:
        clauses = _clauses(self.path, self.sha256)
        try:
            text = _handed_over(self.path, self.sha256, self.entrant.dialect)
        except ValueError as refusal:
            return _row_of(Judgement(RunVerdict.NO_ANSWER, f"not run: {refusal}"))
        with scratch_folder("glasshouse-race-") as folder:
            path = folder / f"instance{SUFFIXES[self.entrant.dialect]}"
            path.write_bytes(text)
            words = self.entrant.command.arguments(path, seed, self.limits.seconds)
            outcome = run(words, self.limits, self.meter)
        answer = read_from(self.entrant.dialect, read_answer(outcome.transcript), clauses)
        judgement = judge(clauses, answer, self.truth, outcome, strict=self.strict)
        return _row_of(judgement, outcome, answer)


@dataclass(frozen=True, repr=False)
class Race(Summarised):
    """Who races on what, and under which rules.

    Attributes:
        entrants: the solvers.
        suite: the instances.
        limits: of each run.
        seed: of the first run on each instance.
        repeat: how many runs on each instance.
        strict: whether a wrong exit code alone is a fault.
        meter: what measures the runs; by default what the store was begun with, and for a new one
            BenchExec where it can be used, else our own.
    """

    entrants: Sequence[Entrant]
    suite: Suite
    limits: Limits
    seed: int = 1
    repeat: int = 1
    strict: bool = False
    meter: MeterName | None = None

    def __post_init__(self) -> None:
        validation.count(self.seed, "seed")
        validation.count(self.repeat, "repeat", 1)
        for word in (word for one in self.entrants for word in one.command.words):
            refuse_other_bytes(word)

    def tasks(self) -> list[RaceTask]:
        """Instance by instance, so that all solvers are equally far at any moment."""
        return [
            self._task(entrant, instance, digest)
            for instance, digest in [(i, sha256_of(i.path)) for i in self.suite.instances]
            for entrant in self.entrants
        ]

    def _task(self, entrant: Entrant, instance: SuiteInstance, digest: str) -> RaceTask:
        return RaceTask(
            entrant, instance.name, instance.path.absolute(), digest, dict(instance.parameters),
            instance.truth, self.limits, self.seed, self.strict, self.repeat,
        )  # fmt: skip

    def _refuse_other_proofs(self, store: Store) -> None:
        """Verdicts under two truths are not of one race, and its runs would be made again."""
        known = [_asked(i.name, i.path, i.parameters, i.truth) for i in self.suite.instances]
        ours = {json.dumps(asked, sort_keys=True) for asked in known}
        for task in store.tasks():
            asked = {key: it for key, it in task.table("parameters").items() if key != "sha256"}
            if task.kind == RACE.name and json.dumps(asked, sort_keys=True) not in ours:
                raise StoreError(
                    f"{store.path} holds a race with another proof or other parameters of "
                    f"{asked.get('file')}; bring the certificates back, or use another store"
                )

    def claim(self, store: Store) -> MeterName:
        """Remember in a store which race it is for; another one's is refused.

        More solvers, and more runs on each instance, are the same race. Another meter is not: it
        counts memory in another way.

        Returns:
            what measures the runs.
        """
        held = held_race(store)
        before = None if held is None else held.setdefault("meter", "process-group")
        meter: MeterName = self.meter or before or best_meter()
        rules = {
            "suite": self.suite.name, "digest": self.suite.digest, "seed": self.seed,
            "strict": self.strict, "meter": meter, **asdict(self.limits),
        }  # fmt: skip
        solvers: dict[str, Any] = {}
        if held is not None:
            _refuse_other_rules(store, held, rules)
            self._refuse_other_proofs(store)
            solvers = held["solvers"]
        if why := why_not(meter):
            raise ValueError(f"{store.path} cannot be raced with meter={meter!r}: {why}")
        for entrant in self.entrants:
            said = {"fingerprint": entrant.fingerprint, "command": str(entrant.command),
                    "dialect": entrant.dialect}  # fmt: skip
            known = solvers.get(entrant.name)
            if known is None:
                start = start_of(entrant, self.limits) if entrant.is_built_in else None
                solvers[entrant.name] = {**said, "start_seconds": start}
            elif any(known.get(name) != value for name, value in said.items()):
                changed = next(name for name in said if known.get(name) != said[name])
                raise StoreError(
                    f"{store.path} holds runs of another {entrant.name} (its {changed} differs); "
                    f"give this one another name, as in 'new-{entrant.name}=…', or use a new store"
                )
        typed = {"source": self.suite.source, "answers": self.suite.answers}
        store.note(NOTE, json.dumps({**rules, **typed, "solvers": solvers}))
        return meter


def _asked(name: str, path: Path, parameters: Mapping[str, Any], truth: Truth) -> dict[str, Any]:
    """An instance in a store, but for the digest of its file."""
    bound = INFEASIBLE if truth.is_infeasible else _decimal(truth.bound)
    asked = {**parameters, "instance": name, "file": path.name}
    return asked | {"bound": bound, "best": _decimal(truth.best)}


def held_race(store: Store) -> dict[str, Any] | None:
    """The rules that a store was raced under, and its solvers; None for a new store.

    Raises:
        StoreError: it is a store of something else.
    """
    noted = store.claim(purpose.RACE)
    if noted is None:
        if store.kinds:
            raise StoreError(f"{store.path} holds runs of a race, but not its rules; use another "
                             "store")  # fmt: skip
        return None
    try:
        held = json_object(noted, "the race")
        if not isinstance(held.get("solvers"), dict) or not all(
            isinstance(one, dict) for one in held["solvers"].values()
        ):
            raise ValueError("the race has no solvers")
    except ValueError as fault:
        raise StoreError(f"{store.path} is damaged ({fault}); restore it from a copy") from None
    return held


def _refuse_other_rules(store: Store, held: Mapping[str, Any], rules: Mapping[str, Any]) -> None:
    if held.get("digest") != rules["digest"]:
        raise StoreError(
            f"{store.path} holds a race on {held.get('suite')!r} with other instances than those "
            f"of {rules['suite']!r}; use another store"
        )
    for name, value in rules.items():
        if name != "suite" and held.get(name) != value:
            option = {"seconds": "time_limit"}.get(name, name)
            unit = " bytes" if name in ("memory", "output") else ""
            raise StoreError(
                f"{store.path} holds a race with {option}={held.get(name)!r}{unit}, not "
                f"{value!r}{unit}; use the same rules, or another store"
            )


def iter_race(
    race: Race, store: str | Path, *, workers: int = 1, executor: Executor | None = None
) -> Iterator[StudyProgress]:
    """Race, or go on where it stopped, yielding the progress after every few runs.

    Args:
        race: who, on what, by which rules.
        store: the file; made when it is not there.
        workers: so many runs at a time, each in a process of its own: one per core, at most.
        executor: instead of workers, any executor, for example that of a Dask cluster whose
            machines see the same files.
    """
    tasks = race.tasks()
    with Store(store, write=True) as opened:
        meter = race.claim(opened)
    slowest = race.limits.seconds + race.limits.grace + HANGING
    # Always in workers: they end the solver when this process is killed.
    number = None if executor is not None else workers
    metered = [replace(task, meter=meter) for task in tasks]
    yield from iter_collect(
        metered, store, executor=executor, workers=number, timeout=race.repeat * slowest
    )


@lru_cache(maxsize=32)
def _clauses(path: Path, sha256: str) -> ClauseFile:
    """The clauses of a file that is still the one that was entered."""
    if sha256_of(path) != sha256:
        raise ValueError(f"{path} has changed since the race began")
    return read_clauses(path)


@lru_cache(maxsize=8)
def _handed_over(path: Path, sha256: str, dialect: Dialect) -> bytes:
    return text_in(dialect, _clauses(path, sha256))


def _row_of(
    judgement: Judgement, outcome: Outcome | None = None, answer: Answer | None = None
) -> dict[str, Any]:
    is_in_time = outcome is not None and outcome.stopped is None
    incumbents = [] if answer is None else answer.incumbents[-_MOST_INCUMBENTS:]
    # What comes in the grace time counts as of the limit.
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
    """What a solver said, as a store keeps it."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}")[: LONGEST_TEXT // 4]
