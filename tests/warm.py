"""Scripts in processes that are forked from one with Numba loaded, but without glasshouse.

Loading Numba and preparing it for its first compilation takes longer than most of these scripts. A
script finds nothing that an earlier one has loaded: no module of glasshouse, and no kernel.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_SERVER = """
import json, os, sys, tempfile, traceback
import numba
numba.njit(lambda x: x + 1)(1)
for line in sys.stdin:
    script, folder = json.loads(line)
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                os.chdir(folder)
                exec(script, {"__name__": "__main__"})
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        status = os.waitpid(child, 0)[1]
        texts = [file.seek(0) or file.read() for file in (out, err)]
    print(json.dumps([status, *texts]), flush=True)
"""

# Runs a script in a folder; returns its standard output and standard error.
Warm = Callable[[str, Path], tuple[str, str]]


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    """The function that runs a script; the test fails if the script does."""
    environment = {name: text for name, text in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=environment,
    ) as server:  # fmt: skip

        def run(script: str, folder: Path) -> tuple[str, str]:
            print(json.dumps([script, str(folder)]), file=server.stdin, flush=True)
            status, out, err = json.loads(server.stdout.readline())
            assert status == 0, err
            return out, err

        yield run
        server.stdin.close()
