"""Races: other people's solvers on proven instances; nothing that they say is believed.

A command runs under limits (`command`, `limits`, `runner`, `keeper`, `processes`), what it prints
is read (`transcript`, `answer`, `answer_files`) and judged by the proof (`clause_file`, `truth`,
`judging`). A race asks every entrant every instance of a suite (`suite_file`, `suite_loading`,
`entrants`, `dialects`, `probing`, `compiling`, `race_task`, `racing`), and is looked at (`results`,
`scores`, `figures`, `time_series`). dimod samplers race in this process (`raced_problem`,
`sampler_call`, `sampler_race`, `sampler_results`), and are looked at with `tts_figures` and `dial`.
A hunt draws small instances of proven optimum (`fuzzing`, `specimen`, `mutations`, `question`,
`deciding`), asks one solver (`trial`, `builtin`, `hunting`), shrinks what it fails on and hands it
over (`shrinking`, `handing_over`).
"""

# ruff: noqa: F403, F405 (the names are those of `public`)

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glasshouse.races.public import *

__all__ = [
    "Answer",
    "ClauseFile",
    "Entrant",
    "Judgement",
    "Limits",
    "Race",
    "RaceProgress",
    "RacedProblem",
    "ResidualCurve",
    "Results",
    "Run",
    "SamplerCall",
    "SamplerComparison",
    "SamplerResults",
    "SolverScore",
    "Suite",
    "SuiteInstance",
    "Transcript",
    "Truth",
    "difference",
    "draw_dial",
    "draw_residual",
    "draw_tts",
    "entrants_of",
    "iter_race",
    "judge",
    "load_suite",
    "performance_profile",
    "race",
    "race_figure",
    "read_answer",
    "read_clauses",
    "read_results",
    "read_transcript",
    "ready_made",
    "score",
    "truth_of",
    "tts99",
]


def __getattr__(name: str) -> Any:
    """All names at once, when one is first used: commands that need few modules start faster."""
    if name not in __all__:
        raise AttributeError(f"module 'glasshouse.races' has no attribute {name!r}")
    from glasshouse.races import public

    return getattr(public, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
