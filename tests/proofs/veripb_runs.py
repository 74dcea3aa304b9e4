"""Proofs for VeriPB, given to the real checker and to one written from the rules."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.certificates.mutations import mutate_numbers
from tests.children import PATIENCE
from tests.oracles import optimum
from tests.proofs import cutting_planes

from glasshouse import files
from glasshouse.certificates import Certificate
from glasshouse.problems import Max2Sat
from glasshouse.proofs.veripb.writing import veripb_proof

FORMS = [(form, version) for form in ("wcnf", "opb") for version in ("3.0", "2.0")]
Instance = Callable[[np.random.Generator], tuple[Max2Sat, Certificate]]


def run(veripb: str, formula: Path, proof: Path, *options: str) -> tuple[int, int] | None:
    """The bounds that VeriPB verified, None if it refused."""
    done = subprocess.run(
        [veripb, *options, formula, proof],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env=os.environ | {"RUST_BACKTRACE": "0"},
    )
    found = re.search(r"s VERIFIED BOUNDS (\d+) <= obj <= (\d+)", done.stdout)
    return (int(found[1]), int(found[2])) if found and done.returncode == 0 else None


def write_formula(folder: Path, problem: Max2Sat, form: str) -> Path:
    path = folder / f"formula.{form}"
    # VeriPB 3.0.2 stops at the p line of classic WCNF files.
    dialect = "mse22" if form == "wcnf" else "classic"
    files.write(path, problem, dialect=dialect, overwrite=True)
    return path


def by_the_rules(formula: Path, proof: str) -> tuple[int, int] | None:
    read = cutting_planes.read_opb if formula.suffix == ".opb" else cutting_planes.read_wcnf
    try:
        return cutting_planes.check(read(formula.read_text()), proof)
    except (cutting_planes.RejectedError, ValueError, IndexError):
        return None


def damage(veripb: str | None, folder: Path, wanted: int, seed: int, instance: Instance) -> None:
    """Damage proofs until some were refused; none that claims something false is accepted."""
    rng = np.random.default_rng(seed)
    refused = 0
    for attempt in range(10 * wanted):
        problem, certificate = instance(rng)
        form = ("wcnf", "opb")[attempt % 2]
        version = ("3.0", "2.0")[attempt // 2 % 2]
        formula = write_formula(folder, problem, form)
        text = veripb_proof(problem, certificate, form=form, version=version)
        damaged = mutate_numbers(text, rng)
        (folder / "damaged.pbp").write_text(damaged)
        verdict = by_the_rules(formula, damaged)
        if veripb is not None:
            real = run(veripb, formula, folder / "damaged.pbp")
            # VeriPB has more rules than this test (it also searches), so it may accept more.
            assert verdict is None or real == verdict, damaged
            verdict = real
        least = optimum(problem)[0]
        assert verdict is None or verdict[0] <= least <= verdict[1], damaged
        refused += verdict is None
        if refused == wanted:
            return
    raise AssertionError("hardly any damaged proof was refused")
