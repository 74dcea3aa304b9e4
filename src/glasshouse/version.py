"""The version of glasshouse, read by the build and written into recipes."""

__version__ = "0.1.0"
