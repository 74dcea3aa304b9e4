"""Timed calls to dimod samplers; the energies of all returned samples are recomputed.

A sampler is an object with dimod's `sample(bqm, **parameters)`, or a callable that takes a model
and returns a SampleSet. Anything wrong with its result is a fault of that call.
"""

from __future__ import annotations

import inspect
import json
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.extras import optional
from glasshouse.problems import pairs, validation
from glasshouse.races.samplers.clocks import Clock, clock_name, computer, seconds_by, timing_of
from glasshouse.races.samplers.problems import RacedProblem
from glasshouse.stopping import compile_seconds
from glasshouse.summaries import Summarised

_LONGEST_FAULT = 300


@dataclass(frozen=True, repr=False)
class Contestant(Summarised):
    """A sampler that takes part in a race, with the settings of its calls.

    Attributes:
        name: the name in the race.
        call: the function to call with a model and keywords.
        parameters: the keywords of every call.
        reads: the reads per call; None if the sampler has no `num_reads`: then a call counts as one
            read, the best of its samples.
        takes_seed: whether the sampler takes a `seed`.
        what: the name of the class or function, for readers and stores.
        is_ours: whether it is a glasshouse sampler, which catches Ctrl-C and reports it.
        clock: the clock that times its calls.
        has_fixed_reads: whether `num_reads` is among `parameters`.
        computer: the computer that runs its calls.
    """

    name: str
    call: Callable[..., Any]
    parameters: Mapping[str, Any]
    reads: int | None
    takes_seed: bool
    what: str
    is_ours: bool = False
    clock: Clock = "wall"
    has_fixed_reads: bool = False
    computer: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, entry: Any, reads: int, clock: Clock = "wall") -> Contestant:
        """Return a contestant from a sampler, a pair (sampler, parameters), or a callable."""
        sampler, parameters = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, {})
        if not isinstance(parameters, Mapping):
            raise ValueError(f"{name}: the parameters are {parameters!r:.60}; expected a dict")
        if inspect.isclass(sampler):
            raise ValueError(f"{name} is a class; pass an instance, such as {sampler.__name__}()")
        call = getattr(sampler, "sample", sampler)
        if not callable(call):
            raise ValueError(
                f"{name} is {sampler!r:.60}; expected a dimod sampler, a pair (sampler, "
                "parameters), or a callable that takes a model and returns a SampleSet"
            )
        if "seed" in parameters:
            raise ValueError(
                f"{name}: a fixed seed would repeat the same reads in every call; remove it, "
                "and pass rng=… to the race"
            )
        listed = set(getattr(sampler, "parameters", None) or ())
        taken = _keywords(call) | listed
        _question_unknown(name, parameters, call, listed)
        wanted = parameters.get("num_reads", reads if "num_reads" in taken else None)
        if wanted is not None:
            wanted = validation.count(wanted, f"num_reads of {name}", 1)
        kind = sampler if inspect.isroutine(sampler) else type(sampler)
        what = f"{kind.__module__}.{kind.__qualname__}"
        # The import is here because it loads dimod.
        from glasshouse.solvers.samplers import GlasshouseAnnealer, GlasshouseTempering

        is_ours = isinstance(sampler, (GlasshouseAnnealer, GlasshouseTempering))
        clock_name(clock)
        return cls(
            name, call, dict(parameters), wanted, "seed" in taken, what, is_ours, clock,
            "num_reads" in parameters, computer(kind.__module__),
        )  # fmt: skip

    def keywords(self, seed: int) -> dict[str, Any]:
        """Return the keyword arguments of one call with the given seed."""
        asked = {} if self.reads is None else {"num_reads": self.reads}
        return {**self.parameters, **asked, **({"seed": seed} if self.takes_seed else {})}

    def described(self) -> dict[str, Any]:
        """Return the sampler's identity as JSON values: name, class, parameters and reads."""
        text = json.dumps(self.parameters, sort_keys=True, default=_in_words)
        return {"name": self.name, "what": self.what, "parameters": json.loads(text),
                "reads": self.reads}  # fmt: skip

    def warm_up(self) -> None:
        """Call the sampler once on two spins, so that it compiles; ignore its result or error."""
        model = optional("dimod", "a race of samplers").BinaryQuadraticModel
        tiny = model({0: 0.0, 1: 1.0}, {(0, 1): 1.0}, 0.0, "SPIN")
        try:
            _resolved(self.call(tiny, **self.keywords(0)))
        except KeyboardInterrupt:
            raise
        except BaseException:  # calls that count will show the error
            pass


@dataclass(frozen=True, eq=False, repr=False)
class SamplerCall(Summarised):
    """One call of one sampler on one problem, with its time and its energies.

    Attributes:
        solver: the sampler's name.
        instance: the problem's name.
        number: the number of the call on that problem, from 0.
        seconds: wall-clock time of the call.
        reads: the number of reads that the call counts for, even after a fault.
        energies: the energies of the reads, evaluated again and sorted; empty after a fault.
        fault: what was wrong with the call; empty if nothing was.
        seed: the seed of the call, if the sampler takes one.
        cpu_seconds: CPU time of this process, all threads; None in old stores.
        timing: the numbers of `info["timing"]`, in the sampler's own units.
        clock: the name of the clock that the race was run with.
        computer: the computer of the call, as `clocks.computer` describes it.
    """

    solver: str
    instance: str
    number: int
    seconds: float
    reads: int
    energies: npt.NDArray[Any]
    fault: str = ""
    seed: int = 0
    cpu_seconds: float | None = None
    timing: Mapping[str, float] = field(default_factory=dict)
    clock: str = "wall"
    computer: Mapping[str, Any] = field(default_factory=dict)

    def seconds_by(self, clock: str) -> float:
        """Return the call's time in seconds on a clock; for a faulty call, on the wall clock."""
        if self.fault:
            return self.seconds
        return seconds_by(clock, self.seconds, self.cpu_seconds, self.timing)


class _FaultError(Exception):
    """Raised for a fault in a sampler's result; its message becomes the fault of the call."""


def call_sampler(
    contestant: Contestant, problem: RacedProblem, number: int, seed: int
) -> SamplerCall:
    """Call a sampler once; its time does not include the compilation of glasshouse's kernels.

    Raises:
        KeyboardInterrupt: Ctrl-C, even if the sampler caught it and returned early.
    """
    model, keywords = problem.model(), contestant.keywords(seed)
    energies, fault, returned = np.empty(0, problem.problem.weights.dtype), "", None
    timing: dict[str, float] = {}
    begin, compiled, worked = perf_counter(), compile_seconds(), process_time()
    try:
        found = _resolved(contestant.call(model, **keywords))
        # This is timed: what looks like a SampleSet may still be computed.
        returned = _Returned.of(found)
    except KeyboardInterrupt:
        raise
    except _FaultError as error:
        fault = str(error)
    except BaseException as error:  # including SystemExit and panics of compiled code
        fault = f"raised {_in_a_line(error)}"
    # Two clocks may differ in their last digits.
    compiling = compile_seconds() - compiled
    seconds = max(perf_counter() - begin - compiling, 0.0)
    cpu = process_time() - worked
    if compiling > 0:  # the CPU time of compiling is unknown, but the call's own wall time is known
        cpu = min(cpu, seconds)
    if returned is not None:
        if contestant.is_ours:
            _refuse_interrupted(found)
        try:
            energies = evaluated(returned, problem, contestant.reads)
            timing = _timed(found, contestant.clock, seconds, cpu)
        except _FaultError as error:
            fault, energies = str(error), energies[:0]
        except Exception as error:  # it only looked like a SampleSet
            fault = f"the SampleSet cannot be read: {_in_a_line(error)}"
    fault = "".join(c if c.isprintable() else " " for c in fault)[:_LONGEST_FAULT]
    given = seed if contestant.takes_seed else 0
    reads = contestant.reads or 1
    return SamplerCall(
        contestant.name, problem.name, number, seconds, reads, energies, fault, given, cpu, timing,
        clock_name(contestant.clock), contestant.computer,
    )  # fmt: skip


def _timed(found: Any, clock: Clock, wall: float, cpu: float) -> dict[str, float]:
    """Return a call's timing; raise unless it contains the time that the clock reads."""
    try:
        timing = timing_of(found, clock)
        seconds_by(clock_name(clock), wall, cpu, timing)
    except Exception as error:  # including errors of the caller's function
        raise _FaultError(f"the call's time cannot be read: {_in_a_line(error)}") from None
    return timing


@dataclass(frozen=True, eq=False)
class _Returned:
    """A copy of a sampler's result, made after the result was completely computed.

    Attributes:
        samples: one row per sample.
        energies: the energies that the sampler states.
        times: the number of occurrences of each sample.
        variables: the names of the columns.
        vartype: SPIN or BINARY.
    """

    samples: npt.NDArray[Any]
    energies: npt.NDArray[Any]
    times: npt.NDArray[Any]
    variables: list[Any]
    vartype: str

    @classmethod
    def of(cls, found: Any) -> _Returned:
        """Copy a SampleSet, or an object that looks like one."""
        try:
            if not all(hasattr(found, name) for name in ("record", "variables", "vartype")):
                raise _FaultError(f"returned {type(found).__name__}, not a SampleSet")
            record = found.record
            sample, energy, times = (
                np.array(getattr(record, name)) for name in ("sample", "energy", "num_occurrences")
            )
            copied = cls(sample, energy, times, list(found.variables), str(found.vartype.name))
        except (_FaultError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise _FaultError(f"the SampleSet cannot be read: {_in_a_line(error)}") from None
        for name, array in (("samples", copied.samples), ("energies", copied.energies)):
            if array.dtype.kind not in "biuf":
                raise _FaultError(
                    f"the SampleSet has {name} of type {array.dtype}; expected real numbers"
                )
        return copied


def evaluated(
    found: _Returned, problem: RacedProblem, reads: int | None
) -> npt.NDArray[Any]:  # fmt: skip
    """Recompute the energies of all reads and sort them; if `reads` is None, return only the best.

    Raises `_FaultError` if samples do not fit the problem.
    """
    if found.vartype != problem.bqm.vartype.name:
        raise _FaultError(f"returned {found.vartype} samples; expected {problem.bqm.vartype.name}")
    states = _states(found, problem)
    energies: npt.NDArray[Any] = problem.problem.energy(states)
    _compare(found.energies, energies, problem)
    if reads is None:
        return energies[[np.argmin(energies)]]
    times = found.times
    if times.shape != (len(states),) or times.dtype.kind not in "iu" or (times < 1).any():
        raise _FaultError("num_occurrences must be integers of at least 1")
    if (total := sum(times.tolist())) != reads:
        raise _FaultError(f"returned {total} reads, but {reads} were requested")
    return np.sort(np.repeat(energies, times))


def _states(found: _Returned, problem: RacedProblem) -> npt.NDArray[np.int8]:
    """Check the samples, and return them with columns in the order of the problem's variables."""
    samples, columns = found.samples, found.variables
    labels = pairs.labels_of(problem.problem)
    if missing := [name for name in labels if name not in set(columns)]:
        raise _FaultError(f"the samples lack {len(missing)} variables, for example {missing[0]!r}")
    if extra := [name for name in columns if name not in set(labels)]:
        raise _FaultError(f"the samples contain the unknown variable {extra[0]!r}")
    if len(set(columns)) < len(columns):
        raise _FaultError("the samples contain a variable twice")
    if samples.ndim != 2 or samples.shape[1] != len(columns):
        raise _FaultError(f"the samples have shape {samples.shape}; expected one row per sample")
    if not len(samples):
        raise _FaultError("returned a SampleSet without samples")
    allowed = (problem.problem.space.low, 1)
    if (wrong := samples[~np.isin(samples, allowed)]).size:
        raise _FaultError(f"a sample has the value {wrong[0]}; expected {allowed[0]} or 1")
    place = {name: k for k, name in enumerate(columns)}
    return samples[:, [place[name] for name in labels]].astype(np.int8)


def _compare(stated: npt.NDArray[Any], energies: Any, problem: RacedProblem) -> None:
    """Raise if a stated energy differs from the energy of its sample."""
    numbers = stated.astype(np.float64)
    if numbers.shape != energies.shape:
        raise _FaultError(f"states {numbers.size} energies for {len(energies)} samples")
    off = ~(np.abs(numbers - energies) <= problem.stated_tolerance)  # this includes NaN
    if off.any():
        k = int(np.argmax(off))
        raise _FaultError(f"states the energy {stated[k]} for a sample with energy {energies[k]}")


def _resolved(found: Any) -> Any:
    """Wait until a SampleSet has been computed, and return it."""
    if callable(wait := getattr(found, "resolve", None)):
        wait()
    return found


def _refuse_interrupted(found: Any) -> None:
    """Raise KeyboardInterrupt if one of our samplers caught Ctrl-C and returned early."""
    info = getattr(found, "info", None)
    if isinstance(info, Mapping) and str(info.get("stopped", "")) == "interrupted":
        raise KeyboardInterrupt


def _in_a_line(error: BaseException) -> str:
    """Return an exception's type and message, even if reading its message raises."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return f"{type(error).__name__}, which has no message"


def _question_unknown(
    name: str, parameters: Mapping[str, Any], call: Callable[..., Any], listed: set[str]
) -> None:
    """Raise if a sampler rejects a parameter; warn if the parameter is accepted but not listed."""
    unknown = sorted(set(map(str, parameters)) - _keywords(call) - listed)
    if not unknown:
        return
    try:
        kinds = {one.kind for one in inspect.signature(call).parameters.values()}
    except (ValueError, TypeError):
        return
    known = ", ".join(sorted(_keywords(call) | listed))
    told = f"{name} does not list the parameter {unknown[0]!r}; the parameters are {known}"
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        raise ValueError(told)
    if listed:
        warnings.warn(told, UserWarning, stacklevel=2)


def _keywords(call: Callable[..., Any]) -> set[str]:
    """Return the names of the keyword arguments in a callable's signature."""
    try:
        listed = inspect.signature(call).parameters.values()
    except (ValueError, TypeError):
        return set()
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {one.name for one in listed if one.kind in named}


def _in_words(value: Any) -> str:
    """Return a text for a parameter that JSON cannot represent, without memory addresses."""
    if isinstance(value, np.ndarray | np.generic):
        return json.dumps(value.tolist(), default=repr)
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
