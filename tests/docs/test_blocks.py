"""Every code block of every page is executed, or says why not."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.pages import PAGES, ROOT, Block, blocks_of

# What Sphinx makes pages of: no code.
DIRECTIVES = {"{toctree}", "{eval-rst}", "{include}"}
SHELL_PAGES = [page for page in PAGES if any(block.kind == "sh" for block in blocks_of(page))]
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def how_it_is_executed(block: Block) -> str | None:
    if block.kind.split(" ")[0] in DIRECTIVES:
        return "it is not code"
    if block.notes.get("not run", [""])[0]:
        return "it says why not"
    if block.kind == "sh" or block.file:
        return "by the test below"
    if "output" in block.notes:
        return "compared with what the block before it prints"
    is_example = block.kind == "python" and block.text.startswith(">>> ")
    return "as a doctest" if is_example else None


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_executed_or_says_why_not(page):
    for block in blocks_of(page):
        assert how_it_is_executed(block), f"{block} ({block.kind!r}) is not executed"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_fence_is_overlooked(page):
    fences = sum(line.strip().startswith("```") for line in page.read_text().splitlines())
    assert fences == 2 * len(blocks_of(page))


def test_examples_outside_the_folders_that_pytest_collects_would_not_run():
    collected = {ROOT / "README.md", *(ROOT / "docs").rglob("*.md")}
    for page in set(PAGES) - collected:
        examples = [block for block in blocks_of(page) if block.kind == "python"]
        assert all("not run" in block.notes for block in examples), page


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_file_that_a_page_shows_is_used_there(page):
    blocks = blocks_of(page)
    for k, block in enumerate(blocks):
        if block.file:
            later = [b for b in blocks[k + 1 :] if b.kind == "sh" or b.file]
            names = {block.file, block.file.removesuffix(".py")}  # a module is imported without it
            assert any(name in b.script for name in names for b in later), (
                f"{block}: nothing uses it"
            )


@pytest.fixture(scope="session")
def commands(tmp_path_factory):
    """A folder with the commands that pages call: glasshouse, python3, and a third-party solver."""
    folder = tmp_path_factory.mktemp("bin")
    guide = ROOT / "docs" / "howto" / "test-a-maxsat-solver.md"
    solver = next(block for block in blocks_of(guide) if block.file == "mysolver.py")
    (folder / "mysolver.py").write_text(solver.text)
    calls = {
        "glasshouse": f'"{sys.executable}" -m glasshouse "$@"',
        "dask": f'"{sys.executable}" -m dask "$@"',
        "python3": f'"{sys.executable}" "$@"',
        "mysolver": f'"{sys.executable}" "{folder / "mysolver.py"}" "${{@: -1}}"',
    }
    for name, call in calls.items():
        (folder / name).write_text(f"#!/usr/bin/env bash\nexec {call}\n")
        (folder / name).chmod(0o755)
    return folder


def scheduled(page: Path) -> object:
    """Pages that newcomers follow are run each time, those to look things up in by `make docs`."""
    is_slow = page.parent == ROOT / "docs" and page.stem != "tutorial"
    return pytest.param(page, marks=[pytest.mark.slow] if is_slow else [], id=name_of(page))


@pytest.mark.parametrize("page", [scheduled(page) for page in SHELL_PAGES])
def test_shell_blocks_run(page, commands, tmp_path):
    """All of a page, in order, in one folder."""
    paths = [str(commands), os.environ["PATH"]]
    source = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PATH": os.pathsep.join(paths), "PYTHONPATH": source}
    printed = ""
    for block in blocks_of(page):
        if "not run" in block.notes:
            continue
        if block.file:
            (tmp_path / block.file).write_text(block.script)
        elif "output" in block.notes:
            is_same = doctest.OutputChecker().check_output(block.text, printed, LOOSE)
            assert is_same, f"{block}: printed was\n{printed}"
        elif block.kind == "sh":
            run = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", block.script],
                cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600,
            )  # fmt: skip
            printed = run.stdout
            said = f"{block}:\n{block.script}\n{run.stdout}{run.stderr}"
            assert run.returncode in block.exit_codes, said
