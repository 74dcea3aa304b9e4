"""The search that shares a time limit between methods."""

from __future__ import annotations

import itertools
import signal

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.randomness import Seed
from glasshouse.solvers.engines import make_ready
from glasshouse.solvers.minimising import Search
from glasshouse.solvers.record import Record
from glasshouse.solvers.spin_form import SpinForm

TILES = gh.tiles2d(8, p1="1/4", p2="1/2", rng=1)
RNG = np.random.default_rng(3)


def torus(side: int) -> gh.Ising:
    sites = np.arange(side * side).reshape(side, side)
    edges = np.concatenate(
        [np.stack([sites, np.roll(sites, -1, axis)], -1).reshape(-1, 2) for axis in (0, 1)]
    )
    weights = np.random.default_rng(side).choice([-1, 1], len(edges))
    return gh.Ising.from_edges(side * side, edges, weights)


def dense(size: int = 60) -> gh.Ising:
    pairs = np.argwhere(np.triu(np.ones((size, size)), 1))
    return gh.Ising.from_edges(size, pairs, RNG.choice([-1, 1], len(pairs)))


class Ticking:
    """A clock that moves on by a hundredth of a second each time it is read."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        self.time += 0.01
        return self.time


def searched(problem, time_limit: float, *, seed: int = 1, target=None) -> tuple[Search, Record]:
    form = SpinForm(problem)
    ready = make_ready(form)
    record = Record(form, ready.engine()[1], target, time_limit, Ticking())
    search = Search(form, ready, Seed(seed), record)
    search.run()
    return search, record


@pytest.mark.parametrize("problem", [torus(20), dense(100)], ids=["torus", "dense"])
def test_the_search_depends_on_the_seed_and_the_clock_alone(problem):
    first, again, other = (searched(problem, 1, seed=seed) for seed in (1, 1, 2))
    assert first[0].traces == again[0].traces
    assert first[1].improvements == again[1].improvements
    assert (first[1].state == again[1].state).all()
    assert (first[1].state != other[1].state).any()


def test_all_of_the_time_is_used_and_shared():
    search, record = searched(TILES.ising, 4)
    assert record.ended == "time limit"
    assert record.energy == TILES.energy
    total = sum(search.seconds.values())
    assert 2 < total <= 4.5  # the clock moves on between slices, too
    assert set(search.seconds) == {"anneal", "refine", "temper"}
    assert min(search.seconds.values()) > 0.2 * total
    assert set(searched(dense(), 0.5)[0].seconds) == {"anneal", "temper"}


def test_the_leader_is_the_method_that_is_ahead_after_equal_times():
    search, _ = searched(TILES.ising, 0.5)
    search.seconds = {"anneal": 10.0, "refine": 2.0, "temper": 1.0}
    search.traces = {
        "anneal": [(0.5, -10), (9.0, -90)],
        "refine": [(0.9, -20), (1.5, -95)],
        "temper": [(0.1, -5)],
    }
    assert search.leader() == "refine"
    assert [search.share(name) for name in search.steps] == [0.25, 0.5, 0.25]
    search.traces["temper"] = [(0.2, -20)]  # as good, and sooner
    assert search.leader() == "temper"
    search.traces = {"anneal": [], "refine": [(1.5, -1)], "temper": []}
    assert search.leader() is None
    assert search.share("refine") == pytest.approx(1 / 3)


def test_coolings_get_longer_and_fit_into_the_time_that_is_left():
    from glasshouse.solvers import methods
    from glasshouse.solvers.methods import Cooler

    cooler = Cooler(make_ready(SpinForm(TILES)), np.arange(4, dtype=np.uint64), lambda: 0.0)
    lengths, cool = [], cooler.cool

    def noted(beta, sweeps, size, start=None):
        lengths.append(sweeps)
        found = yield from cool(beta, sweeps, size, start)
        cooler.seconds_per_sweep = 1.0
        return found

    cooler.cool = noted
    seconds = itertools.chain([1e9] * 5, itertools.repeat(40.0))
    steps = methods.annealing(cooler, lambda energy, state: None, lambda: next(seconds))
    for _ in steps:
        if len(lengths) == 8:
            break
    assert lengths == [16, 32, 64, 128, 256, 40, 40, 40]


def test_the_optimum_of_a_torus_is_found_by_its_clusters():
    problem = torus(24)
    optimum = gh.prove(problem).energy
    _, record = searched(problem, 200, target=optimum)
    assert (record.energy, record.ended) == (optimum, "target")
    assert record.improvements[-1].method in ("refine", "temper")


@pytest.mark.parametrize(
    "problem",
    [
        gh.Qubo.from_matrix([[-1, 2, 0], [0, -1, -3], [0, 0, 0]]),
        gh.to_max2sat(TILES.ising)[0],
        gh.random_loops(8, 8, frustration="1/5", loops=6, rng=2),
        gh.Ising.from_edges(5, [(0, 1), (1, 2), (0, 2)], [0.5, -0.25, 1.0], [0, 0, 0, 0.5, 0]),
        dense(),
    ],
    ids=["qubo", "max2sat", "rbm", "floats", "dense"],
)
def test_every_kind_of_problem(problem):
    found = gh.minimise(problem, time_limit=0.2, rng=1)
    own = getattr(problem, "problem", problem)
    assert own.energy(found.state) == found.energy
    assert found.energy == found.improvements[-1].energy
    energies = [one.energy for one in found.improvements]
    assert energies == sorted(energies, reverse=True)
    if own.num_variables < 31:
        assert found.energy == pytest.approx(gh.brute_force(problem).energy)


def test_it_ends_at_the_target_or_where_nothing_can_be_better():
    found = gh.minimise(TILES, time_limit=600, rng=1)
    assert (found.ended, found.energy, found.is_optimal) == ("target", TILES.energy, False)
    chain = gh.Ising.from_edges(4, [(0, 1), (1, 2), (2, 3)], [1, -2, 3], offset=7)
    found = gh.minimise(chain, time_limit=600, rng=1)
    assert (found.ended, found.energy, found.is_optimal) == ("bound", 1, True)
    empty = gh.Ising.from_edges(3, np.empty((0, 2), int), [])
    assert gh.minimise(empty, time_limit=600).is_optimal
    assert gh.minimise(TILES, time_limit=0.01, target=None).ended == "time limit"
    assert gh.minimise(TILES, time_limit=None, rng=1, threads=2).ended == "target"


def test_improvements_are_reported_in_the_callers_thread_and_ctrl_c_keeps_the_best():
    seen = []

    def interrupt(improvement, state):
        seen.append((improvement.energy, TILES.problem.energy(state)))
        signal.raise_signal(signal.SIGINT)

    found = gh.minimise(TILES, time_limit=600, target=None, rng=1, improved=interrupt)
    assert found.ended == "interrupted"
    assert len(seen) == 1
    assert seen[0][0] == seen[0][1] >= found.energy
    assert TILES.problem.energy(found.state) == found.energy


def test_an_error_of_the_caller_ends_the_search():
    def fail(improvement, state):
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        gh.minimise(TILES, time_limit=600, target=None, improved=fail)


def test_bad_arguments_and_words():
    with pytest.raises(ValueError, match="time_limit"):
        gh.minimise(TILES, time_limit=0)
    with pytest.raises(ValueError, match="threads"):
        gh.minimise(TILES, time_limit=1, threads=0)
    with pytest.raises(ValueError, match="target"):
        gh.minimise(TILES, time_limit=1, target="best")
    found = gh.minimise(TILES, time_limit=600, rng=1)
    assert "the target was reached" in found.summary()
    assert found.sample(units="binary").keys() == set(range(64))
    assert repr(found).startswith(f"Minimum(energy {TILES.energy}, target after")
