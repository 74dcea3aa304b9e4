"""`glasshouse --version`, for bug reports, and `glasshouse completion`."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import Literal

from glasshouse.extras import extras_by_presence
from glasshouse.version import __version__

# The packages that results and speed depend on.
PACKAGES = ("numpy", "scipy", "numba", "highspy", "networkx")


def versions() -> str:
    """Return the versions of glasshouse and, without importing them, of its dependencies."""
    there, missing = extras_by_presence()
    python = f"{platform.python_version()} ({platform.python_implementation()}, "
    lines = [
        f"glasshouse {__version__}",
        f"Python {python}{platform.system()} {platform.machine()})",
        *(f"{package} {_version(package)}" for package in PACKAGES),
        f"extras: {', '.join(there) or 'none'}",
    ]
    return "\n".join([*lines, *([f"without: {', '.join(missing)}"] if missing else [])])


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "is not installed"


# The script for zsh defines a function and leaves calling it to the file's name. This code calls it
# in both cases: as a file of $fpath, or by `source`.
_ZSH_CALL = """
if [ "$funcstack[1]" = "_glasshouse" ]; then
  _cyclopts_glasshouse "$@"
else
  compdef _cyclopts_glasshouse glasshouse
fi
"""


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print a script that enables tab completion in a shell.

    For instance:

    ```
    glasshouse completion bash > ~/.local/share/bash-completion/completions/glasshouse
    glasshouse completion zsh > ~/.zfunc/_glasshouse
    glasshouse completion fish > ~/.config/fish/completions/glasshouse.fish
    ```

    Args:
        shell: bash, zsh or fish; for zsh the folder must be in $fpath before `compinit` runs.
    """
    from glasshouse.cli import add_options, app

    add_options()
    script = app.generate_completion(prog_name="glasshouse", shell=shell)
    print(script + (_ZSH_CALL if shell == "zsh" else ""), end="")
