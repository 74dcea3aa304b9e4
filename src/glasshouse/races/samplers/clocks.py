"""Clocks that time calls of samplers, and a description of the computer.

Every call keeps its wall-clock time, its CPU time and the numbers of `info["timing"]`. A clock is a
way to compute seconds from them, so a race can be evaluated by another clock later.
"""

from __future__ import annotations

import math
import os
import platform
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, TypeAlias

Clock: TypeAlias = str | Callable[[Any], float]

_UNITS = {"_ns": 1e-9, "_us": 1e-6, "_ms": 1e-3, "_s": 1.0}
_MICROSECOND = 1e-6
_MOST_TIMES, _LONGEST_NAME = 64, 60
_PACKAGES = ("glasshouse", "numpy", "numba", "dimod")
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def clock_name(clock: Clock, what: str = "clock") -> str:
    """Return the name of a clock; for a function, the function's name followed by `_s`.

    >>> clock_name("wall"), clock_name(lambda found: 1.0), clock_name("qpu_access_time")
    ('wall', '<lambda>_s', 'qpu_access_time')
    """
    name = f"{getattr(clock, '__name__', 'clock')}_s" if callable(clock) else clock
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
        raise ValueError(
            f"{what}={clock!r:.60} must be 'wall', 'cpu', a name in info[\"timing\"] such as "
            "'qpu_access_time', or a function of a SampleSet"
        )
    return name


def timing_of(found: Any, clock: Clock) -> dict[str, float]:
    """Return the times in a SampleSet's `info`; a clock that is a function adds its own time.

    D-Wave's QPU samplers put numbers into `info["timing"]`, their hybrid samplers into `info`.
    """
    info = getattr(found, "info", None)
    info = info if isinstance(info, Mapping) else {}
    inner = info.get("timing")
    told = {k: v for k, v in info.items() if isinstance(k, str) and k.endswith("_time")}
    told |= dict(inner) if isinstance(inner, Mapping) else {}
    if callable(clock):
        told[clock_name(clock)] = clock(found)
    times = {}
    for key, value in told.items():
        if isinstance(key, str) and len(key) <= _LONGEST_NAME and _is_time(value):
            times[key] = float(value)
    return dict(list(times.items())[-_MOST_TIMES:])


def _is_time(value: Any) -> bool:
    try:
        return not isinstance(value, bool | str) and 0 <= float(value) < math.inf
    except (TypeError, ValueError, OverflowError):
        return False


def seconds_by(clock: str, wall: float, cpu: float | None, timing: Mapping[str, float]) -> float:
    """Return the duration of a call in seconds, measured by the named clock.

    Numbers of `info["timing"]` are in the unit at the end of their names: `_ns`, `_us`, `_ms` or
    `_s`. Without a unit they are in microseconds, as in D-Wave's samplers.

    >>> seconds_by("qpu_access_time", 2.5, 0.1, {"qpu_access_time": 500000.0})
    0.5
    """
    if clock == "wall":
        return wall
    if clock == "cpu":
        if cpu is None:
            raise ValueError("the CPU time was not stored; use the clock 'wall'")
        return cpu
    if clock not in timing:
        known = ", ".join(timing) or "no times"
        raise ValueError(
            f'info["timing"] must contain {clock!r}, a number of at least 0; found {known:.200}'
        )
    ends = (unit for end, unit in _UNITS.items() if clock.endswith(end))
    return timing[clock] * next(ends, _MICROSECOND)


@cache
def computer(module: str = "") -> Mapping[str, Any]:
    """Describe the computer of this process: processor, usable cores, threads and versions.

    Args:
        module: a sampler's module; the versions of its packages are included.
    """
    cores: Any = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0)
    owners = metadata.packages_distributions().get(module.partition(".")[0], ())
    return {
        "processor": _processor(), "cores": os.cpu_count() or 1, "cores allowed": len(cores),
        "system": platform.platform(), "python": platform.python_version(),
        "threads": {name: os.environ[name][:20] for name in _THREADS if name in os.environ},
        "packages": {
            one: version for one in sorted({*_PACKAGES, *owners}) if (version := _version(one))
        },
    }  # fmt: skip


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    if sys.platform == "linux":
        try:
            with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    if line.startswith("model name"):
                        return line.partition(":")[2].strip()[:100]
        except OSError:
            pass
    return (platform.processor() or platform.machine())[:100]
