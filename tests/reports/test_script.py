"""The script of the charts is fetched in a separate process, whose crash does not end this one."""

from __future__ import annotations

import subprocess
import sys

import pytest

import glasshouse as gh
from glasshouse.reports import script

pytest.importorskip("vl_convert")


@pytest.fixture(autouse=True)
def _nothing_fetched():
    script._fetched.cache_clear()
    yield
    script._fetched.cache_clear()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit of address space")
@pytest.mark.parametrize("kilobytes", [4_000_000, 16_777_216])
def test_a_limit_of_address_space_costs_the_charts_and_not_the_page(tmp_path, kilobytes):
    gh.write(tmp_path / "x.npz", gh.random_loops(4, 4, frustration="1/5", loops=4, rng=1))
    words = [sys.executable, "-m", "glasshouse", "report", "x.npz", "-o", "x.html"]
    limited = ["sh", "-c", f'ulimit -v {kilobytes} && exec "$@"', "sh", *words]
    run = subprocess.run(limited, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    assert run.stderr.startswith("warning: tables instead of charts: the process that fetches")
    assert run.stderr.endswith("use `ulimit -v unlimited`\n")
    assert run.stderr.count("\n") == 1
    page = (tmp_path / "x.html").read_text()
    assert "Figures are shown as tables: the process that fetches" in page
    assert "is the optimum energy, proven by" in page
    assert page.count('data-rows="s1p') == page.count('<script type="application/json" id="s1p')
    assert 'class="plot"' not in page
    assert page.count("<script>") == 1


def test_the_script_is_fetched_once_and_stands_in_the_page(tmp_path, monkeypatch):
    plant = gh.random_loops(4, 4, frustration="1/5", loops=4, rng=1)
    gh.write(tmp_path / "x.npz", plant)
    gh.report(tmp_path / "x.npz", output=tmp_path / "first.html")
    monkeypatch.setattr(subprocess, "run", None)
    gh.report(tmp_path / "x.npz", output=tmp_path / "second.html", title="x")
    assert script.library() in (tmp_path / "first.html").read_text()
    assert script.library() in (tmp_path / "second.html").read_text()


@pytest.mark.parametrize(
    ("fetch", "words"),
    [("raise ValueError('no such version')", "failed (ValueError: no such version)"),
     ("import os; os.abort()", "was ended by SIGABRT"),
     ("raise SystemExit(3)", "failed (no reason given)")],
)  # fmt: skip
def test_a_process_that_fails_is_told_of_in_one_line(monkeypatch, fetch, words):
    monkeypatch.setattr(script, "_FETCH", fetch)
    with pytest.raises(OSError, match="the process that fetches the script of the charts") as told:
        script.library()
    assert f"the script of the charts {words}; V8 needs" in str(told.value)
    assert "\n" not in str(told.value)


def test_no_process_of_ours_starts_v8(tmp_path):
    """Python's own memory limit would not be noticed; a library that is loaded is."""
    code = (
        "import glasshouse as gh, sys\n"
        "from glasshouse.reports.script import library\n"
        "import vl_convert\n"
        "vl_convert.javascript_bundle = None\n"
        "print(len(library()) > 500_000)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert run.stdout == "True\n", run.stderr
