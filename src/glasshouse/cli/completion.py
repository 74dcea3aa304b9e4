"""`glasshouse completion`."""

from __future__ import annotations

from typing import Literal

# The script for zsh defines a function and leaves it to the name of its file to call it. This calls
# it whatever loads the script: a file of $fpath that is called as everybody's are, or `source`.
_ZSH_CALL = """
if [ "$funcstack[1]" = "_glasshouse" ]; then
  _cyclopts_glasshouse "$@"
else
  compdef _cyclopts_glasshouse glasshouse
fi
"""


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print a script that completes commands and options in a shell.

    For instance:

    ```
    glasshouse completion bash > ~/.local/share/bash-completion/completions/glasshouse
    glasshouse completion zsh > ~/.zfunc/_glasshouse
    glasshouse completion fish > ~/.config/fish/completions/glasshouse.fish
    ```

    Args:
        shell: bash, zsh or fish; for zsh the folder must be in $fpath before `compinit` runs.
    """
    from glasshouse.cli import app
    from glasshouse.cli.plant import add_methods

    add_methods()
    script = app.generate_completion(prog_name="glasshouse", shell=shell)
    print(script + (_ZSH_CALL if shell == "zsh" else ""), end="")
