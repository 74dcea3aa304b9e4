"""A read-only installation without a writable home works."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import glasshouse


def unprivileged() -> list[str]:
    """Return a command prefix under which even root obeys file permissions."""
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("needs setpriv: root may write everywhere")
    return [setpriv, "--bounding-set", "-dac_override"]


@pytest.fixture
def read_only_package(tmp_path):
    """Return a copy of the package in a read-only folder."""
    copy = tmp_path / "site" / "glasshouse"
    shutil.copytree(
        Path(glasshouse.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__")
    )
    folders = [copy.parent, copy, *(p for p in copy.rglob("*") if p.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    yield copy.parent
    for folder in folders:
        folder.chmod(0o755)


def test_read_only_and_without_a_home(read_only_package, tmp_path):
    instance = tmp_path / "x.wcnf"
    instance.write_text("p wcnf 2 2 8\n3 1 -2 0\n4 2 0\n")
    planted = str(tmp_path / "planted.wcnf")
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(read_only_package),
        "HOME": "/nonexistent",
    }
    script = (
        "import glasshouse, glasshouse.cli, glasshouse.compiled, sys;"
        f"assert glasshouse.__file__.startswith({str(read_only_package)!r});"
        f"code = glasshouse.cli.main(['info', {str(instance)!r}]);"
        f"words = 'plant random -n 9 -f 1/5 --loops 4 -o'.split() + [{planted!r}];"
        "code += glasshouse.cli.main(words);"
        f"code += glasshouse.cli.main(['check', {planted!r}]);"
        "print([f.name for f in __import__('pathlib').Path(glasshouse.__file__).parent"
        ".rglob('__pycache__')]); sys.exit(code)"
    )
    result = subprocess.run(
        [*unprivileged(), sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == (
        "compiling the planting kernels for this kind of problem; "
        "this is done once and takes a few seconds\n"
    )
    assert "MAX-2-SAT" in result.stdout
    assert "VERIFIED" in result.stdout
    assert result.stdout.endswith("[]\n")
