"""How the documentation site is built: `make docs`.

The source folder is that of the repository, not this one, so that a link from page to page is the
same here, on GitHub and in an editor, also one to SECURITY.md or to a stored result.
"""

from __future__ import annotations

import re
from typing import Any

from glasshouse.version import __version__

project = "glasshouse"
author = "the glasshouse authors"
project_copyright = "2026, the glasshouse authors"
version = release = __version__

root_doc = "docs/index"
include_patterns = ["*.md", "docs/**", "benchmarks/results/*.md"]
exclude_patterns = ["README.md", ".*", "build", "src", "tests", "fuzz", "**/.*"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
# The names that GitHub gives to headings, so that links to them work in both places.
myst_heading_anchors = 4

autosummary_generate = False  # the pages of docs/reference name what they show
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"  # docstrings say what is taken; signatures stay short enough to read
autodoc_preserve_defaults = True
napoleon_use_ivar = True
napoleon_attr_annotations = False
napoleon_use_rtype = False
default_role = "code"  # docstrings say `this`, as Markdown does

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Furo: one column of contents, readable on a phone, light and dark, no scripts of others. The
# pydata theme was looked at, too; its row of tabs is for sites of hundreds of pages.
smartquotes = False  # two dashes open an option
html_theme = "furo"
html_title = f"glasshouse {release}"
html_extra_path = ["_site"]  # the first page of the site leads to docs/index
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["sort.js"]  # the table of the certified library
html_copy_source = False
html_show_sphinx = False

_CODE = re.compile(r"(``.+?``|`[^`]+`)")
# What means something in reStructuredText, and only itself in our docstrings.
_MARKUP = re.compile(r"([*|\\]|_(?=\W|$))")


def escape_markup(
    app: Any, what: str, name: str, thing: object, options: Any, lines: list[str]
) -> None:
    r"""Keep |J|, a*b and trailing_ as they are; examples and code are left alone.

    >>> lines = ["At most Σ |J|, see `a*b`.", ">>> 2 * 3"]
    >>> escape_markup(None, "function", "f", None, None, lines)
    >>> lines
    ['At most Σ \\|J\\|, see `a*b`.', '>>> 2 * 3']
    """
    is_example = False
    for k, line in enumerate(lines):
        is_example = line.lstrip().startswith(">>>") or (is_example and bool(line.strip()))
        if not is_example:
            parts = _CODE.split(line)
            parts[::2] = [_MARKUP.sub(r"\\\1", part) for part in parts[::2]]
            lines[k] = "".join(parts)


def command_line() -> str:
    """The reference of all commands, in Markdown, made from the commands themselves.

    >>> "### glasshouse plant wishart" in command_line()
    True
    """
    from glasshouse.cli import add_options, app

    add_options()  # those that come from the library
    text = app.generate_docs(output_format="markdown", usage_name="glasshouse")
    commands = text[text.index("**Files**:") :]  # the theme has a table of contents, too
    return commands.replace("```\nglasshouse", "```sh\nglasshouse")


def option_table() -> str:
    """A table of all options, with the commands that have them, in Markdown.

    >>> "| `--time-limit` | number | `fuzz run`" in option_table()
    True
    """
    from glasshouse.cli import add_options, app

    add_options()
    table: dict[str, tuple[str, list[str]]] = {}
    for words, command in _commands(app, ()):
        for argument in command.assemble_argument_collection():
            name, kind = argument.names[0], str(argument.hint)
            if name.startswith("-"):
                shown = next((word for key, word in _KINDS.items() if key in kind), "text")
                table.setdefault(name, (shown, []))[1].append(" ".join(words))
    rows = []
    for name, (kind, commands) in sorted(table.items()):
        methods = [one for one in commands if one.startswith("plant ")]
        if len(methods) == sum(1 for words, _ in _commands(app, ()) if words[0] == "plant"):
            commands = sorted({*commands} - {*methods} | {"plant METHOD"})
        where = ", ".join(f"`{one}`" for one in sorted(commands))
        rows.append(f"| `{name}` | {kind} | {where} |")
    return "\n".join(["| option | value | commands |", "|---|---|---|", *rows])


_KINDS = {"Literal": "a word", "Path": "file or folder", "bool": "switch", "float": "number",
          "int": "integer"}  # fmt: skip


def _commands(parent: Any, words: tuple[str, ...]) -> Any:
    """All commands that do something, with the words that call them."""
    for name in parent:
        if not name.startswith("-"):
            if parent[name].default_command is not None:
                yield (*words, name), parent[name]
            yield from _commands(parent[name], (*words, name))


def add_command_line(app: Any, page: str, source: list[str]) -> None:
    """Fill the page of the command line while it is read."""
    if page == "docs/reference/cli":
        source[0] += f"\n{command_line()}\n\n## Options\n\n{option_table()}\n"


def setup(app: Any) -> None:
    """What Sphinx calls before it builds."""
    app.connect("source-read", add_command_line)
    app.connect("autodoc-process-docstring", escape_markup, priority=400)  # before napoleon
