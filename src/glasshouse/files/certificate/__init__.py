"""Certificates next to files, `NAME.cert`: reading them, and writing them."""
