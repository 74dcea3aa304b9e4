"""The driver of all annealing kernels: sweeps one block of runs, and records states and hits.

A kernel is a class of tables and six functions. The type of the tables selects the functions at
compile time, so that the driver is written once for all kernels.
"""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import chosen_by_type, compiled, inlined, inner
from glasshouse.kernels.extremes import lower
from glasshouse.solvers.kernels.block import seed
from glasshouse.solvers.kernels.kernel import functions_of


def workspace(tables: Any, block: Any) -> Any:
    """Allocate the scratch arrays of a kernel for one thread."""


def begin(tables: Any, block: Any) -> Any:
    """Draw random spins for all runs of a block, without computing their energies."""


def step(tables: Any, beta: Any, work: Any, block: Any) -> Any:
    """Do one sweep of all runs of a block at β."""


def measure(tables: Any, block: Any) -> Any:
    """Compute `block.energies`, which `step` need not keep up to date."""


def watched_step(tables: Any, beta: Any, work: Any, number: Any, block: Any) -> Any:
    """Do the same sweep as `step`, but test for the goals after every flip."""


def keep(tables: Any, block: Any) -> Any:
    """For each run that the mask marks, copy its spins to `block.states`."""


@chosen_by_type(workspace, forceinline=True)
def _workspace(tables: Any, block: Any) -> Any:
    return functions_of(tables.instance_class).workspace.py_func


@chosen_by_type(begin)
def _begin(tables: Any, block: Any) -> Any:
    return functions_of(tables.instance_class).begin.py_func


@chosen_by_type(step, forceinline=True)
def _step(tables: Any, beta: Any, work: Any, block: Any) -> Any:
    return functions_of(tables.instance_class).step.py_func


@chosen_by_type(measure, forceinline=True)
def _measure(tables: Any, block: Any) -> Any:
    return functions_of(tables.instance_class).measure.py_func


@chosen_by_type(watched_step)
def _watched_step(tables: Any, beta: Any, work: Any, number: Any, block: Any) -> Any:
    return functions_of(tables.instance_class).watched_step.py_func


@chosen_by_type(keep)
def _keep(tables: Any, block: Any) -> Any:
    return functions_of(tables.instance_class).keep.py_func


@compiled
def start_block(tables: Any, key: Any, index: Any, target: Any, block: Any) -> Any:
    """Seed a block and draw its first spins, but do not record their energies."""
    seed(key, index, block.generator)
    begin(tables, block)
    for lane in range(block.energies.size):
        block.lowest[lane] = -(block.never + 1)
        block.goals[lane] = target
        block.hits[lane] = 0


@compiled
def anneal_block(tables: Any, betas: Any, done: Any, blind: Any, needed: Any, block: Any) -> Any:
    """Do one sweep of a block at each β, and return the total number of sweeps done.

    The first sweep has the number `done` + 1. Energies are measured only at the ends of sweeps with
    numbers above `blind`. If the first `needed` runs have all reached their goals, the remaining
    sweeps are skipped.
    """
    work = workspace(tables, block)
    for beta in betas:
        step(tables, beta, work, block)
        done += 1
        if done > blind:
            measure(tables, block)
            if note(tables, done, block) and all_hit(block.hits, needed):
                break
    return done


@compiled
def watch_block(tables: Any, betas: Any, done: Any, blind: Any, needed: Any, block: Any) -> Any:
    """Do the same sweeps as `anneal_block`, but test for the goals after every flip."""
    work = workspace(tables, block)
    measure(tables, block)
    for beta in betas:
        done += 1
        watched_step(tables, beta, work, done, block)
        note(tables, done, block)
        if all_hit(block.hits, needed):
            break
    return done


@compiled
def measure_block(tables: Any, block: Any) -> None:
    """Compute the energies of a block for progress reports, without recording states or hits."""
    measure(tables, block)


@compiled
def look_at_block(tables: Any, done: Any, block: Any) -> None:
    """Record the current energies, best states and hits of a block."""
    measure(tables, block)
    note(tables, done, block)


@inlined
def note(tables: Any, number: Any, block: Any) -> Any:
    """Record improved states and hits after a sweep, and return whether there are new hits."""
    improved, reached = 0, 0
    for lane in range(block.energies.size):
        improved += block.energies[lane] < block.lowest[lane]
        reached += block.energies[lane] <= block.goals[lane]
    if reached:
        for lane in range(block.energies.size):
            if block.energies[lane] <= block.goals[lane]:
                block.hits[lane] = number
                block.goals[lane] = block.never
    if improved:
        for lane in range(block.energies.size):
            block.mask[lane] = 255 if block.energies[lane] < block.lowest[lane] else 0
        for lane in range(block.energies.size):
            block.lowest[lane] = lower(block.lowest[lane], block.energies[lane])
        keep(tables, block)
    return reached > 0


@inner
def all_hit(hits: Any, needed: Any) -> Any:
    """Return whether the first `needed` runs have all reached their goals."""
    missing = 0
    for lane in range(needed):
        missing += hits[lane] == 0
    return missing == 0
