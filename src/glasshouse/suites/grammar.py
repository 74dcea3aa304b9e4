"""The grammar of study and suite files: TOML with families of instances.

    [[family]]
    method = "random_loops"
    parameters = { frustration = "1/20" }
    grid = { n = [30, 50], loop_density = { first = 0.112, ratio = 1.12, count = 20 } }

`grid` yields every combination of its lists. A range is `{first, last, step}` or `{first, ratio,
count}`; `loop_density = "peak"` is the paper's peak density of n.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from glasshouse.files.text import plain_toml
from glasshouse.files.text.errors import FileError
from glasshouse.files.text.streams import opened
from glasshouse.problems.ratio import ratio
from glasshouse.solvers import peak_density

MOST_COMBINATIONS = 100_000
_LONGEST_WORD = 1000
# Densities of a geometric range are rounded, because 0.1·1.12^80 as an exact fraction has 200
# digits.
_DIGITS = 6

Made = TypeVar("Made")


def read_toml(path: Path) -> str:
    """Read a TOML file as text; raise if it is not UTF-8."""
    try:
        with opened(path) as source:
            return source.read_all().decode("utf-8")
    except UnicodeDecodeError:
        raise FileError(path, "is not UTF-8 text; expected a TOML file") from None


def parse_toml(text: str, source: str, make: Callable[[dict[str, Any]], Made]) -> Made:
    """Parse TOML text and pass its values to `make`; error messages begin with `source`."""
    try:
        values = plain_toml.read_toml(text)
    except plain_toml.TomlError as error:
        raise ValueError(f"{source} {error}") from None
    try:
        return make(values)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error


def each_family(
    values: Mapping[str, Any], make: Callable[[object], Iterator[Made]], what: str
) -> Iterator[Made]:
    """Yield what `make` yields for each family, in order; errors name the family's number."""
    families = values.get("family")
    if not isinstance(families, list) or not families:
        raise ValueError(f"a {what} needs at least one [[family]]")
    for number, family in enumerate(families, start=1):
        try:
            yield from make(family)
        except ValueError as error:
            raise ValueError(f"family {number}: {error}") from error


def combinations(family: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the parameters at each grid point of a family: the fixed parameters and grid values."""
    fixed = table(family.get("parameters", {}), None, "parameters")
    axes = {
        name: _axis(name, values)
        for name, values in table(family.get("grid", {}), None, "grid").items()
    }
    both = sorted(set(fixed) & set(axes))
    if both:
        raise ValueError(f"{', '.join(both)} is in both 'parameters' and 'grid'; remove one entry")
    if math.prod(len(axis) for axis in axes.values()) > MOST_COMBINATIONS:
        raise ValueError(f"the grid has more than {MOST_COMBINATIONS} combinations; split the file")
    for combination in itertools.product(*axes.values()):
        parameters = fixed | dict(zip(axes, combination, strict=True))
        if parameters.get("loop_density") == "peak":
            if "n" not in parameters:
                raise ValueError('loop_density = "peak" needs n, which is missing; use a number')
            parameters["loop_density"] = str(round(Decimal(peak_density(parameters["n"])), 4))
        yield parameters


def _axis(name: str, values: object) -> list[Any]:
    """Return the values of one parameter in a grid: a list, a range, or a single value."""
    if isinstance(values, list):
        if not values:
            raise ValueError(f"grid.{name} is empty; list at least one value")
        return values
    if not isinstance(values, dict):
        return [values]
    keys = set(values)
    try:
        numbers = {key: ratio(value, f"grid.{name}.{key}") for key, value in values.items()}
    except ValueError:
        raise ValueError(f"grid.{name}={values!r:.60} must contain only numbers") from None
    first = numbers.get("first", Fraction(0))
    if keys == {"first", "last", "step"} and numbers["step"] > 0:
        count = math.floor((numbers["last"] - first) / numbers["step"]) + 1
        return [_plain(first + k * numbers["step"]) for k in range(_length(name, count))]
    if keys == {"first", "ratio", "count"} and numbers["ratio"] > 0:
        count = _length(name, int(numbers["count"]))
        with localcontext(prec=40):  # more than enough, the same on every computer, and bounded
            start, factor = (
                Decimal(number.numerator) / Decimal(number.denominator)
                for number in (first, numbers["ratio"])
            )
            return [_plain(Fraction(start * factor**k)) for k in range(count)]
    raise ValueError(
        f"grid.{name}={values!r:.60} is not a range; use {{first, last, step}} or {{first, ratio, "
        "count}"
    )


def _length(name: str, count: int) -> int:
    if not 1 <= count <= MOST_COMBINATIONS:
        raise ValueError(f"grid.{name} has {count} values; use 1 to {MOST_COMBINATIONS}")
    return count


def _plain(number: Fraction) -> int | str:
    rounded = round(number, _DIGITS)
    return int(rounded) if rounded.denominator == 1 else str(rounded)


def _shortened(text: str, most: int = 200) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def refuse_unknown(values: Mapping[str, Any], known: set[str], where: str) -> None:
    """Raise if `values` has unknown keys, so that a misspelt key is not ignored."""
    unknown = sorted(set(values) - known)
    if unknown:
        raise ValueError(
            f"{where} has unknown keys {_shortened(', '.join(unknown))}; use "
            f"{', '.join(sorted(known))}"
        )


def table(value: object, known: set[str] | None, where: str) -> dict[str, Any]:
    """Return a TOML table as a dict; raise for other types and for keys not in `known`."""
    if not isinstance(value, dict):
        raise ValueError(f"{where} must be a TOML table, not {value!r:.60}")
    if known is not None:
        refuse_unknown(value, known, where)
    return dict(value)


def word(value: object, name: str) -> str:
    """Return a value unchanged, but raise unless it is a short text with a visible character."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name}={value!r:.60} must be a non-empty string")
    if len(value) > _LONGEST_WORD:
        raise ValueError(f"{name} has {len(value)} characters; use at most {_LONGEST_WORD}")
    return value


def is_own(name: object) -> bool:
    """Return whether the name of a family or quantity refers to a user's `module:function`."""
    return isinstance(name, str) and ":" in name
