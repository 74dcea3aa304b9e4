"""Every command and option is described, and the examples of `--help` are lines that it takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import fields
from types import NoneType
from typing import Any, get_args

import pytest
from cyclopts import App, Argument
from tests.docs.pages import PAGES, ROOT, blocks_of

from glasshouse.cli import add_options, app, main
from glasshouse.cli.instances import Output
from glasshouse.cli.options import as_paths

add_options()


def commands(parent: App, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], App]]:
    """All commands with the words that call them."""
    for name in parent:
        if not name.startswith("-"):
            yield (*words, name), parent[name]
            yield from commands(parent[name], (*words, name))


COMMANDS = dict(commands(app))


def lines_of(text: str) -> list[str]:
    """The lines that call glasshouse, one for each part of a pipe."""
    whole = text.replace("\\\n", " ").splitlines()
    parts = [part for line in whole for part in re.split(r"\||;|&&", line)]
    parts = [re.sub(r"\s#.*|\s[<>]\s?\S+", "", part).strip() for part in parts]
    return [part for part in parts if part.startswith("glasshouse ")]


def understand(line: str) -> None:
    """Read a line as `glasshouse` does, and do nothing; what is wrong with it is raised."""
    words = as_paths(shlex.split(line)[1:])
    app.parse_args(words, exit_on_error=False, print_error=False)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_and_option_is_described(words):
    command = COMMANDS[words]
    assert command.help, f"{' '.join(words)} does not say what it does"
    if command.default_command is None:
        return
    silent = [
        argument.name
        for argument in command.assemble_argument_collection(parse_docstring=True)
        if argument.show and not argument.parameter.help
    ]
    assert not silent, f"{' '.join(words)}: no help text describes {', '.join(silent)}"


# What an option means, whatever command has it: its help matches this.
MEANINGS = {
    "--answers": "folder .*answers|another folder",
    "--blind": "leave out|write nothing",
    "--certificate": "proof|certificate",
    "--axis": "density, size, or a parameter",
    "--clock": "wall",
    "--count": "the number of",
    "--dask": "the address of a Dask scheduler",
    "--dialect": "the dialect of WCNF|the format that the commands read",
    "--force": "overwrite files that already exist",
    "--format": "the format of",
    "--from": "the format of SOURCE",
    "--frustration": "fraction of violated weight",
    "--graph": "a graph's name",
    "--instances": "folder (of the|with files of standard) instances",
    "--json": "print one JSON object",
    "--memory-limit": "megabytes",
    "--monitor": "the monitors( to draw)?, separated by commas",
    "--most-total": "the largest sum of all soft weights",
    "--most-weight": "the largest weight of a soft clause",
    "--beyond-rules": "use weights of 0 and weights of 2",
    "--plain": "leave out tautologies",
    "--recipe": "grow the recipe",
    "--runs": "runs",
    "--seed": "fixes all randomness|the seed of the first",
    "--shuffle": "random names",
    "--statistic": "the statistic of the hardness",
    "--strict": "count a wrong exit code alone as a fault",
    "--value": "the column to",
    "--time-limit": "^seconds",
    "--to": "the format of TARGET",
    "--units": "±1",
    "--workers": "the number of",
    "--output": "",  # the one thing that a command makes
    "--shrink-time-limit": "seconds of shrinking",
    "--clauses": "at most two literals.* long",
    "--solver": "",  # a built-in, or a command line
}
# Types that differ, and why.
OTHER_TYPES = {
    ("--statistic", "tune"): "a hardness has no mean: instances may be censored",
    ("--solver", "race run"): "may be given several times",
    ("--solver", "race plot"): "may be given twice",
    ("--format", "suite write"): "may be given several times",
    ("--clock", "race run"): "samplers may have their own clocks",
    ("--dialect", "race run"): "commands may read two more dialects",
}


def shared_options() -> dict[str, dict[str, Argument]]:
    """Options by name and command; of `plant METHOD`, those that all methods share.

    Other options of `plant METHOD` are parameters of methods, with the names of the literature.
    """
    found: dict[str, dict[str, Argument]] = {}
    own = {f"--{field.name.replace('_', '-')}" for field in fields(Output)}
    for words, command in COMMANDS.items():
        if command.default_command is not None:
            for argument in command.assemble_argument_collection(parse_docstring=True):
                name = argument.names[0]
                if name.startswith("-") and (words[0] != "plant" or name in own):
                    found.setdefault(name, {})[" ".join(words)] = argument
    return {name: commands for name, commands in found.items() if len(commands) > 1}


def bare(hint: Any) -> Any:
    """A type without None."""
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    return kinds[0] if NoneType in get_args(hint) and len(kinds) == 1 else hint


@pytest.mark.parametrize(("name", "commands"), shared_options().items())
def test_an_option_has_one_type_and_one_meaning(name, commands):
    assert name in MEANINGS, f"say what {name} means, in {', '.join(commands)}"
    for command, argument in commands.items():
        told = " ".join((argument.parameter.help or "").split())
        assert re.search(MEANINGS[name], told), f"{command} {name}: {told}"
    types = {str(bare(one.hint)) for key, one in commands.items() if (name, key) not in OTHER_TYPES}
    assert len(types) == 1, f"{name} is of types {types}"


def test_the_help_fits_on_one_screen(capsys):
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert 24 <= len(lines) <= 40
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_first_example_is_of_the_command_itself(words):
    first = re.search(r"```\w*\n\s*(.*)\n", COMMANDS[words].help)
    assert first is not None
    assert re.search(rf"\bglasshouse {' '.join(words)}\b", first[1]), first[1]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_examples_of_the_help_are_understood(words):
    text = "\n".join(re.findall(r"```\w*\n(.*?)```", COMMANDS[words].help, re.DOTALL))
    lines = lines_of(text)
    assert lines, f"{' '.join(words)} --help has no example"
    for line in lines:
        understand(line)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_lines_of_the_pages_are_understood_as_they_stand(page):
    """The same if the test of a block runs a smaller command."""
    for block in blocks_of(page):
        if block.kind == "sh" and block.file is None:
            for line in lines_of(block.text):
                understand(line)
