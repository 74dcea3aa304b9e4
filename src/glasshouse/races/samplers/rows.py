"""Conversion of sampler calls to rows of a store, and of rows to checked values."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from glasshouse.races.samplers.calling import SamplerCall
from glasshouse.races.samplers.clocks import clock_name, seconds_by
from glasshouse.store import Column, Columns, Kind, purpose
from glasshouse.store.records import json_object, without_codes

# Stores of earlier versions have these columns, and new rows in them have only these.
FIRST_SAMPLER_RACE = Kind(
    "sampler_race",
    (
        Column("valid", "integer", "1 where nothing was wrong with the call"),
        Column("reads", "integer", "reads that the call stands for"),
        Column("energies", "text", "JSON: energies of the reads, by us, ascending"),
        Column("fault", "text", "what was wrong; empty where nothing was"),
        Column("seed", "integer", "what the sampler was given; 0 where it takes none"),
    ),
    counted="valid",
)
SAMPLER_RACE = replace(
    FIRST_SAMPLER_RACE,
    columns=(
        *FIRST_SAMPLER_RACE.columns,
        Column("cpu_seconds", "real", "CPU time of the call, all threads of the process"),
        Column("timing", "text", "JSON: numbers of the sampler's own info['timing']"),
        Column("clock", "text", "the clock that the race was run with"),
        Column("computer", "text", "JSON: processor, cores, threads, system and versions"),
    ),
)
NOTE = purpose.SAMPLER_RACE.note


def rows_of_calls(calls: list[SamplerCall], kind: Kind) -> Columns:
    """Convert sampler calls to rows with the columns of `kind`."""
    values = {
        "valid": [int(not call.fault) for call in calls],
        "reads": [call.reads for call in calls],
        "energies": [json.dumps(call.energies.tolist()) for call in calls],
        "fault": [call.fault.encode("utf-8", "replace").decode() for call in calls],
        "seed": [call.seed for call in calls],
        "seconds": [call.seconds for call in calls],
        "cpu_seconds": [call.cpu_seconds or 0.0 for call in calls],
        "timing": [json.dumps(dict(call.timing)) for call in calls],
        "clock": [call.clock for call in calls],
        "computer": [json.dumps(dict(call.computer)) for call in calls],
    }
    return {one.name: np.array(values[one.name], one.dtype) for one in kind.measured}


def rows_of(columns: Columns) -> list[dict[str, Any]]:
    """Return columns as a list of rows, each of them a dict."""
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in values]


def circumstances(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked times, clock and computer of a stored call; empty for old stores."""
    if "timing" not in row:
        return {}
    timing = json_object(row["timing"], "the timing")
    times = [row["cpu_seconds"], *timing.values()]
    if not all(type(one) in (int, float) and 0 <= one < math.inf for one in times):
        raise ValueError("a call has a time that is negative or not finite")
    names = [without_codes(name) for name in timing]
    if not row["fault"]:
        seconds_by(row["clock"], row["seconds"], row["cpu_seconds"], timing)
    return {
        "cpu_seconds": row["cpu_seconds"], "timing": dict(zip(names, timing.values(), strict=True)),
        "clock": without_codes(clock_name(row["clock"])), "computer": _computer(row["computer"]),
    }  # fmt: skip


@lru_cache(64)
def _computer(text: str) -> dict[str, Any]:
    return json_object(text, "the computer")
