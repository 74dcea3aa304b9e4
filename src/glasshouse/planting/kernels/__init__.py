"""Compiled code of planting: arrays in, arrays out; imports no other part of glasshouse."""
