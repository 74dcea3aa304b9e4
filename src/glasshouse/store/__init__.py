"""Stores: rows that are measured batch by batch and kept in one crash-safe SQLite file.

* `row_types`: the columns of rows, stop rules, and what a task must offer to be collected.
* `storefile`: the SQLite file, checked before it is trusted, and its writer's lock.
* `database`: one open file: atomic transactions, snapshots, and readable errors.
* `schema`: the tables, and the check that a file has these and nothing else.
* `records`: the stored tasks and batches, read with care.
* `ranges`: sets of instances.
* `purpose`: the purposes of a store: a study, a race, a race of samplers, or trained machines.
* `store`: `Store`, which the other packages use.
* `batches`: the next instances to measure.
* `workers`: processes that measure one batch each.
* `collect`: `collect` and `iter_collect`, which fill a store and resume.
"""

from glasshouse.store.collect import Lost, StudyProgress, collect, iter_collect
from glasshouse.store.row_types import Column, Kind, Stop
from glasshouse.store.row_types import Columns as Columns
from glasshouse.store.store import Store, StoredTask, TaskStatus
from glasshouse.store.storefile import StoreError
from glasshouse.store.storefile import damaged as damaged
from glasshouse.store.storefile import one_line as one_line

__all__ = [
    "Column", "Kind", "Lost", "Stop", "Store", "StoreError", "StoredTask", "StudyProgress",
    "TaskStatus", "collect", "iter_collect",
]  # fmt: skip
