"""One driver for all kernels: sweeps over one block of runs, its best states, hits of the target.

A kernel is a kind of tables and a handful of functions. Which ones are meant follows from the type
of the tables, at compile time, so that a driver is written once for all kernels.
"""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import chosen_by_type, compiled, inlined, inner
from glasshouse.kernels.extremes import lower
from glasshouse.solvers.kernels.block import seed
from glasshouse.solvers.kernels.kernel import functions_of


def workspace(tables: Any, block: Any) -> Any:
    """Scratch arrays for one thread."""


def begin(tables: Any, block: Any) -> Any:
    """Random spins; `measure` tells their energies."""


def step(tables: Any, beta: Any, work: Any, block: Any) -> Any:
    """One sweep at β."""


def measure(tables: Any, block: Any) -> Any:
    """Bring `block.energies` up to date after a step; after a watched one they are."""


def watched_step(tables: Any, beta: Any, work: Any, number: Any, block: Any) -> Any:
    """The same sweep with the same random numbers, looking for the goals after every flip."""


def keep(tables: Any, block: Any) -> Any:
    """Copy the spins of the runs in the mask to `block.states`."""


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
    """Seed a block and draw its first spins; no energy counts as seen yet."""
    seed(key, index, block.generator)
    begin(tables, block)
    for lane in range(block.energies.size):
        block.lowest[lane] = -(block.never + 1)
        block.goals[lane] = target
        block.hits[lane] = 0


@compiled
def anneal_block(tables: Any, betas: Any, done: Any, blind: Any, needed: Any, block: Any) -> Any:
    """Sweeps `done` + 1, `done` + 2, …, one at each β. Returns the number done in all.

    Energies are looked at only at the ends of sweeps with numbers above `blind`. When the first
    `needed` runs have all reached their goals, the rest of the sweeps is left out.
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
    """The same sweeps, the goals looked for after every flip: never blind."""
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
    """Bring the energies of a block up to date, and do nothing else: for showing progress."""
    measure(tables, block)


@compiled
def look_at_block(tables: Any, done: Any, block: Any) -> None:
    """Take account of the spins as they are: for a block that is stopped before its end."""
    measure(tables, block)
    note(tables, done, block)


@inlined
def note(tables: Any, number: Any, block: Any) -> Any:
    """After a sweep: keep the states that are better than before; whether goals were reached."""
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
    """Whether the first `needed` runs have reached their goals."""
    missing = 0
    for lane in range(needed):
        missing += hits[lane] == 0
    return missing == 0
