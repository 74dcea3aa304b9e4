"""Rules of plain English that a script can check without false alarms.

CONTRIBUTING explains the rules and shows examples. The other rules need a reader.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))

# A first line is read on its own, so it must name its subject.
NAMELESS = re.compile(
    r"(What|Of|That|Those|These|They|It|Whether it|The same|Likewise|And|But|One of them)\b(?!.*\?)"
)
# "is no number" makes the reader go back; "there is no file" and "is no longer" do not.
NEGATED_NOUN = re.compile(
    r"(?<!here )\b(?:is|are) no (?!longer|more|less|better|worse|larger|smaller|limit)[a-z]+"
)
NAMELESS_QUANTITY = re.compile(r"\bso (?:many|much|often)\b(?! (?:that|as)\b)")


def test_first_lines_name_their_subject() -> None:
    bad = [f"{where}: {line}" for where, line in _first_lines() if NAMELESS.match(line)]
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize("rule", [NEGATED_NOUN, NAMELESS_QUANTITY], ids=["is no X", "so many"])
def test_no_phrase_must_be_read_twice(rule: re.Pattern[str]) -> None:
    bad = [f"{where}: {text[:100]}" for where, text in _strings() if rule.search(text)]
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize("bad", ["What became of it.", "Those that are left.", "The same in bits."])
def test_the_rule_of_first_lines_can_fail(bad: str) -> None:
    assert NAMELESS.match(bad)
    assert not NAMELESS.match("Return the bound, or None if there is no state.")


def test_the_rules_of_phrases_can_fail() -> None:
    assert NEGATED_NOUN.search("name is no number")
    assert not NEGATED_NOUN.search("there is no file, which is no longer needed")
    assert NAMELESS_QUANTITY.search("Draw so many loops.")


def _first_lines() -> Iterator[tuple[str, str]]:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                if text:
                    line = getattr(node, "lineno", 1)
                    yield f"{path.relative_to(ROOT)}:{line}", text.splitlines()[0]


def _strings() -> Iterator[tuple[str, str]]:
    """Yield all texts with a space, such as docstrings and messages; f-strings by their parts."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                yield f"{path.relative_to(ROOT)}:{node.lineno}", " ".join(node.value.split())
