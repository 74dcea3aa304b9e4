"""Results in the format of QOBLIB, the Quantum Optimization Benchmarking Library.

A submission has one folder per instance: a summary in CSV, the solution, and the objective over
time in JSON. The optimality bound of the summary is the one that the certificate proves.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import math
import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glasshouse.files.document import Document
from glasshouse.files.text.streams import UNPACKED, refuse_existing, replacing
from glasshouse.files.writing import make_folder
from glasshouse.problems import Max2Sat, Polynomial, Problem, Qubo, to_bits
from glasshouse.problems.pairs import single_terms
from glasshouse.proofs.proof import Proof
from glasshouse.summaries import Summarised
from glasshouse.version import __version__

UNKNOWN = "N/A"
TO_FILL_IN = ("Submitter", "Affiliation", "Reference")


@dataclass(frozen=True, repr=False)
class QoblibPackage(Summarised):
    """The files for one instance in a submission to the QOBLIB.

    Attributes:
        folder: the folder of the submission.
        name: the name of the instance.

    >>> package = QoblibPackage(Path("submission"), "farm")
    >>> package.summary_path.as_posix()
    'submission/farm/farm_summary.csv'
    """

    folder: Path
    name: str

    @classmethod
    def of_file(cls, folder: Path, file: Path) -> QoblibPackage:
        """Return a `QoblibPackage` whose name is a problem file's name without its suffixes.

        >>> QoblibPackage.of_file(Path("submission"), Path("data/G62.mc.gz")).name
        'G62'
        """
        name = file.name
        if file.suffix.lower() in UNPACKED:
            name = Path(name).stem
        plain = re.sub(r"[^A-Za-z0-9_.=+-]+", "-", Path(name).stem).strip(".-")
        return cls(folder, plain or "problem")

    @property
    def summary_path(self) -> Path:
        """The path of the summary."""
        return self._path("summary.csv")

    @property
    def solution_path(self) -> Path:
        """The path of the solution."""
        return self._path("solution.sol")

    @property
    def series_path(self) -> Path:
        """The path of the file with the objective values over time."""
        return self._path("objective_time_series.json")

    def _path(self, ending: str) -> Path:
        return self.folder / self.name / f"{self.name}_{ending}"

    def refuse_existing(self) -> None:
        """Raise an error if a file of the package already exists."""
        for path in (self.summary_path, self.solution_path, self.series_path):
            refuse_existing(path, overwrite=False)

    def write(
        self,
        document: Document,
        proof: Proof,
        *,
        remark: str = "",
        overwrite: bool = False,
    ) -> None:
        """Write the summary, the solution and the time series.

        Args:
            document: the problem, and the measure of its values.
            proof: the state, and the course of the proof.
            remark: a text to append to the column Remarks.
            overwrite: whether to replace existing files.
        """
        make_folder(self.summary_path.parent)
        value = document.measure.of(proof.verdict.exact_energy)
        series = objective_series(document, proof, value)
        row = summary_row(self.name, document, proof)
        reached = next(float(each["Time"]) for each in series if each["Incumbent"] == value)
        row["Time to Solution"] = _seconds(reached)
        row["Remarks"] += remark and f" {remark}"
        for path, text in (
            (self.summary_path, _csv(row)),
            (self.solution_path, solution_text(document.problem, proof, value)),
            (self.series_path, json.dumps([series]) + "\n"),
        ):
            with replacing(path, path.suffix[1:], overwrite=overwrite) as file:
                file.write(text.encode())


def summary_row(name: str, document: Document, proof: Proof) -> dict[str, str]:
    """Return the row of the summary, with columns in the order of the QOBLIB."""
    measure, problem, verdict = document.measure, document.problem, proof.verdict
    value = measure.of(verdict.exact_energy)
    bound = value if verdict.optimal else measure.bound(verdict.lower_bound)
    coefficients = _coefficients(problem)
    size = str(problem.num_variables)
    what = "optimum" if verdict.optimal else measure.bound_name
    return {
        "Problem": name,
        **dict.fromkeys(TO_FILL_IN[:2], ""),
        "Date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "Reference": "",
        "Best Objective Value": str(value),
        "Optimality Bound": str(bound),
        "Modeling Approach": f"{_model(problem)}; the objective is the {measure.name} of the file",
        "# Decision Variables": size,
        "# Binary Variables": size,
        "# Integer Variables": "0",
        "# Continuous Variables": "0",
        "# Non-Zero Coefficients": str(len(coefficients)),
        "Coefficients Type": "integer" if problem.is_integer else "continuous",
        "Coefficients Range": _range(coefficients),
        "Workflow": f"glasshouse prove {__version__}: exact reductions, then bounds by "
        f"{proof.statistics.method} and a search tree of {proof.statistics.nodes} nodes",
        "Algorithm Type": "Deterministic",
        "Paradigm": "Classical",
        "# Runs": "1",
        "# Feasible Runs": "1",
        "# Successful Runs": "1",
        "Success Threshold": "0",
        "Hardware Specifications": f"{platform.machine()}, {platform.system()}, "
        f"{os.cpu_count()} cores",
        "Total Runtime": _seconds(proof.statistics.seconds),
        "Time to Solution": UNKNOWN,
        "CPU Runtime": UNKNOWN,
        "GPU Runtime": UNKNOWN,
        "QPU Runtime": UNKNOWN,
        "Other HW Runtime": UNKNOWN,
        "Remarks": f"The {what} is proven by a certificate, which a stand-alone checker verifies.",
    }


def objective_series(document: Document, proof: Proof, value: Any) -> list[dict[str, Any]]:
    """Return each improved objective value with its time, and the final value at the end.

    Args:
        document: the problem, and the measure of its values.
        proof: the proof; its history has the energies.
        value: the value of the final state.
    """
    measure, entries = document.measure, list[dict[str, Any]]()
    sign = 1 if measure.factor > 0 else -1
    for bounds in proof.statistics.history:
        if not math.isfinite(bounds.upper):
            continue
        found = measure.of(bounds.upper)
        is_better = not entries or sign * found < sign * entries[-1]["Incumbent"]
        if is_better and sign * found > sign * value:
            entries.append({"Time": bounds.seconds, "Incumbent": found})
        elif is_better:
            entries.append({"Time": bounds.seconds, "Incumbent": value})
            break
    end = proof.statistics.seconds
    if not entries or entries[-1] != {"Time": end, "Incumbent": value}:
        entries.append({"Time": max([end, *(e["Time"] for e in entries)]), "Incumbent": value})
    return entries


def solution_text(problem: Problem, proof: Proof, value: Any) -> str:
    """Return the solution file's text: one line per variable, with its name and value."""
    bits = to_bits(np.asarray(proof.state)).tolist()
    labels = problem.labels
    names = [f"x#{k}" for k in range(1, len(bits) + 1)] if labels is None else map(_word, labels)
    lines = [f"{name} {bit}" for name, bit in zip(names, bits, strict=True)]
    return "\n".join([f"# Objective value = {value}", *lines, ""])


def _word(label: object) -> str:
    """Return a label with spaces replaced, because a space separates names from values."""
    return re.sub(r"\s+", "_", str(label)) or "_"


def _model(problem: Problem) -> str:
    if isinstance(problem, Max2Sat):
        return "weighted MAX-2-SAT"
    if isinstance(problem, Polynomial):
        return f"polynomial of degree {problem.degree}"
    return "QUBO" if isinstance(problem, Qubo) else "Ising"


def _coefficients(problem: Problem) -> Any:
    """Return all nonzero weights of the model."""
    weights = problem.weights
    if not isinstance(problem, (Max2Sat, Polynomial)):
        weights = np.concatenate([weights, single_terms(problem)])
    return weights[weights != 0]


def _range(coefficients: Any) -> str:
    if not len(coefficients):
        return UNKNOWN
    return f"{coefficients.min().item()} to {coefficients.max().item()}"


def _seconds(value: float) -> str:
    return f"{value:.3f}"


def _csv(row: dict[str, str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(row), lineterminator="\n")
    writer.writeheader()
    writer.writerow(row)
    return text.getvalue()
