"""`glasshouse completion`."""

from __future__ import annotations

from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print a script that completes commands and options in a shell.

    For instance:

    ```
    glasshouse completion bash > ~/.local/share/bash-completion/completions/glasshouse
    glasshouse completion zsh > ~/.zfunc/_glasshouse
    glasshouse completion fish > ~/.config/fish/completions/glasshouse.fish
    ```

    Args:
        shell: bash, zsh or fish; for zsh the folder must be in $fpath.
    """
    from glasshouse.cli import app
    from glasshouse.cli.plant import add_methods

    add_methods()
    print(app.generate_completion(prog_name="glasshouse", shell=shell), end="")
