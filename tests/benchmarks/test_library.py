"""The run that proves the standard instances: it can be killed, and trusts only the checker."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.library import Table, found_instances, judged, main
from tests.children import start, until
from tests.library.standard_like import matrix, torus, written

from benchmarks import library, library_search
from glasshouse.certificates import Proven
from glasshouse.files import read, read_certificate, write_if_better
from glasshouse.library.table import parsed
from glasshouse.proofs import prove
from glasshouse.solvers import brute_force

ROOT = Path(__file__).parents[2]


@pytest.fixture
def place(tmp_path, request, monkeypatch):
    if "apart" not in request.node.name:  # starting processes takes seconds
        monkeypatch.setattr(library, "searched", library_search.told)
    torus(tmp_path / "instances" / "gset", "T6.txt", 6, seed=1)
    torus(tmp_path / "instances" / "gset", "T4.txt", 4, seed=2)
    matrix(tmp_path / "instances" / "biqmac" / "be", "be12.1.sparse", 12, seed=3)
    return tmp_path


def words(place: Path, limit: float = 20) -> list[str]:
    return [
        "--instances", str(place / "instances"), "--time-limit", str(limit),
        "--results", str(place / "table.csv"), "--certificates", str(place / "certificates"),
    ]  # fmt: skip


def rows(place: Path) -> dict[str, dict[str, str]]:
    lines = (place / "table.csv").read_text().splitlines()
    return {row["name"]: row for row in csv.DictReader(lines)}


def hard(place: Path) -> Path:
    """A dense graph that no short search closes."""
    rng = np.random.default_rng(1)
    edges = [f"{i} {j} {rng.integers(-50, 51)}" for j in range(2, 121) for i in range(1, j)]
    return written(place / "instances" / "hard" / "K120", [f"120 {len(edges)}", *edges])


def test_every_row_has_a_certificate_that_the_checker_accepts(place, capsys):
    assert main(words(place)) == 0
    found = rows(place)
    assert set(found) == {"T4", "T6", "be12.1"}
    table = {k.name: k for k in parsed((place / "table.csv").read_text().splitlines())}
    for k in found_instances(place / "instances"):
        row = found[k.name]
        file = place / "certificates" / k.family.replace(":", "/") / f"{k.name}.cert"
        content = file.read_bytes()
        assert hashlib.sha256(content).hexdigest() == row["certificate"]
        assert len(content) == int(row["bytes"])
        value, bound = judged(k.path, file)
        assert row["proven"] == "yes"
        assert str(value) == str(bound) == row["value"] == row["bound"]
        assert table[k.name].fingerprint == k.fingerprint
    assert found["T6"]["family"] == "gset"
    assert found["be12.1"]["family"] == "biqmac:be"
    before, time_of = (place / "table.csv").read_bytes(), file.stat().st_mtime_ns
    capsys.readouterr()
    assert main(words(place, 40)) == 0  # proven instances are skipped, with any limit
    assert "3 instances, 0 to try" in capsys.readouterr().out
    assert ((place / "table.csv").read_bytes(), file.stat().st_mtime_ns) == (before, time_of)


def test_names_and_families_choose(place):
    assert main([*words(place), "T4", "biqmac"]) == 0
    assert set(rows(place)) == {"T4", "be12.1"}


def test_a_run_resumes_from_the_published_table(tmp_path):
    published = ROOT / "docs" / "library" / "instances.csv"
    copy = tmp_path / "table.csv"
    copy.write_bytes(published.read_bytes())
    with published.open(newline="") as file:
        names = {row["name"] for row in csv.DictReader(file)}
    assert set(Table(copy).rows) == names


def test_open_instances_are_tried_again_only_with_a_longer_limit(place, capsys):
    hard(place)
    assert main([*words(place, 0.5), "K120"]) == 0
    first = rows(place)["K120"]
    assert first["proven"] == "no"
    assert int(first["bound"]) > int(first["value"])
    assert main([*words(place, 0.5), "K120"]) == 0
    assert "1 instances, 0 to try" in capsys.readouterr().out
    assert main([*words(place, 0.6), "K120"]) == 0
    second = rows(place)["K120"]
    assert float(second["seconds"]) > float(first["seconds"])  # the seconds of all searches
    assert int(second["bound"]) <= int(first["bound"])
    assert second["limit"] == "0.6"


def test_a_certificate_that_the_checker_refuses_makes_no_row(place, monkeypatch, capsys):
    def refused(*_):
        raise ValueError("the stand-alone checker says: REFUSED")

    monkeypatch.setattr(library, "judged", refused)
    assert main([*words(place), "T4"]) == 1
    assert "T4: failed, the stand-alone checker says: REFUSED" in capsys.readouterr().out
    assert not (place / "table.csv").exists()


def test_a_checker_that_finds_another_value_makes_no_row(place, monkeypatch, capsys):
    monkeypatch.setattr(library, "judged", lambda *_: (1, 1))
    assert main([*words(place), "T4"]) == 1
    assert "where the stand-alone checker finds 1 and 1" in capsys.readouterr().out
    assert not (place / "table.csv").exists()


def test_a_damaged_certificate_is_made_anew(place):
    assert main([*words(place), "T4"]) == 0
    good = rows(place)["T4"]
    (place / "table.csv").unlink()
    file = place / "certificates" / "gset" / "T4.cert"
    file.write_bytes(file.read_bytes()[:40])
    assert main([*words(place), "T4"]) == 0
    assert rows(place)["T4"]["certificate"] == good["certificate"]


def test_a_lost_row_comes_back_with_its_cost(place):
    assert main([*words(place), "T6"]) == 0
    good = rows(place)["T6"]
    (place / "table.csv").unlink()  # killed after the certificate, before the row
    assert main([*words(place), "T6"]) == 0
    assert rows(place)["T6"] == good


def test_another_instance_under_the_same_name_is_refused(place):
    assert main([*words(place), "T4"]) == 0
    torus(place / "instances" / "gset", "T4.txt", 4, seed=5)
    with pytest.raises(SystemExit, match=r"T4 in .* is another instance"):
        main([*words(place), "T4"])


def test_packed_files_are_judged_too(place):
    path = place / "instances" / "gset" / "T4.txt"
    path.with_suffix(".txt.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert main([*words(place), "T4"]) == 0
    assert rows(place)["T4"]["proven"] == "yes"


def test_two_runs_do_not_write_one_table(place):
    import fcntl

    with (place / "table.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(SystemExit, match="another run writes this table"):
            main(words(place))


def test_searches_are_done_apart_and_a_killed_run_goes_on(place):
    """SIGKILL amid a search: the search stops by itself, and the next run uses its certificate."""
    hard(place)
    run = start([sys.executable, "-m", "benchmarks", "library", *words(place, 600)], cwd=ROOT)
    until(lambda: len(_lines(place)) == 4, run)  # a head and all rows but that of the hard one
    until(lambda: any("K120" in command for command in run.family().values()), run)
    run.kill()
    run.wait()
    until(lambda: not run.family())
    assert set(rows(place)) == {"T4", "T6", "be12.1"}
    assert main([*words(place, 0.5)]) == 0
    assert set(rows(place)) == {"T4", "T6", "be12.1", "K120"}


def test_a_search_apart_that_fails_makes_no_row(place, capsys, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert main([*words(place), "T4"]) == 1
    assert "T4: failed, exit code 1" in capsys.readouterr().out


def _lines(place: Path) -> list[str]:
    file = place / "table.csv"
    return file.read_text().splitlines() if file.exists() else []


def test_the_limit_is_in_processor_seconds(place, monkeypatch):
    """A slow clock of the processor, as on a busy computer, makes the search continue."""
    path = hard(place)
    limits = []
    real = library_search.prove

    def recorded(problem, *, time_limit, **others):
        limits.append(time_limit)
        return real(problem, time_limit=0.1, **others)

    monkeypatch.setattr(library_search, "prove", recorded)
    clock = iter(np.arange(0, 100, 0.25))
    monkeypatch.setattr(library_search.time, "process_time", lambda: float(next(clock)))
    work = library_search.search(read(path), place / "x.cert", 2)
    assert limits[0] == 2
    assert 2 * 0.95 <= work.seconds <= 100
    kept = json.loads((place / "x.work.json").read_text())
    assert kept == [work.seconds, work.nodes]


@pytest.mark.parametrize("kind", ["graph", "matrix"])
def test_the_state_of_an_open_instance_gets_better(place, kind):
    """The state is that of all spins up; the bound must stay."""
    matrix = place / "instances" / "biqmac" / "be" / "be12.1.sparse"
    problem, path = read(hard(place) if kind == "graph" else matrix), place / "open.cert"
    bound = prove(problem, time_limit=1e-6).certificate
    weak = Proven(problem, replace(bound, state=np.ones(problem.num_variables, np.int8)))
    write_if_better(path, weak)
    assert not weak.verdict.optimal
    work = library_search.Work(path)
    library_search.improve_state(weak, path, work, 0.5)
    better = Proven(problem, read_certificate(path)).verdict
    assert better.energy < weak.verdict.energy
    assert better.lower_bound == weak.verdict.lower_bound
    assert work.seconds > 0
    if kind == "matrix":
        assert better.energy == brute_force(problem).energy


def test_states_that_are_not_better_change_nothing(place, monkeypatch):
    problem, path = read(hard(place)), place / "open.cert"
    weak = Proven(problem, prove(problem, time_limit=1e-6).certificate)
    found = SimpleNamespace(energy=weak.verdict.energy, state=None)
    monkeypatch.setattr(library_search, "minimise", lambda *words, **options: found)
    library_search.improve_state(weak, path, library_search.Work(path), 1)
    assert not path.exists()
    small = read(place / "instances" / "gset" / "T4.txt")
    monkeypatch.setattr(library_search, "minimise", None)  # not called
    proven = prove(small).proven
    assert proven.verdict.optimal
    library_search.improve_state(proven, path, library_search.Work(path), 1)


def test_the_table_survives_its_reading(place):
    assert main([*words(place), "T4"]) == 0
    table = Table(place / "table.csv")
    before = (place / "table.csv").read_bytes()
    table.put(table.rows["T4"])
    assert (place / "table.csv").read_bytes() == before
