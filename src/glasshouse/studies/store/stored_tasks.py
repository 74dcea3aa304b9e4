"""Tasks out of a store: what their descriptions ask for may be grown, so it is looked at first."""

from __future__ import annotations

from glasshouse.planting import METHODS
from glasshouse.problems.ratio import ratio
from glasshouse.studies.store.records import StoredTask
from glasshouse.studies.store.storefile import StoreError, one_line
from glasshouse.studies.task import Task

# Bytes that growing one instance may take: far more than for what an annealer solves again and
# again, and far less than a gigabyte.
_MOST_MEMORY = 1 << 28


def task_of(stored: StoredTask) -> Task:
    """The task that a store describes; a StoreError if it describes none that can be grown."""
    name = f"task {stored.task_id[:12]}"
    try:
        method = METHODS.find(stored.description.get("method"), "method")
        asked = stored.table("parameters")
        if ratio(asked.get("frustration", 0), "frustration") < 0:
            raise ValueError("its frustration is below 0")
        demand = method.demand(method.completed(asked))
        if demand.memory > _MOST_MEMORY:
            raise ValueError(f"an instance of {demand.memory} bytes is more than {_MOST_MEMORY}")
        task = Task.from_canonical(stored.canonical, stored.stop, stored.realised)
    # A description from a stranger can hold anything, and the methods of planting meet it here.
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        raise StoreError(f"{name} cannot be grown: {one_line(error)}") from error
    if task.kind.name != stored.kind:
        raise StoreError(f"{name} has {stored.kind} rows, but it measures {task.measures}")
    return task
