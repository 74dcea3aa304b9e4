"""Races of third-party solvers on instances with proven optima; no solver's claim is trusted.

running/ (one command under limits) ← judging/ (the verdict, by the proof) ← samplers/ (third-party
samplers; races of dimod samplers in this process) ← commands/ (races of commands over a suite, and
their scores) ← dials, figures (on a caller's axes) · public (the names that Python users get)
"""

# ruff: noqa: F403, F405 (the names are those of `public`)

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glasshouse.races.public import *

__all__ = [
    "Answer", "ClauseFile", "Entrant", "Judgement", "Known", "Limits", "OptimalSetting", "Race",
    "RaceProgress", "RacedProblem", "ResidualCurve", "Results", "Run", "SamplerCall",
    "SamplerComparison", "SamplerResults", "SolverComparison", "SolverScore", "Suite",
    "SuiteInstance", "Transcript", "VirtualBest", "compare_solvers", "difference", "draw_batches",
    "draw_dial", "draw_residual", "draw_tts", "entered_sampler", "entrants_of", "iter_race",
    "judge", "known_file", "load_suite", "optimal_setting", "performance_profile", "race_figure",
    "race_samplers", "read_answer", "read_clauses", "read_results", "read_transcript", "ready_made",
    "score", "tts99", "virtual_best",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import all public names on first use, so that commands that need few modules start faster."""
    if name not in __all__:
        raise AttributeError(f"module 'glasshouse.races' has no attribute {name!r}")
    from glasshouse.races import public

    return getattr(public, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
