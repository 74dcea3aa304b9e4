"""`glasshouse compile`: what it compiles is what later commands use."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import glasshouse as gh
import glasshouse.compiled
from glasshouse.cli import main
from glasshouse.planting import METHODS
from glasshouse.precompiled import GROUPS

# Runs commands and prints how many kernels were compiled by the end of each.
COUNT = """
import sys, shlex
from glasshouse.cli import main
from glasshouse.compiled import kernel_counts
for line in sys.stdin:
    code = main(shlex.split(line))
    print("compiled", kernel_counts()[0], code, line.strip())
"""


def option(name: str) -> str:
    """Return the option of a parameter: letters have one dash, and a graph is a word alone."""
    if name == "graph":
        return ""
    return f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"


def compile_in(folder: Path, *groups: str) -> list[dict]:
    ran = subprocess.run(
        [sys.executable, "-m", "glasshouse", "compile", *groups, "--json"], check=True, text=True,
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder)}, stdout=subprocess.PIPE,
    )  # fmt: skip
    return [json.loads(line) for line in ran.stdout.splitlines()]


def count(folder: Path, work: Path, lines: list[str]) -> list[str]:
    """Return the commands that compiled a kernel, or were refused."""
    ran = subprocess.run(
        [sys.executable, "-c", COUNT], input="\n".join(lines), capture_output=True, text=True,
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder)}, cwd=work, check=False,
    )  # fmt: skip
    said = [line for line in ran.stdout.splitlines() if line.startswith("compiled ")]
    assert len(said) == len(lines), ran.stderr
    fine = ("compiled 0 0 ", "compiled 0 1 ")  # 1: a bound, but not a proof of the optimum
    return [line for line in said if not line.startswith(fine)]


def test_what_is_compiled_is_cached(tmp_path):
    (first,) = compile_in(tmp_path, "check")
    assert first["compiled"] > 0
    assert Path(first["folder"]) == tmp_path
    (second,) = compile_in(tmp_path, "check")
    assert second["compiled"] == 0
    assert second["cached"] > 0  # fewer: what only kernels call is a part of them


def test_a_group_that_is_unknown_is_refused(capsys):
    assert main(["compile", "anneal", "soup"]) == 2
    assert "'soup' is not one of plant, check" in capsys.readouterr().err


def test_no_cache_is_an_error(capsys, monkeypatch):
    monkeypatch.setattr(glasshouse.compiled, "open_cache", None)
    assert main(["compile", "check"]) == 2
    assert "kernels cannot be cached" in capsys.readouterr().err


def test_the_help_names_every_group(capsys):
    assert main(["compile", "--help"]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in GROUPS)


@pytest.mark.slow
def test_later_commands_compile_nothing_more(tmp_path):
    cache, work = tmp_path / "cache", tmp_path / "work"
    work.mkdir()
    draws = np.random.default_rng(5)
    ring = [(k, (k + 1) % 40) for k in range(40)]
    pairs = [(i, j) for i in range(40) for j in range(i)]
    layers = [(i, 20 + j) for i in range(20) for j in range(20)]
    for name, edges in (("ring", ring), ("dense", pairs), ("layers", layers)):
        gh.write(
            work / f"{name}.coo", gh.Ising.from_edges(40, edges, draws.choice([-1, 1], len(edges)))
        )
        gh.write(
            work / f"{name}-floats.coo",
            gh.Ising.from_edges(40, edges, draws.normal(size=len(edges))),
        )
    lines = [
        f"plant {method.command} "
        + " ".join(
            f"{option(name)} {shlex.quote(str(value))}"
            for name, value in method.examples[0].items()
            if not isinstance(value, tuple)
        )
        + f" --seed 7 -o {method.name}.wcnf"
        for method in METHODS.values()
        if not any(isinstance(value, tuple) for value in method.examples[0].values())
    ]
    for name in ("ring", "dense", "layers"):
        for kind in ("", "-floats"):
            lines += [
                f"solve {name}{kind}.coo --seed 1 --sweeps 50",
                f"solve {name}{kind}.coo --seed 1 --sweeps 50 --runs 8",
                f"solve {name}{kind}.coo --seed 1 --sweeps 50 --solver temper",
                f"prove {name}{kind}.coo --time-limit 20",
            ]
    lines += [
        "check random_loops.wcnf",
        "solve random_loops.wcnf --seed 2 --sweeps 50 --target planted",
        "prove random_loops.wcnf",
        "convert random_loops.wcnf x.qubo",
        "info random_loops.wcnf",
        "train run bars --hidden 4 --epochs 10 -o run.npz",
    ]
    compile_in(cache)
    assert count(cache, work, lines) == []
