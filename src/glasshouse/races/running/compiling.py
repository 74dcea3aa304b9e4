"""Runs of built-in solvers, whose kernels are compiled before the clock starts.

The kernels that a solver needs depend on the instance, so they cannot be compiled in advance. A
solver that has to compile announces it on standard error. Such a run is stopped and does not count:
the solver is run without a limit until its kernels are in the cache, and then run again.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from glasshouse.races.running.command import Limits
from glasshouse.races.running.meters import MeterName
from glasshouse.races.running.runner import Outcome, run
from glasshouse.races.running.transcript import Transcript

# Returns the command for a run with the given time limit in seconds.
Words = Callable[[float], Sequence[str]]

COMPILED = "its kernels were compiled before its clock started"
COMPILED_WITHIN = "its time includes compiling: the kernels cannot be cached"

_log = logging.getLogger("glasshouse")
_NOTICE = re.compile(rb"^compiling the ", re.MULTILINE)
# Seconds that a solver may search after it began to compile; more at every attempt.
_SEARCHES = (2.0, 15.0, 60.0)
_PATIENCE = 600.0  # seconds for a run that compiles, in addition to its search
# Solvers whose kernels cannot be cached on this computer, as seen by this process.
_never_cached: set[str] = set()


def most_seconds(limits: Limits) -> float:
    """Return the longest time in seconds that `run_compiled` may take under these limits."""
    each = 2 * (limits.seconds + limits.grace) + _PATIENCE
    return sum(each + search for search in _SEARCHES) + limits.seconds + limits.grace


def run_compiled(
    name: str,
    words: Words,
    limits: Limits,
    meter: MeterName = "process-group",
) -> tuple[Outcome, str]:
    """Run a built-in solver; its time does not include the compilation of its kernels.

    Args:
        name: the name of the solver.
        words: a function that returns the command for a run with a time limit in seconds.
        limits: the limits of the run.
        meter: the meter of the run.

    Returns:
        the outcome of the run, and a remark if something was compiled.
    """
    remark = ""
    for search in _SEARCHES if name not in _never_cached else ():
        outcome = run(words(limits.seconds), limits, meter, void=is_compiling)
        if not is_compiling(outcome.transcript):
            return outcome, remark
        if not remark:
            _log.warning("compiling the kernels of %s; its time does not include this", name)
            remark = COMPILED
        seconds = outcome.seconds + search
        patient = replace(limits, seconds=seconds + _PATIENCE, cpu_seconds=None)
        run(words(seconds), patient, meter)
    _never_cached.add(name)
    return run(words(limits.seconds), limits, meter), COMPILED_WITHIN


def is_compiling(transcript: Transcript) -> bool:
    """Return whether a solver has announced on standard error that it compiles kernels."""
    return _NOTICE.search(transcript.errors) is not None
