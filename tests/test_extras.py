"""Missing packages and missing files are reported in one way."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import glasshouse as gh
from glasshouse import extras
from glasshouse.charts.instance import draw
from glasshouse.cli import main
from glasshouse.files import read_certificate, read_side_car
from glasshouse.files.graphs import read_graph
from glasshouse.files.solutions import read_solution
from glasshouse.proofs import solve_exactly
from glasshouse.store import collect
from glasshouse.store.row_types import Stop
from glasshouse.studies import Task, load_study, merge, plot_study, read_rows
from paper import reproduce

ROOT = Path(gh.__file__).parent
RING = gh.Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [1, 1, -1])
PLANT = gh.random_loops(5, 5, frustration="1/5", loops=3, rng=1)
FAMILY = {"n": 5, "frustration": "1/5", "loop_density": 1}


@pytest.fixture
def hide(monkeypatch):
    """Make a package look as if it were not installed."""

    def hide(package: str) -> None:
        for name in [m for m in sys.modules if m == package or m.startswith(package + ".")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, package, None)
        if package == "dwave.graphs":
            hide("dwave_networkx")  # because it could replace the missing package
            gh.Graph.parse.cache_clear()

    return hide


@pytest.fixture
def store(tmp_path) -> Path:
    collect([Task("random_loops", FAMILY, stop=Stop(2))], tmp_path / "s.sqlite")
    return tmp_path / "s.sqlite"


def with_store(use: Callable[[gh.Store], Any]) -> Callable[[Path], Any]:
    def call(folder: Path) -> Any:
        with gh.Store(folder / "s.sqlite") as opened:
            return use(opened)

    return call


NEEDS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "bqm": ("dimod", lambda folder: gh.write(folder / "x.bqm", RING)),
    "suite": ("dimod", lambda folder: gh.write_suite(folder / "suite", [PLANT], suffix=".bqm")),
    "chimera": ("dwave.graphs", lambda folder: gh.Graph.parse("chimera:2")),
    "zephyr": ("dwave.graphs", lambda folder: gh.Graph.parse("zephyr:2")),
    "rc2": ("pysat", lambda folder: solve_exactly(RING, solver="rc2")),
    "rc2-stratified-edge": (
        "pysat",
        lambda folder: solve_exactly(RING, solver="rc2-stratified-edge"),
    ),
    "scip": ("pyscipopt", lambda folder: solve_exactly(RING, solver="scip")),
    "frame": ("polars", with_store(read_rows)),
    "plot": ("matplotlib", with_store(plot_study)),
    "draw": ("matplotlib", lambda folder: draw(PLANT)),
    "formula": ("matplotlib", lambda folder: reproduce("dispersion", folder)),
    "paper": ("matplotlib", lambda folder: reproduce("excitations", folder / "paper")),
    "report": (
        "vl_convert",
        lambda folder: gh.report(folder / "s.sqlite", output=folder / "r.html"),
    ),
}


@pytest.mark.parametrize("name", NEEDS)
def test_a_missing_package_is_named_with_its_remedy(name, hide, store, tmp_path):
    package, call = NEEDS[name]
    hide(package)
    with pytest.raises(gh.MissingPackageError) as caught:
        call(tmp_path)
    words = f"needs {package}, which is not installed; run pip install {extras.REMEDIES[package]}"
    assert str(caught.value).endswith(words)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ImportError)
    assert caught.value.name == package
    assert not list(tmp_path.glob("paper/*.sqlite"))  # reported before the work, not after
    assert not list(tmp_path.glob("*.bqm*"))


COMMANDS = {
    "plant random -n 5 -f 1/5 --loops 3 -o {folder}/x.bqm": "dimod",
    "plant graph pegasus:2 -f 1/5 --loops 3 -o {folder}/x.wcnf": "dwave.graphs",
    "solve {folder}/p.npz --solver rc2": "pysat",
    "draw {folder}/p.npz -o {folder}/p.png": "matplotlib",
    "study plot {folder}/s.sqlite -o {folder}/p": "matplotlib",
    "store export {folder}/s.sqlite -o {folder}/p.parquet": "polars",
    "report {folder}/s.sqlite -o {folder}/r.html": "vl_convert",
    "study run {folder}/s.toml -o {folder}/t.sqlite --dask tcp://localhost:1": "distributed",
    "train run digits --hidden 2 -o {folder}/t.sqlite": "sklearn",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_tell_the_remedy_in_one_line(command, hide, store, tmp_path, capsys):
    gh.write(tmp_path / "p.npz", PLANT)
    (tmp_path / "s.toml").write_text(
        'name = "s"\n[stop]\ninstances = 2\n[[family]]\nmethod = "random_loops"\n'
        'parameters = { n = 5, frustration = "1/5", loop_density = 1 }\n'
    )
    hide(COMMANDS[command])
    assert main(command.format(folder=tmp_path).split()) == 2
    said = capsys.readouterr().err
    remedy = extras.REMEDIES[COMMANDS[command]]
    assert said.startswith("glasshouse: ")
    assert said.endswith(f"which is not installed; run pip install {remedy}\n")
    assert said.count("\n") == 1
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"p.npz", "s.sqlite", "s.toml"}  # no file was started


def test_a_package_that_is_there_but_broken_is_told_apart(monkeypatch, tmp_path):
    (tmp_path / "dimod.py").write_text("raise ImportError('libbroken.so: no such file')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "dimod", raising=False)
    with pytest.raises(gh.MissingPackageError, match=r"cannot be imported \(libbroken\.so"):
        extras.optional("dimod", "this test")


def test_a_recipe_that_needs_a_missing_package_is_left_out_and_the_proof_is_not(hide, tmp_path):
    plant = gh.graph_loops("chimera:2", frustration="1/5", loops=3, rng=1)
    gh.write(tmp_path / "x.wcnf", plant)
    hide("dwave.graphs")
    assert gh.verify_file(tmp_path / "x.wcnf").proven
    assert main(["convert", str(tmp_path / "x.wcnf"), str(tmp_path / "y.qubo")]) == 0
    assert gh.verify_file(tmp_path / "y.qubo").proven


def test_remedies_are_extras_of_this_project():
    project = tomllib.loads((ROOT.parents[1] / "pyproject.toml").read_text())["project"]
    for remedy in extras.REMEDIES.values():
        if remedy.startswith('"'):
            assert (
                remedy.removeprefix('"glasshouse[').removesuffix(']"')
                in (project["optional-dependencies"])
            )


def test_optional_packages_are_never_imported_at_the_head_of_a_module():
    seen = set()
    for path in ROOT.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [alias.name for alias in node.names]
                module = getattr(node, "module", None)
                roots = {name.split(".")[0] for name in ([module] if module else names)}
                assert not roots & {name.split(".")[0] for name in extras.REMEDIES}, path
                seen |= roots
    assert {"numpy", "glasshouse"} <= seen


ABSENT: dict[str, Callable[[Path], Any]] = {
    "read": lambda folder: gh.read(folder / "no.wcnf"),
    "read packed": lambda folder: gh.read(folder / "no.npz.gz"),
    "read_document": lambda folder: gh.read_document(folder / "no.qubo"),
    "read_planted": lambda folder: gh.read_planted(folder / "no.npz"),
    "verify_file": lambda folder: gh.verify_file(folder / "no.wcnf"),
    "check_suite": lambda folder: gh.check_suite(folder / "no.jsonl"),
    "read_certificate": lambda folder: read_certificate(folder / "no.cert"),
    "read_side_car": lambda folder: read_side_car(folder / "no.cert"),
    "read_solution": lambda folder: read_solution(folder / "no.txt", [3]),
    "read_graph": lambda folder: read_graph(folder / "no.edges"),
    "Store": lambda folder: gh.Store(folder / "no.sqlite"),
    "merge": lambda folder: merge(folder / "new.sqlite", [folder / "no.sqlite"]),
    "load_study": lambda folder: load_study(folder / "no.toml"),
    "report": lambda folder: gh.report(folder / "no.sqlite", output=folder / "r.html"),
}


@pytest.mark.parametrize("name", ABSENT)
def test_a_missing_file_is_what_python_calls_one(name, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no\.\w+.*: .*no such") as caught:
        ABSENT[name](tmp_path)
    assert isinstance(caught.value, gh.FileError)
    assert isinstance(caught.value, ValueError)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "command",
    ["info no.wcnf", "convert no.wcnf new.qubo", "check no.npz", "prove no.qubo", "solve no.wcnf",
     "draw no.npz -o new.png", "study run no.toml -o new.sqlite", "study show no.sqlite",
     "study plot no.sqlite -o new", "store merge new.sqlite no.sqlite",
     "report no.wcnf -o new.html",
     "check no.jsonl"],
)  # fmt: skip
def test_commands_tell_of_a_missing_file_in_one_line(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) == 2
    said = capsys.readouterr().err
    assert said.startswith("glasshouse: no.")
    assert "no such" in said
    assert said.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_other_troubles_with_files_are_os_errors_too(tmp_path):
    gh.write(tmp_path / "x.wcnf", PLANT)
    with pytest.raises(FileExistsError, match="already exists"):
        gh.write(tmp_path / "x.wcnf", PLANT)
    (tmp_path / "folder.wcnf").mkdir()
    for call in (gh.read, lambda path: gh.write(path, PLANT, overwrite=True)):
        with pytest.raises(OSError, match="is a directory"):
            call(tmp_path / "folder.wcnf")
    with pytest.raises(OSError, match="cannot be written"):
        gh.write(tmp_path / "x.wcnf" / "y.wcnf", PLANT)
    (tmp_path / "bad.wcnf").write_text("hello\n")
    with pytest.raises(gh.FileError) as caught:  # a fault inside a file is not an OSError
        gh.read(tmp_path / "bad.wcnf")
    assert not isinstance(caught.value, OSError)
