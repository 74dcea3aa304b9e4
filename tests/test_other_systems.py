"""Commands work in a child process without features that other operating systems lack.

This prepares for Windows and macOS, but does not prove that glasshouse works on them.
"""

import os
import signal
import subprocess
import sys

import pytest

_HIDE = """
import asyncio, multiprocessing.pool, os, select, signal, sqlite3, subprocess, sys, tempfile, types
import highspy, matplotlib.pyplot, numba, sklearn.neural_network
import scipy.sparse.linalg, scipy.optimize

import ctypes
for module in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[module] = None
for name in ("set_blocking", "killpg", "getpgid", "wait4", "mkfifo", "sysconf", "O_NONBLOCK",
             "getuid", "geteuid", "sched_getaffinity"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGKILL", "SIGHUP", "SIGALRM", "SIGCHLD", "SIGUSR1", "pthread_kill"):
    delattr(signal, name)
locks = types.ModuleType("msvcrt")
locks.LK_NBLCK, locks.locking = 1, lambda handle, how, size: None
sys.modules["msvcrt"] = locks

class Library(ctypes.CDLL):
    def __init__(self, name, *arguments, **options):
        if name is None:
            raise TypeError("there is no such library")
        super().__init__(name, *arguments, **options)

ctypes.CDLL = Library
sys.platform = "win32"
"""
_IMPORT = """
import importlib, pkgutil
import glasshouse
for module in pkgutil.walk_packages(glasshouse.__path__, "glasshouse."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print("all")
"""
_USE = """
from pathlib import Path
from glasshouse.cli import main
study = 'name = "s"\\n[stop]\\ninstances = 2\\n[[family]]\\nmethod = "random_loops"\\n'
study += 'parameters = { n = 5, frustration = "1/5", loop_density = 1 }\\n'
Path("s.toml").write_text(study)
commands = [
    "plant random -n 6 -f 1/5 --loops 5 --seed 1 -o x.wcnf", "check x.wcnf", "info x.wcnf",
    "convert x.wcnf y.mc", "solve y.mc --seed 1", "prove x.wcnf --force", "prove y.mc",
    "study run s.toml -o s.sqlite", "study show s.sqlite",
]
for command in commands:
    print(command, main(command.split()), file=sys.stderr)
from glasshouse.proofs.exact import apart
sys.stdin = open(os.devnull)
apart.serve()
"""


def child(script: str, folder: object) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-c", _HIDE + script]
    return subprocess.run(
        call, capture_output=True, text=True, errors="replace", check=False, cwd=folder
    )


def test_every_module_is_imported_without_what_only_posix_has(tmp_path):
    done = child(_IMPORT, tmp_path)
    assert done.stdout.splitlines()[-1:] == ["all"], done.stderr


def test_commands_work_without_what_only_posix_has(tmp_path):
    done = child(_USE, tmp_path)
    lines = done.stderr.splitlines()
    codes = [line.split()[-1] for line in lines if line[-2:] in (" 0", " 1", " 2")]
    assert codes == ["0"] * 9, done.stderr
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(os.name != "posix", reason="they are there on POSIX only")
def test_what_is_hidden_is_there_to_be_hidden():
    assert hasattr(os, "killpg")
    assert hasattr(signal, "SIGKILL")
