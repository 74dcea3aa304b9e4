"""Names of arguments become options in messages, names of files stay as they are."""

import pytest

from glasshouse.cli import main
from glasshouse.cli.errors import as_options

NAMES = ["n=100.coo", "n=5", "rng=1 n=2.wcnf", "sub=1/n=3.qubo", "loop_density.wcnf", "f=1.tar.xz"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", ["info", "check", "solve", "prove"])
def test_a_missing_file_is_named_as_it_was_typed(command, name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([command, name]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"glasshouse: {name}: ") or f" {name}" in said


@pytest.mark.parametrize("name", ["n=100.coo", "rng=1 n=2.wcnf"])
def test_a_bad_file_is_named_as_it_was_typed(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("1 2 three\n")
    assert main(["info", name]) == 2
    assert capsys.readouterr().err.startswith(f"glasshouse: {name}")


@pytest.mark.parametrize("name", ["n=1.wcnf", "max_weight=3.wcnf"])
def test_a_file_that_exists_is_named_as_it_was_typed(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("")
    words = ["plant", "random", "-n", "5", "-f", "1/5", "--loops", "3", "-o", name]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said == f"glasshouse: {name}: exists already; say --force to replace it\n"


@pytest.mark.parametrize(("message", "said"), [
    ("n=0 is below 1, the least it can be", "-n 0 is below 1, the least it can be"),
    ("rng='x.coo' is no seed", "--seed 'x.coo' is no seed"),
    ("frustration=0.3 and loop_density=2.5 go together",
     "--frustration 0.3 and --loop-density 2.5 go together"),
    ("the folder n=3/x is empty", "the folder n=3/x is empty"),
    ("answers=5 must be below n=7", "--answers 5 must be below -n 7"),
])  # fmt: skip
def test_arguments_become_options(message, said):
    assert as_options(message) == said
