"""Collection of rows in a store by several processes: progress, interruption and resuming."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from glasshouse.cli.console import collecting_bar
from glasshouse.cli.errors import CheckFailedError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from glasshouse.store import StudyProgress


def refuse_both(workers: int | None, dask: str | None) -> None:
    """Refuse local workers combined with a cluster, and fewer than one worker."""
    if workers is not None and dask is not None:
        raise ValueError("--workers and --dask cannot be combined; use one of them")
    if workers is not None and workers < 1:
        raise ValueError(f"workers={workers} is below 1; use at least 1")


@contextmanager
def executor_of(address: str | None) -> Iterator[Executor | None]:
    """Yield the executor of the Dask cluster at an address, or None without an address."""
    if address is None:
        yield None
        return
    from glasshouse.extras import optional

    with optional("distributed", "--dask").Client(address) as client:
        yield client.get_executor()


def collect_steps(
    start: Callable[[Executor | None], Iterator[StudyProgress]],
    store: Path,
    *,
    dask: str | None = None,
    things: str = "instances",
) -> StudyProgress:
    """Show a progress bar while rows are collected; on Ctrl-C, report what is stored."""
    last: StudyProgress | None = None
    try:
        with executor_of(dask) as executor, collecting_bar() as update:
            for last in start(executor):
                update(last)
    except KeyboardInterrupt:
        rows = 0 if last is None else last.rows
        counted = f"1 {things.removesuffix('s')} is" if rows == 1 else f"{rows:,} {things} are"
        stored = f"{counted} in {store}, and the same command resumes"
        raise KeyboardInterrupt(stored) from None
    assert last is not None
    if again := last.retried:
        print(f"{things} restarted: {sum(one.count for one in again)}, the first because of: "
              f"{again[0].error}", file=sys.stderr)  # fmt: skip
    return last


def refuse_lost(last: StudyProgress, store: Path, *, things: str = "batches") -> None:
    """Raise if some work failed in every attempt."""
    if last.lost:
        raise CheckFailedError(
            f"{store}: {len(last.lost)} {things} failed in every attempt, the first with: "
            f"{last.lost[0].error}; run the same command to try again"
        )
