"""Results of a race of samplers, read from its store; samplers and problems are not needed."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from glasshouse.problems import validation
from glasshouse.races.samplers.calling import SamplerCall
from glasshouse.races.samplers.problems import StoredProblem
from glasshouse.races.samplers.results import SamplerResults
from glasshouse.races.samplers.rows import NOTE, SAMPLER_RACE, circumstances, rows_of
from glasshouse.store import Store, StoredTask, StoreError, damaged
from glasshouse.store.records import json_object, short, stored_name, without_codes

_MOST_NAME = 1000
_OWN = {"instance", "sha256", "optimum", "best"}


def read_sampler_results(store: Store) -> SamplerResults:
    """Read all calls of a race of samplers from its store, even if the race is not finished.

    The stated optima are trusted, because the store does not contain the problems.

    Raises:
        StoreError: the store does not contain a race of samplers, or is damaged.
    """
    noted = store.noted(NOTE)
    if noted is None:
        raise StoreError(
            f"{store.path} contains no race of samplers; run `glasshouse.race_samplers` first"
        )
    problems: dict[str, StoredProblem] = {}
    calls: list[SamplerCall] = []
    samplers: dict[str, dict[str, Any]] = {}
    try:
        entropy = json_object(noted, "the race")["seed"][0]
        for task in store.tasks():
            if task.kind == SAMPLER_RACE.name:
                problem = _problem(task)
                problems.setdefault(problem.name, problem)
                calls += _calls(store, task, problem)
                solver = task.table("solver")
                samplers[stored_name(solver["name"], _MOST_NAME)] = solver
        seed = validation.count(entropy, "seed")
    except StoreError:
        raise
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as fault:
        raise damaged(store.path, fault) from None
    calls.sort(key=lambda call: call.number)
    return SamplerResults(store.path.stem, tuple(problems.values()), tuple(calls), seed,
                          samplers=samplers)  # fmt: skip


def _problem(task: StoredTask) -> StoredProblem:
    asked, realised = task.table("parameters"), task.realised or {}
    size, rounding = realised.get("variables", 0), realised.get("rounding", 0.0)
    if type(rounding) is not float or not 0 <= rounding < math.inf:
        raise ValueError(f"the stored rounding is {short(rounding)}; expected a float ≥ 0")
    grown = {key: value for key, value in asked.items() if key not in _OWN}
    return StoredProblem(
        stored_name(asked["instance"], _MOST_NAME), grown, validation.count(size, "variables"),
        _energy(asked["optimum"]), _energy(asked["best"]), rounding,
    )  # fmt: skip


def _calls(store: Store, task: StoredTask, problem: StoredProblem) -> list[SamplerCall]:
    solver = stored_name(task.table("solver")["name"], _MOST_NAME)
    calls = []
    for row in rows_of(store.rows(task)):
        seconds, reads, fault = row["seconds"], row["reads"], row["fault"]
        energies = _energies(row["energies"])
        if len(energies) != (0 if fault else reads) or reads < 1 or not 0 <= seconds < math.inf:
            raise ValueError(f"a call with {reads} reads cannot have {len(energies)} energies")
        least = -math.inf if problem.optimum is None else problem.optimum
        if not np.isfinite(energies).all() or (energies < least - problem.rounding).any():
            raise ValueError("a call has an energy that is not finite or below the optimum")
        calls.append(SamplerCall(solver, problem.name, row["instance"], seconds, reads,
                                 np.sort(energies), without_codes(fault), row["seed"],
                                 **circumstances(row)))  # fmt: skip
    return calls


def _energies(text: str) -> Any:
    """Parse the stored energies of a call, as integers if all of them are integers."""
    values = json.loads(text)
    # NumPy would give each text of a list the length of the longest.
    if not isinstance(values, list) or not {*map(type, values)} <= {int, float}:
        raise ValueError("the energies of a call are not a list of numbers")
    energies = np.array(values)
    if len(energies) and energies.dtype.kind not in "if":
        raise ValueError("the energies of a call contain a number that does not fit into 64 bits")
    return energies


def _energy(value: Any) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (is_number and math.isfinite(value)):
        raise ValueError(f"{short(value)} is not an energy; expected a finite number")
    return value
