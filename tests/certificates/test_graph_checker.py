"""MaxCut graphs: the stand-alone checker and the library give the same verdict on every input."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.certificates.mutations import mutate
from tests.oracles import optimum

from glasshouse import files
from glasshouse.certificates import CertificateError, checker
from glasshouse.files.formats.maxcut import cut_of
from glasshouse.planting.methods import random_loops
from glasshouse.problems import Ising
from glasshouse.proofs import prove


def stand_alone(graph: bytes, certificate: bytes):
    """The cut, the energy's bound rounded as in the library, and whether it is optimal, or None."""
    try:
        texts = graph.decode("latin1"), certificate.decode("latin1")
        cut, most = checker.check(*texts, is_graph=True)
        constant, weights, scale, *_, is_float = checker.read_graph(texts[0])
        least = Fraction(constant - sum(weights.values()), scale) - 2 * most
        lower = float(least) if is_float else least
        lower = math.nextafter(lower, -math.inf) if lower > least else lower
        return cut, lower, cut == most
    except (RecursionError, ValueError):  # the errors that its command catches
        return None


def library(graph: Path, certificate: Path):
    """The verdict of the library's own readers."""
    try:
        document = files.read_document(graph)
        verdict = document.examined(files.read_side_car(certificate)).verdict
    except (CertificateError, files.FileError):
        return None
    measure = cut_of(document.problem)
    cut = measure.factor * verdict.exact_energy + measure.shift
    return cut, verdict.lower_bound, verdict.optimal


def verdicts(folder: Path, graph: bytes, certificate: bytes):
    (folder / "d.mc").write_bytes(graph)
    (folder / "d.cert").write_bytes(certificate)
    return stand_alone(graph, certificate), library(folder / "d.mc", folder / "d.cert")


GRAPH = "3 3\n1 2 1\n2 3 1\n1 3 1\n"
CERT = "glasshouse-certificate 1\ndenominator 1\ncost -1\nstate 011\nloops 1\n1 2 3 1\n"
OPEN = "glasshouse-certificate 1\ndenominator 1\nstate 111\nloops 0\n"
HUGE, LAST = 2**63, 2**63 - 1


@pytest.mark.parametrize(
    ("old", "new", "accepted"),
    [
        ("3 3\n", "3 3\n", True),
        ("3 3\n", "3.0 3\n", False),
        ("3 3\n", "+3 03\n", True),
        ("3 3\n", "3 3 3\n", False),
        ("1 2 1\n", "1.0 2 1\n", False),
        ("1 2 1\n", "1 2 1 1\n", False),
        ("1 2 1\n", "1 2 1.0\n", True),
        ("1 2 1\n", "1 2 h\n", False),
        ("1 2 1\n", "1 2\v1\r\n", True),
        # weights at the ends of 64 bits
        ("1 2 1\n", f"1 2 {HUGE}\n", False),
        ("1 2 1\n", f"1 2 -{HUGE}\n", False),
        ("1 2 1\n", f"1 2 {LAST}\n", False),  # with the others, too much
        ("1 2 1\n", f"1 2 {LAST - 2}\n", True),
        ("1 2 1\n", f"1 2 -{LAST - 2}\n", True),
        ("1 2 1\n", f"1 2 {HUGE}.0\n", True),
        ("1 2 1\n", f"1 2 -{HUGE}.0\n", True),
        ("1 2 1\n", f"1 2 {HUGE}.5\n", False),
        ("1 2 1\n", "1 2 9223372036854776000\n", True),  # as programs print that float
        ("1 2 1\n", "1 2 9223372036854777000\n", False),
        ("1 2 1\n", "1 2 1e30\n", True),
        ("1 2 1\n", "1 2 1" + "0" * 30 + "\n", True),
        ("1 2 1\n", "1 2 1" + "0" * 22 + "\n", False),
        ("1 2 1\n", "1 2 1e999\n", False),
        ("1 2 1\n", "1 2 1e308\n", False),
        ("1 2 1\n", "1 2 " + "0" * 500 + "1\n", True),
        ("1 2 1\n", "1 2 0." + "0" * 500 + "1\n", False),
        # whole weights above 2^53 beside decimals
        ("1 2 1\n2 3 1\n", f"1 2 {2**53 + 1}\n2 3 1\n", True),
        ("1 2 1\n2 3 1\n", f"1 2 {2**53 + 1}\n2 3 1.5\n", False),
        ("1 2 1\n2 3 1\n", f"1 2 {2**53 + 1}\n2 3 1.0\n", False),
        ("1 2 1\n2 3 1\n", f"1 2 {2**53 + 2}\n2 3 1.5\n", True),
        ("1 2 1\n2 3 1\n", f"1 2 {2**53 - 1}.0\n2 1 2\n", True),
        ("1 2 1\n", f"# numbers float\n1 2 {2**53 + 1}\n", False),
        ("1 2 1\n", f"# offset 0.5\n1 2 {2**53 + 1}\n", False),
        ("3 3\n", "# numbers float\n3 3\n", True),
        ("3 3\n", "# numbers whole\n3 3\n", False),
        ("3 3\n", "# numbers whole\n# offset .5\n3 3\n", False),
        # notes
        ("3 3\n", "# offset 0\n3 3\n", True),
        ("3 3\n", "#offset 0\n#offset 0\n3 3\n", False),
        ("3 3\n", "# offset 0\n#offset 0\n3 3\n", False),
        ("3 3\n", "#offset 1\n3 3\n", False),  # the certificate states another energy
        ("3 3\n", "#\voffset\f0\r\n3 3\n", True),
        ("3 3\n", "# offset\r0\n3 3\n", True),
        ("3 3\n", "# offset 0 0\n3 3\n", True),
        ("3 3\n", "# offset 0x\n3 3\n", False),
        ("3 3\n", f"# offset {HUGE}\n3 3\n", False),
        ("3 3\n", "# ancilla 3\n3 3\n", False),  # the state has one digit too many
        ("3 3\n", "# recipe {}\n3 3\n", True),
        ("3 3\n", "# recipe {1}\n3 3\n", False),
        ("3 3\n", '# recipe {"a":1,"a":1}\n3 3\n', False),
        ("3 3\n", '# recipe {"a":1.' + "1" * 400 + "e500}\n3 3\n", False),
        ("3 3\n", '# labels ["a","b","c"]\n3 3\n', True),
        ("3 3\n", '# labels ["a","b","b"]\n3 3\n', False),
        ("3 3\n", '# labels ["a","b"]\n3 3\n', False),
        ("3 3\n", "# labels [1,1.0,2]\n3 3\n", False),
        ("3 3\n", "# labels [[0,1],[0,2],[1,[[[5]]]]]\n3 3\n", True),
        ("3 3\n", "# labels [[0,1],[0,2],[1,[[[[5]]]]]]\n3 3\n", False),
        ("3 3\n", "# labels [1,2,true]\n3 3\n", False),
        ("3 3\n", "# labels [1,2,NaN]\n3 3\n", False),
        # the stated values
        ("3 3\n", "# planted-cut 2\n# planted-model 011\n3 3\n", True),
        ("3 3\n", "# planted-cut 2.0\n3 3\n", True),
        ("3 3\n", "# planted-cut 1\n3 3\n", False),
        ("3 3\n", "# planted-cut 3\n3 3\n", False),
        ("3 3\n", "# planted-cut 1e308\n3 3\n", False),
        ("3 3\n", "# planted-model 000\n3 3\n", False),
        ("3 3\n", "# planted-model 0110\n3 3\n", False),
        ("3 3\n", "# planted-model 012\n3 3\n", False),
        ("3 3\n", "# planted-cut 2\n# planted-cut 2\n3 3\n", False),
        ("3 3\n", "# planted-cost 5\n3 3\n", True),  # a word of other formats
    ],
)
def test_both_readers_know_one_grammar(tmp_path, old, new, accepted):
    assert old in GRAPH
    certificate = CERT if old == "3 3\n" and "offset ." not in new else OPEN
    first, second = verdicts(
        tmp_path, GRAPH.replace(old, new, 1).encode("latin1"), certificate.encode()
    )
    assert first == second
    assert (first is not None) == accepted


@pytest.mark.parametrize("note", ["# ancilla 3", "# ancilla +3", "#ancilla\v03", "# ancilla\r3"])
def test_both_read_the_ancilla_alike(tmp_path, note):
    certificate = OPEN.replace("111", "01").encode()
    first, second = verdicts(tmp_path, f"{GRAPH}{note}\n".encode(), certificate)
    assert first == second is not None
    for model, is_right in (("011", True), ("100", True), ("000", False), ("01", False)):
        known = f"{GRAPH}{note}\n# planted-model {model}\n".encode()
        tight = (
            CERT.replace("011", "11").replace("1 2 3 1", "1 2 0 1").replace("cost -1", "cost -1")
        )
        first, second = verdicts(tmp_path, known, tight.replace("state 11", "state 10").encode())
        assert first == second
        assert (first is not None) == is_right, model


@pytest.mark.parametrize("note", ["# ancilla 3.0", "# ancilla 2", "# ancilla 3e0", "# ancilla -3"])
def test_both_refuse_another_ancilla(tmp_path, note):
    certificate = OPEN.replace("111", "01").encode()
    assert verdicts(tmp_path, f"{GRAPH}{note}\n".encode(), certificate) == (None, None)


@pytest.mark.parametrize(("cut", "accepted"), [(0, True), (1, True), (2, True), (3, False),
                                               (4, False), (-1, False)])  # fmt: skip
def test_both_refuse_a_cut_that_the_state_beats_or_that_cannot_be(tmp_path, cut, accepted):
    """The state cuts nothing, and at most 3 is left possible."""
    first, second = verdicts(tmp_path, f"{GRAPH}# planted-cut {cut}\n".encode(), OPEN.encode())
    assert first == second
    assert (first is not None) == accepted


def some_graph(folder: Path, rng: np.random.Generator) -> tuple[bytes, bytes]:
    """A graph with all notes there are, and its proof: a plant, or integers, or floats."""
    path = folder / "g.mc"
    kind = rng.integers(3)
    if kind == 0:
        plant = random_loops(4, 4, frustration="1/5", loops=4, rng=int(rng.integers(99)))
        files.write(path, plant, overwrite=True)
        return path.read_bytes(), files.side_car(path).read_bytes()
    size = int(rng.integers(3, 7))
    pairs = [(i, j) for i in range(size) for j in range(i) if rng.random() < 0.8]
    weights = rng.integers(-9, 10, len(pairs)) / (1 if kind == 1 else 4)
    fields = rng.integers(-2, 3, size) * (rng.random() < 0.5)
    dtype = np.int64 if kind == 1 else np.float64
    labels = [f"v{k}" for k in range(size)] if rng.random() < 0.5 else None
    problem = Ising.from_edges(
        size, pairs, weights.astype(dtype), fields.astype(dtype), dtype(3).item(), labels
    )
    files.write(path, problem, overwrite=True)
    proof = prove(problem)
    files.write_certificate(files.side_car(path), proof.certificate, cost=proof.energy,
                            overwrite=True)  # fmt: skip
    model = "".join("1" if x > 0 else "0" for x in proof.state)
    has_ghost = b"ancilla" in path.read_bytes()
    stated = f"# planted-model {model}{'1' * has_ghost}\n"
    stated += f"# planted-cut {files.read_document(path).measure.of(proof.energy)}\n"
    return path.read_bytes() + stated.encode(), files.side_car(path).read_bytes()


NOTES = (
    "# offset 0", "#offset 3", "# offset 0.5", "# offset -3", "#\vancilla\r5", "# ancilla +4",
    "# numbers float", "# numbers whole", "# planted-cut 2", "# planted-cut 1.5",
    "# planted-cut 1e308", "# planted-model 0110", "# planted-model 10011", "# labels [1,2,3]",
    '# labels ["a","b","c","d"]', "# labels [1", '# recipe {"a":[1,{"a":1,"a":2}]}', "# recipe {}",
)  # fmt: skip


def damage_and_check(folder: Path, rounds: int, mutations: int, seed: int) -> int:
    """Damage graph or certificate; whatever is still verified must be true."""
    rng = np.random.default_rng(seed)
    accepted = 0
    for _ in range(rounds):
        texts = [text.decode("latin1") for text in some_graph(folder, rng)]
        intact = verdicts(folder, *(text.encode("latin1") for text in texts))
        assert intact[0] == intact[1] is not None
        for _ in range(mutations):
            damaged = list(texts)
            target = int(rng.integers(4)) // 3  # mostly the graph
            damaged[target] = mutate(damaged[target], rng)
            if target == 0 and rng.random() < 0.3:
                lines = damaged[0].splitlines(keepends=True)
                place = int(rng.integers(len(lines) + 1))
                note = NOTES[rng.integers(len(NOTES))]
                damaged[0] = "".join([*lines[:place], note + "\n", *lines[place:]])
            first, second = verdicts(folder, *(text.encode("latin1") for text in damaged))
            assert first == second, damaged
            if first is None:
                continue
            document = files.read_document(folder / "d.mc")
            assert first[1] <= optimum(document.problem)[0]
            accepted += first[2]
    return accepted


def test_damaged_graphs_prove_nothing_false(tmp_path):
    assert damage_and_check(tmp_path, rounds=12, mutations=25, seed=1) < 150


@pytest.mark.slow
def test_ten_thousand_damaged_graphs_prove_nothing_false(tmp_path):
    assert damage_and_check(tmp_path, rounds=100, mutations=100, seed=2) < 5000


def _pythons() -> list[str]:
    """Interpreters of other versions (3.8 and newer) that are installed."""
    names = [f"python3.{minor}" for minor in range(8, 20)]
    folders = sorted(Path.home().glob(".pyenv/versions/3.*/bin"))
    found = {}
    for name in names:
        places = [shutil.which(name), *(str(folder / name) for folder in folders)]
        for place in places:
            if place and Path(place).exists() and _starts(place):
                found[name] = place
    return list(found.values())


def _starts(python: str) -> bool:
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def test_the_checker_runs_on_every_python_from_3_8_on(tmp_path):
    graph, certificate = some_graph(tmp_path, np.random.default_rng(3))
    (tmp_path / "d.mc").write_bytes(graph)
    (tmp_path / "d.cert").write_bytes(certificate)
    plant = random_loops(8, 8, frustration="1/5", loop_density=1, rng=3)
    files.write(tmp_path / "x.wcnf", plant)
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    for python in {sys.executable, *_pythons()}:
        for names in (("d.mc", "d.cert"), ("x.wcnf", "x.wcnf.cert")):
            call = [python, checker.__file__, *(str(tmp_path / name) for name in names)]
            done = subprocess.run(call, capture_output=True, text=True, check=False, env=clean)
            assert done.stdout.startswith("VERIFIED"), (python, done.stderr)


def test_the_checker_uses_nothing_that_python_3_8_has_not():
    import ast

    text = Path(checker.__file__).read_text()
    assert text.isascii()
    tree = ast.parse(text, feature_version=(3, 8))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert not [call for call in calls if any(word.arg == "strict" for word in call.keywords)]
    newer = {"lcm", "removeprefix", "removesuffix", "is_integer", "pairwise", "batched"}
    assert not [node for node in ast.walk(tree)
                if isinstance(node, ast.Attribute) and node.attr in newer]  # fmt: skip
    for call in calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "gcd":
            assert len(call.args) == 2
            assert not any(isinstance(word, ast.Starred) for word in call.args)


def test_a_mistake_of_the_checker_is_not_a_refusal(monkeypatch, tmp_path):
    """Only errors that files can cause are refusals: a TypeError is our own."""
    text = Path(checker.__file__).read_text()
    broken = tmp_path / "broken.py"
    broken.write_text(text.replace("def rows(text, comment):", "def rows(text):", 1))
    (tmp_path / "d.mc").write_text(GRAPH)
    (tmp_path / "d.cert").write_text(CERT)
    call = [sys.executable, str(broken), str(tmp_path / "d.mc"), str(tmp_path / "d.cert")]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert "REFUSED" not in done.stderr
    assert "TypeError" in done.stderr
    assert done.returncode != 0
