"""Blocks on threads: chunks, time limits, progress, Ctrl-C."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest
from tests.interrupts import assert_heard, compiled_ctrl_c
from tests.solvers.test_annealing import lattice

from glasshouse.planting.methods import random_loops
from glasshouse.problems.convert import to_max2sat
from glasshouse.solvers import anneal, crew
from glasshouse.solvers.annealing import AnnealTask


def test_chunks_do_not_show(monkeypatch):
    whole = anneal(lattice(6), sweeps=50, runs=70, rng=3)
    monkeypatch.setattr(crew, "_CHUNK", 1)
    pieces = anneal(lattice(6), sweeps=50, runs=70, rng=3)
    assert np.array_equal(whole.states, pieces.states)


def test_a_time_limit_returns_what_there_is(monkeypatch):
    monkeypatch.setattr(crew, "_CHUNK", 1 << 16)
    problem = lattice(30)
    result = anneal(problem, sweeps=10**6, runs=200, target=-(10**6), time_limit=0.05, rng=1)
    assert result.stopped == "time limit"
    assert 0 < result.runs <= 200
    assert not result.complete.any()
    assert np.array_equal(result.energies, problem.energy(result.states))
    assert "time limit" in result.summary()
    with pytest.raises(ValueError, match="no run finished before"):
        result.tts()


@pytest.mark.quiet
def test_a_time_limit_holds_for_any_number_of_runs():
    anneal(lattice(3), sweeps=2, runs=64, rng=1)  # compiles
    began = time.perf_counter()
    result = anneal(lattice(3), sweeps=10**5, runs=10**7, time_limit=0.1, threads=2, rng=1)
    assert result.stopped == "time limit"
    assert time.perf_counter() - began < 3  # with a task per block: above 10


@pytest.mark.parametrize("runs", [10**14, 10**18])
def test_too_many_runs_are_one_clear_line(runs):
    with pytest.raises(MemoryError, match=f"states of {runs} runs, .* use fewer runs"):
        anneal(lattice(6), sweeps=2, runs=runs, rng=1)


@pytest.mark.parametrize("seconds", [np.int64(100), np.float32(100)])
def test_a_time_limit_is_any_real_number(seconds):
    assert anneal(lattice(3), sweeps=2, runs=1, time_limit=seconds, rng=1).stopped is None


def test_success_is_not_overstated_by_a_stop(monkeypatch):
    """The clock ticks once per check: some blocks are finished, one is cut, others not begun."""
    clock = iter(range(10**6))
    monkeypatch.setattr(crew, "_CHUNK", 1)
    monkeypatch.setattr(crew, "working_time", lambda: float(next(clock)))
    planted = random_loops(20, 20, frustration="0.22", loop_density=0.6, rng=3)
    full = anneal(planted, sweeps=60, runs=640, target=planted.energy, rng=1)
    clock = iter(range(10**6))
    cut = anneal(planted, sweeps=60, runs=640, target=planted.energy, time_limit=150, rng=1)
    assert cut.stopped == "time limit"
    assert 0 < cut.complete.sum() < cut.runs < 640
    assert cut.success_probability == np.count_nonzero(cut.hits) / cut.runs
    assert cut.success_probability <= np.count_nonzero(full.hits[: cut.runs]) / cut.runs
    assert cut.tts(unit="sweeps").is_upper_bound


def test_ctrl_c_returns_the_best_so_far():
    calls = []

    def interrupt(progress):
        calls.append(progress)
        raise KeyboardInterrupt

    result = anneal(lattice(30), sweeps=10**7, runs=64, progress=interrupt, rng=1)
    assert result.stopped == "interrupted"
    assert result.best_energy < 0
    assert 0 <= calls[0].fraction < 1


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), compiled_ctrl_c()])
def test_ctrl_c_in_short_work_leaves_all_of_it_done(stop, monkeypatch):
    """Work in the caller's thread can be interrupted at any point."""
    whole = anneal(lattice(4), sweeps=50, runs=20, rng=1)
    advance, interrupts = AnnealTask.advance, [stop]

    def interrupted(task, work, done, until):
        reached = advance(task, work, done, until)
        if until and interrupts:
            raise interrupts.pop()
        return reached

    monkeypatch.setattr(AnnealTask, "advance", interrupted)
    result = anneal(lattice(4), sweeps=50, runs=20, rng=1)
    assert not interrupts
    assert (result.stopped, result.runs) == ("interrupted", 20)
    assert np.array_equal(result.states, whole.states)


def test_progress_rises_to_the_end():
    for problem in (lattice(10), to_max2sat(lattice(10))[0]):
        seen = []
        result = anneal(problem, sweeps=20, runs=128, progress=seen.append, rng=1)
        assert seen[-1].fraction == 1
        assert seen[-1].best == result.best_energy


def test_an_error_in_a_callback_is_the_callers():
    def broken(progress):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        anneal(lattice(6), sweeps=5, runs=1, progress=broken, rng=1)


BUILDING_WITH_CTRL_C = """
import os, signal, threading
import numpy as np
from glasshouse.problems import Ising
from glasshouse.solvers.engine import ColouredGraph
from glasshouse.solvers.engines.sparse import byte_engine

def ring(size):
    ends = np.arange(size)
    edges = np.stack([ends, (ends + 1) % size], 1)
    return ColouredGraph(Ising.from_edges(size, edges, ends % 3 + 1))

byte_engine(ring(10))
large = ring(200_000)
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        byte_engine(large)
except (KeyboardInterrupt, SystemError):  # Numba makes one of the other
    print("heard")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_ctrl_c_while_tables_are_built_does_not_crash():
    assert_heard(BUILDING_WITH_CTRL_C)
