"""Races of samplers: nothing that they return is believed, and no finished call is repeated."""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from dataclasses import replace

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.certificates import CertificateError
from glasshouse.races import SamplerResults
from glasshouse.races.raced_problem import raced_problems
from glasshouse.races.sampler_results import best_of
from glasshouse.studies.statistics.estimators import time_to_solution
from glasshouse.studies.store.storefile import StoreError

dimod = pytest.importorskip("dimod")

PLANTS = [
    gh.random_loops(6, 6, frustration=f, loops=4, rng=k) for f in ("1/10", "1/5") for k in (1, 2)
]


def truly(bqm, count=3, **keywords):
    """Random samples with their true energies."""
    spins = np.random.default_rng(1).integers(2, size=(count, bqm.num_variables))
    values = 2 * spins - 1 if bqm.vartype is dimod.SPIN else spins
    return dimod.SampleSet.from_samples_bqm((values, list(bqm.variables)), bqm, **keywords)


class Sampler:
    """A dimod sampler that changes true samples, and remembers its keywords."""

    def __init__(self, change=lambda found, bqm: found):
        self.change, self.heard = change, []
        self.parameters = {"num_reads": [], "seed": []}

    def sample(self, bqm, num_reads=1, **keywords):
        self.heard.append({"num_reads": num_reads, **keywords})
        return self.change(truly(bqm, num_reads), bqm)


def with_record(**changed):
    def change(found, bqm):
        old = found.record
        vectors = {name: changed.get(name, lambda x: x)(old[name]) for name in old.dtype.names}
        samples = vectors.pop("sample")
        return type("Lookalike", (), {
            "record": type("Record", (), {"sample": samples, **vectors}),
            "variables": list(found.variables), "vartype": found.vartype,
        })()  # fmt: skip

    return change


def wrong_value(value):
    def change(samples):
        spoilt = samples.astype(float)
        spoilt[1, 2] = value
        return spoilt

    return with_record(sample=change)


def renamed(found, bqm):
    return found.relabel_variables({bqm.variables[0]: "stranger"}, inplace=False)


def without_last(found, bqm):
    names = list(found.variables)
    less = (found.record.sample[:, :-1], names[:-1])
    return dimod.SampleSet.from_samples(less, found.vartype, found.record.energy)


def with_extra(found, bqm):
    return dimod.append_variables(found, {"more": 1})


def never(found, bqm):
    raise SystemExit("no licence\nleft")


def later(found, bqm):
    class Future:
        def done(self):
            return True

        def result(self):
            raise RuntimeError("the machine is on fire")

    return dimod.SampleSet.from_future(Future(), lambda future: future.result())


def wordless(found, bqm):
    class WordlessError(Exception):
        def __str__(self):
            raise RuntimeError("no words")

    raise WordlessError


def with_raising(name):
    def change(found, bqm):
        def fail(self):
            raise RuntimeError("no such thing")

        return type("Raising", (dimod.SampleSet,), {name: property(fail)})(
            found.record, found.variables, {}, found.vartype
        )

    return change


def variable_twice(found, bqm):
    names = [*found.variables, found.variables[0]]
    samples = np.hstack([found.record.sample, -found.record.sample[:, :1]])
    record = type("Record", (), {"sample": samples, "energy": found.record.energy,
                                 "num_occurrences": found.record.num_occurrences})  # fmt: skip
    return type("Lookalike", (), {"record": record, "variables": names,
                                  "vartype": found.vartype})()  # fmt: skip


LIARS = {
    "raised WordlessError, which has no words": wordless,
    "its SampleSet cannot be read: RuntimeError: no such thing": with_raising("vartype"),
    "its SampleSet cannot be read: its samples are complex128":
        with_record(sample=lambda x: x + 1j),
    "its SampleSet cannot be read: its energies are complex128":
        with_record(energy=lambda x: x + 1j),
    "its samples have a variable twice": variable_twice,
    "returned list, no SampleSet": lambda found, bqm: [1, 2],
    "returned NoneType, no SampleSet": lambda found, bqm: None,
    "returned BINARY samples of a SPIN model":
        lambda found, bqm: found.change_vartype("BINARY", inplace=False),
    "its samples lack 1 variables, such as 0": renamed,
    "its samples lack 1 variables, such as": without_last,
    "its samples have 'more', which is no variable": with_extra,
    "returned no samples": with_record(sample=lambda x: x[:0], energy=lambda x: x[:0],
                                       num_occurrences=lambda x: x[:0]),
    "a sample has the value 0.0, neither -1 nor 1": wrong_value(0),
    "a sample has the value 3.0": wrong_value(3),
    "a sample has the value nan": wrong_value(np.nan),
    "a sample has the value 255": with_record(sample=lambda x: x.astype(np.uint8)),
    "states the energy": with_record(energy=lambda x: x - 1),
    "states the energy nan": with_record(energy=lambda x: np.full(len(x), np.nan)),
    "states the energy -inf": with_record(energy=lambda x: np.full(len(x), -np.inf)),
    "states 1 energies of 4 samples": with_record(energy=lambda x: x[:1]),
    "returned 3 reads, not the 4 asked for": lambda found, bqm: found.slice(3),
    "returned 8 reads, not the 4": with_record(num_occurrences=lambda x: 2 * x),
    "returned 1000000000003 reads":
        with_record(num_occurrences=lambda x: np.array([10**12, 1, 1, 1])),
    "num_occurrences are not whole numbers": with_record(num_occurrences=lambda x: -x),
    "num_occurrences are not whole": with_record(num_occurrences=lambda x: x + 0.5),
    "its SampleSet cannot be read: ": with_record(energy=lambda x: np.array([{}] * len(x))),
    "raised ZeroDivisionError": lambda found, bqm: 1 / 0,
    "raised SystemExit: no licence left": never,
    "raised RuntimeError: the machine is on fire": later,
}  # fmt: skip


@pytest.mark.parametrize("fault", LIARS)
def test_every_lie_is_a_fault_and_the_race_goes_on(fault):
    entered = {"liar": Sampler(LIARS[fault]), "honest": Sampler()}
    found = gh.race(entered, PLANTS[:2], reads=4, calls=2, rng=1)
    assert len(found.calls) == 8
    assert [call.solver for call in found.faults] == ["liar"] * 4
    for call in found.faults:
        assert call.fault.startswith(fault), call.fault
        assert call.reads == 4
        assert not len(call.energies)
    assert found.success("liar").value == 0.0
    assert np.isinf(found.tts("liar").value)
    assert fault in found.summary()
    assert len(found.energies("honest", found.instances[0])) == 8


def test_work_that_is_put_off_until_the_samples_are_read_counts():
    def lazy(found, bqm):
        def record(self):
            time.sleep(0.05)
            return found.record

        return type("Lazy", (), {"record": property(record), "variables": found.variables,
                                 "vartype": found.vartype})()  # fmt: skip

    found = gh.race({"lazy": Sampler(lazy)}, PLANTS[:1], reads=2, calls=2)
    assert not found.faults
    assert all(call.seconds >= 0.05 for call in found.calls)


@pytest.mark.parametrize("info", ["stopped", "raising"])
def test_strangers_cannot_end_a_race_by_their_info(info):
    def stopped(found, bqm):
        found.info["stopped"] = "interrupted"
        return found

    change = stopped if info == "stopped" else with_raising("info")
    found = gh.race({"x": Sampler(change)}, PLANTS[:1], reads=2, calls=2)
    assert len(found.calls) == 2


def test_parameters_that_a_sampler_does_not_have_are_told_before_the_race():
    with pytest.raises(ValueError, match="x does not list the parameter 'sweps'; it lists bqm"):
        gh.race({"x": (lambda bqm, sweeps=1: truly(bqm), {"sweps": 3})}, PLANTS[:1])
    with pytest.warns(UserWarning, match="'num_sweps'; it lists .*num_reads"):
        gh.race({"x": (Sampler(), {"num_sweps": 3})}, PLANTS[:1], reads=1, calls=1)


def test_a_sampler_cannot_spoil_the_problem():
    def spoil(bqm):
        bqm.scale(0)
        return truly(bqm)

    found = gh.race({"spoiler": spoil, "honest": Sampler()}, PLANTS[0], reads=5, calls=3)
    assert {call.solver for call in found.faults} == {"spoiler"}


def test_energies_are_those_of_the_samples_and_occurrences_count():
    def aggregated(found, bqm):
        return dimod.concatenate([found, found]).aggregate()

    twice = Sampler(aggregated)
    found = gh.race({"twice": (twice, {"num_reads": 8})}, PLANTS[0], calls=1)
    assert found.faults[0].fault == "returned 16 reads, not the 8 asked for"
    half = Sampler(lambda found, bqm: aggregated(found.slice(4), bqm))
    found = gh.race({"half": half}, PLANTS[0], reads=8, calls=1)
    assert not found.faults
    bqm = PLANTS[0].problem.to_bqm()
    each = truly(bqm, 8).slice(4).record.energy
    assert found.energies("half", found.instances[0]).tolist() == sorted([*each, *each])


def test_labels_and_vartypes_of_any_model_are_kept():
    models = [
        dimod.BQM({"b": 1, (0, 1): -2, 7: 0.5}, {("b", (0, 1)): 1, (7, "b"): -3}, 0.25, vartype)
        for vartype in ("SPIN", "BINARY")
    ]
    shuffled = lambda found, bqm: dimod.SampleSet.from_samples_bqm(  # noqa: E731
        (found.record.sample[:, ::-1], list(found.variables)[::-1]), bqm
    )
    for model in models:
        found = gh.race({"x": Sampler(shuffled)}, {"model": model}, reads=9, calls=1)
        assert not found.faults
        assert found.energies("x", "model") == pytest.approx(np.sort(truly(model, 9).record.energy))


def test_without_num_reads_a_call_is_one_read_its_best():
    found = gh.race({"exact": dimod.ExactSolver(), "plain": truly}, PLANTS[:1], calls=3)
    (name,) = found.instances
    assert found.energies("exact", name).tolist() == [PLANTS[0].energy] * 3
    assert found.success("exact", name).value == 1.0
    total = sum(call.seconds for call in found.calls if call.solver == "exact")
    assert found.seconds_per_read("exact", name) == pytest.approx(total / 3)
    assert len(found.energies("plain", name)) == 3


def test_seeds_go_to_those_who_take_them_and_differ_by_call():
    seeded, unseeded = Sampler(), Sampler()
    seeded.parameters |= {"extra": []}
    unseeded.parameters = {"num_reads": []}
    entered = {"seeded": (seeded, {"extra": 5}), "unseeded": unseeded}
    first = gh.race(entered, PLANTS[:2], reads=2, calls=3, rng=7)
    assert all("seed" not in one for one in unseeded.heard)
    seeds = [one["seed"] for one in seeded.heard[1:]]  # the first call is the warm-up
    assert all(one["extra"] == 5 and one["num_reads"] == 2 for one in seeded.heard)
    assert len(set(seeds)) == 6
    assert all(type(seed) is int and 0 <= seed < 2**31 for seed in seeds)
    heard = len(seeded.heard)
    again = gh.race(entered, PLANTS[:2], reads=2, calls=3, rng=7)
    assert [one["seed"] for one in seeded.heard[heard + 1 :]] == seeds
    assert first.seed == again.seed == 7
    gh.race(entered, PLANTS[:2], reads=2, calls=3, rng=8)
    assert seeded.heard[-1]["seed"] not in seeds


def test_the_same_seed_gives_the_same_energies():
    ours = {"ours": (gh.GlasshouseAnnealer(), {"num_sweeps": 2})}
    first, second = (gh.race(ours, PLANTS, reads=20, calls=2, rng=3) for _ in range(2))
    for one, other in zip(first.calls, second.calls, strict=True):
        assert np.array_equal(one.energies, other.energies)


def test_real_samplers_reach_the_proven_optimum():
    samplers = pytest.importorskip("dwave.samplers")
    entered = {
        "annealing": samplers.SimulatedAnnealingSampler(),
        "tabu": (samplers.TabuSampler(), {"timeout": 1}),
        # Its reads are no draws, but the best states there are.
        "trees": (samplers.TreeDecompositionSolver(), {"num_reads": 1}),
        "ours": gh.GlasshouseAnnealer(),
        "tempering": (gh.GlasshouseTempering(), {"num_sweeps": 50}),
    }
    found = gh.race(entered, PLANTS, reads=10, calls=2, rng=1)
    assert not found.faults
    for name in entered:
        assert found.success(name).value > 0.5, name
        assert np.isfinite(found.tts(name).value), name
    assert all(found.is_proven(name) for name in found.instances)


def test_openjij_takes_reads_and_seeds_though_it_does_not_list_them():
    openjij = pytest.importorskip("openjij")
    entered = {"openjij": (openjij.SASampler(), {"num_sweeps": 20})}
    first, second = (gh.race(entered, PLANTS[:1], reads=20, calls=2, rng=5) for _ in range(2))
    assert not first.faults
    assert [call.energies.tolist() for call in first.calls] == [
        call.energies.tolist() for call in second.calls
    ]
    assert all(call.reads == 20 for call in first.calls)


def test_without_a_proof_the_best_found_is_the_target_and_never_called_proven():
    ising = gh.Ising.from_edges(4, [(0, 1), (1, 2), (2, 3)], [1.5, -2.25, 0.125])
    given = {"ising": ising, "qubo": gh.to_qubo(PLANTS[0].problem)[0], "rbm": PLANTS[0].problem,
             "clauses": gh.to_max2sat(PLANTS[0].problem)[0]}  # fmt: skip
    found = gh.race({"x": Sampler()}, given, reads=4, calls=2)
    for name in given:
        assert not found.is_proven(name)
        assert found.target(name) == found.energies("x", name).min()
        assert found.success("x", name).value > 0
    assert "0 with a proven optimum, 4 against the best" in found.summary()
    nobody = gh.race({"x": lambda bqm: None}, [ising], calls=2)
    assert nobody.target("Ising#0") is None
    assert nobody.success("x").value == 0
    assert "inf" in nobody.summary()


def test_a_false_plant_is_refused():
    with pytest.raises(CertificateError, match="energy"):
        gh.race({"x": Sampler()}, [replace(PLANTS[0], energy=PLANTS[0].energy - 1)])


def test_clauses_of_a_suite_have_the_energies_of_their_problem(tmp_path):
    gh.write_suite(tmp_path / "suite", PLANTS[:2])
    suite = gh.load_suite(tmp_path / "suite", tmp_path)
    for source in (suite, tmp_path / "suite", str(tmp_path / "suite")):
        problems = raced_problems(source)
        for one, plant in zip(problems, PLANTS, strict=False):
            least = min(
                one.problem.energy(np.array(state))
                for state in itertools.product((-1, 1), repeat=plant.problem.num_variables)
            )
            assert one.optimum == one.best == least
    found = gh.race({"exact": dimod.ExactSolver()}, suite, calls=1)
    assert found.success("exact").value == 1.0
    assert found.suite == "suite"


def test_a_ready_made_suite_races_by_its_name():
    found = gh.race({"ours": gh.GlasshouseAnnealer()}, "smoke", reads=10, calls=1, rng=1)
    assert len(found.instances) == 22
    assert all(map(found.is_proven, found.instances))
    assert not found.faults


def test_best_of_k_against_all_choices():
    rng = np.random.default_rng(4)
    for size in (1, 2, 5, 8):
        values = rng.integers(-3, 4, size).astype(float)
        for k in range(1, size + 1):
            choices = [min(chosen) for chosen in itertools.combinations(values, k)]
            assert best_of(values, [k])[0] == pytest.approx(np.mean(choices), abs=1e-12)
        with pytest.raises(ValueError, match="not defined"):
            best_of(values, [size + 1])
    many = rng.normal(size=20_000)
    assert best_of(many, [1, 20_000]) == pytest.approx([many.mean(), many.min()])


def small_race(**options) -> SamplerResults:
    return gh.race({"x": Sampler(), "y": Sampler()}, PLANTS, reads=6, calls=4, rng=1, **options)


def test_statistics_by_hand():
    found = small_race(confidence=0.9)
    name = found.instances[1]
    calls = [c for c in found.calls if (c.solver, c.instance) == ("x", name)]
    energies = np.concatenate([call.energies for call in calls])
    target = PLANTS[1].energy
    seconds = sum(call.seconds for call in calls) / 24
    hits = int((energies == target).sum())
    assert found.success("x", name).value == hits / 24
    expected = time_to_solution(hits, 24, seconds, confidence=0.9)
    assert found.tts("x", name).low == pytest.approx(expected.low)
    curve = found.residual("x", name)
    left = (energies - target) / 12
    assert curve.seconds == pytest.approx(seconds * np.array([1, 2, 4, 8, 16, 24]))
    assert curve.residual[[0, -1]] == pytest.approx([left.mean(), left.min()])
    assert (np.diff(curve.residual) <= 1e-12).all()
    firsts = sorted(found.residual("x", one).residual[0] for one in found.instances)
    assert found._one_read("x") == pytest.approx(firsts[1])


def test_rows_are_a_table_of_the_calls():
    found = gh.race({"x": Sampler(), "bad": lambda bqm: None}, PLANTS[:2], reads=6, calls=2, rng=1)
    rows = found.rows()
    assert [(row["solver"], row["fault"]) for row in rows] == [
        (call.solver, call.fault) for call in found.calls
    ]
    for name in found.instances:
        mine = [row for row in rows if (row["solver"], row["instance"]) == ("x", name)]
        share = sum(row["reached"] for row in mine) / sum(row["reads"] for row in mine)
        assert share == found.success("x", name).value
        assert min(row["best"] for row in mine) == found.energies("x", name).min()
        assert all(row["proven"] and row["target"] == found.target(name) for row in mine)
    assert {row["best"] for row in rows if row["solver"] == "bad"} == {None}
    pandas = pytest.importorskip("pandas")
    assert len(pandas.DataFrame(rows)) == len(found.calls)


def test_a_median_curve_is_the_median_of_curves():
    found = small_race()
    whole = found.residual("x")
    assert np.isfinite(whole.residual).all()  # nothing is drawn before half have a read
    assert (np.diff(whole.residual) <= 1e-12).all()
    lasts = sorted(found.residual("x", one).residual[-1] for one in found.instances)
    assert whole.residual[-1] == pytest.approx(lasts[1])


def test_unsolved_instances_count_as_longest():
    def only_first(bqm, num_reads):
        every = dimod.ExactSolver().sample(bqm).record.sample
        energies = bqm.energies((every, list(bqm.variables)))
        is_first = bqm == PLANTS[0].problem.to_bqm()
        state = every[np.argmin(energies) if is_first else np.argmax(energies)]
        return dimod.SampleSet.from_samples_bqm(([state] * num_reads, list(bqm.variables)), bqm)

    found = gh.race({"one": only_first, "x": dimod.ExactSolver()}, PLANTS[:3], reads=2, calls=2)
    assert np.isinf(found.tts("one").value)
    assert 0 < found.tts("one").low < np.inf
    duel = found.compare("one", "x")
    assert duel.first_faster + duel.second_faster == 3
    assert np.isinf(duel.ratio.value)
    assert found.compare("x", "one").ratio.value == 0
    with pytest.raises(ValueError, match="no sampler 'y'"):
        found.tts("y")
    with pytest.raises(ValueError, match="no instance 'y'"):
        found.tts("x", "y")


def test_the_time_limit_ends_a_samplers_calls_on_an_instance():
    def slow(bqm):
        time.sleep(0.03)
        return truly(bqm)

    found = gh.race({"slow": slow, "fast": Sampler()}, PLANTS[:2], calls=20, time_limit=0.05)
    number = {who: sum(call.solver == who for call in found.calls) for who in found.solvers}
    assert number["slow"] == 4
    assert number["fast"] > 4


def test_a_store_repeats_no_call_and_takes_more(tmp_path):
    store, sampler = tmp_path / "race.sqlite", Sampler()
    told = []

    def asked(calls=3, samplers=None, **options):
        entered = samplers or {"x": sampler}
        return gh.race(entered, PLANTS[:2], reads=4, calls=calls, store=store, **options)

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
    with pytest.raises(StoreError, match="holds a race with rng="):
        asked(rng=first.seed + 1)
    other = Sampler()
    other.parameters |= {"more": []}
    for another in ((other, {"more": np.arange(3)}), truly):  # one name, one sampler
        with pytest.raises(StoreError, match="holds calls of another x"):
            asked(samplers={"x": another})
    assert not other.heard
    changed = asked(samplers={"z": (other, {"more": np.arange(3)})})
    assert len(other.heard) == 1 + 6  # other parameters, other calls
    assert len(changed.calls) == 6
    with gh.Store(store) as held:
        assert not held.check()


def test_faults_and_their_reads_come_back_from_a_store(tmp_path):
    def asked():
        return gh.race({"x": lambda bqm: "\ud800 \0"}, PLANTS[:1], calls=2, store=tmp_path / "a")

    assert [call.fault for call in asked().calls] == [call.fault for call in asked().calls]
    hostile = gh.race({"x": Sampler(hostile_words)}, PLANTS[:1], reads=2, calls=1,
                      store=tmp_path / "b")  # fmt: skip
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
    found = gh.race({"slow": slow}, plants, reads=2, calls=10, rng=1, store=sys.argv[1])
    print(len(found.calls))
"""


def test_a_killed_race_repeats_no_finished_call(tmp_path):
    script, store, log = tmp_path / "race.py", tmp_path / "race.sqlite", tmp_path / "log"
    script.write_text(textwrap.dedent(KILLED))
    words = [sys.executable, str(script), str(store), str(log)]
    running = subprocess.Popen([*words, "0.05"])
    deadline = time.monotonic() + 60
    while (not log.exists() or len(log.read_text().split()) < 6) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    ended = subprocess.run([*words, "0"], capture_output=True, text=True, check=True)
    assert ended.stdout == "20\n"
    heard = log.read_text().split()
    repeated = [seed for seed in set(heard) if heard.count(seed) > 1]
    warm, counted = heard.count("0"), len(set(heard) - {"0"})
    assert warm == 2  # one call on two spins, per start
    assert counted == 20
    assert len([seed for seed in repeated if seed != "0"]) <= 1  # the one that was being made


def test_stores_of_others_and_damaged_ones_are_refused(tmp_path):
    study = tmp_path / "study.sqlite"
    task = gh.Task("random_loops", {"n": 6, "frustration": 0.1, "loop_density": 0.5},
                   stop=gh.Stop(2))  # fmt: skip
    gh.collect([task], study)
    with pytest.raises(StoreError, match="holds hardness, no race of samplers"):
        gh.race({"x": Sampler()}, PLANTS[:1], store=study)
    ours = tmp_path / "ours.sqlite"
    gh.race({"x": Sampler()}, PLANTS[:1], reads=2, calls=1, store=ours)
    for lie in ("[1]", "[1.5, 2.5]", "[[1],2]", f"[{-(10**6)}, 0]", "[" * 3000, f"[{10**30}, 0]"):
        with sqlite3.connect(ours) as database:
            database.execute("UPDATE sampler_race SET energies = ?", (lie,))
        with pytest.raises(StoreError, match=r"ours\.sqlite"):
            gh.race({"x": Sampler()}, PLANTS[:1], reads=2, calls=1, store=ours)


BAD = [
    ({}, PLANTS, {}, "no dict"), (Sampler(), PLANTS, {}, "no dict"),
    ({"x": Sampler}, PLANTS, {}, "is a class"), ({"x": 3}, PLANTS, {}, "expected a dimod sampler"),
    ({"x": (Sampler(), 3)}, PLANTS, {}, "expected a dict"),
    ({"x": (Sampler(), {"seed": 1})}, PLANTS, {}, "fixed seed"),
    ({"x": (Sampler(), {"num_reads": 0})}, PLANTS, {}, "num_reads of x"),
    ({"x": Sampler(), 1: Sampler(), "1": Sampler()}, PLANTS, {}, "same name"),
    ({"x": Sampler()}, [], {}, "empty"), ({"x": Sampler()}, 3, {}, "suite=3 is none of"),
    ({"x": Sampler()}, [3], {}, "int#0: int is not"),
    ({"x": Sampler()}, {1: PLANTS[0], "1": PLANTS[0]}, {}, "same name"),
    ({"x": Sampler()}, "nonsense", {}, "nonsense is no suite"),
    ({"x": Sampler()}, [gh.Ising.from_edges(2, [(0, 1)], [2**60])], {}, "2\\^53"),
    ({"x": Sampler()}, PLANTS, {"reads": 0}, "reads=0"),
    ({"x": Sampler()}, PLANTS, {"calls": 1.5}, "calls=1.5"),
    ({"x": Sampler()}, PLANTS, {"time_limit": 0}, "time_limit=0"),
    ({"x": Sampler()}, PLANTS, {"confidence": 1}, "confidence=1"),
    ({"x": Sampler()}, PLANTS, {"reads": 5000, "store": "never.sqlite"}, "at most 2000"),
]  # fmt: skip


@pytest.mark.parametrize(("samplers", "suite", "options", "words"), BAD)
def test_bad_input_gets_one_clear_line(samplers, suite, options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=words) as fault:
        gh.race(samplers, suite, **options)
    assert "\n" not in str(fault.value)
    assert not list(tmp_path.iterdir())


def test_ctrl_c_ends_the_race_also_where_a_sampler_catches_it():
    class Interrupted(gh.GlasshouseAnnealer):  # only our own samplers are believed to tell of it
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
            gh.race({"x": sampler}, PLANTS[:1])
