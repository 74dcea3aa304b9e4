"""Compiled code of the planting room: arrays in, arrays out, nothing of ours imported."""
