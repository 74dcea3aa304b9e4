"""Every command and option is described, and the examples of `--help` are lines that it takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest
from cyclopts import App
from tests.docs.pages import PAGES, ROOT, blocks_of

from glasshouse.cli import add_options, app
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
    assert not silent, f"{' '.join(words)}: nothing is said about {', '.join(silent)}"


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_examples_of_the_help_are_understood(words):
    text = "\n".join(re.findall(r"```\w*\n(.*?)```", COMMANDS[words].help, re.DOTALL))
    lines = lines_of(text)
    assert lines, f"{' '.join(words)} --help has no example"
    for line in lines:
        understand(line)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_lines_of_the_pages_are_understood_as_they_stand(page):
    """Also where the test of a block runs a smaller one."""
    for block in blocks_of(page):
        if block.kind == "sh" and block.file is None:
            for line in lines_of(block.text):
                understand(line)
