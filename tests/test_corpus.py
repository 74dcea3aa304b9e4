"""Every input of the fuzzing corpus (`fuzz/corpus`) keeps its promises, in a child process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import pytest
from fuzz import judge
from fuzz.findings import Findings, kind_of
from fuzz.known import STILL_FAILING
from fuzz.last_input import LastInput, last_input
from fuzz.promises import BrokenPromiseError, attempt
from fuzz.targets import CORPUS, TARGETS, corpus_of

from glasshouse.files import FileError, read_document
from glasshouse.problems import Ising, Max2Sat, Qubo, Rbm

INPUTS = [f"{name}/{path.name}" for name in TARGETS for path in corpus_of(name)]
ROOT = CORPUS.parents[1]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="each input runs in a fork")


def replayed() -> dict[str, str]:
    """Return the fault of each input, which is "" if the input keeps its promises."""
    done = subprocess.run(
        [sys.executable, "-m", "fuzz.replay"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    return {one["input"]: one["fault"] for one in told}


def test_the_corpus_keeps_its_promises():
    faults = replayed()
    assert sorted(faults) == sorted(INPUTS)
    broken = {name: fault for name, fault in faults.items() if fault and name not in STILL_FAILING}
    assert not broken
    mended = [name for name in STILL_FAILING if not faults[name]]
    assert not mended, f"these are fixed; remove them from fuzz/known.py: {mended}"


def test_the_list_of_failures_names_inputs():
    assert set(STILL_FAILING) <= set(INPUTS)


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_has_a_good_input(name):
    assert any(path.name.startswith("good") for path in corpus_of(name))


def test_the_corpus_is_small():
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < 1 << 20


@pytest.mark.parametrize("name", TARGETS)
def test_mutators_take_whatever_they_made(name):
    random = Random(7)
    seeds = [path.read_bytes() for path in corpus_of(name) if path.name.startswith("good")]
    for number in range(60):
        data = TARGETS[name].mutate(seeds[number % len(seeds)], random)
        assert isinstance(data, bytes)
        seeds[number % len(seeds)] = data[: TARGETS[name].longest]


def test_the_judge_tries_all_states():
    spins = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [-1, -1, -1], [0, 0, 2**62], 5)
    assert judge.least_cost(spins) == 5 - 1 - 2**62
    assert judge.contradicts(5 - 1 - 2**62, spins) == ""
    assert judge.contradicts(5 - 2**62, spins) == f"the optimum is {4 - 2**62}"
    qubo = Qubo.from_edges(2, [(0, 1)], [-0.5], [0.25, 0.0])
    assert judge.least_cost(qubo) == Fraction(-1, 4)
    assert judge.contradicts(-0.25, qubo) == ""
    machine = Rbm([[1, -2], [3, 4]], [1, 0], [0, -1])
    assert judge.least_cost(machine) == min(
        -sum(v[i] * machine.matrix[i, j] * h[j] for i in (0, 1) for j in (0, 1)) - v[0] + h[1]
        for *v, a, b in product((-1, 1), repeat=4)
        for h in [(a, b)]
    )


def test_the_judge_keeps_hard_clauses():
    clauses = Max2Sat.from_clauses(2, [[1], [2], [-1, -2]], [3, 5, 1], hard=[[-1]])
    assert judge.least_cost(clauses) == 3
    never = Max2Sat.from_clauses(1, [[1]], [1], hard=[[1], [-1]])
    assert judge.contradicts(0, never) == "no state satisfies the hard clauses"


def raising(error: Exception) -> None:
    raise error


def test_only_our_own_errors_in_one_line_are_refusals():
    ours = FileError(Path("x"), "is wrong")
    assert attempt((FileError,), raising, ours) == (None, ours)
    for foreign in (ValueError("x"), UnicodeDecodeError("utf-8", b"", 0, 1, "x"), KeyError("x")):
        with pytest.raises(type(foreign)):
            attempt((FileError,), raising, foreign)
    with pytest.raises(UnicodeDecodeError):
        attempt((ValueError,), raising, UnicodeDecodeError("utf-8", b"", 0, 1, "x"))
    with pytest.raises(BrokenPromiseError, match="not one short line"):
        attempt((ValueError,), raising, ValueError("one\ntwo"))


def test_a_finding_is_named_by_its_exception_and_place():
    with pytest.raises(FileError) as caught:
        read_document("nowhere.wcnf")
    assert re.fullmatch(r"MissingFileError-streams-opened-\d+", kind_of(caught.value))


def test_a_finding_keeps_the_shortest_input(tmp_path):
    findings = Findings(tmp_path)
    for data in (b"long", b"it", b"too long"):
        findings.keep(KeyError("x"), data)
    assert (tmp_path / "KeyError.input").read_bytes() == b"it"
    assert "KeyError: 'x'" in (tmp_path / "KeyError.txt").read_text()


def test_the_last_input_outlives_its_process(tmp_path):
    last = LastInput(tmp_path / "last", 4)
    for data in (b"abc", b"x", b"too long"):
        last.remember(data)
        assert last_input(tmp_path / "last") == data[:4]
