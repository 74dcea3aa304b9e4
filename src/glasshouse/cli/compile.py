"""`glasshouse compile`: compile kernels in advance."""

from __future__ import annotations

import time

from glasshouse.cli.console import bar
from glasshouse.cli.output import show_json


def compile_kernels(*groups: str, json: bool = False) -> None:
    """Compile kernels now, so that later calls start at once.

    The machine code is cached on disk. Without this command, each kernel is compiled when it is
    first needed, which takes a few seconds. Use it when you build an image or prepare a cluster
    node. NUMBA_CACHE_DIR sets the folder of the cache. The machine code is for this processor, this
    version of glasshouse and this version of Numba. Expect minutes; kernels that are already cached
    are only loaded.

    For instance:

    ```
    glasshouse compile
    glasshouse compile anneal prove
    NUMBA_CACHE_DIR=/opt/kernels glasshouse compile --json
    ```

    Args:
        groups: any of plant, check, anneal, temper, search, prove, train; by default all.
        json: print one JSON object per group.
    """
    from glasshouse import precompiled
    from glasshouse.precompiled import GROUPS, CompiledGroup, refuse_unknown

    refuse_unknown(groups)
    began, done = time.monotonic(), list[CompiledGroup]()
    with bar() as shown:
        for name in shown.track(groups or tuple(GROUPS), description="compiling"):
            group = precompiled.compile_kernels(name)
            done.append(group)
            if json:
                show_json(group._asdict())
            else:
                shown.console.print(f"{name}: {group.summary()}", highlight=False)
    if not json:
        kernels = sum(group.compiled for group in done)
        print(f"{kernels} kernels compiled in {time.monotonic() - began:.0f} s: {done[0].folder}")
