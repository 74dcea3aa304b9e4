"""`glasshouse --version`: what a report of a bug should say."""

from __future__ import annotations

import platform
from importlib import metadata

from glasshouse.extras import extras_by_presence
from glasshouse.version import __version__

# What results and speed depend on.
PACKAGES = ("numpy", "scipy", "numba", "highspy", "networkx")


def versions() -> str:
    """Ours alone on the first line, for scripts; then what we stand on. Imports none of it."""
    there, missing = extras_by_presence()
    python = f"{platform.python_version()} ({platform.python_implementation()}, "
    lines = [
        f"glasshouse {__version__}",
        f"Python {python}{platform.system()} {platform.machine()})",
        *(f"{package} {_version(package)}" for package in PACKAGES),
        f"extras: {', '.join(there) or 'none'}",
    ]
    return "\n".join([*lines, *([f"without: {', '.join(missing)}"] if missing else [])])


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "is not installed"
