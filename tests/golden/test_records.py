"""Moving files changes no byte: formats, rows, a report page and help texts are as recorded.

See the README in this folder for how to record them again.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import version

import pytest
from tests.golden.plants import PLANTS
from tests.golden.records import (
    HERE,
    TEXTS,
    format_records,
    forms,
    help_texts,
    help_versions,
)

from glasshouse.planting import METHODS

RECORDED = json.loads((HERE / "formats.json").read_text())


def test_every_method_has_a_plant_and_every_plant_all_formats():
    builtin = {name for name, method in METHODS.items() if is_ours(method.function)}
    assert {name.split()[0] for name in PLANTS} == builtin
    for name, records in RECORDED["formats"].items():
        assert set(records) == set(forms()), name


def is_ours(function: object) -> bool:
    """Return whether a method is part of glasshouse: the tests of catalogues add toys."""
    return getattr(function, "__module__", "").startswith("glasshouse.")


@pytest.mark.parametrize("name", PLANTS)
def test_all_formats_have_the_recorded_bytes(name, tmp_path):
    found, expected = format_records(name, tmp_path), dict(RECORDED["formats"][name])
    if version("dimod") != RECORDED["versions"]["dimod"]:
        del found[".bqm"], expected[".bqm"]  # dimod writes its version into the file
    assert found == expected


@pytest.mark.parametrize("file", TEXTS)
def test_rows_and_page_are_as_recorded(file, tmp_path):
    assert TEXTS[file](tmp_path) == (HERE / file).read_text()


def test_help_texts_are_as_recorded():
    laid_out, expected = (HERE / "help.txt").read_text().split("\n\n", 1)
    installed = " ".join(f"{name} {number}" for name, number in help_versions().items())
    if installed != laid_out:
        pytest.skip(f"help.txt was laid out by {laid_out}, and here is {installed}")
    assert help_texts() == expected


def test_the_help_of_every_command_is_recorded():
    heads = re.findall(r"^\$ glasshouse (.*)--help$", (HERE / "help.txt").read_text(), re.MULTILINE)
    methods = {f"plant {m.command}" for m in METHODS.values() if is_ours(m.function)}
    recorded = {head.strip() for head in heads}
    assert (
        recorded
        >= {"", "check", "study run", "race compare", "fuzz shrink", "store copy"} | methods
    )
    assert len(recorded) == len(heads)
