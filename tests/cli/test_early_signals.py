"""Signals before a command has begun, while modules are loaded, and where Ctrl-C is ignored."""

from __future__ import annotations

import signal
import time
from types import SimpleNamespace

import pytest
from tests.cli.test_interrupts import Destroyed
from tests.cli.test_termination import START, heard, start

import glasshouse as gh
from glasshouse.cli import main
from glasshouse.cli.termination import Termination

# Sends a signal as soon as a module is searched for.
DURING = """
import os, signal, sys
class Finder:
    def find_spec(self, name, *rest):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), {number})
sys.meta_path.insert(0, Finder())
"""
UNKNOWN = ("s UNKNOWN\n", "", 0)


@pytest.fixture
def wcnf(tmp_path):
    gh.write(tmp_path / "x.wcnf", gh.random_loops(6, 6, frustration="1/5", loops=4, rng=1))
    return str(tmp_path / "x.wcnf")


@pytest.mark.parametrize("module", ["cyclopts", "numba", "glasshouse.files.formats.cnf"])
@pytest.mark.parametrize(
    ("number", "rules", "expected"),
    [
        (signal.SIGTERM, ["--maxsat-output"], UNKNOWN),
        (signal.SIGTERM, [], ("", "glasshouse: terminated\n", 143)),
        (signal.SIGINT, [], ("", "glasshouse: interrupted\n", 130)),
    ],
)
def test_modules_are_loaded_whole(module, number, rules, expected, wcnf):
    script = DURING.format(module=module, number=int(number)) + START
    process = start(["solve", wcnf, *rules], script)
    answer, said = heard(process)
    assert (answer, said, process.returncode) == expected


def test_sigterm_while_the_file_is_read(wcnf):
    script = f"""
import os, signal
from glasshouse import files
read = files.read_document
def late(*arguments, **options):
    os.kill(os.getpid(), signal.SIGTERM)
    return read(*arguments, **options)
files.read_document = late
{START}
"""
    process = start(["solve", wcnf, "--maxsat-output"], script)
    answer, said = heard(process)
    assert (answer, said, process.returncode) == UNKNOWN


def test_a_time_limit_by_the_rules_is_that_of_the_whole_command(wcnf):
    """Where a solver's own clock has not begun yet, as while it is compiled."""
    script = f"""
import signal, time
from glasshouse import proofs
def compiles_for_minutes(*arguments, **options):
    signal.setitimer(signal.ITIMER_REAL, min(signal.getitimer(signal.ITIMER_REAL)[0], 0.1))
    time.sleep(300)
proofs.prove = compiles_for_minutes
{START}
"""
    words = ["solve", wcnf, "--solver", "prove", "--maxsat-output", "--time-limit", "1000"]
    process = start(words, script)
    answer, said = heard(process)
    assert (process.returncode, said) == (10, "")
    value, status, model = answer.splitlines()
    assert status == "s SATISFIABLE"
    assert value == f"o {gh.read(wcnf).cost([int(bit) for bit in model.removeprefix('v ')])}"


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no timer sends signals here")
def test_a_time_limit_by_the_rules_waits_for_no_certificate(wcnf):
    """A certificate may take longer than the limit; the answer needs the state alone."""
    script = f"""
import signal, sys
from glasshouse.proofs import prover
def verifies_for_minutes(*arguments):
    signal.raise_signal(signal.SIGALRM)  # time is up
    print("went on", file=sys.stderr)
prover.Proven = verifies_for_minutes
{START}
"""
    words = ["solve", wcnf, "--solver", "prove", "--maxsat-output", "--time-limit", "1000"]
    process = start(words, script)
    answer, said = heard(process)
    assert (process.returncode, said) == (10, "")
    *values, status, model = answer.splitlines()
    assert status == "s SATISFIABLE"
    assert values[-1] == f"o {gh.read(wcnf).cost([int(bit) for bit in model.removeprefix('v ')])}"


def test_an_uncaught_exception_has_an_exit_code_of_its_own(monkeypatch, capsys):
    def broken(*arguments, **options):
        raise RuntimeError("an unexpected error")

    monkeypatch.setattr("glasshouse.cli.app", SimpleNamespace(parse_args=broken))
    assert main(["demo"]) == 70
    *traceback, last = capsys.readouterr().err.splitlines()
    assert traceback[-1] == "RuntimeError: an unexpected error"
    assert last == "glasshouse: this is a bug; please report it with the lines above"


@pytest.fixture
def ignored_ctrl_c():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ignored_ctrl_c")
class TestIgnoredCtrlC:
    """Signals are ignored from the start, as under nohup, in cron jobs and in background jobs."""

    def test_it_stays_ignored_and_sigterm_ends_the_command(self, wcnf):
        script = f"""
import os, signal, threading
from glasshouse.solvers.crew import Crew
work = Crew.work
def told(*arguments):
    os.kill(os.getpid(), signal.SIGINT)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM)).start()
    return work(*arguments)
Crew.work = told
{START}
"""
        process = start(["solve", wcnf, "--sweeps", "100000000", "--target", "-1"], script)
        _, said = heard(process)
        assert (process.returncode, said) == (143, "glasshouse: terminated\n")

    def test_a_swallowed_sigterm_is_heard_again(self):
        def wait(termination: Termination) -> None:
            termination.begin()
            Destroyed(KeyboardInterrupt())
            time.sleep(20)

        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt), Termination() as termination:
            wait(termination)
        assert time.monotonic() - began < 10
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_signals_of_a_parent_that_sends_both_are_one(wcnf):
    script = f"""
import signal
from glasshouse import files
read = files.read_document
def late(*arguments, **options):
    both = {{signal.SIGINT, signal.SIGTERM}}
    signal.pthread_sigmask(signal.SIG_BLOCK, both)
    for number in both:
        signal.raise_signal(number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, both)
    return read(*arguments, **options)
files.read_document = late
{START}
"""
    process = start(["solve", wcnf], script)
    assert heard(process) == ("", "glasshouse: terminated\n")
    assert process.returncode == 143


def test_the_package_loads_little_before_signals_are_handled():
    script = "import sys; import glasshouse.cli; print(*sys.modules)"
    process = start([], script)
    loaded = set(heard(process)[0].split())
    assert not loaded & {"cyclopts", "rich", "numpy", "numba", "typing", "re"}
