"""The rendering of sections as one HTML page, which needs no network and no other file.

Everything from a file is hostile: text is escaped, numbers and rows are JSON that cannot close its
script tag, and the page's security policy allows only our two scripts.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from html import escape as escape_html
from pathlib import Path
from typing import Any

from glasshouse.reports.page import Fact, Figure, Listing, Part, Section, Table, Trust, shown
from glasshouse.reports.script import library
from glasshouse.version import __version__

_FOLDER = Path(__file__).parent
_BADGES: dict[Trust, str] = {
    "verified": "✓ verified",
    "refuted": "✗ false",
    "stated": "stated",
    "read": "read",
}
_TRUST = (
    "Values marked <em>verified</em> were proven while this page was made: for instances in exact "
    "integers, from the file and its certificate alone; for RBMs, by enumerating all states. "
    "Values marked <em>stated</em> are statements of a file that are not checked here. Values "
    "marked <em>read</em> follow directly from the content of the file."
)
_MARKS = (
    "<em>Verified</em>: proven while this page was made. <em>Stated</em>: a file states it, and "
    "it is not checked here. <em>Read</em>: follows from the content of the file. "
    '<a href="#trust">More about these marks</a>'
)

_CHARTS = " Charts: Vega-Lite, inside this file."


def escape(text: str) -> str:
    """Escape a text for HTML, and make its unprintable characters visible."""
    return escape_html(shown(text))


def rendered(
    title: str, sections: Sequence[Section], command: str, made: str = "", lack: str = ""
) -> str:
    """Return the HTML page of a report.

    Args:
        title: the title of the page.
        sections: the sections, at least one.
        command: the command that makes the page again; empty if there is none.
        made: what the page was made from, if there is no command.
        lack: why the page has no charts; empty if it has them.
    """
    scripts = [*([] if lack else [library()]), _asset("page.js")]
    parts = [_section(section, number, bool(lack)) for number, section in enumerate(sections, 1)]
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy(*scripts)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="glasshouse {escape(__version__)}">
<meta name="referrer" content="no-referrer">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>{_asset("page.css")}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><h1>{escape(title)}</h1>
<button type="button" id="theme" role="switch" aria-checked="false" hidden>Dark</button></header>
{_contents(sections)}
<main id="content" tabindex="-1">
<noscript><p class="alarm">Figures and tables are drawn by JavaScript, which is switched off here.
</p></noscript>
{_alarm(f"Figures are shown as tables: {lack}") if lack else ""}{"".join(parts)}
</main>
<footer>
<p id="trust">{_TRUST}</p>
<p>Made by glasshouse {escape(__version__)}.{"" if lack else _CHARTS} The page does not
use the network.</p>
{_again(command, made)}
</footer>
{"".join(f"<script>{script}</script>{chr(10)}" for script in scripts)}</body>
</html>
"""


def _contents(sections: Sequence[Section]) -> str:
    """Return the table of contents with the main results, and an explanation of the marks."""
    lines = "".join(
        f'<li><a href="#s{k}">{escape(one.title)}</a>, {escape(one.kind)}{_result(one.result)}</li>'
        for k, one in enumerate(sections, 1)
    )
    return f'<nav aria-label="Sections"><ol>{lines}</ol><p>{_MARKS}</p></nav>'


def _result(result: Fact | None) -> str:
    if result is None:
        return ""
    return f": {escape(f'{result.name} {result.value}'.strip())} {_badge(result.trust)}"


def _badge(trust: Trust) -> str:
    return f'<span class="badge {trust}">{_BADGES[trust]}</span>'


def _again(command: str, made: str) -> str:
    if not command:
        return f"<p>{escape(made)}</p>"
    shown = f'<pre tabindex="0" aria-label="Command that makes this page">{escape(command)}</pre>'
    return f"<p>To make it again:</p>{shown}"


def safe_json(value: Any) -> str:
    r"""Return JSON that is safe inside a script tag, because it cannot open or close a tag.

    >>> safe_json("</script><b>")
    '"\\u003c/script\\u003e\\u003cb\\u003e"'
    """
    written = json.dumps(value, allow_nan=False, separators=(",", ":"))  # ASCII only
    for character in "<>&":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return written


def _alarm(text: str) -> str:
    return f'<p class="alarm" role="alert">{escape(text)}</p>'


def _section(section: Section, number: int, lacks_charts: bool) -> str:
    parts = [
        _part(part, f"s{number}p{place}", lacks_charts) for place, part in enumerate(section.parts)
    ]
    return (
        f'<section id="s{number}" aria-labelledby="s{number}h">'
        f'<h2 id="s{number}h">{escape(section.title)}</h2>'
        f'<p class="kind">{escape(section.kind)}</p>'
        f"{_alarm(f'False: {section.refuted}') if section.refuted else ''}"
        f"<p>{escape(section.lead)}</p>{_facts(section.facts, section.title)}"
        f"{''.join(parts)}</section>"
    )


def _facts(facts: Sequence[Fact], title: str) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(fact.name)}</th><td>{escape(fact.value)}</td>'
        f"<td>{_badge(fact.trust)}</td></tr>"
        for fact in facts
    )
    head = f"<caption>Facts of {escape(title)}</caption>"
    return f'<table class="facts">{head}<tbody>{rows}</tbody></table>'


def _part(part: Part, name: str, lacks_charts: bool) -> str:
    if isinstance(part, Listing):
        return _listing(part, name)
    if isinstance(part, Figure):
        if part.data.rows and not lacks_charts:
            return _figure(part, name)
        part = replace(part.data, title=part.title, note=part.text)
    return _table(part, name)


def _listing(part: Listing, name: str) -> str:
    lines = (
        f'<pre id="{name}" tabindex="0" aria-label="{escape(part.title)}">{escape(part.text)}</pre>'
        f'<button type="button" data-copies="{name}" hidden>Copy</button>'
    )
    if not part.is_open:
        lines = f"<details><summary>Show</summary>{lines}</details>"
    return f'<div class="part"><h3>{escape(part.title)}</h3>{lines}</div>'


def _table(part: Table, name: str) -> str:
    note = f"<p>{escape(part.note)}</p>" if part.note else ""
    return (
        f'<div class="part long"><h3>{escape(part.title)}</h3>{note}'
        f"{_rows_place(part, name, part.title)}</div>{_data(part, name)}"
    )


def _figure(part: Figure, name: str) -> str:
    sets = {"rows": name} | {key: f"{name}-{k}" for k, key in enumerate(part.others)}
    data = "".join(
        _data(table, sets[key]) for key, table in ({"rows": part.data} | dict(part.others)).items()
    )
    label = f"{part.title}. {part.text}"
    return (
        f'<figure aria-labelledby="{name}-h">'
        f'<figcaption><h3 id="{name}-h">{escape(part.title)}</h3>'
        f"<p>{escape(part.text)}</p></figcaption>{_controls(part, name)}"
        f'<div class="plot" id="{name}-plot" data-spec="{name}-spec" data-label="{escape(label)}" '
        f'data-sets="{escape(json.dumps(sets))}"></div>'
        f"<details><summary>The numbers of this figure</summary>"
        f"{_rows_place(part.data, name, part.title)}</details></figure>"
        f'<script type="application/json" id="{name}-spec">{safe_json(part.spec)}</script>{data}'
    )


def _controls(part: Figure, name: str) -> str:
    made = []
    for control in part.controls:
        shared = f'data-signal="{control.signal}" aria-controls="{name}-plot"'
        if not control.options:
            made.append(
                f'<button type="button" role="switch" aria-checked="false" {shared}>'
                f"{escape(control.label)}</button>"
            )
            continue
        options = "".join(
            f'<option value="{value}">{escape(label)}</option>' for value, label in control.options
        )
        made.append(f"<label>{escape(control.label)}<select {shared}>{options}</select></label>")
    return f'<div class="controls">{"".join(made)}</div>' if made else ""


def _rows_place(table: Table, name: str, label: str) -> str:
    if not table.rows:
        return "<p>No rows yet.</p>"
    return f'<div data-rows="{name}" data-label="{escape(label)}"></div>'


def _data(table: Table, name: str) -> str:
    columns = [{"name": c.name, "label": c.label, "number": c.is_number} for c in table.columns]
    held = safe_json({"columns": columns, "rows": table.rows})
    return f'<script type="application/json" id="{name}">{held}</script>'


def _policy(*scripts: str) -> str:
    """Return a Content-Security-Policy that allows only the given scripts, by their digests."""
    digests = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'"
        for one in scripts
    )
    rules: Mapping[str, str] = {
        "default-src": "'none'", "script-src": digests, "style-src": "'unsafe-inline'",
        "img-src": "data:", "base-uri": "'none'", "form-action": "'none'",
    }  # fmt: skip
    return "; ".join(f"{name} {sources}" for name, sources in rules.items())


@cache
def _asset(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
