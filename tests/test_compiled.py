"""Compiled code on disk is used again, but never after a kernel that it calls has changed."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

import glasshouse.compiled
import glasshouse.numba_private
import glasshouse.stopping
from glasshouse.compiled import announces, compiled, inlined, inner

CALLEE = "from glasshouse.compiled import compiled\n@compiled\ndef inner(x):\n    return x + {}\n"
CALLER = (
    "from glasshouse.compiled import compiled\nfrom kernels.callee import inner\n"
    "@compiled\ndef outer(x):\n    return inner(x)\n"
)
ASK = "from kernels.caller import outer; print(outer(1), sum(outer.stats.cache_hits.values()))"


def test_a_changed_callee_is_compiled_anew(warm, tmp_path):
    def ask(folder):
        return warm(ASK, folder)[0].split()

    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "__init__.py").touch()
    (kernels / "caller.py").write_text(CALLER)
    (kernels / "callee.py").write_text(CALLEE.format(1))
    assert ask(tmp_path) == ["2", "0"]
    assert ask(tmp_path) == ["2", "1"]  # from disk
    (kernels / "callee.py").write_text(CALLEE.format(41))  # Python compares sizes
    assert ask(tmp_path) == ["42", "0"]


def test_a_changed_ground_kernel_is_compiled_anew_in_every_room(warm, tmp_path):
    """The test uses its own small package, so that glasshouse does not change."""

    def ask(folder):
        return warm(ASK, folder)[0].split()

    house, room = tmp_path / "glasshouse", tmp_path / "kernels"
    for folder in (house / "kernels", room):
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
    (house / "__init__.py").touch()
    for module in (glasshouse.compiled, glasshouse.stopping):
        shutil.copy(module.__file__, house)
    shutil.copytree(Path(glasshouse.numba_private.__file__).parent, house / "numba_private")
    (room / "caller.py").write_text(CALLER.replace("kernels.callee", "glasshouse.kernels.callee"))
    ground = house / "kernels" / "callee.py"
    ground.write_text(CALLEE.format(1))
    assert ask(tmp_path) == ["2", "0"]
    assert ask(tmp_path) == ["2", "1"]  # from disk
    ground.write_text(CALLEE.format(41))
    assert ask(tmp_path) == ["42", "0"]


def test_what_only_compiling_needs_is_imported_where_something_is_compiled(tmp_path):
    """Most processes find all their kernels in the cache, so they should not load a compiler."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "caller.py").write_text(
        "from glasshouse.compiled import compiled\n"
        "@compiled\ndef shares(x):\n    return [x / k for k in range(1, 4)]\n"
    )
    script = (
        "import sys, numba, numpy as np; from kernels.caller import shares\n"
        "print(*shares(np.ones(2))[1], 'scipy.linalg' in sys.modules)\n"
        "from numba.typed import List\n"
        "print(numba.njit(lambda a, b: (a @ a)[0, 0] + b[0])(np.full((2, 2), 3.0), List([1])))"
    )
    call = [sys.executable, "-c", script]
    for is_compiled in (True, False):
        said = subprocess.check_output(call, cwd=tmp_path, text=True)
        assert said == f"0.5 0.5 {is_compiled}\n19.0\n"


def test_a_cache_that_holds_a_class_of_an_older_version_is_passed_over(warm, tmp_path):
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "__init__.py").touch()
    (kernels / "callee.py").write_text(
        "from typing import NamedTuple\nclass Old(NamedTuple):\n    x: int\n"
    )
    caller = (
        "from kernels.callee import Old\nfrom glasshouse.compiled import compiled\n"
        "@compiled\ndef first(pair):\n    return pair.x\ndef outer(x):\n    return first(Old(x))\n"
    )
    (kernels / "caller.py").write_text(caller)
    for name in ("Old", "Newer"):  # Python compares sizes
        for path in kernels.glob("*.py"):
            path.write_text(path.read_text().replace("Old", name))
        assert warm("from kernels.caller import outer; print(outer(3))", tmp_path)[0] == "3\n"


def test_what_is_compiled_for_a_stranger_s_class_is_not_cached(warm, tmp_path):
    """A process without that class could not read the cache."""
    kernels, stranger = tmp_path / "kernels", tmp_path / "stranger.py"
    kernels.mkdir()
    (kernels / "__init__.py").touch()
    pair = "from typing import NamedTuple\nclass Pair(NamedTuple):\n    x: int\n"
    stranger.write_text(pair)
    (kernels / "caller.py").write_text(
        f"{pair}from glasshouse.compiled import compiled\n"
        "@compiled\ndef first(pair):\n    return pair.x\n"
    )
    script = (
        "from {home} import Pair; from kernels.caller import first;"
        "print(first(Pair(3)), sum(first.stats.cache_hits.values()))"
    )
    for home, hits in (("stranger", 0), ("kernels.caller", 0), ("kernels.caller", 1)):
        assert warm(script.format(home=home), tmp_path)[0] == f"3 {hits}\n"
        stranger.unlink(missing_ok=True)


SUM = (
    "from glasshouse.compiled import compiled\n@compiled\ndef total(x):\n    s = x[0]\n"
    "    for k in range(1, x.size):\n        s += x[k]\n    return s\n"
)


def total(warm, folder, kind, first=""):
    """Return the sum 0 + 1 + 2 + 3 in a numeric type, and the number of kernels from disk."""
    script = (
        f"{first}\nimport numpy as np; from kernels.adding import total\n"
        f"print(total(np.arange(4, dtype=np.{kind})), sum(total.stats.cache_hits.values()))"
    )
    return warm(script, folder)[0].split()


@pytest.fixture
def adding(tmp_path):
    """Return a folder with a summing kernel that is not compiled yet."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "adding.py").write_text(SUM)
    return tmp_path


def test_machine_code_for_other_types_is_not_run(warm, adding):
    """Two processes that write at once can leave the index of one and the code of the other."""
    assert total(warm, adding, "int32") == ["6", "0"]
    assert total(warm, adding, "float32") == ["6.0", "0"]
    one, two = adding.rglob("*.nbc")
    code = one.read_bytes(), two.read_bytes()
    two.write_bytes(code[0])
    one.write_bytes(code[1])
    for hits in ("0", "1"):  # written again, and read
        assert total(warm, adding, "float32") == ["6.0", hits]
        assert total(warm, adding, "int32") == ["6", hits]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX")
def test_a_full_disk_leaves_no_index_of_older_code(warm, adding):
    assert total(warm, adding, "int32") == ["6", "0"]
    (code,) = adding.rglob("*.nbc")
    small = code.stat().st_size // 2
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({small}, {small}))"
    (adding / "kernels" / "adding.py").write_text(SUM + "# newer\n")
    assert total(warm, adding, "float32", limit) == ["6.0", "0"]  # nothing whole was written
    assert total(warm, adding, "float32") == ["6.0", "0"]
    assert total(warm, adding, "float32") == ["6.0", "1"]


@pytest.mark.parametrize("share", [0, 0.5, 0.99])
def test_damaged_files_of_machine_code_are_written_anew(warm, adding, share):
    """One file contains everything, so there is no index that could be damaged, too."""
    assert total(warm, adding, "int32") == ["6", "0"]
    (path,) = adding.rglob("*.nb?")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    assert total(warm, adding, "int32") == ["6", "0"]
    assert total(warm, adding, "int32") == ["6", "1"]


def test_each_call_that_compiles_says_so_once(caplog, tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    @compiled
    def minus(x):
        return -x

    @compiled
    def twice(x):
        return 2 * x

    @announces("inner")
    def part(x):
        return minus(x)

    @announces("outer")
    def whole(x):
        return twice(part(x))

    def said():
        return [message.partition(" for ")[0] for message in caplog.messages]

    words = "compiling the outer kernels"
    assert (whole(3), said()) == (-6, [words])
    assert (whole(4), said()) == (-8, [words])  # now it exists
    assert (whole(2.5), said()) == (-5, [words] * 2)  # for floats it was not
    assert (twice(3j), said()) == (6j, [words] * 2)  # nothing announces this


def test_what_is_cached_for_another_processor_is_compiled_anew(tmp_path):
    def ask(**variables):
        call = [sys.executable, "-c", ASK]
        environment = os.environ | variables
        return subprocess.check_output(call, cwd=tmp_path, text=True, env=environment).split()

    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "caller.py").write_text(CALLEE.format(1).replace("inner", "outer"))
    assert ask() == ["2", "0"]
    assert ask() == ["2", "1"]
    assert ask(NUMBA_CPU_NAME="generic") == ["2", "0"]


def test_garbage_is_collected_as_before_once_all_is_compiled():
    @compiled
    def half(x):
        return x / 2

    @compiled
    def quarter(x):
        return half(half(x))

    for collects in (True, False):
        (gc.enable if collects else gc.disable)()
        try:
            assert quarter(4 if collects else 4.0) == 1
            assert gc.isenabled() is collects
        finally:
            gc.enable()


def test_kernels_that_are_not_compiled_are_one_clear_line():
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    library = (
        "import glasshouse as gh\ntry:\n gh.anneal\nexcept ValueError as error:\n print(error)"
    )
    commands = "from glasshouse.cli import main; raise SystemExit(main(['info', 'x.wcnf']))"
    ran = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                       env=environment)
        for script in (library, commands)
    ]  # fmt: skip
    assert ran[0].stdout.startswith("NUMBA_DISABLE_JIT is set")
    assert ran[0].stderr == ""
    assert ran[1].returncode == 2
    assert ran[1].stderr.startswith("glasshouse: NUMBA_DISABLE_JIT is set")
    assert ran[1].stderr.count("\n") == 1


@pytest.mark.parametrize("decorator", [inner, inlined])
def test_an_inner_function_is_a_part_of_its_callers_and_nothing_by_itself(decorator):
    @decorator
    def fill(values, x):
        for k in range(values.size):
            values[k] += x
        if x < 0:
            raise ValueError("below zero")
        return values

    @decorator
    def fill_twice(values, x):
        return fill(values, x).sum() + fill(values, 2 * x).sum()

    @compiled
    def outer(size, x):
        return fill_twice(np.zeros(size), x)

    assert outer(3, 1) == 12  # 3 · 1, then 3 · (1 + 2)
    assert outer(3, 0.5) == 6
    with pytest.raises(ValueError, match="below zero"):
        outer(3, -1)


def test_an_inner_function_alone_becomes_no_machine_code():
    def twice(x):
        return 2 * x

    def is_runnable(function):
        function.compile((numba.int64,))
        (one,) = function.overloads.values()
        return one.library.codegen._engine.is_symbol_defined(one.fndesc.llvm_func_name)

    assert is_runnable(compiled(twice))
    assert not is_runnable(inner(twice))


def test_a_mistake_in_an_inner_function_is_told_as_in_any_other():
    @inner
    def wrong(x):
        return x.nothing

    @compiled
    def outer(x):
        return wrong(x)

    with pytest.raises(TypingError, match="nothing"):
        outer(1)


def test_inner_functions_may_hold_functions_and_comprehensions():
    """A user's annealing kernel is compiled like those of glasshouse."""

    @inner
    def squares(n):
        def square(x):
            return x * x

        return np.array([square(k) for k in range(n)]).sum()

    @compiled
    def outer(n):
        return squares(n)

    assert outer(4) == 14
