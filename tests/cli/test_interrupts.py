"""Ctrl-C, really sent: one line, exit code 130, and soon, whatever a command is busy with."""

from __future__ import annotations

import importlib.metadata
import signal
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from tests.cli.test_termination import START, start

import glasshouse as gh
from glasshouse.cli import main
from glasshouse.cli.termination import Termination
from glasshouse.proofs.exact import EXACT_SOLVERS
from glasshouse.waiting import interruptible

# Says when the solver's own compiled code is about to run.
TOLD = "import sys; import glasshouse.{module} as m; real = m.interruptible\n"
TOLD += "def loud(*arguments):\n    print('busy', flush=True)\n    return real(*arguments)\n"
TOLD += "m.interruptible = loud\n" + START


def interrupted(process, seconds: float) -> tuple[str, str]:
    """Send SIGINT, and see that the process ends with 130 soon."""
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    output = process.heard()
    assert process.returncode == 130, output
    assert time.monotonic() - began < seconds
    return output


@pytest.fixture(scope="module")
def hopeless(tmp_path_factory):
    """An instance that keeps an exact solver busy for hours."""
    path = tmp_path_factory.mktemp("hard") / "k70.wcnf"
    pairs = [(i, j) for i in range(70) for j in range(i)]
    weights = np.random.default_rng(1).integers(1, 99, len(pairs)) * (-1) ** np.arange(len(pairs))
    gh.write(path, gh.Ising.from_edges(70, pairs, weights))
    return path


@pytest.mark.parametrize(
    ("solver", "options"),
    [
        ("rc2", []),
        ("highs", ["--time-limit", "1000"]),
        ("cpsat", []),
        pytest.param("toulbar2", [], marks=pytest.mark.slow),
        pytest.param("scip", [], marks=pytest.mark.slow),
        pytest.param("highs", [], marks=pytest.mark.slow),
        pytest.param("rc2", ["--time-limit", "1000"], marks=pytest.mark.slow),
        pytest.param("rc2-stratified", [], marks=pytest.mark.slow),
    ],
)
def test_exact_solvers(solver, options, hopeless):
    package = EXACT_SOLVERS[solver].package
    if not list(importlib.metadata.distributions(name=package)):
        pytest.skip(f"{package} is not installed: pip install {package}")
    home = "apart" if EXACT_SOLVERS[solver].is_apart else solver.removesuffix("-stratified")
    script = TOLD.format(module=f"proofs.exact.{home}")
    process = start(["solve", str(hopeless), "--solver", solver, *options], script)
    assert process.stdout.readline() == "busy\n"
    process.work(0.7)  # deep inside
    out, words = interrupted(process, 20)
    assert out in ("", "busy\n")  # a process is started first, then it gets the question
    assert words == "glasshouse: interrupted\n"


@pytest.mark.parametrize(
    "seconds", [0.7, *(pytest.param(s, marks=pytest.mark.slow) for s in (0.2, 0.4, 1.1, 1.7, 2.5))]
)
def test_the_first_compilation(seconds, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "x.coo"
    gh.write(path, gh.Ising.from_edges(3, [(0, 1), (1, 2)], [1, -1]))
    process = start(["solve", str(path)])
    assert "compiling the annealing kernels" in process.stderr.readline()
    process.work(seconds)
    out, words = interrupted(process, 20)
    assert (out, words) == ("", "glasshouse: interrupted\n")


class Destroyed:
    """An object whose destructor raises, where no code can catch the exception."""

    def __init__(self, fault: BaseException) -> None:
        self.fault = fault

    def __del__(self) -> None:
        raise self.fault


def test_a_signal_that_a_destructor_swallowed_is_heard_again():
    def wait(termination: Termination) -> None:
        termination.begin()
        Destroyed(KeyboardInterrupt())
        time.sleep(20)

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Termination() as termination:
        wait(termination)
    assert time.monotonic() - began < 10


def test_what_goes_wrong_after_a_swallowed_signal_is_its_doing(monkeypatch, capsys):
    def compile_in_vain(*arguments, **options) -> None:
        Destroyed(KeyboardInterrupt())
        raise RuntimeError("no compiled object yet")

    monkeypatch.setattr("glasshouse.cli.app", SimpleNamespace(parse_args=compile_in_vain))
    assert main(["demo"]) == 130
    assert capsys.readouterr().err == "glasshouse: interrupted\n"
    time.sleep(0.1)  # and it does not come back


def test_only_half_made_objects_of_the_compiler_are_silent(capsys, monkeypatch):
    before = sys.unraisablehook
    with Termination():
        Destroyed(ValueError("ours"))
        assert "ours" in capsys.readouterr().err
        monkeypatch.setattr(Destroyed.__del__, "__module__", "llvmlite.binding.ffi")
        Destroyed(AttributeError("theirs"))
    assert capsys.readouterr().err == ""
    assert sys.unraisablehook is before


def test_work_in_another_thread_is_stopped_and_its_errors_are_the_callers():
    asked = []

    def until_stopped() -> str:
        while len(asked) < 3:  # forgets the first two, as a solver between two steps does
            time.sleep(0.01)
        return "stopped"

    assert interruptible(until_stopped, lambda: asked.append(1), time_limit=0.1) == "stopped"
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0, lambda: None)
