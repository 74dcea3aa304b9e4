"""Names of arguments become options in messages, names of files stay as they are."""

import contextlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
    assert said == f"glasshouse: {name}: already exists; pass --force to replace it\n"


OPTIONS = {"n": "-n", "rng": "--seed", "loop_density": "--loop-density", "answers": "--answers",
           "frustration": "--frustration", "max_weight": "--max-weight"}  # fmt: skip


@pytest.mark.parametrize(("message", "said"), [
    ("n=0 is below 1, the least it can be", "-n 0 is below 1, the least it can be"),
    ("rng='x.coo' is no seed", "--seed 'x.coo' is no seed"),
    ("rng='n=5 x' is no seed", "--seed 'n=5 x' is no seed"),
    ("frustration=0.3 and loop_density=2.5 go together",
     "--frustration 0.3 and --loop-density 2.5 go together"),
    ('overlap="none" bounds all; leave max_weight out',
     'overlap="none" bounds all; leave --max-weight out'),
    ("the folder n=3/x is empty", "the folder n=3/x is empty"),
    ("answers=5 must be below n=7", "--answers 5 must be below -n 7"),
    ("units='x' is neither", "units='x' is neither"),  # not an option of the command
])  # fmt: skip
def test_arguments_become_options(message, said):
    assert as_options(message, OPTIONS, ["n=3/x"]) == said


def test_options_are_those_of_the_command(tmp_path, home, monkeypatch, capsys):
    """A command without --force is not advised to use it."""
    monkeypatch.chdir(tmp_path)
    words = ["plant", "random", "-n", "0", "-f", "1/5", "--loops", "3"]
    assert main(words) == 2
    assert "-n 0 is too small" in capsys.readouterr().err
    assert main(["solve", str(home / "real.wcnf"), "--time-limit", "0"]) == 2
    assert "--time-limit 0.0 is not" in capsys.readouterr().err
    assert main(["suite", "write", "smoke", "--count", "1", "-o", "s"]) == 0
    (tmp_path / "s" / "answers" / "manifest.jsonl").unlink()
    (tmp_path / "s" / "instances" / "smoke-00000.wcnf").write_text("")
    assert main(["suite", "write", "smoke", "--count", "1", "-o", "s"]) == 2
    assert capsys.readouterr().err.endswith("smoke-00000.wcnf: already exists\n")


# Names of files that look like arguments or options of some command.
WORDS = ["n=1", "-n", "seed=3", "runs", "time_limit", "time_limit=0", "--force", "overwrite=True",
         "rng='x'", "n=100.coo", "max_weight=3", "output=x", "format=wcnf", "workers=2", "f=0.2",
         "loop_density", "units=\"spin\"", "solver=rc2", "n=1:", "c, line 3",
         "sweeps=1e3"]  # fmt: skip
SUFFIXES = ["", ".wcnf", ".coo", ".npz", ".sqlite", ".toml", ".mc", ".cert", ".txt", ".html"]
names = st.builds(
    lambda words, gap, suffix: gap.join(words) + suffix,
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
    st.sampled_from([" ", "  ", "_", ",", "; "]),
    st.sampled_from(SUFFIXES),
)
# `{}` is the name of a file; every command that takes a file is here, with all options for files.
COMMANDS = [
    ["info", "{}"], ["check", "{}"], ["check", "{}", "--certificate", "{}"],
    ["convert", "{}", "new.qubo"], ["convert", "real.wcnf", "{}"],
    ["back", "real.wcnf", "real.wcnf", "{}"],
    ["prove", "{}"], ["prove", "real.wcnf", "--certificate", "missing/{}"],
    ["prove", "real.wcnf", "--veripb", "missing/{}"],
    ["solve", "{}"], ["solve", "{}", "--solver", "prove", "--time-limit", "1"],
    ["judge", "{}", "{}"], ["judge", "real.wcnf", "{}"],
    ["plant", "random", "-n", "5", "-f", "1/5", "--loops", "3", "-o", "missing/{}"],
    ["plant", "random", "-n", "5", "-f", "1/5", "--loops", "3", "--count", "1",
     "-o", "real.wcnf/{}"],
    ["fuzz", "one", "-o", "missing/{}"],
    ["study", "run", "{}", "-o", "new.sqlite"], ["study", "plot", "{}"], ["study", "fit", "{}"],
    ["store", "export", "{}", "-o", "x.csv"], ["store", "merge", "new.sqlite", "{}"],
    ["suite", "write", "{}", "-o", "new"],
    ["suite", "write", "smoke", "--count", "1", "-o", "real.wcnf/{}"],
    ["race", "run", "--solver", "anneal", "--suite", "{}", "-o", "new.sqlite"],
    ["race", "run", "--solver", "anneal", "--suite", "real.wcnf", "-o", "missing/{}"],
    ["fuzz", "run", "--solver", "rc2", "--count", "1", "-o", "{}"],
    ["train", "run", "{}", "--hidden", "2", "-o", "new.npz"], ["report", "{}"],
    ["report", "real.wcnf", "-o", "missing/{}"],
    ["draw", "{}", "-o", "x.png"],
]  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    (folder / "real.wcnf").write_text("p wcnf 1 1 2\n1 1 0\n")
    return folder


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(name=names)
def test_no_name_of_a_file_is_ever_changed(command, name, home, capsys):
    typed = [word.replace("{}", name) for word in command]
    if any(word.startswith("-") and "{}" in old for word, old in zip(typed, command, strict=True)):
        typed = [word if "{}" not in old else f"./{word}"
                 for word, old in zip(typed, command, strict=True)]  # fmt: skip
    with contextlib.chdir(home):
        code = main(typed)
    said = capsys.readouterr().err
    if code:  # some names end in the suffix of a format, and such a file can be written
        assert name in said, (typed, said)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("check known.xyz", "--format"),
        ("plant random -n 9 -f 1/5 --loops 3 -o new.xyz", "--format"),
        ("convert known.xyz new.wcnf", "--from or --to"),
    ],
)
def test_an_unknown_suffix_names_the_option_that_gives_the_format(
    words, option, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "known.xyz").write_text("nothing that is known\n")
    assert main(words.split()) == 2
    assert capsys.readouterr().err.endswith(f'such as {option} "wcnf"\n')
