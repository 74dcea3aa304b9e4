"""One search of the certified library, in a process that `benchmarks.library` starts.

`python -m benchmarks.library_search FILE CERTIFICATE SECONDS` prints one line of JSON. The limit is
in processor seconds, so that a busy computer does not shorten the search. The search stops when
standard input ends, so that it does not continue after the run was killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from glasshouse.certificates import Certificate, Proven
from glasshouse.files import FileError, read_document, write_if_better
from glasshouse.files.text.streams import replacing
from glasshouse.files.writing import standing_certificate
from glasshouse.problems import Problem
from glasshouse.problems.reduction import to_spins
from glasshouse.proofs import prove
from glasshouse.solvers import minimise

_MEMORY = 3 << 30  # bytes that a tree may use
_SHARE_OF_STATES = 0.2  # extra time for the state of an open instance
_LEAST_SHARE = 0.05  # the fraction of a processor that even a busy computer should provide


class Work:
    """The processor seconds and nodes of all searches for one certificate, in a side-car file.

    The file is written before the certificate, so that a kill leaves no proof without its cost.
    """

    def __init__(self, certificate: Path) -> None:
        self._place = certificate.with_suffix(".work.json")
        self.seconds, self.nodes = 0.0, 0
        if self._place.exists() and certificate.exists():
            self.seconds, self.nodes = json.loads(self._place.read_text())

    def keep(self, seconds: float, nodes: int) -> None:
        """Write the sums, including those of the current search."""
        with replacing(self._place, "json", overwrite=True) as file:
            file.write(json.dumps([self.seconds + seconds, self.nodes + nodes]).encode())

    def add(self, seconds: float, nodes: int) -> None:
        """Add a finished search to the sums."""
        self.seconds, self.nodes = self.seconds + seconds, self.nodes + nodes
        self.keep(0, 0)


def search(problem: Problem, place: Path, limit: float) -> Work:
    """Search for a proof, starting from the certificate at a path if it exists."""
    try:
        standing = standing_certificate(place, problem)
    except FileError as fault:  # The certificate is of another version, or corrupt.
        print(f"{fault}: started again", file=sys.stderr)
        place.unlink()
        standing = None
    work = Work(place)
    certificate = None if standing is None else standing[0].certificate
    is_done = standing is not None and standing[0].verdict.optimal
    end, share = work.seconds + limit, 1.0
    while not is_done and end - work.seconds > 0.05 * limit:
        begun = time.monotonic(), time.process_time()

        def keep(found: Certificate, start: float = begun[1]) -> None:
            work.keep(time.process_time() - start, 0)
            write_if_better(place, Proven(problem, found), or_as_good=True)

        proof = prove(
            problem, time_limit=(end - work.seconds) / share, certificate=certificate,
            checkpoint=keep, memory_limit=_MEMORY,
        )  # fmt: skip
        used = time.process_time() - begun[1]
        share = min(1.0, max(_LEAST_SHARE, used / (time.monotonic() - begun[0])))
        work.add(used, proof.statistics.nodes)
        certificate = proof.certificate
        write_if_better(place, proof.proven, or_as_good=True)
        is_done = proof.optimal or proof.statistics.stopped != "time limit"
    if certificate is not None:
        improve_state(Proven(problem, certificate), place, work, _SHARE_OF_STATES * limit)
    return work


def improve_state(proven: Proven, place: Path, work: Work, limit: float) -> None:
    """Search for a better state of an open instance, because proofs search only briefly."""
    if proven.verdict.optimal:
        return
    begun = time.process_time()
    found = minimise(proven.problem, time_limit=limit, rng=1)
    work.add(time.process_time() - begun, 0)
    if found.energy < proven.verdict.energy:
        spins = to_spins(found.state)
        better = replace(proven.certificate, state=spins)
        write_if_better(place, Proven(proven.problem, better), or_as_good=True)


def told(file: Path, place: Path, limit: float) -> dict[str, Any]:
    """Search for a proof, and return its value and bound in the file's measure, and its cost."""
    document = read_document(file)
    work = search(document.problem, place, limit)
    standing = standing_certificate(place, document.problem)
    assert standing is not None
    verdict, measure = standing[0].verdict, document.measure
    value, bound = (
        str(measure.factor * Fraction(energy) + measure.shift)
        for energy in (verdict.exact_energy, verdict.lower_bound)
    )
    if not document.problem.is_integer:
        bound = ""  # this bound is rounded, but the checker's bound is exact
    return {"value": value, "bound": bound, "seconds": work.seconds, "nodes": work.nodes}


def main(file: str, certificate: str, limit: str) -> None:
    """Search in this process, and print the result as one line of JSON."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    threading.Thread(target=_stop_when_alone, daemon=True).start()
    print(json.dumps(told(Path(file), Path(certificate), float(limit))))


def _stop_when_alone() -> None:
    """Stop the search as Ctrl-C does when standard input ends, because the run is then dead."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    main(*sys.argv[1:])
