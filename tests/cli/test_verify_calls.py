"""How often commands ask the verifier: `plant` and `check` once, `convert` for both files."""

import shlex

import pytest

from glasshouse.certificates import verdict
from glasshouse.cli import main
from glasshouse.planting import Planted

PLANT = "plant random -n 8 -f 1/5 --loops 5 --seed 1"
FORMATS = ["wcnf", "qubo", "mc", "coo", "bqm", "npz", "wcnf.gz"]


@pytest.fixture
def calls(monkeypatch):
    """Count all calls of the verifier."""
    seen, real = [], verdict.examined
    monkeypatch.setattr(verdict, "examined", lambda *given: seen.append(given) or real(*given))
    return seen


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("options", [
    *(f"-o x.{suffix}" for suffix in FORMATS), "-o x.wcnf --json", "-o x.wcnf --blind",
    "-o x.wcnf --blind --certificate y.cert", "-o x.wcnf --shuffle", "-o - --format wcnf", "",
])  # fmt: skip
def test_plant_verifies_once(options, calls):
    assert main(shlex.split(f"{PLANT} {options}")) == 0
    assert len(calls) == 1


@pytest.mark.parametrize("suffix", FORMATS)
def test_check_verifies_once(suffix, calls):
    assert main(shlex.split(f"{PLANT} -o x.{suffix}")) == 0
    calls.clear()
    assert main(["check", f"x.{suffix}"]) == 0
    assert len(calls) == 1
    calls.clear()
    assert main(["check", f"x.{suffix}", "--json"]) == 0
    assert len(calls) == 1


@pytest.mark.parametrize("target", ["wcnf", "qubo", "mc", "coo", "json"])
@pytest.mark.parametrize("source", ["wcnf", "qubo", "mc", "coo", "npz"])
def test_convert_verifies_source_and_target_and_grows_nothing(source, target, calls, monkeypatch):
    assert main(shlex.split(f"{PLANT} -o x.{source}")) == 0
    calls.clear()

    def grown(*_):
        raise AssertionError("a recipe was grown")

    monkeypatch.setattr(Planted, "from_recipe", grown)
    assert main(["convert", f"x.{source}", f"y.{target}"]) == 0
    assert len(calls) == 2
    assert calls[0] != calls[1]
    calls.clear()
    assert main(["check", f"y.{target}"]) == 0
    assert len(calls) == 1


@pytest.mark.parametrize(("words", "expected"), [
    ("convert x.wcnf y.coo --kind ising", 2),
    ("convert x.wcnf y.npz --kind qubo", 2),
    ("convert x.wcnf y.npz --kind rbm", 1),  # doubled: no certificate fits its variables
    ("convert x.wcnf y.wcnf --encoding edge", 1),  # no checker reads this encoding
    ("convert x.wcnf y.wcnf --blind", 0),
    ("convert x.npz y.npz", 1),  # the whole plant is copied
    ("check x.wcnf --recipe", 2),  # the file, and the plant that the recipe grows
])  # fmt: skip
def test_other_ways(words, expected, calls):
    for suffix in ("wcnf", "npz"):
        assert main(shlex.split(f"{PLANT} -o x.{suffix}")) == 0
    calls.clear()
    assert main(shlex.split(words)) == 0
    assert len(calls) == expected
