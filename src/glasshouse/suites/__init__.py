"""Suites: folders of instances with proven optima, and the TOML files that describe suites.

writing (a folder with its manifest) ← checking · manifest (one line per instance, and the tables of
optima) · grammar (the TOML of studies and suites) ← family (a method, exact parameters, a seed),
control (problems without a plant) ← suite_file (a suite before it is written; ready_made/ has
those that come with glasshouse) ← folder (blind files, answers apart), commitment · standard (the
user's copies of standard instances) ← loading (a suite whose optima are proven again)
"""

from glasshouse.suites.checking import check_suite, iter_check_suite
from glasshouse.suites.writing import iter_write_suite, write_suite

__all__ = ["check_suite", "iter_check_suite", "iter_write_suite", "write_suite"]
