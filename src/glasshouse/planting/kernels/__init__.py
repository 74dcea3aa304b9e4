"""Compiled code for planting: takes and returns arrays, and imports nothing else from planting."""
