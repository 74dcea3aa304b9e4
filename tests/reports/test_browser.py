"""Reports in a real browser: they sort, filter, turn, load fast, and run nothing but our script."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.proofs.trees.test_search import half_complete
from tests.reports.browsing import Page, axe_script, chromium, violations
from tests.reports.pretended import race_store, study_store

import glasshouse as gh
from glasshouse.boltzmann import TrainingSettings, TrainingTask, iter_train, save_machine
from glasshouse.cli import main
from glasshouse.proofs import prover
from glasshouse.reports.page import Section, Table, number, text
from glasshouse.reports.rendering import rendered

HOSTILE = "</script><img src=x onerror=alert(1)><!--\"'&amp;<b>"
MOST_SECONDS, MOST_BYTES = 2.0, 5_000_000


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("browser")) as driver:
        yield driver


@pytest.fixture(scope="module")
def axe(browser, tmp_path_factory):
    return axe_script(tmp_path_factory.mktemp("axe"))


@pytest.fixture(scope="module")
def race_page(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("race")
    store = race_store(folder / "race.sqlite")
    return gh.report(store, output=folder / "race.html").path


@pytest.fixture(scope="module")
def small_page(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    store = race_store(folder / "race.sqlite", 6, 20)
    return gh.report(store, output=folder / "race.html").path


@pytest.fixture(scope="module")
def mixed_page(tmp_path_factory) -> Path:
    """One of each other kind, on one page."""
    folder = tmp_path_factory.mktemp("mixed")
    plant = gh.random_loops(12, 12, frustration="1/5", loops=6, rng=1)
    gh.write(folder / "plant.wcnf", plant)
    gh.write(folder / "half.mc", half_complete())
    with pytest.MonkeyPatch.context() as patch:  # no other bound at hand: a tree is searched
        patch.setattr(prover.Prover, "exact_methods", lambda self: (None, None))
        patch.setattr(prover, "is_dense", lambda graph: False)
        assert main(["prove", str(folder / "half.mc")]) == 0
        proof = gh.prove(half_complete())
    settings = TrainingSettings(4, epochs=60)
    task = TrainingTask(gh.shifting_bars(), settings, every=20, count=6, name="bars")
    for _ in iter_train([task], folder / "run.sqlite"):
        pass
    done = task.run()
    save_machine(folder / "machine.npz", done.machine, run=done)
    plants = {f"{f}": gh.random_loops(8, 8, frustration=f, loops=4, rng=1) for f in ("1/10", "1/5")}
    entered = {"ours": gh.GlasshouseAnnealer(), "tempering": gh.GlasshouseTempering()}
    gh.race_samplers(entered, plants, reads=10, calls=2, rng=1, store=folder / "samplers.sqlite")
    study_store(folder / "study.sqlite", 40, 16)
    names = ["plant.wcnf", "half.mc", "run.sqlite", "machine.npz", "samplers.sqlite",
             "study.sqlite"]  # fmt: skip
    return gh.report(*(folder / name for name in names), proof, output=folder / "all.html").path


@pytest.mark.quiet
def test_a_race_of_ten_solvers_on_200_instances_loads_fast_and_is_small(browser, race_page):
    assert race_page.stat().st_size <= MOST_BYTES
    page = Page(browser, race_page)
    page.draw_all()  # all figures, not only those that are seen first
    assert 0 < page.processor_seconds() <= MOST_SECONDS


@pytest.mark.parametrize(
    "which",
    ["race-light", "race-dark", "mixed-light", pytest.param("mixed-dark", marks=pytest.mark.slow)],
)
def test_axe_finds_nothing(browser, axe, race_page, mixed_page, which):
    path = race_page if which.startswith("race") else mixed_page
    page = Page(browser, path, dark=which.endswith("dark"))
    page.draw_all()
    page.run("for (const box of document.querySelectorAll('details')) box.open = true")
    empty = "return [...document.querySelectorAll('[data-rows]')].some((one) => !one.firstChild)"
    page.wait(lambda: not page.run(empty))
    assert violations(page, axe) == []


@pytest.mark.parametrize("which", ["race", "mixed"])
def test_all_charts_are_drawn_without_a_word_and_without_the_network(
    browser, small_page, mixed_page, which
):
    page = Page(browser, small_page if which == "race" else mixed_page)
    page.draw_all()
    assert page.log("browser") == []
    asked = [entry["message"] for entry in page.log("performance")
             if '"Network.requestWillBeSent"' in entry["message"]]  # fmt: skip
    assert not [one for one in asked if '"url":"file:' not in one and '"url":"data:' not in one]
    marks = page.run("return [...document.querySelectorAll('.plot')].map((plot) => "
                     "plot.querySelectorAll('path, rect').length)")  # fmt: skip
    assert min(marks) > 3


def test_tables_sort_by_number_and_tell_it(browser, small_page):
    page = Page(browser, small_page)
    table = "[data-label='Scores']"
    head = page.all(f"{table} th")[5]
    assert head.get_attribute("aria-sort") == "none"
    head.find_element("css selector", "button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    ascending = [float(cell) for cell in page.column(table, 6)]
    assert ascending == sorted(ascending)
    assert len(set(ascending)) > 5
    head.find_element("css selector", "button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert [float(cell) for cell in page.column(table, 6)] == ascending[::-1]


def test_tables_are_filtered_and_turned(browser, small_page):
    page = Page(browser, small_page)
    table = "[data-label='Runs']"
    count = page.one(f"{table} output")
    assert count.text == "rows 1 to 12 of 120"
    page.all(f"{table} .tools button")[1].click()
    assert count.text == "rows 13 to 24 of 120"
    page.one(f"{table} input").send_keys("solver-3")
    assert count.text == "rows 1 to 12 of 20 (of 120)"
    assert set(page.column(table, 1)) == {"solver-3"}
    page.one(f"{table} input").send_keys(" nobody")
    assert count.text == "0 (of 120) rows"


def test_numbers_of_tables_are_grouped_and_one_row_is_one(browser, tmp_path):
    columns = [number("energy"), number("seed"), text("name")]
    table = Table("One", columns, [[-54162, 54162, "-54162"]])
    (tmp_path / "x.html").write_text(rendered("x", [Section("x", "Test", "", [], [table])], "x"))
    page = Page(browser, tmp_path / "x.html")
    cells = [page.column("[data-label='One']", k)[0] for k in (1, 2, 3)]
    assert cells == ["−54,162", "54162", "-54162"]
    assert page.one("[data-label='One'] output").text == "1 row"


def test_all_of_it_works_with_the_keyboard_alone(browser, mixed_page):
    from selenium.webdriver.common.keys import Keys

    page = Page(browser, mixed_page)
    active = page.driver.switch_to
    page.one("body").send_keys(Keys.TAB)
    assert active.active_element.get_attribute("class") == "skip"
    reached = []
    for _ in range(14):
        active.active_element.send_keys(Keys.TAB)
        focus = active.active_element
        reached.append(focus.get_attribute("id") or focus.get_attribute("data-signal") or "")
        if reached[-1] == "theme":
            focus.send_keys(Keys.SPACE)
        if reached[-1] == "gauged":
            focus.send_keys(Keys.ENTER)
    assert page.one("#theme").get_attribute("aria-checked") == "true"
    assert page.one("[data-signal=gauged]").get_attribute("aria-checked") == "true"
    assert "loop" in reached


COLOURS = """
const marks = [...document.querySelector('.plot').querySelectorAll('.mark-rect path')];
return marks.map((one) => one.getAttribute('fill')).filter((fill) => fill.startsWith('rgb('));
"""


def test_the_gauge_switch_turns_signs_and_loops_are_shown(browser, mixed_page):
    page = Page(browser, mixed_page)
    page.wait(lambda: page.all(".plot[data-drawn]"))
    before = page.run(COLOURS)
    assert len(before) > 10
    switch = page.one("[data-signal=gauged]")
    switch.click()
    page.wait(lambda: page.run(COLOURS) != before)
    # In the planted gauge a negative weight is one that loops share: few are left.
    red = [sum(_is_red(fill) for fill in fills) for fills in (before, page.run(COLOURS))]
    assert red[1] < red[0]
    assert not page.all("#s1 .plot .mark-symbol path")
    choice = page.one("select[data-signal=loop]")
    choice.find_elements("css selector", "option")[1].click()
    page.wait(lambda: len(page.all("#s1 .plot .mark-symbol path")) >= 4)
    switch.click()
    page.wait(lambda: page.run(COLOURS) == before)


def _is_red(fill: str) -> bool:
    red, _, blue = (int(part) for part in fill.removeprefix("rgb(").removesuffix(")").split(","))
    return red > blue


def test_the_theme_follows_the_system_and_the_switch(browser, small_page):
    back = "return getComputedStyle(document.body).backgroundColor"
    light = Page(browser, small_page)
    white = light.run(back)
    page = Page(browser, small_page, dark=True)
    black = page.run(back)
    assert black != white
    page.wait(lambda: page.all(".plot[data-drawn]"))
    line = "return getComputedStyle(document.querySelector('.mark-line path')).stroke"
    bright = page.run(line)
    page.one("#theme").click()
    assert page.run(back) == white
    assert page.run(line) != bright  # charts change with it, without being drawn again
    assert page.one("#theme").get_attribute("aria-checked") == "false"


@pytest.mark.parametrize("which", ["race", "mixed"])
def test_a_phone_shows_all_of_it_without_scrolling_sideways(browser, small_page, mixed_page, which):
    page = Page(browser, small_page if which == "race" else mixed_page, width=375)
    page.draw_all()
    assert page.run("return document.documentElement.scrollWidth") <= 375


def test_numbers_of_a_figure_are_there_as_a_table(browser, small_page):
    page = Page(browser, small_page)
    page.one("figure summary").click()
    page.wait(lambda: page.all("figure details tbody tr"))
    assert "instances solved" in page.one("figure details thead").text
    label = page.one("figure .plot").get_attribute("data-label")
    page.wait(lambda: page.all(".plot svg"))
    assert page.one("figure .plot svg").get_attribute("aria-label") == label
    assert label.startswith("Cactus. The number of instances")


def hovered(page, selector, number):
    """The tooltip of one of the marks of a chart."""
    from selenium.webdriver import ActionChains

    page.wait(lambda: page.all(f".plot[data-drawn] {selector}"))
    mark = page.all(f".plot[data-drawn] {selector}")[number]
    page.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", mark)
    ActionChains(page.driver).move_to_element(mark).perform()
    page.wait(lambda: page.all("#vg-tooltip-element.visible"))
    return page.one("#vg-tooltip-element").text


def test_hovering_shows_values(browser, small_page):
    said = hovered(Page(browser, small_page), ".mark-symbol path", 20)
    assert "solver" in said
    assert "seconds" in said


def test_hovering_shows_numbers_as_tables_do(browser, tmp_path):
    problem = gh.Ising.from_edges(3, [(0, 1), (1, 2)], [-1234567, 2])
    gh.write(tmp_path / "x.coo", problem)
    assert main(["prove", str(tmp_path / "x.coo")]) == 0
    made = gh.report(tmp_path / "x.coo", output=tmp_path / "x.html")
    said = hovered(Page(browser, made.path), ".mark-rect path", 0)
    assert "weight as written −1,234,567" in " ".join(said.split())


def test_labels_are_text_whatever_they_hold(browser, tmp_path):
    store = race_store(tmp_path / "race.sqlite", names=[HOSTILE, 'hon\\"est'], instances=12)
    study = study_store(tmp_path / "study.sqlite", 20, 6, title=HOSTILE.replace('"', "'"))
    made = gh.report(store, study, output=tmp_path / "x.html", title=HOSTILE)
    page = Page(browser, made.path)
    page.draw_all()
    for summary in page.all("summary"):
        page.run("arguments[0].parentElement.open = true", summary)
    assert page.run("return document.images.length") == 0
    assert page.run("return document.querySelectorAll('b').length") == 0
    assert page.one("h1").text == HOSTILE
    assert HOSTILE in page.column("[data-label='Scores']", 1)
    assert page.log("browser") == []  # neither an error nor a script that the policy had to stop


def test_no_script_but_ours_runs(browser, small_page, tmp_path):
    """Even if an attacker could put a tag into the page."""
    spoilt = tmp_path / "spoilt.html"
    text = small_page.read_text()
    spoilt.write_text(text.replace("<footer>", "<footer><script>window.broken = 1</script>"
                                   "<img src='https://example.org/x.png'>"))  # fmt: skip
    page = Page(browser, spoilt)
    assert page.run("return window.broken") is None
    said = " ".join(entry["message"] for entry in page.log("browser"))
    assert said.count("Content Security Policy") >= 2
    asked = [one for one in page.log("performance") if "https://example.org" in one["message"]
             and '"Network.responseReceived"' in one["message"]]  # fmt: skip
    assert not asked
