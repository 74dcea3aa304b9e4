"""A lack of memory is reported as such: the file is not called damaged."""

from __future__ import annotations

import multiprocessing.synchronize
import subprocess
import sys

import numpy as np
import pytest
from tests.store.synthetic import Fake

from glasshouse.cli import main
from glasshouse.pool import WorkerPool
from glasshouse.store import Store, collect, schema

LIMITED = """
import resource, sys
import glasshouse as gh
from glasshouse.boltzmann.model_files import load_machine
from pathlib import Path

folder = Path(sys.argv[1])
load_machine(folder / "small.npz")
gh.read(folder / "small.npy", units="spin")
pages = int(Path("/proc/self/statm").read_text().split()[0])
most = pages * resource.getpagesize() + (16 << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
for name, read in (
    ("large.npz", load_machine),
    ("large.npz", lambda path: gh.read(path)),
    ("large.npy", lambda path: gh.read(path, units="spin")),
):
    try:
        read(folder / name)
    except MemoryError as error:
        print(str(error).split(" (")[0].replace(str(folder) + "/", ""))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it limits its own address space")
def test_files_that_do_not_fit_into_memory_are_not_called_broken(tmp_path):
    for name, size in (("small", 3), ("large", 2500)):
        weights = np.arange(float(size * size)).reshape(size, size) + 0.5
        biases = np.zeros(size)
        np.savez(tmp_path / f"{name}.npz", weights=weights, visible_bias=biases,
                 hidden_bias=biases, units=np.array("spin"))  # fmt: skip
        np.save(tmp_path / f"{name}.npy", weights)
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, timeout=600
    )
    assert run.stdout.splitlines() == [
        "large.npz: there is not enough memory to read it",
        "large.npz: there is not enough memory to read it",
        "large.npy: there is not enough memory to read it",
    ], run.stderr


def test_a_store_that_does_not_fit_into_memory_is_not_called_damaged(tmp_path, monkeypatch, capsys):
    collect([Fake()], tmp_path / "s.sqlite")

    def lacking(database: object) -> None:
        raise MemoryError

    monkeypatch.setattr(schema, "read_kinds", lacking)
    with pytest.raises(MemoryError, match=r"s\.sqlite: there is not enough memory to read it"):
        Store(tmp_path / "s.sqlite")
    assert main(["study", "show", str(tmp_path / "s.sqlite")]) == 2
    assert capsys.readouterr().err.endswith("s.sqlite: there is not enough memory to read it\n")


@pytest.mark.parametrize(("number", "words"), [(30, "Read-only file system"), (13, "Permission")])
def test_shared_memory_that_cannot_be_used_is_named(monkeypatch, number, words):
    def refused(*arguments: object, **keywords: object) -> None:
        raise OSError(number, words)

    monkeypatch.setattr(multiprocessing.synchronize.SemLock, "__init__", refused)
    with pytest.raises(OSError, match=rf"no semaphore .* \({words}\); make /dev/shm writable"):
        WorkerPool(1)
