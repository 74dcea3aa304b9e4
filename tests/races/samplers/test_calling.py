"""One call of a sampler: its results are not trusted."""

from __future__ import annotations

import time

import numpy as np
import pytest
from tests.races.samplers.toys import Sampler, dimod, plants, truly

import glasshouse as gh
from glasshouse.stopping import compiling


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
    "raised WordlessError, which has no message": wordless,
    "the SampleSet cannot be read: RuntimeError: no such thing": with_raising("vartype"),
    "the SampleSet has samples of type complex128":
        with_record(sample=lambda x: x + 1j),
    "the SampleSet has energies of type complex128":
        with_record(energy=lambda x: x + 1j),
    "the samples contain a variable twice": variable_twice,
    "returned list, not a SampleSet": lambda found, bqm: [1, 2],
    "returned NoneType, not a SampleSet": lambda found, bqm: None,
    "returned BINARY samples; expected SPIN":
        lambda found, bqm: found.change_vartype("BINARY", inplace=False),
    "the samples lack 1 variables, for example 0": renamed,
    "the samples lack 1 variables, for example": without_last,
    "the samples contain the unknown variable 'more'": with_extra,
    "returned a SampleSet with": with_record(sample=lambda x: x[:0], energy=lambda x: x[:0],
                                       num_occurrences=lambda x: x[:0]),
    "a sample has the value 0.0; expected -1 or 1": wrong_value(0),
    "a sample has the value 3.0": wrong_value(3),
    "a sample has the value nan": wrong_value(np.nan),
    "a sample has the value 255": with_record(sample=lambda x: x.astype(np.uint8)),
    "states the energy": with_record(energy=lambda x: x - 1),
    "states the energy nan": with_record(energy=lambda x: np.full(len(x), np.nan)),
    "states the energy -inf": with_record(energy=lambda x: np.full(len(x), -np.inf)),
    "states 1 energies for 4 samples": with_record(energy=lambda x: x[:1]),
    "returned 3 reads, but 4 were requested": lambda found, bqm: found.slice(3),
    "returned 8 reads, but 4": with_record(num_occurrences=lambda x: 2 * x),
    "returned 1000000000003 reads":
        with_record(num_occurrences=lambda x: np.array([10**12, 1, 1, 1])),
    "num_occurrences must be integers": with_record(num_occurrences=lambda x: -x),
    "num_occurrences must be integers of": with_record(num_occurrences=lambda x: x + 0.5),
    "the SampleSet has energies of type o": with_record(energy=lambda x: np.array([{}] * len(x))),
    "raised ZeroDivisionError": lambda found, bqm: 1 / 0,
    "raised SystemExit: no licence left": never,
    "raised RuntimeError: the machine is on fire": later,
}  # fmt: skip


@pytest.mark.parametrize("fault", LIARS)
def test_every_lie_is_a_fault_and_the_race_goes_on(fault):
    entered = {"liar": Sampler(LIARS[fault]), "honest": Sampler()}
    found = gh.race_samplers(entered, plants()[:2], reads=4, calls=2, rng=1, batches=())
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

    found = gh.race_samplers({"lazy": Sampler(lazy)}, plants()[:1], reads=2, calls=2, batches=())
    assert not found.faults
    assert all(call.seconds >= 0.05 for call in found.calls)


@pytest.mark.parametrize("info", ["stopped", "raising"])
def test_strangers_cannot_end_a_race_by_their_info(info):
    def stopped(found, bqm):
        found.info["stopped"] = "interrupted"
        return found

    change = stopped if info == "stopped" else with_raising("info")
    found = gh.race_samplers({"x": Sampler(change)}, plants()[:1], reads=2, calls=2, batches=())
    assert len(found.calls) == 2


def test_parameters_that_a_sampler_does_not_have_are_told_before_the_race():
    with pytest.raises(ValueError, match="not list the parameter 'sweps'; the parameters are bqm"):
        gh.race_samplers(
            {"x": (lambda bqm, sweeps=1: truly(bqm), {"sweps": 3})}, plants()[:1], batches=()
        )
    with pytest.warns(UserWarning, match="'num_sweps'; the parameters are .*num_reads"):
        gh.race_samplers(
            {"x": (Sampler(), {"num_sweps": 3})}, plants()[:1], reads=1, calls=1, batches=()
        )


def test_a_sampler_cannot_spoil_the_problem():
    def spoil(bqm):
        bqm.scale(0)
        return truly(bqm)

    found = gh.race_samplers(
        {"spoiler": spoil, "honest": Sampler()}, plants()[0], reads=5, calls=3, batches=()
    )
    assert {call.solver for call in found.faults} == {"spoiler"}


def test_energies_are_those_of_the_samples_and_occurrences_count():
    def aggregated(found, bqm):
        return dimod.concatenate([found, found]).aggregate()

    twice = Sampler(aggregated)
    found = gh.race_samplers({"twice": (twice, {"num_reads": 8})}, plants()[0], calls=1, batches=())
    assert found.faults[0].fault == "returned 16 reads, but 8 were requested"
    half = Sampler(lambda found, bqm: aggregated(found.slice(4), bqm))
    found = gh.race_samplers({"half": half}, plants()[0], reads=8, calls=1, batches=())
    assert not found.faults
    bqm = plants()[0].problem.to_bqm()
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
        found = gh.race_samplers(
            {"x": Sampler(shuffled)}, {"model": model}, reads=9, calls=1, batches=()
        )
        assert not found.faults
        assert found.energies("x", "model") == pytest.approx(np.sort(truly(model, 9).record.energy))


def test_without_num_reads_a_call_is_one_read_its_best():
    found = gh.race_samplers(
        {"exact": dimod.ExactSolver(), "plain": truly}, plants()[:1], calls=3, batches=()
    )
    (name,) = found.instances
    assert found.energies("exact", name).tolist() == [plants()[0].energy] * 3
    assert found.success("exact", name).value == 1.0
    total = sum(call.seconds for call in found.calls if call.solver == "exact")
    assert found.model("exact", name).seconds_per_read.value == pytest.approx(total / 3)
    assert found.tts("exact", name).value == pytest.approx(total / 3)
    assert len(found.energies("plain", name)) == 3


def test_seeds_go_to_those_who_take_them_and_differ_by_call():
    seeded, unseeded = Sampler(), Sampler()
    seeded.parameters |= {"extra": []}
    unseeded.parameters = {"num_reads": []}
    entered = {"seeded": (seeded, {"extra": 5}), "unseeded": unseeded}
    first = gh.race_samplers(entered, plants()[:2], reads=2, calls=3, rng=7, batches=())
    assert all("seed" not in one for one in unseeded.heard)
    seeds = [one["seed"] for one in seeded.heard[1:]]  # the first call is the warm-up
    assert all(one["extra"] == 5 and one["num_reads"] == 2 for one in seeded.heard)
    assert len(set(seeds)) == 6
    assert all(type(seed) is int and 0 <= seed < 2**31 for seed in seeds)
    heard = len(seeded.heard)
    again = gh.race_samplers(entered, plants()[:2], reads=2, calls=3, rng=7, batches=())
    assert [one["seed"] for one in seeded.heard[heard + 1 :]] == seeds
    assert first.seed == again.seed == 7
    gh.race_samplers(entered, plants()[:2], reads=2, calls=3, rng=8, batches=())
    assert seeded.heard[-1]["seed"] not in seeds


def test_the_same_seed_gives_the_same_energies():
    ours = {"ours": (gh.GlasshouseAnnealer(), {"num_sweeps": 2})}
    first, second = (
        gh.race_samplers(ours, plants(), reads=20, calls=2, rng=3, batches=()) for _ in range(2)
    )
    for one, other in zip(first.calls, second.calls, strict=True):
        assert np.array_equal(one.energies, other.energies)


def test_real_samplers_reach_the_proven_optimum():
    samplers = pytest.importorskip("dwave.samplers")
    entered = {
        "annealing": samplers.SimulatedAnnealingSampler(),
        "tabu": (samplers.TabuSampler(), {"timeout": 1}),
        # Its reads are not draws, but the best states.
        "trees": (samplers.TreeDecompositionSolver(), {"num_reads": 1}),
        "ours": gh.GlasshouseAnnealer(),
        "tempering": (gh.GlasshouseTempering(), {"num_sweeps": 50}),
    }
    found = gh.race_samplers(entered, plants(), reads=10, calls=2, rng=1, batches=())
    assert not found.faults
    for name in entered:
        assert found.success(name).value > 0.5, name
        assert np.isfinite(found.tts(name).value), name
    assert all(found.is_proven(name) for name in found.instances)


def test_openjij_takes_reads_and_seeds_though_it_does_not_list_them():
    openjij = pytest.importorskip("openjij")
    entered = {"openjij": (openjij.SASampler(), {"num_sweeps": 20})}
    first, second = (
        gh.race_samplers(entered, plants()[:1], reads=20, calls=2, rng=5, batches=())
        for _ in range(2)
    )
    assert not first.faults
    assert [call.energies.tolist() for call in first.calls] == [
        call.energies.tolist() for call in second.calls
    ]
    assert all(call.reads == 20 for call in first.calls)


def test_compiling_our_kernels_is_not_part_of_a_call():
    def compiles(bqm):
        with compiling():
            time.sleep(1.0)
        return truly(bqm)

    (call,) = gh.race_samplers({"ours": compiles}, plants()[:1], calls=1, batches=()).calls
    assert (call.fault, call.seconds < 1.0) == ("", True)
