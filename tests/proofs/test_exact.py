"""Third-party exact solvers agree with `prove` and with enumeration."""

from __future__ import annotations

import gc
import importlib.metadata
import os
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread, Timer

import numpy as np
import pytest
from hypothesis import given, settings
from tests import strategies
from tests.children import PATIENCE
from tests.oracles import optimum
from tests.proofs.instances import loop_sum, spin_glass

from glasshouse.extras import MissingPackageError, optional
from glasshouse.problems import Max2Sat
from glasshouse.proofs import HardClausesUnsatisfiableError, prove
from glasshouse.proofs.exact import EXACT_SOLVERS, ExactSolver, RefusedError, solve_exactly


def installed(solver: str) -> pytest.param:
    package = EXACT_SOLVERS[solver].package
    missing = not list(importlib.metadata.distributions(name=package))
    reason = f"{package} is not installed"
    return pytest.param(solver, marks=pytest.mark.skipif(missing, reason=reason))


SOLVERS = [installed(name) for name in EXACT_SOLVERS]


@pytest.mark.parametrize("solver", SOLVERS)
@given(problem=strategies.max2sats())
@settings(max_examples=20)
def test_clauses_against_enumeration(solver, problem):
    best = optimum(problem)[0]
    if problem.num_hard and best >= problem.hard_weight:
        with pytest.raises(HardClausesUnsatisfiableError):
            solve_exactly(problem, solver=solver)
        return
    result = solve_exactly(problem, solver=solver)
    assert result.optimal
    assert result.energy == best == problem.cost(result.state)


@pytest.mark.parametrize("solver", SOLVERS)
def test_all_agree_with_prove(solver):
    rng = np.random.default_rng(6)
    problem, energy = loop_sum(15, 20, rng, fields=True)
    assert solve_exactly(problem, solver=solver).energy == prove(problem).energy == energy
    glass = spin_glass(9, 0.8, rng, gaussian=True)
    proof, result = prove(glass), solve_exactly(glass, solver=solver)
    assert proof.lower_bound <= result.energy <= proof.energy


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_time_limit_ends_the_search(solver):
    problem = spin_glass(150, 0.9, np.random.default_rng(1), gaussian=True)
    if solver == "dwave-tree":  # it refuses at once, whenever the computer gets round to it
        with pytest.raises(RefusedError, match="width at most 25"):
            solve_exactly(problem, solver=solver, time_limit=PATIENCE)
        return
    result = solve_exactly(problem, solver=solver, time_limit=1)
    assert not result.optimal
    assert result.seconds < 30  # a bound on hanging, not on speed


@pytest.mark.parametrize("solver", SOLVERS)
def test_large_weights_are_solved_exactly_or_refused(solver):
    rng, most = np.random.default_rng(2), EXACT_SOLVERS[solver].most_weight
    size, count = 7, 14
    for _ in range(8):
        clauses = rng.integers(1, size + 1, (count, 2)) * rng.choice([-1, 1], (count, 2))
        clauses[:3, 1] = 0
        # All but equal, so that units decide.
        weights = (most or 2**62) // count - rng.integers(0, 6, count)
        problem = Max2Sat(size, clauses.astype(np.int32), weights)
        result = solve_exactly(problem, solver=solver)
        assert result.optimal
        assert result.energy == optimum(problem)[0]
    if most is None:
        return
    heavy = Max2Sat.from_clauses(2, [[1, 2], [-1, 2]], [most, 1])
    with pytest.raises(ValueError, match=r"exact only up to .*; use solver='rc2-str"):
        solve_exactly(heavy, solver=solver)


@pytest.mark.parametrize("solver", SOLVERS)
def test_hard_clauses_that_contradict_each_other(solver):
    problem = Max2Sat.from_clauses(2, [[1, 2]], [2**50], hard=[[1], [-1, 2], [-2]])
    with pytest.raises(HardClausesUnsatisfiableError):
        solve_exactly(problem, solver=solver)


@pytest.mark.parametrize("solver", SOLVERS)
def test_time_limits(solver, capfd):
    problem = Max2Sat.from_clauses(2, [[1, 2], [-1], [-2]], [3, 1, 2])
    for limit in (0, -1, np.nan, -np.inf, True, "x"):
        with pytest.raises(ValueError, match=r"time_limit=.* is not a positive number of seconds"):
            solve_exactly(problem, solver=solver, time_limit=limit)
    for limit in (None, np.inf, 10**400, 1e30, PATIENCE, 0.5):  # first packages are loaded
        assert solve_exactly(problem, solver=solver, time_limit=limit).energy == 1
    assert "rror" not in capfd.readouterr().err


@pytest.mark.parametrize("solver", [installed(name) for name in ("cpsat", "highs", "scip")])
def test_better_states_are_told_while_a_solver_works(solver):
    problem, energy = loop_sum(15, 20, np.random.default_rng(6), fields=True)
    told = []
    solve_exactly(problem, solver=solver, incumbent=lambda s: told.append(int(problem.energy(s))))
    assert min(told) == energy


@pytest.mark.parametrize("order", [("cpsat", "highs"), ("highs", "cpsat")])
def test_libraries_that_cannot_share_a_process_do_not(order):
    """OR-Tools and highspy each bring a libhighs.so.1; the second one to come breaks."""
    pytest.importorskip("ortools", reason="ortools is not installed: pip install ortools")
    script = "from glasshouse.problems import Max2Sat\n"
    script += "from glasshouse.proofs import solve_exactly\n"
    script += "problem = Max2Sat.from_clauses(2, [[1, 2], [-1], [-2]], [3, 1, 2])\n"
    script += f"print([solve_exactly(problem, solver=s).energy for s in {order}])"
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE,
        check=False, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert (run.stdout, run.stderr) == ("[1, 1]\n", "")


def hang(problem, time_limit, tell):
    tell([1, 0])
    time.sleep(1000)


def answer(problem, time_limit):
    return [1, 0], True


def ponder(problem, time_limit):
    time.sleep(1.5)
    return [1, 0], True


def die(problem, time_limit):
    os._exit(3)


def complain(problem, time_limit):
    raise ZeroDivisionError("by nobody")


def miss(problem, time_limit):
    optional("polars.nowhere", "this toy")


class TestApart:
    problem = Max2Sat.from_clauses(2, [[1, 2], [-1], [-2]], [3, 1, 2])

    def use(self, monkeypatch, solve, **options):
        entry = ExactSolver(solve, "toy", is_apart=True, **options)
        monkeypatch.setitem(EXACT_SOLVERS, "toy", entry)

    def test_what_was_told_is_the_answer_of_one_that_is_killed(self, monkeypatch):
        self.use(monkeypatch, hang, tells=True)
        result = solve_exactly(self.problem, solver="toy", time_limit=1)
        assert (result.state.tolist(), result.optimal) == ([1, 0], False)
        assert result.seconds < 30

    def test_a_missing_package_is_told_in_our_words(self, monkeypatch):
        self.use(monkeypatch, miss)
        with pytest.raises(MissingPackageError, match="this toy needs polars"):
            solve_exactly(self.problem, solver="toy")

    @pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no worker ends with a thread")
    def test_a_worker_is_not_handed_to_a_thread_that_outlives_its_own(self, monkeypatch):
        self.use(monkeypatch, ponder)
        is_idle, may_end = Event(), Event()

        def start_a_worker():
            solve_exactly(self.problem, solver="toy")
            is_idle.set()
            may_end.wait()

        other = Thread(target=start_a_worker)
        other.start()
        assert is_idle.wait(PATIENCE)
        Timer(0.5, may_end.set).start()  # amid what follows
        assert solve_exactly(self.problem, solver="toy").optimal
        other.join()

    @pytest.mark.skipif(sys.platform != "linux", reason="counts open files in /proc")
    def test_threads_that_ended_leave_neither_processes_nor_open_files(self, monkeypatch):
        self.use(monkeypatch, answer)
        open_files, solved = Path("/proc/self/fd"), []
        before = len(list(open_files.iterdir()))
        for _ in range(3):
            thread = Thread(target=lambda: solved.append(solve_exactly(self.problem, solver="toy")))
            thread.start()
            thread.join()
        gc.collect()
        assert [result.optimal for result in solved] == [True] * 3
        assert len(list(open_files.iterdir())) == before

    def test_one_that_dies_or_fails_is_told_and_the_next_one_is_another(self, monkeypatch):
        for solve, said in (
            (die, "the worker process ended with exit code 3"),
            (complain, "by nobody"),
        ):
            for _ in range(2):
                self.use(monkeypatch, solve)
                with pytest.raises(ValueError, match=f"solver='toy' failed with .*{said}"):
                    solve_exactly(self.problem, solver="toy")


def test_errors_of_a_solver_are_told_in_our_words(monkeypatch):
    def fail(problem, time_limit):
        raise RuntimeError("Contradiction")

    monkeypatch.setitem(EXACT_SOLVERS, "toulbar2", ExactSolver(fail, "pytoulbar2"))
    with pytest.raises(ValueError, match="solver='toulbar2' failed with RuntimeError: Contr"):
        solve_exactly(Max2Sat.from_clauses(2, [[1, 2], [-1]], [1, 1]), solver="toulbar2")


def test_bad_arguments():
    problem = Max2Sat.from_clauses(2, [[1, 2]], [1])
    with pytest.raises(ValueError, match="solver='magic' is not one of cpsat, dwave-tree, highs"):
        solve_exactly(problem, solver="magic")
    with pytest.raises(ValueError, match="needs integer weights"):
        solve_exactly(Max2Sat.from_clauses(2, [[1, 2]], [1.5]), solver="highs")
