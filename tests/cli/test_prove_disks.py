"""`prove` on a disk that is full and beside a /dev/shm that is read-only: real mounts, no patches.

The mounts are in a private mount namespace, and end with the child.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings

import pytest
from tests import children
from tests.proofs.trees.test_search import half_complete

import glasshouse as gh

# A checkpoint is due at once, instead of after ten seconds.
CHILD = """
import sys
from glasshouse.proofs import budget
budget._BETWEEN_CHECKPOINTS = 0.0
from glasshouse.cli import main
sys.exit(main(sys.argv[1:]))
"""
FULL = "mount -t tmpfs -o size=16k tmpfs full; dd if=/dev/zero of=full/fill bs=1k 2>/dev/null"
READ_ONLY = "mount -t tmpfs -o ro tmpfs /dev/shm"
CRAMPED = "mount -t tmpfs -o size=4k,nr_inodes=1 tmpfs /dev/shm"


def in_namespace(mounts: str) -> list[str]:
    """Return how to start a command after mounts that nobody else sees."""
    program = shutil.which("unshare")
    own = [] if hasattr(os, "geteuid") and os.geteuid() == 0 else ["--map-root-user"]
    return [program or "unshare", *own, "--mount", "sh", "-c", f'{mounts}; exec "$@"', "sh"]


@pytest.fixture(scope="module", autouse=True)
def _can_mount(tmp_path_factory):
    probe = in_namespace("mkdir -p full; mount -t tmpfs tmpfs full || exit 1")
    try:
        done = subprocess.run([*probe, "true"], cwd=tmp_path_factory.mktemp("probe"),
                              capture_output=True, text=True, check=False)  # fmt: skip
        reason = done.stderr.strip() if done.returncode else ""
    except OSError as fault:
        reason = str(fault)
    if reason:
        told = f"NOT TRIED, a full disk and a read-only /dev/shm: no private mounts ({reason})"
        warnings.warn(told, stacklevel=1)
        pytest.skip(told)


@pytest.fixture
def prove(tmp_path):
    gh.write(tmp_path / "x.coo", half_complete())
    (tmp_path / "full").mkdir()

    def run(mounts, *words):
        python = [sys.executable, "-c", CHILD, "prove", "x.coo", *words]
        done = children.run([*in_namespace(mounts), *python], cwd=tmp_path)
        lines = [line for line in done.stderr.splitlines() if not line.startswith("compiling ")]
        return done, lines

    return run


@pytest.mark.parametrize("workers", [[], ["--workers", "2"]])
def test_on_a_full_disk_the_answer_is_printed(prove, workers):
    done, lines = prove(FULL, "--certificate", "full/x.cert", *workers)
    assert done.returncode == 2
    assert "optimal      proven" in done.stdout
    assert "model" in done.stdout
    assert "is the certificate" not in done.stdout
    why = "full/x.cert: cannot be written (No space left on device)"
    assert lines[-1] == f"glasshouse: {why}"
    assert lines[:-1] == [f"warning: no checkpoint written: {why}; the search continues"]


def test_on_a_full_disk_the_answer_is_whole_json(prove):
    done, lines = prove(FULL, "--certificate", "full/x.cert", "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["optimal"], answer["certificate_written"]) == (2, True, False)
    assert len(lines) == 2


@pytest.mark.parametrize("mounts", [READ_ONLY, CRAMPED], ids=["read-only", "full"])
def test_without_shared_memory_one_process_searches(prove, tmp_path, mounts):
    done, lines = prove(mounts, "--certificate", "x.cert", "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert "optimal      proven" in done.stdout
    (line,) = lines
    assert line.startswith("workers=2: no worker can be started here")
    assert line.endswith("searching in this process instead")
    assert gh.verify_file(tmp_path / "x.coo", tmp_path / "x.cert").proven
