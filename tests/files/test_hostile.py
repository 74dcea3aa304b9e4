"""No file does harm: one line or a good document, no process ended, little time and memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SECONDS, MEBIBYTES = 5, 1024

_BOMBS = """
import json, sys
from pathlib import Path
from tests.files.bombs import BOMBS
from tests.files.hostile import attack, peak_memory
from tests.files.recipe_bombs import RECIPES, bomb_text
folder, chosen = Path(sys.argv[1]), sys.argv[2:]
def recipe(name):
    path = folder / "recipe.mc"
    path.write_text(bomb_text(name))
    return path
def forget_peak():
    Path("/proc/self/clear_refs").write_text("5")  # that of making the file
results = {}
for name in chosen:
    path = BOMBS[name](folder) if name in BOMBS else recipe(name)
    attack(path) if name in RECIPES else None  # the first time it may compile
    forget_peak()
    results[name] = [*attack(path), peak_memory()]
    path.unlink()
print(json.dumps(results))
"""


def child(*arguments: str) -> Any:
    """The JSON that a Python process prints; one that is ended or takes far too much fails."""
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=_limited
    )
    assert done.returncode == 0, f"ended by {done.returncode}: {done.stderr[-2000:]}"
    return json.loads(done.stdout)


def _limited() -> None:
    """A safety line for the machine; what is asserted is the peak of what was really used."""
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))


def attacked(first: int, count: int, folder: Path) -> dict[str, Any]:
    result = child("-m", "tests.files.hostile", str(first), str(count), str(folder))
    assert result["faults"] == []
    assert result["longest"] < SECONDS, result
    assert result["peak"] < MEBIBYTES, result
    assert 0.05 < result["good"] / count < 0.5, result  # some get through every check
    return result


def test_hostile_files(tmp_path):
    attacked(0, 2500, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(8))
def test_many_hostile_files(tmp_path, batch):
    result = attacked(10_000 + 15_000 * batch, 15_000, tmp_path)
    print(f"longest {result['longest']:.2f} s, peak {result['peak']:.0f} MiB")


def bombed(folder: Path, names: list[str]) -> None:
    for name, (_, seconds, peak) in child("-c", _BOMBS, str(folder), *names).items():
        assert seconds < SECONDS, f"{name} took {seconds:.1f} s"
        assert peak < MEBIBYTES, f"{name} took {peak:.0f} MiB"
        print(f"{name}: {seconds:.2f} s, {peak:.0f} MiB")


def test_bombs_that_are_made_quickly(tmp_path):
    from tests.files.bombs import BOMBS
    from tests.files.recipe_bombs import RECIPES

    small = [name for name in BOMBS if "giga" not in name and "mebi" not in name]
    slow = {"shortest_decimals", "large_decimals", "decimals_within_the_limit", "shortest_terms",
            "shortest_clauses", "clauses_within_the_limit", "graph_of_comments", "bqm_of_zeros",
            "archive_of_zeros", "packed_square_of_a_million_million_pairs",
            "many_gzip_members", "many_xz_streams"}  # fmt: skip
    recipes = ["complete graph", "loops", "heavy limit", "edges as lists", "unknown method",
               "columns", "columns within the limit"]  # fmt: skip
    assert set(recipes) <= set(RECIPES)
    bombed(tmp_path, [*(name for name in small if name not in slow), *recipes])


@pytest.mark.slow
def test_all_bombs(tmp_path):
    from tests.files.bombs import BOMBS

    bombed(tmp_path, list(BOMBS))


@pytest.mark.slow
def test_all_recipe_bombs(tmp_path):
    from tests.files.recipe_bombs import RECIPES

    bombed(tmp_path, list(RECIPES))
