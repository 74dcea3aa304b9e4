"""Hunts: right solvers pass, a planted bug is found and shrunk, and nothing is lost."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

import glasshouse as gh
from glasshouse.certificates import Certificate
from glasshouse.files.clause_file import ClauseFile
from glasshouse.files.known import known_file
from glasshouse.fuzzing import hunting
from glasshouse.fuzzing.drawing import DEFAULT, Corners, fuzz_question
from glasshouse.fuzzing.hunting import (
    Catch,
    Fault,
    Tried,
    fault_kind,
    hand_over,
    hunt,
    shrunk_fault,
)
from glasshouse.fuzzing.question import Question
from glasshouse.fuzzing.trial import BuiltInTrial, trial_of
from glasshouse.races.commands.builtin import built_in
from glasshouse.races.judging.answer import read_answer
from glasshouse.races.judging.clauses import Judgement, RunVerdict, judge
from glasshouse.races.running.command import Limits
from glasshouse.races.running.transcript import Transcript

THRICE = Path(__file__).with_name("thrice_solver.py")
LIMITS = Limits(seconds=20)


def caught(trial, **options) -> Catch:
    catch = Catch()
    for tried in hunt(trial, **options):
        catch.add(tried)
    return catch


@pytest.mark.parametrize("name", ["rc2", "rc2-stratified"])
def test_rc2_is_right_on_some_instances(name):
    assert caught(trial_of(name, LIMITS), count=60).verdicts == {RunVerdict.OPTIMAL: 60}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rc2", "rc2-stratified", "rc2-stratified-edge", "toulbar2"])
def test_two_thousand_instances_and_no_wrong_answer(name):
    if name == "toulbar2":
        pytest.importorskip("pytoulbar2")
    start = time.monotonic()
    catch = caught(trial_of(name, LIMITS), count=2000, workers=2)
    assert time.monotonic() - start < 300
    assert not catch.smallest
    # toulbar2 takes no sums beyond 2^45, which are about two fifths of the instances.
    assert catch.verdicts[RunVerdict.OPTIMAL] > (
        1000 if name in ("toulbar2", "rc2-stratified-edge") else 1990
    )


def test_solvers_that_take_less_leave_large_weights_unanswered():
    catch = caught(trial_of("highs", LIMITS), count=40)
    assert set(catch.verdicts) == {RunVerdict.OPTIMAL, RunVerdict.NO_ANSWER}
    assert set(catch.unanswered) == {  # sums differ
        "no answer: highs is exact only up to a total weight of 268435456",
        "no answer: highs needs weights whose sum is at most 2^63-1",
    }


def test_a_refusal_is_told_with_its_numbers_and_a_failure_is_a_crash(monkeypatch):
    heavy, light = Question(1, ((2**40, (1,)), (1, (-1,))), 1), fuzz_question(1)
    assert BuiltInTrial("highs").ask(heavy, 1).reason == (
        "highs is exact only up to a total weight of 268435456: the weights add up to 1099511627777"
    )

    def fail(*arguments, **options):
        raise ValueError("no refusal")

    monkeypatch.setattr("glasshouse.races.commands.builtin.solve_exactly", fail)
    assert BuiltInTrial("highs").ask(light, 1).verdict is RunVerdict.CRASH


@pytest.mark.slow
def test_workers_find_the_same():
    here = {t.seed: t for t in hunt(BuiltInTrial("rc2"), count=40, seed=7)}
    there = {t.seed: t for t in hunt(BuiltInTrial("rc2"), count=40, seed=7, workers=2)}
    assert {s: (t.judgement, t.num_clauses) for s, t in here.items()} == {
        s: (t.judgement, t.num_clauses) for s, t in there.items()
    }


def test_a_built_in_that_raises_has_crashed(monkeypatch):
    def fail(name):
        raise RuntimeError("no: 7")

    monkeypatch.setattr("glasshouse.fuzzing.trial.built_in", fail)
    judgement = BuiltInTrial("rc2").ask(fuzz_question(1), 1)
    assert str(judgement) == "crash: RuntimeError: no: 7"


def test_built_ins_that_are_not_there():
    with pytest.raises(ValueError, match=r"is not one of .*rc2, rc2-stratified"):
        built_in("rc3")
    unsatisfiable = ClauseFile(1, ((1, (1,)),), ((1,), (-1,)))
    for name in ("rc2", "rc2-stratified", "highs"):
        assert built_in(name)(unsatisfiable, 5.0).status == "UNSATISFIABLE"


def test_a_planted_bug_in_a_command_is_found_and_handed_over(tmp_path):
    command = shlex.join([sys.executable, str(THRICE), "{file}"])
    trial = trial_of(command, LIMITS)
    catch = caught(trial, count=4)
    (kind, smallest), *others = catch.smallest.items()
    assert kind == "invalid model: the model costs N, but the last o line states N"
    assert not others
    fault = shrunk_fault(trial, smallest, kind, catch.times[kind], DEFAULT, 60)
    assert len(fault.question.lines) <= 6
    folder = tmp_path / "some faults"
    written = hand_over(fault, trial, folder, DEFAULT)
    assert gh.verify_file(written.file).cost == fault.question.optimum
    # Here the command may not be installed, but the interpreter has it.
    main = "import sys; from glasshouse.cli import main; sys.exit(main())"
    line = written.command.replace("| glasshouse", f"| {shlex.join([sys.executable, '-c', main])}")
    run = subprocess.run(line, shell=True, capture_output=True, text=True)
    assert run.returncode == 1
    assert f"{fault.judgement.verdict}: {fault.judgement.reason}" in run.stdout
    assert_useful_elsewhere(written, fault)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    again = hand_over(fault, trial, folder, DEFAULT)
    assert again.file != written.file
    assert len(list(folder.iterdir())) == 2 * len(before) == 6
    assert all(path.read_bytes() == text for path, text in before.items())


def assert_useful_elsewhere(written, fault) -> None:
    """A report holds all that the author of a solver needs, and nothing of this computer."""
    text, name = written.report.read_text(), written.file.name
    program = Path(sys.executable).name
    assert f"\n{program} {THRICE.name} {name} | glasshouse judge {name} -\n" in text
    assert f"\nglasshouse check {name}\n" in text
    assert f"found by glasshouse {gh.__version__}\n" in text
    assert "which ended with exit code 30:\no " in text
    right = text.partition("A correct answer:\n")[2].partition("\n\n")[0]
    answer = read_answer(Transcript.of(right.encode()))
    assert judge(fault.question.clauses, answer, fault.question.known).verdict is RunVerdict.OPTIMAL
    assert str(written.file.parent) not in text
    assert str(THRICE.parent) not in text
    assert str(Path(sys.executable).parent) not in text


def test_the_errors_and_the_signal_of_a_solver_are_handed_over(tmp_path):
    code = "import os, sys; print(sys.argv[1], file=sys.stderr); os.kill(os.getpid(), 11)"
    trial = trial_of(shlex.join([sys.executable, "-S", "-c", code, "{file}"]), LIMITS)
    catch = caught(trial, count=1)
    ((kind, smallest),) = catch.smallest.items()
    fault = shrunk_fault(trial, smallest, kind, 1, DEFAULT, 0.0)
    text = hand_over(fault, trial, tmp_path / "faults", DEFAULT).report.read_text()
    assert "crash: ended by signal 11: instance.wcnf\n" in text
    assert "which ended with signal 11:\n(nothing)\n" in text
    assert "Its standard error:\ninstance.wcnf\n" in text


def test_a_report_says_why_a_file_cannot_be_checked(tmp_path):
    heavy = Question(1, ((2**63 - 1, (1,)), (2**63 - 1, (1,)), (5, (-1,))), 5)
    proof = Certificate([1], [], [0], [])
    judgement = Judgement(RunVerdict.WRONG_OPTIMUM, "why")
    trial = BuiltInTrial("rc2")
    for question in (heavy, replace(heavy, certificate=proof)):
        fault = Fault("wrong optimum", 1, 7, judgement, question, True)
        written = hand_over(fault, trial, tmp_path / "faults", DEFAULT)
        text = written.report.read_text()
        assert "\no 5\ns OPTIMUM FOUND\nv 1\n" in text
        with pytest.raises(ValueError, match=r"2\^63-1"):
            gh.verify_file(written.file)
    assert "does not read the file, because its weights add up to 2^63 or more" in text
    assert known_file(written.file).optimum == 5
    text = (tmp_path / "faults" / "wrong-optimum-7.txt").read_text()
    assert "there is no certificate, because all assignments were enumerated" in text


def test_the_line_of_a_built_in_draws_the_same_instance():
    corners = Corners("mse22", True, 2**40, 2**50, True)
    line = BuiltInTrial("rc2").reproduction(Path("x.wcnf"), 5, corners)
    assert line == (
        "glasshouse fuzz run --solver rc2 --seed 5 --count 1 --dialect mse22 --plain "
        f"--most-weight {2**40} --most-total {2**50} --beyond-rules"
    )


def test_kinds_of_faults_are_few():
    catch = Catch()
    for seed in range(100):
        reason = f"{chr(97 + seed % 26) * (1 + seed // 26)} {seed}"
        catch.add(Tried(seed, Judgement(RunVerdict.MALFORMED, reason), 100 - seed))
    assert len(catch.smallest) <= hunting._MOST_KINDS + 1
    assert catch.times.total() == catch.verdicts[RunVerdict.MALFORMED] == 100
    assert catch.smallest["malformed output"].seed == 99
    crash = Judgement(RunVerdict.CRASH, "ended by signal 11: at 0x7ffe12")
    assert fault_kind(crash) == "crash: ended by signal 11"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_closing_a_hunt_leaves_no_solver_behind(tmp_path):
    mark = tmp_path / "pid"
    script = tmp_path / "sleeper.py"
    script.write_text(
        "import os, sys, time, pathlib\n"
        f"pathlib.Path({str(mark)!r} + str(os.getpid())).touch()\n"
        "time.sleep(30 if sys.argv[1] != '0' else 0)\n"
    )
    command = shlex.join([sys.executable, str(script), "{seed}", "{file}"])
    running = hunt(trial_of(command, Limits(seconds=25)), count=64, workers=2)
    Thread(target=_alarm_once_there, args=(tmp_path,), daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        next(running)
    running.close()
    pids = [int(path.name.removeprefix("pid")) for path in tmp_path.glob("pid*")]
    assert pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def _alarm_once_there(folder):
    """Ctrl-C as soon as some solver runs."""
    while not list(folder.glob("pid*")):
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)
