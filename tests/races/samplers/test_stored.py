"""A race of samplers that is read from its store alone is the race that was run."""

from __future__ import annotations

import json

import pytest

import glasshouse as gh
from glasshouse.races.samplers.racing import NOTE
from glasshouse.races.samplers.stored import read_sampler_results
from glasshouse.store.store import Store
from glasshouse.store.storefile import StoreError


@pytest.fixture
def raced(tmp_path):
    plants = {f"a{k}": gh.random_loops(8, 8, frustration="1/5", loops=4, rng=k) for k in range(3)}
    plants["floats"] = gh.Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [0.1, 0.2, -0.7])
    path = tmp_path / "race.sqlite"
    return path, gh.race_samplers(
        {"ours": gh.GlasshouseAnnealer(), "other": gh.GlasshouseTempering()}, plants, reads=5,
        calls=3, rng=1, store=path, batches=()
    )  # fmt: skip


def test_it_has_the_same_calls_and_the_same_scores(raced):
    path, run = raced
    with Store(path) as store:
        read = read_sampler_results(store)
    assert read.seed == run.seed
    assert read.instances == run.instances
    assert sorted(map(str, read.rows())) == sorted(map(str, run.rows()))
    for name in run.solvers:
        assert read.success(name) == run.success(name)
        assert read.tts(name) == run.tts(name)
        assert read.residual(name).residual.tolist() == run.residual(name).residual.tolist()


def test_a_damaged_store_is_refused(raced, tmp_path):
    path, _ = raced
    with Store(path, write=True) as store, store.transaction() as database:
        database.execute("UPDATE sampler_race SET energies = '[-999, -999, -999, -999, -999]'")
    with Store(path) as store, pytest.raises(StoreError, match="not finite or below"):
        read_sampler_results(store)
    with Store(tmp_path / "new.sqlite", write=True) as store:
        with pytest.raises(StoreError, match="contains no race of samplers"):
            read_sampler_results(store)
        store.note(NOTE, json.dumps({"seed": "none"}))
        with pytest.raises(StoreError, match="is damaged"):
            read_sampler_results(store)
