"""The SLURM job of the documentation loses no row, whatever ends it; a test plays sbatch's part."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest
from tests.children import kill_all, run, start, until
from tests.docs.pages import ROOT, blocks_of

from glasshouse.files.text.errors import FileError
from glasshouse.store import Store
from glasshouse.store.storefile import StoreError

PAGE = ROOT / "docs" / "howto" / "run-on-slurm.md"
ENDINGS = ("kill -9", "SIGTERM", "time-out")


def job_script(*, dask: bool) -> str:
    """Return the job of the page, with copies every second instead of every minute."""
    text = next(block.text for block in blocks_of(PAGE) if block.file == "job.sh")
    assert "sleep 60" in text
    text = text.replace("sleep 60", "sleep 1")
    if dask:
        return text
    assert ' --dask "$address"' in text
    kept = [
        line for line in text.splitlines() if not line.startswith(("dask ", "srun ", "address"))
    ]
    return "\n".join(kept).replace(' --dask "$address"', "") + "\n"


def submitted(folder: Path, *, dask: bool):
    """Start the job as sbatch would, with a study that no job could finish."""
    study = next(block.text for block in blocks_of(PAGE) if block.file == "peak.toml")
    (folder / "peak.toml").write_text(study.replace("instances = 50", "instances = 100_000"))
    (folder / "job.sh").write_text(job_script(dask=dask))
    commands, scratch = folder / "bin", folder / "local"
    commands.mkdir()
    scratch.mkdir()
    calls = {"glasshouse": "-m glasshouse", "dask": "-m dask"}
    for name, module in calls.items():
        (commands / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
    (commands / "srun").write_text('#!/bin/sh\nexec "$@"\n')
    for command in commands.iterdir():
        command.chmod(0o755)
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {
        "PATH": path, "TMPDIR": str(scratch), "SLURM_JOB_ID": str(os.getpid()),
    }  # fmt: skip
    return start(["bash", "job.sh"], cwd=folder, env=environment)


def rows_in(store: Path | None) -> int:
    try:
        with Store(store or "") as opened:
            return sum(one.rows for one in opened.status())
    except (FileError, StoreError):  # does not exist yet, or the job is still copying it
        return 0


def local_store(folder: Path) -> Path | None:
    return next((folder / "local").glob("*/peak.sqlite"), None)


def end(job, ending: str, *, dask: bool = False) -> None:
    """End the job in one of three ways; Dask may print what it likes when its processes end."""
    if ending == "kill -9":  # kill the study, as if memory ran out
        for process, words in job.family().items():
            if "study run" in words:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
    elif ending == "SIGTERM":  # scancel --full: to every process of the job
        for process in job.family():
            with contextlib.suppress(ProcessLookupError):  # it ended after the list was made
                os.kill(process, signal.SIGTERM)
    else:  # --signal=B:TERM@120: to the script only
        job.send_signal(signal.SIGTERM)
    _, errors = job.heard()
    kill_all(job.family)  # as the time limit does to the rest
    assert dask or "Traceback" not in errors, errors
    assert job.returncode in {137, 143}, errors


def try_to_lose_rows(folder: Path, ending: str, least: int, *, dask: bool = False) -> None:
    job = submitted(folder, dask=dask)
    until(lambda: rows_in(local_store(folder)) >= least, job)
    end(job, ending, dask=dask)
    stored = rows_in(local_store(folder))
    assert stored >= least
    assert rows_in(folder / "peak.sqlite") == stored


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_job_keeps_all_rows(tmp_path, ending):
    try_to_lose_rows(tmp_path, ending, 1)


@pytest.mark.slow
@pytest.mark.parametrize("attempt", range(20))
@pytest.mark.parametrize("ending", ENDINGS)
def test_the_job_keeps_all_rows_in_twenty_tries(tmp_path, ending, attempt):
    try_to_lose_rows(tmp_path, ending, 1 + 150 * attempt)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_the_job_with_dask_keeps_all_rows(tmp_path, ending):
    try_to_lose_rows(tmp_path, ending, 1, dask=True)


def test_the_copy_can_be_shown_while_the_job_runs_and_the_next_job_continues(tmp_path):
    job = submitted(tmp_path, dask=False)
    copy = tmp_path / "peak.sqlite"
    until(lambda: rows_in(copy), job)
    shown = run([sys.executable, "-m", "glasshouse", "study", "show", copy])
    assert shown.returncode == 0
    assert "instances" in shown.stdout
    assert job.poll() is None
    end(job, "time-out")
    before = rows_in(copy)
    (tmp_path / "local").rename(tmp_path / "first")
    again = tmp_path / "again"
    again.mkdir()
    copy.rename(again / "peak.sqlite")
    job = submitted(again, dask=False)
    until(lambda: rows_in(local_store(again)) > before, job)
    end(job, "SIGTERM")
    assert rows_in(again / "peak.sqlite") == rows_in(local_store(again)) > before
