"""The methods used by `minimise`: annealing, refining and tempering, all in small steps.

Each method is a generator that never ends. It works for a few milliseconds between two steps, and
offers the best states that it finds.

* anneal: random states are annealed, with twice as many sweeps each time.
* refine: a population is annealed. Then its states are recombined in pairs, heated to about a
  third of the hottest temperature and annealed again, until the mean energy stops falling. The
  next population gets twice as many sweeps.
* temper: one run of parallel tempering that never ends.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from itertools import cycle
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.problems import FloatArray
from glasshouse.problems.elementary import geometric
from glasshouse.solvers.crew import CHUNK_SECONDS, steps_at_once
from glasshouse.solvers.engines import Ready
from glasshouse.solvers.kernels import driver, sweep_order
from glasshouse.solvers.kernels.block import LaneBlock
from glasshouse.solvers.kernels.recombination import Sites, recombine
from glasshouse.solvers.ladder import STAGES, LadderPlan
from glasshouse.solvers.schedule import MOST_SWEEPS as MOST_TEMPERED
from glasshouse.solvers.schedule import default_range, inverse_temperatures
from glasshouse.solvers.spin_form import SpinForm

MOST_SWEEPS = 1 << 20  # sweeps of one cooling, because all its inverse temperatures are in memory
# The coldest β in units of the hottest β. Normal weights have very weak local fields, and their
# coldest β is used only in the last sweeps: at this β, nearly all spins are frozen.
_RANGE = 40
_COLD = 16  # energies are measured in the last sixteenth of the sweeps


class Population(NamedTuple):
    """A population of states: spins in the order of the sites, and energies without the offset."""

    states: npt.NDArray[np.uint8]  # 0 is up, 255 is down
    energies: npt.NDArray[Any]

    @property
    def best(self) -> tuple[Any, npt.NDArray[np.uint8]]:
        """The lowest energy of the population, and a state with this energy."""
        best = int(np.argmin(self.energies))
        return self.energies[best], self.states[best]


Steps: TypeAlias = Generator[None, None, None]
Cooled: TypeAlias = Generator[None, None, Population]


class Cooler:
    """An annealer for populations of states, with a new random stream for each block.

    Args:
        ready: the problem's graph and engines.
        key: four random words, from which all streams are derived.
        clock: a function that returns seconds, to measure the speed of sweeps.
    """

    def __init__(
        self, ready: Ready, key: npt.NDArray[np.uint64], clock: Callable[[], float]
    ) -> None:
        self.kernel, self.engine = ready.engine()
        self.key, self.clock, self.streams = key, clock, 0
        self.hot, self.last = default_range(ready.graph)
        self.cold = min(self.last, _RANGE * self.hot)
        self.block: LaneBlock = self.engine.new_block()
        chunk = steps_at_once(self.engine.cost)
        self.chunk = chunk
        self.seconds_per_sweep = CHUNK_SECONDS / chunk  # until it has been measured
        self.even = not ready.graph.problem.fields.any()
        self.ready = ready
        self._sites: Sites | None = None

    @property
    def sites(self) -> Sites:
        """The graph on which states are recombined; it is created on first use."""
        if self._sites is None:
            graph, order = self.ready.graph, self.engine.order
            starts, neighbours, weights = sweep_order.arrange(
                order, graph.starts, graph.neighbours, graph.weights
            )
            marks, members = np.zeros(len(order) + 1, np.uint8), np.zeros(len(order), np.int32)
            self._sites = Sites(starts, neighbours, weights, marks, members)
        return self._sites

    def cool(self, beta: float, sweeps: int, size: int, start: Population | None = None) -> Cooled:
        """Anneal a population step by step, from the inverse temperature `beta` to the largest one.

        Args:
            beta: the first inverse temperature.
            sweeps: the number of sweeps of each state, at most `MOST_SWEEPS`.
            size: the number of states, rounded up to whole blocks; 0 means one block.
            start: the states to start from; random states if None.
        """
        engine, lanes = self.engine, self.engine.lanes
        blocks = max(-(-size // lanes), 1)
        states = np.empty((blocks * lanes, len(engine.order)), np.uint8)
        energies = np.empty(blocks * lanes, self.ready.graph.weights.dtype)
        betas = self.schedule(beta, sweeps)
        for rows in (slice(k * lanes, (k + 1) * lanes) for k in range(blocks)):
            driver.start_block(engine.tables, self.key, self.streams, engine.never, self.block)
            self.streams += 1
            if start is not None:
                engine.load(self.block, start.states[rows], start.energies[rows])
            yield from self._sweep(betas)
            states[rows] = self.block.states.reshape(-1, lanes).T
            energies[rows] = self.block.lowest
        return Population(states, energies)

    def schedule(self, beta: float, sweeps: int) -> FloatArray:
        """Return one β for each sweep, rising from `beta` to the largest β."""
        cold = max(sweeps // _COLD, 1) if self.last > self.cold else 0
        ends = geometric(self.cold, self.last, cold) if cold > 1 else np.array([self.last])[:cold]
        most = sweeps - cold
        begin = geometric(beta, self.cold, most) if most > 1 else np.array([self.cold])[:most]
        return np.concatenate([begin, ends])

    def _sweep(self, betas: FloatArray) -> Steps:
        """Do one sweep of the block at each β."""
        sweeps, lanes, block = len(betas), self.engine.lanes, self.block
        blind, done = sweeps - max(sweeps // _COLD, 1), 0
        while done < sweeps:
            until, began = min(done + self.chunk, sweeps), self.clock()
            driver.anneal_block(
                self.engine.tables, betas[done:until], done, blind, lanes, block
            )  # fmt: skip
            took = (self.clock() - began) / (until - done)
            self.seconds_per_sweep += (took - self.seconds_per_sweep) / 4
            done = until
            yield

    def seen_so_far(self) -> Population:
        """Return the best states of the unfinished block, for a search that is stopped."""
        driver.look_at_block(self.engine.tables, 0, self.block)
        lanes = self.engine.lanes
        states = np.ascontiguousarray(self.block.states.reshape(-1, lanes).T)
        return Population(states, self.block.lowest.astype(self.ready.graph.weights.dtype))

    def recombine(self, people: Population, partners: Any) -> Steps:
        """Improve each state by taking from its partner the spin clusters that lower its energy.

        Args:
            people: the states, which are changed in place, one state per step.
            partners: a partner for each state.
        """
        for k in range(len(people.states)):
            change = recombine(people.states[k], partners[k], self.even, self.sites)
            people.energies[k : k + 1] += change  # on an array, where integers wrap around and back
            yield


# A function that takes an energy and its state, both in the kernels' form.
Offer: TypeAlias = Callable[[Any, npt.NDArray[np.uint8]], None]
# A function that returns the seconds that a method will get of the remaining time.
Prospect: TypeAlias = Callable[[], float]

_FIRST = 16  # the number of sweeps of the first cooling
_POPULATION = 64  # the number of states that are refined together
# Heated states start at the hottest β times one of these factors, which populations use in turn.
# The second was the best factor for tori and very sparse graphs of the G-set, the third for denser
# graphs, and the first for a 3D lattice of normal weights.
_HEATS = (3.0, 2.4, 3.8)
_SHORTER = 2  # heated states get half of the sweeps of random states
_PATIENCE = 4  # failures in a row to lower the mean energy after which refining ends
_COOLINGS = 6  # refining a population takes at least as long as 6 coolings of random states
_CHAMPIONS = 16  # the number of best states kept from earlier populations
_ROUNDING = 1e-9


def annealing(cooler: Cooler, offer: Offer, prospect: Prospect) -> Steps:
    """Anneal random states repeatedly, doubling the number of sweeps each time."""
    sweeps = _FIRST
    while True:
        length = _fitting(sweeps, cooler, prospect(), 1)
        found = yield from cooler.cool(cooler.hot, length, 0)
        offer(*found.best)
        sweeps = min(2 * sweeps, MOST_SWEEPS)


def refining(cooler: Cooler, offer: Offer, prospect: Prospect, rng: np.random.Generator) -> Steps:
    """Anneal populations of states, and refine each of them until its mean energy settles."""
    sweeps, champions = _FIRST, np.empty((0, len(cooler.engine.order)), np.uint8)
    for heat in cycle(_HEATS):
        blocks = max(_POPULATION // cooler.engine.lanes, 1)
        length = _fitting(sweeps, cooler, prospect(), blocks * _COOLINGS)
        people = yield from cooler.cool(cooler.hot, length, _POPULATION)
        offer(*people.best)
        warm = min(heat * cooler.hot, cooler.cold)
        people = yield from _refined(cooler, offer, rng, people, warm, length)
        champion = Population(people.states[:1], people.energies[:1])
        for other in champions:
            yield from cooler.recombine(champion, [other])
        offer(*champion.best)
        champions = np.concatenate([champion.states, champions])[:_CHAMPIONS]
        sweeps = min(2 * sweeps, MOST_SWEEPS)


def _refined(
    cooler: Cooler,
    offer: Offer,
    rng: np.random.Generator,
    people: Population,
    warm: float,
    length: int,
) -> Cooled:
    """Recombine, heat and cool a population until its mean energy settles; then sort it.

    Args:
        cooler: the cooler that annealed the population.
        offer: a function that is called with the best state after each change.
        rng: the generator of the pairs.
        people: the population, which is changed in place.
        warm: the inverse temperature of heated states.
        length: the number of sweeps of the first annealing of the population.
    """
    sweeps, failures = max(length // _SHORTER, 1), 0
    while failures < _PATIENCE:
        mean = people.energies.mean()
        partners = people.states[rng.permutation(len(people.states))]
        yield from cooler.recombine(people, partners)
        offer(*people.best)
        heated = yield from cooler.cool(warm, sweeps, len(people.states), people)
        yield from cooler.recombine(heated, people.states)
        # Except for rounding, recombination with its own past does not make a state worse.
        is_worse = heated.energies > people.energies
        heated.states[is_worse] = people.states[is_worse]
        people = Population(heated.states, np.minimum(heated.energies, people.energies))
        offer(*people.best)
        has_helped = people.energies.mean() < mean - _ROUNDING * abs(mean)
        failures = 0 if has_helped else failures + 1
    best_first = np.argsort(people.energies, kind="stable")
    return Population(people.states[best_first], people.energies[best_first])


def tempering(form: SpinForm, ready: Ready, key: npt.NDArray[np.uint64], offer: Offer) -> Steps:
    """Run parallel tempering indefinitely, after a warm-up that chooses the ladder."""
    _, engine = ready.engine()
    plan = LadderPlan(form, engine, key, None)
    grid = inverse_temperatures(ready.graph, None, STAGES, "geometric")
    warm_up = plan.warm_up_job(grid)
    work, chunk = warm_up.start(0), steps_at_once(warm_up.cost)
    for done in range(0, warm_up.length, chunk):
        warm_up.advance(work, done, min(done + chunk, warm_up.length))
        yield
    plan.choose(grid, warm_up.observed())
    number = 0
    while True:  # restarts once in two billion sweeps
        task: Any = plan.task(MOST_TEMPERED, engine.never)
        run, chunk, done = task.start(number), steps_at_once(task.cost), 0
        block = task.block(run)
        while done < task.length:
            done = task.advance(run, done, min(done + chunk, task.length))
            lane = int(np.argmin(block.lowest))
            state = block.states.reshape(-1, len(block.lowest))[:, lane]
            offer(block.lowest[lane], state)
            yield
        number += 1


def _fitting(sweeps: int, cooler: Cooler, seconds: float, coolings: int) -> int:
    """Return `sweeps`, or fewer if `coolings` annealings would not fit into `seconds`."""
    possible = seconds / (coolings * cooler.seconds_per_sweep)
    return max(1, int(min(sweeps, possible)))
