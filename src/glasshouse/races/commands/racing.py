"""A race of all solvers on all instances of a suite, recorded in a crash-safe store.

There is one task per solver and instance, and one row per run; run k uses seed + k. Collection
works as for studies: runs that are in the store are not repeated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from glasshouse.pool import core_sets
from glasshouse.problems import validation
from glasshouse.races.commands.entrants import Entrant, start_of
from glasshouse.races.commands.race_task import RACE, RaceTask, asked_of
from glasshouse.races.running.command import Limits
from glasshouse.races.running.compiling import most_seconds
from glasshouse.races.running.meters import MeterName, best_meter, why_not
from glasshouse.store import Store, StudyProgress, iter_collect, purpose
from glasshouse.store.records import json_object
from glasshouse.store.storefile import OtherSettingsError, StoreError
from glasshouse.suites.loading import Suite, refuse_other_bytes
from glasshouse.suites.manifest import sha256_of
from glasshouse.suites.standard import SuiteInstance
from glasshouse.summaries import Summarised

NOTE = purpose.RACE.note
HANGING = 60.0  # seconds beyond all limits after which a worker is restarted


@dataclass(frozen=True, repr=False)
class Race(Summarised):
    """The definition of a race: its solvers, its instances and its rules.

    Attributes:
        entrants: the solvers.
        suite: the instances.
        limits: the limits of each run.
        seed: the seed of the first run on each instance.
        repeat: the number of runs on each instance.
        strict: whether a wrong exit code alone is a fault.
        meter: what measures the runs; by default, the meter of the store. A new store uses
            BenchExec if it is usable, else our own meter.
        cores: the number of cores reserved for each run; None does not pin runs to cores.
    """

    entrants: Sequence[Entrant]
    suite: Suite
    limits: Limits
    seed: int = 1
    repeat: int = 1
    strict: bool = False
    meter: MeterName | None = None
    cores: int | None = None

    def __post_init__(self) -> None:
        validation.count(self.seed, "seed")
        validation.count(self.repeat, "repeat", 1)
        if self.cores is not None:
            validation.count(self.cores, "cores", 1)
        for word in (word for one in self.entrants for word in one.command.words):
            refuse_other_bytes(word)

    def tasks(self) -> list[RaceTask]:
        """Return all tasks, ordered by instance so that all solvers progress at the same pace."""
        return [
            self._task(entrant, instance, digest)
            for instance, digest in [(i, sha256_of(i.path)) for i in self.suite.instances]
            for entrant in self.entrants
        ]

    def _task(self, entrant: Entrant, instance: SuiteInstance, digest: str) -> RaceTask:
        return RaceTask(
            entrant, instance.name, instance.path.absolute(), digest, dict(instance.parameters),
            instance.known, self.limits, self.seed, self.strict, self.repeat,
        )  # fmt: skip

    def _refuse_other_proofs(self, store: Store) -> None:
        """Raise StoreError if the store's verdicts are based on proofs other than the suite's."""
        known = [asked_of(i.name, i.path, i.parameters, i.known) for i in self.suite.instances]
        ours = {json.dumps(asked, sort_keys=True) for asked in known}
        for task in store.tasks():
            asked = {key: it for key, it in task.table("parameters").items() if key != "sha256"}
            if task.kind == RACE.name and json.dumps(asked, sort_keys=True) not in ours:
                raise StoreError(
                    f"{store.path} contains a race with a different proof or other parameters for "
                    f"{asked.get('file')}; restore the certificates, or use another store"
                )

    def reserve(self, store: Store) -> MeterName:
        """Record the race in a store, which must be new or contain the same race.

        More solvers, and more runs on each instance, are still the same race. A different meter or
        number of cores is a different race: meters do not count memory in the same way.

        Returns:
            the meter of the runs.
        """
        held = held_race(store)
        before = None if held is None else held.setdefault("meter", "process-group")
        meter: MeterName = self.meter or before or best_meter()
        rules = {
            "suite": self.suite.name, "digest": self.suite.digest, "seed": self.seed,
            "strict": self.strict, "meter": meter, "cores": self.cores, **asdict(self.limits),
        }  # fmt: skip
        solvers: dict[str, Any] = {}
        if held is not None:
            _refuse_other_rules(store, held, rules)
            self._refuse_other_proofs(store)
            solvers = held["solvers"]
        if why := why_not(meter):
            raise ValueError(f"{store.path} cannot be used with meter={meter!r}: {why}")
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
                    f"{store.path} contains runs of a solver {entrant.name} that differs in its "
                    f"{changed}; choose another name, as in 'new-{entrant.name}=…', or a new store"
                )
        typed = {
            "source": self.suite.source, "answers": self.suite.answers,
            "instances": self.suite.files,
        }  # fmt: skip
        store.note(NOTE, json.dumps({**rules, **typed, "solvers": solvers}))
        return meter


def held_race(store: Store) -> dict[str, Any] | None:
    """Return the rules and solvers of the race in a store, or None if the store is new.

    Raises:
        StoreError: the store does not contain a race, or is damaged.
    """
    noted = store.reserve(purpose.RACE)
    if noted is None:
        if store.kinds:
            raise StoreError(f"{store.path} contains runs of a race, but not its rules; use "
                             "another store")  # fmt: skip
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
            f"{store.path} contains a race on {held.get('suite')!r}, whose instances differ from "
            f"those of {rules['suite']!r}; use another store"
        )
    for name, value in rules.items():
        if name != "suite" and held.get(name) != value:
            option = {"seconds": "time_limit", "cpu_seconds": "cpu_limit"}.get(name, name)
            unit = " bytes" if name in ("memory", "output") else ""
            before = f"with {option}={held.get(name)!r}{unit}, not {value!r}{unit}"
            if held.get(name) is None:
                before = f"without {option}"
            elif value is None:
                before = f"with {option}={held[name]!r}, not without it"
            raise OtherSettingsError(
                f"{store.path} contains a race {before}; use the same rules, or another store"
            )


def iter_race(
    race: Race, store: str | Path, *, workers: int = 1, executor: Executor | None = None
) -> Iterator[StudyProgress]:
    """Run or resume a race, and yield its progress after each stored batch of runs.

    Args:
        race: the solvers, instances and rules.
        store: the store file; created if it does not exist.
        workers: the number of concurrent runs, each in its own process: at most one per core.
        executor: any executor instead of workers, for example that of a Dask cluster whose
            computers see the same files.
    """
    if race.cores is not None:
        if executor is not None:
            raise ValueError(f"cores={race.cores} applies only to workers on this computer; remove "
                             "cores or executor")  # fmt: skip
        core_sets(validation.count(workers, "workers", 1), race.cores)  # before a store exists
    tasks = race.tasks()
    with Store(store, write=True) as opened:
        meter = race.reserve(opened)
    slowest = race.limits.seconds + race.limits.grace + HANGING
    if any(entrant.is_built_in for entrant in race.entrants):
        slowest += most_seconds(race.limits)
    # Always use workers: they end the solver when this process is killed.
    number = None if executor is not None else workers
    metered = [replace(task, meter=meter) for task in tasks]
    yield from iter_collect(
        metered, store, executor=executor, workers=number, timeout=race.repeat * slowest,
        cores=race.cores,
    )  # fmt: skip
