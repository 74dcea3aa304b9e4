"""Solver commands, such as `mysolver --seed {seed} {file}`, and the limits of their runs.

A command never goes through a shell. Limits are on time, memory and output.
"""

from __future__ import annotations

import math
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from glasshouse.problems import validation
from glasshouse.summaries import Summarised

MEGABYTE = 1 << 20
# Far more than a solver needs, and few enough for the computer to keep working.
MOST_PROCESSES = 1000
LARGEST_FOLDER = 4096 * MEGABYTE
_PLACE = re.compile(r"\{(file|seed|seconds)\}")
_MISTYPED = re.compile(r"[-\w]*=?(\{\w*\})")  # a word that can only be a mistyped placeholder
_SHELL = re.compile(r"[0-9&]?>{1,2}\S*|<\S*|\|\|?|&&?|;")


@dataclass(frozen=True, repr=False)
class Limits(Summarised):
    """The limits of one run, which apply to the command and all processes that it starts.

    Attributes:
        seconds: wall-clock time. At the limit all processes get SIGTERM, and SIGKILL after `grace`.
        cpu_seconds: CPU time of all processes together; None sets no limit. It ends a run like
            `seconds`: SIGTERM, the grace time, SIGKILL.
        memory: bytes of resident memory, of all processes together.
        output: bytes on standard output. A solver that prints more is stopped.
        grace: seconds between SIGTERM and SIGKILL, in which a solver may print its best model. They
            are not part of its time: output in the grace time counts as printed at the limit.
            Built-in solvers need about 0.2 seconds, and 0.7 on busy computers.

    >>> Limits(seconds=10).memory / MEGABYTE
    4096.0
    """

    seconds: float = 60.0
    cpu_seconds: float | None = None
    memory: int = 4096 * MEGABYTE
    output: int = 64 * MEGABYTE
    grace: float = 1.0

    def __post_init__(self) -> None:
        for name in ("seconds", "cpu_seconds", "grace"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and 0 < value < math.inf):
                raise ValueError(f"{name}={value!r} must be a number of seconds above 0")
        validation.count(self.memory, "memory", MEGABYTE)
        validation.count(self.output, "output", 1)


@dataclass(frozen=True, repr=False)
class SolverCommand(Summarised):
    """A command with placeholders for the file, a seed and the time limit in seconds.

    Only `{file}`, `{seed}` and `{seconds}` are replaced. Without `{file}`, the file is the last
    argument, as in the MaxSAT Evaluation. The command runs in an empty folder, so a relative path
    of a program or script is resolved here, in the current folder.

    Attributes:
        words: program and arguments.

    >>> command = SolverCommand.parse("echo -s {seed} {file}")
    >>> command.arguments(Path("a.wcnf"), seed=7, seconds=1.5)[1:]
    ['-s', '7', 'a.wcnf']
    """

    words: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> SolverCommand:
        """Parse a command line, which is split at unquoted spaces.

        Raises:
            ValueError: the text is empty, a quote is not closed, a placeholder is unknown, a word
                needs a shell, or the program does not exist.
        """
        try:
            words = shlex.split(text)
        except ValueError as fault:
            raise ValueError(f"cannot split the command {text!r}: {fault}") from None
        if not words:
            raise ValueError('the command is empty; pass one such as "mysolver {file}"')
        program = shutil.which(words[0])
        if program is None:
            if Path(words[0]).exists():
                raise ValueError(
                    f"the solver {words[0]!r} is not executable; use chmod +x, or name "
                    f'the program that runs it, for example "python3 {words[0]} {{file}}"'
                )
            raise ValueError(
                f"the solver {words[0]!r} was not found; pass the path of a program, or add its "
                "folder to PATH"
            )
        for word in words[1:]:
            _refuse_meaningless(word)
        if not any("{file}" in word for word in words):
            words.append("{file}")
        return cls((str(Path(program).absolute()), *map(_found_here, words[1:])))

    def arguments(self, file: Path, seed: int, seconds: float) -> list[str]:
        """Return the program and arguments of one run, with all placeholders replaced."""
        values = {"file": str(file), "seed": str(seed), "seconds": str(math.ceil(seconds))}
        return [_PLACE.sub(lambda place: values[place[1]], word) for word in self.words]

    def __str__(self) -> str:
        return shlex.join(self.words)


def _refuse_meaningless(word: str) -> None:
    """Raise if a word is a misspelt placeholder, or if only a shell would interpret it."""
    mistyped = _MISTYPED.fullmatch(word)
    if mistyped and not _PLACE.fullmatch(mistyped[1]):
        raise ValueError(
            f"{mistyped[1]} is not a placeholder; use {{file}}, {{seed}} or {{seconds}}"
        )
    if _SHELL.fullmatch(word):
        raise ValueError(
            f"{word!r} needs a shell, but commands run without one; use sh -c '…', or remove "
            f"{word!r} (the whole standard output is read anyway)"
        )


def _found_here(word: str) -> str:
    """Return a word unchanged, or as an absolute path if it names an existing file."""
    is_path = not word.startswith("-") and "{" not in word and Path(word).is_file()
    return str(Path(word).absolute()) if is_path else word
