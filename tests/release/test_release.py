"""A release as users get it: built, installed alone, and used without any extra."""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import glasshouse as gh

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

STUDY = """
name = "small"
figure = "density"
[stop]
instances = 2
[[family]]
method = "random_loops"
parameters = { n = 5, frustration = "1/5" }
grid = { loop_density = [1, 2, 3, 4, 5] }
"""
# Commands that need no extra, in an order in which each finds the files of those before.
COMMANDS = [
    "--version",
    "--help",
    "plant random -n 20 -f 1/5 --loops 9 --seed 1 -o a.wcnf",
    "plant wishart -n 16 --columns 8 --seed 1 -o w.npz",
    "plant graph torus:6x6 -f 1/5 --loops 9 --count 2 -o tori",
    "fuzz one --seed 1 -o f.wcnf",
    "info a.wcnf",
    "check a.wcnf w.npz tori/manifest.jsonl",
    "solve a.wcnf --runs 16 --seed 1",
    "solve a.wcnf --solver temper --runs 2 --seed 1",
    "solve a.wcnf --solver brute",
    "solve a.wcnf --solver highs",
    "convert a.wcnf blind.wcnf --blind",
    "prove blind.wcnf",
    "convert a.wcnf a.qubo",
    "convert w.npz w.mc",
    "study run study.toml -o study.sqlite",
    "study run study.toml -o workers.sqlite --workers 2",
    "study show study.sqlite",
    "store check study.sqlite",
    "study fit study.sqlite",
    "store export study.sqlite -o study.csv",
    "store merge both.sqlite study.sqlite workers.sqlite",
    "tune -n 8 --target-sweeps 20 --tolerance 0.9 --seed 1",
    "train run bars --hidden 4 --epochs 5 --count 2 --seed 1 -o run.sqlite",
    "train show run.sqlite",
    "store export run.sqlite -o run.csv",
    "suite list",
    "suite --help",
    "race run --help",
    "fuzz run --help",
    "judge --help",
    "demo --help",
    "draw --help",
    "completion bash",
]
# Commands that need an extra, and which.
NEEDY = {
    "plant random -n 20 -f 1/5 --loops 9 -o n.bqm": "solvers",
    "plant graph chimera:2 -f 1/5 --loops 9 -o n.mc": "graphs",
    "convert a.wcnf n.bqm": "solvers",
    "solve a.wcnf --solver rc2": "solvers",
    "solve a.wcnf --solver dwave-anneal --time-limit 1": "solvers",
    "draw w.npz -o n.png": "figures",
    "study plot study.sqlite -o n": "figures",
    "store export study.sqlite -o n.parquet": "tables",
    "study run study.toml -o n.sqlite --dask tcp://localhost:1": "distributed",
    "train run digits --hidden 4 -o n.sqlite": "learning",
    "train plot run.sqlite -o n": "figures",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with the source distribution, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def wheel(built) -> Path:
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def alone(wheel, tmp_path_factory) -> Path:
    """The folder of programs of an environment that has the wheel and what it needs, no more."""
    folder = tmp_path_factory.mktemp("alone")
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    install = [programs / "python", "-m", "pip", "install", "--quiet", wheel]
    subprocess.run(install, check=True, capture_output=True, env=environment())
    return programs


def environment() -> dict[str, str]:
    """Ours, without what would let our own source be found."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def run(alone: Path, words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [alone / "glasshouse", *words],
        cwd=folder, env=environment(), capture_output=True, text=True, timeout=600,
    )  # fmt: skip


@pytest.fixture(scope="module")
def used(alone, tmp_path_factory) -> Path:
    """A folder in which all commands ran."""
    folder = tmp_path_factory.mktemp("used")
    (folder / "study.toml").write_text(STUDY)
    for command in COMMANDS:
        result = run(alone, command.split(), folder)
        assert result.returncode == 0, f"{command}: {result.stderr}"
        assert result.stdout, command
    return folder


class TestSource:
    def test_it_holds_what_the_repository_holds_and_nothing_else(self, built):
        if not (ROOT / ".git").exists():
            pytest.skip("no repository to compare with")
        tracked = subprocess.run(
            ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
        )
        left_out = (".ci/", "docs/library/certificates/")  # of the repository, not of a release
        wanted = {path for path in tracked.stdout.splitlines() if not path.startswith(left_out)}
        (archive,) = built.glob("*.tar.gz")
        with tarfile.open(archive) as opened:
            held = {name.split("/", 1)[1] for name in opened.getnames()}
        assert held == wanted | {"PKG-INFO"}


class TestWheel:
    def test_it_holds_the_package_and_its_data(self, wheel):
        with zipfile.ZipFile(wheel) as opened:
            names = set(opened.namelist())
        assert {name.split("/")[0] for name in names} == {
            "glasshouse", f"glasshouse-{gh.__version__}.dist-info",
        }  # fmt: skip
        package = Path(gh.__file__).parent
        source = {
            f"glasshouse/{path.relative_to(package).as_posix()}"
            for path in package.rglob("*")
            if path.is_file() and path.suffix in (".py", ".pyi", ".toml", ".typed")
        }
        assert source <= names

    def test_its_metadata(self, wheel):
        with zipfile.ZipFile(wheel) as opened:
            name = f"glasshouse-{gh.__version__}.dist-info/METADATA"
            stated = email.message_from_bytes(opened.read(name))
        assert stated["Version"] == gh.__version__
        assert stated["Requires-Python"] == PROJECT["requires-python"]
        assert set(stated.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
        assert stated["Description-Content-Type"] == "text/markdown"
        readme = stated.get_payload(decode=True).decode()
        assert readme.startswith("# glasshouse")
        # What is relative has nothing to be relative to on a package index.
        assert re.findall(r"\]\((?!https?://|#)", readme) == []
        assert stated.get_all("Project-URL", []) == []  # none that is not real


class TestAlone:
    def test_all_that_needs_no_extra_works(self, used):
        assert (used / "a.wcnf.cert").exists()

    @pytest.mark.parametrize("command", NEEDY)
    def test_what_needs_one_says_which_and_begins_nothing(self, command, alone, used):
        before = sorted(used.rglob("*"))
        result = run(alone, command.split(), used)
        assert result.returncode == 2
        assert result.stdout == ""
        assert result.stderr.startswith("glasshouse: ")
        remedy = f'which is not installed; run pip install "glasshouse[{NEEDY[command]}]"\n'
        assert result.stderr.endswith(remedy)
        assert result.stderr.count("\n") == 1
        assert sorted(used.rglob("*")) == before

    def test_every_public_name_and_every_module_is_there(self, alone, tmp_path):
        script = """
import importlib, pkgutil, warnings
import glasshouse as gh
for name in gh.__all__:
    getattr(gh, name)
for module in pkgutil.walk_packages(gh.__path__, "glasshouse."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
for sampler in (gh.GlasshouseAnnealer, gh.GlasshouseTempering):
    try:
        sampler()
    except gh.MissingPackageError as error:
        print(error)
from glasshouse.extras import extras_by_presence
print(extras_by_presence()[0], gh.random_loops(5, 5, frustration="1/5", loops=2, rng=1))
"""
        result = subprocess.run(
            [alone / "python", "-W", "error", "-c", script],
            cwd=tmp_path, env=environment(), capture_output=True, text=True,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        *missing, last = result.stdout.splitlines()
        assert len(missing) == 2
        assert all('pip install "glasshouse[solvers]"' in line for line in missing)
        assert last.startswith("[] Planted(random_loops, ")

    def test_as_a_module(self, alone, tmp_path):
        words = [alone / "python", "-m", "glasshouse", "--version"]
        result = subprocess.run(
            words, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True
        )
        assert result.stdout.splitlines()[0] == f"glasshouse {gh.__version__}"
        assert "extras: none" in result.stdout
