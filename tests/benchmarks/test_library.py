"""The run that proves the standard instances: it can be killed, and believes the checker alone."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.library import Table, found_instances, judged, main
from tests.library.standard_like import matrix, torus, written

from benchmarks import library, library_search
from glasshouse.files import read
from glasshouse.library.table import parsed

ROOT = Path(__file__).parents[2]


@pytest.fixture
def place(tmp_path):
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
    edges = [f"{i} {j} {rng.integers(-50, 51)}" for j in range(2, 91) for i in range(1, j)]
    return written(place / "instances" / "hard" / "K90", [f"90 {len(edges)}", *edges])


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
    assert main(words(place, 40)) == 0  # what is proven is left out, whatever the limit
    assert "3 instances, 0 to try" in capsys.readouterr().out
    assert ((place / "table.csv").read_bytes(), file.stat().st_mtime_ns) == (before, time_of)


def test_names_and_families_choose(place):
    assert main([*words(place), "T4", "biqmac"]) == 0
    assert set(rows(place)) == {"T4", "be12.1"}


def test_open_instances_are_tried_again_only_with_a_longer_limit(place, capsys):
    hard(place)
    assert main([*words(place, 0.5), "K90"]) == 0
    first = rows(place)["K90"]
    assert first["proven"] == "no"
    assert int(first["bound"]) > int(first["value"])
    assert main([*words(place, 0.5), "K90"]) == 0
    assert "1 instances, 0 to try" in capsys.readouterr().out
    assert main([*words(place, 0.6), "K90"]) == 0
    second = rows(place)["K90"]
    assert float(second["seconds"]) > float(first["seconds"])  # of all searches
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


def test_a_killed_run_goes_on(place):
    """SIGKILL amid a search: the search stops by itself, and the next run uses its certificate."""
    hard(place)
    command = [sys.executable, "-m", "benchmarks", "library", *words(place, 600)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
        try:
            assert run.stdout is not None
            for line in run.stdout:
                if line.startswith("be12.1:"):
                    break  # the next one is the hard one
            search = _child_of(run.pid)
        finally:
            run.send_signal(signal.SIGKILL)
    assert set(rows(place)) == {"T4", "T6", "be12.1"}
    _wait_for_end(search)
    assert main([*words(place, 0.5)]) == 0
    assert set(rows(place)) == {"T4", "T6", "be12.1", "K90"}


def _child_of(parent: int) -> int:
    """The search that a run has started; its process appears at once."""
    children = Path(f"/proc/{parent}/task")
    while True:
        for task in children.iterdir():
            found = (task / "children").read_text().split()
            for child in found:
                if b"library_search" in Path(f"/proc/{child}/cmdline").read_bytes():
                    return int(child)


def _wait_for_end(process: int) -> None:
    """Wait until a process is gone that is not our child."""
    descriptor = os.pidfd_open(process) if Path(f"/proc/{process}").exists() else None
    if descriptor is not None:
        import select

        assert select.select([descriptor], [], [], 120)[0], "the search goes on without its run"
        os.close(descriptor)


def test_the_limit_is_in_processor_seconds(place, monkeypatch):
    """A slow clock of the processor, as on a busy computer, makes the search go on."""
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


def test_the_table_survives_its_reading(place):
    assert main([*words(place), "T4"]) == 0
    table = Table(place / "table.csv")
    before = (place / "table.csv").read_bytes()
    table.put(table.rows["T4"])
    assert (place / "table.csv").read_bytes() == before
