"""Results in the form of the QOBLIB."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.cli import main
from glasshouse.files import read_document
from glasshouse.proofs.progress import Bounds
from glasshouse.proofs.qoblib import QoblibPackage, objective_series

# The header that the QOBLIB's own check asks for, in this order.
COLUMNS = [
    "Problem",
    "Submitter",
    "Affiliation",
    "Date",
    "Reference",
    "Best Objective Value",
    "Optimality Bound",
    "Modeling Approach",
    "# Decision Variables",
    "# Binary Variables",
    "# Integer Variables",
    "# Continuous Variables",
    "# Non-Zero Coefficients",
    "Coefficients Type",
    "Coefficients Range",
    "Workflow",
    "Algorithm Type",
    "Paradigm",
    "# Runs",
    "# Feasible Runs",
    "# Successful Runs",
    "Success Threshold",
    "Hardware Specifications",
    "Total Runtime",
    "Time to Solution",
    "CPU Runtime",
    "GPU Runtime",
    "QPU Runtime",
    "Other HW Runtime",
    "Remarks",
]


def glass(size=12, seed=3):
    rng = np.random.default_rng(seed)
    edges = [(a, b) for a in range(size) for b in range(a)]
    return gh.Ising.from_edges(size, edges, rng.integers(-5, 6, len(edges)))


def packaged(folder, name):
    """The summary, the solution and the series of an instance."""
    place = folder / name
    with (place / f"{name}_summary.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    lines = (place / f"{name}_solution.sol").read_text().splitlines()
    series = json.loads((place / f"{name}_objective_time_series.json").read_text())
    return row, lines, series


@pytest.mark.parametrize("suffix", [".mc", ".coo", ".qubo", ".wcnf"])
def test_any_problem_has_a_package(suffix, tmp_path, capsys):
    path = tmp_path / f"glass{suffix}"
    gh.write(path, glass())
    assert main(["prove", str(path), "--qoblib", str(tmp_path / "out")]) == 0
    assert "fill in Submitter, Affiliation, Reference" in capsys.readouterr().out
    document = read_document(path)
    best = document.measure.of(gh.prove(document.problem).energy)
    row, (head, *lines), (run,) = packaged(tmp_path / "out", "glass")
    assert list(row) == COLUMNS
    assert (row["Problem"], row["Best Objective Value"]) == ("glass", str(best))
    assert row["Optimality Bound"] == row["Best Objective Value"]
    assert int(row["# Decision Variables"]) == document.problem.num_variables == len(lines)
    assert head == f"# Objective value = {best}"
    bits = np.array([int(line.split()[1]) for line in lines])
    assert document.value_of(document.problem.space.from_bits(bits)) == best
    assert [line.split()[0] for line in lines][:2] in (["x#1", "x#2"], ["0", "1"])
    assert run[-1]["Incumbent"] == best
    assert float(row["Time to Solution"]) <= float(row["Total Runtime"]) + 0.001
    assert row["Paradigm"] == "Classical"
    assert row["Algorithm Type"] == "Deterministic"


def test_a_polynomial_has_a_package(tmp_path):
    path = tmp_path / "cubic.hubo"
    gh.write(path, gh.Polynomial.from_terms(4, {(0, 1, 2): -4, (1, 3): 2, (0,): 1}))
    assert main(["prove", str(path), "--qoblib", str(tmp_path / "out")]) == 0
    row, _, _ = packaged(tmp_path / "out", "cubic")
    assert row["Modeling Approach"].startswith("polynomial of degree 3; ")
    assert (row["# Non-Zero Coefficients"], row["Coefficients Range"]) == ("3", "-4 to 2")


def test_an_open_gap_is_not_called_an_optimum(tmp_path, capsys):
    path = tmp_path / "hard.mc"
    gh.write(path, glass(40, 1))
    words = ["prove", str(path), "--node-limit", "1", "--qoblib", str(tmp_path / "out")]
    proof = gh.prove(gh.read(path), node_limit=1)
    assert main(words) == (0 if proof.optimal else 1)
    row, _, _ = packaged(tmp_path / "out", "hard")
    value, bound = float(row["Best Objective Value"]), float(row["Optimality Bound"])
    assert (value == bound) == proof.optimal
    assert value <= bound
    assert row["Remarks"].startswith("The optimum" if proof.optimal else "The upper bound")


def test_nothing_is_replaced_unless_forced(tmp_path, capsys):
    path = tmp_path / "glass.mc"
    gh.write(path, glass())
    words = ["prove", str(path), "--qoblib", str(tmp_path / "out")]
    assert main(words) == 0
    assert main(words) == 2
    assert "glass_summary.csv: already exists" in capsys.readouterr().err
    assert main([*words, "--force"]) == 0


def test_a_resumed_search_says_so(tmp_path):
    path = tmp_path / "glass.mc"
    gh.write(path, glass())
    assert main(["prove", str(path)]) == 0
    assert main(["prove", str(path), "--qoblib", str(tmp_path / "out")]) == 0
    row, _, _ = packaged(tmp_path / "out", "glass")
    assert row["Remarks"].endswith("Times cover only the last part of a resumed search.")


def test_incumbents_never_become_worse(tmp_path):
    path = tmp_path / "glass.mc"
    gh.write(path, glass())
    document = read_document(path)
    proof = gh.prove(document.problem)
    value = document.measure.of(proof.energy)
    uppers = [np.inf, 0.0, 0.0, 4.0, float(proof.energy) - 1e-9, float(proof.energy)]
    history = tuple(Bounds(-100.0, upper, 0.1 * k, 1) for k, upper in enumerate(uppers))
    statistics = replace(proof.statistics, history=history, seconds=2.0)
    series = objective_series(document, replace(proof, statistics=statistics), value)
    assert [entry["Time"] for entry in series] == pytest.approx([0.1, 0.4, 2.0])
    cuts = [entry["Incumbent"] for entry in series]
    assert cuts == sorted(cuts)
    assert cuts[-2:] == [value, value]


def test_names_lead_nowhere_else():
    package = QoblibPackage.of_file(Path("out"), Path("a b/..;x.tar.mc.xz"))
    assert package.solution_path.parent.parent == Path("out")
    assert QoblibPackage.of_file(Path("out"), Path("-")).name == "problem"
