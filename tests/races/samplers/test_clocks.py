"""Clocks, batch sizes and circumstances of races: a sampler whose time and success are known."""

from __future__ import annotations

import math
import sqlite3

import numpy as np
import pytest
from tests.races.samplers.toys import Sampler, dimod, plants, truly

import glasshouse as gh
from glasshouse.races import entered_sampler
from glasshouse.races.samplers.stored import read_sampler_results
from glasshouse.store.storefile import StoreError


class Simulated:
    """Reads succeed with probability p, and a call states the time that it would have taken."""

    def __init__(self, latency: float, per_read: float, p: float, noise: float = 0.02) -> None:
        self.latency, self.per_read, self.p, self.noise = latency, per_read, p, noise
        self.parameters = {"num_reads": [], "seed": []}

    def sample(self, bqm, num_reads=1, seed=0):
        rng, plant = np.random.default_rng(seed), plants()[0]
        worse = plant.state.copy()
        worse[0] *= -1
        rows = np.where(rng.random((num_reads, 1)) < self.p, plant.state, worse)
        seconds = (self.latency + num_reads * self.per_read) * rng.normal(1, self.noise)
        found = dimod.SampleSet.from_samples_bqm((rows, list(bqm.variables)), bqm)
        found.info["timing"] = {"qpu_access_time": 1e6 * seconds, "qpu_sampling_time": 1.0,
                                "nonsense": "x", "nan": math.nan}  # fmt: skip
        return found


SETTINGS = [(latency, per_read, p) for latency in (0.0, 1e-3, 2e-2, 0.5)
            for per_read, p in ((1e-3, 0.05), (1e-4, 0.2), (2e-2, 0.5), (1e-3, 0.9), (0.1, 0.999))
            ]  # fmt: skip


@pytest.mark.parametrize(("latency", "per_read", "p"), SETTINGS)
def test_a_simulated_sampler_is_measured_within_ten_percent(latency, per_read, p):
    entered = {"x": Simulated(latency, per_read, p, noise=0.002)}
    found = gh.race_samplers(entered, plants()[:1], calls=20, rng=2, clock="qpu_access_time")
    (name,), needed = found.instances, max(1.0, math.log(0.01) / math.log1p(-p))
    model = found.model("x", name)
    assert model.seconds_per_read.value == pytest.approx(per_read, rel=0.1)
    assert model.latency.value == pytest.approx(latency, rel=0.1, abs=0.1 * per_read)
    assert found.success("x", name).value == pytest.approx(p, rel=0.1)
    assert found.tts("x", name, "work").value == pytest.approx(per_read * needed, rel=0.1)
    assert found.tts("x", name).value == pytest.approx(latency + per_read * needed, rel=0.1)


@pytest.mark.parametrize("by", ["elapsed", "work"])
def test_times_do_not_depend_on_the_reads_of_a_call(by):
    found = {}
    for reads in (1, 10, 64, 1000):
        race = gh.race_samplers({"x": Simulated(2e-3, 2e-5, 0.3)}, plants()[:1], reads=reads,
                                calls=10, rng=reads, clock="qpu_access_time")  # fmt: skip
        found[reads] = race.tts("x", by=by)
    lows, highs = (max(one.low for one in found.values()), min(one.high for one in found.values()))
    assert lows <= highs  # the intervals have a time in common
    truth = math.log(0.01) / math.log(0.7) * 2e-5 + (2e-3 if by == "elapsed" else 0)
    assert all(one.low <= truth <= one.high for one in found.values())


def test_a_stored_race_is_read_by_any_clock(tmp_path):
    def doubled(found):
        return 2e-6 * found.info["timing"]["qpu_access_time"]

    entered, path = {"x": Simulated(0.5, 1e-3, 0.3), "y": Sampler()}, tmp_path / "race.sqlite"
    options = {"reads": 2, "calls": 2, "batches": (1, 8), "rng": 1, "store": path}
    found = gh.race_samplers(entered, plants()[:1], clock={"x": doubled}, **options)
    assert found.clocks == {"x": "doubled_s", "y": "wall"}
    with gh.Store(path) as store:
        read = read_sampler_results(store)
    for one in (found, read):
        times = one.tts("x"), one.by_clock({"x": "qpu_access_time"}).tts("x")
        assert times[0].value == pytest.approx(2 * times[1].value)
        assert one.by_clock({"x": "wall"}).tts("x").value < times[1].value / 5
        assert one.by_clock("cpu").tts("x").value > 0
        with pytest.raises(
            ValueError, match=r"y on .* must contain 'qpu_access_time', a number .*; found no"
        ):
            one.by_clock("qpu_access_time")
    assert [call.timing for call in read.calls] == [call.timing for call in found.calls]
    assert {"qpu_access_time", "qpu_sampling_time", "doubled_s"} == set(found.calls[0].timing)
    assert read.clocks == found.clocks
    assert read.samplers["x"]["what"].endswith("Simulated")
    (computer,) = {str(one["cores"]) for one in read.computers}
    assert int(computer) >= 1
    assert all("numpy" in one["packages"] for one in read.computers)
    assert "Clock: x doubled_s, y wall." in read.summary()
    page = tmp_path / "page.html"
    gh.report(path, output=page)
    shown = page.read_text()
    assert all(word in shown for word in ("doubled_s", "Simulated", "Time to solution and batch"))


def test_a_sampler_without_the_clocks_time_is_at_fault():
    entered = {"x": Sampler(), "y": lambda bqm: truly(bqm)}
    found = gh.race_samplers(entered, plants()[:1], reads=2, calls=1, batches=(),
                             clock={"x": "qpu_access_time", "y": lambda found: 1 / 0})  # fmt: skip
    faults = {call.solver: call.fault for call in found.faults}
    assert "must contain 'qpu_access_time', a number" in faults["x"]
    assert "ZeroDivisionError" in faults["y"]
    assert not any(len(call.energies) for call in found.calls)


def test_wrong_clocks_and_batches_are_refused():
    for options, words in [
        ({"clock": ""}, "clock='' must be 'wall', 'cpu'"), ({"batches": (0,)}, "batches=0"),
        ({"clock": {"z": "cpu"}}, "clock has a key 'z' that is not a sampler"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=words):
            gh.race_samplers({"x": Sampler()}, plants()[:1], **options)


def test_a_damaged_time_in_a_store_is_refused(tmp_path):
    path = tmp_path / "race.sqlite"
    gh.race_samplers({"x": Simulated(1, 1, 0.5)}, plants()[:1], reads=2, calls=1, store=path)
    for text in ('{"a": "b"}', '{"a": -1}', "[]", '{"a": 1e999}'):
        with sqlite3.connect(path) as database:
            database.execute("UPDATE sampler_race SET timing = ?", (text,))
        with gh.Store(path) as store, pytest.raises(StoreError):
            read_sampler_results(store)


def test_extra_batches_draw_other_reads():
    one = Sampler()
    gh.race_samplers({"x": one}, plants()[:1], reads=2, calls=2, batches=(1, 4), rng=1)
    _, *heard = one.heard
    assert [call["num_reads"] for call in heard] == [2, 1, 4, 2, 1, 4]
    assert len({call["seed"] for call in heard}) == 6
    fixed = Sampler()
    gh.race_samplers({"x": (fixed, {"num_reads": 3})}, plants()[:1], calls=2, rng=1)
    assert [call["num_reads"] for call in fixed.heard] == [3] * 3


def test_time_to_epsilon_falls_with_epsilon():
    found = gh.race_samplers({"x": Sampler()}, plants()[:2], reads=20, calls=5, batches=(1,), rng=1)
    times = [found.tts("x", by="work", epsilon=epsilon).value for epsilon in (0, 0.2, 0.5, 3)]
    assert times == sorted(times, reverse=True)
    assert found.success("x", epsilon=3).value == 1


def test_samplers_are_entered_by_text():
    name, (sampler, parameters) = entered_sampler(
        "mine=dimod:RandomSampler num_reads=3 word=abc pair='(1, 2)'"
    )
    assert (name, parameters) == ("mine", {"num_reads": 3, "word": "abc", "pair": (1, 2)})
    assert isinstance(sampler, dimod.RandomSampler)
    assert entered_sampler("glasshouse:GlasshouseAnnealer")[0] == "GlasshouseAnnealer"
    for text, words in [
        ("dimod", "must have the form"), ("a=b:", "must have the form"),
        ("dimod:RandomSampler 3", "must have the form"), ("", "must have the form"),
        ("dimod:'", "cannot be split"),
        ("nowhere_at_all:X", "cannot be loaded: ModuleNotFoundError"),
        ("dimod:Nobody", "cannot be loaded: AttributeError"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=words) as told:
            entered_sampler(text)
        assert "\n" not in str(told.value)


def test_the_best_setting_of_any_samplers_parameter():
    """More sweeps succeed more often and take longer: 10 is best by construction."""

    def sampler(bqm, num_reads, seed, sweeps):
        p = {1: 0.01, 10: 0.5, 100: 0.6}[sweeps]
        return Simulated(1e-3, 1e-3 * sweeps, p).sample(bqm, num_reads, seed)

    options = {"clock": "qpu_access_time", "calls": 5, "rng": 1}
    best = gh.optimal_setting(sampler, plants()[:1], "sweeps", (1, 10, 100), **options)
    assert best.value == 10
    assert not best.is_at_edge
    assert "sweeps=10" in best.summary()
    edge = gh.optimal_setting(sampler, plants()[:1], "sweeps", (10, 100), **options)
    assert edge.is_at_edge
    assert "try more" in edge.summary()
    with pytest.raises(ValueError, match="at least two values, all different"):
        gh.optimal_setting(sampler, plants()[:1], "sweeps", (10,))


def test_a_finished_race_is_read_by_the_clock_that_is_asked_for(tmp_path):
    plant = gh.random_loops(4, 4, frustration="1/5", loops=3, rng=1)
    words = {"reads": 3, "calls": 2, "rng": 1, "batches": (), "store": tmp_path / "s.sqlite"}
    first = gh.race_samplers({"ours": gh.GlasshouseAnnealer()}, plant, **words)
    again = gh.race_samplers({"ours": gh.GlasshouseAnnealer()}, plant, clock="cpu", **words)
    assert (first.clocks, again.clocks) == ({"ours": "wall"}, {"ours": "cpu"})
    with pytest.raises(ValueError, match="must contain 'nonsense', a number"):
        gh.race_samplers({"ours": gh.GlasshouseAnnealer()}, plant, clock="nonsense", **words)
