"""The records: everything that must stay equal while files of the library move.

Only public names of `glasshouse`, the doors of its packages and the command line are used here.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib.metadata import version
from pathlib import Path

from tests.golden.plants import grown

import glasshouse as gh
from glasshouse.cli import main
from glasshouse.files import FORMATS

HERE = Path(__file__).parent
WIDTH = 100  # columns of help texts
TOY = ".toy"  # the format that the tests of catalogues may have added in this process

# WCNF has variants beyond its suffix; a blind file states nothing about its plant.
VARIANTS = {
    ".wcnf mse22": {"dialect": "mse22"},
    ".wcnf edge": {"encoding": "edge"},
    ".wcnf blind": {"blind": True},
}

STUDY = """
name = "golden"
[stop]
instances = 3
[[family]]
method = "random_loops"
parameters = { n = 8, frustration = 0.1 }
grid = { loop_density = [0.3, 0.5] }
"""

# Columns that measure time or memory, or name the computer and its software.
TIMING = re.compile(r"second|time|tts|memory|megabyte|byte|started|host|version|cpu|clock")


def file_hash(path: Path) -> str:
    """Return 16 digits of the SHA-256 of a file, or of the members of an archive.

    The compressed bytes of an archive depend on the installed zlib.
    """
    if path.suffix != ".npz":
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    found = hashlib.sha256()
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            head = f"{info.filename} {info.date_time} {info.compress_type} {info.file_size}\n"
            found.update(head.encode() + archive.read(info))
    return found.hexdigest()[:16]


def written(plant: gh.Planted, form: str, folder: Path) -> str:
    """Write a plant; return the hashes of file and certificate, or the message of the refusal."""
    path = folder / f"plant{form.split()[0]}"
    try:
        gh.write(path, plant, overwrite=True, **VARIANTS.get(form, {}))
    except ValueError as error:
        return f"refused: {error}".replace(f"{folder}{os.sep}", "")
    beside = path.with_name(f"{path.name}.cert")
    proof = file_hash(beside) if beside.exists() else "no certificate"
    return f"{file_hash(path)} {proof}"


def forms() -> list[str]:
    """Return all suffixes of formats, and the variants of WCNF."""
    return [*sorted(set(FORMATS) - {TOY}), *VARIANTS]


def format_records(name: str, folder: Path) -> dict[str, str]:
    """Return the records of one plant in all formats."""
    plant = grown(name)
    return {form: written(plant, form, folder) for form in forms()}


def run(*words: object, codes: tuple[int, ...] = (0,)) -> str:
    """Run a command in this process; return its standard output."""
    with redirect_stdout(io.StringIO()) as output:
        code = main([*map(str, words)])
    assert code in codes, f"{words} ended with exit code {code}: {output.getvalue()}"
    return output.getvalue()


def race_records(path: Path) -> str:
    """Return tasks and rows of a race as CSV, without what depends on time or on the computer."""
    text = io.StringIO()
    sheet = csv.writer(text, lineterminator="\n")
    with gh.Store(path) as store:
        for task in sorted(store.tasks(), key=lambda task: task.canonical):
            rows = store.rows(task)
            kept = [name for name in rows if not TIMING.search(name) and name != "incumbents"]
            identity = task.canonical.replace(sys.executable, "PYTHON")
            sheet.writerow([re.sub(r'"fingerprint":"[^"]*"', '"fingerprint":"MASKED"', identity)])
            sheet.writerow(kept)
            for row in zip(*(rows[name].tolist() for name in kept), strict=True):
                cells = dict(zip(kept, map(str, row), strict=True))
                cells["output"] = last_lines(cells["output"])
                sheet.writerow(cells.values())
    return text.getvalue()


def last_lines(output: str) -> str:
    """Return the last o and s lines; earlier o lines depend on the clock, models on versions."""
    last = {line[:2]: line for line in output.splitlines() if line[:2] in ("o ", "s ")}
    return " ".join(last[kind] for kind in sorted(last))


def study_rows(folder: Path) -> str:
    """Return the exported rows of a tiny study, without the columns that measure time."""
    (folder / "study.toml").write_text(STUDY)
    run("study", "run", folder / "study.toml", "-o", folder / "study.sqlite")
    run("store", "export", folder / "study.sqlite", "-o", folder / "study.csv")
    with (folder / "study.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    kept = [name for name in rows[0] if not TIMING.search(name)]
    lines = [",".join(kept), *(",".join(row[name] for name in kept) for row in rows)]
    return "".join(f"{line}\n" for line in lines)


def race_rows(folder: Path) -> str:
    """Return the rows of a tiny race of built-in solvers that end by themselves."""
    plant = gh.random_loops(3, 3, frustration="1/5", loops=3, rng=1)
    gh.write_suite(folder / "tiny", [plant])
    run("race", "run", "--suite", folder / "tiny", "-o", folder / "race.sqlite", "--time-limit", 60,
        "--solver", "prove", "--solver", "highs", "--meter", "process-group")  # fmt: skip
    return race_records(folder / "race.sqlite")


def training_rows(folder: Path) -> str:
    """Return the curves of a tiny training."""
    run("train", "run", "bars:4x2", "--hidden", 3, "--epochs", 20,
        "--count", 2, "-o", folder / "training.sqlite")  # fmt: skip
    target = folder / "training.csv"
    run("store", "export", folder / "training.sqlite", "--as", "curves", "-o", target)
    with target.open(newline="") as file:
        rows = list(csv.DictReader(file))
    kept = [name for name in rows[0] if not TIMING.search(name)]
    lines = [",".join(kept)]
    lines += [",".join(rounded(row[name]) for name in kept) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def rounded(text: str) -> str:
    """Return a number with nine digits; any other text unchanged."""
    try:
        return f"{float(text):.9g}"
    except ValueError:
        return text


def report_page(folder: Path) -> str:
    """Return the page of an instance as text; its style and its scripts are hashed."""
    gh.write(folder / "plant.wcnf", grown("random_loops"))
    page = page_of(folder, "plant.wcnf")
    page = re.sub(r"<(style|script)>(.*?)</\1>", hashed_code, page, flags=re.DOTALL)
    page = page.replace(f"glasshouse {gh.__version__}", "glasshouse VERSION")
    return re.sub(r"\b20\d\d-\d\d-\d\d\b", "DATE", page)


def page_of(folder: Path, *files: str) -> str:
    """Return the report page of some files in a folder.

    The child process finds a module in place of vl-convert, whose script takes seconds to make and
    changes with each release.
    """
    fake = folder / "fake"
    fake.mkdir()
    (fake / "vl_convert.py").write_text('def javascript_bundle():\n    return "0;"\n')
    code = "import sys; from glasshouse.cli import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", code, "report", *files, "-o", "page.html"]
    paths = os.pathsep.join([str(fake), *filter(None, sys.path)])
    subprocess.run(
        words, cwd=folder, check=True, env=os.environ | {"PYTHONPATH": paths}, capture_output=True
    )
    return (folder / "page.html").read_text()


def hashed_code(match: re.Match[str]) -> str:
    """Return an element of code with its hash in place of the code."""
    return f"<{match[1]}>{hashlib.sha256(match[2].encode()).hexdigest()[:16]}</{match[1]}>"


def help_texts() -> str:
    """Return the help of all commands and subcommands, each after a line that names it.

    A new process prints them: in this one, other tests may have added planting methods.
    """
    variables = {"COLUMNS": str(WIDTH), "NO_COLOR": "1", "TERM": "dumb", "PYTHONUTF8": "1"}
    paths = os.pathsep.join([str(HERE.parents[1]), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", "import tests.golden.records as r; r.print_help()"],
        env=os.environ | variables | {"PYTHONPATH": paths}, check=True, capture_output=True,
    )  # fmt: skip
    return done.stdout.decode()


def print_help() -> None:
    """Print all help texts, without spaces at the ends of lines."""
    blocks = []
    for words, text in all_help(()):
        lines = [line.rstrip() for line in text.splitlines()]
        head = " ".join(("$ glasshouse", *words, "--help"))
        blocks.append("\n".join([head, *lines]).rstrip() + "\n")
    sys.stdout.write("\n".join(blocks))


def all_help(words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the help of a command and of the commands that its help lists."""
    text = run(*words, "--help")
    yield words, text
    for name in listed_commands(text):
        yield from all_help((*words, name))


def listed_commands(text: str) -> list[str]:
    """Return the names of commands in all panels; options begin with -, arguments are capitals."""
    return re.findall(r"^│ ([a-z][a-z0-9-]*) ", text, re.MULTILINE)


def help_versions() -> dict[str, str]:
    """Return the versions of the packages that lay out help texts."""
    return {name: version(name) for name in ("cyclopts", "rich")}


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that is removed at the end of the block."""
    return tempfile.TemporaryDirectory(prefix="golden-")


TEXTS = {
    "study.csv": study_rows,
    "race.csv": race_rows,
    "training.csv": training_rows,
    "page.html": report_page,
}
