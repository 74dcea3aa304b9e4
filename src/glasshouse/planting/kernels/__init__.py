"""Compiled code for planting: takes and returns arrays; imports no other planting code."""
