"""Every result has a human-readable `summary()` and a repr of one short line."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache
from importlib import import_module
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import glasshouse as gh
from glasshouse import boltzmann, races
from glasshouse.certificates import Branch, Cover, Leaf, Order, Tree
from glasshouse.files import Document, bring_back, read_side_car, standing_certificate
from glasshouse.files.formats import FORMATS
from glasshouse.files.formats.format import Sheet
from glasshouse.planting import Ensemble
from glasshouse.planting.method import METHODS
from glasshouse.proofs import solve_exactly
from glasshouse.proofs.lp.blocks import Bounds
from glasshouse.questions import conic_decomposition, maximum_frustration
from glasshouse.statistics import (
    Sample,
    compare_laws,
    fit_decay,
    fit_law,
    fit_lognormal,
    hardness_peak,
    lognormality,
    quantile,
    survival,
)
from glasshouse.store import Column, Kind, Stop
from glasshouse.store.collect import Lost
from glasshouse.studies import (
    Annealer,
    Study,
    Task,
    fit_study,
    load_study,
    merge,
    points_of,
    series_of,
)
from glasshouse.studies.study import parse_study
from glasshouse.summaries import SummaryTable, html_of, short
from paper import Claim, write_figure
from paper.sweep_schedule import optimal_sweeps, optimise_schedule

ROOMS = ("", "problems", "landscape", "certificates", "planting", "files", "solvers", "proofs",
         "questions", "studies", "statistics", "store", "races",
         "boltzmann", "reports")  # fmt: skip
# Settings and small values show their fields in the repr.
SETTINGS = {"Annealer", "Column", "Demand", "Kind", "Stop", "Seed", "Loop", "RunProgress",
            "GlasshouseAnnealer", "GlasshouseTempering", "Limits", "Branch", "Cover", "Leaf",
            "Order", "RestrictedBoltzmannMachine"}  # fmt: skip
LONGEST = 130
# All that a summary in a notebook is made of.
TAGS = {"div", "p", "br", "strong", "table", "caption", "thead", "tbody", "tr", "th", "td"}

STUDY = """
name = "small"
[solver]
sweeps_per_run = 20
[stop]
instances = 20
[[family]]
method = "random_loops"
parameters = { frustration = 0.1 }
grid = { n = [10, 12, 14, 16, 18], loop_density = [0.3, 0.4, 0.5, 0.6, 0.7] }
"""


def pretended(task: Task, instances: int) -> Sample:
    """Return a hardness with a known best run length and a known peak."""
    n, density = task.parameters["n"], float(Fraction(task.parameters["loop_density"]))
    level = 5 + np.log(task.schedule.sweeps_per_run / (2 * n)) ** 2
    level -= 2 * np.log(density / (0.3 + 0.3 * np.exp(-0.02 * n))) ** 2
    noise = np.random.default_rng(n).standard_normal(instances)
    return Sample.of(np.exp(level + 0.1 * noise) + 1)


@cache
def plant() -> gh.Planted:
    return gh.random_loops(60, 60, frustration="1/5", loop_density=0.5, rng=1)


def of_problems() -> Iterable[Any]:
    yield plant().problem
    yield plant().ising
    for convert in (gh.to_ising, gh.to_qubo, gh.to_max2sat, gh.to_maxcut, gh.to_rbm):
        yield from convert(plant().problem)
    yield gh.Rbm(np.random.default_rng(1).normal(size=(20, 30)))
    yield gh.Polynomial.from_terms(9, {(0, 1, 2): 3, (4, 8): -2, (5,): 1})
    yield gh.MaxSat(9, [[1, -2, 3], [4], [-9, 8, 7, 6]], [3, 2, 1], [[1, 5]])


def of_landscape() -> Iterable[Any]:
    small = gh.Rbm([[-1, 2, 2], [2, 2, 2]])
    yield gh.overview(plant())
    yield gh.local_minima(small)
    yield gh.low_energy_states(small, 8)
    yield gh.metastable_state(small, [1] * 5, block=(1, 1))
    yield gh.expected_local_minima(10, frustration="1/5")


def of_planting() -> Iterable[Any]:
    made = gh.structured_loops(40, 40, frustration="1/5", loops=60, block=0.3,
                               state=[1, -1] * 40, rng=1)  # fmt: skip
    edges = gh.graph_loops([(i, j) for i in range(12) for j in range(i)], frustration="1/4",
                           loops=9, rng=1)  # fmt: skip
    for one in (plant(), made, edges, gh.shuffle(plant())):
        yield from (one, one.summary(), one.recipe, one.loops, one.loops[0], one.certificate)
        yield one.proven
    yield gh.cores(12, cores=3, rng=1).cores
    dense = gh.wishart(24, columns=30, rng=1)
    yield from (dense, dense.summary(), dense.squares, dense.summary().ground_states)
    yield edges.recipe.seed
    yield gh.Graph.parse("torus:8x8")
    yield gh.Graph.of([(i, i + 1) for i in range(500)])
    many = gh.random_loops_ensemble(20, 20, 5, frustration="1/5", loops=9, rng=1)
    assert isinstance(many, Ensemble)
    yield many
    yield from METHODS.values()
    plan = METHODS["graph_loops"].plan("torus:8x8", frustration="1/4", loops=9)
    yield from (plan, plan.demand)


def of_files(folder: Any) -> Iterable[Any]:
    (entry,) = gh.write_suite(folder / "suite", [plant()])
    path = folder / "suite" / entry.file
    held = gh.read_document(path)
    yield from (entry, held, held.stated, Document.of(plant()), gh.verify_file(path))
    yield from FORMATS.values()
    yield Sheet(held.problem, held.stated)
    beside = path.with_name(path.name + ".cert")
    yield from (read_side_car(beside), standing_certificate(beside, held.problem)[0])
    solution = folder / "solution.txt"
    solution.write_text("".join("1" if spin > 0 else "0" for spin in plant().state))
    yield gh.write(folder / "a.qubo", held)
    yield bring_back(path, folder / "a.qubo", solution)


def of_solvers() -> Iterable[Any]:
    result = gh.anneal(plant(), sweeps=20, runs=128, rng=1)
    yield gh.minimise(plant(), time_limit=60, rng=1)
    yield from (result, result.tts(), gh.temper(plant(), sweeps=2, runs=2, rng=1))
    yield gh.optimal_tts(plant(), sweeps_grid=(10, 20), runs=64, rng=1)
    yield gh.brute_force(gh.Rbm([[-1, 2, 2], [2, 2, 2]]))
    yield gh.descend(plant(), np.ones((50, 120), np.int8))
    yield gh.sample(
        gh.Ising.from_edges(4, [(0, 1), (1, 2)], [1, -1]), beta=(0.1, 0.5), sweeps=64, rng=1
    )
    yield gh.sweeps_to_solution(plant(), samples=9, rng=1)
    yield gh.paper_schedule(100, 0.1)
    yield from (gh.GlasshouseAnnealer(), gh.GlasshouseTempering())
    heard: list[Any] = []
    gh.anneal(plant(), sweeps=2, runs=2, progress=heard.append)
    yield heard[0]


def of_proofs() -> Iterable[Any]:
    proof = gh.prove(plant())
    yield from (proof, proof.statistics, proof.certificate, gh.noise_margin(plant()))
    yield gh.verify(plant().problem, proof.certificate)
    yield gh.verify(plant().problem, plant().certificate)
    yield solve_exactly(gh.Rbm([[-1, 2, 2], [2, 2, 2]]), solver="highs")
    yield Bounds(-3.0, -2.5, 0.1, 4)
    yield from (Tree((Branch(0, 1), Leaf(2), Cover((0,)))), Branch(0, 1), Leaf(2), Cover((0,)))
    yield Order((0,))


def of_questions() -> Iterable[Any]:
    yield conic_decomposition([[3, 1], [1, -1]])
    yield conic_decomposition([[4, -1, -1, 2], [-1, 4, -1, 2], [-1, -1, 4, 2], [2, 2, 2, -2]],
                              max_length=8)  # fmt: skip
    yield maximum_frustration(3, 3)


def of_statistics() -> Iterable[Any]:
    rng = np.random.default_rng(1)
    values = np.exp(rng.normal(5, 1, 200))
    sizes = np.arange(10, 60, 5)
    yield from (Sample.of(values), quantile(values, 0.5), survival(values), fit_lognormal(values))
    yield lognormality(values, resamples=9)
    yield from (fit_law(sizes, 3.0 * sizes**2, "power"), compare_laws(sizes, 3.0 * sizes**2))
    density = np.linspace(0.2, 0.9, 20)
    hill = 100 * np.exp(-(np.log(density / 0.45) ** 2))
    yield hardness_peak(density, hill, errors=np.full(20, 0.01))
    yield fit_decay(sizes, 0.3 + 0.3 * np.exp(-0.02 * sizes), errors=np.full(10, 0.01))


def of_studies(folder: Any) -> Iterable[Any]:
    (folder / "study.toml").write_text(STUDY)
    study = load_study(folder / "study.toml")
    yield from (study, study.tasks[0], parse_study(STUDY))
    *_, last = gh.iter_collect(study.tasks, folder / "a.sqlite")
    yield last
    yield merge(folder / "b.sqlite", [folder / "a.sqlite"])
    store = gh.Store(folder / "a.sqlite")  # closed when all results were examined
    yield from (store, store.status()[0], store.tasks()[0])
    points = points_of(store, "median")
    yield from (points[0], series_of(points, "density")[0])
    yield fit_study(store, dataclasses.replace(study, figure="density"))
    yield Lost("0" * 64, 0, 10, "the worker was killed; " * 20)
    yield gh.tune(8, 20, tolerance=0.9, rng=1)
    yield optimal_sweeps(30, 0.1, 0.47, instances=50, start=20, rng=1, measure=pretended)
    sizes, frustrations = (30, 40, 50, 60), (0.05, 0.1, 0.15, 0.2)
    both = optimise_schedule(sizes, frustrations, instances=20, rng=1, measure=pretended)
    yield from (both, both.first)
    yield Claim("the exponent", "0.2", "0.21 (0.19 to 0.23)", agrees=True)
    yield from (Annealer(), Stop(9), Column("x", "real", "it"), Kind("k", ()))
    yield write_figure("dispersion", None, folder)


def of_boltzmann(folder: Any) -> Iterable[Any]:
    run = gh.train(gh.shifting_bars(), 4, epochs=2, every=1, rng=1)
    yield from (run, run.settings, run.machine, boltzmann.find_mode(run.machine))
    yield gh.RestrictedBoltzmannMachine()
    yield boltzmann.GaussianMachine([[1.0, -1.0]])
    yield boltzmann.annealed_importance(run.machine, chains=8, temperatures=10, rng=1)
    task = boltzmann.TrainingTask(gh.shifting_bars(), run.settings, count=3, every=1)
    *_, last = boltzmann.iter_train([task], folder / "training.sqlite")
    yield from (task, last, boltzmann.MONITORS["kl"])
    trainer = boltzmann.Trainer(gh.shifting_bars(), run.settings)
    yield from (trainer, trainer.snapshot())
    with gh.Store(folder / "training.sqlite") as store:
        yield from boltzmann.read_ensembles(store)


def of_races(folder: Any) -> Iterable[Any]:
    gh.write_suite(folder / "raced", [gh.random_loops(3, 3, frustration="1/5", loops=3, rng=1)])
    suite = races.load_suite(folder / "raced", folder)
    (instance,) = suite.instances
    script = folder / "solver.py"
    script.write_text('print("c a solver", "o 9", "s UNKNOWN", sep=chr(10))')
    limits = races.Limits(seconds=10.0)
    entrants = races.entrants_of([f"mine={sys.executable} -S {script}"], limits, "classic")
    contest = races.Race(entrants, suite, limits)
    with ThreadPoolExecutor(1) as thread:
        *_, last = races.iter_race(contest, folder / "race.sqlite", executor=thread)
    yield from (suite, instance, instance.known, limits, entrants[0], contest, last)
    with gh.Store(folder / "race.sqlite") as store:
        found = races.read_results(store)
    yield from (found, found.runs[0], races.score(found, "mine"))
    (folder / "answer.txt").write_text("o 9\ns UNKNOWN\n")
    clauses, said = races.read_clauses(instance.path), races.read_transcript(folder / "answer.txt")
    answer = races.read_answer(said)
    yield from (clauses, said, answer, races.judge(clauses, answer, instance.known))
    heard: list[Any] = []
    both = {"ours": gh.GlasshouseAnnealer(), "none": lambda bqm: 1 / 0}
    raced = gh.race_samplers(
        both, [plant()], reads=3, calls=2, rng=1, progress=heard.append, batches=()
    )
    yield from (raced, raced.calls[0], raced.faults[0], raced.problems[0], heard[0])
    yield from (raced.residual("ours"), raced.compare("ours", "none"))
    yield from (raced.model("ours", raced.instances[0]), races.virtual_best(found))
    rival = dataclasses.replace(found.runs[0], solver="rival")
    both_ran = dataclasses.replace(found, runs=(*found.runs, rival))
    yield races.compare_solvers(both_ran, "mine", "rival")
    yield gh.optimal_setting(
        gh.GlasshouseAnnealer(), [plant()], "num_sweeps", (2, 4), calls=1, reads=2, batches=()
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Iterator[list[Any]]:
    folder = tmp_path_factory.mktemp("results")
    made = [
        *of_problems(), *of_landscape(), *of_planting(), *of_files(folder), *of_solvers(),
        *of_proofs(), *of_questions(), *of_statistics(), *of_studies(folder), *of_races(folder),
        *of_boltzmann(folder), gh.report(folder / "a.sqlite", output=folder / "report.html"),
    ]  # fmt: skip
    yield made
    for result in made:
        if isinstance(result, gh.Store):
            result.close()


def test_every_result_has_a_summary_and_a_short_repr(results):
    for result in results:
        name, line = type(result).__name__, repr(result)
        assert line.startswith(f"{name}("), line
        assert line.endswith(")"), line
        assert "\n" not in line
        assert len(line) <= LONGEST, line
        assert " object at 0x" not in line, line
        if name not in SETTINGS:
            text = str(result.summary())
            assert text.strip(), name
            assert " object at 0x" not in text, text
            assert max(map(len, text.splitlines())) <= 250, text


def returned_classes() -> set[type]:
    """Return public classes, and classes that public functions return, even within lists."""
    found: set[type] = set()
    for room in ROOMS:
        module = import_module(f"glasshouse.{room}".removesuffix("."))
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.isclass(thing):
                found.add(thing)
            elif inspect.isfunction(thing):
                try:
                    hints = typing.get_type_hints(thing)
                except NameError:  # a type that only type checkers import
                    continue
                waiting = [hints.get("return")]
                while waiting:
                    hint = waiting.pop()
                    waiting += typing.get_args(hint)
                    if inspect.isclass(hint):
                        found.add(hint)
    return {
        one for one in found
        if one.__module__.startswith("glasshouse") and not issubclass(one, Exception)
    }  # fmt: skip


def test_nothing_that_is_returned_is_left_out(results):
    classes = returned_classes()
    assert {gh.AnnealResult, gh.Verdict, gh.Reduction, Study} <= classes
    missing = {one.__name__ for one in classes} - {type(result).__name__ for result in results}
    assert missing == set()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.zeros((2, 3), np.int8), "<2×3 int8>"), (np.int64(3), "3"), ((1,), "(1,)"),
        ([1, [2]], "[1, [2]]"), (range(3), "range(0, 3)"), ({1, 2}, "<2 items>"),
        ({"a": np.zeros(5)}, "{a=<5 float64>}"), (Fraction(1, 3), "1/3"), (0.1 + 0.2, "0.3"),
        (None, "None"),
    ],
)  # fmt: skip
def test_values_are_shown_in_few_characters(value, text):
    assert short(value) == text


def test_a_long_text_is_cut():
    assert short("word\n" * 100).endswith("…")
    assert len(short("x" * 1000)) <= 40


class TestNotebook:
    """Tests that notebooks show the summary as a table of limited size with text only."""

    def test_every_result_says_there_what_its_summary_says(self, results):
        for result in results:
            name = type(result).__name__
            if name in SETTINGS:
                continue
            root = ElementTree.fromstring(result._repr_html_())  # well-formed
            words = " ".join(root.itertext())
            assert words.split()[0] == name
            missing = set(str(result.summary()).split()) - set(words.split())
            # Words between the cells of a text that a table shows by its columns.
            assert missing <= {"=", "sweeps:", "(BIC"} | self.joined(words), missing
            assert {part.tag for part in root.iter()} <= TAGS
            assert len(result._repr_html_()) <= 30_000

    @staticmethod
    def joined(words: str) -> set[str]:
        """Return the values that follow a sign in a text, such as `p = 0.5,` or `(BIC 3 %)`."""
        return {f"{word}{sign}" for word in words.split() for sign in (",", ")")}

    def test_columns_and_rows_are_told_to_who_does_not_see_them(self):
        root = ElementTree.fromstring(plant()._repr_html_())
        assert [head.text for head in root.iterfind(".//thead//th[@scope='col']")] == [
            None, "requested", "realised",
        ]  # fmt: skip
        assert "frustration" in {head.text for head in root.iterfind(".//th[@scope='row']")}
        assert root.find(".//caption") is not None

    def test_texts_from_files_are_nothing_but_text(self):
        hostile = "<script>alert(1)</script>&amp;\"'\x1b[31m\u202e"
        recipe = gh.Recipe(hostile, {hostile: hostile}, gh.Seed.of(1))
        text = recipe._repr_html_()
        assert "<script" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text
        root = ElementTree.fromstring(text)
        assert "<script>alert(1)</script>&amp;\"'\\x1b[31m\\u202e" in " ".join(root.itertext())

    def test_a_large_result_is_shown_in_few_rows(self):
        fits = [fit_law(np.arange(10, 60, 5), np.arange(10.0, 60, 5), "power")] * 1000
        many = compare_laws(np.arange(10, 60, 5), np.arange(10.0, 60, 5))
        many = dataclasses.replace(many, fits=fits, odds=[0.001] * 1000, bic_odds=[0.001] * 1000)
        assert "… and 960 more rows" in many._repr_html_()
        assert len(many._repr_html_()) <= 30_000
        long = gh.Recipe("x" * 10**6, {}, gh.Seed.of(1))
        assert len(long._repr_html_()) <= 3_000
        wide = html_of("Wide", SummaryTable([("x" * 250,) * 1000] * 40, ("head",) * 1000))
        assert "… and 980 more columns" in wide
        assert wide.count('<th scope="col"') == 20
        assert len(wide) <= 300_000
        lines = html_of("Lines", SummaryTable(above=["line"] * 1000))
        assert "… and 960 more lines" in lines

    def test_a_closed_store_says_so(self, tmp_path):
        with gh.Store(tmp_path / "a.sqlite", write=True) as store:
            assert "0 of 0 tasks done" in store._repr_html_()
        assert "a.sqlite is closed; open it again" in store._repr_html_()
