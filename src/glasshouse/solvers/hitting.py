"""The number of sweeps until the planted energy is reached: the paper's N_tot (section 6.1)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import announces
from glasshouse.planting import Ensemble, Planted
from glasshouse.problems import FloatArray, IntArray, Ising, MaxSat, Polynomial, validation
from glasshouse.randomness import RngLike, Seed
from glasshouse.solvers.annealing import key_of
from glasshouse.solvers.crew import steps_at_once
from glasshouse.solvers.engines import choose_engine, network_of
from glasshouse.solvers.kernels import hitting
from glasshouse.solvers.kernels.block import spawn
from glasshouse.solvers.schedule import (
    AUTOMATIC_SWEEPS,
    Beta,
    PaperSchedule,
    Schedule,
    default_range,
    follows_paper,
    paper_schedule,
    rising,
    sweep_count,
)
from glasshouse.solvers.spin_form import Solvable, SpinForm
from glasshouse.stopping import deferred
from glasshouse.summaries import Summarised
from glasshouse.waiting import cancel_all, result_of

_CHUNK = 64  # instances that a thread processes at a time
_MOST_SWEEPS = 2**26  # sweeps of a run, because all inverse temperatures are in memory
_MOST_IN_ALL = 2**62  # sweeps of all runs: int64, with space for one more run


@dataclass(frozen=True, eq=False, repr=False)
class SweepsToSolution(Summarised):
    """Samples of N_tot: the total sweeps of successive runs until one reaches the ground energy.

    Attributes:
        totals: int64, (samples) for one instance, (instances, samples) for an ensemble; for a
            censored sample, the number of sweeps without a hit.
        censored: whether a sample was stopped at `max_sweeps`, before the ground energy.
        sweeps_per_run: N_sweep, the sweeps after which the spins are reset.
        beta: the first and last inverse temperature of a run.
        seconds: the wall-clock time in seconds, without compilation.
        seed: the seed that reproduces the samples.
        schedule: the rise of β within a run, "linear" or "geometric".
    """

    totals: IntArray
    censored: npt.NDArray[np.bool_]
    sweeps_per_run: int
    beta: tuple[float, float]
    seconds: float
    seed: Seed
    schedule: Schedule = "linear"

    @property
    def geometric_mean(self) -> float:
        """The geometric mean of N_tot, which is too low if samples are censored."""
        return math.exp(float(np.log(self.totals).mean()))

    def summary(self) -> str:
        """Return statistics of the samples, and the schedule of the runs, as two lines of text."""
        count, lost = self.totals.size, int(np.count_nonzero(self.censored))
        sign = "at least " if lost else ""
        return (
            f"N_tot: geometric mean {sign}{self.geometric_mean:.4g}, median "
            f"{np.median(self.totals):.4g} sweeps, {count} samples, {lost} of them censored\n"
            f"runs of {self.sweeps_per_run} sweeps, β {self.schedule} from {self.beta[0]:.3g} to "
            f"{self.beta[1]:.3g}; {self.seconds:.3g} s"
        )

    def __repr__(self) -> str:
        return f"SweepsToSolution({self.totals.size} samples, N_tot ~ {self.geometric_mean:.4g})"


@announces("annealing")
def sweeps_to_solution(
    planted: Planted | Ensemble,
    *,
    sweeps_per_run: int | Literal["paper"] = "paper",
    beta: Beta = None,
    max_sweeps: int = 10_000_000,
    samples: int = 1,
    rng: RngLike = None,
    threads: int = 1,
) -> SweepsToSolution:
    """Count the sweeps of repeated annealing runs until the planted energy is reached.

    Each run starts from random spins. Success is tested at the end of each sweep, and the sweeps of
    the last, partial run count, as in the paper. Runs are computed side by side, but counted in
    order, so that runs that finish early do not make an instance appear easier.

    An ensemble is processed in compiled code, without Python code for each instance.

    Args:
        planted: an instance, or an ensemble of instances.
        sweeps_per_run: N_sweep, or "paper" for the paper's polynomial; 1000 for squares and other
            families to which the polynomial does not apply, see `follows_paper`.
        beta: the first and the last inverse temperature of a linear rise, in units of the problem's
            energy. The default is the paper's range, see `paper_schedule`, or, for families to
            which it does not apply, the default range of `anneal` with a geometric rise.
        max_sweeps: the number of sweeps after which a sample is stopped and marked as censored.
        samples: the number of samples of N_tot per instance.
        rng: a seed, or anything that numpy.random.default_rng takes.
        threads: the number of threads for an ensemble; the result does not depend on it.

    >>> from glasshouse.planting import random_loops
    >>> planted = random_loops(30, 30, frustration=0.1, loop_density=0.47, rng=1)
    >>> result = sweeps_to_solution(planted, samples=100, rng=2)
    >>> bool(result.censored.any()), result.sweeps_per_run
    (False, 22)
    """
    if not isinstance(planted, (Planted, Ensemble)):
        raise ValueError(
            f"{planted!r} is neither a Planted nor an Ensemble, so no ground energy is known; "
            "plant an instance, or use anneal with a target"
        )
    max_sweeps = sweep_count(max_sweeps, "max_sweeps", _MOST_IN_ALL)
    samples, threads = (
        validation.count(samples, "samples", 1),
        validation.count(threads, "threads", 1),
    )
    plan, schedule = _plan(planted, sweeps_per_run, beta)
    betas = rising(*plan.beta, plan.sweeps, schedule)
    seed = Seed.of(rng)
    if isinstance(planted, Ensemble):
        n, m = planted.parameters["n"], planted.parameters["m"]
        weights = np.array([planted.positive] * 3 + [planted.negative], np.int64)
        totals, seconds = race(
            n + m, planted.nodes, weights, betas, max_sweeps, samples, key_of(seed), threads
        )
    else:
        began = time.perf_counter()
        totals = race_plant(planted, betas, max_sweeps, samples, key_of(seed))
        seconds = time.perf_counter() - began
    return SweepsToSolution(
        np.abs(totals), totals < 0, plan.sweeps, plan.beta, seconds, seed, schedule
    )


def race_plant(
    planted: Planted,
    betas: FloatArray,
    max_sweeps: int,
    samples: int,
    key: npt.NDArray[np.uint64],
    is_stopped: Callable[[], bool] = lambda: False,
) -> IntArray:
    """Return samples of N_tot for a plant, as `race_one`; β is in units of the plant's energy."""
    form, energy, factor = _annealed(planted)
    return race_one(form, energy, betas / factor, max_sweeps, samples, key, is_stopped)


def _annealed(planted: Planted) -> tuple[Ising | Polynomial, Any, float]:
    """Return a plant's problem over spins, the ground energy of this problem, and its unit.

    Clauses become products of spins, whose energies are those of the plant times the unit.
    """
    if not isinstance(planted.problem, MaxSat):
        return planted.form, planted.energy, 1.0
    form = SpinForm(planted, any_degree=True)
    return form.ising, form.target(planted.energy), float(form.reduction.factor)


def race_one(
    problem: Ising | Polynomial,
    energy: int,
    betas: FloatArray,
    max_sweeps: int,
    samples: int,
    key: npt.NDArray[np.uint64],
    is_stopped: Callable[[], bool] = lambda: False,
) -> IntArray:
    """Return samples of N_tot for one problem; a censored sample is negative.

    Signals are handled, and `is_stopped` is called, every few milliseconds. After a stop, the
    result is incomplete.
    """
    _, engine = choose_engine(network_of(problem))
    goal = engine.goal(energy, problem)
    block, at_once = engine.new_block(), steps_at_once(engine.cost)
    totals = np.zeros(samples, np.int64)
    index, done, spent = 0, 0, 0
    while done < samples and not is_stopped():
        needed = min(engine.lanes, samples - done)
        sweeps = 0
        while sweeps < len(betas) and not is_stopped():
            until = min(sweeps + at_once, len(betas))
            sweeps = hitting.race_block(
                engine.tables, betas, key, index, goal, needed, block, sweeps, until
            )
        done, spent = hitting.count_sweeps(block.hits, len(betas), max_sweeps, totals, done, spent)
        index += 1
    return totals


def race(
    num_spins: int,
    nodes: npt.NDArray[np.int32],
    weights: IntArray,
    betas: FloatArray,
    max_sweeps: int,
    samples: int,
    key: npt.NDArray[np.uint64],
    threads: int = 1,
    first: int = 0,
) -> tuple[IntArray, float]:
    """Return samples of N_tot for an ensemble, and the seconds that sampling took.

    Args:
        num_spins: the number of spins of an instance; node `num_spins` is the ghost of the fields.
        nodes: int32 (instances, loops, length): the loops. Edge k joins nodes k and k + 1.
        weights: int64 (length): the weights of the edges of each loop in the planted gauge; the
            ground energy of an instance is minus the sum over the edges of all loops.
        betas: the inverse temperature of each sweep of a run.
        max_sweeps: the number of sweeps after which a sample is censored.
        samples: the number of samples per instance.
        key: four random words; samples of instance k depend only on these words and first + k.
        threads: the number of threads.
        first: the number of the first instance, if the instances are part of a larger ensemble.

    Returns:
        An int64 array (instances, samples), negative if censored, and the seconds taken.
    """
    nodes = np.ascontiguousarray(nodes, np.int32)
    totals = np.zeros((len(nodes), samples), np.int64)
    stop = np.zeros(1, np.uint8)  # nonzero stops the threads

    def work(low: int, high: int) -> None:
        part = slice(low, high)
        hitting.race_ensemble(
            num_spins, nodes[part], weights, betas, max_sweeps, key, first + low, totals[part],
            stop,
        )  # fmt: skip

    work(0, 0)  # compiles, if needed, before the clock starts
    began = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        chunks = list[Future[None]]()
        try:
            with deferred():
                for low in range(0, len(nodes), _CHUNK):
                    chunks.append(pool.submit(work, low, min(low + _CHUNK, len(nodes))))
            for chunk in chunks:
                result_of(chunk)
        except BaseException:
            stop[0] = 1
            cancel_all(chunks)
            raise
    for k in np.flatnonzero(totals[:, 0] == 0):  # the byte kernel does not support these
        problem = _sum_of_loops(num_spins, nodes[k], weights)
        own_key = np.empty(4, np.uint64)
        spawn(key, first + k, own_key)
        energy = -nodes.shape[1] * int(weights.sum())
        totals[k] = race_one(problem, energy, betas, max_sweeps, samples, own_key)
    return totals, time.perf_counter() - began


def _sum_of_loops(num_spins: int, nodes: npt.NDArray[np.int32], weights: IntArray) -> Ising:
    """Return an instance as an Ising problem in the planted gauge."""
    from glasshouse.planting.loops import Loops

    starts = np.arange(0, nodes.size + 1, nodes.shape[1])
    return Loops(nodes.reshape(-1), starts, np.tile(weights, len(nodes))).sum(num_spins)


def own_range(planted: Planted) -> tuple[float, float]:
    """Return the first and the last β that `anneal` chooses by default for an instance."""
    form, _, factor = _annealed(planted)
    first, last = default_range(network_of(form))
    return factor * first, factor * last


def typical_field(problem: Solvable) -> float:
    """Return the mean over spins of sqrt(Σ J² + h²): the typical local field of random states.

    >>> round(typical_field(Ising.from_edges(3, [(0, 1), (1, 2)], [4, 3])), 12)
    4.0
    """
    form = SpinForm(problem, any_degree=True)
    hottest, _ = default_range(network_of(form.ising))
    return 0.7 / hottest / float(form.reduction.factor)


def _plan(
    planted: Planted | Ensemble,
    sweeps_per_run: int | Literal["paper"],
    beta: Beta,
) -> tuple[PaperSchedule, Schedule]:
    """Return the sweeps per run and the range of β, and the shape of the schedule."""
    if sweeps_per_run != "paper":
        sweeps_per_run = sweep_count(sweeps_per_run, "sweeps_per_run", _MOST_SWEEPS)
    given = None if beta is None else _range_of(beta)
    if sweeps_per_run != "paper" and given is not None:
        return PaperSchedule(given, sweeps_per_run), "linear"
    if isinstance(planted, Planted) and not follows_paper(planted):
        number = AUTOMATIC_SWEEPS if sweeps_per_run == "paper" else sweeps_per_run
        if given is not None:
            return PaperSchedule(given, number), "linear"
        return PaperSchedule(own_range(planted), number), "geometric"
    if isinstance(planted, Ensemble):
        n, number, unit = planted.parameters["n"], planted.nodes.shape[1], planted.positive
        f = planted.frustration
    else:
        n, number, unit = planted.half, planted.loops.num_loops, planted.loop_weight
        f = planted.loops.frustration
    n = max(Fraction(n), Fraction(2))  # the smallest n of the paper's schedule
    plan = paper_schedule(int(n), min(f, Fraction(1, 4)), number / n or None, unit=unit)
    if sweeps_per_run == "paper":
        sweeps_per_run = sweep_count(plan.sweeps, "the paper's sweeps_per_run", _MOST_SWEEPS)
    return PaperSchedule(plan.beta if given is None else given, sweeps_per_run), "linear"


def _range_of(beta: Any) -> tuple[float, float]:
    """Return the first and the last β; raise a ValueError unless first <= last."""
    values = validation.inverse_temperatures(beta).tolist()
    if len(values) != 2 or values[0] > values[1]:
        raise ValueError(f"beta={beta!r:.60} must be two numbers (first, last) with first <= last")
    return values[0], values[1]
