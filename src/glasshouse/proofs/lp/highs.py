"""The interface to HiGHS, the LP solver: silent, on one thread, with every status checked.

All linear programs are solved here, in separate threads. HiGHS keeps one scheduler for each thread
that calls it. The first call sets its number of threads, and HiGHS refuses any other number later.
In separate threads, the schedulers of glasshouse and of its user never conflict.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from glasshouse.stopping import working_time
from glasshouse.waiting import SideThread, interruptible

# How a run ended. "unsure" is the end of an interior point method, or of a simplex method with
# large and small numbers, if HiGHS does not know whether the solution is an optimum.
End = Literal["optimal", "bound", "infeasible", "iterations", "time", "unsure"]
_ENDS: dict[str, End] = {
    "kOptimal": "optimal",
    "kObjectiveBound": "bound",
    "kInfeasible": "infeasible",
    "kIterationLimit": "iterations",
    "kTimeLimit": "time",
    "kInterrupt": "time",
    "kUnknown": "unsure",
    "kModelEmpty": "optimal",
}
# Seconds of a slice. Ctrl-C takes effect between two slices.
_SLICE = 0.4
# An interior point method has converged if its relative gap and infeasibilities are at most this;
# these are the default tolerances of HiGHS.
_GAP, _INFEASIBILITY = 1e-8, 1e-7
# The least gap that HiGHS accepts as a tolerance.
_LEAST_GAP = 1e-12
# Iterations in which the log must have shown a gap; otherwise its format has changed.
_READABLE_BY = 4

_idle: list[SideThread] = []


class LinearProgramError(RuntimeError):
    """Raised if HiGHS fails, or ends with an unexpected status."""


def new_highs(
    costs: npt.ArrayLike, lower: npt.ArrayLike = 0.0, upper: npt.ArrayLike = np.inf, **options: Any
) -> Any:
    """Return a HiGHS solver that minimises costs · x over lower ≤ x ≤ upper, without any rows.

    Args:
        costs: one cost per column.
        lower: one lower bound per column, or the same for all.
        upper: one upper bound per column, or the same for all.
        options: options of HiGHS, by name.
    """
    import highspy

    make: Any = highspy.Highs  # untyped
    solver = make()
    for name, value in {"output_flag": False, "threads": 1, **options}.items():
        checked(solver.setOptionValue(name, value), f"{name}={value!r}")
    values = np.asarray(costs, dtype=np.float64)
    size = len(values)
    bounds = (np.broadcast_to(x, size).astype(np.float64) for x in (lower, upper))
    checked(solver.addVars(size, *bounds), "columns")
    columns = np.arange(size, dtype=np.int32)
    checked(solver.changeColsCost(size, columns, values), "costs")
    return solver


def checked(status: Any, what: str) -> None:
    """Raise a `LinearProgramError` if a HiGHS call has failed.

    Args:
        status: the result of a method of HiGHS. A warning, as after a time limit, is not an error.
        what: the operation, for the message.
    """
    if status.name == "kError":
        raise LinearProgramError(f"HiGHS failed ({status.name}) in the call for {what!r}")


def run(solver: Any, seconds: float = math.inf) -> End:
    """Run HiGHS for at most `seconds`, and return how the run ended.

    A simplex method without presolve resumes from the basis that it has reached, so it is run in
    slices. All other methods would start from scratch, so a callback stops them, which HiGHS calls
    once per iteration. An interior point method stops as soon as it has converged. For the simplex
    method, callbacks cost too much, because its iterations are short; it gets them only if not even
    one iteration fits into a slice.

    Raises:
        LinearProgramError: HiGHS failed, or ended with an unexpected status.
        KeyboardInterrupt: Ctrl-C was pressed, and HiGHS has stopped.
    """
    deadline = working_time() + max(seconds, 0.0)
    options = [solver.getOptionValue(name)[1] for name in ("solver", "presolve", "run_crossover")]
    if options == ["ipm", "off", "off"]:
        return _run_until_converged(solver, seconds)
    if options[:2] != ["simplex", "off"]:
        return _run_with_callbacks(solver, seconds)
    allowed = _SLICE
    while True:
        left = deadline - working_time()
        if allowed == _SLICE:
            end = _run(solver, min(left, allowed), lambda: None)
        else:
            end = _run_with_callbacks(solver, min(left, allowed))
        if end != "time" or left <= allowed:
            return end
        if solver.getInfo().simplex_iteration_count == 0:  # the slice was too short to begin
            allowed *= 2


def _run_with_callbacks(
    solver: Any, seconds: float, is_enough: Callable[[Any], bool] = lambda event: False
) -> End:
    """Run HiGHS once, with callbacks that let Ctrl-C stop it within an iteration.

    Args:
        solver: the solver.
        seconds: the time limit.
        is_enough: called with each event of HiGHS; returns True to stop the run.
    """
    asked: list[bool] = []

    def answer(event: Any) -> None:
        # HiGHS keeps the last value, even for the next run.
        event.data_in.user_interrupt = bool(asked) or is_enough(event)

    callbacks = solver.cbIpmInterrupt, solver.cbSimplexInterrupt
    for callback in callbacks:
        callback.subscribe(answer)
    try:
        return _run(solver, seconds, lambda: asked.append(True))
    finally:
        for callback in callbacks:
            callback.unsubscribe(answer)


class _Convergence:
    """The convergence of an interior point method, read from the log of HiGHS.

    Attributes:
        is_reached: whether gap and infeasibilities are small enough.
        is_readable: whether the log has shown a gap.
    """

    def __init__(self) -> None:
        self.is_reached = self.is_readable = False
        self._iterations: set[int] = set()  # the first may be the last one of the run before

    def read(self, event: Any) -> None:
        """Read a message, such as `14* 1.5e+04 1.5e+04 9.4e-17 2.2e-16 6.5e-09 10.5`.

        The numbers are the iteration, the primal and the dual objective, their infeasibilities, the
        gap and the time.
        """
        for line in event.message.splitlines():
            words = line.replace("*", " ").split()
            if len(words) < 6 or not words[0].isdigit():
                continue
            try:
                primal, dual, gap = map(float, words[3:6])
            except ValueError:
                continue
            self.is_readable = True
            self.is_reached = gap <= _GAP and max(primal, dual) <= _INFEASIBILITY

    def is_enough(self, event: Any) -> bool:
        """Return whether a run should stop: it has converged, or its log cannot be read."""
        if not self.is_readable:
            self._iterations.add(event.data_out.ipm_iteration_count)
            return len(self._iterations) > _READABLE_BY
        return self.is_reached


def _run_until_converged(solver: Any, seconds: float) -> End:
    """Run an interior point method without crossover, and stop it as soon as it has converged.

    After convergence, HiGHS would build a basis, which only a crossover needs. While it does, it
    handles neither limits nor callbacks, for most of its time on dense graphs. So HiGHS gets a
    tolerance that it does not reach, and a callback stops it.
    """
    deadline = working_time() + max(seconds, 0.0)
    changed = {"ipm_optimality_tolerance": _LEAST_GAP, "output_flag": True, "log_to_console": False}
    before = {name: solver.getOptionValue(name)[1] for name in changed}
    convergence = _Convergence()
    solver.cbLogging.subscribe(convergence.read)
    try:
        for name, value in changed.items():
            checked(solver.setOptionValue(name, value), f"{name}={value!r}")
        end = _run_with_callbacks(solver, seconds, convergence.is_enough)
    finally:
        solver.cbLogging.unsubscribe(convergence.read)
        for name, value in before.items():
            checked(solver.setOptionValue(name, value), f"{name}={value!r}")
    if convergence.is_reached:
        return "optimal"
    if end == "time" and not convergence.is_readable and (left := deadline - working_time()) > 0.0:
        return _run_with_callbacks(solver, left)
    return end


def _run(solver: Any, seconds: float, stop: Callable[[], object]) -> End:
    """Run HiGHS once, for at most `seconds`."""
    limit = solver.getRunTime() + max(seconds, 0.0)  # HiGHS adds up the time of all runs
    checked(solver.setOptionValue("time_limit", limit), f"time_limit={limit}")
    # A solver is reused, so a run is never abandoned.
    checked(interruptible(solver.run, stop, patience=math.inf, idle=_idle), "run")
    status = solver.getModelStatus().name
    if status not in _ENDS:
        raise LinearProgramError(f"HiGHS ended with model status {status}; please report this bug")
    return _ENDS[status]


def solve(solver: Any) -> None:
    """Solve a linear program that is known to have an optimum, without a time limit."""
    end = run(solver)
    if end != "optimal":
        raise LinearProgramError(f"HiGHS ended with {end!r}, not 'optimal'; please report this bug")
