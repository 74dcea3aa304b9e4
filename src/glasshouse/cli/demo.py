"""`glasshouse demo`: a demonstration that runs every command it shows."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from glasshouse.cli.check import CHECKER
from glasshouse.cli.errors import CheckFailedError
from glasshouse.cli.options import MaybeOutputPath
from glasshouse.extras import is_there

if TYPE_CHECKING:
    from glasshouse.problems import Ising

FOLDER = Path("glasshouse-demo")
STUDY = """\
name = "curve"
title = "Hardness over frustration at the peak, n = 60"
figure = "frustration"
statistic = "geometric_mean"
seed = 1

[stop]
instances = 1000

[[family]]
method = "random_loops"
parameters = { n = 60, loop_density = "peak" }
grid = { frustration = ["1/20", "1/10", "3/20", "1/5"] }
"""


TRAINING = "train run bars --hidden 12 --every 100 --count 8 --seed 1"


class Stage(NamedTuple):
    """One stage of the demonstration.

    Attributes:
        title: what the stage does.
        shows: what it shows, in one sentence.
        run: runs the stage in the folder of the demonstration.
    """

    title: str
    shows: str
    run: Callable[[], None]


def demo(*, output: MaybeOutputPath = None) -> None:
    """Show in a minute what glasshouse does.

    It plants, proves, breaks, solves, races, measures and trains.

    Every command that is shown is run and leaves its files in a folder, with a page about all of
    them: report.html.

    For instance:

    ```
    glasshouse demo
    glasshouse demo -o somewhere
    ```

    Args:
        output: an empty folder, or one that does not exist yet; by default glasshouse-demo, with a
            number if that is taken.
    """
    from glasshouse.files.writing import make_folder

    folder = _free_folder() if output is None else output
    if output is not None and output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise ValueError(
            f"{output} already exists; name an empty folder, or one that does not exist"
        )
    make_folder(folder)
    seconds = []
    with _compiling_ahead(), chdir(folder):
        for number, stage in enumerate(STAGES, 1):
            _title(f"{number} of {len(STAGES)}: {stage.title}", stage.shows)
            began = time.monotonic()
            stage.run()
            seconds.append(time.monotonic() - began)
    _summary(folder, seconds)


@contextmanager
def _compiling_ahead() -> Iterator[None]:
    """Use another core to compile what later stages need; the machine code is cached on disk.

    If it is already cached, this takes two seconds of that core.
    """
    if (os.cpu_count() or 1) == 1:
        yield
        return
    code = "from glasshouse.cli.demo import warm_up; warm_up()"
    ahead = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        ahead.terminate()
        ahead.wait()


def warm_up() -> None:
    """Call the kernels of proofs, training runs and studies once."""
    import glasshouse as gh
    from glasshouse.cli import main

    gh.prove(_cube())
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        main([*shlex.split(TRAINING), "--epochs", "2", "-o", "rbms.sqlite"])
        Path("curve.toml").write_text(STUDY.replace("instances = 1000", "instances = 2"))
        main(["study", "run", "curve.toml", "-o", "curve.sqlite"])


def _plant() -> None:
    _run("plant random -n 100 -f 1/5 --loop-density 0.345 --seed 1 -o inst.wcnf")
    _run("check inst.wcnf")
    _run("plant wishart -n 64 --columns 32 --seed 1 -o dense.wcnf")


def _forge() -> None:
    _say("sed 's/planted-cost 105/planted-cost 104/' inst.wcnf > forged.wcnf")
    forged = Path("inst.wcnf").read_text().replace("planted-cost 105", "planted-cost 104")
    Path("forged.wcnf").write_text(forged)
    _say("cp inst.wcnf.cert forged.wcnf.cert")
    Path("forged.wcnf.cert").write_bytes(Path("inst.wcnf.cert").read_bytes())
    _run("check forged.wcnf", is_refused=True)


def _solve() -> None:
    _run("solve inst.wcnf --runs 256 --seed 1")


def _prove() -> None:
    _run("convert inst.wcnf blind.wcnf --blind")
    _run("prove blind.wcnf")


def _prove_unplanted() -> None:
    import glasshouse as gh

    gh.write("cube.mc", _cube())
    print("cube.mc: a periodic lattice of 5 × 5 × 5 spins, random weights from -1000 to 1000")
    _run("prove cube.mc")
    _say(f"cp {CHECKER.name} .; python {CHECKER.name} cube.mc cube.mc.cert")
    Path(CHECKER.name).write_bytes(CHECKER.read_bytes())
    command = [sys.executable, CHECKER.name, "cube.mc", "cube.mc.cert"]
    print(subprocess.run(command, capture_output=True, text=True, check=False).stdout, end="")


def _cube() -> Ising:
    """Return a periodic lattice of 5 × 5 × 5 spins with random weights."""
    import numpy as np

    from glasshouse.problems import Ising

    sites = np.arange(125).reshape(5, 5, 5)
    ends = [np.stack([sites, np.roll(sites, -1, axis)], -1).reshape(-1, 2) for axis in range(3)]
    edges = np.sort(np.concatenate(ends), axis=1)
    weights = np.random.default_rng(1).integers(-1000, 1001, len(edges))
    return Ising.from_edges(125, edges[weights != 0], weights[weights != 0])


def _judge() -> None:
    _say("somesolver inst.wcnf > answer.txt")
    Path("answer.txt").write_text("o 104\ns OPTIMUM FOUND\nv " + "01" * 100)
    _run("judge inst.wcnf answer.txt", is_refused=True)


def _race() -> None:
    # The density is that of the solved instance, so that annealing uses the same compiled code.
    others = {"rc2": "pysat", "dwave-anneal": "dwave.samplers"}
    there = [name for name, package in others.items() if is_there(package)]
    missing = [name for name in others if name not in there]
    _run("plant random -n 60 -f 1/5 --loop-density 0.345 --count 2 --seed 1 -o race")
    solvers = " ".join(f"--solver {name}" for name in ["anneal", *there])
    _run(f"race run {solvers} --suite race -o race.sqlite --time-limit 3 --workers 2")
    print(
        "(solved: claimed the optimum correctly; an annealer does not claim it, but may reach it)"
    )
    if missing:
        print(f"({' and '.join(missing)} not installed: pip install 'glasshouse[solvers]')")


def _measure() -> None:
    Path("curve.toml").write_text(STUDY)
    _run("study run curve.toml -o curve.sqlite")
    from glasshouse.store import Store
    from glasshouse.studies import points_of

    with Store("curve.sqlite") as store:
        for point in points_of(store, "geometric_mean"):
            f, found = point.task.parameters["frustration"], point.estimate
            print(f"f = {f:<5}{found.value:7.0f} sweeps ({found.low:.0f} to {found.high:.0f})")


def _train() -> None:
    _run(f"{TRAINING} --epochs 1000 -o rbms.sqlite")


def _report() -> None:
    from glasshouse.extras import MissingPackageError

    files = "inst.wcnf dense.wcnf cube.mc race.sqlite curve.sqlite rbms.sqlite"
    try:
        _run(f"report {files} -o report.html --title 'glasshouse demo'")
    except MissingPackageError as missing:
        print(missing)


STAGES = (
    Stage("plant", "Instances whose optimum is known, with the proof next to the file.", _plant),
    Stage("break", "A file that states something false is refused.", _forge),
    Stage("solve", "Simulated annealing finds the planted optimum.", _solve),
    Stage("prove", "The same optimum is proven from the clauses alone, without the plant.", _prove),
    Stage("judge", "A solver that claims a better optimum is found out.", _judge),
    Stage(
        "race", "Third-party solvers on proven instances: which are right, which are fast.", _race
    ),
    Stage(
        "prove without a plant",
        "A spin glass gets a proof that a plain Python script verifies.",
        _prove_unplanted,
    ),
    Stage("measure", "Hardness grows with frustration: 4,000 instances, solved.", _measure),
    Stage("train", "RBMs learn: the KL divergence falls, and the frustration settles.", _train),
    Stage("report", "All of it on one page, which needs no network.", _report),
)
NEXT = (
    ("test your own MaxSAT solver", "glasshouse fuzz run --solver 'mysolver {file}'"),
    (
        "plant on an Ising machine's graph",
        "glasshouse plant graph chimera:4 -f 1/4 --loop-density 1",
    ),
    ("find instances as hard as you like", "glasshouse tune -n 100 --target-sweeps 1e4"),
    ("see every planted family", "glasshouse plant --help"),
    ("read a command's examples", "glasshouse COMMAND --help"),
)


def _run(line: str, *, is_refused: bool = False) -> None:
    """Run a command line as printed; `is_refused` means that it must end with code 1."""
    from glasshouse.cli import add_options, app

    _say(f"glasshouse {line}")
    add_options()
    code = 0
    try:
        code = app(shlex.split(line), exit_on_error=False, print_error=False) or 0
    except CheckFailedError as answer:
        if not is_refused:
            raise
        print(answer)
        code = 1
    assert (code == 1) == is_refused, f"{line} ended with {code}"
    sys.stdout.flush()


def _free_folder() -> Path:
    """Return the default folder, with a number appended if that name is taken."""
    folder, number = FOLDER, 2
    while folder.exists():
        folder, number = Path(f"{FOLDER}-{number}"), number + 1
    return folder


def _title(text: str, shows: str) -> None:
    print(f"\n── {text} ".ljust(78, "─"))
    print(shows, flush=True)


def _say(text: str) -> None:
    print(f"$ {text}", flush=True)


def _summary(folder: Path, seconds: list[float]) -> None:
    """Print what was shown, how long it took, and what to try next."""
    print("\n" + "─" * 78)
    for stage, taken in zip(STAGES, seconds, strict=True):
        print(f"{stage.title:<26}{taken:5.1f} s  {stage.shows}")
    page = folder / "report.html"
    print(f"\nAll files are in {folder}." + (f" Open {page} in a browser." * page.exists()))
    print("What to try next:")
    for wish, command in NEXT:
        print(f"  {wish + ':':<36}{command}")
