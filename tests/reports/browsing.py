"""A real browser: Debian's Chromium, headless, and axe from npm."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.children import until

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--hide-scrollbars",
)  # fmt: skip


def skip_loudly(why: str) -> None:
    """Report in the summary that pages were not tested in a browser."""
    warnings.warn(f"reports were NOT tested in a browser: {why}", stacklevel=2)
    pytest.skip(f"NOT TESTED in a browser: {why}")


@contextmanager
def chromium(folder: Path) -> Iterator[Any]:
    """A driver with its own profile."""
    driver, browser = shutil.which("chromedriver"), shutil.which("chromium")
    if driver is None or browser is None:
        skip_loudly("chromium and chromedriver are not installed (Debian: chromium-driver)")
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = str(browser)
    for flag in (*_FLAGS, f"--user-data-dir={folder / 'profile'}", "--window-size=1200,900"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(driver))
    try:
        started.set_script_timeout(60)
        yield started
    finally:
        started.quit()


class Page:
    """An open report."""

    def __init__(self, driver: Any, path: Path, *, dark: bool = False, width: int = 1200) -> None:
        self.driver = driver
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        calm = {"name": "prefers-reduced-motion", "value": "reduce"}  # clicks wait for no scrolling
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, calm]})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.log("browser")
        self.log("performance")
        driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        driver.get(path.as_uri())

    def run(self, script: str, *arguments: Any) -> Any:
        """Return the result of a script."""
        return self.driver.execute_script(script, *arguments)

    def processor_seconds(self) -> float:
        """Processor time of the page's own thread so far: a busy machine does not add to it."""
        metrics = self.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return float({one["name"]: one["value"] for one in metrics}["TaskDuration"])

    def all(self, selector: str) -> list[Any]:
        """All elements of a selector."""
        return list(self.driver.find_elements("css selector", selector))

    def one(self, selector: str) -> Any:
        """The first element of a selector."""
        return self.driver.find_element("css selector", selector)

    def log(self, name: str) -> list[dict[str, Any]]:
        """Return the log entries since the last call."""
        return list(self.driver.get_log(name))

    def wait(self, is_true: Callable[[], Any]) -> None:
        """Wait until a condition is true, or fail."""
        until(is_true)

    def draw_all(self) -> None:
        """All charts, including those further down; they are drawn when the page is idle."""
        self.wait(lambda: not self.all(".plot:not([data-drawn])"))

    def column(self, table: str, number: int) -> list[str]:
        """The shown cells of a column; columns count from 1."""
        cells = f"{table} tbody td:nth-child({number})"
        return [cell.text for cell in self.all(cells)]


_AXE = """
const done = arguments[arguments.length - 1];
const words = (one) => one.id + ": " + one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120));
axe.run(document, { resultTypes: ["violations"] }).then(
  (found) => done(found.violations.map(words)), (fault) => done(["axe failed: " + fault]));
"""


def axe_script(folder: Path) -> str:
    """axe-core, fetched by npm; without it the test is skipped, loudly."""
    npm = shutil.which("npm")
    if npm is None:
        skip_loudly("npm is not installed, so there is no axe-core")
    done = subprocess.run([str(npm), "pack", "--silent", "axe-core@4"], cwd=folder, timeout=120,
                          capture_output=True, text=True, check=False)  # fmt: skip
    packed = next(folder.glob("axe-core-*.tgz"), None)
    if packed is None:
        skip_loudly(f"npm could not fetch axe-core ({done.stderr.strip()[:100]})")
    assert packed is not None
    with tarfile.open(packed) as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()


def violations(page: Page, script: str) -> list[str]:
    """The findings of axe, as text."""
    # Through the debugger's door: the page's own policy runs no other script.
    page.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": script})
    return list(page.driver.execute_async_script(_AXE))
