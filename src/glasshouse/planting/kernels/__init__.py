"""Compiled code for planting: it works on arrays, and imports nothing else from planting."""
