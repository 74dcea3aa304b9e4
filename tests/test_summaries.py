"""The notebook of the documentation runs from top to bottom in a Jupyter kernel."""

from __future__ import annotations

import resource
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "docs" / "notebook.ipynb"
LONGEST = 60.0  # seconds of CPU time, as the first lines of the notebook promise


@pytest.fixture(scope="module")
def stored():
    return nbformat.read(NOTEBOOK, as_version=4)


@pytest.fixture(scope="module")
def executed(stored, tmp_path_factory):
    """Run all cells in an empty folder, and raise if a cell fails."""
    folder = tmp_path_factory.mktemp("notebook")
    client = NotebookClient(stored.copy(), timeout=300, resources={"metadata": {"path": folder}})
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = client.execute()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ran, seconds, folder


def outputs(notebook, mime):
    return [
        output["data"][mime]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if mime in output.get("data", {})
    ]


def test_it_is_stored_without_outputs(stored):
    nbformat.validate(stored)
    for cell in stored.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


def test_it_runs_within_a_minute_and_leaves_nothing_behind(executed):
    _, seconds, folder = executed
    assert 1 < seconds < LONGEST
    assert list(folder.iterdir()) == []


def test_instances_results_and_proofs_are_shown_as_tables(executed):
    tables = outputs(executed[0], "text/html")
    shown = [text.split("<strong>")[1].split("<")[0] for text in tables if "<strong>" in text]
    assert shown == ["Planted", "Verdict", "Max2Sat", "AnnealResult", "Proof", "BoltzmannMachine"]
    assert any('<th scope="col" style="text-align:left">realised</th>' in text for text in tables)


def test_it_shows_two_figures_and_the_refusal(executed):
    assert len(outputs(executed[0], "image/png")) == 2
    printed = "".join(
        output.get("text", "")
        for cell in executed[0].cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.get("name") == "stdout"
    )
    assert "refused: " in printed
    assert "least cost: 105" in printed
