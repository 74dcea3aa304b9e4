"""Ctrl-C while the main thread waits does not leave locks closed that other threads need."""

from __future__ import annotations

import itertools
import signal
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor

import pytest
from tests.interrupted_locks import left_closed
from tests.interrupts import is_stop_waiting
from tests.proofs.lattices import lattice
from tests.store.synthetic import Fake

from glasshouse.planting import random_loops_ensemble
from glasshouse.solvers import anneal, minimise, sweeps_to_solution
from glasshouse.store import Stop, collect
from glasshouse.waiting import (
    Bell,
    cancel_all,
    interruptible,
    result_of,
    start_thread,
    submit,
    wait_briefly,
)

PROBLEM = lattice(4, 4, 4)


@pytest.fixture(scope="module")
def threads():
    with ThreadPoolExecutor(2) as pool:
        yield pool


def test_the_search_for_closed_locks_finds_those_of_the_standard_library(monkeypatch, threads):
    assert left_closed(monkeypatch, lambda: threads.submit(int).result())


def test_annealing_leaves_no_lock_closed(monkeypatch):
    def call():
        anneal(PROBLEM, sweeps=5, runs=100, rng=1, threads=2, progress=lambda now: None)

    call()  # compiles
    assert left_closed(monkeypatch, call) == []


def test_minimising_leaves_no_lock_closed(monkeypatch):
    def call():
        minimise(PROBLEM, time_limit=0.05, target=None, rng=1, threads=2)

    call()  # compiles
    assert left_closed(monkeypatch, call) == []


def test_sweeps_of_an_ensemble_leave_no_lock_closed(monkeypatch):
    many = random_loops_ensemble(6, 6, 200, frustration="0.1", loops=6, rng=1)

    def call():
        sweeps_to_solution(many, rng=1, threads=2)

    call()  # compiles
    assert left_closed(monkeypatch, call) == []


def test_collecting_on_threads_leaves_no_lock_closed(monkeypatch, threads, tmp_path):
    stores = (tmp_path / f"{k}.sqlite" for k in itertools.count())

    def call():
        collect([Fake(stop=Stop(9))], next(stores), executor=threads)

    assert left_closed(monkeypatch, call) == []


def test_collecting_on_processes_leaves_no_lock_closed(monkeypatch, tmp_path):
    stores = (tmp_path / f"{k}.sqlite" for k in itertools.count())

    def call():
        collect([Fake(stop=Stop(3))], next(stores), workers=1)

    assert left_closed(monkeypatch, call, every=15) == []


def test_work_in_another_thread_leaves_no_lock_closed(monkeypatch):
    assert left_closed(monkeypatch, lambda: interruptible(int, lambda: None)) == []
    assert left_closed(monkeypatch, lambda: start_thread(int)) == []


def test_a_bell_rings_for_a_thread_that_waits_and_for_one_that_comes_later():
    bell, heard = Bell(), Bell()
    start_thread(lambda: bell.wait(60) and heard.ring())
    bell.ring()
    bell.ring()
    assert heard.wait(60)
    assert bell.wait(0)


def test_futures_are_waited_for_and_read(threads):
    done, fault = submit(threads, int, "7"), submit(threads, int, "x")
    assert result_of(done) == 7
    with pytest.raises(ValueError, match="invalid literal"):
        result_of(fault)
    assert wait_briefly([done, fault], FIRST_EXCEPTION) == ({done, fault}, set())
    never = Future[int]()
    assert wait_briefly([never]) == (set(), {never})
    cancel_all([never])
    assert never.cancelled()


def test_an_executor_that_does_the_work_at_once_hears_ctrl_c_in_it():
    class AtOnce:
        def submit(self, function, *arguments):
            function(*arguments)

    def press():
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the signal waits")

    with pytest.raises(KeyboardInterrupt):
        submit(AtOnce(), press)
    assert not is_stop_waiting()
