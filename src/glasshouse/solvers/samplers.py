"""Annealing and tempering as dimod samplers, with dimod's parameter names.

The samplers call `anneal` and `temper`. Their classes are derived from classes of dimod, so this
module is imported only when a sampler is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from glasshouse.extras import MissingPackageError, optional
from glasshouse.problems import exchange, validation
from glasshouse.randomness import Seed
from glasshouse.solvers.annealing import anneal
from glasshouse.solvers.result import AnnealResult, State
from glasshouse.solvers.schedule import Beta, sweep_count
from glasshouse.solvers.tempering import temper

_MISSING: MissingPackageError | None = None
if TYPE_CHECKING:
    from dimod import BinaryQuadraticModel, SampleSet
    from dimod.core.initialized import Initialized
    from dimod.core.sampler import Sampler
else:
    try:
        _dimod = optional("dimod", "a dimod sampler")
        Sampler, Initialized = _dimod.Sampler, _dimod.Initialized
    except MissingPackageError as error:  # raised on use: help() and star imports must work
        Sampler, Initialized, _MISSING = object, type("Initialized", (), {}), error

Range: TypeAlias = Sequence[float] | None
ScheduleType: TypeAlias = Literal["linear", "geometric", "custom"]
_SCHEDULE_TYPES = ("linear", "geometric", "custom")
_ANNEALER = (
    "beta_schedule", "num_sweeps_per_beta", "initial_states", "initial_states_generator",
    "interrupt_function", "state",
)  # fmt: skip
_SHARED = ("num_reads", "num_sweeps", "beta_range", "seed", "threads", "time_limit")


class _GlasshouseSampler(Sampler):
    """The base class of the dimod samplers for annealing and tempering."""

    def __init__(self) -> None:
        if _MISSING is not None:
            raise _MISSING

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @property
    def parameters(self) -> dict[str, Any]:
        """The keyword arguments of `sample`, each with the names of related properties."""
        return {name: [] for name in _SHARED}

    @property
    def properties(self) -> dict[str, Any]:
        """The properties of the sampler: an empty dictionary."""
        return {}


class GlasshouseAnnealer(_GlasshouseSampler, Initialized):
    """A dimod sampler that runs simulated annealing with `glasshouse.anneal`.

    >>> found = GlasshouseAnnealer().sample_ising({}, {"ab": 1, "bc": 1, "ac": 1}, seed=1)
    >>> float(found.first.energy)
    -1.0
    >>> import dimod
    >>> sampler = GlasshouseAnnealer()
    >>> "num_sweeps" in sampler.parameters, sampler.properties
    (True, {'beta_schedule_options': ('linear', 'geometric', 'custom')})
    >>> sampler.sample(dimod.BQM.from_ising({}, {"ab": 1}), num_reads=3, seed=1).first.energy.item()
    -1.0
    """

    @property
    def parameters(self) -> dict[str, Any]:
        """The keyword arguments of `sample`, each with the names of related properties."""
        own = {name: list[str]() for name in _ANNEALER}
        return super().parameters | own | {"beta_schedule_type": ["beta_schedule_options"]}

    @property
    def properties(self) -> dict[str, Any]:
        """The properties of the sampler: the supported schedule types."""
        return {"beta_schedule_options": _SCHEDULE_TYPES}

    def sample(
        self,
        bqm: BinaryQuadraticModel,
        *,
        num_reads: int | None = None,
        num_sweeps: int | None = None,
        beta_range: Range = None,
        beta_schedule_type: ScheduleType = "geometric",
        beta_schedule: Beta = None,
        seed: int | None = None,
        threads: int = 1,
        time_limit: float | None = None,
        num_sweeps_per_beta: int = 1,
        initial_states: Any = None,
        initial_states_generator: Literal["none", "tile", "random"] = "random",
        interrupt_function: Callable[[], bool] | None = None,
        state: State = "best",
        **kwargs: Any,
    ) -> SampleSet:
        """Anneal a binary quadratic model, with one run for each read.

        By default, a read is the best state in the last sixteenth of a run, not the last state: an
        answer to an optimisation problem, not a fair sample at the last temperature.

        Args:
            bqm: a binary quadratic model of either vartype; the samples have the same vartype.
            num_reads: the number of runs; by default the number of initial states, or 1. On one
                kernel, read r does not depend on this number; up to 16 reads may get a different
                kernel than more reads.
            num_sweeps: the number of sweeps of a run; by default that of `beta_schedule`, or 1000.
            beta_range: the first and the last inverse temperature, in the model's units of energy;
                by default a range that suits the biases of the model.
            beta_schedule_type: "geometric" or "linear" in `beta_range`, or "custom".
            beta_schedule: for "custom", the inverse temperature of each sweep, or of each
                `num_sweeps_per_beta` sweeps.
            seed: an integer of at least 0, which always yields the same samples.
            threads: the number of threads; the samples do not depend on it.
            time_limit: the seconds after which the runs started so far are returned.
            num_sweeps_per_beta: the sweeps at each inverse temperature; must divide `num_sweeps`.
            initial_states: samples to start from, in any form that dimod accepts.
            initial_states_generator: if there are fewer states than reads: "random" adds random
                states, "tile" repeats them, "none" raises a ValueError.
            interrupt_function: a function that is called about ten times a second; if it returns
                True, the runs started so far are returned.
            state: "best", or "last" for the state after the last sweep, as in D-Wave's annealer.
            **kwargs: other keywords are ignored with a warning, as usual in dimod.

        Returns:
            A SampleSet with one row per read. Its `info` contains beta_range, beta_schedule_type,
            seed, kernel, stopped ("time limit", "interrupt function", "interrupted" by Ctrl-C, or
            None) and timing in nanoseconds: sampling is the time of the kernels, preprocessing the
            remaining time of the solver.
        """
        self.remove_unknown_kwargs(**kwargs)
        if beta_schedule_type not in _SCHEDULE_TYPES:
            raise ValueError(f"{beta_schedule_type=} is not one of {', '.join(_SCHEDULE_TYPES)}")
        if (beta_schedule is None) == (beta_schedule_type == "custom"):
            raise ValueError(
                'beta_schedule needs beta_schedule_type="custom"; use both, or neither'
            )
        settings: dict[str, Any] = {"schedule": beta_schedule_type, "beta": _pair(beta_range)}
        if beta_schedule is not None:
            settings, num_sweeps = _custom(
                beta_schedule, beta_range, num_sweeps, num_sweeps_per_beta
            )
        if initial_states is not None:
            if not exchange.is_bqm(bqm):
                raise ValueError(f"bqm={type(bqm).__name__} is not a dimod binary quadratic model")
            seed = Seed.of(None).number if seed is None else validation.count(seed, "seed")
            parsed = self.parse_initial_states(
                bqm, initial_states, initial_states_generator, num_reads, seed % 2**32
            )
            found, num_reads = parsed.initial_states, parsed.num_reads
            places = [found.variables.index(name) for name in bqm.variables]
            settings["initial_states"] = found.record.sample[:, places]
        settings |= {
            "threads": threads, "time_limit": time_limit, "sweeps_per_beta": num_sweeps_per_beta,
            "interrupt": interrupt_function, "state": state,
        }  # fmt: skip
        return _sample(
            anneal, bqm, num_reads, num_sweeps, seed, settings,
            {"beta_schedule_type": beta_schedule_type},
        )  # fmt: skip


class GlasshouseTempering(_GlasshouseSampler):
    """A dimod sampler that runs parallel tempering with `glasshouse.temper`.

    >>> found = GlasshouseTempering().sample_qubo({"aa": -1, "ab": 2, "bb": -1}, seed=1)
    >>> float(found.first.energy)
    -1.0
    >>> import dimod
    >>> sampler = GlasshouseTempering()
    >>> "num_replicas" in sampler.parameters, sampler.properties
    (True, {})
    >>> sampler.sample(dimod.BQM.from_ising({}, {"ab": 1}), num_reads=3, seed=1).first.energy.item()
    -1.0
    """

    @property
    def parameters(self) -> dict[str, Any]:
        """The keyword arguments of `sample`, each with the names of related properties."""
        return super().parameters | {"num_replicas": []}

    def sample(
        self,
        bqm: BinaryQuadraticModel,
        *,
        num_reads: int | None = None,
        num_sweeps: int | None = None,
        num_replicas: int | None = None,
        beta_range: Range = None,
        seed: int | None = None,
        threads: int = 1,
        time_limit: float | None = None,
        **kwargs: Any,
    ) -> SampleSet:
        """Solve a binary quadratic model by parallel tempering, with one run for each read.

        A read is the best state of all replicas of a run at the ends of its sweeps.

        Args:
            bqm: a binary quadratic model of either vartype; the samples have the same vartype.
            num_reads: the number of runs, each with its own ladder; 1 by default.
            num_sweeps: the number of sweeps of each replica, 1000 by default.
            num_replicas: the number of temperatures of the ladder; by default, a short warm-up
                determines the number.
            beta_range: the inverse temperatures of the hottest and the coldest replica, in the
                model's units of energy; by default a range that suits the biases of the model.
            seed: an integer of at least 0, which always yields the same samples.
            threads: the number of threads; the samples do not depend on it.
            time_limit: the seconds after which the runs started so far are returned.
            **kwargs: other keywords are ignored with a warning, as usual in dimod.

        Returns:
            A SampleSet with one row per read. Its `info` is that of `GlasshouseAnnealer`, but
            contains num_replicas instead of a schedule.
        """
        self.remove_unknown_kwargs(**kwargs)
        replicas = num_replicas
        if replicas is not None:
            replicas = validation.count(replicas, "num_replicas", 2)
        settings = {"beta": _pair(beta_range), "replicas": replicas, "threads": threads}
        return _sample(
            temper, bqm, num_reads, num_sweeps, seed, settings | {"time_limit": time_limit}, {}
        )


def _sample(
    solve: Callable[..., AnnealResult],
    bqm: BinaryQuadraticModel,
    num_reads: int | None,
    num_sweeps: int | None,
    seed: int | None,
    settings: dict[str, Any],
    info: dict[str, Any],
) -> SampleSet:
    """Solve a model, and return a SampleSet whose `info` contains the solver's parameters."""
    begin = perf_counter_ns()
    if not exchange.is_bqm(bqm):
        raise ValueError(f"bqm={type(bqm).__name__} is not a dimod binary quadratic model")
    runs = validation.count(1 if num_reads is None else num_reads, "num_reads", 1)
    sweeps = sweep_count(1000 if num_sweeps is None else num_sweeps, "num_sweeps")
    number = Seed.of(None).number if seed is None else validation.count(seed, "seed")
    result = solve(bqm, runs=runs, sweeps=sweeps, rng=number, **settings)
    solved, sampling = perf_counter_ns(), round(result.seconds * 1e9)
    # Floats, as in all dimod samplers: composites add to them in place.
    energies = result.energies.astype(float)
    found = exchange.sampleset(result.states, energies, result.labels, result.is_spin)
    if result.ladder is not None:
        info = info | {"num_replicas": len(result.betas)}
    found.info.update(
        beta_range=(float(result.betas[0]), float(result.betas[-1])), **info,
        seed=number, kernel=result.kernel, stopped=result.stopped,
        timing={
            "preprocessing_ns": max(0, solved - begin - sampling), "sampling_ns": sampling,
            "postprocessing_ns": perf_counter_ns() - solved,
        },
    )  # fmt: skip
    return found


def _pair(beta_range: Range) -> tuple[float, ...] | None:
    """Return `beta_range` as a pair or None, or raise a ValueError if it is not a pair."""
    if beta_range is None:
        return None
    try:
        pair = tuple(beta_range)
    except TypeError:
        pair = ()
    if len(pair) != 2:
        raise ValueError(f"beta_range={beta_range!r:.60} must be two numbers: (first, last)")
    return pair


def _custom(
    beta_schedule: Beta, beta_range: Range, num_sweeps: int | None, per_beta: int
) -> tuple[dict[str, Any], int]:
    """Return the options and the number of sweeps of a custom schedule; reject contradictions."""
    betas = validation.inverse_temperatures(beta_schedule)
    sweeps = len(betas) * validation.count(per_beta, "num_sweeps_per_beta", 1)
    if num_sweeps not in (None, sweeps):
        raise ValueError(f"{num_sweeps=} contradicts beta_schedule ({sweeps} sweeps); omit it")
    if beta_range is not None and _pair(beta_range) != (betas[0], betas[-1]):
        raise ValueError(f"{beta_range=} contradicts beta_schedule; remove beta_range")
    return {"beta": betas}, sweeps
