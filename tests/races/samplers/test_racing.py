"""Races of samplers: what they are about, and no finished call is repeated."""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest
from tests.children import run, start, until
from tests.races.samplers.toys import Sampler, dimod, plants, truly

import glasshouse as gh
from glasshouse.certificates import CertificateError
from glasshouse.races.samplers.problems import raced_problems
from glasshouse.races.samplers.stored import read_sampler_results
from glasshouse.store.storefile import StoreError


def test_without_a_proof_the_best_found_is_the_target_and_never_called_proven():
    ising = gh.Ising.from_edges(4, [(0, 1), (1, 2), (2, 3)], [1.5, -2.25, 0.125])
    given = {"ising": ising, "qubo": gh.to_qubo(plants()[0].problem)[0], "rbm": plants()[0].problem,
             "clauses": gh.to_max2sat(plants()[0].problem)[0]}  # fmt: skip
    found = gh.race_samplers({"x": Sampler()}, given, reads=4, calls=2, batches=())
    for name in given:
        assert not found.is_proven(name)
        assert found.target(name) == found.energies("x", name).min()
        assert found.success("x", name).value > 0
    assert "0 with an optimum proven before the race, 4 with an unproven target" in found.summary()
    nobody = gh.race_samplers({"x": lambda bqm: None}, [ising], calls=2, batches=())
    assert nobody.target("Ising#0") is None
    assert nobody.success("x").value == 0
    assert "inf" in nobody.summary()


def test_a_false_plant_is_refused():
    with pytest.raises(CertificateError, match="energy"):
        gh.race_samplers(
            {"x": Sampler()}, [replace(plants()[0], energy=plants()[0].energy - 1)], batches=()
        )


def test_clauses_of_a_suite_have_the_energies_of_their_problem(tmp_path):
    gh.write_suite(tmp_path / "suite", plants()[:2])
    suite = gh.load_suite(tmp_path / "suite", tmp_path)
    for source in (suite, tmp_path / "suite", str(tmp_path / "suite")):
        problems = raced_problems(source)
        for one, plant in zip(problems, plants(), strict=False):
            least = min(
                one.problem.energy(np.array(state))
                for state in itertools.product((-1, 1), repeat=plant.problem.num_variables)
            )
            assert one.optimum == one.best == least
    found = gh.race_samplers({"exact": dimod.ExactSolver()}, suite, calls=1, batches=())
    assert found.success("exact").value == 1.0
    assert found.suite == "suite"


def test_a_ready_made_suite_races_by_its_name():
    found = gh.race_samplers(
        {"ours": gh.GlasshouseAnnealer()}, "smoke", reads=10, calls=1, rng=1, batches=()
    )
    assert len(found.instances) == 22
    assert all(map(found.is_proven, found.instances))
    assert not found.faults


def test_the_time_limit_ends_a_samplers_calls_on_an_instance(monkeypatch):
    clock = itertools.count(0.0, 1e-4)  # passes whenever it is read, and 0.03 s within a call
    monkeypatch.setattr("glasshouse.races.samplers.calling.perf_counter", lambda: next(clock))

    def slow(bqm):
        for _ in range(300):
            next(clock)
        return truly(bqm)

    found = gh.race_samplers(
        {"slow": slow, "fast": Sampler()}, plants()[:2], calls=20, time_limit=0.05, batches=()
    )
    number = {who: sum(call.solver == who for call in found.calls) for who in found.solvers}
    assert number["slow"] == 4
    assert number["fast"] > 4


def test_a_store_repeats_no_call_and_takes_more(tmp_path):
    store, sampler = tmp_path / "race.sqlite", Sampler()
    told = []

    def asked(calls=3, samplers=None, **options):
        entered = samplers or {"x": sampler}
        return gh.race_samplers(
            entered, plants()[:2], reads=4, calls=calls, store=store, **options, batches=()
        )

    first = asked(progress=told.append)
    assert [one.calls for one in told] == list(range(1, 7))
    assert told[-1].goal == 6
    made = len(sampler.heard)
    second = asked()
    assert len(sampler.heard) == made  # not even a warm-up
    assert second.summary() == first.summary()
    assert second.seed == first.seed
    asked(calls=5)
    assert len(sampler.heard) == made + 1 + 4
    with pytest.raises(StoreError, match="contains a race with rng="):
        asked(rng=first.seed + 1)
    other = Sampler()
    other.parameters |= {"more": []}
    for another in ((other, {"more": np.arange(3)}), truly):  # one name, one sampler
        with pytest.raises(StoreError, match="contains calls of a sampler x that differs in its "):
            asked(samplers={"x": another})
    assert not other.heard
    changed = asked(samplers={"z": (other, {"more": np.arange(3)})})
    assert len(other.heard) == 1 + 6  # other parameters, other calls
    assert len(changed.calls) == 6
    with gh.Store(store) as held:
        assert not held.check()


def test_faults_and_their_reads_come_back_from_a_store(tmp_path):
    def asked():
        return gh.race_samplers(
            {"x": lambda bqm: "\ud800 \0"}, plants()[:1], calls=2, store=tmp_path / "a", batches=()
        )

    assert [call.fault for call in asked().calls] == [call.fault for call in asked().calls]
    hostile = gh.race_samplers({"x": Sampler(hostile_words)}, plants()[:1], reads=2, calls=1,
                      store=tmp_path / "b", batches=())  # fmt: skip
    assert hostile.faults


def hostile_words(found, bqm):
    raise RuntimeError("\ud800 \0 \x1b[2J" * 1000)


KILLED = """
    import sys, time
    import dimod, glasshouse as gh

    def slow(bqm, num_reads, seed):
        with open(sys.argv[2], "a") as log:
            log.write(f"{seed}\\n")
        time.sleep(float(sys.argv[3]))
        return dimod.SampleSet.from_samples_bqm(
            ([[1] * bqm.num_variables] * num_reads, list(bqm.variables)), bqm)

    plants = [gh.random_loops(4, 4, frustration="1/5", loops=3, rng=k) for k in (1, 2)]
    found = gh.race_samplers({"slow": slow}, plants, reads=2, calls=10, rng=1,
                             store=sys.argv[1], batches=())
    print(len(found.calls))
"""


def test_a_killed_race_repeats_no_finished_call(tmp_path):
    script, store, log = tmp_path / "race.py", tmp_path / "race.sqlite", tmp_path / "log"
    script.write_text(textwrap.dedent(KILLED))
    words = [sys.executable, str(script), str(store), str(log)]
    running = start([*words, "0.5"])  # 20 calls, so that it is killed before it ends
    until(lambda: log.exists() and len(log.read_text().split()) >= 6, running)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    ended = run([*words, "0"])
    assert ended.stdout == "20\n"
    heard = log.read_text().split()
    repeated = [seed for seed in set(heard) if heard.count(seed) > 1]
    warm, counted = heard.count("0"), len(set(heard) - {"0"})
    assert warm == 2  # one call on two spins, per start
    assert counted == 20
    assert len([seed for seed in repeated if seed != "0"]) <= 1  # the one that was being made


def test_a_race_on_problems_of_floats_is_stored_and_resumed(tmp_path):
    """Energies of floats may be below the proven optimum by rounding."""
    edges = [(i, j) for i in range(10) for j in range(i)]
    weights = [np.random.default_rng(seed).normal(size=len(edges)).tolist() for seed in range(4)]
    proofs = [gh.prove(gh.Ising.from_edges(10, edges, each)) for each in weights]
    first, second = (
        gh.race_samplers({"x": gh.GlasshouseAnnealer()}, proofs, reads=9, calls=1, rng=1,
                         batches=(), store=tmp_path / "race.sqlite")
        for _ in range(2)
    )  # fmt: skip
    assert all(map(first.is_proven, first.instances))
    assert all(first.success("x", name).value > 0 for name in first.instances)
    assert [call.seconds for call in first.calls] == [call.seconds for call in second.calls]
    with gh.Store(tmp_path / "race.sqlite") as held:
        assert (
            read_sampler_results(held).summary().splitlines()[1:]
            == (first.summary().splitlines()[1:])
        )


def test_stores_of_others_and_damaged_ones_are_refused(tmp_path):
    study = tmp_path / "study.sqlite"
    task = gh.Task("random_loops", {"n": 6, "frustration": 0.1, "loop_density": 0.5},
                   stop=gh.Stop(2))  # fmt: skip
    gh.collect([task], study)
    with pytest.raises(StoreError, match="holds a study, not a race of samplers"):
        gh.race_samplers({"x": Sampler()}, plants()[:1], store=study, batches=())
    ours = tmp_path / "ours.sqlite"
    gh.race_samplers({"x": Sampler()}, plants()[:1], reads=2, calls=1, store=ours, batches=())
    for lie in ("[1]", "[1.5, 2.5]", "[[1],2]", f"[{-(10**6)}, 0]", "[" * 3000, f"[{10**30}, 0]"):
        with sqlite3.connect(ours) as database:
            database.execute("UPDATE sampler_race SET energies = ?", (lie,))
        with pytest.raises(StoreError, match=r"ours\.sqlite"):
            gh.race_samplers(
                {"x": Sampler()}, plants()[:1], reads=2, calls=1, store=ours, batches=()
            )


BAD = [
    ({}, plants, {}, "must be a dict"), (Sampler(), plants, {}, "must be a dict"),
    ({"x": Sampler}, plants, {}, "is a class"), ({"x": 3}, plants, {}, "expected a dimod sampler"),
    ({"x": (Sampler(), 3)}, plants, {}, "expected a dict"),
    ({"x": (Sampler(), {"seed": 1})}, plants, {}, "fixed seed"),
    ({"x": (Sampler(), {"num_reads": 0})}, plants, {}, "num_reads of x"),
    ({"x": Sampler(), 1: Sampler(), "1": Sampler()}, plants, {}, "same name"),
    ({"x": Sampler()}, [], {}, "empty"), ({"x": Sampler()}, 3, {}, "suite=3 must be a suite's"),
    ({"x": Sampler()}, [3], {}, "int#0: int is not"),
    ({"x": Sampler()}, lambda: dict.fromkeys((1, "1"), plants()[0]), {}, "same name"),
    ({"x": Sampler()}, "nonsense", {}, "nonsense is not a suite"),
    ({"x": Sampler()}, [gh.Ising.from_edges(2, [(0, 1)], [2**60])], {}, "2\\^53"),
    ({"x": Sampler()}, plants, {"reads": 0}, "reads=0"),
    ({"x": Sampler()}, plants, {"calls": 1.5}, "calls=1.5"),
    ({"x": Sampler()}, plants, {"time_limit": 0}, "time_limit=0"),
    ({"x": Sampler()}, plants, {"confidence": 1}, "confidence=1"),
    ({"x": Sampler()}, plants, {"reads": 5000, "store": "never.sqlite"}, "at most 2000"),
]  # fmt: skip


@pytest.mark.parametrize(("samplers", "suite", "options", "words"), BAD)
def test_bad_input_gets_one_clear_line(samplers, suite, options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=words) as fault:
        gh.race_samplers(samplers, suite() if callable(suite) else suite, **options, batches=())
    assert "\n" not in str(fault.value)
    assert not list(tmp_path.iterdir())


def test_ctrl_c_ends_the_race_also_where_a_sampler_catches_it():
    class Interrupted(gh.GlasshouseAnnealer):  # only glasshouse's samplers may report it
        def sample(self, bqm, **keywords):
            found = super().sample(bqm, **keywords)
            found.info["stopped"] = "interrupted"
            return found

    def pressed(found, bqm):
        if bqm.num_variables > 2:
            raise KeyboardInterrupt
        return found

    for sampler in (Interrupted(), Sampler(pressed)):
        with pytest.raises(KeyboardInterrupt):
            gh.race_samplers({"x": sampler}, plants()[:1], batches=())
