"""A wrong planting method: every command that reports "proven" detects the fault."""

import shlex
import sys
from dataclasses import replace
from importlib import import_module
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from tests.cli.test_proven import CLAIM

import glasshouse as gh
from glasshouse.certificates import CertificateError
from glasshouse.cli import main
from glasshouse.planting import METHODS, Recipe, random_loops
from glasshouse.planting.loops import NO_LOOPS

SUITE = """
name = "faulty"
seed = 1
count = 1
[[family]]
method = "lone_loop"
parameters = { n = 6, m = 6 }
"""


def states(plant):
    return (np.array(signs, dtype=np.int8) for signs in product((-1, 1), repeat=12))


def with_a_worse_state(plant):
    """A state that is not optimal, with its true energy."""
    energy = plant.problem.energy
    worse = next(state for state in states(plant) if energy(state) > plant.energy)
    return replace(plant, state=worse, energy=int(energy(worse)))


def with_another_problem(plant):
    """A problem with other signs, in which the planted state has another energy."""
    turned = (gh.gauge(plant.problem, signs) for signs in states(plant))
    other = next(one for one in turned if one.energy(plant.state) != plant.energy)
    return replace(plant, problem=other)


FAULTS = {
    "a state that is not optimal": with_a_worse_state,
    "an energy that no state has": lambda plant: replace(plant, energy=plant.energy - 2),
    "a certificate that does not close": lambda plant: replace(plant, loops=NO_LOOPS),
    "another problem": with_another_problem,
}


@pytest.fixture(params=FAULTS)
def method(request, monkeypatch, tmp_path):
    """The toy method of the tests, which now makes the same mistake with every plant."""
    before = dict(METHODS)
    module = import_module("tests.toys.lone_loop")
    spoil = FAULTS[request.param]

    def of_rbm(n, m, *given):
        plant = random_loops(n, m, frustration="1/5", loops=7, rng=1)
        recipe = next((one for one in given if isinstance(one, Recipe)), plant.recipe)
        return replace(spoil(plant), recipe=recipe)

    monkeypatch.setattr(module, "Planted", SimpleNamespace(of_rbm=of_rbm))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "faulty.toml").write_text(SUITE)
    yield METHODS["lone_loop"]
    METHODS.clear()
    METHODS.update(before)
    del sys.modules["tests.toys.lone_loop"]
    vars(gh).pop("lone_loop", None)


def assert_refused(words, capsys):
    assert main(shlex.split(words)) in (1, 2)
    said = capsys.readouterr()
    assert not CLAIM.search(said.out), said.out
    assert "Traceback" not in said.err


@pytest.mark.parametrize("options", [
    *(f"-o x.{suffix}" for suffix in ("wcnf", "qubo", "mc", "npz")), "-o x.wcnf --json",
    "-o x.wcnf --blind", "-o x.wcnf --blind --certificate y.cert", "-o - --format wcnf", "",
    "--count 2 -o many", "--count 2 -o many --format npz",
    "--count 2 -o many --blind", "--count 2 -o many --blind --answers apart",
])  # fmt: skip
def test_plant_refuses_it(options, method, tmp_path, capsys):
    assert_refused(f"plant lone -n 6 --seed 1 {options}", capsys)
    assert not list(tmp_path.rglob("manifest.jsonl"))


@pytest.mark.parametrize("suffix", [".wcnf", ".qubo", ".npz"])
@pytest.mark.parametrize("blind", [False, True])
def test_write_suite_refuses_it(suffix, blind, method, tmp_path):
    plant = method.function(6, 6, rng=1)
    with pytest.raises(CertificateError):
        gh.write_suite(tmp_path / "suite", [plant], suffix=suffix, blind=blind)
    assert not list(tmp_path.rglob("manifest.jsonl"))


def test_a_race_of_samplers_refuses_it(method):
    with pytest.raises(CertificateError):
        gh.race_samplers(
            {"anneal": gh.GlasshouseAnnealer()}, [method.function(6, 6, rng=1)], calls=1, batches=()
        )


def test_a_race_of_commands_refuses_it(method, tmp_path, capsys):
    race = "race run --solver anneal --time-limit 1 -o race.sqlite"
    assert_refused(f"{race} --suite faulty.toml", capsys)
    # Of a file whose certificate is true, but proves less than the file states, bounds are known.
    gh.write(tmp_path / "x.wcnf", method.function(6, 6, rng=1))
    main(shlex.split(f"{race} --suite x.wcnf"))
    said = capsys.readouterr().out
    assert not CLAIM.search(said.replace("no optimum is proven for 1 of 1", "")), said


@pytest.mark.parametrize("suffix", ["wcnf", "qubo", "mc", "npz"])
def test_the_report_page_does_not_call_it_verified(suffix, method, tmp_path, capsys):
    """`write` does not verify a caller's own plant, so the file states what is false."""
    path, page = tmp_path / f"x.{suffix}", tmp_path / "page.html"
    gh.write(path, method.function(6, 6, rng=1))
    assert_refused(f"check {path.name}", capsys)
    for _ in range(2):  # with its certificate, and by its recipe alone
        main(["report", path.name, "-o", page.name, "--force"])
        assert not CLAIM.search(capsys.readouterr().out)
        text = page.read_text()
        assert "is the optimum" not in text
        assert ", the optimum" not in text
        assert "proven to be a ground state" not in text
        assert "false" in text or "is left" in text
        gh.files.side_car(path).unlink(missing_ok=True)
