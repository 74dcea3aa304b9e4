"""`python -m fuzz.good`: add valid inputs for every target to the corpus."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fuzz import readers
from fuzz.packing import packed
from fuzz.targets import CORPUS
from glasshouse.files import side_car, write, write_certificate
from glasshouse.planting import Planted
from glasshouse.planting.methods import graph_loops, random_loops, wishart
from glasshouse.problems import Ising, Max2Sat, Problem, Qubo, Rbm
from glasshouse.proofs import prove
from glasshouse.store import Store
from glasshouse.studies.study import parse_study

SPINS = Ising.from_edges(4, [(0, 1), (1, 2), (0, 2), (2, 3)], [-1, -1, -1, 2], [0, 0, 0, 1], 5)
CLAUSES = Max2Sat.from_clauses(3, [[1, 2], [-3], [2, -3], [-1, -2]], [3, 12, 1, 2], hard=[[1, 3]])
PROBLEMS: dict[str, list[Problem]] = {
    "wcnf": [CLAUSES],
    "cnf": [Max2Sat.from_clauses(3, [[1, 2], [-3], [2, -3]], [1, 1, 1])],
    "qubo": [Qubo.from_edges(3, [(0, 1), (1, 2)], [2.5, -1e-9], [0.5, 0, 0], 1.5)],
    "mc": [Ising.from_edges(3, [(0, 1), (1, 2)], [2, -10], [1, 0, -2], 7)],
    "coo": [SPINS, Qubo.from_edges(3, [(0, 1), (1, 2)], [2, -1], [1, 0, 0], 7)],
    "qplib": [Qubo.from_edges(3, [(0, 1), (1, 2)], [2, -1], [1, 0, 0], 7, ["a", 7, "x3"])],
    "json": [replace(SPINS, labels=[30, 31, 45, 7]), Qubo.from_edges(2, [(0, 1)], [1.5])],
    "bqm": [SPINS, Qubo.from_edges(3, [(0, 1), (1, 2)], [2.5, -1], [1, 0, 0], 7)],
    "npz": [SPINS, CLAUSES, Rbm.from_edges(2, 2, [(0, 0), (1, 0), (1, 1)], [1, 2, -3], [1, 0]),
            Rbm([[1, -2], [3, 4]], [1, 0], [0, -1]), Qubo.from_edges(2, [(0, 1)], [1.5], [1, 0])],
}  # fmt: skip
TRIANGLE = "# vartype=SPIN\n0 1 1\n1 2 1\n0 2 1\n"
TRIANGLE_OF_CLAUSES = "".join(
    ["p wcnf 3 6 7\n", *(f"1 {a} {b} 0\n1 -{a} -{b} 0\n" for a, b in ((1, 2), (2, 3), (1, 3)))]
)
# The second loop violates all its edges, but it is so light that the proof still holds.
MARKED = """glasshouse-certificate 1
denominator 1000
state 011
loops 2
1000 3 1 2
1 -3 -1 2
"""
# A loop explains a fifth of the triangle, and a square the rest; a light square uses the ghost.
SQUARED = """glasshouse-certificate 2
denominator 1000
state 011
loops 1
squares 2
200 3 1 2
400 1 1 1 2 1 3
1 1 1 -1 0
"""
# There are two branches, one with the ghost: leaves with a loop and with a square, and a cover.
TREE = """glasshouse-certificate 3
denominator 1000
state 011
tree 5
common 1 0
branch 1 2
leaf 1 0
branch 3 0
leaf 0 1
cover 1 2
loops 2
squares 1
1 -3 -1 2
1000 3 1 2
500 1 1 1 2 1 3
"""
STUDY = """name = "tiny"
figure = "density"
statistic = "paper_95"
seed = 1
[solver]
sweeps_per_run = "paper-first"
[stop]
instances = 4
[[family]]
method = "random_loops"
parameters = { frustration = "1/20" }
grid = { n = [4, 5], loop_density = { first = 0.25, ratio = 1.5, count = 2 } }
"""


def inputs() -> Iterator[tuple[str, bytes]]:
    """Yield the path TARGET/NAME and the bytes of every valid input."""
    plants = [random_loops(4, 4, frustration="1/5", loops=3, rng=1),
              graph_loops("torus:3x3", frustration="1/5", loops=2, rng=1),
              wishart(4, columns=2, rng=1)]  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for suffix, problems in PROBLEMS.items():
            things: list[Problem | Planted] = [*problems, *(plants if suffix != "cnf" else [])]
            for number, thing in enumerate(things):
                yield f"{suffix}/good-{number}", _file(folder / f"{number}.{suffix}", thing)
        yield "wcnf/good-mse22", _file(folder / "m.wcnf", CLAUSES, dialect="mse22")
        yield from _packed(folder)
        yield from _pairs(folder, plants)
        yield "store/good-0", _store(folder / "good.sqlite")
    for target, file in (("pair-coo", TRIANGLE), ("pair", TRIANGLE_OF_CLAUSES)):
        yield f"{target}/good-marked", (file + MARKED).encode()
        yield f"{target}/good-squares", (file + SQUARED).encode()
        yield f"{target}/good-tree", (file + TREE).encode()
    yield "cert/good-squares", SQUARED.encode()
    yield "cert/good-tree", TREE.encode()
    yield "manifest/good-0", readers.manifest_line()
    yield "recipe/good-0", readers.recipe_text()
    for number, plant in enumerate(plants):
        yield f"recipe/other-{number}", plant.recipe.to_json().encode()
    yield "graph/good-0", b"# a square\n0 1\n1 2 {}\n2 3\n0 3\n"
    yield "study/good-0", STUDY.encode()


def _file(path: Path, thing: Problem | Planted, **options: str) -> bytes:
    write(path, thing, **options)  # type: ignore[arg-type]
    return path.read_bytes()


def _packed(folder: Path) -> Iterator[tuple[str, bytes]]:
    for kind in (".gz", ".xz"):
        for suffix in ("wcnf", "coo", "bqm", "npz"):
            inner = (folder / f"0.{suffix}").read_bytes()
            yield f"{kind[1:]}/good-{suffix}", packed(inner, kind)


def _pairs(folder: Path, plants: list[Planted]) -> Iterator[tuple[str, bytes]]:
    for suffix, target in ((".wcnf", "pair"), (".coo", "pair-coo")):
        for number, plant in enumerate(plants):
            path = folder / f"pair-{number}{suffix}"
            write(path, plant)
            certificate = side_car(path).read_bytes()
            yield f"{target}/good-plant-{number}", path.read_bytes() + certificate
            if suffix == ".wcnf":  # without comments, which only one of the two checkers reads
                bare = [line for line in path.read_bytes().splitlines(True) if line[:2] != b"c "]
                yield f"{target}/good-bare-{number}", b"".join([*bare, certificate])
            yield f"cert/good{suffix}-{number}", certificate
        problem = CLAUSES if suffix == ".wcnf" else SPINS
        path, proof = folder / f"pair-proof{suffix}", prove(problem)
        write(path, problem)
        write_certificate(side_car(path), proof.certificate, cost=proof.energy)
        yield f"{target}/good-proof", path.read_bytes() + side_car(path).read_bytes()


def _store(path: Path) -> bytes:
    """Return a small store of two tasks, in pages of 512 bytes."""
    study = parse_study(STUDY)
    with Store(path, write=True) as store:
        store.note("study", study.text)
        for stored, task in zip(store.add_tasks(study.tasks[:2]), study.tasks, strict=False):
            store.add_batch(stored, 0, task.measure(0, 2), version="0.1")
    database = sqlite3.connect(path, isolation_level=None)
    database.executescript("PRAGMA journal_mode=DELETE; PRAGMA page_size=512; VACUUM;")
    database.execute("PRAGMA journal_mode=WAL")
    database.close()
    return path.read_bytes()


def main() -> None:
    """Write the inputs that the corpus does not contain yet, whatever their version."""
    for place, data in inputs():
        path = CORPUS / place
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


if __name__ == "__main__":
    main()
