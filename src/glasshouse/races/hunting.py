"""Hunt wrong answers of one solver: many instances, and each kind of fault once, shrunk."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from glasshouse.pool import WorkerPool, ending_cleanly
from glasshouse.problems import validation
from glasshouse.races.fuzzing import DEFAULT, Corners, fuzz_question, fuzz_specimen
from glasshouse.races.judging import Judgement, RunVerdict
from glasshouse.races.question import Question
from glasshouse.races.shrinking import Shrinker
from glasshouse.races.trial import Trial
from glasshouse.waiting import result_of

_AT_ONCE = 16  # instances that a worker takes at a time
_UNANSWERED = (RunVerdict.NO_ANSWER, RunVerdict.TIME_OUT, RunVerdict.OUT_OF_MEMORY,
               RunVerdict.TOO_MUCH_OUTPUT)  # fmt: skip
_MOST_KINDS = 12  # of faults; what is beyond counts by its verdict alone


@dataclass(frozen=True)
class Tried:
    """One instance that a solver was asked.

    Attributes:
        seed: of the instance, and of the run.
        judgement: what became of it.
        num_clauses: its size.
    """

    seed: int
    judgement: Judgement
    num_clauses: int


@dataclass(frozen=True)
class Fault:
    """One kind of fault and the smallest instance that shows it.

    Attributes:
        kind: what all faults of this kind have in common, in words.
        times: on how many instances it was seen.
        seed: of the instance that it was shrunk from.
        judgement: of the shrunk instance.
        question: the shrunk instance.
        is_minimal: whether no clause can go; False where time was over before.
        is_interrupted: whether Ctrl-C ended the shrinking.
    """

    kind: str
    times: int
    seed: int
    judgement: Judgement
    question: Question
    is_minimal: bool
    is_interrupted: bool = False


@dataclass
class Catch:
    """What a hunt has found so far.

    Attributes:
        verdicts: how often each was given.
        smallest: of each kind of fault the smallest instance.
        times: how often each kind was seen.
        unanswered: why there was no answer, and how often.
    """

    verdicts: Counter[RunVerdict] = field(default_factory=Counter)
    smallest: dict[str, Tried] = field(default_factory=dict)
    times: Counter[str] = field(default_factory=Counter)
    unanswered: Counter[str] = field(default_factory=Counter)

    @property
    def is_hardly_answered(self) -> bool:
        """Whether most instances got no answer."""
        return 2 * self.unanswered.total() > self.verdicts.total()

    @property
    def is_unanswered(self) -> bool:
        """Whether no instance got an answer, so that nothing was tested."""
        return self.unanswered.total() == self.verdicts.total()

    def add(self, tried: Tried) -> None:
        """Count one more."""
        verdict = tried.judgement.verdict
        self.verdicts[verdict] += 1
        if verdict in _UNANSWERED:
            self.unanswered[fault_kind(tried.judgement)] += 1
        if not verdict.is_fault:
            return
        kind = fault_kind(tried.judgement)
        if kind not in self.smallest and len(self.smallest) >= _MOST_KINDS:
            kind = str(verdict)
        self.times[kind] += 1
        known = self.smallest.get(kind, tried)
        self.smallest[kind] = min(known, tried, key=lambda t: (t.num_clauses, t.seed))


def fault_kind(judgement: Judgement) -> str:
    """What faults of one cause have in common: verdict and reason, without their numbers.

    >>> fault_kind(Judgement(RunVerdict.INVALID_MODEL, "the model costs 6, but the last o is 7"))
    'invalid model: the model costs N, but the last o is N'
    >>> fault_kind(Judgement(RunVerdict.NO_ANSWER, "it is exact only up to 8: here are 9"))
    'no answer: it is exact only up to 8'
    """
    reason = judgement.reason.partition(":")[0]
    # Of crashes the number is a signal or an exit code, of refusals a solver's limit.
    if judgement.verdict not in (RunVerdict.CRASH, RunVerdict.NO_ANSWER):
        reason = re.sub(r"'.*?'|[0-9]+", "N", reason)
    return f"{judgement.verdict}: {reason}"


def hunt(
    trial: Trial, *, count: int, seed: int = 0, corners: Corners = DEFAULT, workers: int = 1
) -> Iterator[Tried]:
    """Ask a solver the instances of the seeds `seed`, `seed + 1`, …, in any order.

    Args:
        trial: the solver.
        count: how many instances.
        seed: the first one.
        corners: which instances.
        workers: how many processes ask at a time; 1 asks in this one.
    """
    count, seed = validation.count(count, "count", 1), validation.count(seed, "seed")
    if validation.count(workers, "workers", 1) == 1:
        for one in range(seed, seed + count):
            yield _tried(trial, one, corners)
        return
    firsts = iter(range(seed, seed + count, _AT_ONCE))
    running: deque[tuple[int, Future[Any]]] = deque()
    with closing(WorkerPool(workers)) as pool:
        while True:
            while len(running) < 2 * workers and (first := next(firsts, None)) is not None:
                end = min(first + _AT_ONCE, seed + count)
                running.append((first, pool.submit(_batch, trial, first, end, corners)))
            if not running:
                return
            first, future = running.popleft()
            yield from _result(first, future)


def shrunk_fault(trial: Trial, tried: Tried, kind: str, times: int, corners: Corners,
                 seconds: float) -> Fault:  # fmt: skip
    """Shrink the instance of a fault; Ctrl-C keeps the smallest so far."""
    specimen = fuzz_specimen(tried.seed, corners)
    last = tried.judgement

    def fails(question: Question) -> bool:
        nonlocal last
        judgement = trial.ask(question, tried.seed)
        if fault_kind(judgement) != fault_kind(tried.judgement):
            return False
        last = judgement
        return True

    shrinker = Shrinker(specimen.question(), fails, seconds, corners.heaviest)
    is_interrupted = False
    try:
        shrinker.run(specimen)
    except KeyboardInterrupt:
        is_interrupted = True
    question = shrinker.finished()
    return Fault(kind, times, tried.seed, last, question, shrinker.is_minimal, is_interrupted)


def _tried(trial: Trial, seed: int, corners: Corners) -> Tried:
    question = fuzz_question(seed, corners)
    return Tried(seed, trial.ask(question, seed), len(question.lines))


def _batch(trial: Trial, first: int, end: int, corners: Corners) -> list[Tried]:
    """What a worker does; SIGTERM ends it, and first whatever it runs."""
    with ending_cleanly():
        return [_tried(trial, seed, corners) for seed in range(first, end)]


def _result(first: int, future: Future[Any]) -> Iterator[Tried]:
    try:
        yield from result_of(future)
    except BrokenExecutor:
        raise ValueError(
            f"the solver ended its process on one of the instances from seed={first} on; run them "
            "with workers=1 to see which"
        ) from None
