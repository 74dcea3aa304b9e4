"""Untrusted TOML: some texts are refused before they are parsed, and no others."""

from __future__ import annotations

import tomllib
import tracemalloc
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.files.text import plain_toml
from glasshouse.files.text.plain_toml import TomlError, read_toml

PARTS = 4000  # parts of a key; without a refusal, eight times the memory of the limit below
ROOM = 48 << 20  # bytes; the largest text that is read takes half of it

BOMBS = {
    "a dotted key": "a" + PARTS * ".a" + "=1",
    "spaces around the dots": "a" + PARTS * " \t. a" + " = 1",
    "a dotted header": "[" + PARTS * "a." + "a]",
    "a dotted header of a list": "[[" + PARTS * "a." + "a]]",
    "quoted parts": '""' + PARTS * '."."' + "=1",
    "literal parts": "''" + PARTS * ".'='" + "=1",
    "parts that look like comments": "a" + PARTS * '."#"' + "=1",
    "an inline table": "x = {" + "a" + PARTS * ".a" + "=1}",
    "parts that look like a number": "1" + PARTS * ".1" + "=1",
    "behind a string of five quotes": 'x = """a"""""\n' + "a" + PARTS * ".a" + "=1",
    "behind a literal of five quotes": "x = '''a'''''\n" + "a" + PARTS * ".a" + "=1",
    "behind an escaped backslash": 'x = "\\\\"\n' + "a" + PARTS * ".a" + "=1",
    "behind a comment with quotes": "# '''\n" + "a" + PARTS * ".a" + "=1",
    "behind lines of Windows": "x = 1\r\n" + "a" + PARTS * ".a" + "=1",
    "many headers": "\n".join(f"[k{k}" + 15 * ".a" + "]" for k in range(5000)),
    "many headers in one": "[a]\n" + "\n".join(f"[a.k{k}" + 14 * ".a" + "]" for k in range(5000)),
    "many lists of tables": "\n".join(f"[[k{k}" + 15 * ".a" + "]]" for k in range(5000)),
    "many dotted keys": "\n".join(f"k{k}" + 15 * ".a" + "=1" for k in range(5000)),
    "many inline tables": "\n".join(f"k{k}={{a=1}}" for k in range(40_000)),
    "a number of very many digits": "x = 0x" + 900_000 * "f",
    "lists in lists": "x = " + 100_000 * "[",
    "a long text": "x = [" + 400_000 * "[]," + "]",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_little_memory(name):
    text = BOMBS[name]
    tracemalloc.start()
    try:
        with pytest.raises(TomlError) as refused:
            read_toml(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20
    assert len(str(refused.value)) < 300


WORST = {
    "tables as deep as may be": "\n".join(f"[k{k}" + 15 * ".a" + "]" for k in range(2048)),
    "dotted keys in a deep table": "[a" + 15 * ".a" + "]\n"
    + "\n".join(f"k{k}" + 15 * ".a" + "=1" for k in range(2047)),
    "tables of one key": "\n".join(f"k{k}={{}}" for k in range(32_768)),
    "empty lists": "x=[" + 349_000 * "[]," + "]",
    "empty tables": "x=[" + 349_000 * "{}," + "]",
    "numbers": "x=[" + 262_000 * "1.5," + "]",
}  # fmt: skip


@pytest.mark.parametrize("name", WORST)
def test_the_worst_that_is_read_stays_within_the_limit(name):
    tracemalloc.start()
    try:
        read_toml(WORST[name])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < ROOM


def test_the_read_limit_moves_the_bounds(monkeypatch):
    many = "\n".join(f"k{k}=1" for k in range(40_000))
    with pytest.raises(TomlError, match="has keys of 40000 parts in total, but the limit is 32768"):
        read_toml(many)
    monkeypatch.setenv("GLASSHOUSE_READ_LIMIT", "128M")
    assert len(read_toml(many)) == 40_000


def test_suites_that_come_with_glasshouse_are_read_as_python_reads_them():
    files = list(resources.files("glasshouse.suites").joinpath("ready_made").iterdir())
    assert files
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert read_toml(text) == tomllib.loads(text)


def test_a_message_that_quotes_a_long_key_is_short():
    key = '"' + 100_000 * "x" + '"'
    with pytest.raises(TomlError, match="is not TOML: Cannot overwrite") as refused:
        read_toml(f"{key}.a = 1\n{key} = 1")
    assert len(str(refused.value)) < 300


KEYS = st.sampled_from(["a", "b", "c-1", '"a.b"', "'#'", '"\\""', "'\"'", '"="', '""', "1"])
VALUES = st.sampled_from(
    ["1", "1.5", '"x"', '"""a"""', '"""a"""""', '"""\\""" # no end\\\\"""', "'''x'''''", "'''\n'''",
     '"\\\\"', '"#"', "'\\'", '"\\u0041"', "[]", "[1.5, 2.5,\n # a.b = 1\n '[x]']", "{}",
     "{a.b = 1, c = {d.e = [{f = 1}]}}", "1979-05-27 07:32:00.5", "inf", "true"]
)  # fmt: skip
DOTTED = st.lists(KEYS, min_size=1, max_size=4).map(" . ".join)
LINES = st.one_of(
    st.builds("{} = {}{}".format, DOTTED, VALUES, st.sampled_from(["", " # a.b.c = '''", "\t"])),
    st.builds("[{}]".format, DOTTED),
    st.builds("[[{}]]".format, DOTTED),
    st.sampled_from(["", "# \"\"\"", "  # [a.b]"]),
)  # fmt: skip


@given(st.lists(LINES, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_no_key_of_valid_toml_is_missed(lines, end):
    text = end.join(lines)
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert read_toml(text) == values
    assert plain_toml.parts_of_keys(text) >= _entries(values)


def _entries(value: object) -> int:
    """How many keys all tables have together."""
    if isinstance(value, dict):
        return len(value) + sum(map(_entries, value.values()))
    return sum(map(_entries, value)) if isinstance(value, list) else 0
