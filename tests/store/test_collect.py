"""Collecting survives kills, dead and hanging workers, and always ends with the same table."""

from __future__ import annotations

import math
import os
import random
import signal
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from tests.children import Child, run, start, until
from tests.store.synthetic import Fake, table

from glasshouse.store import Stop, Store, collect, iter_collect
from glasshouse.store.storefile import StoreError
from glasshouse.studies import Task

STUDY = [Fake(seed=1, stop=Stop(60)), Fake(seed=2, stop=Stop(45)), Fake(seed=3, stop=Stop(30))]


def undisturbed(folder: Path, tasks: list[Fake]) -> dict:
    path = folder / "undisturbed.sqlite"
    assert collect(tasks, path).is_complete
    return table(path)


class TestInProcess:
    def test_all_rows_are_there_and_are_the_task_s(self, tmp_path):
        found = undisturbed(tmp_path, STUDY)
        for task in STUDY:
            rows = found[task.task_id]
            assert rows["instance"] == list(range(task.stop.instances))
            assert rows["sweeps"] == task.measure(0, task.stop.instances)["sweeps"].tolist()

    def test_progress_goes_from_what_was_there_to_the_goal(self, tmp_path):
        seen = list(iter_collect(STUDY, tmp_path / "s.sqlite"))
        assert (seen[0].rows, seen[0].goal, seen[0].tasks_done) == (0, 135, 0)
        assert seen[0].remaining_seconds is None
        assert [p.rows for p in seen] == sorted(p.rows for p in seen)
        assert (seen[-1].rows, seen[-1].tasks_done) == (135, 3)
        assert seen[-1].is_complete
        assert seen[-1].remaining_seconds == 0
        assert seen[-1].is_reproducible

    def test_nothing_is_measured_twice_and_more_can_be_asked_for(self, tmp_path):
        path = tmp_path / "s.sqlite"
        collect([Fake(stop=Stop(10))], path)
        end = collect([Fake(stop=Stop(25))], path)
        assert (end.rows, end.new_rows) == (25, 15)
        end = collect([Fake(stop=Stop(5))], path)
        assert (end.rows, end.new_rows) == (5, 0)
        assert len(table(path)[Fake().task_id]["instance"]) == 25

    def test_closing_the_iterator_keeps_what_was_stored(self, tmp_path):
        path = tmp_path / "s.sqlite"
        steps = iter_collect(STUDY, path)
        for _ in range(4):
            progress = next(steps)
        steps.close()
        with Store(path) as store:
            assert sum(status.rows for status in store.status()) == progress.rows > 0
            assert not store.tasks()[-1].is_finished
        collect(STUDY, path)
        assert table(path) == undisturbed(tmp_path, STUDY)

    def test_wrong_calls_are_refused(self, tmp_path):
        with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="at most one"):
            collect(STUDY, tmp_path / "s.sqlite", executor=pool, workers=1)
        with pytest.raises(ValueError, match="same task twice"):
            collect([Fake(), Fake()], tmp_path / "s.sqlite")
        with pytest.raises(ValueError, match="workers=0"):
            collect(STUDY, tmp_path / "s.sqlite", workers=0)


class TestStopRules:
    def test_precision_is_decided_on_the_first_instances(self, tmp_path):
        rule = Stop(5000, relative_error=0.2, statistic="geometric_mean")
        found = undisturbed(tmp_path, [Fake(stop=rule)])
        size = len(found[Fake().task_id]["instance"])
        with Store(tmp_path / "undisturbed.sqlite") as store:
            assert store.tasks()[0].is_finished
        # The log-normal has sigma 1: 1.96/sqrt(k) = 0.2 at k = 96.
        assert size in rule.checkpoints()
        assert 60 <= size <= 160
        for k, workers in enumerate([2, 4]):
            path = tmp_path / f"{k}.sqlite"
            collect([Fake(stop=rule)], path, workers=workers)
            assert table(path) == found

    def test_censored_instances_do_not_end_a_task_early(self, tmp_path):
        rule = Stop(200, relative_error=0.2, statistic="median")
        found = undisturbed(tmp_path, [Fake(stop=rule, limit=20)])  # 84 % are censored
        (rows,) = found.values()
        assert len(rows["instance"]) == 200

    def test_time_ends_a_task_and_is_marked(self, tmp_path):
        rule = Stop(1000, seconds=0.05)
        end = collect([Fake(stop=rule, pause=0.002)], tmp_path / "s.sqlite")
        assert not end.is_reproducible
        assert 10 < end.rows < 1000
        assert end.is_complete

    @pytest.mark.parametrize(
        "settings",
        [
            {"instances": 0},
            {"instances": 5, "relative_error": -1},
            {"instances": 5, "seconds": 0},
            {"instances": 5, "statistic": "mode"},
            {"instances": 5, "confidence": 1},
        ],
    )
    def test_bad_rules_are_refused(self, settings):
        with pytest.raises(ValueError, match=f"^{list(settings)[-1]}="):
            Stop(**settings)


class TestWorkers:
    def test_the_same_table_for_any_number_of_workers(self, tmp_path):
        expected = undisturbed(tmp_path, STUDY)
        for workers in (1, 2, 4):
            path = tmp_path / f"{workers}.sqlite"
            assert collect(STUDY, path, workers=workers).is_complete
            assert table(path) == expected

    def test_real_instances_are_the_same_in_other_processes(self, tmp_path):
        families = [
            ("random_loops", {"n": 20, "frustration": "1/5", "loop_density": "0.45"}),
            (
                "structured_loops",
                {"n": 12, "frustration": "1/5", "block": "0.3", "loop_density": 3},
            ),
        ]
        tasks = [Task(method, family, stop=Stop(60)) for method, family in families]
        collect(tasks, tmp_path / "here.sqlite")
        collect(tasks, tmp_path / "there.sqlite", workers=2)
        assert table(tmp_path / "there.sqlite") == table(tmp_path / "here.sqlite")

    def test_a_thread_pool_will_do(self, tmp_path):
        with ThreadPoolExecutor(3) as pool:
            assert collect(STUDY, tmp_path / "s.sqlite", executor=pool).is_complete
        assert table(tmp_path / "s.sqlite") == undisturbed(tmp_path, STUDY)

    def test_a_worker_that_is_killed_costs_nothing_but_time(self, tmp_path):
        tasks = [Fake(stop=Stop(40), trouble="die", folder=str(tmp_path), times=2, pause=0.001)]
        end = collect(tasks, tmp_path / "s.sqlite", workers=2)
        assert end.is_complete
        assert len(list(tmp_path.glob("trouble-*"))) == 2
        assert table(tmp_path / "s.sqlite") == undisturbed(tmp_path, [Fake(stop=Stop(40))])

    def test_a_worker_that_hangs_is_replaced(self, tmp_path):
        tasks = [Fake(stop=Stop(40), trouble="hang", folder=str(tmp_path)), *STUDY[1:]]
        end = collect(tasks, tmp_path / "s.sqlite", workers=2, timeout=15.0)
        assert end.is_complete
        assert len(list(tmp_path.glob("trouble-*"))) == 1  # it would hang for 1,000 seconds
        assert table(tmp_path / "s.sqlite") == undisturbed(
            tmp_path, [Fake(stop=Stop(40)), *STUDY[1:]]
        )

    @pytest.mark.parametrize("trouble", ["raise", "die"])
    def test_a_batch_that_always_fails_is_reported_and_the_study_goes_on(self, tmp_path, trouble):
        bad = Fake(seed=9, stop=Stop(20), trouble=trouble, at=0, times=99, folder=str(tmp_path))
        end = collect([bad, *STUDY], tmp_path / "s.sqlite", workers=2)
        assert not end.is_complete
        (lost,) = end.lost
        assert (lost.task_id, lost.first) == (bad.task_id, 0)
        assert ("ArithmeticError" if trouble == "raise" else "Broken") in lost.error
        expected = undisturbed(tmp_path, STUDY)
        found = table(tmp_path / "s.sqlite")
        for task_id, rows in expected.items():
            assert found[task_id] == rows
        # The next run tries what was lost.
        again = collect([Fake(seed=9, stop=Stop(20)), *STUDY], tmp_path / "s.sqlite", workers=1)
        assert again.is_complete

    def test_exceptions_in_this_process_are_retried_and_reported_too(self, tmp_path):
        tasks = [Fake(stop=Stop(20), trouble="raise", times=2, folder=str(tmp_path))]
        assert collect(tasks, tmp_path / "s.sqlite").is_complete
        assert len(list(tmp_path.glob("trouble-*"))) == 2

    def test_a_foreign_pool_that_breaks_says_so_and_keeps_the_rest(self, tmp_path):
        import multiprocessing

        tasks = [STUDY[0], Fake(seed=5, stop=Stop(30), trouble="die", folder=str(tmp_path))]
        path = tmp_path / "s.sqlite"
        context = multiprocessing.get_context("spawn")
        with (
            ProcessPoolExecutor(1, mp_context=context) as pool,
            pytest.raises(RuntimeError, match="run again"),
        ):
            collect(tasks, path, executor=pool)
        collect(tasks, path)
        assert table(path) == undisturbed(tmp_path, [STUDY[0], Fake(seed=5, stop=Stop(30))])


CHILD = """
from glasshouse.store import Stop, collect
from tests.store.synthetic import Fake
if __name__ == "__main__":
    tasks = [Fake(seed=s, stop=Stop(150), pause={pause}) for s in (1, 2, 3)]
    collect(tasks, {path!r}, workers={workers})
"""


def rows_of(path: Path) -> int:
    """How many rows a store has by now; none before it is whole."""
    try:
        with Store(path) as store:
            return sum(status.rows for status in store.status())
    except (StoreError, OSError):
        return 0


def has_got_far(child: Child, work: float, path: Path, before: int) -> bool:
    return child.busy_seconds() >= work or rows_of(path) > before


def kill_at_random(path: Path, workers: int | None, kills: int, seed: int) -> int:
    """Run the child and kill it, every other time amid its work; returns the rows before the end.

    A pause after each instance makes the work longer than all killed runs together: each of them is
    killed at the latest when it has stored new rows. The last run has no pause.
    """
    script = path.with_suffix(".py")
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
    chance = random.Random(seed)
    for number in range(kills):
        script.write_text(CHILD.format(path=str(path), workers=workers, pause=0.1))
        child = start([sys.executable, script], env=environment)
        before = rows_of(path)
        # Every other time, anywhere from the first import to the first rows. Processor time alone
        # would not bound the wait, because a child that pauses uses none.
        work = math.inf if number % 2 else chance.uniform(0.05, 0.5)
        until(partial(has_got_far, child, work, path, before), child)
        child.kill()
        child.wait()
    rows = rows_of(path)
    script.write_text(CHILD.format(path=str(path), workers=workers, pause=0.0))
    assert run([sys.executable, script], env=environment).returncode == 0
    return rows


def test_killed_ten_times_it_ends_with_the_undisturbed_table(tmp_path):
    tasks = [Fake(seed=s, stop=Stop(150)) for s in (1, 2, 3)]
    assert 0 < kill_at_random(tmp_path / "s.sqlite", None, 11, seed=1) < 450
    assert table(tmp_path / "s.sqlite") == undisturbed(tmp_path, tasks)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_killed_with_workers_it_ends_with_the_undisturbed_table(tmp_path, seed):
    tasks = [Fake(seed=s, stop=Stop(150)) for s in (1, 2, 3)]
    kill_at_random(tmp_path / "s.sqlite", 2, 12, seed)
    assert table(tmp_path / "s.sqlite") == undisturbed(tmp_path, tasks)


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_measured_and_leaves_nobody_behind(tmp_path):
    path = tmp_path / "s.sqlite"
    script = path.with_suffix(".py")
    script.write_text(CHILD.format(path=str(path), workers=2, pause=0.007).replace("150", "5000"))
    child = start([sys.executable, script], env=os.environ | {"PYTHONPATH": str(Path.cwd())})
    until(lambda: rows_of(path), child)
    child.send_signal(signal.SIGINT)
    _, words = child.heard()
    assert words.strip().endswith("KeyboardInterrupt")
    assert words.count("Traceback") == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s.py", "s.sqlite"]
    table(path)
    assert child.family() == {}


def test_a_script_without_a_main_guard_is_told_so(tmp_path):
    script = tmp_path / "careless.py"
    text = CHILD.format(path=str(tmp_path / "s.sqlite"), workers=1, pause=0.007)
    script.write_text(text.replace('if __name__ == "__main__":', "if True:"))
    ran = run([sys.executable, script], env=os.environ | {"PYTHONPATH": str(Path.cwd())})
    assert ran.returncode != 0
    assert "__main__" in ran.stderr.splitlines()[-1]


def test_a_second_coordinator_is_refused(tmp_path):
    path = tmp_path / "s.sqlite"
    steps = iter_collect(STUDY, path)
    next(steps)
    with pytest.raises(StoreError, match="another process"):
        collect(STUDY, path)
    steps.close()


class TestDask:
    def test_a_real_cluster_gives_the_same_table_also_when_a_worker_is_killed(self, tmp_path):
        distributed = pytest.importorskip("distributed")
        expected = undisturbed(tmp_path, STUDY)
        options = {"n_workers": 2, "threads_per_worker": 1, "processes": True,
                   "dashboard_address": None}  # fmt: skip
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            executor = client.get_executor()
            assert collect(STUDY, tmp_path / "calm.sqlite", executor=executor).is_complete
            assert table(tmp_path / "calm.sqlite") == expected
            tasks = [*STUDY[:1], Fake(seed=2, stop=Stop(45), trouble="die", folder=str(tmp_path)),
                     STUDY[2]]  # fmt: skip
            assert collect(tasks, tmp_path / "s.sqlite", executor=executor).is_complete
        assert len(list(tmp_path.glob("trouble-*"))) == 1
        assert table(tmp_path / "s.sqlite") == expected


@pytest.mark.parametrize("measures", ["hardness", "shapes", "excitations"])
def test_the_first_rows_do_not_carry_the_compilation(measures, tmp_path):
    # Without a warm-up row 0 alone takes some ten times as long as all the others.
    family = {"n": 7, "frustration": 0.15, "loop_density": 1, "block": "1/2"}
    task = Task("structured_loops", family, measures, stop=Stop(60))
    collect([task], tmp_path / "s.sqlite", workers=1)
    with Store(tmp_path / "s.sqlite") as store:
        seconds = store.rows(store.tasks()[0], ["seconds"])["seconds"]
    assert seconds[:2].max() < seconds[2:].sum()
