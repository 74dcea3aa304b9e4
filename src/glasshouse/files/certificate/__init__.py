"""Readers and writers of certificate files, `NAME.cert`, which are stored next to problem files."""
