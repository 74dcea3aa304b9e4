"""Commands under limits: what is kept, what is stopped, and that nothing is left behind."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import uuid
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.children import PATIENCE, start, until

from glasshouse.races.running.command import MEGABYTE, Limits, SolverCommand
from glasshouse.races.running.meters import METERS, why_not
from glasshouse.races.running.runner import run

linux = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")


@pytest.fixture(params=METERS)
def python(request):
    """Run Python code under some limits, with either meter."""
    if why := why_not(request.param):
        pytest.skip(f"NOT TESTED with {request.param}: {why}")

    def running_it(code: str, **limits):
        words = [sys.executable, "-c", code]
        begin = time.monotonic()
        outcome = run(words, Limits(**({"seconds": 60} | limits)), request.param)
        running_it.seconds = time.monotonic() - begin
        assert outcome.meter == request.param
        none_stays(cgroups)
        return outcome

    return running_it


def none_stays(look) -> None:
    """Wait until all present processes have ended: parallel tests have their own runs."""
    seen = set(look())
    wait_until(lambda: not seen & set(look()))


def cgroups() -> list[Path]:
    """Cgroups of runs, whosever they are."""
    found = Path("/proc/self/cgroup").read_text().splitlines() if Path("/proc").is_dir() else []
    own = {line.split(":")[2].lstrip("/") for line in found}
    roots = [Path("/sys/fs/cgroup"), *Path("/sys/fs/cgroup").glob("*/")]
    return [left for root in roots for o in own for left in (root / o).glob("benchmark_*")]


wait_until = until  # as tests of races call it


def running(word: str) -> list[int]:
    """Live processes that have a word in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in text and path.parent.name != str(os.getpid()):
            found.append(int(path.parent.name))
    return found


@pytest.fixture
def mark():
    """A word for a command line; whatever has it is ended, even if the test fails."""
    word = f"glasshouse_{uuid.uuid4().hex}"
    yield word
    for pid in running(word):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.quiet
def test_output_comes_with_its_times(python):
    outcome = python(
        "import time\nprint('first', flush=True)\ntime.sleep(.3)\nprint('second', end='')"
    )
    (early, first), (late, second) = outcome.transcript.lines()
    assert (first, second) == ("first", "second")
    assert 0.25 < late - early < 2
    assert outcome.exit_code == 0
    assert outcome.stopped is None


@pytest.mark.quiet
@pytest.mark.parametrize("code", ["while True: pass", "import time; time.sleep(1000)"])
def test_the_wall_clock_limit_is_kept(python, code):
    outcome = python(code, seconds=0.7)
    assert outcome.stopped == "time"
    assert abs(outcome.seconds - 0.7) < 0.5
    assert python.seconds < 0.7 + 0.5 + Limits.grace


def test_relative_places_of_modules_hold_in_the_scratch_folder(python, tmp_path, monkeypatch):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "toy_module.py").write_text("print('here')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "code")
    assert bytes(python("import toy_module").transcript.output) == b"here\n"


def test_the_processor_limit_counts_busy_time_only(python):
    assert python("import time; time.sleep(.5)", cpu_seconds=0.3).stopped is None
    assert python("while True: pass", cpu_seconds=0.3).stopped == "cpu"


@linux
def test_the_memory_limit_is_kept_by_all_processes_together(python):
    one = "x = bytearray(120_000_000); import time; time.sleep(.5)"
    assert python(one, memory=300 * MEGABYTE).stopped is None
    outcome = python(f"import os; os.fork(); os.fork(); {one}", memory=300 * MEGABYTE)
    assert outcome.stopped == "memory"
    assert outcome.memory < 900 * MEGABYTE


def test_output_is_bounded(python):
    outcome = python("while True: print('x' * 100000)", output=MEGABYTE)
    assert outcome.stopped == "output"
    assert MEGABYTE < len(outcome.transcript.output) < 2 * MEGABYTE


def test_errors_keep_their_end(python):
    outcome = python("import sys; sys.stderr.write('x' * 10**6 + 'end')")
    assert len(outcome.transcript.errors) == 1 << 16
    assert outcome.transcript.errors.endswith(b"xend")


@pytest.mark.quiet
def test_a_solver_may_print_its_best_when_it_is_told_to_stop(python):
    code = (
        "import signal, sys, time\n"
        "def end(*_):\n    print('v 01', flush=True)\n    sys.exit(10)\n"
        "signal.signal(signal.SIGTERM, end)\nprint('o 3', flush=True)\ntime.sleep(1000)"
    )
    outcome = python(code, seconds=2)
    assert [line for _, line in outcome.transcript.lines()] == ["o 3", "v 01"]
    assert outcome.exit_code == 10


@linux
def test_children_that_leave_their_session_do_not_survive(python):
    mark = "glasshouse_orphan_test"
    code = (
        f"import os, signal, time  # {mark}\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0:\n"
        "            signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "        time.sleep(1000)\n"
        "print('done')"
    )
    outcome = python(code)
    assert outcome.stopped is None
    assert outcome.seconds < 5
    assert not running(mark)


def test_no_folder_and_no_core_dump_are_left(python, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    outcome = python("open('left', 'w').close(); import ctypes; ctypes.string_at(0)")
    assert outcome.exit_code == -11
    assert not list(tmp_path.iterdir())


def test_ctrl_c_ends_the_command_too(python, monkeypatch):
    mark = "glasshouse_interrupt_test"
    monkeypatch.setattr(
        "glasshouse.races.running.runner._Run._look",
        lambda run: (_ for _ in ()).throw(KeyboardInterrupt),
    )
    with pytest.raises(KeyboardInterrupt):
        python(f"import time  # {mark}\ntime.sleep(1000)")
    assert not running(mark)


def test_a_program_that_cannot_be_started_is_one_clear_line(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("no program")
    with pytest.raises(ValueError, match="'nosuchsolver' was not found; pass the path"):
        SolverCommand.parse("nosuchsolver {file}")
    with pytest.raises(ValueError, match=r"is not executable; use chmod \+x"):
        SolverCommand.parse(f"{text} {{file}}")
    text.chmod(0o755)
    with pytest.raises(ValueError, match="cannot start"):
        run([str(text)], Limits())
    with pytest.raises(ValueError, match="the command is empty"):
        SolverCommand.parse("  ")
    with pytest.raises(ValueError, match="cannot split"):
        SolverCommand.parse("solver 'half")


def test_only_three_places_are_filled_and_never_twice():
    command = SolverCommand.parse("echo {seed} {seconds} '{print $1}' {file}")
    assert command.arguments(Path("{seed}.wcnf"), 5, 1.2)[1:] == [
        "5", "2", "{print $1}", "{seed}.wcnf",
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"\{other\} is not a placeholder; use"):
        SolverCommand.parse("echo {other} {file}")


def test_nothing_goes_through_a_shell(tmp_path):
    command = SolverCommand.parse("echo $HOME `touch` {file}")
    outcome = run(command.arguments(tmp_path / "a b", 1, 1), Limits())
    assert outcome.transcript.output.decode() == f"$HOME `touch` {tmp_path}/a b\n"
    with pytest.raises(ValueError, match="needs a shell, but commands run without one"):
        SolverCommand.parse("echo {file} ; touch x")


def test_scripts_are_found_where_the_user_is(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("import sys; print('hello', sys.argv[1])")
    monkeypatch.chdir(tmp_path)
    command = SolverCommand.parse(f"{sys.executable} mine.py")
    outcome = run(command.arguments(Path("x"), 1, 1), Limits())
    assert outcome.transcript.output == b"hello x\n"


@pytest.mark.parametrize("limits", [{"seconds": 0}, {"grace": -1}, {"memory": 5}, {"seconds": "x"}])
def test_limits_that_are_none_are_refused(limits):
    with pytest.raises(ValueError, match=next(iter(limits))):
        Limits(**limits)


HOG = "kept = []\nwhile True: kept.append(bytearray(10_000_000))"
ORPHAN = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-c", CODE], {})
    os._exit(0)
os.wait()
time.sleep(WAIT)
"""


@linux
def test_memory_of_orphans_counts_too(python):
    code = f"CODE, WAIT = {HOG!r}, 100\n{ORPHAN}".replace("{})", "os.environ)")
    outcome = python(code, memory=200 * MEGABYTE)
    assert outcome.stopped == "memory"
    assert outcome.seconds < 5


@linux
@pytest.mark.parametrize("meter", METERS)
def test_an_orphan_that_has_cleared_its_environment_does_not_survive_in_a_worker(meter):
    if why := why_not(meter):
        pytest.skip(f"NOT TESTED with {meter}: {why}")
    mark = f"glasshouse_cleared_{meter}"
    code = f"CODE, WAIT = 'import time; time.sleep(1000)  # {mark}', .5\n{ORPHAN}"
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        done = pool.submit(run, [sys.executable, "-c", code], Limits(seconds=60), meter)
        assert done.result(PATIENCE).exit_code == 0
        assert not running(mark)


# The environment is cleared before the daemon's parent leaves it.
DAEMON = """
import os, subprocess, sys, time
code = '''
import os, sys, time
if os.fork() == 0:
    os.setsid()
    open({ready!r}, "w").close()
    time.sleep(1000)  # {mark}
'''
subprocess.run([sys.executable, "-S", "-c", code], env={{}}, start_new_session=True,
               stdin=-3, stdout=-3, stderr=-3)
while not os.path.exists({ready!r}):
    time.sleep(.01)
"""


@linux
def test_a_daemon_that_has_cleared_its_environment_does_not_survive(python, mark, tmp_path):
    """Not in a worker: this process has other children, which are not of the run."""
    mine = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    try:
        outcome = python(DAEMON.format(mark=mark, ready=str(tmp_path / "ready")))
        assert (outcome.stopped, outcome.exit_code) == (None, 0)
        assert not running(mark)
        assert mine.poll() is None
    finally:
        mine.kill()
        mine.wait()


@linux
def test_daemons_of_runs_at_the_same_time_are_told_apart(mark, tmp_path):
    """Two runs in two threads: the end of the first leaves the daemon of the second alone."""
    first, second, go = tmp_path / "first", tmp_path / "second", tmp_path / "go"
    wait = f"\nwhile not os.path.exists({str(go)!r}): time.sleep(.01)"
    codes = [DAEMON.format(mark=f"{mark} {p.name}", ready=str(p)) for p in (first, second)]
    with ThreadPoolExecutor(2) as pool:
        late = pool.submit(run, [sys.executable, "-c", codes[1] + wait], Limits(seconds=60))
        wait_until(second.exists)
        early = pool.submit(run, [sys.executable, "-c", codes[0]], Limits(seconds=60))
        assert early.result(60).exit_code == 0
        assert first.exists()
        assert not running(f"{mark} first")
        assert running(f"{mark} second")
        go.touch()
        assert late.result(60).exit_code == 0
        assert not running(f"{mark} second")


def test_a_solver_that_stops_its_parent_ends_at_its_limit(python):
    code = "import os, signal, time\nwhile True: os.kill(os.getppid(), signal.SIGSTOP)"
    outcome = python(code, seconds=1)
    assert outcome.stopped == "time"
    assert outcome.exit_code < 0


def test_the_end_of_a_solver_that_stops_its_parent_is_noticed(python):
    code = "import os, signal; os.kill(os.getppid(), signal.SIGSTOP); print('s UNKNOWN')"
    outcome = python(code, seconds=60)
    assert (outcome.stopped, outcome.exit_code) == (None, 0)
    assert outcome.seconds < 30


PARENT = "os.getppid()"
GRANDPARENT = "int(open(f'/proc/{os.getppid()}/stat').read().rpartition(')')[2].split()[1])"


@linux
@pytest.mark.parametrize("victim", [PARENT, GRANDPARENT], ids=["parent", "grandparent"])
def test_a_solver_that_kills_its_ancestor_is_stopped_with_its_daemon(
    python, mark, tmp_path, victim
):
    code = DAEMON.format(mark=mark, ready=str(tmp_path / "ready"))
    code += f"import signal; os.kill({victim}, signal.SIGKILL)\n"
    outcome = python(f"{code}time.sleep(1000)  # {mark}", seconds=60)
    assert outcome.stopped == "parent"
    assert outcome.seconds < 30
    assert not running(mark)
    assert python("print('the next run is not disturbed')").exit_code == 0


@linux
def test_no_process_of_the_caller_adopts_orphans(python):
    """Other code of this process must not find children that it has not started."""
    before = set(children())
    python(f"CODE, WAIT = 'import time; time.sleep(.2)', .1\n{ORPHAN}")
    assert not {pid for pid in set(children()) - before if "keeper.py" not in command_of(pid)}


def children() -> list[int]:
    tasks = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return [int(word) for path in tasks for word in path.read_text().split()]


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


@linux
def test_zombies_of_orphans_are_collected(python):
    code = f"CODE, WAIT = 'import time; time.sleep(.2)', .1\n{ORPHAN}"
    before = zombies()
    python(code.replace("{})", "os.environ)"))
    assert zombies() <= before


def zombies() -> set[int]:
    """The children of this process that have ended and were not waited for."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state == "Z" and int(parent) == os.getpid():
            found.add(int(path.parent.name))
    return found


@pytest.mark.parametrize(
    ("code", "stopped", "exit_code"),
    [
        ("import os, time; os.close(1); os.close(2); time.sleep(1000)", "time", -15),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", "time", -9),
        ("import os, time\nif os.fork() == 0: os.setpgid(0, 0); time.sleep(1000)", None, 0),
        ("import sys; assert sys.stdin.read() == ''", None, 0),
        ("import os, time\nif os.fork() == 0: time.sleep(1000)", None, 0),
        ("import os\nos.write(1, bytes(range(256)) * 10)", None, 0),
    ],
)
def test_odd_commands_end_as_they_should(python, code, stopped, exit_code):
    outcome = python(code, seconds=1 if stopped else 60)
    assert (outcome.stopped, outcome.exit_code) == (stopped, exit_code)
    list(outcome.transcript.lines())


def test_a_line_without_an_end_is_bounded(python):
    code = "import sys\nwhile True: sys.stdout.write('x' * 100000)"
    assert python(code, output=MEGABYTE).stopped == "output"


@pytest.mark.quiet
def test_a_hundredth_of_a_second_is_a_limit(python):
    outcome = python("while True: pass", seconds=0.01)
    assert outcome.stopped == "time"
    assert outcome.seconds < 0.5


@linux
def test_a_bomb_of_processes_is_stopped(python, monkeypatch):
    monkeypatch.setattr("glasshouse.races.running.runner.MOST_PROCESSES", 50)
    mark = "glasshouse_bomb_test"
    code = (
        f"import os, time  # {mark}\nfor _ in range(7): os.fork(), time.sleep(.03)\n"
        "os.setsid() if os.getsid(0) != os.getpid() else 0\ntime.sleep(1000)"
    )
    assert python(code).stopped == "processes"
    assert not running(mark)


def test_a_folder_that_grows_is_stopped_and_removed(python, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("glasshouse.races.running.runner.LARGEST_FOLDER", 10 * MEGABYTE)
    code = "f = open(b'\\xff', 'wb')\nfor _ in range(20): f.write(bytes(10**6))\nf.flush()\n"
    assert python(code + "import time; time.sleep(1000)").stopped == "folder"
    assert not list(tmp_path.iterdir())


def test_a_deep_folder_is_removed(python, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert python("import os\nfor _ in range(1200): os.mkdir('d'); os.chdir('d')").exit_code == 0
    assert not list(tmp_path.iterdir())


KILLED = """
import sys, tempfile
from glasshouse.races.running.command import Limits
from glasshouse.races.running.runner import run
tempfile.tempdir = sys.argv[1]
run([sys.executable, "-c", sys.argv[2]], Limits(), sys.argv[3])
"""


@linux
@pytest.mark.parametrize("meter", METERS)
def test_a_killed_runner_leaves_no_process_no_folder_and_no_cgroup(meter, tmp_path):
    if why := why_not(meter):
        pytest.skip(f"NOT TESTED with {meter}: {why}")
    mark = f"glasshouse_killed_{meter}"
    solver = (
        f"import os, time  # {mark}\nif os.fork() == 0:\n    os.setsid()\n    os.fork()\n"
        "open('ready', 'w').close()\ntime.sleep(1000)"
    )
    words = [sys.executable, "-c", KILLED, str(tmp_path), solver, meter]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    runner = start(words, env=environment)
    until(lambda: list(tmp_path.glob("*/ready")) and len(running(mark)) >= 4, runner)
    runner.kill()
    runner.wait()
    wait_until(lambda: not running(mark) and not list(tmp_path.iterdir()))
    none_stays(cgroups)


@linux
@pytest.mark.parametrize(
    "code",
    [
        "import os\npids = [os.fork() for _ in range(2)]\n{burn}\n"
        "if all(pids):\n    [os.waitpid(pid, 0) for pid in pids]",
        # Daemons that end at once, one after the other, are waited for by the keeper alone.
        "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n"
        "        os.setsid()\n        if os.fork(): os._exit(0)\n        {burn}\n"
        "        os._exit(0)\n"
        "    os.wait()\n    time.sleep(.3)",
    ],
)
def test_processor_time_is_that_of_all_processes(python, code):
    """Each uses 0.15 s; the meter sees living processes, the keeper its adopted ones."""
    burn = "while time.process_time() < .15: pass"
    code = f"import time\n{code.replace('{burn}', burn)}"
    used = python(code).cpu_seconds
    assert used >= 0.5
    assert python(code, cpu_seconds=0.4, seconds=50).stopped == "cpu"
    # What the keeper adopted for the last command does not count for this one.
    assert python("pass").cpu_seconds < 0.4


def test_a_run_that_ends_beyond_its_processor_limit_has_not_kept_it(monkeypatch):
    """Without /proc, and between two checks, usage is measured only at the end of the run."""
    monkeypatch.setattr("glasshouse.races.running.processes._PROC", Path("/nowhere"))
    code = "import time\nwhile time.process_time() < .3: pass\nprint('done')"
    outcome = run([sys.executable, "-c", code], Limits(cpu_seconds=0.2))
    assert outcome.stopped == "cpu"
    assert outcome.exit_code == 0


def test_at_the_processor_limit_a_solver_has_its_time_of_grace(python):
    """The CPU limit ends a run as the time limit does: SIGTERM, last output, SIGKILL."""
    code = (
        "import signal, sys\n"
        "def end(*_):\n    print('v 01', flush=True)\n    {}\n"
        "signal.signal(signal.SIGTERM, end)\nwhile True: pass"
    )
    outcome = python(code.format("sys.exit(10)"), cpu_seconds=0.4)
    assert [line for _, line in outcome.transcript.lines()] == ["v 01"]
    assert (outcome.stopped, outcome.exit_code) == ("cpu", 10)
    deaf = python(code.format("pass"), cpu_seconds=0.4, grace=0.3)
    assert (deaf.stopped, deaf.exit_code) == ("cpu", -signal.SIGKILL)
