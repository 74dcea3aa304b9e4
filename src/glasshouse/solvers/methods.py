"""The methods that share a time limit: annealing, refining and tempering, all in small steps.

Each method is a generator that never ends. It works for a few milliseconds between two steps, and
offers the best states that it finds.

* anneal: random states are annealed, with twice the sweeps each time.
* refine: a population is annealed; then its states are recombined in pairs, heated to about a
  third of the hottest temperature and annealed again, until that does not help any more. The next
  population gets twice the sweeps.
* temper: one run of parallel tempering that never ends.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.solvers.cooling import MOST_SWEEPS, Cooled, Cooler, Population, Steps
from glasshouse.solvers.crew import steps_at_once
from glasshouse.solvers.engines import Ready
from glasshouse.solvers.ladder import STAGES, LadderPlan
from glasshouse.solvers.schedule import MOST_SWEEPS as MOST_TEMPERED
from glasshouse.solvers.schedule import inverse_temperatures
from glasshouse.solvers.spin_form import SpinForm

# Takes a state and its energy, both as kernels have them.
Offer: TypeAlias = Callable[[Any, npt.NDArray[np.uint8]], None]
# Returns the seconds that a method will get from now on, of those that are left to all methods.
Prospect: TypeAlias = Callable[[], float]

_FIRST = 16  # sweeps of the first cooling
_POPULATION = 64  # states that are refined together
# Heated states start at the hottest β times one of these, a different one for each population. Tori
# and very sparse graphs of the G-set did best with the second, denser graphs with the third, a 3D
# lattice of normal weights with the first.
_HEATS = (3.0, 2.4, 3.8)
_SHORTER = 2  # heated states get half of the sweeps that random ones got
_PATIENCE = 4  # times that heating may fail to lower the mean energy
_COOLINGS = 6  # an epoch of refining takes at least as long as so many coolings of random states
_CHAMPIONS = 16  # best states of earlier populations that are kept
_ROUNDING = 1e-9


def annealing(cooler: Cooler, offer: Offer, prospect: Prospect) -> Steps:
    """Anneal random states again and again, for longer and longer."""
    sweeps = _FIRST
    while True:
        length = _fitting(sweeps, cooler, prospect(), 1)
        found = yield from cooler.cool(cooler.hot, length, 0)
        offer(*found.best)
        sweeps = min(2 * sweeps, MOST_SWEEPS)


def refining(cooler: Cooler, offer: Offer, prospect: Prospect, rng: np.random.Generator) -> Steps:
    """Anneal populations, and refine each until that does not help any more."""
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
    """Recombine, heat and cool a population until its mean energy falls no more; best first.

    Args:
        cooler: the cooler that annealed the population.
        offer: takes the best state each time.
        rng: chooses the pairs.
        people: the population, which is changed.
        warm: the inverse temperature of heated states.
        length: the sweeps that the population had when its states were random.
    """
    sweeps, failures = max(length // _SHORTER, 1), 0
    while failures < _PATIENCE:
        mean = people.energies.mean()
        partners = people.states[rng.permutation(len(people.states))]
        yield from cooler.recombine(people, partners)
        offer(*people.best)
        heated = yield from cooler.cool(warm, sweeps, len(people.states), people)
        yield from cooler.recombine(heated, people.states)
        # Rounding apart, a heated state that was recombined with its own past is not worse.
        is_worse = heated.energies > people.energies
        heated.states[is_worse] = people.states[is_worse]
        people = Population(heated.states, np.minimum(heated.energies, people.energies))
        offer(*people.best)
        has_helped = people.energies.mean() < mean - _ROUNDING * abs(mean)
        failures = 0 if has_helped else failures + 1
    best_first = np.argsort(people.energies, kind="stable")
    return Population(people.states[best_first], people.energies[best_first])


def tempering(form: SpinForm, ready: Ready, key: npt.NDArray[np.uint64], offer: Offer) -> Steps:
    """Temper without end, after a warm-up that chooses the ladder."""
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
    while True:  # once in two billion sweeps
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
    """Return as many sweeps as are wanted, or as many as there is time for."""
    possible = seconds / (coolings * cooler.seconds_per_sweep)
    return max(1, int(min(sweeps, possible)))
