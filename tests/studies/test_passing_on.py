"""Ctrl-C in a search that is part of something larger ends all of it, not that search alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.files.clause_file import ClauseFile
from glasshouse.fuzzing import deciding
from glasshouse.questions import gauged
from glasshouse.solvers import anneal, tts
from glasshouse.studies.quantities import hardness
from glasshouse.studies.quantities.hardness import Annealer


def interrupted(*arguments, **options):
    """An anneal during which Ctrl-C came: its best so far."""
    return replace(anneal(*arguments, **options), stopped="interrupted")


def interrupted_proof(*arguments, **options):
    proof = gh.prove(*arguments, **options)
    return replace(proof, statistics=replace(proof.statistics, stopped="Ctrl-C"))


def test_tuning_and_studies(monkeypatch):
    monkeypatch.setattr(hardness, "anneal", interrupted)
    task = gh.Task(
        "graph_loops", {"graph": "torus:4x4", "frustration": "1/5", "loops": 8, "length": 4},
        solver=Annealer(sweeps_per_run=1, max_sweeps=1), seed=1,
    )  # fmt: skip
    with pytest.raises(KeyboardInterrupt):
        task.measure(0, 16)


def test_times_to_solution(monkeypatch):
    plant = gh.random_loops(6, 6, frustration="1/5", loops=5, rng=1)
    monkeypatch.setattr(tts, "anneal", interrupted)
    with pytest.raises(KeyboardInterrupt):
        gh.optimal_tts(plant, plant.energy, (2, 4), rng=1)


def test_deciding_what_is_optimal(monkeypatch):
    monkeypatch.setattr(deciding, "prove", interrupted_proof)
    clauses = ClauseFile(2, ((2, (1, 2)), (3, (-1,)), (4, (-2,))), ((1, -2),))
    with pytest.raises(KeyboardInterrupt):
        deciding.proven_optimum(clauses)


def test_the_question_whether_a_matrix_is_gauged(monkeypatch):
    monkeypatch.setattr(gauged, "prove", interrupted_proof)
    with pytest.raises(KeyboardInterrupt):
        gauged.is_gauged(np.ones((25, 25), dtype=np.int64))
