"""Commands of solvers, such as `mysolver --seed {seed} {file}`, and the limits of their runs.

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
# Far more than a solver needs, and little enough for the machine to live on.
MOST_PROCESSES = 1000
LARGEST_FOLDER = 4096 * MEGABYTE
_PLACE = re.compile(r"\{(file|seed|seconds)\}")
_MISTYPED = re.compile(r"[-\w]*=?(\{\w*\})")  # a word that can be nothing but a place
_SHELL = re.compile(r"[0-9&]?>{1,2}\S*|<\S*|\|\|?|&&?|;")


@dataclass(frozen=True, repr=False)
class Limits(Summarised):
    """The limits of one run; they hold for the command and all processes that it starts.

    Attributes:
        seconds: of wall-clock time. Then everything gets SIGTERM, and SIGKILL after the grace time.
        cpu_seconds: of processor time, of all processes together; None sets no limit. It ends a run
            as `seconds` does: SIGTERM, the grace time, SIGKILL.
        memory: bytes of resident memory, of all processes together.
        output: bytes on standard output. A solver that prints more is stopped.
        grace: seconds between SIGTERM and SIGKILL, in which a solver may print its best model. They
            are no part of its time: what it prints then counts as of the limit. Built-in solvers
            need about 0.2, and 0.7 on busy machines.

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
                raise ValueError(f"{name}={value!r} is no limit; expected seconds above 0")
        validation.count(self.memory, "memory", MEGABYTE)
        validation.count(self.output, "output", 1)


@dataclass(frozen=True, repr=False)
class SolverCommand(Summarised):
    """A command with places for the file, a seed and the seconds it has.

    `{file}`, `{seed}` and `{seconds}` are the only things that are replaced. Without `{file}` the
    file comes last, as in the MaxSAT Evaluation. The command runs in an empty folder, so a program
    or script that is named by its place here is looked up here.

    Attributes:
        words: program and arguments.

    >>> command = SolverCommand.parse("echo -s {seed} {file}")
    >>> command.arguments(Path("a.wcnf"), seed=7, seconds=1.5)[1:]
    ['-s', '7', 'a.wcnf']
    """

    words: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> SolverCommand:
        """A command as one types it: split at spaces, quotes kept together.

        Raises:
            ValueError: nothing there, quotes without an end, a place or a sign that means nothing
                here, or a program that does not exist.
        """
        try:
            words = shlex.split(text)
        except ValueError as fault:
            raise ValueError(f"cannot split the command {text!r}: {fault}") from None
        if not words:
            raise ValueError('an empty command; expected, for example, "mysolver {file}"')
        program = shutil.which(words[0])
        if program is None:
            if Path(words[0]).exists():
                raise ValueError(
                    f"the solver {words[0]!r} is not executable; make it so (chmod +x), or name "
                    f'what runs it, for example "python3 {words[0]} {{file}}"'
                )
            raise ValueError(
                f"the solver {words[0]!r} is not there; give the path of a program, or put its "
                "folder on PATH"
            )
        for word in words[1:]:
            _refuse_meaningless(word)
        if not any("{file}" in word for word in words):
            words.append("{file}")
        return cls((str(Path(program).absolute()), *map(_found_here, words[1:])))

    def arguments(self, file: Path, seed: int, seconds: float) -> list[str]:
        """The command for one run."""
        values = {"file": str(file), "seed": str(seed), "seconds": str(math.ceil(seconds))}
        return [_PLACE.sub(lambda place: values[place[1]], word) for word in self.words]

    def __str__(self) -> str:
        return shlex.join(self.words)


def _refuse_meaningless(word: str) -> None:
    """What would be handed to the solver as it stands, and was meant for somebody else."""
    mistyped = _MISTYPED.fullmatch(word)
    if mistyped and not _PLACE.fullmatch(mistyped[1]):
        raise ValueError(f"{mistyped[1]} is no place in a command: {{file}}, {{seed}}, {{seconds}}")
    if _SHELL.fullmatch(word):
        raise ValueError(
            f"{word!r} is for a shell, and there is none; the solver's standard output is read as "
            "it is. Leave it out, or give sh -c '…'"
        )


def _found_here(word: str) -> str:
    """A word that names an existing file, as an absolute path; any other as it is."""
    is_path = not word.startswith("-") and "{" not in word and Path(word).is_file()
    return str(Path(word).absolute()) if is_path else word
