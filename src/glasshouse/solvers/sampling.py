"""Sampling of states at given temperatures by parallel tempering, and tests for equilibrium."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import announces
from glasshouse.problems import FloatArray, SpinArray, validation
from glasshouse.problems.elementary import exponentials
from glasshouse.randomness import RngLike, Seed
from glasshouse.solvers.annealing import key_of
from glasshouse.solvers.crew import steps_at_once
from glasshouse.solvers.engine import signs
from glasshouse.solvers.engines import make_ready
from glasshouse.solvers.kernels import driver
from glasshouse.solvers.ladder import STAGES, LadderPlan
from glasshouse.solvers.replicas import LANES, LaneTask, TemperTask
from glasshouse.solvers.schedule import Beta, default_range, inverse_temperatures, sweep_count
from glasshouse.solvers.spin_form import Solvable, SpinForm
from glasshouse.statistics.intervals import student_reach
from glasshouse.statistics.samples import Estimate
from glasshouse.summaries import Summarised, SummaryTable

FALSE_ALARMS = 0.01  # the probability that the drift test rejects equilibrium, all β together
WIDEST = 1.1  # the largest ratio, in equilibrium, of the spreads between runs and within runs
_MOST_BETAS, _MOST_BYTES = 256, 1 << 30


@dataclass(frozen=True, eq=False, repr=False)
class ThermalSamples(Summarised):
    """States sampled at several temperatures, with statistics and equilibrium tests.

    Attributes:
        betas: the requested inverse temperatures, ascending.
        states: int8, (betas, runs, chains, draws, variables), in the problem's own values. Chains
            of a run exchange clusters of spins; runs are independent.
        energies: (betas, runs, chains, draws), the energies of the states.
        overlaps: (betas, runs, pairs, draws), the overlaps of chains 0 and 1, 2 and 3, … of a run:
            the mean of the products of their spins.
        sweeps: the number of sweeps of each replica, of which the second half is sampled.
        every: the number of sweeps between two draws.
        ladder: all inverse temperatures of the tempering, ascending.
        seed: the seed that reproduces the samples.

    >>> from glasshouse.problems import Ising
    >>> found = sample(Ising.from_edges(2, [(0, 1)], [1]), [0.1, 0.5], sweeps=400, runs=4, rng=1)
    >>> [one[0].confidence for one in (found.energy(), found.specific_heat(), found.binder())]
    [0.95, 0.95, 0.95]
    >>> found.overlap_counts().shape, found.autocorrelation.shape, found.equilibrated.shape
    ((2, 3), (2,), (2,))
    >>> len(found.summary().splitlines())
    2
    """

    betas: FloatArray
    states: SpinArray
    energies: npt.NDArray[Any]
    overlaps: FloatArray
    sweeps: int
    every: int
    ladder: FloatArray
    seed: Seed

    @property
    def autocorrelation(self) -> FloatArray:
        """The integrated autocorrelation time at each β, in sweeps.

        It is the larger of the times of the energy and of q², and at least `every` sweeps.
        """
        times = [
            max(_autocorrelation(energies), _autocorrelation(squares))
            for energies, squares in zip(self.energies, self.overlaps**2, strict=True)
        ]
        return self.every * np.array(times)

    @property
    def equilibrated(self) -> npt.NDArray[np.bool_]:
        """For each β, whether the samples pass two tests of equilibrium.

        The first test compares the two halves of the draws, for energy and q², by Student's test
        over the runs. In equilibrium, it fails in 1 % of all calls, all β together. The second test
        compares the spread between runs with the spread within runs (Gelman and Rubin's ratio): a
        frozen run does not drift, but differs from other runs. No test can prove equilibrium.
        """
        series = (self.energies.astype(np.float64), self.overlaps**2)
        limit = 1 - FALSE_ALARMS / (2 * len(self.betas))
        return np.array([
            all(_has_no_drift(one[k], limit) and _is_mixed(one[k]) for one in series)
            for k in range(len(self.betas))
        ])  # fmt: skip

    def energy(self, confidence: float = 0.95) -> list[Estimate]:
        """Return the mean energy at each β, with an interval from the spread between runs."""
        means = self.energies.mean(axis=(2, 3), dtype=np.float64)
        return [_jackknifed(run[:, None], lambda m: m[0], confidence) for run in means]

    def specific_heat(self, confidence: float = 0.95) -> list[Estimate]:
        """Return the specific heat β² (⟨E²⟩ - ⟨E⟩²) per variable and its interval, at each β."""
        size = self.states.shape[-1]
        found = []
        for beta, energies in zip(self.betas, self.energies.astype(np.float64), strict=True):
            shifted = energies - energies.mean()  # squares of large numbers would be rounded
            moments = np.stack([shifted, shifted**2]).mean(axis=(2, 3)).T
            factor = float(beta) ** 2 / size
            found.append(
                _jackknifed(moments, lambda m, f=factor: f * (m[1] - m[0] ** 2), confidence)
            )
        return found

    def binder(self, confidence: float = 0.95) -> list[Estimate]:
        """Return the Binder ratio (3 - ⟨q⁴⟩/⟨q²⟩²)/2 and its interval, at each β."""
        moments = np.stack([self.overlaps**2, self.overlaps**4]).mean(axis=(3, 4))
        return [
            _jackknifed(run.T, lambda m: (3 - m[1] / m[0] ** 2) / 2, confidence)
            for run in moments.swapaxes(0, 1)
        ]

    def overlap_counts(self) -> npt.NDArray[np.int64]:
        """Return histograms of the overlap q from -1 to 1: an array (betas, variables + 1)."""
        size = self.states.shape[-1]
        steps = np.rint((self.overlaps + 1) * size / 2).astype(np.int64)
        return np.stack([np.bincount(one.reshape(-1), minlength=size + 1) for one in steps])

    def _summary_table(self) -> SummaryTable:
        columns = (
            [f"{beta:.4g}" for beta in self.betas],
            *(map(str, means) for means in (self.energy(), self.specific_heat(), self.binder())),
            [f"{time:.3g}" for time in self.autocorrelation],
            ["yes" if is_equilibrated else "no" for is_equilibrated in self.equilibrated],
        )
        rows = list(zip(*columns, strict=True))
        head = ("β", "energy", "specific heat", "Binder ratio", "autocorrelation", "equilibrated")
        return SummaryTable(rows, head)

    def summary(self) -> str:
        """Return the statistics as text, with one line for each β."""
        return "\n".join(" ".join(row) for row in self._summary_table().rows)

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.states.shape[1:4]))
        return f"ThermalSamples({len(self.betas)} temperatures, {shape} runs, chains and draws)"


@announces("tempering")
def sample(
    problem: Solvable,
    beta: float | Beta,
    *,
    sweeps: int = 2000,
    runs: int = 8,
    draws: int = 200,
    rng: RngLike = None,
) -> ThermalSamples:
    """Draw states from the Boltzmann distribution exp(-β E) at given inverse temperatures.

    Replicas at a ladder of temperatures exchange their states (see `temper`). The ladder contains
    the requested and warmer temperatures, so that cold replicas do not get stuck. The first half of
    the sweeps is not sampled. The result contains tests of equilibrium.

    Args:
        problem: any problem, a plant, or a dimod model.
        beta: one or more inverse temperatures.
        sweeps: the number of sweeps of each replica, at least 2.
        runs: the number of independent runs, at least 2; intervals come from their spread.
        draws: the number of draws of each chain at each temperature, at most half of `sweeps`.
        rng: a seed, or anything that numpy.random.default_rng takes.

    >>> from glasshouse.problems import Ising
    >>> pair = Ising.from_edges(2, [(0, 1)], [1])
    >>> found = sample(pair, 0.5, sweeps=2000, runs=16, rng=1)
    >>> exact = -math.tanh(0.5)
    >>> found.energy(0.9999)[0].low < exact < found.energy(0.9999)[0].high
    True
    >>> bool(found.equilibrated[0])
    True
    """
    form = SpinForm(problem, any_degree=True)
    if form.ising.num_variables != form.problem.num_variables:
        raise ValueError(
            "terms of three or more variables need tables that are too large, and ancillas would "
            "change the distribution of the states; sample an Ising problem instead"
        )
    sweeps, runs = sweep_count(sweeps), validation.count(runs, "runs", 2)
    if sweeps < 2:
        raise ValueError(f"sweeps={sweeps} must be at least 2: only the second half is sampled")
    asked = np.unique(validation.inverse_temperatures(np.atleast_1d(np.asarray(beta, float))))
    if len(asked) > _MOST_BETAS:
        raise ValueError(f"beta has {len(asked)} temperatures, but may have at most {_MOST_BETAS}")
    draws = min(validation.count(draws, "draws", 1), sweeps // 2)
    seed, wanted = Seed.of(rng), form.beta(asked)
    assert wanted is not None
    task, betas = _tempering(form, wanted, sweeps, key_of(seed))
    chains = task.ladders if isinstance(task, LaneTask) else 2
    shape = (len(asked), runs, chains, draws, form.ising.num_variables)
    if math.prod(shape) > _MOST_BYTES:
        raise ValueError(
            f"the states need {math.prod(shape)} bytes, but the limit is {_MOST_BYTES} bytes; use "
            "fewer runs or draws"
        )
    spins = np.empty(shape, np.int8)
    free = np.setdiff1d(np.arange(shape[-1]), task.engine.order)
    dice = np.random.default_rng(seed.child(0).sequence())
    if len(free):  # spins without neighbours and fields are not in the tables of a kernel
        spins[..., free] = 2 * dice.integers(0, 2, (*shape[:-1], len(free)), np.int8) - 1
    every = (sweeps - sweeps // 2) // draws
    levels = np.searchsorted(betas, wanted)
    for index, block in enumerate(_blocks(task, spins)):
        _run(task, index, sweeps, every, levels, block)
    for place, hot in enumerate(wanted):
        if 2 * hot * float(form.ising.total_weight) <= 1:
            _redraw(form.ising, float(hot), dice, spins[place].reshape(-1, shape[-1]))
    flat = form.own_states(spins.reshape(-1, shape[-1]))
    energies = np.asarray(form.energies_of_runs(flat)).reshape(shape[:-1])
    pairs = spins[:, :, 0::2].astype(np.int32), spins[:, :, 1::2]
    overlaps = np.einsum("...i,...i->...", *pairs) / shape[-1]
    own = flat.reshape(*shape[:-1], -1)
    return ThermalSamples(
        asked, own, energies, overlaps, sweeps, every, form.own_betas(betas), seed
    )


def _tempering(
    form: SpinForm, wanted: FloatArray, sweeps: int, key: npt.NDArray[np.uint64]
) -> tuple[TemperTask, FloatArray]:
    """Return a tempering job, and its ladder of β, which includes all β in `wanted`."""
    ready = make_ready(form)
    _, engine = ready.engine()
    plan = LadderPlan(form, engine, key, None)
    coldest = float(wanted[-1])
    hottest, _ = default_range(ready.graph)
    if coldest > 0:
        ends = (min(hottest, coldest / 2), coldest)
        grid = inverse_temperatures(ready.graph, ends, STAGES, "geometric")
        seen = plan.warm_up(grid)
        if plan.stopped is not None:
            raise KeyboardInterrupt
        plan.choose(grid, seen)
        betas = np.unique(np.concatenate([plan.betas, wanted]))
        plan.choose(grid, seen, betas, len(betas))
    else:  # infinite temperature alone, but a ladder needs two temperatures
        betas = np.array([0.0, hottest])
        plan.choose(betas, None, betas, 2)
    return plan.task(sweeps, engine.goal(None, form.ising)), betas


def _blocks(task: TemperTask, spins: SpinArray) -> Iterator[SpinArray]:
    """Yield, for each successive block of a kernel, the slice of `spins` that it fills."""
    runs = spins.shape[1]
    if not isinstance(task, LaneTask) and task.engine.lanes == 1:  # one chain in a block
        yield from (spins[:, k // 2 : k // 2 + 1, k % 2 : k % 2 + 1] for k in range(2 * runs))
        return
    lanes = 1 if isinstance(task, LaneTask) else task.engine.lanes // 2
    yield from (spins[:, first : first + lanes] for first in range(0, runs, lanes))


def _redraw(problem: Any, beta: float, dice: np.random.Generator, states: SpinArray) -> None:
    """Replace states at a high temperature with independent draws by rejection sampling.

    Metropolis accepts nearly all flips there, so that all spins flip in each sweep and the state
    alternates with its reverse. On average, at most exp(1) states are drawn for each kept state.
    """
    # Energies differ from the offset by at most the total weight.
    most, left = float(problem.total_weight), np.arange(len(states))
    while len(left):
        fresh = 2 * dice.integers(0, 2, (len(left), states.shape[1]), np.int8) - 1
        excess = np.asarray(problem.energy(fresh), np.float64) - float(problem.offset) + most
        kept = dice.random(len(left)) < exponentials(-beta * np.maximum(excess, 0.0))
        states[left[kept]] = fresh[kept]
        left = left[~kept]


def _run(
    task: TemperTask, index: int, sweeps: int, every: int, levels: Any, into: SpinArray
) -> None:
    """Temper one block; at each draw, write the spins at the given levels of the ladder.

    `into` is (levels, runs, chains, draws, spins). Signals are handled every few milliseconds.
    """
    work, done, at_once = task.start(index), 0, steps_at_once(task.cost)
    draws = into.shape[3]
    for draw in range(draws):
        until = sweeps - (draws - 1 - draw) * every
        while done < until:
            done = task.advance(work, done, min(done + at_once, until))
        for place, level in enumerate(levels):
            drawn = _spins(task, work, int(level), into.shape[1] * into.shape[2])
            into[place, :, :, draw, task.engine.order] = drawn.reshape(-1, *into.shape[1:3])


def _spins(task: TemperTask, work: Any, level: int, number: int) -> npt.NDArray[np.int8]:
    """Return the spins of the chains at one level of the ladder, with one row per site."""
    if isinstance(task, LaneTask):
        ladders, sites = work[0], len(task.engine.order)
        lanes = ladders.places[:, level]
        rows = ladders.spins.reshape(len(ladders.spins), -1, 2 * LANES)
        return signs(rows[lanes // LANES, :sites, lanes % LANES].T.copy())
    replicas, block = work[0], task.engine.new_block()
    block = block._replace(
        generator=replicas.generators[level], spins=replicas.spins[level],
        energies=replicas.energies[level],
    )  # fmt: skip
    block.lowest[:], block.goals[:] = -(block.never + 1), block.never  # all spins must be kept
    driver.look_at_block(task.engine.tables, 0, block)
    kept = block.states.reshape(len(task.engine.order), -1)
    return signs(np.ascontiguousarray(kept[:, :number]))


# Statistics of series: (runs, chains, draws) -----------------------------------------------------


def _jackknifed(runs: FloatArray, function: Any, confidence: float) -> Estimate:
    """Evaluate a function of means over runs, and return it with a jackknife interval."""
    number = len(runs)
    total = runs.sum(axis=0)
    value = float(function(total / number))
    without = np.array([function((total - run) / (number - 1)) for run in runs])
    error = math.sqrt(max((number - 1) * float(without.var()), 0.0))
    reach = student_reach(number - 1, confidence) * error
    return Estimate(value, value - reach, value + reach, confidence)


def _autocorrelation(series: npt.NDArray[Any]) -> float:
    """Return the integrated autocorrelation time in draws, which is 1 for independent draws."""
    rows = np.asarray(series, float).reshape(-1, series.shape[-1])
    rows = rows - rows.mean()  # one mean for all: the runs have one distribution
    length = rows.shape[-1]
    spectrum = np.fft.rfft(rows, 2 * length)
    sums = np.fft.irfft(np.abs(spectrum) ** 2).mean(axis=0)[:length]
    covariance = sums / np.arange(length, 0, -1)
    if covariance[0] <= 0:
        return 1.0
    times = 2 * np.cumsum(covariance / covariance[0]) - 1
    window = np.arange(length) >= 5 * times  # Sokal's window
    return max(1.0, float(times[np.argmax(window)] if window.any() else times[-1]))


def _has_no_drift(series: FloatArray, limit: float) -> bool:
    """Return whether the two halves of the draws agree in a two-sided t-test over the runs."""
    half = series.shape[-1] // 2
    if not half:
        return True
    shifts = series[..., half:].mean(axis=(1, 2)) - series[..., :half].mean(axis=(1, 2))
    spread = float(shifts.std(ddof=1)) / math.sqrt(len(shifts))
    return abs(float(shifts.mean())) <= student_reach(len(shifts) - 1, limit) * spread + 1e-12


def _is_mixed(series: FloatArray) -> bool:
    """Return whether the spread between runs is hardly larger than the spread within runs."""
    rows = series.mean(axis=1)  # a run's chains share their ladder
    within = float(rows.var(axis=1, ddof=1).mean()) if rows.shape[1] > 1 else 0.0
    between = float(rows.mean(axis=1).var(ddof=1))
    if between <= 1e-24:
        return True
    length = rows.shape[1]
    return within > 0 and math.sqrt((length - 1) / length + between / within) <= WIDEST
