"""The catalogue of planting methods, and the plans that the methods make.

A method is a function of keyword arguments, marked with `planting_method`. It checks its arguments,
counts the spins and loops that they request, and returns a `Plan`. A plan is cheap, however large
the instance: nothing is drawn and no graph is built before it is grown. The function that users
call has the same arguments; it grows the plan and returns a `Planted`.

The command line, recipes, files, studies and tests find a method in `METHODS`, and its entry
provides all that they need. A method must accept all parameters of its recipes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, wraps
from inspect import Parameter, signature
from types import NoneType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeAlias, cast, get_args, get_type_hints

import numpy as np

from glasshouse.catalogue import Catalogue
from glasshouse.compiled import announces
from glasshouse.planting import arguments
from glasshouse.planting.counting import GroundStates, count_ground_states
from glasshouse.planting.demand import Demand, Meter, new_meter
from glasshouse.planting.recipe import Recipe
from glasshouse.problems.ratio import ratio
from glasshouse.randomness import RngLike, Seed, Streams
from glasshouse.summaries import Summarised

if TYPE_CHECKING:
    from glasshouse.planting.planted import Planted

GrowsOn: TypeAlias = Literal["rbm", "graph", "rbm or graph", "spins", "spins or graph", "clauses"]

METHODS = Catalogue["Method"]("planting method")

# The default ranges of the knobs of loops.
LOOP_KNOBS = {"frustration": ("1/20", "1/4"), "loop_density": ("1/10", "3/10")}
BLOCK_KNOBS = LOOP_KNOBS | {"block": ("1/2", "1/10")}
# As many as any method uses. The first ones do not depend on their number.
_STREAMS = 4

_Arguments = ParamSpec("_Arguments")


@dataclass(repr=False)
class Plan(Summarised):
    """A plan of an instance: its arguments are checked and its size is known, but nothing is drawn.

    A method leaves the last two fields to its entry in the catalogue.

    Attributes:
        demand: the size of the instance, and the memory to grow it.
        draw: draws an instance from streams of random words, and counts its steps down on a meter.
            Its recipe is added afterwards.
        resolved: parameters whose value in the recipe differs from the argument. A function is
            called for its value when the recipe is made.
        prepare: does the work that needs the graph, and refuses what does not fit it; `draw` calls
            it, too.
        states: other lengths that a given state may have, in addition to the number of spins.
        chosen: a parameter that the caller left out, the value that is used for it, and the reason;
            empty if nothing was chosen.
        method: the method that made the plan.
        given: its arguments and their defaults, without `rng`.
    """

    demand: Demand
    draw: Callable[[Streams, Meter], Planted]
    resolved: Mapping[str, Any] = field(default_factory=dict)
    prepare: Callable[[Meter], object] = lambda meter: None
    states: tuple[int, ...] = ()
    chosen: str = ""
    method: Method = field(init=False)
    given: Mapping[str, Any] = field(init=False)

    @staticmethod
    def of(recipe: Recipe) -> Plan:
        """Return the plan of the instance that a recipe grows.

        >>> parameters = {"graph": "complete:20000", "frustration": "1/3", "loops": 5}
        >>> Plan.of(Recipe("graph_loops", parameters, Seed(1))).demand
        Demand(spins=20000, parts=5, memory=12800641344)

        Raises:
            ValueError: the method is unknown, or does not take the parameters.
        """
        method = Method.of(recipe)
        parameters = {k: value for k, value in recipe.parameters.items() if k != "shuffled"}
        try:
            signature(method.function).bind(**parameters, rng=recipe.seed)
        except TypeError as error:
            fault = f"the recipe's parameters do not fit {method.name}: {error}"
            raise ValueError(fault) from error
        return method.plan(**parameters)

    @property
    def held(self) -> dict[str, Any]:
        """The parameters as a recipe stores them: exact, and without those that were not given."""
        plain = {}
        for name, value in {**self.given, **self.resolved}.items():
            known = value() if callable(value) else value
            if known is None:
                continue
            if name in self.method.ratios:
                known = str(ratio(known, name))
            plain[name] = int(known) if isinstance(known, np.integer) else known
        return plain

    @announces("planting")
    def check(self) -> None:
        """Build the graph, if there is one, and refuse arguments that do not fit the graph."""
        self.prepare(new_meter())

    @announces("planting")
    def grow(self, *, rng: RngLike = None, steps: int | None = None) -> Planted:
        """Draw the instance that a seed determines.

        Args:
            rng: a seed, or anything that `numpy.random.default_rng` takes.
            steps: the largest number of steps; None sets no limit.

        Raises:
            EffortError: the steps did not suffice.
        """
        seed = Seed.of(rng)
        planted = self.draw(seed.streams(_STREAMS), new_meter(steps))
        held = self.held
        if "state" in held:
            held["state"] = arguments.state_signs(planted.state)
        # No other code has it yet; a copy would be checked again, for a tenth of the time.
        object.__setattr__(planted, "recipe", Recipe(self.method.name, held, seed))
        return planted

    def __repr__(self) -> str:
        return f"Plan({self.method.name}, {self.demand})"


@dataclass(frozen=True, repr=False)
class Method(Summarised):
    """A planting method and its properties.

    Attributes:
        function: the function that plants an instance; its name is the method's.
        planner: the function as it was written: it returns a plan.
        command: the word after `glasshouse plant`. If methods share a word, the given options
            distinguish them.
        grows_on: the ground of its instances. On an RBM, it takes `n` and `m`; on a graph, `graph`;
            on both, `graph` may be (n, m). On "spins", the method makes its own graph; on "spins or
            graph", it also takes a `graph`. "clauses" need ancillas in forms with pairs.
        examples: parameters of small instances, which help shows and tests grow.
        knobs: parameters that set the hardness, each with an easy and a hard value.
        ground_states: counts the ground states of an instance, or returns a lower bound.
    """

    function: Callable[..., Planted]
    planner: Callable[..., Plan]
    command: str
    grows_on: GrowsOn
    examples: tuple[Mapping[str, Any], ...]
    knobs: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    ground_states: Callable[[Planted], GroundStates] = count_ground_states

    @property
    def name(self) -> str:
        """The name of the function, as recipes store it."""
        return self.planner.__name__

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters that distinguish instances, excluding random state and planted state."""
        known = signature(self.planner).parameters
        return {name: known[name] for name in known if name not in ("rng", "state")}

    @cached_property
    def hints(self) -> Mapping[str, Any]:
        """The types of the parameters, except for graphs, whose types are not known at run time."""
        plain = {name: self.parameters[name].annotation for name in self.parameters}
        plain.pop("graph", None)
        return get_type_hints(SimpleNamespace(__annotations__=plain), self.planner.__globals__)

    @cached_property
    def ratios(self) -> frozenset[str]:
        """The parameters that are exact fractions."""
        return frozenset(name for name in self.hints if Fraction in get_args(self.hints[name]))

    @cached_property
    def _defaults(self) -> dict[str, Any]:
        return {name: known.default for name, known in self.parameters.items()}

    def completed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters with m = n if only n is given."""
        square = {"m": given["n"]} if "m" in self.parameters and "n" in given else {}
        return square | dict(given)

    def is_whole(self, name: str) -> bool:
        """Whether a parameter takes only integers."""
        kind = self.hints.get(name)
        return set(get_args(kind) or [kind]) - {NoneType} == {int}

    def plan(self, *places: Any, **given: Any) -> Plan:
        """Check arguments and compute the size that they request, without growing anything.

        Args:
            places: positional arguments of the method.
            given: keyword arguments of the method. `rng` has no effect.
        """
        made = self.planner(*places, **given)
        if given.get("state") is not None:
            arguments.given_state(given["state"], made.demand.spins, *made.states)
        given.pop("rng", None)
        made.method = self
        made.given = {**self._defaults, **dict(zip(self._defaults, places, strict=False)), **given}
        return made

    @staticmethod
    def of(recipe: Recipe) -> Method:
        """Return the method that a recipe names."""
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
    examples: tuple[Mapping[str, Any], ...],
    knobs: Mapping[str, tuple[str, str]] | None = None,
    ground_states: Callable[[Planted], GroundStates] = count_ground_states,
) -> Callable[[Callable[_Arguments, Plan]], Callable[_Arguments, Planted]]:
    """Turn a planning function into a planting method, and add the method to the catalogue.

    The function needs the keyword arguments `state`, the state to plant, and `rng`, which it does
    not use: its plan is grown from that seed. The arguments of the decorator are those of `Method`.

    >>> from glasshouse.planting import random_loops
    >>> METHODS["random_loops"].function is random_loops, METHODS["random_loops"].command
    (True, 'random')
    >>> mark = planting_method("random", grows_on="rbm", examples=())
    >>> try:
    ...     mark(random_loops)
    ... except ValueError as error:
    ...     print(str(error).split(",")[0])
    the command 'random' already exists
    """

    def add(planner: Callable[_Arguments, Plan]) -> Callable[_Arguments, Planted]:
        own = signature(planner)
        for other in (one for one in METHODS.values() if one.command == command):
            if set(own.parameters) <= set(signature(other.function).parameters):
                raise ValueError(
                    f"the command {command!r} already exists, and {planner.__name__} does not have "
                    "a parameter that distinguishes it; choose another command"
                )

        @wraps(planner)
        def plant(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> Planted:
            plan = method.plan(*args, **kwargs)
            return plan.grow(rng=cast(RngLike, kwargs.get("rng")))

        told: Any = plant
        told.__signature__ = own.replace(return_annotation="Planted")
        told.__annotations__ = planner.__annotations__ | {"return": "Planted"}
        method = Method(plant, planner, command, grows_on, examples, knobs or {}, ground_states)
        METHODS.add(method.name, method)
        return plant

    return add
