"""Script that interrupts library calls at random moments, in its own process.

Arguments: a seed, the number of interrupts, and the names of calls. After each interrupt, the same
call must work and return the same result. Before half of the interrupts, a few kernels are removed
from memory and disk, so that they are compiled again.
"""

from __future__ import annotations

import gc
import json
import logging
import random
import signal
import sys
import time
from collections import Counter
from typing import Any

import numpy as np
from numba.core.compiler_lock import global_compiler_lock
from numba.core.targetconfig import ConfigStack
from tests.interrupts import is_stop_waiting

import glasshouse as gh
from glasshouse.boltzmann import find_mode
from glasshouse.compiled import Kernel, compiled, inlined, inner, kernel_counts
from glasshouse.kernels.arrays import zeros

RING = gh.Ising.from_edges(20, [(k, (k + 1) % 20) for k in range(20)], np.resize([1, -2, 3], 20))
PLANTED = None


def plant() -> Any:
    """Grow an instance, which compiles the kernels of loops."""
    global PLANTED
    PLANTED = gh.random_loops(6, 6, frustration="1/5", loops=6, rng=1)
    return PLANTED.problem.weights.tolist()


def fresh() -> Any:
    """Compile a new kernel with new inner functions, and call it."""

    @inner
    def shifted(x: Any, y: Any) -> Any:
        return x * 3 + y

    @inlined
    def summed(x: Any) -> Any:
        total = zeros(2, np.int64)
        for k in range(x):
            total[k % 2] += shifted(k, x)
        return total

    @compiled
    def outer(x: Any) -> Any:
        found = summed(x)
        return found[0] - found[1] + np.arange(x).sum()

    return int(outer(7))


def verify() -> Any:
    """Verify a certificate."""
    planted = gh.random_loops(6, 6, frustration="1/5", loops=6, rng=1)
    return str(gh.verify(planted.problem, planted.certificate).bound)


def sweeps() -> Any:
    """Count the sweeps to the solution of an ensemble, in threads."""
    many = gh.random_loops_ensemble(6, 6, 200, frustration="0.1", loops=6, rng=1)
    return gh.sweeps_to_solution(many, rng=1, threads=2).totals.tolist()


def modes() -> Any:
    """Find the mode of a machine that is too large for enumeration; search for a proof briefly."""
    weights = np.random.default_rng(1).normal(0.3, 0.1, (26, 25))
    return find_mode(gh.BoltzmannMachine(weights), search="prove", seconds=0.2, rng=1).energy


def thermal() -> Any:
    """Sample the Boltzmann distribution of a ring."""
    return gh.sample(RING, 0.5, sweeps=200, runs=4, draws=50, rng=1).energies.tolist()


CALLS: dict[str, Any] = {
    "fresh": fresh,
    "plant": plant,
    "verify": verify,
    "anneal": lambda: gh.anneal(RING, sweeps=50, rng=1).energies.tolist(),
    "few": lambda: gh.anneal(RING, sweeps=50, runs=8, rng=1, threads=2).energies.tolist(),
    "temper": lambda: gh.temper(RING, sweeps=50, runs=2, rng=1).energies.tolist(),
    "minimise": lambda: gh.minimise(RING, time_limit=0.1, target=None, threads=2).energy,
    "sweeps": sweeps,
    "descend": lambda: gh.descend(RING, np.ones(20, dtype=np.int8)).states.tolist(),
    "brute": lambda: gh.brute_force(RING).energy,
    "prove": lambda: str(gh.prove(RING).lower_bound),
    "modes": modes,
    "thermal": thermal,
    "cores": lambda: gh.cores(30, cores=9, rng=1).problem.weights.tolist(),
    "single": lambda: gh.train(gh.bars_and_stripes(2), 2, epochs=3, precision="single",
                               rng=1).machine.weights.tolist(),
    "train": lambda: gh.train(gh.bars_and_stripes(2), 2, epochs=3, rng=1).machine.weights.tolist(),
}  # fmt: skip


def forget(draws: random.Random) -> None:
    """Remove a few kernels from memory and disk, so that they are compiled again."""
    known = [thing for thing in gc.get_objects() if type(thing) is Kernel and thing.overloads]
    for kernel in draws.sample(known, min(3, len(known))):
        kernel._make_finalizer()()
        kernel._reset_overloads()
        kernel._cache.flush()


def main() -> None:
    """Interrupt calls, repeat them and compare their results, and print the counts."""
    logging.disable()
    seed, tries, *names = sys.argv[1:]
    draws, counts = random.Random(int(seed)), Counter[str]()
    came: list[int] = []

    def interrupt(number: int, frame: Any) -> None:
        came.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    names = names or list(CALLS)
    expected = {name: CALLS[name]() for name in names}
    lasts = dict.fromkeys(names, 0.5)
    for _ in range(int(tries)):
        name = draws.choice(names)
        if draws.random() < 0.5:
            forget(draws)
        before, began = kernel_counts()[0], time.perf_counter()
        came.clear()
        try:
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + draws.random() * lasts[name])
                found = CALLS[name]()
                # Solvers return the best state so far when they are interrupted.
                assert came or found == expected[name]
                counts["returned early" if came else "finished"] += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            compiling = kernel_counts()[0] > before
            counts["interrupted while compiling" if compiling else "interrupted"] += 1
        assert CALLS[name]() == expected[name], name
        lasts[name] = time.perf_counter() - began
        assert signal.getsignal(signal.SIGALRM) is interrupt
        assert not global_compiler_lock.is_locked()
        assert len(ConfigStack()) == 0
        assert not is_stop_waiting()
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
