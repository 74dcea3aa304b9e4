"""Record again: write the golden files of this folder with the code of today."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

from tests.golden.plants import PLANTS
from tests.golden.records import (
    HERE,
    TEXTS,
    format_records,
    help_texts,
    help_versions,
    temporary_folder,
)


def record() -> None:
    with temporary_folder() as name:
        formats = {plant: format_records(plant, Path(name)) for plant in PLANTS}
    hashes = {"versions": {"dimod": version("dimod")}, "formats": formats}
    (HERE / "formats.json").write_text(json.dumps(hashes, indent=1, ensure_ascii=False) + "\n")
    for file, make in TEXTS.items():
        with temporary_folder() as name:
            (HERE / file).write_text(make(Path(name)))
    laid_out = " ".join(f"{name} {number}" for name, number in help_versions().items())
    (HERE / "help.txt").write_text(f"{laid_out}\n\n{help_texts()}")


if __name__ == "__main__":
    record()
