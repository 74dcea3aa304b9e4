"""True and forged certificates for three checkers, with loops, squares, trees, covers and cores."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tests.certificates.adversary import Target
from tests.certificates.forging import MAGNITUDES, Rng
from tests.certificates.mutations import mutate, mutate_numbers
from tests.certificates.test_checker import some_files
from tests.certificates.test_core_files import small
from tests.certificates.test_cores import best_state, least_cost, whole_tree
from tests.certificates.test_products import some_certificate, some_polynomial
from tests.certificates.test_qubo_checker import matrix_text
from tests.certificates.test_qubo_checker import proven as proven_matrix
from tests.certificates.test_tree_mutations import mutated, trees

from glasshouse import files
from glasshouse.certificates import Certificate
from glasshouse.planting import product_loops
from glasshouse.problems import Ising, MaxSat
from glasshouse.proofs import HardClausesUnsatisfiableError, prove

# What the verified checker leaves to the other two: statements in comments.
_STATED = re.compile(
    rb"^[ \t\r\v\f]*[c#][ \t\r\v\f]*(planted-(cost|cut|model)|recipe|labels)(?![^\s])[^\n]*\n?",
    re.M,
)


class Case(NamedTuple):
    """A problem file and a certificate, as bytes."""

    suffix: str
    problem: bytes
    certificate: bytes

    @property
    def has_floats(self) -> bool:
        """Whether a number of the problem, or the stated cost, may be a float: no case for Coq."""
        lines = [line.split() for line in self.problem.split(b"\n")]
        if self.suffix == ".hubo":
            return self._is_odd_polynomial(lines)
        rows = [words[2] for words in lines if len(words) == 3 and words[0][:1] != b"#"]
        notes = [line for line in lines if line and line[0][:1] == b"#"]
        if self.suffix == ".wcnf":
            rows, notes = [], []
        rows += [word for note in notes if b"offset" in b"".join(note) for word in note[-1:]]
        rows += re.findall(rb"^\s*cost\s+(\S+)", self.certificate, re.M)
        is_float = any(set(word) & set(b".eE") or len(word) > 18 for word in rows)
        return is_float or any(b"numbers" in b"".join(note) for note in notes)

    def _is_odd_polynomial(self, lines: list[list[bytes]]) -> bool:
        """Whether a polynomial may have floats, bits, or its vartype in another spelling."""
        rows = [words[-1] for words in lines if words and words[0][:1] != b"#"]
        rows += re.findall(rb"^\s*cost\s+(\S+)", self.certificate, re.M)
        is_float = any(set(word) & set(b".eE") or len(word) > 18 for word in rows)
        is_plain = self.problem.count(b"vartype") == 1 and [b"#", b"vartype=SPIN"] in lines
        return is_float or not is_plain or b"numbers" in self.problem


def case(suffix: str, problem: bytes, certificate: bytes) -> Case:
    """A case without comments that state an optimum."""
    return Case(suffix, _STATED.sub(b"", problem), certificate)


def forged_parts(folder: Path, rng: Rng, attacks: int) -> Iterator[Case]:
    """Loops and squares forged in magnitudes at which machine integers wrap around."""
    while True:
        target = Target(folder, rng, squares=0.4)
        for _ in range(attacks):
            attack = target.attack()
            if attack is not None and attack.twin is not None:
                problem, certificate = (text.encode("latin1") for text in attack.twin)
                yield case(".wcnf", problem, certificate)
                if attack.path.suffix == ".mc":
                    beside = files.side_car(attack.path).read_bytes()
                    yield case(".mc", attack.path.read_bytes(), beside)


def forged_trees(folder: Path, rng: Rng, attacks: int) -> Iterator[Case]:
    """Trees of branches, loops, squares and covers, some of them in large integers."""
    for count in itertools.count(int(rng.integers(2, 9))):
        for problem, certificate in trees(count):
            path = folder / "tree.wcnf"
            files.write(path, problem, overwrite=True)
            files.write_certificate(files.side_car(path), certificate, overwrite=True)
            text = files.side_car(path).read_text()
            if rng.random() < 0.5:
                text = magnified(text, MAGNITUDES[rng.integers(len(MAGNITUDES))])
            yield case(".wcnf", path.read_bytes(), text.encode())
            for _ in range(attacks):
                yield case(".wcnf", path.read_bytes(), mutated(text, rng).encode())


def magnified(text: str, factor: int) -> str:
    """A certificate whose multipliers and denominator are `factor` times as large."""
    return re.sub(
        r"^(denominator |)(\d+)", lambda m: f"{m[1]}{int(m[2]) * factor}", text, flags=re.M
    )


def damaged_files(folder: Path, rng: Rng, attacks: int) -> Iterator[Case]:
    """Clauses, graphs and matrices: any byte, word or number of file or certificate damaged."""
    while True:
        try:
            suffix, *texts = some_proof(folder, rng)
        except HardClausesUnsatisfiableError:
            continue
        yield case(suffix, *texts)
        for _ in range(attacks):
            damaged = [text.decode("latin1") for text in texts]
            target = int(rng.integers(2))
            damage = mutate if rng.random() < 0.5 else mutate_numbers
            damaged[target] = damage(damaged[target], rng)
            yield case(suffix, *(text.encode("latin1") for text in damaged))


def some_proof(folder: Path, rng: Rng) -> tuple[str, bytes, bytes]:
    """The suffix, a file and its certificate."""
    kind = rng.integers(3)
    if kind == 0:
        wcnf, certificate = some_files(folder, rng)
        return ".wcnf", wcnf.read_bytes(), certificate.read_bytes()
    if kind == 1:
        return ".sparse", *proven_matrix(
            folder, matrix_text(rng, int(rng.integers(2, 9)), "integers")
        )
    size = int(rng.integers(3, 9))
    pairs = np.array([p for p in itertools.combinations(range(size), 2) if rng.random() < 0.7])
    fields = rng.integers(-2, 3, size) if rng.random() < 0.5 else np.zeros(size, dtype=np.int64)
    weights = rng.integers(-9, 10, len(pairs))
    problem = Ising.from_edges(
        size, pairs.reshape(-1, 2), weights, fields, int(rng.integers(-9, 9))
    )
    path = folder / "damaged.mc"
    files.write(path, problem, overwrite=True)
    read = files.read(path)
    proof = prove(read)
    beside = files.side_car(path)
    files.write_certificate(beside, proof.certificate, cost=proof.energy, overwrite=True)
    return ".mc", path.read_bytes(), beside.read_bytes()


def polynomials(folder: Path, rng: Rng, attacks: int) -> Iterator[Case]:
    """Polynomials of spins with certificates of version 4: any sound ones, plants, and damaged."""
    dice = random.Random(int(rng.integers(2**32)))
    path = folder / "polynomial.hubo"
    for number in itertools.count():
        if number % 3 == 0:
            plant = product_loops(
                6, products=2, frustration="1/4", lift=number % 2, rng=int(rng.integers(2**32))
            )
            files.write(path, plant, overwrite=True)
        else:
            problem = some_polynomial(dice)
            if problem.units != "spin" or not problem.is_integer:
                continue
            files.write(path, problem, overwrite=True)
            proof = some_certificate(dice, problem.num_variables)
            files.write_certificate(files.side_car(path), proof, overwrite=True)
        texts = path.read_text(), files.side_car(path).read_text()
        factor = MAGNITUDES[rng.integers(len(MAGNITUDES))] if rng.random() < 0.2 else 1
        texts = texts[0], magnified_parts(texts[1], factor)
        yield case(".hubo", *(text.encode() for text in texts))
        for _ in range(attacks):
            damaged = list(texts)
            target = int(rng.random() < 0.8)
            damage = mutate if rng.random() < 0.4 else mutate_numbers
            damaged[target] = damage(damaged[target], rng)
            yield case(".hubo", *(text.encode("latin1") for text in damaged))


def magnified_parts(text: str, factor: int) -> str:
    """A certificate of version 4 with larger multipliers and denominator; monomials stay."""
    head, word, parts = text.partition("\nmonomials ")
    count = int(parts.split(maxsplit=1)[0]) if word else 0
    lines = parts.split("\n")
    first = 1 + next((k for k, line in enumerate(lines[1:]) if line[:1].isdigit()), len(lines) - 1)
    later = "\n".join(lines[first + count :])
    kept = "\n".join(lines[: first + count])
    return f"{magnified(head, factor)}{word}{kept}\n{magnified(later, factor)}"


def forged_cores(folder: Path, rng: Rng, attacks: int) -> Iterator[Case]:
    """Clauses of any length with certificates of version 5: true ones, large ones, and damaged."""
    path = folder / "cores.wcnf"
    for number in itertools.count():
        problem, proof = small(rng) if number % 3 else with_pairs_only(rng)
        dialect = str(rng.choice(["classic", "mse22"]))
        files.write(path, problem, dialect=dialect, overwrite=True)
        files.write_certificate(files.side_car(path), proof, overwrite=True)
        texts = path.read_text(), files.side_car(path).read_text()
        if rng.random() < 0.3:
            texts = texts[0], magnified_cores(texts[1], MAGNITUDES[rng.integers(len(MAGNITUDES))])
        yield case(".wcnf", *(text.encode() for text in texts))
        for _ in range(attacks):
            damaged = list(texts)
            target = int(rng.random() < 0.8)
            damage = mutate if rng.random() < 0.3 else mutate_numbers
            damaged[target] = damage(damaged[target], rng)
            yield case(".wcnf", *(text.encode("latin1") for text in damaged))


def with_pairs_only(rng: Rng) -> tuple[MaxSat, Certificate]:
    """Clauses of at most two literals, which loops could prove, and cores that prove them."""
    while True:
        lengths = rng.integers(0, 3, 8)
        clauses = [(rng.choice(4, k, replace=False) + 1) * rng.choice([-1, 1], k) for k in lengths]
        problem = MaxSat(4, clauses, rng.integers(0, 6, 8), hard=[[1, -2]])
        if least := least_cost(problem):
            return problem, Certificate.of_cores(best_state(problem), whole_tree(problem, least))


def magnified_cores(text: str, factor: int) -> str:
    """A certificate of version 5 with larger costs, amounts and denominator."""
    head, rows = text.split("\ncores ")
    number, *lines = rows.splitlines()
    lines = [" ".join(map(str, magnified_core(line, factor))) for line in lines]
    return "\n".join([f"{magnified(head, factor)}\ncores {number}", *lines, ""])


def magnified_core(line: str, factor: int) -> Iterator[int]:
    """The numbers of a core; costs and amounts are multiplied."""
    numbers = map(int, line.split())
    yield next(numbers) * factor
    for number in numbers:
        yield number
        if number == 0:
            yield (pairs := next(numbers))
            for _ in range(pairs):
                yield next(numbers)
                yield next(numbers) * factor


SOURCES = (forged_parts, forged_trees, damaged_files, polynomials, forged_cores)


def cases(folder: Path, seed: int, attacks: int) -> Iterator[Case]:
    """Cases of all sources in turn, forever."""
    folders = [folder / source.__name__ for source in SOURCES]
    for place in folders:
        place.mkdir()
    rng = np.random.default_rng(seed)
    streams = [source(place, rng, attacks) for source, place in zip(SOURCES, folders, strict=True)]
    for together in zip(*streams, strict=False):
        yield from together
