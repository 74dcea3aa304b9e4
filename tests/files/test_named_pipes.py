"""Named pipes: the reader waits for a writer, once, and never for a pipe that was not named."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import glasshouse as gh
from glasshouse.certificates import CertificateError
from glasshouse.cli import main
from glasshouse.files import FileError, verify_file, write
from glasshouse.files.writing import standing_certificate
from glasshouse.planting.methods import random_loops
from glasshouse.suites import check_suite, write_suite

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")


def plant(seed=1):
    return random_loops(4, 4, frustration="1/5", loops=3, rng=seed)


def feed(pipe: Path, content: bytes) -> threading.Thread:
    """Write to a pipe once a reader waits for it, and not before."""

    def work() -> None:
        while True:
            try:
                writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
                break
            except OSError:  # there is no reader
                time.sleep(0.01)
        os.set_blocking(writer, True)
        with os.fdopen(writer, "wb") as file:
            file.write(content)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


@pytest.fixture
def content(tmp_path):
    write(tmp_path / "x.wcnf", plant())
    return (tmp_path / "x.wcnf").read_bytes()


@pytest.fixture
def pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe.wcnf")
    return tmp_path / "pipe.wcnf"


def test_a_pipe_is_read_once_its_writer_comes(pipe, content):
    thread = feed(pipe, content)
    assert gh.read(pipe).num_variables == 8
    thread.join()


@pytest.mark.parametrize("command", ["info", "solve"])
def test_commands_wait_for_the_writer(pipe, content, capsys, command):
    thread = feed(pipe, content)
    assert main([command, str(pipe)]) == 0
    assert "seed" in capsys.readouterr().out
    thread.join()


_WAITING = """
import sys
from glasshouse.cli import main

def tell(event, arguments):
    if event == "open" and str(arguments[0]).endswith("pipe.wcnf"):
        print("opens", flush=True)

sys.addaudithook(tell)
sys.exit(main())
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_waiting_ends_with_a_signal(pipe, number, code):
    def default_signals():
        signal.signal(signal.SIGINT, signal.default_int_handler)

    child = subprocess.Popen(
        [sys.executable, "-c", _WAITING, "info", str(pipe)], preexec_fn=default_signals,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert child.stdout.readline() == "opens\n"
        while child.poll() is None:  # a signal just before a system call is handled after the next
            child.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(30)
    finally:
        child.kill()
        child.communicate()
    assert child.returncode == code


@pytest.mark.parametrize("command", ["judge", "report"])
def test_commands_that_read_twice_refuse_a_pipe(pipe, capsys, command):
    more = [str(pipe)] if command == "judge" else ["-o", str(pipe.with_name("page.html"))]
    assert main([command, str(pipe), *more]) == 2
    assert "is a pipe, which can be read only once" in capsys.readouterr().err


def test_a_pipe_beside_a_file_is_not_its_certificate(tmp_path, content):
    (tmp_path / "x.wcnf.cert").unlink()
    os.mkfifo(tmp_path / "x.wcnf.cert")
    assert not verify_file(tmp_path / "x.wcnf").proven
    with pytest.raises((FileError, CertificateError), match="is a pipe"):
        standing_certificate(tmp_path / "x.wcnf.cert", gh.read(tmp_path / "x.wcnf"))


@pytest.mark.parametrize(
    ("name", "is_needed"),
    [("instance-00000.wcnf", True), ("instance-00000.wcnf.cert", False), ("manifest.jsonl", True),
     ("optima.csv", False), ("regression.csv", False)],
)  # fmt: skip
def test_pipes_in_the_folder_of_a_stranger_are_not_waited_for(tmp_path, name, is_needed):
    write_suite(tmp_path / "suite", [plant()])
    (tmp_path / "suite" / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / "suite" / name)
    if not is_needed:
        assert len(check_suite(tmp_path / "suite" / "manifest.jsonl")) == 1
        return
    with pytest.raises(FileError, match="is a pipe"):
        check_suite(tmp_path / "suite" / "manifest.jsonl")
