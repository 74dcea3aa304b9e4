"""SIGTERM ends a command cleanly: exit code 143, one line, nothing half done is left."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from tests import children
from tests.children import Child, until
from tests.notices import without_notices

import glasshouse as gh
from glasshouse.cli import main
from glasshouse.cli.termination import Termination
from glasshouse.store import Store

START = "from glasshouse.cli import main; import sys; sys.exit(main())"
PLANT = ["plant", "random", "-n", "100000", "-f", "1/5", "--loop-density", "0.5", "--seed", "1"]
STUDY = """
name = "long"
[stop]
instances = 100000
[[family]]
method = "random_loops"
parameters = { n = 40, frustration = 0.2, loop_density = 0.5 }
"""


def start(arguments: list[str], script: str = START, **options) -> Child:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path])}
    return children.start([sys.executable, "-c", script, *arguments], env=environment, **options)


def heard(process: Child) -> tuple[str, str]:
    """The standard output and standard error of a process that ends."""
    answer, said = process.heard()
    return answer, without_notices(said)


def wait_for(process: Child, folder: Path, pattern: str) -> None:
    """Wait until a file of that name exists, or the process has ended."""
    until(lambda: process.poll() is not None or any(folder.glob(pattern)))


def terminate(process: Child, group: bool = False) -> str:
    """Send SIGTERM; return the text on standard error."""
    if group:
        os.killpg(process.pid, signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    _, words = heard(process)
    # Not 143: it was done, or past its last line.
    assert process.returncode in (143, 0, -signal.SIGTERM), words
    if process.returncode == 143:
        assert words.startswith("glasshouse: terminated")
        assert words.count("\n") == 1
    else:
        assert words == ""
    return words


def rows_of(store: Path) -> int:
    if not store.exists():
        return 0
    with Store(store) as opened:
        return sum(status.rows for status in opened.status())


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("rounds", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_plant_leaves_no_partial_file(tmp_path, rounds):
    chance = random.Random(1)
    stopped = tries = 0
    while tries < rounds or not stopped:  # on a busy computer one may end before it is stopped
        tries += 1
        process = start([*PLANT, "-o", str(tmp_path / "big.wcnf.xz")])
        wait_for(process, tmp_path, ".*.part")
        time.sleep(chance.uniform(0, 0.5))
        stopped += bool(terminate(process))
        assert names(tmp_path) <= {"big.wcnf.xz", "big.wcnf.xz.cert"}
        for path in tmp_path.iterdir():
            path.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [20])
def test_convert_keeps_what_was_there(tmp_path, rounds):
    chance = random.Random(2)
    source, target = tmp_path / "big.wcnf", tmp_path / "big.qubo.xz"
    gh.write(source, gh.random_loops(100_000, 100_000, frustration="1/5", loops=50_000, rng=1))
    before = names(tmp_path)
    target.write_bytes(b"what was there")
    stopped = 0
    for _ in range(rounds):
        process = start(["convert", str(source), str(target), "--force"])
        wait_for(process, tmp_path, ".*.part")
        time.sleep(chance.uniform(0, 0.3))
        if terminate(process):
            stopped += 1
            assert target.read_bytes() == b"what was there"
        target.write_bytes(b"what was there")
        assert names(tmp_path) - {"big.qubo.xz.cert"} == before | {"big.qubo.xz"}
    assert stopped


@pytest.mark.parametrize(
    ("rounds", "workers"),
    [(1, None), *(pytest.param(12, k, marks=pytest.mark.slow) for k in (None, 2))],
)
def test_a_study_is_whole_and_goes_on(tmp_path, rounds, workers):
    chance = random.Random(3)
    (tmp_path / "long.toml").write_text(STUDY)
    store = tmp_path / "long.sqlite"
    command = ["study", "run", str(tmp_path / "long.toml"), "-o", str(store)]
    command += [] if workers is None else ["--workers", str(workers)]
    rows = 0
    for number in range(rounds + 1):
        process = start(command)
        wait_for(process, tmp_path, "long.sqlite.writer")
        until(lambda is_first=number == 0: not is_first or rows_of(store), process)
        time.sleep(chance.uniform(0, 1.0))
        # `timeout` and batch systems send it to the workers, too.
        terminate(process, group=number % 2 == 0)
        assert names(tmp_path) <= {"long.toml", "long.sqlite"}
        with Store(store) as opened:
            assert opened.check() == []
        found = rows_of(store)
        assert found >= rows
        rows = found
    assert rows > 0


@pytest.mark.parametrize("rules", [[], ["--maxsat-output"]])
def test_the_best_so_far_is_still_given(rules, tmp_path):
    path = tmp_path / "x.wcnf"
    plant = gh.random_loops(60, 60, frustration="1/4", loops=30, rng=1)
    gh.write(path, plant)
    # The second anneal says when it begins: all is loaded and compiled by then.
    script = f"""
import sys
import glasshouse as gh
from glasshouse.solvers.crew import Crew
gh.anneal(gh.read({str(path)!r}), sweeps=10)
work = Crew.work
def loud(*arguments):
    print("busy", file=sys.stderr, flush=True)
    return work(*arguments)
Crew.work = loud
{START}
"""
    process = start(["solve", str(path), "--sweeps", "100000000", "--target", "-1", *rules], script)
    until(lambda: process.stderr.readline() in ("busy\n", ""))
    process.work(0.5)
    process.send_signal(signal.SIGTERM)
    answer, words = heard(process)
    words = words.replace("busy\n", "")  # once a round
    if rules:
        assert (process.returncode, words) == (10, "")
        *values, status, model = answer.splitlines()
        assert status == "s SATISFIABLE"
        bits = [int(bit) for bit in model.removeprefix("v ")]
        assert values[-1] == f"o {gh.read(path).cost(bits)}"
        return
    assert process.returncode == 143
    assert words == "glasshouse: terminated\n"
    assert "found in" in answer


def test_an_answer_is_given_whole_whenever_the_signal_comes(tmp_path):
    """At the time limit a solver ends by itself, and SIGTERM comes at that moment, too."""
    gh.write(tmp_path / "x.wcnf", gh.random_loops(6, 6, frustration="1/5", loops=4, rng=1))
    script = f"""
import os, signal
from glasshouse.cli import evaluation
model_of = evaluation.model_of
def late(model):
    os.kill(os.getpid(), signal.SIGTERM)
    return model_of(model)
evaluation.model_of = late
{START}
"""
    process = start(["solve", str(tmp_path / "x.wcnf"), "--maxsat-output"], script)
    answer, said = heard(process)
    assert (process.returncode, said) == (10, "")
    assert [line[0] for line in answer.splitlines()[-2:]] == ["s", "v"]


LATE = """
import atexit, os, signal
from glasshouse.cli import console
def late():
    for number in signal.SIGTERM, signal.SIGINT:
        os.kill(os.getpid(), number)
"""


@pytest.mark.parametrize(
    ("moment", "rules", "codes"),
    [
        ("atexit.register(late)", ["--maxsat-output", "--solver", "prove"], [30]),
        ("atexit.register(late)", [], [0]),  # Python shuts down
        # main is at its end
        (
            "write = console.write_whole; console.write_whole = lambda text: (late(), write(text))",
            ["--maxsat-output", "--solver", "prove"],
            [30],
        ),
        ("flush = console.flush; console.flush = lambda: (late(), flush())", [], [143]),
    ],
)
def test_after_an_answer_its_exit_code_is_kept_to_the_end(moment, rules, codes, tmp_path):
    gh.write(tmp_path / "x.wcnf", gh.random_loops(6, 6, frustration="1/5", loops=4, rng=1))
    process = start(["solve", str(tmp_path / "x.wcnf"), *rules], f"{LATE}\n{moment}\n{START}")
    answer, said = heard(process)
    assert process.returncode in codes, said
    assert ("s OPTIMUM FOUND" in answer) == bool(rules)
    assert said == ("glasshouse: terminated\n" if codes == [143] else "")


def test_callers_in_the_same_process_hear_signals_after_an_answer(tmp_path, capsys):
    gh.write(tmp_path / "x.wcnf", gh.random_loops(6, 6, frustration="1/5", loops=4, rng=1))
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert main(["solve", str(tmp_path / "x.wcnf"), "--maxsat-output"]) == 10
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_compiled_code_wraps_the_signal_and_it_is_known_all_the_same(tmp_path):
    """Numba makes a SystemError of what is raised while it unpickles."""
    gh.write(tmp_path / "x.wcnf", gh.random_loops(6, 6, frustration="1/5", loops=4, rng=1))
    script = f"""
import glasshouse.proofs as proofs
def prove(*arguments, **options):
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as stop:
        raise SystemError("a result with an exception set") from stop
proofs.prove = prove
{START}
"""
    words = ["solve", str(tmp_path / "x.wcnf"), "--solver", "prove"]
    process = start([*words, "--maxsat-output"], script)
    answer, said = heard(process)
    assert (process.returncode, said) == (10, "")
    assert answer.splitlines()[-2] == "s SATISFIABLE"
    process = start(words, script)
    assert heard(process) == ("", "glasshouse: interrupted\n")
    assert process.returncode == 130


def test_ctrl_c_stays_as_it_was(tmp_path):
    process = start([*PLANT, "-o", str(tmp_path / "big.wcnf.xz")])
    wait_for(process, tmp_path, ".*.part")
    process.send_signal(signal.SIGINT)
    _, words = heard(process)
    assert (process.returncode, words) == (130, "glasshouse: interrupted\n")
    assert names(tmp_path) == set()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals to ignore")
def test_a_command_started_with_ctrl_c_ignored_ignores_it_and_ends_on_sigterm(tmp_path):
    """As `nohup` and the background jobs of a shell are started."""
    (tmp_path / "long.toml").write_text(STUDY)
    store = tmp_path / "long.sqlite"
    ignoring = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", sys.executable, "-m", "glasshouse"]
    words = ["study", "run", str(tmp_path / "long.toml"), "-o", str(store)]
    process = children.start([*ignoring, *words])
    until(lambda: rows_of(store), process)
    process.send_signal(signal.SIGINT)
    before = rows_of(store)
    until(lambda: rows_of(store) > before, process)  # it works on
    assert terminate(process)
    assert process.returncode == 143


class TestHandler:
    def test_it_is_there_inside_only(self):
        before = signal.getsignal(signal.SIGTERM)
        with Termination() as termination:
            termination.begin()
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGTERM)
        assert termination.is_asked
        assert signal.getsignal(signal.SIGTERM) is before

    def test_a_second_signal_at_once_does_not_end_the_cleaning_up(self):
        with Termination() as termination:
            termination.begin()
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.01)

    def test_somebody_else_s_handler_stays(self):
        seen = []
        before = signal.signal(signal.SIGTERM, lambda *_: seen.append(1))
        try:
            with Termination() as termination:
                termination.begin()
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(0.01)
            assert main(["--version"]) == 0
        finally:
            signal.signal(signal.SIGTERM, before)
        assert seen == [1]
        assert not termination.is_asked

    def test_other_threads_can_call_the_command_line(self, capsys):
        codes = []
        thread = threading.Thread(target=lambda: codes.append(main(["--version"])))
        thread.start()
        thread.join()
        assert codes == [0]
