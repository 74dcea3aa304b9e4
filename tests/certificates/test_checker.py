"""The stand-alone checker: right on true certificates, never wrong on damaged ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from tests import strategies
from tests.certificates.mutations import mutate
from tests.oracles import optimum
from tests.proofs.instances import loop_sum, spin_glass

from glasshouse import files
from glasshouse.certificates import CertificateError, checker
from glasshouse.files.formats.maxcut import cut_of
from glasshouse.planting import shuffle
from glasshouse.planting.methods import random_loops, wishart
from glasshouse.problems import Max2Sat
from glasshouse.problems.convert import to_max2sat
from glasshouse.proofs import HardClausesUnsatisfiableError, prove


def write_both(folder: Path, problem: Max2Sat, dialect: str = "classic") -> tuple[Path, Path]:
    """A WCNF file and the certificate that `prove` finds for it."""
    wcnf = folder / "problem.wcnf"
    files.write(wcnf, problem, dialect=dialect, overwrite=True)
    proof = prove(problem)
    cert = files.side_car(wcnf)
    files.write_certificate(cert, proof.certificate, cost=proof.energy, overwrite=True)
    return wcnf, cert


def stand_alone(wcnf: str, certificate: str) -> tuple[int, object] | None:
    """(cost, lower bound) as the stand-alone file says; None if it refuses."""
    try:
        return checker.check(wcnf, certificate)
    except (RecursionError, ValueError):  # the errors that its command catches
        return None


def library(wcnf: Path, certificate: Path) -> tuple[int, object] | None:
    """The verdict of the library's readers and of `Document.examined`, which `check` calls."""
    try:
        verdict = files.read_document(wcnf).examined(files.read_side_car(certificate)).verdict
    except (CertificateError, files.FileError):
        return None
    return verdict.energy, verdict.lower_bound


@given(strategies.max2sats())
@settings(max_examples=60)
def test_true_certificates_are_verified(tmp_path_factory, problem):
    folder = tmp_path_factory.getbasetemp()
    for dialect in ("classic", "mse22"):
        try:
            wcnf, cert = write_both(folder, problem, dialect)
        except HardClausesUnsatisfiableError:
            return
        cost, bound = checker.check(wcnf.read_text(), cert.read_text())
        assert bound <= optimum(problem)[0] <= cost
        assert (cost, bound) == library(wcnf, cert)


def small_problem(rng: np.random.Generator) -> Max2Sat:
    """Small enough to enumerate: loops, a spin glass with an open gap, or clauses of all kinds."""
    kind = rng.integers(3)
    if kind == 0:
        return to_max2sat(loop_sum(int(rng.integers(3, 9)), 5, rng, fields=True)[0])[0]
    if kind == 1:
        return to_max2sat(spin_glass(8, 0.9, rng, gaussian=False))[0]
    size = 6
    clauses = rng.integers(1, size + 1, (14, 2)) * rng.choice([-1, 1], (14, 2))
    clauses[:3, 1] = 0
    hard = np.array([[1, -2], [3, 0], [-3, 4]], dtype=np.int32)
    return Max2Sat(size, clauses.astype(np.int32), rng.integers(1, 9, 14), hard)


def some_files(folder: Path, rng: np.random.Generator) -> tuple[Path, Path]:
    """A problem with its proof, or a plant with all that its comments state, in either dialect."""
    dialect = str(rng.choice(["classic", "mse22"]))
    if rng.random() < 0.6:
        return write_both(folder, small_problem(rng), dialect)
    wcnf = folder / "problem.wcnf"
    plant = random_loops(4, 4, frustration="1/5", loops=4, rng=int(rng.integers(99)))
    if rng.random() < 0.5:
        plant = wishart(6, columns=3, rng=int(rng.integers(99)))
    if rng.random() < 0.5:
        plant = shuffle(plant)
    files.write(wcnf, plant, dialect=dialect, overwrite=True)
    return wcnf, files.side_car(wcnf)


def damage_and_check(folder: Path, rounds: int, mutations: int, seed: int) -> int:
    """Damage file or certificate; whatever is still verified must be true. Returns how many are."""
    rng = np.random.default_rng(seed)
    accepted = 0
    for _ in range(rounds):
        try:
            wcnf, cert = some_files(folder, rng)
        except HardClausesUnsatisfiableError:
            continue
        texts = wcnf.read_text(), cert.read_text()
        for _ in range(mutations):
            damaged = list(texts)
            target = int(rng.integers(2))
            damaged[target] = mutate(damaged[target], rng)
            (folder / "d.wcnf").write_bytes(damaged[0].encode("latin1"))
            (folder / "d.cert").write_bytes(damaged[1].encode("latin1"))
            verdict = stand_alone(*damaged)
            assert verdict == library(folder / "d.wcnf", folder / "d.cert"), damaged
            if verdict is None:
                continue
            problem = files.read(folder / "d.wcnf")
            least = optimum(problem)[0]
            assert verdict[1] <= least <= verdict[0], damaged
            accepted += verdict[0] == verdict[1]
    return accepted


def test_damaged_files_prove_nothing_false(tmp_path):
    accepted = damage_and_check(tmp_path, rounds=12, mutations=25, seed=1)
    assert accepted < 150  # half: most damages are noticed


@pytest.mark.slow
def test_ten_thousand_damaged_files_prove_nothing_false(tmp_path):
    assert damage_and_check(tmp_path, rounds=100, mutations=120, seed=2) < 6000


WCNF = (
    "p wcnf 4 8 25\n3 1 2 0\n3 -1 -2 0\n3 2 -3 0\n3 -2 3 0\n"
    "3 3 -4 0\n3 -3 4 0\n3 1 -4 0\n3 -1 4 0\n"
)
CERT = "glasshouse-certificate 1\ndenominator 1\ncost 3\nstate 1000\nloops 1\n3 1 4 3 2\n"


@pytest.mark.parametrize(
    ("old", "new", "accepted"),
    [
        ("p wcnf", "p wcnf", True),
        ("3 1 2 0", "3 +1 2 0", True),
        ("3 1 2 0", "+3 1 ++2 0", False),
        ("3 1 2 0", "3 1 2_ 0", False),
        ("3 1 2 0", "3 1\f2\v0", True),
        ("3 1 2 0", "3 1\r2 0", True),
        ("3 1 2 0", "3 1 2 0\r3 1 2 0", False),
        ("3 1 2 0", "3 1 2 0\f3 1 2 0", False),
        ("3 1 2 0", "3 1\x1c2 0", False),
        ("3 1 2 0", "3 1\xa02 0", False),
        ("3 1 2 0\n", "3 1 2 0\r\nc \xe9_+\r\n", True),
        ("3 1 2 0\n", "3 1 2 0\nc\n  c  \n", True),
        ("p wcnf 4 8 25", "c num-variables 1_0\nc num-variables\xa04\np wcnf 4 8 25", True),
        ("wcnf 4 8 25\n3", f"wcnf 4 8 {2**63}\n0{2**63}", True),
        ("wcnf 4 8 25\n3", f"wcnf 4 8 {2**63}\n+{2**63}", True),
        ("3 -1 4 0\n", "3 -1 4 0\nc encoding edge\n", False),
        ("p wcnf", 'c recipe {"a":' + "[" * 14 + "1" + "]" * 14 + "}\np wcnf", True),
        ("p wcnf", 'c recipe {"a":' + "[" * 15 + "1" + "]" * 15 + "}\np wcnf", False),
        ("p wcnf", "c recipe {1}\np wcnf", False),
        ("p wcnf", 'c recipe {"a":1.5e308}\np wcnf', True),
        ("p wcnf", 'c recipe {"a":1.8e3084}\np wcnf', False),
        ("p wcnf", 'c recipe {"a":NaN}\np wcnf', False),
        ("p wcnf", "c recipe of mine\np wcnf", True),
        ("p wcnf", 'c recipe {"a":1,"a":1}\np wcnf', False),
        ("p wcnf", 'c recipe {"a":1.' + "1" * 400 + "e500}\np wcnf", False),
        ("p wcnf", 'c labels ["a","b","c","d"]\np wcnf', True),
        ("p wcnf", 'c labels ["a","b","c","c"]\np wcnf', False),
        ("p wcnf", 'c labels ["a","b","c"]\np wcnf', False),
        ("p wcnf", "c labels [1,2,3,null]\np wcnf", False),
        ("p wcnf", "c labels of mine\np wcnf", True),
        ("3 -1 4 0\n", "3 -1 4 0\nc planted-cost 3\nc planted-model 1000\n", True),
        ("3 -1 4 0\n", "3 -1 4 0\nc planted-cost 4\n", False),
        ("3 -1 4 0\n", "3 -1 4 0\nc planted-cost 2\n", False),
        ("3 -1 4 0\n", "3 -1 4 0\nc\rplanted-cost\v3\r\n", True),
        ("state", "names 4" + " " * 99 + "3 2 1\nstate", True),
        ("state", "names 4 3 2 1 1\nstate", False),
        ("denominator 1", "denominator " + "0" * 300_000 + "x", False),
        ("denominator 1", "denominator " + "0" * 9999 + "1", True),
        ("3 1 2 0", "h 1 2 0", False),
        ("wcnf 4 8 25", "wcnf 4 8 +25", False),
        ("wcnf 4 8 25", "wcnf", False),
        ("wcnf 4 8 25\n3", f"wcnf 4 8 25\n{2**63 - 1}", True),
        ("wcnf 4 8 25\n3", f"wcnf 4 8 25\n{2**63}", False),
        ("wcnf 4 8 25\n3", f"wcnf 4 8\n{2**63 - 1}", False),  # with the others, too much
        ("wcnf 4 8 25\n3", f"wcnf 4 8 {2**63}\n{2**63}", True),
        ("wcnf 4 8 25\n3", f"wcnf 4 8 {2**63}\n{2**63 + 1}", False),
        ("certificate 1", "certificate\t1", True),
        ("certificate 1", "certificate +1", False),
        ("certificate 1", "certificate 01", False),
        ("denominator 1", "denominator\t+1\r", True),
        ("denominator 1", "denominator " + "9" * 20, True),
        ("denominator 1", "denominator " + "9" * 4300, True),
        ("denominator 1", "denominator " + "9" * 4301, False),
        ("denominator 1", "denominator 0", False),
        ("denominator 1", "denominator -1", False),
        ("denominator 1", "denominator 1 1", False),
        ("state", "foo\nstate", False),
        ("state", "# foo\xff\nstate", True),
        ("state", "State", False),
        ("cost 3", "cost 3.0", True),
        ("cost 3", "cost 3/1", False),
        ("cost 3", "cost", False),
        ("cost 3", "cost 4", False),
        ("state 1000", "state 10 00", False),
        ("state 1000", "state 1000\fcost 3", False),
        ("\n3 1 4 3 2", "\n+3 1 4 +3 2", True),
        ("\n3 1 4 3 2", f"\n+{10**30} 1 4 3 2", True),
        ("\n3 1 4 3 2", "\n3 1 4 3 2\nfoo", False),
        ("\n3 1 4 3 2", "\n3 1 4 3 2\ncost 3", False),
    ],
)
def test_both_readers_know_one_grammar(tmp_path, old, new, accepted):
    assert (old in WCNF) != (old in CERT)
    wcnf, cert = WCNF.replace(old, new, 1), CERT.replace(old, new, 1)
    (tmp_path / "d.wcnf").write_bytes(wcnf.encode("latin1"))
    (tmp_path / "d.cert").write_bytes(cert.encode("latin1"))
    verdict = stand_alone(wcnf, cert)
    assert verdict == library(tmp_path / "d.wcnf", tmp_path / "d.cert")
    assert (verdict is not None) == accepted


@pytest.mark.parametrize(("cost", "accepted"), [(8, False), (7, True), (3, True), (1, True),
                                                (0, False)])  # fmt: skip
def test_both_refuse_a_cost_that_the_state_beats_or_that_cannot_be(tmp_path, cost, accepted):
    """The state costs 7, and only that no state costs less than 1 is proven."""
    clauses = ("3 1", "2 2", "2 3", "5 -1 -2", "4 -2 -3", "3 -1 -3")
    wcnf = f"c planted-cost {cost}\np wcnf 3 6 99\n" + "".join(f"{c} 0\n" for c in clauses)
    cert = "glasshouse-certificate 1\ndenominator 1\nstate 000\nloops 0\n"
    (tmp_path / "d.wcnf").write_text(wcnf)
    (tmp_path / "d.cert").write_text(cert)
    verdict = stand_alone(wcnf, cert)
    assert verdict == library(tmp_path / "d.wcnf", tmp_path / "d.cert")
    assert (verdict is not None) == accepted


@pytest.mark.parametrize(
    ("edges", "accepted"),
    [
        ("1 2 1\n2 3 1\n1 3 1", True),
        ("1 2 1\n2 3 1\n1 3 3\n3 1 -2", True),
        ("1 2 1\n2 3 1\n1 3 1\n1 2 0", True),
        ("1 2 1\n2 3 1\n1 3 1\n2 1 -1", True),  # adds up to nothing
        ("1 2 0.5\n1 2 0.25\n2 3 0.75\n1 3 0.75", True),
        ("1 2 0.1\n1 2 0.2\n2 3 1\n1 3 1", False),  # no float is the sum of these two
        ("1 2 1e308\n2 1 1e308\n2 3 1\n1 3 1", False),
        ("1 2 1\n2 3 1\n1 3 1\n3 3 1", False),
    ],
)
def test_both_add_up_parallel_edges(tmp_path, edges, accepted):
    graph, cert = tmp_path / "d.mc", tmp_path / "d.mc.cert"
    graph.write_text(f"3 {len(edges.splitlines())}\n{edges}\n")
    cert.write_text("glasshouse-certificate 1\ndenominator 1\nstate 011\nloops 0\n")
    try:
        cut, most = checker.check(graph.read_text(), cert.read_text(), is_graph=True)
    except ValueError:
        assert not accepted
        with pytest.raises(files.FileError):
            files.read_document(graph)
        return
    assert accepted
    document = files.read_document(graph)
    verdict, measure = (
        document.examined(files.read_side_car(cert)).verdict,
        cut_of(document.problem),
    )
    assert (cut, most) == (measure.of(verdict.energy), measure.bound(verdict.lower_bound))


def test_plants_are_verified_by_their_own_loops(tmp_path):
    for seed, f in enumerate(("1/5", "1/4", "23/100")):
        planted = random_loops(12, 9, frustration=f, loop_density=1.5, rng=seed)
        path = tmp_path / f"{seed}.wcnf"
        files.write(path, planted)
        cost, bound = checker.check(path.read_text(), files.side_car(path).read_text())
        assert cost == bound == prove(files.read(path)).energy


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", checker.__file__, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_tells_by_its_exit_code(tmp_path):
    planted = random_loops(8, 8, frustration="1/5", loop_density=1, rng=3)
    wcnf, other = tmp_path / "a.wcnf", tmp_path / "b.wcnf"
    files.write(wcnf, planted)
    files.write(other, random_loops(8, 8, frustration="1/5", loop_density=1, rng=4))
    cert = files.side_car(wcnf)
    good = run(wcnf, cert)
    assert (good.returncode, good.stdout.split()[:2]) == (0, ["VERIFIED", "optimum"])
    foreign = run(wcnf, files.side_car(other))
    assert foreign.returncode == 1
    assert "REFUSED" in foreign.stderr
    assert "usage" in run(wcnf).stderr
    assert run(wcnf, tmp_path / "missing").returncode == 1
    lines = cert.read_text().splitlines()
    lines = [line.replace("loops 8", "loops 7") for line in lines[:-1]]
    cert.write_text("\n".join(lines))
    weaker = run(wcnf, cert)
    assert weaker.returncode == 2
    assert weaker.stdout.startswith("VERIFIED only a lower bound: ")


def test_the_checker_is_one_short_file_of_the_standard_library():
    text = Path(checker.__file__).read_text()
    assert len(text.splitlines()) <= 595
    modules = {
        line.split()[1].split(".")[0]
        for line in text.splitlines()
        if line.startswith(("import", "from"))
    }
    assert modules <= sys.stdlib_module_names


def test_numbers_above_64_bits(tmp_path):
    limit = 2**63 - 1
    problem = Max2Sat.from_clauses(
        4, [[1, 2], [-1, -2], [1, -2], [-1, 2], [4]],
        [limit // 5, limit // 5 + 1, limit // 5 + 2, limit // 5 + 3, limit // 5 - 9],
        hard=[[-4, 3], [-3, 1]],
    )  # fmt: skip
    for dialect in ("classic", "mse22"):
        wcnf, cert = write_both(tmp_path, problem, dialect)
        cost, bound = checker.check(wcnf.read_text(), cert.read_text())
        assert cost == bound == limit // 5 + 1
        assert library(wcnf, cert) == (cost, bound)
