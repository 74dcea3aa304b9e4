"""Commands that `fuzz.signals` stops at random moments, and checks of the files they leave."""

from __future__ import annotations

import importlib.util
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import glasshouse as gh
from glasshouse.files import read_certificate
from glasshouse.store import Store

_STUDY = """
name = "long"
[stop]
instances = 100000
[[family]]
method = "random_loops"
parameters = { n = 40, frustration = 0.2, loop_density = 0.5 }
"""
_STUDY_OF_CLAUSES = """
name = "long"
[stop]
instances = 100000
[[family]]
method = "cores"
parameters = { n = 60, clause_density = 4 }
"""


@dataclass(frozen=True)
class Scene:
    """A command with its files, typical time and exit codes.

    Attributes:
        name: the name of the scene.
        words: the words of the command line, which runs in its own folder.
        prepare: a function that puts files into the folder.
        seconds: the command's approximate processor time; the latest time of the signal if the
            command does not end by itself.
        cold_seconds: the same time without cached kernels.
        codes: the exit codes of a command that has ended, or has printed its best result so far.
        needs: a package that must be installed, or None.
    """

    name: str
    words: list[str]
    prepare: Callable[[Path], object]
    seconds: float = 5.0
    cold_seconds: float = 40.0
    codes: tuple[int, ...] = (0,)
    needs: str | None = None

    @property
    def is_evaluated(self) -> bool:
        """Whether the command follows the MaxSAT Evaluation, so that it must always answer."""
        return "--maxsat-output" in self.words

    def is_possible(self) -> bool:
        """Return whether the package that the scene needs is installed."""
        return self.needs is None or importlib.util.find_spec(self.needs) is not None


@cache
def _texts(name: str) -> dict[str, bytes]:
    """Return the files of an instance by name, generated once."""
    import tempfile

    problem = _PROBLEMS[name]()
    with tempfile.TemporaryDirectory() as folder:
        gh.write(Path(folder, name), problem)
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def _dense(size: int) -> gh.Ising:
    pairs = [(i, j) for i in range(size) for j in range(i)]
    weights = np.random.default_rng(1).integers(1, 99, len(pairs)) * (-1) ** np.arange(len(pairs))
    return gh.Ising.from_edges(size, pairs, weights)


def _torus(*sides: int) -> gh.Ising:
    """Return an instance with random couplings of ±1 on a torus."""
    grid = np.arange(np.prod(sides)).reshape(sides)
    ends = [(grid, np.roll(grid, -1, axis)) for axis in range(len(sides))]
    pairs = np.concatenate([np.stack([a.ravel(), b.ravel()], 1) for a, b in ends])
    signs = np.random.default_rng(1).choice([-1, 1], len(pairs))
    return gh.Ising.from_edges(grid.size, pairs.tolist(), signs)


_PROBLEMS: dict[str, Callable[[], object]] = {
    "small.wcnf": lambda: gh.random_loops(9, 9, frustration="1/5", loops=9, rng=1),
    "loops.wcnf": lambda: gh.random_loops(60, 60, frustration="1/4", loops=40, rng=1).ising,
    "dense.wcnf": lambda: _dense(70),
    "dense.coo": lambda: _dense(60),
    "cube.coo": lambda: _torus(6, 6, 6),
    "torus.coo": lambda: _torus(120, 120),
}


def _with(*names: str) -> Callable[[Path], object]:
    def prepare(folder: Path) -> None:
        for name in names:
            for path, text in _texts(name).items():
                (folder / path).write_bytes(text)

    return prepare


def _with_study(folder: Path) -> None:
    (folder / "long.toml").write_text(_STUDY)


def _with_study_of_clauses(folder: Path) -> None:
    (folder / "long.toml").write_text(_STUDY_OF_CLAUSES)


def _with_triples(folder: Path) -> None:
    """Write random triples of 20,000 variables, one per line."""
    triples = np.random.default_rng(1).integers(1, 20_001, (80_000, 3))
    np.savetxt(folder / "triples.txt", triples, "%d")


def _solve(solver: str, file: str, *options: str, needs: str | None = None) -> list[Scene]:
    """Return two scenes of a solver: as users call it, and with MaxSAT Evaluation output."""
    words = ["solve", file, "--solver", solver, *options]
    rules = [*words, "--maxsat-output"]
    codes = (0, 10, 20, 30)
    return [
        Scene(f"solve-{solver}", words, _with(file), needs=needs),
        Scene(f"solve-{solver}-rules", rules, _with(file), codes=codes, needs=needs),
    ]


_NOTICE = re.compile(r"compiling the | *[0-9.]+ s  cost ")
_LONG = ("--sweeps", "100000000", "--target", "-1")
_TIMED = ("--time-limit", "1000")

SCENES: list[Scene] = [
    *_solve("anneal", "loops.wcnf", *_LONG),
    *_solve("temper", "loops.wcnf", *_LONG),
    *_solve("minimise", "loops.wcnf", *_TIMED, "--target", "-1", "--threads", "2"),
    *_solve("brute", "small.wcnf"),
    *_solve("prove", "dense.wcnf"),
    *_solve("rc2", "dense.wcnf", needs="pysat"),
    *_solve("rc2-stratified", "dense.wcnf", needs="pysat"),
    *_solve("rc2-stratified-edge", "dense.wcnf", needs="pysat"),
    *_solve("highs", "dense.wcnf"),
    *_solve("cpsat", "dense.wcnf", needs="ortools"),
    *_solve("scip", "dense.wcnf", needs="pyscipopt"),
    *_solve("toulbar2", "dense.wcnf", needs="pytoulbar2"),
    *_solve("dwave-tree", "small.wcnf", needs="dwave"),
    *_solve("dwave-anneal", "loops.wcnf", *_TIMED, needs="dwave"),
    *_solve("dwave-tabu", "loops.wcnf", *_TIMED, needs="dwave"),
    *_solve("openjij", "loops.wcnf", *_TIMED, needs="openjij"),
    Scene("prove-lp", ["prove", "loops.wcnf"], _with("loops.wcnf"), 3.0, codes=(0, 1)),
    Scene("prove-tree", ["prove", "cube.coo"], _with("cube.coo"), codes=(0, 1)),
    Scene("prove-workers", ["prove", "cube.coo", "--workers", "2"], _with("cube.coo"), 8.0,
          codes=(0, 1)),
    Scene("prove-sdp", ["prove", "dense.coo"], _with("dense.coo"), codes=(0, 1)),
    Scene("prove-torus", ["prove", "torus.coo"], _with("torus.coo"), codes=(0, 1)),
    Scene("plant-random", ["plant", "random", "-n", "20000", "-f", "1/5", "--loop-density", "0.5",
                           "--seed", "1", "-o", "big.wcnf.xz"], _with(), 4.0),
    Scene("plant-graph", ["plant", "graph", "torus:60x60", "-f", "1/5", "--loops",
                          "2000", "--length", "4", "--count", "50", "-o", "many"], _with()),
    Scene("plant-cores", ["plant", "cores", "--hypergraph", "triples.txt", "--cores", "2000",
                          "--seed", "1", "-o", "big.wcnf.xz"], _with_triples),
    Scene("train-single", ["train", "run", "stripes:16", "--hidden", "64", "--precision", "single",
                           "--gradient", "pcd", "--batch-size", "10", "--epochs", "1000000",
                           "--every", "100000", "-o", "machine.npz"], _with()),
    Scene("train-one", ["train", "run", "bars", "--hidden", "12", "--epochs", "10000000", "--every",
                        "100000", "-o", "machine.npz"], _with()),
    Scene("train-monitored", ["train", "run", "digits", "--hidden", "22", "--epochs", "1000",
                              "--every", "1", "-o", "machine.npz"], _with(), needs="sklearn"),
    Scene("train-exact", ["train", "run", "digits", "--hidden", "22", "--gradient", "exact",
                          "--monitor", "reconstruction", "-o", "machine.npz"], _with(),
          needs="sklearn"),
    Scene("train-many", ["train", "run", "bars", "--hidden", "8", "--epochs", "300", "--count",
                         "10000", "-o", "run.sqlite"], _with()),
    Scene("study", ["study", "run", "long.toml", "-o", "long.sqlite"], _with_study),
    Scene("study-workers", ["study", "run", "long.toml", "-o", "long.sqlite", "--workers", "2"],
          _with_study, 8.0),
    Scene("study-clauses", ["study", "run", "long.toml", "-o", "long.sqlite"],
          _with_study_of_clauses),
    Scene("race", ["race", "run", "--solver", "anneal", "--solver", "prove", "--suite", "smoke",
                   "--time-limit", "4", "-o", "race.sqlite"], _with(), 15.0, codes=(0, 1)),
    Scene("race-workers", ["race", "run", "--solver", "anneal", "--solver", "rc2", "--suite",
                           "smoke", "--time-limit", "4", "--workers", "2", "-o", "race.sqlite"],
          _with(), 15.0, codes=(0, 1), needs="pysat"),
    Scene("tune", ["tune", "-n", "60", "--target-sweeps", "1000"], _with(), 8.0, codes=(0, 1)),
    Scene("tune-graph", ["tune", "--graph", "torus:30x30", "-p", "length=4", "--target-sweeps",
                         "30000"], _with(), 8.0, codes=(0, 1, 2)),
]  # fmt: skip


def known_notices(said: str) -> str:
    """Return the text on standard error without notices of compilation and of improvements."""
    lines = said.splitlines(keepends=True)
    return "".join(line for line in lines if not _NOTICE.match(line))


def left_wrong(scene: Scene, folder: Path, output: str) -> Iterator[str]:
    """Yield the faults of the files that a command has left, and of the model it has printed."""
    if scene.is_evaluated:
        yield from _wrong_lines(folder / scene.words[1], output)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder)
        if path.suffix in (".part", ".tmp") or path.name.startswith("."):
            yield f"{name} was left"
            continue
        try:
            yield from (f"{name}: {fault}" for fault in _faults_of(path))
        except Exception as fault:  # because every reader has its own errors
            yield f"{name}: {type(fault).__name__}: {fault}"


def _faults_of(path: Path) -> list[str]:
    if path.suffix == ".sqlite":
        with Store(path) as store:
            return store.check()
    if path.suffix == ".cert" and path.with_suffix("").exists():
        problem = gh.read(path.with_suffix(""), verify=False)
        gh.verify(problem, read_certificate(path))
    elif path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            for array in arrays:
                arrays[array]
    elif path.suffix in (".wcnf", ".coo", ".xz"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gh.read(path)
    return []


def _wrong_lines(path: Path, output: str) -> Iterator[str]:
    """Yield the faults of printed lines, such as a cost that differs from the last `o` line."""
    lines = output.splitlines()
    statuses = [line for line in lines if line.startswith("s ")]
    models = [line for line in lines if line.startswith("v ")]
    values = [int(line[2:]) for line in lines if line.startswith("o ")]
    if len(statuses) != 1 or len(models) > 1 or not output.endswith("\n"):
        yield f"printed {output!r:.300}"
    if values != sorted(set(values), reverse=True):
        yield f"values that do not fall: {values}"
    for model in models:
        cost = gh.read(path).cost([int(bit) for bit in model[2:]])
        if values[-1:] != [cost]:
            yield f"the model costs {cost}, but the last o line states {values[-1:]}"
