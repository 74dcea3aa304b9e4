"""HiGHS beside HiGHS of the user's, its statuses, and signals while it works."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import highspy
import numpy as np
import pytest
from tests.proofs.instances import spin_glass
from tests.proofs.lattices import lattice
from tests.proofs.users_highs import our_run, users_run

from glasshouse.proofs import prove
from glasshouse.proofs.lp import highs
from glasshouse.proofs.lp.cut_lp import CutLp
from glasshouse.proofs.lp.highs import LinearProgramError, new_highs, run
from glasshouse.proofs.lp.rounds import GreedyRounds
from glasshouse.proofs.lp.separation import Separation
from glasshouse.proofs.signed_graph import SignedGraph
from glasshouse.questions import conic_decomposition, maximum_frustration

FINE = ("kOk", "kOptimal")


def in_a_new_thread(work):
    """HiGHS keeps a scheduler for each thread: that of the tests stays as it is."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_run_of_the_users_before_and_after_changes_nothing(threads):
    def user():
        before = users_run(threads=threads)
        ours = our_run(), conic_decomposition([[3, 1], [1, -1]]).exists
        return before, ours, users_run(threads=threads)

    expected = in_a_new_thread(our_run), True
    assert in_a_new_thread(user) == (FINE, expected, FINE)


def test_the_users_first_run_may_come_after_ours():
    def user():
        our_run()
        maximum_frustration(2, 2)
        return users_run(threads=2)

    assert in_a_new_thread(user) == FINE


def test_a_computer_of_eight_cores(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        note = "no C compiler on Linux: HiGHS is not tested on a pretended computer of 8 cores"
        warnings.warn(note, stacklevel=1)
        pytest.skip(note)
    here, shim = Path(__file__).parent.parent, tmp_path / "pretend_cores.so"
    source = here / "pretend_cores.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
    root = here.parent.parent
    answer = subprocess.run(
        [sys.executable, "-m", "tests.proofs.users_highs"],
        env=os.environ | {"LD_PRELOAD": str(shim), "PYTHONPATH": str(root)},
        cwd=root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    cores, users, ours = answer.stdout.splitlines()
    assert cores == "8"
    assert users == str({FINE})
    assert ours.startswith("True [(True, ")


def test_proofs_in_several_threads_at_once():
    expected = our_run()
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda _: our_run(), range(3))) == [expected] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    assert run(small_program()) == "optimal"
    child = os.fork()
    if child == 0:
        os._exit(0 if run(small_program()) == "optimal" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def small_program():
    solver = new_highs([-1.0, -1.0], upper=1.0)
    solver.addRow(-np.inf, 1.0, 2, np.array([0, 1], np.int32), np.ones(2))
    return solver


def test_a_run_that_fails_is_an_error_of_ours_and_no_time_out(monkeypatch):
    monkeypatch.setattr(highspy.Highs, "run", lambda self: highspy.HighsStatus.kError)
    with pytest.raises(LinearProgramError, match="HiGHS failed"):
        run(small_program())
    with pytest.raises(LinearProgramError, match="HiGHS failed"):
        prove(lattice(4, 4, 4), time_limit=60)
    with pytest.raises(LinearProgramError, match="HiGHS failed"):
        conic_decomposition([[3, 1], [1, -1]])
    with pytest.raises(LinearProgramError, match="HiGHS failed"):
        maximum_frustration(2, 2)


def test_a_status_that_is_not_understood_is_an_error():
    solver = new_highs([-1.0])  # unbounded from below
    with pytest.raises(LinearProgramError, match="kUnbounded"):
        run(solver)


def test_an_option_that_highs_does_not_know_is_an_error(capfd):
    with pytest.raises(LinearProgramError, match="speed"):
        new_highs([1.0], speed="high")


def test_a_simplex_method_in_slices_comes_to_the_same_value(monkeypatch):
    whole = covering_program(400, solver="simplex", presolve="off")
    assert run(whole) == "optimal"
    monkeypatch.setattr(highs, "_SLICE", 1e-3)
    sliced = covering_program(400, solver="simplex", presolve="off")
    assert run(sliced) == "optimal"
    values = [solver.getInfo().objective_function_value for solver in (whole, sliced)]
    assert values[0] == pytest.approx(values[1], rel=1e-9)


def covering_program(size, **options):
    """A set covering LP, which takes the simplex method long."""
    rng = np.random.default_rng(1)
    solver = new_highs(rng.integers(1, 10, size).astype(float), upper=1.0, **options)
    columns = rng.permuted(np.tile(np.arange(size, dtype=np.int32), (size, 1)), axis=1)[:, :8]
    begins = np.arange(0, 8 * size, 8, dtype=np.int32)
    endless = np.full(size, np.inf)
    solver.addRows(size, np.ones(size), endless, 8 * size, begins, columns.ravel(),
                   np.ones(8 * size))  # fmt: skip
    return solver


@pytest.mark.parametrize(
    "options",
    [
        {"solver": "simplex", "presolve": "off"},
        {"solver": "ipm", "presolve": "off", "run_crossover": "off"},
        {"solver": "simplex", "presolve": "on"},
    ],
    ids=["simplex", "ipm", "presolve"],
)
def test_ctrl_c_ends_a_run_and_nothing_is_left_at_work(options):
    solver = covering_program(3000, **options)
    begun, original = threading.Event(), solver.run

    def announced():
        begun.set()
        return original()

    def press():
        begun.wait()
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    solver.run = announced
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        finger = threading.Thread(target=press)
        finger.start()
        with pytest.raises(KeyboardInterrupt):
            run(solver)
    finally:
        signal.signal(signal.SIGINT, before)
        finger.join()
    solver.run = original
    assert solver.getModelStatus().name in ("kTimeLimit", "kInterrupt", "kUnknown", "kNotset")
    assert run(solver, seconds=0.0) == "time"  # the solver can be used again


def test_ctrl_c_does_not_wait_for_a_slice_that_has_grown(monkeypatch):
    """Slices grow where a simplex method takes long to begin, or the computer is busy."""
    interruptible, slices = highs._run_with_callbacks, []

    def noted(solver, seconds):
        slices.append(seconds)
        return interruptible(solver, seconds)

    monkeypatch.setattr(highs, "_run_with_callbacks", noted)
    monkeypatch.setattr(highs, "_SLICE", 1e-9)
    assert run(covering_program(400, solver="simplex", presolve="off")) == "optimal"
    assert slices
    assert min(slices) > 1e-9


def test_a_time_limit_ends_every_kind_of_run():
    for method in ("simplex", "ipm"):
        solver = covering_program(3000, solver=method, presolve="off", run_crossover="off")
        assert run(solver, seconds=0.05) == "time"


def dense_lp():
    """The cycle LP of a complete ±1 graph with its first cuts, for an interior point method."""
    graph = SignedGraph.of(spin_glass(30, 1.0, np.random.default_rng(1), gaussian=False))
    lp = CutLp(np.abs(graph.couplings), run_crossover="off", solver="ipm")
    lp.add(GreedyRounds(Separation(graph)).start())
    return lp


def test_an_interior_point_method_stops_when_it_has_converged():
    """The basis that HiGHS would build next takes minutes on larger graphs, and hears nothing."""
    lp = dense_lp()
    solver = lp.solver
    quiet = [solver.getOptionValue(name) for name in ("output_flag", "ipm_optimality_tolerance")]
    for _ in range(2):
        assert run(solver, 60.0) == "optimal"
        assert solver.getModelStatus().name == "kInterrupt"
    assert quiet == [
        solver.getOptionValue(name) for name in ("output_flag", "ipm_optimality_tolerance")
    ]
    found, duals = (
        solver.getInfo().objective_function_value,
        np.array(solver.getSolution().row_dual),
    )
    lp.solve(60.0, solver="simplex")
    assert lp.finished
    assert found == pytest.approx(lp.value, rel=1e-7)
    assert duals @ lp.right_sides == pytest.approx(lp.value, rel=1e-7)
    assert run(dense_lp().solver, seconds=0.0) == "time"


def test_a_log_that_cannot_be_read_changes_nothing_but_the_time(monkeypatch, capfd):
    monkeypatch.setattr(highs._Convergence, "read", lambda self, event: None)
    solver = dense_lp().solver
    assert run(solver, 60.0) == "optimal"
    assert solver.getModelStatus().name == "kOptimal"
    assert capfd.readouterr() == ("", "")


def test_lines_of_the_log_show_convergence():
    def told(message):
        convergence = highs._Convergence()
        convergence.read(SimpleNamespace(message=message))
        return convergence.is_readable, convergence.is_reached

    assert told("   13    1.50e+04   1.50e+04   1.7e-16   2.2e-16   2.4e-08       8.9") == (
        True,
        False,
    )
    assert told("   14*   1.50e+04   1.50e+04   9.5e-17   2.2e-16   6.5e-09      10.5") == (
        True,
        True,
    )
    assert told("   14    1.50e+04   1.50e+04   9.5e-05   2.2e-16   6.5e-09      10.5") == (
        True,
        False,
    )
    assert told(
        " Iter       primal obj         dual obj       pinf       dinf       gap      time"
    ) == (False, False)
    assert told("IPX model has 7353 rows, 5050 columns and 22118 nonzeros") == (False, False)


def test_an_interior_solution_is_current_until_cuts_change():
    lp = dense_lp()
    lp.solve(60.0, solver="ipm")
    assert lp.is_interior
    lp.remove(np.arange(len(lp.cuts)) < 3)
    assert not lp.is_interior
    lp.solve(60.0, solver="ipm")
    lp.add(lp.cuts[:1])
    assert not lp.is_interior
    lp.solve(60.0, solver="simplex")
    assert not lp.is_interior


def test_python_ends_well_after_runs_in_side_threads():
    script = "from tests.proofs.users_highs import our_run; print(our_run()[0])"
    root = Path(__file__).parents[3]
    answer = subprocess.run(
        [sys.executable, "-c", script],
        cwd=root, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(root)},
    )  # fmt: skip
    assert (answer.returncode, answer.stdout) == (0, "True\n")
