"""glasshouse."""

from glasshouse.version import __version__ as __version__
