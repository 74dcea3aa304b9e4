"""Tasks out of a store: what their descriptions ask for may be grown, so it is looked at first."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from glasshouse.landscape.ratio import ratio
from glasshouse.studies.store.records import StoredTask, short
from glasshouse.studies.store.storefile import StoreError, one_line
from glasshouse.studies.task import Task

# Spins, couplings or loops of one instance. Far more than an annealer solves again and again, and
# far less than a gigabyte.
_LARGEST = 1 << 21
# The machines of D-Wave have so many couplings per cell, at most.
_MACHINES = {"chimera": 32, "pegasus": 256, "zephyr": 256}


def task_of(stored: StoredTask) -> Task:
    """The task that a store describes; a StoreError if it describes none that can be grown."""
    name = f"task {stored.task_id[:12]}"
    try:
        size = _size(stored.table("parameters"))
        if size > _LARGEST:
            raise ValueError(f"an instance of about {size} parts is more than {_LARGEST}")
        task = Task.from_canonical(stored.canonical, stored.stop, stored.realised)
    # A description from a stranger can hold anything, and the methods of planting meet it here.
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        raise StoreError(f"{name} cannot be grown: {one_line(error)}") from error
    if task.kind.name != stored.kind:
        raise StoreError(f"{name} has {stored.kind} rows, but it measures {task.measures}")
    return task


def _size(parameters: Mapping[str, Any]) -> int:
    """About how many spins, couplings or loops an instance has, before it is grown."""
    spins = sum(_whole(parameters.get(name, 0)) for name in ("n", "m"))
    spins = max(2 * _whole(parameters.get("n", 0)), spins, _graph_size(parameters.get("graph")))
    shares = {
        name: ratio(parameters[name], name)
        for name in ("loop_density", "clause_density", "frustration")
        if parameters.get(name) is not None
    }
    if shares.pop("frustration", Fraction(0)) < 0 or min(shares.values(), default=1) <= 0:
        raise ValueError("a density or frustration is below 0")
    densities = shares.values()
    dropped = math.ceil(max([Fraction(1), *densities]) * spins)
    return max(dropped, _whole(parameters.get("loops") or 0))


def _whole(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{short(value)} is no size")
    return value


def _graph_size(graph: object) -> int:
    """About how many nodes or edges a graph has, of which nothing but the name is known."""
    if isinstance(graph, list):  # [n, m], or edges
        numbers = [k for part in graph for k in (part if isinstance(part, list) else [part])]
        return max(len(numbers), 2 * max(map(_whole, numbers), default=0))
    if not isinstance(graph, str):
        return 0
    family, _, rest = graph.partition(":")
    if family == "edges":
        return max([rest.count("-"), *map(int, re.findall(r"^[0-9]{1,18}", rest))])
    sizes = [int(size) for size in re.findall(r"[0-9]{1,18}", rest.partition(" ")[0])]
    return max(math.prod(sizes), sum(sizes) ** 2) * _MACHINES.get(family, 1)
