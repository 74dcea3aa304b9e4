"""Compiled code that several rooms use: every room stands on it, and it stands on nothing."""
