"""Old names of commands and options, and the names that replaced them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

# The words that were typed after `glasshouse`, and the words that are typed now. The last lines
# apply to all words after a command that are not its subcommands.
COMMANDS = {
    "plant fuzz": "fuzz one",
    "race export": "store export --as time-series",
    "study check": "store check",
    "study export": "store export",
    "study merge": "store merge",
    "study status": "study show",
    "suite --list": "suite list",
    "train draw": "draw",
    "train export": "store export",
    "fuzz": "fuzz run",
    "race": "race run",
    "suite": "suite write",
    "train": "train run",
}
# Command, option, and its replacement.
OPTIONS = (
    ("check", "--files", "--instances DIR"),
    ("convert", "--back", "glasshouse back SOURCE TARGET SOLUTION"),
    ("convert", "--format", "--from"),
    ("fuzz run", "--seconds", "--time-limit"),
    ("fuzz run", "--shrink-seconds", "--shrink-time-limit"),
    ("plant", "--out-dir", "-o DIR"),
    ("prove", "--output", "--certificate"),
    ("prove", "-o", "--certificate"),
    ("race run", "--memory", "--memory-limit"),
    ("race run", "--repeat", "--runs"),
    ("study run", "--timeout", "--batch-time-limit"),
    ("train run", "--length", "a part of the name, such as bars:9x5"),
    ("train run", "--mode-seconds", "--mode-time-limit"),
    ("train run", "--side", "a part of the name, such as stripes:4"),
    ("train run", "--threshold", "a part of the name, such as digits:8"),
    ("train run", "--width", "a part of the name, such as bars:9x5"),
    ("tune", "--block", "-p block=VALUE"),
    ("tune", "--length", "-p length=VALUE"),
    ("tune", "--loop-density", "-p loop_density=VALUE"),
    ("tune", "--out-dir", "-o DIR"),
)


def renamed_command(chain: Sequence[str], word: str, is_misspelt: bool = False) -> str:
    """Return a message with the new name of an old command; empty if the command was not renamed.

    Args:
        chain: the commands that were understood.
        word: the word after them, which is not a command.
        is_misspelt: whether the word is close to a current command.

    >>> renamed_command(["train"], "draw")
    '`glasshouse train draw` is now `glasshouse draw`'
    >>> renamed_command(["train"], "bars")
    '`glasshouse train` is now `glasshouse train run`'
    """
    # `race` and `fuzz` took only options, so another word is not from an older version.
    is_other = is_misspelt or (chain[-1:] in (["race"], ["fuzz"]) and not word.startswith("-"))
    for typed in (" ".join([*chain, word]), *([] if is_other else [" ".join(chain)])):
        if typed in COMMANDS:
            return f"`glasshouse {typed}` is now `glasshouse {COMMANDS[typed]}`"
    return ""


def renamed_option(chain: Sequence[str], words: Iterable[str]) -> str:
    """Return a message with the new name of the first old option; empty if no option was renamed.

    >>> renamed_option(["race", "run"], ["--repeat=3"])
    '--repeat is now --runs'
    """
    typed = [word.partition("=")[0] for word in words]
    for command, option, new in OPTIONS:
        if list(chain)[: len(command.split())] == command.split() and option in typed:
            return f"{option} is now {new}"
    return ""
