"""`glasshouse race run --sampler`: dimod samplers, named by their classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from glasshouse.cli.console import bar


def run_samplers(
    texts: list[str], suite: str, output: Path, answers: Path | None, instances: Path | None,
    **options: Any,
) -> None:  # fmt: skip
    """Race dimod samplers in this process.

    Args:
        texts: one text per sampler, in the form of `entered_sampler`.
        suite: a suite's name, TOML file or folder.
        output: the store.
        answers: the folder of the answers to blind files.
        instances: the folder of standard instances.
        options: options of `race_samplers`.
    """
    from glasshouse.races import entered_sampler, race_samplers
    from glasshouse.suites.loading import load_suite

    entered = [entered_sampler(text) for text in texts]
    names = [name for name, _ in entered]
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        raise ValueError(f"two samplers have the name {twice}; rename one, as in NAME=MODULE:CLASS")
    with bar() as shown:
        task = shown.add_task(f"calling samplers on {suite}", total=None)
        loaded = load_suite(
            suite, output.parent / "suites", None, answers, instances, any_format=True
        )
        race_samplers(
            dict(entered), loaded, store=output, **options,
            progress=lambda at: shown.update(task, completed=at.calls, total=at.goal),
        )  # fmt: skip
