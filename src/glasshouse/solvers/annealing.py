"""Simulated annealing (paper, section 6.1 and appendix I), on the kernel chosen for the problem.

A problem is converted to Ising form and annealed by one of several kernels, each of which works on
a block of runs at a time. The choice of the kernel depends on the problem and the number of runs,
never on the computer, so that a seed gives the same result everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import announces
from glasshouse.problems import FloatArray, SpinArray, validation
from glasshouse.randomness import RngLike, Seed
from glasshouse.solvers.crew import Crew, RunProgress
from glasshouse.solvers.engine import Engine
from glasshouse.solvers.engines import choose_engine, make_ready
from glasshouse.solvers.kernels import driver
from glasshouse.solvers.kernels.block import LaneBlock
from glasshouse.solvers.result import AnnealResult, Check, State
from glasshouse.solvers.schedule import Beta, Schedule, inverse_temperatures, sweep_count
from glasshouse.solvers.spin_form import Solvable, SpinForm, Target


@announces("annealing")
def anneal(
    problem: Solvable,
    *,
    sweeps: int = 1000,
    runs: int = 64,
    beta: Beta = None,
    schedule: Schedule = "geometric",
    target: Target = "planted",
    check: Check = "sweep",
    rng: RngLike = None,
    threads: int = 1,
    time_limit: float | None = None,
    progress: Callable[[RunProgress], None] | None = None,
    sweeps_per_beta: int = 1,
    initial_states: npt.ArrayLike | None = None,
    state: State = "best",
    interrupt: Callable[[], bool] | None = None,
) -> AnnealResult:
    """Anneal a problem many times, and return the best state of each run.

    A sweep proposes every spin once, colour by colour (in an RBM: all visible, then all hidden
    spins), and flips it with probability min(1, exp(-beta ΔE)).

    The best state of a run is the state with the lowest energy at the end of a sweep. To save time,
    energies are measured only in the last sixteenth of the sweeps, when a run is cold. With a
    target, they are measured in all sweeps.

    Args:
        problem: an Ising, Rbm, Qubo, Max2Sat, MaxSat or Polynomial problem, a plant, or a dimod
            model. Polynomials of any degree are annealed without ancillas.
        sweeps: the number of sweeps of a run (the paper's N_sweep), below 2^31.
        runs: the number of runs. On one kernel, run r does not depend on this number, except that
            a run that has reached the target continues until its whole block has. Up to 16 runs
            may get a different kernel than more runs.
        beta: the inverse temperatures in units of the problem's own energy: (first, last), or one
            for each sweep, in a list, tuple or array; by default a range that suits the problem's
            local fields, see `schedule.default_range`.
        schedule: the rise from first to last, "geometric" or "linear".
        target: an energy to search for. A block of runs ends when all its runs have reached it. The
            default is the energy of the plant, if a plant is given; None sets no target.
        check: "sweep" tests for the target at the end of each sweep, as the paper does; "flip"
            tests after every flip, which hits far more often if frustration is high.
        rng: a seed, or anything that numpy.random.default_rng takes.
        threads: the number of threads; the result does not depend on it.
        time_limit: the seconds after which the best states so far are returned; None sets no limit.
        progress: a function that is called about ten times a second with a `RunProgress`.
        sweeps_per_beta: the number of sweeps at each inverse temperature; must divide `sweeps`.
        initial_states: states to start from, in the problem's own values: one for each run, or one
            for all runs. Dense problems then get a kernel for sparse problems, which may be slower.
        state: "best" returns the best state of a run, "last" the state after its last sweep: a
            sample at the last temperature, if the run was long enough.
        interrupt: a function that is called about ten times a second; True stops the runs.

    Returns:
        An AnnealResult. After Ctrl-C or at the time limit it contains all runs that were started,
        and `stopped` contains the reason.

    >>> from glasshouse.problems import Ising
    >>> ring = Ising.from_edges(6, [(i, (i + 1) % 6) for i in range(6)], [1, 1, 1, 1, 1, -1])
    >>> result = anneal(ring, sweeps=50, runs=64, target=-4, rng=1)
    >>> result.best_energy, result.success_probability, result.kernel
    (-4, 0.96875, 'byte lanes')
    """
    form = SpinForm(problem, any_degree=True)
    target = form.wanted(target)
    sweeps, runs = sweep_count(sweeps), validation.count(runs, "runs", 1)
    crew = Crew(validation.count(threads, "threads", 1), time_limit, progress, interrupt)
    if state not in ("best", "last") or (state == "last" and check == "flip"):
        raise ValueError(f"state={state!r} must be 'best' or 'last'; 'last' needs check='sweep'")
    steps, rest = divmod(sweeps, validation.count(sweeps_per_beta, "sweeps_per_beta", 1))
    if rest:
        raise ValueError(f"sweeps_per_beta={sweeps_per_beta} must divide sweeps={sweeps}")
    if check not in ("sweep", "flip"):
        raise ValueError(f"check={check!r} must be 'sweep' or 'flip'")
    goal, seed = form.target(target), Seed.of(rng)
    ready = make_ready(form)
    betas = inverse_temperatures(ready.graph, form.beta(beta), steps, schedule)
    start = None if initial_states is None else _started(form, initial_states, runs)
    kernel, made = (
        ready.engine(runs) if start is None
        else choose_engine(ready.graph, runs, loads_states=True)
    )  # fmt: skip
    del ready  # the tables suffice; large problems need the memory
    task = AnnealTask(
        made, betas, sweeps, runs, made.goal(goal, form.ising), check, key_of(seed), start, state
    )
    log = crew.work(task, runs, form)
    states = form.own_states(log.states)
    energies = form.energies_of_runs(states)
    hits = form.confirmed_hits(log.hits, energies, target, sweeps)
    return AnnealResult(
        energies, states, hits, sweeps, form.own_betas(betas), target,
        check, kernel, log.seconds, log.complete, log.stopped, seed, share=log.share,
        labels=form.problem.labels, is_spin=form.problem.space.low < 0,
    )  # fmt: skip


class AnnealTask:
    """A `Crew` job that anneals; one step is one sweep."""

    def __init__(
        self,
        engine: Engine,
        betas: FloatArray,
        sweeps: int,
        runs: int,
        goal: Any,
        check: Check,
        key: npt.NDArray[np.uint64],
        initial: tuple[SpinArray, Any] | None = None,
        state: State = "best",
    ) -> None:
        self.engine, self.betas, self.goal, self.key = engine, betas, goal, key
        self.length, self.runs, self.cost = sweeps, runs, engine.cost
        self.initial, self.keeps_last = initial, state == "last"
        self.run = driver.anneal_block if check == "sweep" else driver.watch_block
        # Measuring energies takes time. Without a target, only cold runs are measured.
        looking = self.length if goal > engine.never else max(1, self.length // 16)
        self.blind = self.length if self.keeps_last else self.length - looking

    def start(self, index: int) -> LaneBlock:
        """Return a new block of runs that start from random or given states."""
        block = self.engine.new_block(self.runs - index * self.engine.lanes)
        driver.start_block(self.engine.tables, self.key, index, self.goal, block)
        if self.initial is not None:
            states, energies = self.initial
            lanes = np.arange(len(block.hits)) + index * self.engine.lanes
            rows = np.minimum(lanes, len(states) - 1)  # lanes beyond the last run repeat its state
            downs = np.where(states[rows][:, self.engine.order] < 0, np.uint8(255), np.uint8(0))
            self.engine.load(block, downs, energies[rows])
        return block

    def advance(self, work: LaneBlock, done: int, until: int) -> int:
        """Do sweeps `done` + 1 to `until`; stop early if all runs in the block hit the target."""
        betas = self.betas[done:until]
        if len(self.betas) < self.length:  # in a long run, each β is held for several sweeps
            betas = self.betas[np.arange(done, until) * len(self.betas) // self.length]
        lanes = len(work.hits)
        done = int(self.run(self.engine.tables, betas, done, self.blind, lanes, work))
        if self.keeps_last and done == self.length:
            driver.look_at_block(self.engine.tables, done, work)
        return done

    def stop(self, work: LaneBlock, done: int) -> None:
        """Record the current states of a stopped block as results."""
        driver.look_at_block(self.engine.tables, done, work)

    def lowest(self, work: LaneBlock) -> Any:
        """Return the lowest energy in a block so far, including its current states."""
        driver.measure_block(self.engine.tables, work)
        return min(work.energies.min(), work.lowest.min())

    def block(self, work: LaneBlock) -> LaneBlock:
        """Return `work` itself, which is the block of runs."""
        return work


def _started(form: SpinForm, states: npt.ArrayLike, runs: int) -> tuple[SpinArray, Any]:
    """Return the initial states as rows of spins, and their energies without the offset."""
    given = np.atleast_2d(np.asarray(states))
    if given.ndim != 2 or len(given) not in (1, runs):
        raise ValueError(
            f"initial_states has shape {given.shape}; pass one state, or one per run ({runs} runs)"
        )
    spins = form.reduction.forward(given)
    return spins, form.ising.energy(spins) - form.ising.offset


def key_of(seed: Seed) -> npt.NDArray[np.uint64]:
    """Return the four random words from which the random streams of all blocks are derived."""
    return seed.sequence().generate_state(4, np.uint64).astype(np.uint64, copy=False)
