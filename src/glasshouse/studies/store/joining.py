"""Whether two stores can be one: the same purpose, the same settings, the same instances."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from glasshouse.files.text.plain_json import canonical_json
from glasshouse.studies.store.purpose import STUDY, Purpose
from glasshouse.studies.store.records import json_object, short
from glasshouse.studies.store.store import Store, StoredTask
from glasshouse.studies.store.storefile import StoreError, damaged
from glasshouse.studies.study import join_studies

# Settings of the library that the command line calls otherwise.
_OPTIONS = {"seconds": "time_limit"}
_APART = "keep them in separate stores"
# The settings that distinguish two solvers of one name, as far as a task describes them.
_IDENTITY = ("what", "parameters", "command", "dialect", "fingerprint")


def join_notes(into: Store, source: Store) -> None:
    """Add the settings of a store to those of another one, of which it is to become a part.

    Raises:
        StoreError: the stores do not belong together.
    """
    held, theirs = into.purposes, source.purposes
    if not theirs:
        return  # a new store, without any tasks
    if len(theirs) > 1 or held not in ([], theirs):
        raise StoreError(
            f"{source.path} holds {_words(theirs)}, the target {_words(held) or 'nothing'}; merge "
            "stores of one purpose"
        )
    (purpose,) = theirs
    if purpose is STUDY:
        join_studies(into, source)
    else:
        _join_settings(into, source, purpose)
        _refuse_other_tasks(into, source, purpose)


def _words(purposes: list[Purpose]) -> str:
    return " and ".join(purpose.words for purpose in purposes)


def _join_settings(into: Store, source: Store, purpose: Purpose) -> None:
    theirs = _settings(source, purpose)
    if theirs is None:
        return
    mine = _settings(into, purpose)
    joined = theirs if mine is None else _joined(source, purpose, mine, theirs)
    into.note(purpose.note, json.dumps(joined))


def _settings(store: Store, purpose: Purpose) -> dict[str, Any] | None:
    noted = store.noted(purpose.note)
    if noted is None:
        return None
    try:
        settings = json_object(noted, purpose.words)
        members = {} if purpose.members is None else settings.get(purpose.members)
        if not isinstance(members, dict) or not all(isinstance(m, dict) for m in members.values()):
            raise ValueError(f"{purpose.words} has {purpose.members} {short(members)}")
    except ValueError as fault:
        raise damaged(store.path, fault) from None
    return settings


def _joined(
    source: Store, purpose: Purpose, mine: Mapping[str, Any], theirs: Mapping[str, Any]
) -> dict[str, Any]:
    """The settings of both; those that may differ are kept as they were."""
    what = f"{source.path} holds {purpose.words}"
    if mine.get("digest") != theirs.get("digest"):
        suites = short(theirs.get("suite")), short(mine.get("suite"))
        raise StoreError(f"{what} on {suites[0]}, the target one on {suites[1]} with other "
                         f"instances; {_APART}")  # fmt: skip
    for name in sorted((mine.keys() | theirs.keys()) - purpose.own - {purpose.members}):
        if mine.get(name) != theirs.get(name):
            option = _OPTIONS.get(name, name)
            raise StoreError(
                f"{what} with {option}={short(theirs.get(name))}, the target one with "
                f"{option}={short(mine.get(name))}; {_APART}"
            )
    joined = {**theirs, **mine}
    if purpose.members is not None:
        joined[purpose.members] = theirs[purpose.members] | mine[purpose.members]
        for name, one in theirs[purpose.members].items():
            if _without(one, purpose.own) != _without(joined[purpose.members][name], purpose.own):
                raise StoreError(f"{what} with another {short(name)} than the target; {_APART}")
    return joined


def _without(values: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _refuse_other_tasks(into: Store, source: Store, purpose: Purpose) -> None:
    mine, theirs = into.tasks(), source.tasks()
    if not mine or not theirs:
        return
    if purpose.is_suite and _instances(mine) != _instances(theirs):
        raise StoreError(
            f"{source.path} holds {purpose.words} on other instances than the target, or with "
            f"other proofs of them; {_APART}"
        )
    if purpose.is_suite and (name := _renamed(mine, theirs)):
        raise StoreError(f"{source.path} holds runs of another {name} than the target; {_APART}")
    if purpose.fixed is not None:
        fixed = [dict(purpose.fixed(task.table("parameters"))) for task in (*mine, *theirs)]
        if any(one != fixed[0] for one in fixed):
            raise StoreError(
                f"{source.path} holds {purpose.words} that learn other data than those of the "
                f"target; {_APART}"
            )


def _instances(tasks: list[StoredTask]) -> set[str]:
    """All instances that tasks are about, each with all that is stated of it."""
    return {canonical_json(task.table("parameters")) for task in tasks}


def _renamed(mine: list[StoredTask], theirs: list[StoredTask]) -> str:
    """The name of two different solvers; empty if there is none."""
    known: dict[str, dict[str, Any]] = {}
    for task in (*mine, *theirs):
        solver = task.table("solver")
        name = short(solver.get("name"))
        described = {key: solver.get(key) for key in _IDENTITY}
        if known.setdefault(name, described) != described:
            return name
    return ""
