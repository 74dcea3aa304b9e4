"""Doctests of one file, or of some, in any order: packages are imported before their modules.

pytest imports a module by its path. Where the package is not imported yet, that runs the module
twice: once as the package imports it, and once more for pytest. A planting method would then be
added to its catalogue again, and pytest would put the module `gauge` where `glasshouse.landscape`
has the function `gauge`.
"""

from importlib import import_module
from pathlib import Path

_SOURCE = Path(__file__).with_name("src")


def pytest_collect_file(file_path: Path) -> None:
    """Import the package of a module of ours the way everybody does."""
    if file_path.suffix == ".py" and file_path.is_relative_to(_SOURCE):
        import_module(".".join(file_path.relative_to(_SOURCE).parent.parts))
