"""Minimisation within a time limit; several methods share the time according to their success."""

from __future__ import annotations

import contextvars
import math
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import announces
from glasshouse.problems import Labels, Number, SpinArray, Units, naming, validation
from glasshouse.randomness import RngLike, Seed
from glasshouse.solvers import methods
from glasshouse.solvers.annealing import key_of
from glasshouse.solvers.engines import Ready, make_ready
from glasshouse.solvers.methods import Cooler, Steps
from glasshouse.solvers.record import Ended, Improvement, Method, Record
from glasshouse.solvers.spin_form import Solvable, SpinForm, Target
from glasshouse.stopping import deferred, working_time
from glasshouse.summaries import Summarised
from glasshouse.waiting import LOOK_EVERY

_SLICE = 0.02  # seconds that a method works before the next method is chosen


@dataclass(frozen=True, eq=False, repr=False)
class Minimum(Summarised):
    """The best state found within a time limit.

    Attributes:
        energy: the energy of the state (the cost, for MAX-2-SAT), computed from the state.
        state: the best state, in the problem's own values.
        improvements: an entry for each state that was better than all earlier states: the seconds
            until it was found, its energy, and the method that found it.
        ended: the reason why the search ended: "target" (the target was reached), "bound" (no state
            can be better, because every coupling and every field is satisfied), "time limit" or
            "interrupted".
        target: the target energy, or None.
        seconds: the seconds that the search took, without compilation.
        shares: the seconds that each method worked, summed over all threads.
        kernel: the name of the kernel that was used.
        seed: the seed of the search. With the same seed, each method visits the same states in the
            same order, but the clock determines how far each method gets.
        labels: the problem's variable labels; None if the variables are 0, 1, 2, …

    >>> import glasshouse as gh
    >>> ring = gh.Ising.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [1, 1, 1, 1])
    >>> found = gh.minimise(ring, time_limit=10, rng=1)
    >>> found.energy, found.ended, found.is_optimal, len(found.sample())
    (-4, 'bound', True, 4)
    """

    energy: Number
    state: SpinArray
    improvements: tuple[Improvement, ...]
    ended: Ended
    target: Number | None
    seconds: float
    shares: dict[Method, float]
    kernel: str
    seed: Seed
    labels: Labels | None = None

    @property
    def is_optimal(self) -> bool:
        """Whether no state can have a lower energy: every coupling and field is satisfied."""
        return self.ended == "bound"

    @property
    def misses(self) -> bool:
        """Whether a target was given and the energy is above the target."""
        return self.target is not None and self.energy > self.target

    def sample(self, *, units: Units | None = None) -> dict[object, int]:
        """Return the state as a mapping from label to value.

        Args:
            units: "spin" for ±1, "binary" for 0 and 1; the problem's own by default.
        """
        return naming.sample_of(self.state, self.labels, units)

    def account(self) -> str:
        """Return how the best state was found, and how the time was divided, as text."""
        last = self.improvements[-1]
        spent = ", ".join(f"{name} {seconds:.3g} s" for name, seconds in self.shares.items())
        ends = {
            "target": "the target was reached",
            "bound": "no state can be better: every coupling and every field is satisfied",
            "time limit": "the time limit was reached",
            "interrupted": "interrupted by Ctrl-C",
        }
        return (
            f"found by {last.method} after {last.seconds:.3g} s; {ends[self.ended]}\n"
            f"{spent}; kernel {self.kernel}"
        )

    def summary(self) -> str:
        """Return the lowest energy, and how its state was found, as text."""
        return f"lowest energy found {self.energy}, {self.account()}"

    def __repr__(self) -> str:
        return f"Minimum(energy {self.energy}, {self.ended} after {self.seconds:.3g} s)"


@announces("annealing")
def minimise(
    problem: Solvable,
    *,
    time_limit: float | None,
    target: Target = "planted",
    rng: RngLike = None,
    threads: int = 1,
    improved: Callable[[Improvement, SpinArray], object] | None = None,
) -> Minimum:
    """Search for the best state by annealing, refining and tempering, within a time limit.

    Three methods take turns of a few hundredths of a second. The method with the lowest energy
    after equal times gets half of the time, and the other methods share the other half. So the
    search takes twice as long as the best method alone if that method leads from the start, and at
    most four times as long otherwise.

    *anneal* starts from random states, with 16, 32, 64, … sweeps. *refine* recombines, heats and
    cools a population of 64 annealed states; see `methods`. It is omitted on dense problems, where
    two states have no clusters to exchange. *temper* is one run of parallel tempering, which
    never ends.

    The whole time is used, unless the target is reached, or every coupling and field is satisfied.

    Args:
        problem: any problem, a plant, or a dimod model. Longer terms become pairs with ancillas.
        time_limit: the seconds, without compilation; None continues until the target or Ctrl-C.
        target: the energy at which the search ends; by default the energy of the plant, if a plant
            is given. None sets no target.
        rng: a seed, or anything that numpy.random.default_rng takes. The clock determines how far
            each method gets, so only the first states are the same in each call.
        threads: the number of simultaneous searches, each with its own random streams.
        improved: a function that is called with an `Improvement` and its state, in the caller's
            thread. Improvements that follow each other too fast are skipped, except for the last.

    Returns:
        A Minimum, even after Ctrl-C.

    >>> from glasshouse.planting import tiles2d
    >>> plant = tiles2d(8, p1="1/4", p2="1/2", rng=1)
    >>> found = minimise(plant, time_limit=60, rng=1)
    >>> found.energy == plant.energy, found.ended
    (True, 'target')
    """
    form = SpinForm(problem)
    target = form.wanted(target)
    form.target(target)  # raises if the target is not an energy
    threads = validation.count(threads, "threads", 1)
    limit = validation.time_limit(time_limit)
    seed, ready = Seed.of(rng), make_ready(form)
    kernel, engine = ready.engine()
    record = Record(form, engine, target, math.inf if limit is None else limit, working_time)
    searches = [Search(form, ready, seed.child(k), record) for k in range(threads)]
    _work(searches, record, improved)
    assert record.state is not None
    assert record.ended is not None
    shares = {name: sum(s.seconds[name] for s in searches) for name in searches[0].seconds}
    return Minimum(
        record.energy, record.state, tuple(record.improvements), record.ended, target,
        working_time() - record.began, shares, kernel, seed, form.problem.labels,
    )  # fmt: skip


def _work(
    searches: list[Search],
    record: Record,
    improved: Callable[[Improvement, SpinArray], object] | None,
) -> None:
    """Run the searches of all threads until they end, and report improvements in the meantime."""
    with ThreadPoolExecutor(len(searches)) as pool:
        futures = list[Future[None]]()
        reported = 0
        try:
            with deferred():
                for search in searches:
                    # The context of the caller's call announces what a thread compiles.
                    futures.append(pool.submit(contextvars.copy_context().run, search.run))
            pending = set(futures)
            while pending:
                # Ctrl-C in the middle of this block could leave a lock locked that threads need.
                with deferred():
                    record.changed.wait(LOOK_EVERY)
                    record.changed.clear()
                    timeout = 0 if record.ended is None else LOOK_EVERY
                    finished, pending = wait(pending, timeout, FIRST_EXCEPTION)
                    has_failed = any(future.exception() for future in finished)
                    found = len(record.improvements)
                    latest = record.latest() if found > reported else None
                if improved and latest is not None:
                    reported = found
                    improved(*latest)
                if has_failed:
                    break
        except KeyboardInterrupt:
            if record.state is None:
                raise
        finally:
            with deferred():
                record.end("interrupted")  # in any case, no thread continues
    with deferred():
        for future in futures:
            future.result()


class Search:
    """The search of one thread, in which several methods take turns."""

    def __init__(self, form: SpinForm, ready: Ready, seed: Seed, record: Record) -> None:
        self.record, clock = record, record.clock
        first, second, third = (seed.child(k) for k in range(3))
        self.cooler = Cooler(ready, key_of(first), clock)
        self.steps: dict[Method, Steps] = {
            "anneal": methods.annealing(
                self.cooler, self.offer_of("anneal"), self.prospect_of("anneal")
            )
        }
        if self.cooler.engine.spread is not None:  # populations can be heated again
            self.steps["refine"] = methods.refining(
                Cooler(ready, key_of(second), clock),
                self.offer_of("refine"),
                self.prospect_of("refine"),
                np.random.default_rng(second.sequence()),
            )
        self.steps["temper"] = methods.tempering(
            form, ready, key_of(third), self.offer_of("temper")
        )
        self.seconds: dict[Method, float] = dict.fromkeys(self.steps, 0.0)
        self.turns: dict[Method, float] = dict.fromkeys(self.steps, 0.0)
        # The improved energies of each method, with the seconds that it had worked by then.
        self.traces: dict[Method, list[tuple[float, Any]]] = {name: [] for name in self.steps}
        self.slice_began = 0.0

    def offer_of(self, method: Method) -> methods.Offer:
        """Return a function with which a method offers a state to the record."""

        def offer(energy: Any, state: npt.NDArray[np.uint8]) -> None:
            trace = self.traces[method]
            if not trace or energy < trace[-1][1]:
                own = self.seconds[method] + self.record.clock() - self.slice_began
                trace.append((own, energy))
                self.record.offer(method, energy, state)

        return offer

    def prospect_of(self, method: Method) -> methods.Prospect:
        """Return a function that estimates the seconds that a method will still get."""
        return lambda: self.share(method) * self.record.seconds_left()

    def leader(self) -> Method | None:
        """Return the method with the lowest energy after equal times; None if none has a state yet.

        All methods are compared at the time of the method that has worked least. Of two methods
        with equal energies, the faster method leads.
        """
        until = min(self.seconds.values())
        found: dict[Method, tuple[Any, float]] = {
            name: min((energy, own) for own, energy in trace if own <= until)
            for name, trace in self.traces.items()
            if trace and trace[0][0] <= until
        }
        return min(found.items(), key=lambda item: item[1])[0] if found else None

    def share(self, method: Method) -> float:
        """Return a method's fraction of the time: 1/2 for a leader, equal parts for the others."""
        leader = self.leader()
        if leader is None:
            return 1 / len(self.steps)
        return 0.5 if method == leader else 0.5 / (len(self.steps) - 1)

    def run(self) -> None:
        """Let the methods take turns until the search is over.

        The next method is always the method that is furthest below its fraction of the time.
        """
        self.work("anneal")
        while not self.record.is_over():
            self.work(min(self.turns, key=self.turns.__getitem__))
        if self.record.state is None:  # time was too short for a single cooling
            self.record.offer("anneal", *self.cooler.seen_so_far().best)

    def work(self, method: Method) -> None:
        """Let a method work for a slice of time, or for one step if the step takes longer."""
        clock = self.record.clock
        self.slice_began = clock()
        for _ in self.steps[method]:
            if clock() - self.slice_began >= _SLICE or self.record.is_over():
                break
        spent = clock() - self.slice_began
        self.seconds[method] += spent
        self.turns[method] += spent / self.share(method)
