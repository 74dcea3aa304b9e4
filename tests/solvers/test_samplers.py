"""The dimod samplers: dimod's own conformance tests, seeds, energies, composites, refusals."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import unittest
import warnings
from typing import Any

import dimod
import dimod.testing
import numpy as np
import pytest
from dimod.exceptions import SamplerUnknownArgWarning

import glasshouse as gh

SAMPLERS = (gh.GlasshouseAnnealer, gh.GlasshouseTempering)
both = pytest.mark.parametrize("sampler", [make() for make in SAMPLERS], ids=repr)


@dimod.testing.load_sampler_bqm_tests(gh.GlasshouseAnnealer)
@dimod.testing.load_sampler_bqm_tests(gh.GlasshouseTempering)
class TestConformance(unittest.TestCase):
    """dimod's tests of small models, of either vartype and of all kinds of BQM."""


def test_the_conformance_tests_are_there():
    assert sum(name.startswith("test_") for name in vars(TestConformance)) == 2 * 4 * 8


def model(vartype: str, kind: Any = dimod.Float64BQM, *, whole: bool = False) -> Any:
    """Twelve variables with mixed labels; an edge of weight zero, and a variable without any."""
    rng = np.random.default_rng(5)
    names = ["x", 7, ("a", 1), *range(100, 108), "alone"]
    draw = rng.integers(-3, 4, size=200).astype(float) if whole else rng.normal(size=200)
    numbers = iter(draw.tolist())
    linear = {name: next(numbers) for name in names[:-1]} | {"alone": 0}
    pairs = [(a, b) for k, a in enumerate(names[:-1]) for b in names[:k] if rng.random() < 0.5]
    return kind(linear, {pair: next(numbers) for pair in pairs}, next(numbers), vartype)


def rows(found: Any) -> list[dict[Any, int]]:
    return [dict(sample) for sample in found.samples(sorted_by=None)]


@both
def test_the_api_is_that_of_a_sampler(sampler):
    dimod.testing.assert_sampler_api(sampler)
    known = set(sampler.properties)
    assert all(set(of) <= known for of in sampler.parameters.values())
    with sampler as opened:
        assert opened is sampler
    again = pickle.loads(pickle.dumps(sampler))
    assert repr(again) == repr(sampler) == f"{type(sampler).__name__}()"


@both
def test_every_parameter_is_taken_and_no_other_is_named(sampler):
    values = {"num_reads": 3, "num_sweeps": 4, "beta_range": (0.1, 3), "seed": 1, "threads": 2,
              "time_limit": 60, "beta_schedule_type": "linear", "beta_schedule": None,
              "num_replicas": 3, "num_sweeps_per_beta": 2, "initial_states": None,
              "initial_states_generator": "tile", "interrupt_function": lambda: False,
              "state": "last"}  # fmt: skip
    given = {name: values[name] for name in sampler.parameters}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = sampler.sample(model("SPIN"), **given)
    assert len(found) == 3
    assert found.info["beta_range"] == pytest.approx((0.1, 3))
    assert found.info["seed"] == 1
    assert all(found.info[name] == given[name] for name in set(found.info) & set(given) if
               name != "beta_range")  # fmt: skip
    assert found.info["stopped"] is None


@both
@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
@pytest.mark.parametrize("kind", [dimod.Float32BQM, dimod.Float64BQM, dimod.DictBQM])
def test_energies_are_those_of_the_model_and_the_best_is_the_optimum(sampler, vartype, kind):
    bqm = model(vartype, kind)
    found = sampler.sample(bqm, num_reads=20, num_sweeps=100, seed=3)
    assert found.vartype is bqm.vartype
    assert set(found.variables) == set(bqm.variables)
    assert len(found) == 20
    dimod.testing.assert_sampleset_energies(found, bqm, precision=4)
    least = dimod.ExactSolver().sample(bqm).first.energy
    assert found.first.energy == pytest.approx(least, abs=1e-4)


@both
@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
def test_energies_of_whole_numbers_are_exact_and_floats(sampler, vartype):
    bqm = model(vartype, whole=True)
    found = sampler.sample(bqm, num_reads=10, num_sweeps=5, seed=3)
    assert found.record.energy.dtype == np.float64
    assert (found.record.energy == bqm.energies(found)).all()


@both
def test_a_seed_gives_the_same_samples_and_is_told_where_none_was_given(sampler):
    bqm, few = model("BINARY"), {"num_reads": 40, "num_sweeps": 1, "beta_range": (0.01, 0.01)}
    first = sampler.sample(bqm, seed=8, **few)
    assert rows(first) == rows(sampler.sample(bqm, seed=8, threads=2, **few))
    assert rows(first) == rows(type(sampler)().sample(bqm, seed=8, **few))
    assert rows(first) != rows(sampler.sample(bqm, seed=9, **few))
    drawn, other = sampler.sample(bqm, **few), sampler.sample(bqm, **few)
    assert rows(drawn) != rows(other)
    assert rows(drawn) == rows(sampler.sample(bqm, seed=drawn.info["seed"], **few))


def test_a_seed_means_the_same_as_to_the_functions():
    bqm = model("SPIN")
    annealed = gh.GlasshouseAnnealer().sample(bqm, num_reads=9, num_sweeps=3, seed=4)
    assert rows(annealed) == rows(gh.anneal(bqm, runs=9, sweeps=3, rng=4).to_sampleset())
    tempered = gh.GlasshouseTempering().sample(bqm, num_reads=9, num_sweeps=3, seed=4)
    same = gh.temper(bqm, runs=9, sweeps=3, rng=4)
    assert rows(tempered) == rows(same.to_sampleset())
    assert tempered.info["num_replicas"] == len(same.betas)


@both
def test_one_read_is_the_default_and_counts_add_up(sampler):
    assert len(sampler.sample(model("SPIN"), num_sweeps=2)) == 1
    assert len(sampler.sample(model("SPIN"), num_reads=None, num_sweeps=2)) == 1
    found = sampler.sample(model("SPIN"), num_reads=30, num_sweeps=50, seed=1)
    counted = found.aggregate()
    assert len(counted) < 30
    assert counted.record.num_occurrences.sum() == 30


@both
def test_what_is_told_can_be_stored(sampler):
    found = sampler.sample(model("SPIN"), num_reads=2, num_sweeps=10)
    assert all(time >= 0 for time in found.info["timing"].values())
    assert found.info["timing"]["sampling_ns"] > 0
    again = dimod.SampleSet.from_serializable(json.loads(json.dumps(found.to_serializable())))
    assert again.info["seed"] == found.info["seed"]
    assert again.info["kernel"] == found.info["kernel"]


@both
def test_an_unknown_keyword_is_a_warning_at_the_callers_line(sampler):
    with pytest.warns(SamplerUnknownArgWarning, match="annealing_time") as caught:
        found = sampler.sample(model("SPIN"), num_sweeps=2, annealing_time=20)
    assert caught[0].filename == __file__
    assert len(found) == 1


COMPOSITES = {
    "tracking": lambda child, bqm: dimod.TrackingComposite(child),
    "truncate": lambda child, bqm: dimod.TruncateComposite(child, 2),
    "structure": lambda child, bqm: dimod.StructureComposite(
        child, list(bqm.variables), list(bqm.quadratic)
    ),
}


@both
@pytest.mark.parametrize("name", COMPOSITES)
@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
def test_composites_take_them(sampler, name, vartype):
    bqm = model(vartype)
    composed = COMPOSITES[name](sampler, bqm)
    dimod.testing.assert_composite_api(composed)
    dimod.testing.assert_sampler_api(composed)
    found = composed.sample(bqm, num_reads=4, num_sweeps=50, seed=1)
    assert set(found.variables) == set(bqm.variables)
    assert found.vartype is bqm.vartype
    dimod.testing.assert_sampleset_energies(found, bqm)


@both
def test_higher_order_terms_come_by_way_of_a_composite(sampler):
    poly = dimod.BinaryPolynomial({"abc": 1, "ab": -1}, "SPIN")
    found = dimod.HigherOrderComposite(sampler).sample_poly(
        poly, num_reads=20, num_sweeps=100, seed=1, penalty_strength=5, discard_unsatisfied=True
    )
    assert found.first.energy == -2


def test_custom_schedules():
    sampler, bqm = gh.GlasshouseAnnealer(), model("SPIN")
    betas = np.geomspace(0.1, 2, 30)
    plain = sampler.sample(bqm, num_reads=9, num_sweeps=30, beta_range=[0.1, 2], seed=1)
    for more in ({}, {"num_sweeps": 30}, {"beta_range": (betas[0], betas[-1])}):
        custom = sampler.sample(bqm, num_reads=9, beta_schedule_type="custom",
                                beta_schedule=betas, seed=1, **more)  # fmt: skip
        assert rows(custom) == rows(plain)
        assert custom.info["beta_range"] == plain.info["beta_range"]
        assert custom.info["beta_schedule_type"] == "custom"


def test_a_time_limit_returns_what_was_begun_and_says_so():
    found = gh.GlasshouseAnnealer().sample(model("SPIN"), num_sweeps=2**31 - 1, time_limit=0.05)
    assert found.info["stopped"] == "time limit"
    dimod.testing.assert_sampleset_energies(found, model("SPIN"))


REFUSED: dict[str, dict[str, Any]] = {
    "num_reads=0 is below 1": {"num_reads": 0},
    "num_reads=2.5 is not an integer": {"num_reads": 2.5},
    "num_sweeps=0 is below 1": {"num_sweeps": 0},
    "seed=-1 is below 0": {"seed": -1},
    "seed='x' is not an integer": {"seed": "x"},
    r"beta_range=\(1, 2, 3\) must be two numbers": {"beta_range": (1, 2, 3), "num_sweeps": 3},
    "beta_range=3 must be two numbers": {"beta_range": 3},
    "must be finite and not negative": {"beta_range": (-1, 2)},
    "threads=0 is below 1": {"threads": 0},
}


@both
@pytest.mark.parametrize("words", REFUSED)
def test_bad_arguments_are_named_as_they_were_given(sampler, words):
    with pytest.raises(ValueError, match=words):
        sampler.sample(model("SPIN"), **REFUSED[words])


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"beta_schedule_type": "cubic"}, "'cubic' is not one of linear, geometric, custom"),
        ({"beta_schedule_type": "custom"}, "use both, or neither"),
        ({"beta_schedule": [1, 2]}, "use both, or neither"),
        ({"beta_schedule_type": "custom", "beta_schedule": [1, 2], "num_sweeps": 3},
         "num_sweeps=3 contradicts beta_schedule"),
        ({"beta_schedule_type": "custom", "beta_schedule": [1, 2], "beta_range": (1, 3)},
         "contradicts beta_schedule"),
    ],
)  # fmt: skip
def test_schedules_that_contradict_themselves_are_refused(more, words):
    with pytest.raises(ValueError, match=words):
        gh.GlasshouseAnnealer().sample(model("SPIN"), **more)


def test_replicas_are_counted():
    with pytest.raises(ValueError, match="num_replicas=1 is below 2"):
        gh.GlasshouseTempering().sample(model("SPIN"), num_replicas=1)


@both
def test_other_models_are_refused(sampler):
    for other in (dimod.ConstrainedQuadraticModel(), dimod.QuadraticModel(), {}, None):
        with pytest.raises(ValueError, match="is not a dimod binary quadratic model"):
            sampler.sample(other)


def test_without_dimod_the_names_are_there_and_their_use_tells_the_remedy():
    script = (
        "import sys; sys.modules['dimod'] = None\n"
        "from glasshouse import *\n"
        "import glasshouse as gh, inspect; inspect.getmembers(gh)\n"
        "for make in (gh.GlasshouseAnnealer, gh.GlasshouseTempering):\n"
        "    try: make()\n"
        "    except gh.MissingPackageError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stderr == ""
    line = "a dimod sampler needs dimod, which is not installed; run pip install "
    assert done.stdout.splitlines() == 2 * [line + '"glasshouse[solvers]"']


def energies_agree(found: Any, bqm: Any) -> None:
    """The energies of all samples are those of the model, and all its variables have values."""
    assert set(found.variables) == set(bqm.variables)
    assert found.vartype is bqm.vartype
    assert found.record.energy == pytest.approx(bqm.energies(found))


def chip(size: int = 4) -> Any:
    """A Chimera graph of `size`² cells, as a solver's nodes and edges."""
    return pytest.importorskip("dwave.graphs").chimera_graph(size)


def ocean(name: str, child: Any, bqm: Any) -> Any:
    """A composite of Ocean around a sampler."""
    preprocessing = pytest.importorskip("dwave.preprocessing")
    if name == "embedding":
        graph = chip()
        structured = dimod.StructureComposite(child, list(graph.nodes), list(graph.edges))
        return pytest.importorskip("dwave.system").EmbeddingComposite(structured)
    return {
        "fix": preprocessing.FixVariablesComposite,
        "reversal": preprocessing.SpinReversalTransformComposite,
        "scale": preprocessing.ScaleComposite, "clip": preprocessing.ClipComposite,
    }[name](child)  # fmt: skip


OCEAN = {
    "embedding": {},
    "fix": {"fixed_variables": {"x": 1}},
    "reversal": {"num_spin_reversal_transforms": 2},
    "scale": {"scalar": 0.25},
    "clip": {"lower_bound": -0.5, "upper_bound": 0.5},
}


@both
@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
@pytest.mark.parametrize("name", OCEAN)
def test_composites_of_ocean_give_the_models_energies(sampler, name, vartype):
    bqm = model(vartype)
    composed = ocean(name, sampler, bqm)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplerUnknownArgWarning)
        found = composed.sample(bqm, num_reads=20, num_sweeps=200, seed=3, **OCEAN[name])
    energies_agree(found, bqm)
    least = dimod.ExactSolver().sample(bqm).first.energy
    if name in ("scale", "reversal"):
        assert found.first.energy == pytest.approx(least)
    if name == "fix":
        assert all(sample["x"] == 1 for sample in found.samples())


@both
def test_higher_order_energies_are_those_of_the_polynomial(sampler):
    terms = {("a",): 1.0, ("a", "b"): -1.5, ("a", "b", "c"): 2.0, ("b", "c", "d", "e"): -1.0}
    for vartype in ("SPIN", "BINARY"):
        polynomial = dimod.BinaryPolynomial(terms, vartype)
        composed = dimod.HigherOrderComposite(sampler)
        found = composed.sample_poly(polynomial, num_reads=30, num_sweeps=200, seed=1)
        assert found.record.energy == pytest.approx(polynomial.energies(found))
        least = dimod.ExactPolySolver().sample_poly(polynomial).first.energy
        assert found.first.energy == pytest.approx(least)


@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
@pytest.mark.parametrize("reads", [1, 5, 40])
@pytest.mark.parametrize("is_dense", [False, True])
def test_initial_states_are_where_reads_start(vartype, reads, is_dense):
    """Without any temperature nothing climbs: a read ends no higher than it started."""
    bqm = model(vartype, whole=True)
    if is_dense:
        bqm = dimod.generators.ran_r(1, 60, seed=1).change_vartype(vartype, inplace=False)
    sampler = gh.GlasshouseAnnealer()
    best = sampler.sample(bqm, num_reads=40, num_sweeps=500, seed=1)
    low = best.record.energy.min()
    starts = dimod.as_samples(best.lowest())[0][:1], list(best.variables)
    cold = {"beta_schedule_type": "custom", "beta_schedule": [1e6] * 3, "seed": 2}
    found = sampler.sample(bqm, num_reads=reads, initial_states=starts,
                           initial_states_generator="tile", **cold)  # fmt: skip
    assert len(found) == reads
    assert (found.record.energy <= low + 1e-9).all()
    energies_agree(found, bqm)
    mixed = sampler.sample(bqm, num_reads=40, initial_states=starts, state="last", **cold)
    assert mixed.record.energy[0] <= low + 1e-9
    if is_dense:
        assert mixed.record.energy.max() > low  # the others start from random states
    again = sampler.sample(bqm, num_reads=40, initial_states=starts, state="last", **cold)
    assert (again.record.sample == mixed.record.sample).all()
    with pytest.raises(ValueError, match="insufficient number of initial states"):
        sampler.sample(bqm, num_reads=3, initial_states=starts, initial_states_generator="none")
    assert len(sampler.sample(bqm, initial_states=best, **cold)) == 40


def test_last_states_are_draws_at_the_last_temperature():
    """Against the exact distribution of a triangle with fields, at β = 0.7.

    10,000 reads; chi-square with 7 degrees of freedom, alarm by chance 1e-4.
    """
    bqm = dimod.BQM.from_ising({"a": 0.5}, {"ab": 1, "bc": -0.7, "ac": 0.4})
    found = gh.GlasshouseAnnealer().sample(
        bqm, num_reads=10_000, beta_schedule_type="custom", beta_schedule=[0.7],
        num_sweeps_per_beta=60, state="last", seed=1,
    )  # fmt: skip
    every = dimod.ExactSolver().sample(bqm)
    expected = np.exp(-0.7 * every.record.energy)
    expected *= 10_000 / expected.sum()
    places = [every.variables.index(name) for name in found.variables]
    seen = {tuple(row): 0 for row in every.record.sample[:, places].tolist()}
    for row in found.record.sample.tolist():
        seen[tuple(row)] += 1
    counts = [seen[tuple(row)] for row in every.record.sample[:, places].tolist()]
    assert ((np.array(counts) - expected) ** 2 / expected).sum() < 29.9
    best = gh.GlasshouseAnnealer().sample(
        bqm, num_reads=1000, beta_schedule_type="custom", beta_schedule=[0.7] * 60, seed=1
    )
    assert best.record.energy.mean() < found.record.energy.mean()


def test_sweeps_per_beta_hold_each_temperature():
    bqm, sampler = model("SPIN"), gh.GlasshouseAnnealer()
    betas = np.geomspace(0.1, 3, 20)
    held = sampler.sample(bqm, num_reads=5, seed=1, beta_schedule_type="custom",
                          beta_schedule=betas, num_sweeps_per_beta=3)  # fmt: skip
    spelled = sampler.sample(bqm, num_reads=5, seed=1, beta_schedule_type="custom",
                             beta_schedule=np.repeat(betas, 3))  # fmt: skip
    assert (held.record.sample == spelled.record.sample).all()
    ranged = sampler.sample(bqm, num_reads=5, seed=1, beta_range=(0.1, 3), num_sweeps=60,
                            num_sweeps_per_beta=3)  # fmt: skip
    assert (ranged.record.sample == held.record.sample).all()
    with pytest.raises(ValueError, match="sweeps_per_beta=7 must divide sweeps=60"):
        sampler.sample(bqm, num_sweeps=60, num_sweeps_per_beta=7)


def test_an_interrupt_function_ends_the_reads():
    asked = []

    def interrupt() -> bool:
        asked.append(len(asked))
        return len(asked) >= 2

    found = gh.GlasshouseAnnealer().sample(
        model("SPIN"), num_reads=64 * 1000, num_sweeps=10**6, interrupt_function=interrupt, seed=1
    )
    assert found.info["stopped"] == "interrupt function"
    assert len(asked) == 2
    assert 0 < len(found) < 64 * 1000
    never = gh.GlasshouseAnnealer().sample(model("SPIN"), interrupt_function=lambda: False, seed=1)
    assert never.info["stopped"] is None
    with pytest.raises(ZeroDivisionError):
        gh.GlasshouseAnnealer().sample(
            model("SPIN"), num_reads=10**5, num_sweeps=10**6, interrupt_function=lambda: 1 / 0
        )


def test_states_of_other_kinds_are_refused():
    plant = gh.random_loops(6, 6, frustration="1/5", loops=4, rng=1)
    start = gh.anneal(plant, runs=3, initial_states=plant.state, sweeps=1, beta=[1e6], rng=1)
    assert (start.energies == plant.energy).all()
    for words, options in [
        (r"pass one state, or one per run \(4 runs\)", {"initial_states": [plant.state] * 3}),
        ("state='first' must be 'best' or 'last'; 'last' needs check='sweep'", {"state": "first"}),
        ("state='last' must be", {"state": "last", "check": "flip"}),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=words):
            gh.anneal(plant, runs=4, **options)
