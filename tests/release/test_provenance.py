"""The table of licences: complete, with the versions of pyproject.toml and the licences stated."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Package, versions, extra, licence.
ROW = re.compile(r"^\| (\S+) \| `(\S+)` \| (?:`(\w+)`)? ?\| ([^|]+) \|", re.MULTILINE)
ROWS = ROW.findall((ROOT / "docs" / "provenance.md").read_text())
# Words by which metadata of packages name a licence.
FAMILIES = {"BSD": "BSD", "MIT": "MIT", "Apache": "Apache", "PSF": "Python Software Foundation"}


def stated(package: PackageMetadata) -> list[str]:
    """What the metadata say about the licence of the package itself."""
    classifiers = [line for line in package.get_all("Classifier", []) if "License" in line]
    expressions = [package.get(name) or "" for name in ("License-Expression", "License")]
    # Some packages put a whole text there, with licences of libraries that their wheel bundles.
    return [*(text for text in expressions if len(text) < 300), *classifiers]


def requirements() -> set[tuple[str, str, str]]:
    """Package, versions and extra of each dependency in pyproject.toml."""
    by_extra = {"": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
    return {
        (*re.match(r"([\w.-]+(?:\[\w+\])?)([^;]+)", line).groups(), extra)
        for extra, lines in by_extra.items()
        for line in lines
    }


def test_the_table_lists_every_dependency_with_its_versions_and_extra():
    assert {(name, versions, extra) for name, versions, extra, _ in ROWS} == requirements()


@pytest.mark.parametrize(("name", "licence"), [(row[0], row[3]) for row in ROWS])
def test_the_licence_is_what_the_package_states(name, licence):
    try:
        found = "\n".join(stated(metadata(name.partition("[")[0])))
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    (family,) = (words for family, words in FAMILIES.items() if licence.startswith(family))
    assert family in found
    assert not re.search(r"\b[AL]?GPL", found)
