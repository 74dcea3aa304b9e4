"""Races of dimod samplers on problems with a proven optimum or a best known energy.

All calls are made in this process, one by one: call 0 of every sampler on every problem with every
batch size, then call 1, so that a slowdown of the computer affects all samplers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from glasshouse.files.text.plain_json import canonical_json
from glasshouse.planting import Seed
from glasshouse.problems import validation
from glasshouse.races.samplers.calling import Contestant, SamplerCall, call_sampler
from glasshouse.races.samplers.clocks import Clock, clock_name
from glasshouse.races.samplers.problems import RacedProblem, SuiteLike, raced_problems
from glasshouse.races.samplers.results import SamplerResults
from glasshouse.races.samplers.rows import (
    FIRST_SAMPLER_RACE,
    NOTE,
    SAMPLER_RACE,
    circumstances,
    rows_of,
    rows_of_calls,
)
from glasshouse.randomness import RngLike
from glasshouse.store import Store, StoredTask, purpose
from glasshouse.store.records import json_object
from glasshouse.store.row_types import Columns, Identified, Kind, Stop
from glasshouse.store.storefile import OtherSettingsError, StoreError, damaged
from glasshouse.suites.loading import Suite
from glasshouse.summaries import Summarised

BATCHES = (1, 4, 16, 64, 256)  # reads of the calls that measure time
_MOST_STORED = 2000  # reads per call whose energies always fit into the text of a row


@dataclass(frozen=True, repr=False)
class RaceProgress(Summarised):
    """The progress of a race, reported after every call.

    Attributes:
        calls: the calls made so far, including those in the store.
        goal: the number of calls; the time limit may end some sampler's calls earlier.
        solver: the sampler that was called last.
        instance: the problem of that call.
    """

    calls: int
    goal: int
    solver: str
    instance: str


@dataclass(frozen=True, repr=False)
class SamplerTask(Identified, Summarised):
    """A task of a race: one sampler on one problem, with one row per call.

    Attributes:
        contestant: the sampler.
        problem: the problem.
        seed: the seed of the race.
        calls: the number of calls; not part of the task's identity.
        is_extra: whether the batch size only serves to measure time; the calls then have their own
            seeds, so that they do not repeat the reads of other calls.
        kind: the kind of the task's rows.
    """

    contestant: Contestant
    problem: RacedProblem
    seed: Seed
    calls: int
    is_extra: bool = False
    kind: Kind = SAMPLER_RACE

    @property
    def stop(self) -> Stop:
        """The number of rows after which the task is complete."""
        return Stop(self.calls)

    def canonical(self) -> str:
        """Return as JSON everything that determines the rows, except for the computer's speed."""
        problem = self.problem
        asked = {
            **problem.parameters, "instance": problem.name, "sha256": problem.digest,
            "optimum": problem.optimum, "best": problem.best,
        }  # fmt: skip
        values = {
            "measures": SAMPLER_RACE.name, "parameters": asked, "seed": _seed_values(self.seed),
            "solver": self.contestant.described(),
        }  # fmt: skip
        return canonical_json(values)

    def realise(self) -> dict[str, Any]:
        """Return the problem's size and rounding, as the store does not contain the problem."""
        return {"variables": self.problem.num_variables, "rounding": self.problem.rounding}

    def call(self, number: int) -> SamplerCall:
        """Make call `number` with a 31-bit seed, which every sampler accepts."""
        own = self.seed.child(int(self.problem.digest[:8], 16)).child(number)
        if self.is_extra:
            own = own.child(self.contestant.reads or 1)
        seed = int(own.sequence().generate_state(1)[0]) >> 1
        return call_sampler(self.contestant, self.problem, number, seed)

    def measure(self, first: int, count: int) -> Columns:
        """Make calls `first` to `first + count - 1`, and return them as rows."""
        return rows_of_calls(
            [self.call(number) for number in range(first, first + count)], self.kind
        )


def race_samplers(
    samplers: Mapping[str, Any],
    suite: SuiteLike,
    *,
    reads: int = 100,
    calls: int = 10,
    batches: Sequence[int] = BATCHES,
    clock: Clock | Mapping[str, Clock] = "wall",
    rng: RngLike = None,
    time_limit: float | None = None,
    confidence: float = 0.95,
    store: str | Path | None = None,
    progress: Callable[[RaceProgress], None] | None = None,
) -> SamplerResults:
    """Race dimod samplers: compare success probability, time to solution and residual energy.

    Every energy is evaluated again, exactly, from the samples. Anything wrong with a call is
    recorded as its fault, its reads count as failures, and the race continues. Each sampler is
    first called once on two spins, which does not count, because first calls may compile.

    Every sampler that takes `num_reads` is also called with the batch sizes in `batches`: the time
    of a call is not proportional to its reads. `glasshouse.statistics.time_model` has the model of
    time, and the two times to solution that follow from it.

    `num_reads` and `seed` are passed to samplers that name them, in `parameters` or in the
    signature of `sample`. Without `num_reads`, a call counts as one read: the best of its samples,
    in the time of the whole call.

    Args:
        samplers: samplers by name: an object with dimod's `sample(bqm, **parameters)`; a pair of
            such an object and a dict of parameters; or a callable that takes a model and returns a
            SampleSet.
        suite: the name of a suite, a TOML file, a folder, or a loaded Suite; or a problem, plant
            or dimod model, or a list or dict of them. Plants and certified files have a proven
            optimum. For other problems, the best energy that any sampler finds is the target.
        reads: reads per call. A sampler with `num_reads` among its own parameters is called with
            these reads only.
        calls: calls of each sampler on each problem, with each batch size.
        batches: further batch sizes at which time is measured; the results include their reads. ()
            makes no further calls: times to solution are then those of calls of `reads` reads.
        clock: "wall" (the time of a call), "cpu" (CPU time of this process), the name of a number
            in the SampleSet's `info["timing"]`, such as "qpu_access_time" (microseconds, unless the
            name ends in _ns, _ms or _s), or a function that returns the seconds of a SampleSet; or
            a dict with a clock for some samplers. Results can be read by other clocks later.
        rng: the source of the seeds of all calls.
        time_limit: seconds per sampler and problem after which no further call begins.
        confidence: the confidence of all intervals.
        store: a file that records every call. The same race with the same store resumes, even after
            a kill, and repeats no finished call.
        progress: called after every call.

    >>> from glasshouse import GlasshouseAnnealer, random_loops
    >>> plants = [random_loops(10, 10, frustration="1/5", loops=5, rng=k) for k in range(3)]
    >>> found = race_samplers({"ours": GlasshouseAnnealer()}, plants, reads=20, calls=2, rng=1)
    >>> found.success("ours").value > 0.9, found.faults
    (True, [])
    >>> found.tts("ours").value > found.tts("ours", by="work").value
    True
    """
    validation.count(reads, "reads", 1)
    validation.count(calls, "calls", 1)
    validation.share(confidence, "confidence")
    limit = validation.time_limit(time_limit)
    if not isinstance(samplers, Mapping) or not samplers:
        raise ValueError(f"samplers={samplers!r:.60} must be a dict of one or more samplers")
    if len(set(map(str, samplers))) < len(samplers):
        raise ValueError(
            f"two samplers have the same name; rename one of {', '.join(map(str, samplers))}"
        )
    sizes = [validation.count(size, "batches", 1) for size in batches]
    clocks = _clocks(clock, [str(name) for name in samplers])
    entered = [
        Contestant.of(str(name), one, reads, clocks[str(name)]) for name, one in samplers.items()
    ]
    problems = raced_problems(suite, None if store is None else Path(store).parent / "suites")
    with ExitStack() as opened:
        book: Store | None = None
        if store is not None:
            _refuse_many([(one.name, size) for one in entered for size in _sizes(one, sizes)])
            book = opened.enter_context(Store(store, write=True))
            _refuse_others(book, entered)
        seed = Seed.of(rng) if book is None else _reserve(book, rng)
        kind = SAMPLER_RACE if book is None else book.kinds.get(SAMPLER_RACE.name, SAMPLER_RACE)
        if kind == FIRST_SAMPLER_RACE and {clock_name(one) for one in clocks.values()} != {"wall"}:
            raise StoreError(f"{store} was created by a version of glasshouse that stored only "
                             "wall-clock times; use the clock 'wall', or a new store")  # fmt: skip
        tasks = [
            SamplerTask(replace(who, reads=size), what, seed, calls, size != who.reads, kind)
            for what in problems for who in entered for size in _sizes(who, sizes)
        ]  # fmt: skip
        made = _Calls(tasks, book, limit, progress).run()
    found = SamplerResults(
        _name_of(suite), tuple(problems), tuple(made), seed.number, confidence,
        {one.name: one.described() for one in entered},
    )  # fmt: skip
    asked = {name: clock_name(one) for name, one in clocks.items()}
    # Calls in a store may have been made by another clock.
    return found if all(one.clock == asked[one.solver] for one in made) else found.by_clock(asked)


def _clocks(clock: Clock | Mapping[str, Clock], names: list[str]) -> dict[str, Clock]:
    """Return the clock of each sampler, by the sampler's name."""
    if not isinstance(clock, Mapping):
        return dict.fromkeys(names, clock)
    if unknown := [name for name in clock if name not in names]:
        raise ValueError(
            f"clock has a key {unknown[0]!r} that is not a sampler; use one of {', '.join(names)}"
        )
    return {name: clock.get(name, "wall") for name in names}


def _sizes(contestant: Contestant, sizes: list[int]) -> list[int | None]:
    """Return a sampler's batch sizes (reads per call); the race's own batch size comes first."""
    if contestant.reads is None or contestant.has_fixed_reads:
        return [contestant.reads]
    return list(dict.fromkeys([contestant.reads, *sorted(sizes)]))


class _Calls:
    """All calls of a race: stored calls, and calls that must still be made."""

    def __init__(
        self, tasks: list[SamplerTask], store: Store | None, limit: float | None,
        progress: Callable[[RaceProgress], None] | None,
    ) -> None:  # fmt: skip
        self._tasks, self._store, self._limit, self._progress = tasks, store, limit, progress
        self._stored = [] if store is None else store.add_tasks(tasks)
        self._held: list[dict[int, SamplerCall]] = [
            {} if store is None else _held(store, self._stored[k], task)
            for k, task in enumerate(tasks)
        ]
        self._is_warm: set[str] = set()

    def run(self) -> list[SamplerCall]:
        """Make all missing calls in rounds; skip tasks whose time limit is used up."""
        spent: dict[tuple[str, str], float] = {}
        found: list[SamplerCall] = []
        most = self._tasks[0].calls
        for number in range(most):
            for k, task in enumerate(self._tasks):
                who = task.contestant.name, task.problem.name
                if self._limit is not None and spent.get(who, 0.0) >= self._limit:
                    continue
                call = self._held[k].get(number) or self._make(k, number)
                spent[who] = spent.get(who, 0.0) + call.seconds
                found.append(call)
                if self._progress is not None:
                    self._progress(RaceProgress(len(found), most * len(self._tasks), *who))
        if self._store is not None:
            self._store.mark_finished(self._stored)
        return found

    def _make(self, k: int, number: int) -> SamplerCall:
        task = self._tasks[k]
        if task.contestant.name not in self._is_warm:
            task.contestant.warm_up()
            self._is_warm.add(task.contestant.name)
        call = task.call(number)
        if self._store is not None:
            self._store.add_batch(self._stored[k], number, rows_of_calls([call], task.kind))
        return call


def _held(store: Store, stored: StoredTask, task: SamplerTask) -> dict[int, SamplerCall]:
    """Return the stored calls of a task by their numbers; raise if one of them is damaged."""
    rows = store.rows(stored)
    try:
        found = {
            row["instance"]: SamplerCall(
                task.contestant.name, task.problem.name, row["instance"], row["seconds"],
                row["reads"], _energies(row["energies"], task, bool(row["fault"]), row["reads"]),
                row["fault"], row["seed"], **circumstances(row),
            )
            for row in rows_of(rows)
        }  # fmt: skip
    except (ValueError, RecursionError, OverflowError) as error:
        raise damaged(store.path, error) from None
    return found


def _energies(text: str, task: SamplerTask, is_fault: bool, reads: int) -> Any:
    values, kind = json.loads(text), task.problem.problem.weights.dtype
    wanted = int if kind == np.int64 else float
    if not isinstance(values, list) or not all(type(value) is wanted for value in values):
        raise ValueError("the energies of a call are not a list of numbers")
    energies = np.array(values, kind)
    least = -np.inf if task.problem.optimum is None else task.problem.optimum
    if len(energies) != (0 if is_fault else reads) or reads != (task.contestant.reads or 1):
        raise ValueError(f"a call with {reads} reads cannot have {len(energies)} energies")
    if not np.isfinite(energies).all() or (energies < least - task.problem.rounding).any():
        raise ValueError("a call has an energy that is not finite or is below the proven optimum")
    return np.sort(energies)


def _reserve(store: Store, rng: RngLike) -> Seed:
    """Return the seed of a store's race; if the store is new, record the given seed in it."""
    noted = store.reserve(purpose.SAMPLER_RACE)
    if noted is None:
        seed = Seed.of(rng)
        store.note(NOTE, json.dumps({"seed": _seed_values(seed)}))
        return seed
    try:
        entropy, path = json_object(noted, "the race")["seed"]
        held = Seed(validation.count(entropy, "seed"),
                    tuple(validation.count(one, "seed") for one in path))  # fmt: skip
    except (ValueError, TypeError, KeyError) as fault:
        raise damaged(store.path, fault) from None
    if rng is not None and Seed.of(rng) != held:
        raise OtherSettingsError(
            f"{store.path} contains a race with rng={held.number}; remove rng, or use another store"
        )
    return held


def _refuse_others(store: Store, entered: list[Contestant]) -> None:
    """Raise if the store contains calls of a different sampler with the same name."""
    named = {one.name: one.described() for one in entered}
    for task in store.tasks():
        if task.kind != SAMPLER_RACE.name:
            continue
        try:
            held = task.table("solver")
            mine = named.get(held["name"], held)
            changed = [key for key in ("what", "parameters") if held[key] != mine[key]]
        except (ValueError, TypeError, KeyError) as fault:
            raise damaged(store.path, fault) from None
        if changed:
            what = {"what": "class or function", "parameters": "parameters"}[changed[0]]
            raise StoreError(
                f"{store.path} contains calls of a sampler {held['name']} that differs in its "
                f"{what}; choose another name, or use a new store"
            )


def _seed_values(seed: Seed) -> list[Any]:
    return [seed.entropy, list(seed.spawn_key)]


def _refuse_many(asked: list[tuple[str, int | None]]) -> None:
    for name, reads in asked:
        if (reads or 1) > _MOST_STORED:
            raise ValueError(
                f"{name} has {reads} reads per call, but a store can contain at most "
                f"{_MOST_STORED}; use fewer reads and more calls"
            )


def _name_of(suite: SuiteLike) -> str:
    if isinstance(suite, Suite):
        return suite.name
    return Path(suite).name if isinstance(suite, (str, Path)) else "problems"
