"""The commands as a person types them: output, exit codes, one-line errors."""

from __future__ import annotations

import itertools
import json
import platform
import re
import subprocess
import sys
from importlib import metadata

import pytest
from cyclopts import App

import glasshouse as gh
from glasshouse.cli import COMMANDS, add_options, app, main, renamed
from glasshouse.cli.output import free_pictures

WCNF = "c planted-cost 3\np wcnf 3 4 100\n3 1 -2 0\n3 -1 2 0\n4 3 0\n3 -3 0\n"


@pytest.fixture
def wcnf(tmp_path):
    path = tmp_path / "x.wcnf"
    path.write_text(WCNF)
    return path


def run(*arguments):
    """The command in its own process."""
    command = [sys.executable, "-m", "glasshouse"]
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True)


def fails(capsys, code, *arguments):
    """One line on standard error, nothing on standard output, the right exit code."""
    assert main([str(a) for a in arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("glasshouse: ")
    assert captured.err.count("\n") == 1
    return captured.err


def test_info(wcnf, capsys):
    assert main(["info", str(wcnf)]) == 0
    shown = capsys.readouterr().out
    for word in ("MAX-2-SAT", "variables", "3 to 4", "bipartite", "planted cost      3"):
        assert word in shown


def test_info_json(wcnf, capsys):
    assert main(["info", str(wcnf), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["variables"] == 3
    assert values["terms"] == 4
    assert values["planted_cost"] == 3
    assert values["bipartite"] == [2, 1]
    assert values["free_variables"] == 0


def test_convert_keeps_the_problem(wcnf, tmp_path, capsys):
    target = tmp_path / "x.coo"
    assert main(["convert", str(wcnf), str(target)]) == 0
    source, ising = gh.read(wcnf), gh.read(target)
    assert gh.to_ising(source)[0] == ising
    assert "MAX-2-SAT → Ising: E_target = 2·E_source" in capsys.readouterr().out
    assert main(["convert", str(wcnf), str(tmp_path / "x.npz"), "--kind", "rbm", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["from"], told["to"]) == ("MAX-2-SAT", "RBM")


def test_convert_does_not_overwrite(wcnf, tmp_path, capsys):
    target = tmp_path / "y.qubo"
    target.write_text("mine")
    assert "exists" in fails(capsys, 2, "convert", wcnf, target)
    assert target.read_text() == "mine"
    assert main(["convert", str(wcnf), str(target), "--force"]) == 0
    assert target.read_text() != "mine"


def test_convert_carries_nothing_that_it_did_not_verify(tmp_path, capsys):
    source, target = tmp_path / "x.wcnf", tmp_path / "y.qubo"
    gh.write(source, gh.random_loops(5, 5, frustration="1/5", loops=4, rng=1))
    text = source.read_text()
    assert main(["convert", str(source), str(target)]) == 0
    assert main(["check", str(target)]) == 0
    assert capsys.readouterr().err == ""
    # Without a proof, statements are dropped and reported; the recipe is copied as stated.
    beside = tmp_path / "x.wcnf.cert"
    proof = beside.read_text()
    beside.unlink()
    assert main(["convert", str(source), str(target), "--force"]) == 0
    left_out = f"left out: the optimum that {source} states (there is no proof)"
    assert left_out in capsys.readouterr().err
    assert "planted" not in target.read_text()
    assert gh.read_document(target).stated.recipe == gh.read_document(source).stated.recipe
    assert main(["check", str(target)]) == 2
    # The recipe proves it, if the user requests that.
    assert main(["check", str(source), "--recipe"]) == 0
    assert "proven by 4 loops); its recipe grows it" in capsys.readouterr().out
    assert main(["convert", str(source), str(target), "--force", "--recipe"]) == 0
    assert main(["check", str(target)]) == 0
    # Without proof and recipe, statements are dropped and reported.
    source.write_text("".join(x for x in text.splitlines(True) if "recipe" not in x))
    capsys.readouterr()
    assert main(["convert", str(source), str(target), "--force"]) == 0
    assert left_out in capsys.readouterr().err
    assert "planted" not in target.read_text()
    # A recipe of another instance.
    source.write_text(text.replace('"seed":1', '"seed":2'))
    beside.write_text(proof)
    assert main(["convert", str(source), str(target), "--force"]) == 0
    assert capsys.readouterr().err == ""
    assert gh.read_document(target).stated.recipe["seed"] == 2
    assert main(["check", str(target)]) == 0
    for words in (["check", str(target)], ["convert", str(source), str(target), "--force"]):
        assert main([*words, "--recipe"]) == 1
        assert "problem that differs from the problem in the file" in capsys.readouterr().err
    # A lie.
    before = target.read_text()
    cost = gh.read_document(source).stated.cost
    source.write_text(text.replace(f"planted-cost {cost}", f"planted-cost {cost - 1}"))
    assert main(["convert", str(source), str(target), "--force"]) == 1
    assert "use --blind to convert only the problem" in capsys.readouterr().err
    assert target.read_text() == before
    assert main(["convert", str(source), str(target), "--force", "--blind"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "nonsense"),
        (["info"], "FILE"),
        (["info", "no-such-file.wcnf"], "no such file"),
        (["info", "x.unknown"], "there is no such file"),
        (["info", ".", "--json"], "is a directory"),
        (["info", "a.wcnf", "--colour"], "--colour"),
        (["convert", "a.wcnf"], "TARGET"),
        (["convert", "a.wcnf", "b.wcnf", "--dialect", "new"], "dialect"),
        (["plant"], None),
        (["plant", "random", "-n", "10"], "frustration"),
        (["plant", "random", "-n", "10", "-f", "0.3", "--loops", "3"], "above 1/4"),
        (
            ["plant", "random", "-n", "x", "-f", "0.1", "--loops", "3"],
            "-n: x is not an integer",
        ),
        (["plant", "random", "-n", "10", "-f", "1/5"], "--loop-density"),
        (["plant", "random", "-n", "10.7", "-f", "1/5", "--loops", "3"], "10.7"),
        (["plant", "random", "-n", "9", "-f", "1/5", "--loops", "0x3"], "0x3"),
        (["plant", "random", "-n", "9", "-f", "1/5", "--loops", "3", "--seed", "-1"], "--seed -1"),
        (["plant", "random", "-n", "9", "-f", "1/5", "--loops", "3", "--blind"], "-o FILE"),
        (["plant", "random", "-n", "9", "-f", "1/5", "--loops", "3", "--format", "x"], "--format"),
        (["plant", "classic", "-m", "9", "--graph", "torus:3x3", "--loops", "3"], "--graph"),
        (["plant", "random", "-n", "9", "-f", "1/5", "--loops", "3", "--count", "2"], "-o"),
        (["check"], "FILE"),
    ],
)
def test_wrong_usage_is_one_line(arguments, message, capsys):
    if message is None:
        assert main(arguments) == 0  # shows its help
        return
    assert message in fails(capsys, 2, *arguments)


def test_a_bad_file_is_named_with_its_line(tmp_path, capsys):
    path = tmp_path / "bad.wcnf"
    path.write_text("p wcnf 3 1 100\n3 1 2 three 0\n")
    message = fails(capsys, 2, "info", path)
    assert "bad.wcnf" in message
    assert "line 2" in message


def commands_and_their_parts() -> list[list[str]]:
    found = []
    for name, command in COMMANDS.items():
        found.append([name])
        if isinstance(command, App):
            found += [[name, part] for part in command if not part.startswith("-")]
    return found


@pytest.mark.parametrize("command", commands_and_their_parts(), ids=" ".join)
def test_every_command_has_help_with_examples(command, capsys):
    assert main([*command, "--help"]) == 0
    usage, *lines = capsys.readouterr().out.splitlines()
    typed = " ".join(["glasshouse", *command])
    assert usage.startswith(f"Usage: {typed}")
    assert any(line.strip().startswith(typed) for line in lines)  # the usage line is not an example
    assert any(line.startswith("For instance") for line in lines)


def test_the_installed_command_runs():
    result = run("--version")
    assert result.returncode == 0
    assert result.stdout.splitlines()[0] == f"glasshouse {gh.__version__}"


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_versions_of_what_matters(flag, capsys):
    assert main([flag]) == 0
    _, python, *packages = capsys.readouterr().out.splitlines()
    assert python.startswith(f"Python {platform.python_version()} (")
    for package in ("numpy", "scipy", "numba", "highspy"):
        assert f"{package} {metadata.version(package)}" in packages
    assert any(line.startswith("extras: ") for line in packages)


def test_versions_tell_of_extras_that_are_not_there(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["--version"]) == 0
    *_, there, missing = capsys.readouterr().out.splitlines()
    assert there.startswith("extras: ")
    assert "figures" not in there
    assert missing.startswith("without: ")
    assert "figures" in missing


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "pove x.mc",
            "'pove' is not a command; did you mean `glasshouse prove`? (see glasshouse -",
        ),
        ("plant randm", "'randm' is not a command; did you mean `glasshouse plant random`?"),
        ("race shwo x", "'shwo' is not a command; did you mean `glasshouse race show`?"),
        ("train shwo x", "'shwo' is not a command; did you mean `glasshouse train show`?"),
        (
            "nothing",
            "'nothing' is not a command; use one of info, convert, back, draw, plant, tune,",
        ),
        ("nothing", "report, demo, compile, completion (see glasshouse --help)"),
        ("--versoin", "did you mean `glasshouse --version`?"),
        (
            "race run --solver anneal --suit smoke -o x",
            "Unknown option: --suit. Did you mean --suite? (see",
        ),
        ("study run x.toml --ouput=y", "Unknown option: --ouput. Did you mean --output? (see"),
        ("plant random", "--visible or -n is missing (see glasshouse plant random --help)"),
        ("plant random -n", "-n needs a value (see glasshouse plant random --help)"),
        ("solve", "FILE is missing (see glasshouse solve --help)"),
        ("suite write smoke peak -o x", "too many words: peak (see glasshouse suite write --help)"),
        ("judge", "FILE is missing (see glasshouse judge --help)"),
        ("solve x --rns 3", "Unknown option: --rns. Did you mean --runs? (see glasshouse solve"),
        ("completion tcsh", 'Choose from: "bash", "zsh", "fish". (see glasshouse completion'),
    ],
)
def test_wrong_usage_is_told_in_one_line_that_names_the_help(words, told, capsys):
    assert main(words.split()) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("glasshouse: ")
    assert told in said.err
    assert said.err.endswith("--help)\n")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(("old", "new"), renamed.COMMANDS.items())
def test_old_commands_name_the_new_one(old, new, capsys):
    more = ["--solver", "x"] if old in ("race", "fuzz") else ["x.sqlite"]
    assert main([*old.split(), *more]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"glasshouse: `glasshouse {old}` is now `glasshouse {new}`")
    assert told.count("\n") == 1
    assert main([*itertools.takewhile(lambda word: word[0] != "-", new.split()), "--help"]) == 0


@pytest.mark.parametrize(("command", "old", "new"), renamed.OPTIONS)
def test_old_options_name_the_new_one(command, old, new, capsys):
    words = [*command.split(), *(["random"] if command == "plant" else [])]
    for typed in ([old, "3"], [f"{old}=3"]):
        assert main([*words, *typed]) == 2
        assert capsys.readouterr().err.startswith(f"glasshouse: {old} is now {new}")
    assert main([*words, "--help"]) == 0
    told = capsys.readouterr().out
    assert new.split()[0] in told or new.startswith("glasshouse")


def test_switches_have_no_negative_form():
    add_options()
    told = app.generate_docs(output_format="markdown", usage_name="glasshouse")
    assert "--blind" in told
    assert set(re.findall(r"--no-[a-z-]+", told)) == {"--no-biases"}


def test_the_page_of_a_report_has_a_name_by_default(wcnf, monkeypatch, capsys):
    assert main(["report", "--help"]) == 0
    assert "default: report.html" in " ".join(capsys.readouterr().out.split())
    monkeypatch.chdir(wcnf.parent)
    assert main(["report", "x.wcnf"]) == 0
    assert capsys.readouterr().out.startswith("report.html: 1 section")
    assert fails(capsys, 2, "report", "x.wcnf").startswith("glasshouse: report.html")


def test_pictures_go_beside_what_they_show(tmp_path):
    store = tmp_path / "n=0.5.sqlite"
    paths = free_pictures(None, store, force=False)
    assert [path.name for path in paths] == ["n=0.5.png", "n=0.5.svg"]
    paths[0].write_text("mine")
    with pytest.raises(ValueError, match=r"n=0.5.png"):
        free_pictures(None, store, force=False)
    assert free_pictures(None, store, force=True) == paths
    with pytest.raises(ValueError, match=r"n=0.5.png"):
        free_pictures(paths[0], paths[0], force=True)


def test_without_words_the_help_is_shown(capsys):
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("Usage: glasshouse COMMAND")


def test_a_reader_that_goes_away_is_no_error(wcnf):
    command = f"{sys.executable} -c 'from glasshouse.cli import main; import sys; sys.exit(main())'"
    result = subprocess.run(
        f"{command} info {wcnf} | head -0", shell=True, capture_output=True, text=True
    )
    assert result.stderr == ""


def test_weights_too_large_for_spins_can_still_be_looked_at(tmp_path, capsys):
    path = tmp_path / "large.wcnf"
    path.write_text("p wcnf 2 2 9223372036854775807\n9223372036854775805 1 2 0\n1 -1 0\n")
    assert main(["info", str(path)]) == 0
    assert "9223372036854775805" in capsys.readouterr().out
    assert "large.wcnf" in fails(capsys, 2, "convert", path, tmp_path / "large.coo")


def test_the_units_of_a_matrix_must_be_said(capsys, tmp_path):
    path = tmp_path / "w.csv"
    path.write_text("2,-1\n0.5,1\n1,1\n")
    for command in ("info", "solve", "prove"):
        fails(capsys, 2, command, path)
    assert main(["solve", str(path), "--units", "binary", "--json", "--seed", "1"]) == 0
    best = json.loads(capsys.readouterr().out)
    assert best["energy"] == -4.5  # all units on: the sum of W
    assert best["model"] == "11111"
    assert main(["convert", str(path), str(tmp_path / "w.qplib"), "--units", "spin"]) == 0
    capsys.readouterr()
    fails(capsys, 2, "info", tmp_path / "w.qplib", "--units", "spin")


def test_labels_are_told(capsys, tmp_path):
    path = tmp_path / "x.coo"
    path.write_text("# vartype=SPIN\n30 45 1\n45 45 1\n")
    assert main(["solve", str(path), "--json", "--seed", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["labels"] == [30, 45]
    assert main(["info", str(path)]) == 0
    assert "30 to 45" in capsys.readouterr().out


def test_a_solution_comes_back_in_the_files_own_numbers(tmp_path, capsys):
    clauses, qubo = tmp_path / "x.wcnf", tmp_path / "x.qubo"
    gh.write(clauses, gh.random_loops(6, 6, frustration="1/5", loops=4, rng=1))
    assert main(["convert", str(clauses), str(qubo)]) == 0
    capsys.readouterr()
    main(["solve", str(qubo), "--json", "--seed", "1"])
    answer = json.loads(capsys.readouterr().out)
    solution = tmp_path / "answer.json"
    solution.write_text(json.dumps(answer))
    assert main(["back", str(clauses), str(qubo), str(solution), "--json"]) == 0
    back = json.loads(capsys.readouterr().out)
    assert back["target_value"] == answer["objective"]
    assert back["cost"] == gh.read_document(clauses).stated.cost
    assert back["target_value"] != back["target_energy"]


def test_a_manifest_without_its_files_is_no_lie(tmp_path, capsys):
    plants = [gh.random_loops(4, 4, frustration="1/5", loops=2, rng=1)]
    gh.write_suite(tmp_path / "files", plants, blind=True, answers=tmp_path / "answers")
    assert main(["check", str(tmp_path / "answers" / "manifest.jsonl")]) == 2
    assert "--instances DIR" in capsys.readouterr().err
