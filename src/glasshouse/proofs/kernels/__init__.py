"""Compiled searches on signed graphs."""
