"""`glasshouse plant METHOD`: commands generated from the catalogue of planting methods."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from cyclopts import Parameter

from glasshouse.cli.errors import as_options
from glasshouse.cli.instances import Output, write_instances
from glasshouse.cli.options import command_group, described, whole

if TYPE_CHECKING:
    from glasshouse.planting import Method

plant = command_group(
    "plant",
    """Grow instances whose optimum is known and proven.

    For instance:

    ```
    glasshouse plant random -n 100 -f 1/5 --loop-density 0.345 --seed 1 -o inst.wcnf
    glasshouse plant random -n 60 -f 0.21 --loop-density 0.4 --count 100 -o suite
    ```
    """,
)

# Parameters that have a short form, or another name on the command line.
_NAMES = {
    "n": ["--visible", "-n"],
    "m": ["--hidden", "-m"],
    "frustration": ["--frustration", "-f"],
}
_GRAPHS = """Names of graphs: lattice:8x8, torus:4x4x4, complete:20, layers:5x5x5, deep:16x8x4,
chimera:4, pegasus:3, zephyr:2; `torus:8x8 without 3,17,0-1` leaves out dead nodes and edges. Or a
file: a problem whose couplings are the graph, a solver's properties (.json), or a text file with
two node numbers per line."""
_GRAPH = "a graph's name or file"
_SQUARE = "As many as visible ones by default."
_NEEDED = inspect.Parameter.empty
_BY_PLACE, _BY_NAME = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.KEYWORD_ONLY


def add_methods() -> None:
    """Create the commands of `plant`, one for each word of the catalogue.

    This waits until the user plants: `glasshouse --help` needs no method, and methods are heavy.
    """
    from glasshouse.planting import METHODS

    for word in [name for name in plant if not name.startswith("-")]:
        del plant[word]  # the catalogue may have changed
    for word in dict.fromkeys(method.command for method in METHODS.values()):
        methods = [method for method in METHODS.values() if method.command == word]
        plant.command(_command(word, methods), name=word)


def _command(word: str, methods: list[Method]) -> Any:
    """Return a function with the parameters and docstrings of a command's methods, for cyclopts."""
    offered = {method.name: _options(method) for method in methods}
    options: dict[str, inspect.Parameter] = {}
    for own in offered.values():
        options |= {name: option for name, option in own.items() if name not in options}
    for name, option in options.items():
        if not all(name in own and own[name].default is _NEEDED for own in offered.values()):
            if option.default is _NEEDED:  # pydantic, if it is loaded, compares types and defaults
                kind, shown = get_args(option.annotation)
                option = option.replace(default=None, annotation=Annotated[kind | None, shown])
            options[name] = option

    def command(*place: Any, **given: Any) -> None:
        given |= {"graph": place[0]} if place else {}
        output = given.pop("output", Output())
        kept = {name: value for name, value in given.items() if value != options[name].default}
        name = _meant(offered, set(kept))
        grow(name, output, **_parameters(METHODS[name], kept))

    from glasshouse.planting import METHODS

    where = inspect.Parameter("output", _BY_NAME, default=Output(), annotation=Output)
    made: Any = command
    made.__signature__ = inspect.Signature([*options.values(), where])
    made.__doc__ = _help(word, methods)
    return made


def _options(method: Method) -> dict[str, inspect.Parameter]:
    """Return the options for the parameters of a method."""
    known = method.parameters
    told = described(method.function)
    options = {}
    if method.grows_on == "graph":
        shown = Annotated[str, Parameter(help=_GRAPH)]
        options["graph"] = inspect.Parameter("graph", _BY_PLACE, annotation=shown)
    elif method.grows_on == "rbm or graph":
        options["graph"] = _option("graph", str, None, f"{_GRAPH}, instead of -n and -m.")
        options["n"] = _option("n", int, None, "visible spins of an RBM.")
        options["m"] = _option("m", int, None, f"hidden spins. {_SQUARE}")
    elif method.grows_on == "spins or graph":
        options["graph"] = _option("graph", str, None, f"{_GRAPH}, instead of -n.")
    for name, hint in method.hints.items():
        help_ = f"{told.get(name, '')} {_SQUARE if name == 'm' else ''}"
        default = None if name == "m" else known[name].default
        names = _NAMES.get(name)
        # Not all spins need be variables.
        if name == "n" and method.grows_on.startswith(("spins", "clauses")):
            names = ["--variables" if help_.startswith("variables") else "--spins", "-n"]
        options[name] = _option(name, hint, default, help_, names)
    return options


def _option(
    name: str, hint: Any, default: Any, help_: str, names: list[str] | None = None
) -> inspect.Parameter:
    """Return one option: a choice, an integer or a switch; all other types are text."""
    kinds = {hint} if get_origin(hint) is Literal else set(get_args(hint) or [hint]) - {NoneType}
    kind = kinds.pop() if len(kinds) == 1 else str
    converter = whole if kind is int else None
    kind = kind if kind in (int, bool) or get_origin(kind) is Literal else str
    if kind is str and default not in (None, _NEEDED):
        default = str(default)  # the default gets the type of what is typed
    told = " ".join(help_.split())
    shown = Parameter(name=names or _NAMES.get(name), converter=converter, help=told)
    typed: Any = Annotated[kind if default is not None else kind | None, shown]
    return inspect.Parameter(name, _BY_NAME, default=default, annotation=typed)


def _meant(offered: dict[str, dict[str, inspect.Parameter]], given: set[str]) -> str:
    """Choose between methods that share a command: return the one that takes all given options."""
    missing = []
    words = {
        name: _NAMES.get(name, [f"--{name.replace('_', '-')}"])[-1]
        for options in offered.values()
        for name in options
    }
    for method, options in offered.items():
        needed = {name for name, option in options.items() if option.default is _NEEDED}
        if len(offered) == 1 or needed <= given <= set(options):
            return method
        if given <= set(options):
            missing.append(" ".join(words[name] for name in options if name in needed - given))
    if missing:
        raise ValueError(f"add {' or '.join(missing)}")
    shared = set.intersection(*map(set, offered.values()))
    sides = [
        " ".join(words[name] for name in options if name not in shared)
        for options in offered.values()
    ]
    raise ValueError(f"these options cannot be combined; use some of {', or some of '.join(sides)}")


def _parameters(method: Method, kept: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a method from its options."""
    graph = kept.pop("graph", None)
    if method.grows_on == "rbm or graph":
        sizes = [kept.pop(name, None) for name in ("n", "m")]
        if (graph is None) == (sizes[0] is None) or (graph is not None and sizes[1] is not None):
            raise ValueError("use either --graph or -n (and optionally -m)")
        layers = (sizes[0], sizes[0] if sizes[1] is None else sizes[1])
        return kept | {"graph": layers if graph is None else named_graph(graph)}
    if graph is not None:
        kept["graph"] = named_graph(graph)
    if not kept.get("hypergraph", "sets:").startswith("sets:"):
        from glasshouse.files.graphs import read_hypergraph

        kept["hypergraph"] = read_hypergraph(kept["hypergraph"])
    return method.completed(kept)


def grow(name: str, output: Output, **parameters: Any) -> None:
    """Plant with the named method, and write the result."""
    from glasshouse.planting import METHODS

    function = METHODS[name].function
    if chosen := METHODS[name].plan(**parameters).chosen:
        options = {key: f"--{key.replace('_', '-')}" for key in METHODS[name].parameters}
        print(f"glasshouse: used {as_options(chosen, options)}", file=sys.stderr)
    stem = name.removesuffix("_loops").removesuffix("_max2sat")
    write_instances(lambda rng: function(**parameters, rng=rng), stem, output)


def named_graph(text: str) -> Any:
    """Return a graph by its name, or from a file if one has that name."""
    if not Path(text).is_file():
        _refuse_missing_file(text)
        return text
    from glasshouse.files.graphs import read_graph

    return read_graph(text)


def _refuse_missing_file(text: str) -> None:
    """Refuse a text that can only name a missing file; names of graphs contain a colon."""
    if ":" in text:
        return
    file, without, _ = text.partition(" without ")
    if without and Path(file).is_file():
        raise ValueError(
            f'"without" applies to named graphs; to leave out nodes of {file}, remove their lines'
        )
    raise ValueError(
        f"{text[:200]!r} is neither a file nor the name of a graph, such as torus:8x8 or chimera:4"
    )


def _help(word: str, methods: list[Method]) -> str:
    """Return the first lines of the methods' docstrings, and their examples as commands."""

    def suffix(example: Mapping[str, Any]) -> str:
        """Return the suffix for a plant; products of spins have their own format."""
        return ".hubo" if word == "polynomial" or "native" in example else ".wcnf"

    told = [(inspect.getdoc(method.function) or "").split("\n")[0] for method in methods]
    lines = [
        f"glasshouse {' '.join(map(_quoted, typed(method, example)))} -o {word}{suffix(example)}"
        for method in methods
        for example in method.examples
    ]
    for k, method in enumerate(methods[1:], start=1):  # say what distinguishes it from the first
        own = [name for name, known in method.parameters.items() if known.default is _NEEDED]
        sign = next(name for name in own if name not in methods[0].parameters)
        told[k] = f"With --{sign.replace('_', '-')}: {told[k]}"
    told += [_GRAPHS] if any("graph" in method.parameters for method in methods) else []
    return "\n\n".join([*told, "For instance:", "```\n" + "\n".join(lines) + "\n```"])


def typed(method: Method, parameters: Mapping[str, Any]) -> list[str]:
    """Return the arguments of `glasshouse` that plant with a method and its parameters.

    >>> from glasshouse.planting import METHODS
    >>> typed(METHODS["graph_loops"], {"graph": "torus:8x8", "max_weight": 3})
    ['plant', 'graph', 'torus:8x8', '--max-weight', '3']
    """
    words: list[Any] = ["plant", method.command]
    for name, value in parameters.items():
        if name == "graph" and not isinstance(value, str):
            n, m = value
            words += ["-n", n, *(["-m", m] if m != n else [])]
        elif name == "graph" and method.grows_on == "graph":
            words.append(value)
        else:
            word = _NAMES.get(name, [f"--{name.replace('_', '-')}"])[-1]
            words += [word] if value is True else [word, value]
    return [str(word) for word in words]


def _quoted(word: str) -> str:
    """Quote a word for any shell."""
    return f'"{word}"' if " " in word else word
