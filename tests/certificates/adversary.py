"""An adversary: certificates that look true and mostly are not, over all formats.

Each attack is a file, a certificate and what brute force knows about the file. Whoever says
"optimal" must be right, both checkers must say the same, and nothing but our own errors may be
raised. Magnitudes are those at which machine integers wrap around.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from tests.certificates.forging import Rng, forged
from tests.certificates.square_instances import square_sum
from tests.oracles import energy_by_definition, states_of

from glasshouse import files
from glasshouse.certificates import Certificate, CertificateError, checker
from glasshouse.files.document import Document, scaled_proof
from glasshouse.files.formats import format_of
from glasshouse.planting import Planted
from glasshouse.planting.methods import random_loops, wishart
from glasshouse.problems import Ising, Max2Sat, Problem, Qubo, Rbm
from glasshouse.problems.convert import to_max2sat
from glasshouse.proofs import HardClausesUnsatisfiableError, prove

SUFFIXES = (".wcnf", ".new.wcnf", ".cnf", ".coo", ".qubo", ".mc", ".bqm", ".npz", ".wcnf.gz")


@dataclass(frozen=True)
class Attack:
    """A file with a certificate beside it.

    Attributes:
        path: the file; its certificate is next to it.
        least: the least cost of any state, by brute force in exact numbers; None if no state
            satisfies the hard clauses.
        twin: the same problem and certificate as WCNF, for the stand-alone checker; None where no
            integers say the same.
    """

    path: Path
    least: Fraction | None
    twin: tuple[str, str] | None


def least_cost(problem: Problem) -> Fraction | None:
    """The least cost by brute force in fractions; None if the hard clauses are unsatisfiable."""
    states = states_of(problem)
    if isinstance(problem, Max2Sat) and problem.num_hard:
        states = states[problem.broken(states) == 0]
    costs = (_exact_energy(problem, state) for state in states)
    return min(costs, default=None)


def _exact_energy(problem: Problem, state: np.ndarray) -> Fraction:
    if problem.is_integer:
        return Fraction(energy_by_definition(problem, state))
    assert isinstance(problem, (Ising, Qubo))
    single = problem.fields if isinstance(problem, Ising) else problem.linear
    sign = -1 if isinstance(problem, Ising) else 1
    x = state.tolist()
    pairs = zip(problem.edges.tolist(), map(Fraction, problem.weights.tolist()), strict=True)
    total = sum(w * x[i] * x[j] for (i, j), w in pairs)
    total += sum(map(lambda w, v: Fraction(w) * v, single.tolist(), x))
    return Fraction(problem.offset) + sign * total


# Problems ----------------------------------------------------------------------------------------


def some_problem(rng: Rng) -> Problem | Planted:
    """Small enough for brute force; loops, glasses, clauses of all kinds, degenerate ones."""
    return KINDS[rng.choice(5, p=(0.2, 0.35, 0.3, 0.13, 0.02))](rng)


def proven(rng: Rng, squares: float) -> tuple[Problem | Planted, Certificate]:
    """A problem and a certificate that proves something of it, with squares for a share of them."""
    if rng.random() >= squares:
        thing = some_problem(rng)
        return thing, thing.certificate if isinstance(thing, Planted) else prove(thing).certificate
    if rng.random() < 0.7:
        return square_sum(int(rng.integers(2, 6)), rng, squares=int(rng.integers(1, 4)))
    half, columns, seed = (int(rng.integers(1, most)) for most in (4, 5, 99))
    plant = wishart(2 * half, columns=columns, rng=seed)
    return plant, plant.certificate


def _plant(rng: Rng) -> Planted:
    loops = int(rng.integers(1, 5))
    return random_loops(3, 3, frustration="1/5", loops=loops, rng=int(rng.integers(2**32)))


def _large(rng: Rng, terms: int) -> int:
    """A weight that `terms` of, scaled by the reductions, still fit 63 bits."""
    top = (2**63 - 1) // (8 * max(1, terms))
    return int(rng.choice([1, 9, 2**20, 2**31 - 1, 2**31, 2**32, top // 2, top]))


def _glass(rng: Rng) -> Ising:
    size = int(rng.integers(2, 7))
    pairs = [p for p in itertools.combinations(range(size), 2) if rng.random() < 0.7]
    most = min(_large(rng, len(pairs) + size + 1), (2**63 - 1) // (8 * (len(pairs) + size + 1)))
    weights = rng.integers(-most, most, len(pairs), endpoint=True)
    fields = rng.integers(-most, most, size, endpoint=True) * (rng.random(size) < 0.4)
    return Ising.from_edges(size, pairs, weights, fields, int(rng.integers(-9, 9)))


def _clauses(rng: Rng) -> Max2Sat:
    """Duplicated, empty, tautological and hard clauses, zero weights."""
    size, count = int(rng.integers(1, 6)), int(rng.integers(1, 12))
    literals = rng.integers(1, size + 1, (count, 2)) * rng.choice([-1, 1], (count, 2))
    literals[rng.random(count) < 0.2, 1] = 0
    literals[rng.random(count) < 0.1] = 0
    literals[rng.random(count) < 0.1, 1] = literals[0, 0] if literals[0, 0] else 0
    literals[(literals[:, 0] == 0)] = 0
    most = min(_large(rng, count), (2**63 - 1) // (4 * count))
    weights = rng.integers(0, most, count, endpoint=True)
    hard = literals[rng.random(count) < 0.2]
    hard = hard[hard[:, 0] != 0]
    return Max2Sat(size, literals.astype(np.int32), weights, hard.astype(np.int32))


def _floats(rng: Rng) -> Ising:
    glass = _glass(rng)
    weights = rng.normal(size=len(glass.weights)) * 10.0 ** rng.integers(-12, 12)
    return Ising.from_edges(glass.num_variables, glass.edges, weights, offset=0.1)


def _nothing(rng: Rng) -> Ising:
    return Ising.from_edges(int(rng.integers(3, 5)), [], [], offset=int(rng.integers(-3, 3)))


KINDS = (_plant, _glass, _clauses, _floats, _nothing)


# Attacks -----------------------------------------------------------------------------------------


class Target:
    """A problem in a file of some format, open to attacks."""

    def __init__(self, folder: Path, rng: Rng, squares: float) -> None:
        self.rng = rng
        while True:
            suffix = str(rng.choice(SUFFIXES))
            self.path = folder / f"attack{suffix}"
            try:
                dialect = {"dialect": "mse22"} if ".new" in suffix else {}
                thing, self.certificate = proven(rng, squares)
                files.write(self.path, thing, overwrite=True, **dialect)
            except (HardClausesUnsatisfiableError, ValueError):
                continue  # decimals in a WCNF, weights in a CNF: another one
            break
        document = files.read_document(self.path)
        self.problem = document.problem
        self.least = least_cost(self.problem)
        self.stated = None if rng.random() < 0.7 else document.stated.cost
        problem = thing.problem if isinstance(thing, Planted) else thing
        source = Document(problem, load_proof=lambda: files.SideCar(self.certificate))
        _, reduction = format_of(self.path).convert(problem)
        scaled = scaled_proof(source, self.problem, reduction)
        assert scaled is not None
        self.certificate = scaled.certificate

    def attack(self) -> Attack | None:
        """The file with another forged certificate beside it."""
        certificate = forged(self.certificate, self.rng)
        if certificate is None:
            return None
        cost = self._cost(certificate)
        beside = files.side_car(self.path)
        files.write_certificate(beside, certificate, cost=cost, overwrite=True)
        return Attack(self.path, self.least, self._twin(certificate))

    def _cost(self, certificate: Certificate) -> Any:
        """None, the truth, or a lie."""
        choice = self.rng.integers(4)
        if choice < 2 or self.least is None:
            return None
        state = certificate.state
        if not isinstance(self.problem, (Ising, Rbm)):
            state = (state > 0).astype(np.int8)
        try:
            cost = _exact_energy(self.problem, state)
        except AssertionError:
            return None
        whole = int(cost) if cost.denominator == 1 else float(cost)
        return whole if choice == 2 else min(whole, float(self.least))

    def _twin(self, certificate: Certificate) -> tuple[str, str] | None:
        """The file's own text, or the same problem as WCNF."""
        beside = files.side_car(self.path)
        if self.path.suffix == ".wcnf":
            return self.path.read_text("latin1"), beside.read_text("latin1")
        if not self.problem.is_integer:
            return None
        clauses, reduction = to_max2sat(self.problem)
        source = Document(self.problem, load_proof=lambda: files.SideCar(certificate))
        proof = scaled_proof(source, clauses, reduction)
        assert proof is not None
        path = self.path.with_name("twin.wcnf")
        files.write(path, clauses, overwrite=True)
        files.write_certificate(files.side_car(path), proof.certificate, overwrite=True)
        return path.read_text(), files.side_car(path).read_text()


def library_verdict(path: Path) -> bool:
    """Whether `verify_file` says optimal; anything but our own errors is raised."""
    try:
        return files.verify_file(path, files.side_car(path)).proven is not None
    except (CertificateError, files.FileError):
        return False


def stand_alone_verdict(twin: tuple[str, str]) -> bool:
    """Whether the stand-alone checker says optimal."""
    try:
        cost, least = checker.check(*twin)
    except (LookupError, RecursionError, TypeError, ValueError):
        return False
    return bool(cost == least)


def certified_cost(path: Path) -> Fraction:
    """The exact cost of the certificate's state."""
    problem = files.read_document(path).problem
    state = files.read_certificate(files.side_car(path)).state
    if not isinstance(problem, (Ising, Rbm)):
        state = (state > 0).astype(np.int8)
    return _exact_energy(problem, state)


@dataclass
class Tally:
    """The outcome of some attacks."""

    refused: int = 0
    verified: int = 0
    twins: int = 0
    with_squares: int = 0

    def add(self, attack: Attack) -> None:
        """Let both checkers judge, and brute force judge them."""
        says = library_verdict(attack.path)
        self.refused += not says
        self.verified += says
        text = files.side_car(attack.path).read_text()[:2000]
        self.with_squares += "\nsquares " in text
        if says:
            assert certified_cost(attack.path) == attack.least, (attack.path.read_bytes(), text)
        if attack.twin is None:
            return
        self.twins += 1
        other = stand_alone_verdict(attack.twin)
        states_cost = "\ncost " in files.side_car(attack.path).read_text()
        if attack.path.suffix == ".wcnf" or not states_cost:
            assert says == other, attack.twin
        else:
            assert other or not says, attack.twin  # the twin does not state the cost


def rage(refusals: int, attacks: int, seed: int, squares: float = 0.0) -> Tally:
    """Attack the files in turn, several times each, until enough forgeries were refused.

    Args:
        refusals: how many.
        attacks: how many on each file.
        seed: the seed of all random numbers.
        squares: the share of files that squares prove.
    """
    rng, tally = np.random.default_rng(seed), Tally()
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with TemporaryDirectory(dir=memory) as folder:
        while tally.refused < refusals:
            target = Target(Path(folder), rng, squares)
            for attack in (target.attack() for _ in range(attacks)):
                if attack is not None:
                    tally.add(attack)
    return tally
