"""`python -m benchmarks.journeys [--files]`: count the files of the library that a command runs.

A module counts if at least one of its functions is called, in the process of the command or in one
of its Python child processes. Code that runs while a module is imported does not count: module
bodies, decorators and class bodies. Compiled functions count if Python calls them. The benchmark
prints a table in Markdown; with `--files`, it also prints the names of the files.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import glasshouse

ROOT = Path(glasshouse.__file__).parent

STUDY = """
name = "journey"
[stop]
instances = 2
[[family]]
method = "random_loops"
parameters = { n = 8, frustration = 0.1, loop_density = 0.4 }
"""

PLANT = ["plant", "random", "-n", "8", "-f", "1/5", "--loops", "5", "--seed", "1"]
PREPARATION = [
    [*PLANT, "-o", "inst.wcnf"],
    ["plant", "random", "-n", "3", "-f", "1/5", "--loops", "3", "--seed", "1", "-o", "tiny/a.wcnf"],
]
JOURNEYS = {
    "plant random": [*PLANT, "-o", "new.wcnf"],
    "check": ["check", "inst.wcnf"],
    "convert wcnf → qubo": ["convert", "inst.wcnf", "new.qubo"],
    "solve (anneal)": ["solve", "inst.wcnf", "--runs", "8", "--sweeps", "50", "--seed", "1"],
    "prove": ["prove", "inst.wcnf", "--certificate", "new.cert"],
    "race": [
        "race", "run", "--solver", "prove", "--suite", "tiny", "-o", "race.sqlite",
        "--meter", "process-group",
    ],
    "study run": ["study", "run", "study.toml", "-o", "study.sqlite"],
}  # fmt: skip

# Runs at the start of every child process, because its folder is on PYTHONPATH. Code that runs
# while a module is imported is recognised by a frame of the import system below it.
TRACER = """
import os, sys, threading
root, target = os.environ["JOURNEY_ROOT"], os.environ["JOURNEY_TARGET"]
seen = set()

def watch(frame, event, argument):
    if event != "call":
        return
    code = frame.f_code
    if code.co_name in ("__call__", "_compile_for_args"):
        kernel = getattr(frame.f_locals.get("self"), "py_func", None)
        if kernel is not None and not is_import(frame):
            note(kernel.__code__.co_filename)
    if code.co_name != "<module>" and code.co_filename not in seen:
        if code.co_filename.startswith(root) and not is_import(frame):
            note(code.co_filename)

def is_import(frame):
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False

def note(file):
    # Written at once, because a process that is killed runs no exit handlers.
    if file.startswith(root) and file not in seen:
        seen.add(file)
        with open(os.path.join(target, str(os.getpid())), "a") as output:
            output.write(file + "\\n")

sys.setprofile(watch)
threading.setprofile(watch)
"""


def files_of(words: list[str], folder: Path) -> set[str]:
    """Return the modules that run for a command, relative to the library."""
    with tempfile.TemporaryDirectory() as name:
        target, tracer = Path(name, "seen"), Path(name, "tracer")
        target.mkdir()
        tracer.mkdir()
        (tracer / "sitecustomize.py").write_text(TRACER)
        paths = os.pathsep.join([str(tracer), str(ROOT.parent), *filter(None, sys.path[1:])])
        variables = {
            "PYTHONPATH": paths,
            "JOURNEY_ROOT": f"{ROOT}{os.sep}",
            "JOURNEY_TARGET": str(target),
        }
        execute(words, folder, os.environ | variables)
        lines = [line for path in target.iterdir() for line in path.read_text().splitlines()]
    return {Path(line).relative_to(ROOT).as_posix() for line in lines}


def execute(words: list[str], folder: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "glasshouse", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr}")


def journeys() -> dict[str, set[str]]:
    """Return the modules that run for each command when all kernels are compiled."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        for journey, words in JOURNEYS.items():
            # The first run compiles; only the second one is watched.
            for turn in ("warm", "watched"):
                folder = Path(name, f"{journey.split()[0]}-{turn}")
                (folder / "tiny").mkdir(parents=True)
                (folder / "study.toml").write_text(STUDY)
                for preparation in PREPARATION:
                    execute(preparation, folder, dict(os.environ))
                if turn == "warm":
                    execute(words, folder, dict(os.environ))
                else:
                    found[journey] = files_of(words, folder)
    return found


def table(found: dict[str, set[str]]) -> str:
    """Return a Markdown table with the number of files per command and package."""
    lines = ["| journey | files | of these kernels | by package |", "|---|---|---|---|"]
    for journey, files in found.items():
        rooms = Counter(file.split("/")[0].removesuffix(".py") for file in files)
        each = ", ".join(f"{room} {number}" for room, number in rooms.most_common())
        kernels = sum("kernels" in file for file in files)
        lines.append(f"| {journey} | {len(files)} | {kernels} | {each} |")
    return "\n".join(lines)


if __name__ == "__main__":
    found = journeys()
    print(table(found))
    if "--files" in sys.argv:
        for journey, files in found.items():
            print(f"\n{journey}:\n" + "\n".join(f"  {file}" for file in sorted(files)))
