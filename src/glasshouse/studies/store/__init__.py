"""Where a study's rows live: one SQLite file, checked before it is believed.

`store` is what the rest of the house uses. Below it stand the file (`storefile`, `writerlock`), its
tables (`schema`), what they tell (`records`, `stored_tasks`) and whether they are all there
(`wholeness`). `merging` and `export` take whole stores.
"""

from glasshouse.studies.store.store import Store, StoredTask, TaskStatus
from glasshouse.studies.store.storefile import StoreError

__all__ = ["Store", "StoreError", "StoredTask", "TaskStatus"]
