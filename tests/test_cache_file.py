"""Machine code on disk is compiled again, and never run, if its file is damaged."""

from __future__ import annotations

import ast
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import pytest
from tests.damaged_cache import damage

from glasshouse.numba_private.caches import CacheFile

ROOT = Path(__file__).parents[1]


def spoil(folder: Path, seed: int, tries: int) -> dict[str, int]:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.damaged_cache", str(seed), str(tries)], cwd=ROOT, text=True,
        capture_output=True, env=os.environ | {"NUMBA_CACHE_DIR": str(folder)}, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ast.literal_eval(ran.stdout)


def test_damaged_machine_code_is_compiled_again(tmp_path):
    assert sum(spoil(tmp_path, 1, 25).values()) == 25


@pytest.mark.slow
def test_two_hundred_damages_are_all_found(tmp_path):
    counts = spoil(tmp_path, 2, 200)
    assert sum(counts.values()) == 200
    assert len(counts) == 8  # every kind


PLANT = "import glasshouse as gh; print(gh.random_loops(6, 6, frustration='1/5', loops=6, rng=1))"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_damaged_cache_of_the_library_changes_no_result(tmp_path_factory, seed):
    folder = tmp_path_factory.getbasetemp() / "library-cache"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)}

    def grown() -> str:
        return subprocess.check_output([sys.executable, "-c", PLANT], text=True, env=environment)

    before = grown()
    damage(folder, random.Random(seed))
    assert grown() == before


@pytest.fixture
def file(tmp_path):
    return CacheFile(tmp_path, "kernel", "1")


def test_what_is_saved_is_loaded(file):
    assert file.load("key") is None
    file.save("key", [1, 2])
    file.save("other", [3])
    assert (file.load("key"), file.load("other")) == ([1, 2], [3])


def test_another_version_loads_nothing(file, tmp_path):
    file.save("key", [1, 2])
    assert CacheFile(tmp_path, "kernel", "2").load("key") is None


class Bomb:
    """An object that records whether it was unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("unpickled",))


def test_nothing_is_unpickled_before_the_digest_matches(file, tmp_path):
    file.save("key", 0)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:32] + pickle.dumps(("key", Bomb())))
    assert file.load("key") is None


def test_every_flipped_bit_is_found(file, tmp_path):
    file.save("key", "machine code")
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for k in range(8 * len(whole)):
        changed = bytearray(whole)
        changed[k // 8] ^= 1 << k % 8
        path.write_bytes(changed)
        assert file.load("key") is None
    path.write_bytes(whole)
    assert file.load("key") == "machine code"


def test_a_file_that_cannot_be_written_is_not_an_error(file, tmp_path):
    file.save("key", 1)
    (path,) = tmp_path.iterdir()
    path.unlink()
    path.mkdir()
    file.save("key", 1)
    assert file.load("key") is None
    assert list(tmp_path.iterdir()) == [path]  # and nothing partial is left


def test_flushing_removes_the_files_of_one_function(file, tmp_path):
    other = CacheFile(tmp_path, "kernels", "1")
    file.save("key", 1)
    other.save("key", 1)
    file.flush()
    assert (file.load("key"), other.load("key")) == (None, 1)
