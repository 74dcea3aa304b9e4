"""Studies of any ensemble and any quantity: what they draw, and what they survive."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.children import run, start, until

import glasshouse as gh
from glasshouse.files.text.errors import FileError
from glasshouse.planting import Seed
from glasshouse.statistics.scaling import extrapolate
from glasshouse.store import Stop, Store, collect
from glasshouse.store.storefile import StoreError
from glasshouse.studies import Task, fit_study, merge, points_of
from glasshouse.studies.analysis import series_of
from glasshouse.studies.glasses import complete, lattice, random_graph
from glasshouse.studies.quantities.ground import Prover
from glasshouse.studies.quantities.own import Own
from glasshouse.studies.quantities.solution import Runs
from glasshouse.studies.quantities.thermal import Thermal
from glasshouse.studies.study import load_study, parse_study, study_of

GLASSES = """
name = "glasses"
measures = "ground"
figure = "L"
seed = 1
[stop]
instances = 8
[[family]]
method = "lattice"
grid = { L = [3, 4, 5] }
[[family]]
method = "lattice"
parameters = { L = 3, geometry = "cubic" }
"""

SIGNS = [-1, -1, -1, -1, 1, 1, 1, -1]
NORMALS = [-0.374267578125, -1.203765869140625, 0.009857177734375]


def degrees(problem) -> list[int]:
    return np.bincount(problem.edges.reshape(-1), minlength=problem.num_variables).tolist()


def rows_of(path: Path) -> list[tuple]:
    """All rows of a store without their times."""
    frame = gh.read_rows(path)
    kept = [name for name in frame.columns if name not in ("seconds", "version")]
    return sorted(map(str, frame.select(kept).rows()))


class TestLattices:
    @pytest.mark.parametrize(
        ("geometry", "size", "degree"),
        [("square", 16, 4), ("cubic", 64, 6), ("triangular", 16, 6), ("hexagonal", 32, 3)],
    )
    def test_periodic_ones_are_regular(self, geometry, size, degree):
        assert degrees(lattice(4, geometry=geometry, seed=Seed(1))) == [degree] * size

    @pytest.mark.parametrize("geometry", ["square", "triangular", "hexagonal"])
    def test_open_ones_are_a_part_of_periodic_ones(self, geometry):
        whole = set(map(tuple, lattice(5, geometry=geometry, seed=Seed(1)).edges.tolist()))
        part = lattice(5, geometry=geometry, boundary="open", seed=Seed(1))
        assert set(map(tuple, part.edges.tolist())) < whole

    def test_the_hexagonal_one_has_no_short_cycle(self):
        problem = lattice(5, geometry="hexagonal", seed=Seed(1))
        neighbours = {i: set() for i in range(problem.num_variables)}
        for i, j in problem.edges.tolist():
            neighbours[i].add(j)
            neighbours[j].add(i)
        for i, j in itertools.combinations(neighbours, 2):
            assert len(neighbours[i] & neighbours[j]) <= 1  # no square

    @pytest.mark.parametrize("geometry", ["chimera", "pegasus", "zephyr"])
    def test_chips_are_the_graphs_of_their_names(self, geometry):
        assert np.array_equal(
            lattice(2, geometry=geometry, seed=Seed(1)).edges, gh.Graph.parse(f"{geometry}:2").edges
        )

    def test_weights_fields_and_dilution(self):
        # 20,000 numbers; each bound is five standard errors, so a false alarm is below 10^-5.
        problem = lattice(
            100, couplings="normal", dilution="1/4", field="1/2", fields="bimodal", seed=Seed(2)
        )
        assert abs(problem.num_edges - 15_000) < 5 * np.sqrt(20_000 * 3 / 16)
        assert abs(problem.weights.mean()) < 5 / np.sqrt(15_000)
        assert abs(problem.weights.std() - 1) < 5 / np.sqrt(30_000)
        assert set(np.unique(problem.fields).tolist()) == {-0.5, 0.5}
        assert np.array_equal(problem.weights * 2**16, np.rint(problem.weights * 2**16))

    def test_seeds_keep_their_meaning(self):
        assert lattice(3, seed=Seed(1)).weights.tolist()[:8] == SIGNS
        assert lattice(3, couplings="normal", seed=Seed(1)).weights.tolist()[:3] == NORMALS

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"L": 2}, "too small"),
            ({"L": 4, "geometry": "round"}, "is not one of square"),
            ({"L": 4, "couplings": "cauchy"}, "is not one of bimodal"),
            ({"L": 4, "dilution": 1}, "below 1"),
            ({"L": 10**6}, "choose a smaller size"),
            ({"L": 4, "colour": 1}, "does not take colour"),
            ({}, "needs values for L"),
        ],
    )
    def test_bad_parameters_are_refused_before_anything_is_drawn(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            Task("lattice", parameters, "ground")


class TestRandomGraphs:
    @pytest.mark.parametrize(("n", "degree"), [(10, 3), (10, 9), (11, 4), (60, 7), (6, 0)])
    def test_regular_ones_are(self, n, degree):
        assert degrees(random_graph(n, degree=degree, seed=Seed(1))) == [degree] * n

    def test_others_have_their_number_of_edges(self):
        assert random_graph(50, degree="2.4", regular=False, seed=Seed(1)).num_edges == 60
        assert complete(7, seed=Seed(1)).num_edges == 21

    def test_an_odd_number_of_stubs_is_refused(self):
        with pytest.raises(ValueError, match="regular=false"):
            random_graph(5, degree=3)


class TestQuantities:
    def test_ground_energies_are_those_of_enumeration(self):
        task = Task("lattice", {"L": 4}, "ground", Prover(), stop=Stop(5))
        rows = task.measure(0, 5)
        exact = [gh.low_energy_states(task.problem(k), 1).energies[0] for k in range(5)]
        assert rows["energy"].tolist() == exact
        assert rows["proven"].all()
        assert not rows["gap"].any()

    def test_levels_are_those_of_all_states(self):
        task = Task("random-graph", {"n": 8, "degree": 3}, "levels")
        rows = task.measure(0, 4)
        states = np.array([*itertools.product((-1, 1), repeat=8)], dtype=np.int8)
        for k in range(4):
            energies = np.sort(task.problem(k).energy(states))
            levels, counts = np.unique(energies, return_counts=True)
            assert rows["ground_states"][k] == counts[0]
            assert rows["gap"][k] == levels[1] - levels[0]

    @pytest.mark.parametrize("algorithm", ["anneal", "temper"])
    def test_time_to_solution_has_a_proven_target(self, algorithm):
        runs = Runs(algorithm, sweeps=50, runs=64, beta=("0.3", 3))
        rows = Task("lattice", {"L": 4}, "solution", runs).measure(0, 2)
        assert rows["proven"].all()
        assert rows["solved"].all()
        assert (rows["sweeps"] > 0).all()

    def test_all_temperatures_share_their_samples(self):
        one, two = Thermal(beta=(1, "0.5"), sweeps=100, runs=4).each()
        assert one.ladder == two.ladder == ("1/2", "1")
        tasks = [Task("lattice", {"L": 3}, "thermal", solver) for solver in (one, two)]
        together = gh.sample(
            tasks[0].problem(0), [0.5, 1.0], sweeps=100, runs=4, rng=1
        )  # another seed: the same averages within a few errors
        for task, estimate in zip(tasks, together.energy(0.9999), strict=True):
            measured = task.measure(0, 1)["energy_per_spin"][0]
            assert abs(9 * measured - estimate.value) < 2 * (estimate.high - estimate.value)

    def test_planted_quantities_refuse_other_families(self):
        with pytest.raises(ValueError, match="needs planted instances"):
            Task("lattice", {"L": 4})


class TestStudies:
    def test_killed_resumed_split_and_merged_it_has_the_same_rows(self, tmp_path):
        """The store of one run; a run that is killed twice; two parts, merged."""
        file = tmp_path / "glasses.toml"
        file.write_text(GLASSES)
        command = [sys.executable, "-m", "glasshouse", "study", "run", file]
        killed = tmp_path / "killed.sqlite"
        for least in (1, 9):
            child = start([*command, "-o", killed])
            until(lambda least=least: _count(killed) >= least, child)
            child.kill()
            child.wait()
        assert run([*command, "-o", killed]).returncode == 0
        tasks = load_study(file).tasks
        assert collect(tasks, tmp_path / "once.sqlite").is_complete
        parts = [tmp_path / "part1.sqlite", tmp_path / "part2.sqlite"]
        for number, part in enumerate(parts, start=1):
            collect(load_study(file).part(number, 2).tasks, part)
        merge(tmp_path / "merged.sqlite", parts)
        once = rows_of(tmp_path / "once.sqlite")
        assert len(once) == 32
        assert rows_of(killed) == rows_of(tmp_path / "merged.sqlite") == once

    def test_means_are_extrapolated_in_one_over_the_size(self, tmp_path):
        study = parse_study(GLASSES)
        with pytest.raises(ValueError, match="2 sizes are too few"):
            extrapolate([4, 5], [1, 1], [1, 1])
        collect(study.tasks[:3], tmp_path / "glasses.sqlite")
        with Store(tmp_path / "glasses.sqlite") as store:
            fits = fit_study(store, study)
            values = [point.estimate.value for point in points_of(store, "mean")]
        (limit,) = fits.limits.values()
        assert limit.limit.low < np.mean(values) * 1.2 < limit.limit.high
        assert "limit" in fits.summary()

    def test_series_name_the_defaults_that_others_change(self, tmp_path):
        tasks = [
            Task("lattice", parameters, "ground", stop=Stop(2))
            for parameters in ({"L": 3}, {"L": 3, "geometry": "cubic"})
        ]
        collect(tasks, tmp_path / "two.sqlite")
        with Store(tmp_path / "two.sqlite") as store:
            series = series_of(points_of(store, "mean"), "L")
        assert [one.label for one in series] == ["geometry = square", "geometry = cubic"]

    def test_a_column_that_does_not_exist_is_refused_before_the_run(self, tmp_path):
        file = tmp_path / "glasses.toml"
        file.write_text(GLASSES.replace("[stop]", 'value = "heat"\n[stop]', 1))
        with pytest.raises(ValueError, match=r"glasses\.toml: value='heat' is not one of proven, "):
            load_study(file)

    def test_nothing_to_fit_is_a_refusal(self, tmp_path):
        study = parse_study(GLASSES)
        path = tmp_path / "glasses.sqlite"
        collect([study.tasks[0]], path)
        done = run([sys.executable, "-m", "glasshouse", "study", "fit", path, "--axis", "L"])
        assert done.returncode == 1
        assert "nothing could be fitted" in done.stderr
        assert done.stderr.count("\n") == 1

    def test_a_folder_with_a_broken_file_keeps_the_others(self, tmp_path):
        folder = tmp_path / "instances"
        folder.mkdir()
        for k in range(3):
            gh.write(folder / f"glass{k}.coo", lattice(3, seed=Seed(k)))
        (folder / "broken.coo").write_text("0 1 nonsense\n")
        task = Task("files", {"folder": str(folder)}, "ground", stop=Stop(100))
        assert task.stop.instances == 4
        done = collect([task], tmp_path / "files.sqlite")
        assert done.rows == 3
        assert [lost.count for lost in done.lost] == [1]
        assert "broken.coo" in done.lost[0].error
        (folder / "glass0.coo").write_text("0 1 1\n")
        changed = Task("files", {"folder": str(folder)}, "ground")
        assert changed.task_id == task.task_id  # one process lists a folder once
        with pytest.raises(ValueError, match="is not a folder"):
            Task("files", {"folder": str(tmp_path / "none")}, "ground")


MINE = """
import time
import glasshouse as gh

def ring(rng, n):
    return gh.Ising.from_edges(n, [(k, (k + 1) % n) for k in range(n)], rng.choice([-1, 1], n))

def both(problem, rng):
    return {"negative": int((problem.weights < 0).sum()), "draw": rng.random()}

def trouble(problem, rng):
    negative = int((problem.weights < 0).sum())
    if negative == 1:
        raise RuntimeError("two\\nlines")
    if negative == 2:
        return float("nan")
    if negative == 3:
        time.sleep(100_000)
    return negative
"""


class TestFunctionsOfTheUser:
    def write(self, folder: Path, measures: str, columns: str = "") -> Path:
        (folder / "mine.py").write_text(MINE)
        study = folder / "own.toml"
        study.write_text(
            f'name = "own"\nmeasures = "{measures}"\n[solver]\n{columns}\n[stop]\ninstances = 12\n'
            '[[family]]\nmethod = "mine:ring"\nparameters = { n = 4 }\n'
        )
        return study

    def test_rows_depend_on_the_instance_alone(self, tmp_path):
        study = self.write(tmp_path, "mine:both", 'columns = ["negative", "draw"]')
        command = [sys.executable, "-m", "glasshouse", "study", "run", study]
        for name in ("one.sqlite", "two.sqlite"):
            done = run([*command, "-o", tmp_path / name, "--workers", "2"])
            assert done.returncode == 0, done.stderr
        assert rows_of(tmp_path / "one.sqlite") == rows_of(tmp_path / "two.sqlite")
        frame = gh.read_rows(tmp_path / "one.sqlite")
        assert len(set(frame["draw"])) == 12
        with Store(tmp_path / "one.sqlite") as store:
            (point,) = points_of(store, "mean")
            assert point.estimate.value == pytest.approx(frame["negative"].mean())

    def test_trouble_loses_its_own_rows_only(self, tmp_path):
        study = self.write(tmp_path, "mine:trouble")
        path = tmp_path / "own.sqlite"
        done = run([sys.executable, "-m", "glasshouse", "study", "run", study, "-o", path,
                    "--batch-time-limit", "3"])  # fmt: skip
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert "failed in every attempt" in done.stderr
        kept = gh.read_rows(path)["value"].to_list()
        assert set(kept) <= {0, 4}
        task = study_of_file(study, tmp_path).tasks[0]
        negative = [int((task.grow(k).weights < 0).sum()) for k in range(12)]
        assert {1, 2, 3} <= set(negative)  # all kinds of trouble happened
        assert sorted(kept) == sorted(n for n in negative if n in {0, 4})

    def test_a_missing_function_is_one_line(self, tmp_path):
        study = self.write(tmp_path, "mine:nothing")
        done = run([sys.executable, "-m", "glasshouse", "study", "run", study, "-o",
                    tmp_path / "own.sqlite"])  # fmt: skip
        assert done.returncode != 0
        assert done.stderr.count("\n") == 1
        assert "mine:nothing cannot be imported" in done.stderr

    def test_a_store_imports_nothing(self, tmp_path, monkeypatch):
        """A store from an untrusted source can name any function of any module."""
        path = tmp_path / "own.sqlite"
        task = Task("antigravity:fly", {"n": 3}, "antigravity:geohash", Own())
        with Store(path, write=True) as store:
            (stored,) = store.add_tasks([task])
            store.add_batch(stored, 0, {"value": np.ones(3), "seconds": np.ones(3)})
        with Store(path) as store:
            assert study_of(store).tasks[0] == task
            points_of(store, "mean")
        assert "antigravity" not in sys.modules

    @pytest.mark.parametrize("columns", [[], ["a", "a"], [1], "Value", ["drop table"]])
    def test_bad_columns_are_refused(self, columns):
        with pytest.raises(ValueError, match=r"columns|cannot name|repeated"):
            Task("mine:ring", {}, "mine:both", Own(columns))


def study_of_file(study: Path, folder: Path):
    sys.path.insert(0, str(folder))
    try:
        sys.modules.pop("mine", None)
        return load_study(study)
    finally:
        sys.path.remove(str(folder))


def _count(path: Path) -> int:
    try:
        with Store(path) as store:
            return sum(one.rows for one in store.status())
    except (FileError, StoreError):
        return 0
