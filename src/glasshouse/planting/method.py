"""What a planting method is to the rest of the house, and the catalogue of them.

A method is a function of keyword arguments that returns a `Planted`, marked with `planting_method`.
The command line, recipes, files, studies and tests find it in `METHODS` and ask its entry for all
that they need. A method must accept whatever it writes into its recipes. It checks all its
arguments before it asks for its seed (`Seed.of(rng)`), so that a study can have them checked
without growing anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from inspect import Parameter, signature, unwrap
from types import NoneType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, get_args, get_type_hints

from glasshouse.catalogue import Catalogue
from glasshouse.compiled import announces
from glasshouse.planting.counting import GroundStates, count_ground_states
from glasshouse.summaries import Summarised

if TYPE_CHECKING:
    from glasshouse.planting.demand import Demand
    from glasshouse.planting.planted import Planted
    from glasshouse.planting.recipe import Recipe

GrowsOn: TypeAlias = Literal["rbm", "graph", "rbm or graph", "spins", "spins or graph"]

METHODS = Catalogue["Method"]("planting method")

# Where the knobs of loops are turned by default.
LOOP_KNOBS = {"frustration": ("1/20", "1/4"), "loop_density": ("1/10", "3/10")}
BLOCK_KNOBS = LOOP_KNOBS | {"block": ("1/2", "1/10")}

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True, repr=False)
class Method(Summarised):
    """A planting method and what is known of it.

    Attributes:
        function: what grows an instance; its name is the method's.
        command: the word after `glasshouse plant`. Methods that share one are told apart by the
            options that are given.
        grows_on: what its instances live on. On an RBM it takes `n` and `m`, on a graph `graph`; on
            both, `graph` may be (n, m). "spins" is whatever the method makes itself, "spins or
            graph" that or a `graph`.
        demand: counts what parameters of a recipe ask for, before anything is grown.
        examples: parameters of small instances: what help shows and tests grow.
        knobs: parameters that turn the hardness, from an easy to a hard setting.
        ground_states: counts the ground states of an instance, as far as it can.
    """

    function: Callable[..., Planted]
    command: str
    grows_on: GrowsOn
    demand: Callable[[Mapping[str, Any]], Demand]
    examples: tuple[Mapping[str, Any], ...]
    knobs: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    ground_states: Callable[[Planted], GroundStates] = count_ground_states

    @property
    def name(self) -> str:
        """The name of the function, as recipes hold it."""
        return self.function.__name__

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """What tells instances of the method apart: not the random state, not the planted one."""
        known = signature(self.function).parameters
        return {name: known[name] for name in known if name not in ("rng", "state")}

    def completed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters with as many hidden spins as visible ones where only those are given."""
        square = {"m": given["n"]} if "m" in self.parameters and "n" in given else {}
        return square | dict(given)

    def is_whole(self, name: str) -> bool:
        """Whether a parameter takes whole numbers only."""
        hint = SimpleNamespace(__annotations__={name: self.parameters[name].annotation})
        kind = get_type_hints(hint, unwrap(self.function).__globals__)[name]
        return set(get_args(kind) or [kind]) - {NoneType} == {int}

    def grow(self, recipe: Recipe) -> Planted:
        """Run the method with the parameters and the seed of a recipe."""
        parameters = dict(recipe.parameters)
        parameters.pop("shuffled", None)
        try:
            call = signature(self.function).bind(**parameters, rng=recipe.seed)
        except TypeError as error:
            raise ValueError(f"the recipe's parameters do not fit {self.name}: {error}") from error
        return self.function(*call.args, **call.kwargs)

    @staticmethod
    def of(recipe: Recipe) -> Method:
        """The method that a recipe names."""
        try:
            return METHODS.find(recipe.method, "method")
        except ValueError as error:
            raise ValueError(
                f"{error}; the recipe was written by glasshouse {recipe.version}"
            ) from None


def planting_method(
    command: str,
    *,
    grows_on: GrowsOn,
    demand: Callable[[Mapping[str, Any]], Demand],
    examples: tuple[Mapping[str, Any], ...],
    knobs: Mapping[str, tuple[str, str]] | None = None,
    ground_states: Callable[[Planted], GroundStates] = count_ground_states,
) -> Callable[[_Function], _Function]:
    """Add a function to the catalogue of planting methods; the arguments are those of `Method`.

    >>> from glasshouse.planting import random_loops
    >>> METHODS["random_loops"].function is random_loops, METHODS["random_loops"].command
    (True, 'random')
    >>> mark = planting_method("random", grows_on="rbm", demand=lambda asked: None, examples=())
    >>> try:
    ...     mark(random_loops)
    ... except ValueError as error:
    ...     print(str(error).split(",")[0])
    the command 'random' is there already
    """

    def add(function: _Function) -> _Function:
        function = announces("planting")(function)
        own = set(signature(function).parameters)
        for other in METHODS.values():
            if other.command == command and own <= set(signature(other.function).parameters):
                raise ValueError(
                    f"the command {command!r} is there already, and {function.__name__} has no "
                    "parameter of its own that tells it apart; choose another command"
                )
        METHODS.add(
            function.__name__,
            Method(function, command, grows_on, demand, examples, knobs or {}, ground_states),
        )
        return function

    return add
