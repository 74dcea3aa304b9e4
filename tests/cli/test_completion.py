"""Scripts for completion, tried in the shells they are for."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time

import pytest
from tests.children import PATIENCE

from glasshouse.cli import main

# What is typed, and words that are offered then.
TYPED = {
    "glasshouse pl": {"plant"},
    "glasshouse plant wis": {"wishart"},  # a planting method
    "glasshouse study ru": {"run"},
    "glasshouse plant random --overl": {"--overlap"},
    "glasshouse plant random --overlap ": {"constructive", "none"},  # choices
    "glasshouse completion ": {"bash", "zsh", "fish"},
}


def needed(shell):
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"{shell} is not installed")
    return path


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """The scripts of all shells, in files with the documented names."""
    folder = tmp_path_factory.mktemp("completion")
    names = {"bash": "glasshouse", "zsh": "_glasshouse", "fish": "glasshouse.fish"}
    for shell, name in names.items():
        (folder / shell).mkdir()
        command = f"from glasshouse.cli import main; main(['completion', '{shell}'])"
        with (folder / shell / name).open("w") as file:
            subprocess.run([sys.executable, "-c", command],
                           stdout=file, check=True)  # fmt: skip
    return {shell: folder / shell / name for shell, name in names.items()}


def test_bash(scripts):
    lines = [f"source {scripts['bash']}"]
    for typed in TYPED:
        words = " ".join(f"'{word}'" for word in typed.split(" "))
        lines += [
            f"COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()",
            "_glasshouse glasshouse; echo ${COMPREPLY[*]}",
        ]
    command = [needed("bash"), "--norc", "-c", "\n".join(lines)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    offered = [set(line.split()) for line in result.stdout.split("\n")[:-1]]
    assert offered == list(TYPED.values())
    assert result.stderr == ""


def test_fish(scripts):
    lines = [f"source {scripts['fish']}", *(f"complete -C '{typed}'; echo END" for typed in TYPED)]
    command = [needed("fish"), "--no-config", "-c", "\n".join(lines)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    offered = [
        {line.split("\t")[0] for line in part.splitlines()}
        for part in result.stdout.split("END\n")[:-1]
    ]
    for words, wanted in zip(offered, TYPED.values(), strict=True):
        assert wanted <= words


class Terminal:
    """An interactive zsh."""

    def __init__(self, command):
        self.process, self.end = pty.fork()
        if self.process == 0:
            os.environ.update(TERM="dumb", PS1="> ")
            os.execv(command[0], command)

    def type(self, text, until):
        """Return the screen after some keys, as soon as it matches a pattern."""
        os.write(self.end, text.encode())
        shown, deadline = "", time.monotonic() + PATIENCE
        while not re.search(until, shown):
            assert time.monotonic() < deadline, f"{text!r} shows {shown!r}"
            if select.select([self.end], [], [], 0.1)[0]:
                shown += os.read(self.end, 65536).decode(errors="replace")
        return shown

    def close(self):
        os.close(self.end)
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


@pytest.mark.parametrize("way", ["by $fpath", "by source"])
def test_zsh(scripts, way):
    terminal = Terminal([needed("zsh"), "-f", "-i"])
    script = scripts["zsh"]
    loading = f"fpath=({script.parent} $fpath); autoload -Uz compinit; compinit -u -D"
    if way == "by source":
        loading = f"autoload -Uz compinit; compinit -u -D; source {script}"
    try:
        terminal.type(f"{loading}; stty cols 300; echo REA''DY\n", "READY")
        for typed, wanted in TYPED.items():
            terminal.type(typed, re.escape(typed[-3:]))
            rest = [word.removeprefix(typed.split(" ")[-1]) for word in sorted(wanted)]
            terminal.type("\t", ".*".join(rest))
            terminal.type("\x15", "")
    finally:
        terminal.close()


def test_a_shell_that_is_not_known(capsys):
    assert main(["completion", "tcsh"]) == 2
    assert 'Choose from: "bash", "zsh", "fish"' in capsys.readouterr().err
